"""Memory that programs act on: views for unordered access, and what a thread group shares.

Source: SM4-5 tokens, "Unordered access".  An address is as many int32 lanes as the kind of memory
has components, read as unsigned.  Where there is nothing, reads give 0 and writes are lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import FormatRow
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.command.packets import Unordered
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import pack_color, unpack_bits
from dp2emu.shader.resources import ADDRESS_SHAPES, Dimension
from dp2emu.shader.types import I32

Address = Sequence[I32]
Words = tuple[I32, I32, I32, I32]

_NOTHING = np.zeros(1, np.int32)
NOTHING: Words = (_NOTHING,) * 4


def unsigned(lanes: I32) -> I64:
    """The numbers that lanes are if they have no sign."""
    return lanes.view(np.uint32).astype(np.int64)


class Places(NamedTuple):
    """A word for each lane: its number, and whether it is there; numbers that are not are 0."""

    number: I64
    inside: Mask

    @classmethod
    def of(cls, number: I64, inside: Mask) -> Places:
        """Places by number where they are inside, the first one elsewhere."""
        return cls(np.where(inside, number, 0), inside)


class WordMemory(msgspec.Struct, frozen=True, eq=False):
    """Words without a type: ``count`` of them in ``words`` from number ``first`` on.

    With a ``stride``, in bytes, they are structures.  ``lane`` is what is added for each lane,
    if lanes have words of their own.
    """

    words: I32
    first: int
    count: int
    stride: int = 0
    lane: I64 | None = None

    @property
    def axes(self) -> int:
        """Components of an address."""
        return 2 if self.stride else 1

    def places(self, address: Address, component: int = 0) -> Places:
        """The word at an address, or so many words behind it."""
        at = (unsigned(address[-1]) >> 2) + component
        inside = at < (self.stride // 4 if self.stride else self.count)
        if self.stride:
            number = unsigned(address[0])
            inside &= number < self.count * 4 // self.stride
            at = at + number * (self.stride // 4)
        at = at + self.first
        return Places.of(at if self.lane is None else at + self.lane, inside)

    def load(self, address: Address) -> Words:
        """The four words from an address on."""
        x, y, z, w = (self._word(self.places(address, c)) for c in range(4))
        return x, y, z, w

    def _word(self, places: Places) -> I32:
        if not len(self.words):
            return _NOTHING
        return np.where(places.inside, self.words[places.number], np.int32(0))

    def store(self, address: Address, values: Sequence[I32], chosen: I64) -> None:
        """Put words at an address and behind it, for the ``chosen`` lanes."""
        at = [each[chosen] for each in address]
        own = self.of_lanes(chosen)
        for component, value in enumerate(values):
            number, inside = own.places(at, component)
            self.words[number[inside]] = value[chosen][inside]

    def of_lanes(self, chosen: I64) -> WordMemory:
        """The same for some of the lanes."""
        return self if self.lane is None else replace(self, lane=self.lane[chosen])

    def counted(self) -> int:
        """Structures, or bytes."""
        return self.count * 4 // self.stride if self.stride else self.count * 4

    def sizes(self) -> tuple[int, int, int, int]:
        """Only textures have sizes."""
        return 0, 0, 0, 0


class TexelMemory(msgspec.Struct, frozen=True, eq=False):
    """Texels of a format.  ``texels`` are all of the resource's, of as many words each as ``row``
    says; ``first`` is where the top left one of each slice is, ``pitch`` leads to the next row,
    and ``sides`` are width, height and depth.  A volume is a single slice, and ``slice_pitch``
    leads deeper.
    """

    row: FormatRow
    texels: NDArray[Any]
    dimension: Dimension
    first: I64
    pitch: int
    slice_pitch: int
    sides: tuple[int, int, int]

    @property
    def axes(self) -> int:
        """Components of an address."""
        shape = ADDRESS_SHAPES[self.dimension]
        return shape.axes + shape.slices

    def places(self, address: Address, component: int = 0) -> Places:
        """The texel at an address."""
        shape = ADDRESS_SHAPES[self.dimension]
        numbers = [unsigned(each) for each in address]
        slice = numbers.pop() if shape.slices else np.zeros(1, np.int64)
        inside = slice < len(self.first)
        at = self.first[np.where(inside, slice, 0)]
        steps = (1, self.pitch, self.slice_pitch)
        for number, side, step in zip(numbers, self.sides, steps, strict=False):
            inside = inside & (number < side)
            at = at + number * step
        return Places.of(at, inside)

    def load(self, address: Address) -> Words:
        """The texel at an address, with what its format lacks."""
        number, inside = self.places(address)
        found = self.texels[number]
        there = inside if self.row.words == 1 else inside[:, None]
        x, y, z, w = unpack_bits(self.row, np.where(there, found, found.dtype.type(0)))
        return x, y, z, w

    def store(self, address: Address, values: Sequence[I32], chosen: I64) -> None:
        """Convert to the format and put at an address, for the ``chosen`` lanes."""
        number, inside = self.places([each[chosen] for each in address])
        lanes = [value[chosen][inside] for value in values]
        self.texels[number[inside]] = pack_color(self.row, lanes)

    @property
    def words(self) -> I32 | None:
        """The texels as words to act on, if they are single words of 32 bits."""
        single = self.row.size == 4 and len(self.row.channels) == 1
        return self.texels.view(np.int32) if single else None

    def counted(self) -> int:
        """Elements of a buffer."""
        return self.sides[0]

    def sizes(self) -> tuple[int, int, int, int]:
        """Lengths, then slices of an array, and a single level."""
        shape = ADDRESS_SHAPES[self.dimension]
        lengths = [*self.sides[: shape.lengths], *[len(self.first)] * shape.slices, 0, 0]
        return lengths[0], lengths[1], lengths[2], 1


UnorderedMemory = WordMemory | TexelMemory

_FLAT = {
    Dimension.TEXTURE1DARRAY: Dimension.TEXTURE1D,
    Dimension.TEXTURE2DARRAY: Dimension.TEXTURE2D,
}
"""Views of arrays count as those of their slices, and programs may take one for the other."""


def memory_of(bound: Unordered, dimension: Dimension) -> UnorderedMemory | None:
    """What is bound as memory of the dimension that a program declares; None if it is another."""
    if _FLAT.get(bound.dimension, bound.dimension) is not _FLAT.get(dimension, dimension):
        return None
    part = bound.surface.subresources[0]
    if dimension in (Dimension.RAW_BUFFER, Dimension.STRUCTURED_BUFFER):
        return WordMemory(bound.surface.words, part.offset // 4, part.size // 4, bound.stride)
    return _texels(bound.surface, dimension)


def _texels(surface: Surface, dimension: Dimension) -> TexelMemory:
    row, parts = ROWS[surface.format], surface.subresources
    whole = surface.words.view(np.uint8)
    return TexelMemory(
        row,
        row.view(whole[: len(whole) // row.size * row.size]),
        dimension,
        np.array([part.offset // row.size for part in parts], np.int64),
        parts[0].pitch // row.size,
        parts[0].slice_pitch // row.size,
        (parts[0].width, parts[0].height, parts[0].depth),
    )


def clear(bound: Unordered, values: Sequence[int], *, bits: bool) -> int:
    """Fill all of a view with four numbers, and say how many bytes that were.

    They are the bits of floats, or what a format of integers has; of ``bits`` channels have the
    low ones as they are.  Words without a type have the first.
    """
    words = bound.surface.words.view(np.uint8)
    for part in bound.surface.subresources:
        data = words[part.offset : part.offset + part.size]
        if bound.dimension in (Dimension.RAW_BUFFER, Dimension.STRUCTURED_BUFFER):
            data.view(np.uint32)[:] = np.uint32(values[0])
            continue
        row = ROWS[bound.surface.format]
        lanes = [np.array([value], np.uint32).view(np.int32) for value in values]
        row.view(data)[:] = _packed_bits(row, values) if bits else pack_color(row, lanes)
    return sum(part.size for part in bound.surface.subresources)


def _packed_bits(row: FormatRow, values: Sequence[int]) -> NDArray[Any]:
    """A texel whose channels have the low bits of numbers."""
    bits = 0
    for lane, value in zip((row.red, row.green, row.blue, row.alpha), values, strict=True):
        if lane is not None:
            bits |= (value & lane.max) << lane.shift
    return row.view(np.frombuffer(bits.to_bytes(row.size, "little"), np.uint8))
