"""Unordered access: memory operations and atomics of programs, on u# views and on g#, the shared
memory of a thread group.

Source: SM4-5 tokens, "Unordered access".  An address is a tuple of int32 lanes, read as unsigned,
one for each component that the kind of memory has.  Out of bounds, reads return 0 and writes are
discarded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import FormatRow
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.command.packets import Unordered
from dp2emu.gpu.resource.pixel_format import pack_color, unpack_bits
from dp2emu.shader.ir import Access, Loop, Program, Statement, blocks
from dp2emu.shader.resources import ADDRESS_SHAPES, Dimension, MemoryOpcode, MemoryOperation
from dp2emu.shader.types import I32, Lanes

Address = Sequence[I32]


Words = tuple[I32, I32, I32, I32]

_NOTHING = np.zeros(1, np.int32)


NOTHING: Words = (_NOTHING,) * 4


def unsigned(lanes: I32) -> I64:
    """Reinterpret int32 lanes as unsigned numbers."""
    return lanes.view(np.uint32).astype(np.int64)


class Places(NamedTuple):
    """Memory index of each lane, 0 if out of bounds, and a mask of the lanes in bounds."""

    number: I64
    inside: Mask

    @classmethod
    def of(cls, number: I64, inside: Mask) -> Places:
        """Return the places of indices ``number``; indices of lanes not ``inside`` become 0."""
        return cls(np.where(inside, number, 0), inside)


class WordMemory(msgspec.Struct, frozen=True, eq=False):
    """Untyped memory: ``count`` words of ``words``, from index ``first`` on.

    If ``stride``, in bytes, is not 0, the memory consists of structures.  ``lane`` has the offset
    in words of each lane, if groups of lanes have separate memory.
    """

    words: I32
    first: int
    count: int
    stride: int = 0
    lane: I64 | None = None

    @property
    def axes(self) -> int:
        """Number of components of an address: structure and byte offset, or the latter alone."""
        return 2 if self.stride else 1

    def places(self, address: Address, component: int = 0) -> Places:
        """Return each lane's index in ``words``: its address plus ``component`` words."""
        at = (unsigned(address[-1]) >> 2) + component
        inside = at < (self.stride // 4 if self.stride else self.count)
        if self.stride:
            number = unsigned(address[0])
            inside &= number < self.count * 4 // self.stride
            at = at + number * (self.stride // 4)
        at = at + self.first
        return Places.of(at if self.lane is None else at + self.lane, inside)

    def load(self, address: Address) -> Words:
        """Return the four words from each lane's address on, 0 where out of bounds."""
        if not len(self.words):
            return NOTHING
        found = (self.places(address, component) for component in range(4))
        x, y, z, w = (np.where(at.inside, self.words[at.number], np.int32(0)) for at in found)
        return x, y, z, w

    def store(self, address: Address, values: Sequence[I32], chosen: I64) -> None:
        """Store words from an address on, for the ``chosen`` lanes."""
        at = [each[chosen] for each in address]
        own = self.of_lanes(chosen)
        for component, value in enumerate(values):
            number, inside = own.places(at, component)
            self.words[number[inside]] = value[chosen][inside]

    def of_lanes(self, chosen: I64) -> WordMemory:
        """Return this memory with the offsets of the ``chosen`` lanes, renumbered from 0."""
        return self if self.lane is None else replace(self, lane=self.lane[chosen])

    def counted(self) -> int:
        """Number of structures, or of bytes if the memory is not structured."""
        return self.count * 4 // self.stride if self.stride else self.count * 4

    def sizes(self) -> tuple[int, int, int, int]:
        """Width, height, depth and number of mip levels: zeros, since buffers have none."""
        return 0, 0, 0, 0


class TexelMemory(msgspec.Struct, frozen=True, eq=False):
    """Typed memory: ``texels`` of the whole resource, in the words of the format ``row``.

    ``first`` has the index of the first texel of each array slice; a volume is one slice.
    ``pitch`` is texels from row to row, ``slice_pitch`` from one z of a volume to the next;
    ``sides`` are width, height and depth.
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
        """Number of components of an address in this memory."""
        shape = ADDRESS_SHAPES[self.dimension]
        return shape.axes + shape.slices

    def places(self, address: Address, component: int = 0) -> Places:
        """Return each lane's index in ``texels`` of the texel at its address."""
        shape = ADDRESS_SHAPES[self.dimension]
        numbers = [unsigned(each) for each in address]
        last = numbers.pop() if shape.slices else None
        inside, at = numbers[0] < self.sides[0], numbers[0]
        steps = (self.pitch, self.slice_pitch)
        for number, side, step in zip(numbers[1:], self.sides[1:], steps, strict=False):
            inside = inside & (number < side)
            at = at + number * step
        if last is None:
            return Places.of(at + int(self.first[0]), inside)
        inside = inside & (last < len(self.first))
        return Places.of(at + self.first[np.where(inside, last, 0)], inside)

    def load(self, address: Address) -> Words:
        """Return the texel at an address, with defaults for the channels its format lacks."""
        number, inside = self.places(address)
        found = self.texels[number]
        there = inside if self.row.words == 1 else inside[:, None]
        x, y, z, w = unpack_bits(self.row, np.where(there, found, found.dtype.type(0)))
        return x, y, z, w

    def store(self, address: Address, values: Sequence[I32], chosen: I64) -> None:
        """Convert texels to the format and store them, for the ``chosen`` lanes."""
        number, inside = self.places([each[chosen] for each in address])
        lanes = [value[chosen][inside] for value in values]
        self.texels[number[inside]] = pack_color(self.row, lanes)

    @property
    def words(self) -> I32 | None:
        """The texels as words for atomics; None unless they have a single 32-bit channel."""
        single = self.row.size == 4 and len(self.row.channels) == 1
        return self.texels.view(np.int32) if single else None

    def counted(self) -> int:
        """Number of elements of the buffer that the view shows."""
        return self.sides[0]

    def sizes(self) -> tuple[int, int, int, int]:
        """Width, height, depth and number of mip levels, which is 1.

        An array has its number of slices after its sides; missing sizes are 0.
        """
        shape = ADDRESS_SHAPES[self.dimension]
        lengths = [*self.sides[: shape.lengths], *[len(self.first)] * shape.slices, 0, 0]
        return lengths[0], lengths[1], lengths[2], 1


UnorderedMemory = WordMemory | TexelMemory

_FLAT = {
    Dimension.TEXTURE1DARRAY: Dimension.TEXTURE1D,
    Dimension.TEXTURE2DARRAY: Dimension.TEXTURE2D,
}
"""Dimension of a texture array -> dimension of one of its slices."""


def memory_of(bound: Unordered, dimension: Dimension) -> UnorderedMemory | None:
    """Return a bound view as memory of the ``dimension`` that a program declares.

    None if the view's dimension does not match.
    """
    if _FLAT.get(bound.dimension, bound.dimension) is not _FLAT.get(dimension, dimension):
        return None
    if dimension in (Dimension.RAW_BUFFER, Dimension.STRUCTURED_BUFFER):
        part = bound.surface.subresources[0]
        return WordMemory(bound.surface.words, part.offset // 4, part.size // 4, bound.stride)
    row, parts = ROWS[bound.surface.format], bound.surface.subresources
    whole = bound.surface.words.view(np.uint8)
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
    """Fill a view with four values and return the number of bytes written.

    Values are the bits of floats, or integers in a format of integers; with ``bits`` channels take
    their low bits unconverted.  Untyped memory takes the first value.
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
    """Return a texel with the low bits of ``values`` in its channels."""
    bits = 0
    for lane, value in zip((row.red, row.green, row.blue, row.alpha), values, strict=True):
        if lane is not None:
            bits |= (value & lane.max) << lane.shift
    return row.view(np.frombuffer(bits.to_bytes(row.size, "little"), np.uint8))


# Execution of the memory operations of a program, by unit number, on the bound views.

WORD_BYTES = 4
_FIRST = np.zeros(1, np.int64)
"""The number of the first lane."""


class Accesses:
    """Executes the memory operations of one run of a program (``shader.reference.Memory``).

    ``shared`` is the memory of g#.  Of the ``lanes`` those that are not ``real``, the helper lanes
    of quads, write nothing.  ``most`` limits the number of accesses.  Mutable: ``bytes`` counts
    bytes of ``bound`` views read and written, ``steps`` the accesses.
    """

    def __init__(
        self,
        operations: Sequence[MemoryOperation],
        bound: Mapping[int, Unordered],
        lanes: int,
        shared: Mapping[int, WordMemory] | None = None,
        real: Mask | None = None,
        most: int | None = None,
    ) -> None:
        self.bytes = 0
        self.steps = 0
        self.lanes = lanes
        self._most = most
        self._operations = operations
        self._bound = bound
        self._shared = shared or {}
        self._real = real
        self._memories = [self._memory(operation) for operation in operations]
        self._last: tuple[Mask | None, I64] | None = None

    def access(self, unit: int, operands: tuple[I32, ...], active: Mask | None) -> Words:
        """Execute memory operation number ``unit`` for the active lanes, in lane order.

        Returns four words per lane.  Raises Unsupported if the number of accesses exceeds the
        limit.
        """
        self.steps += 1
        if self._most is not None and self.steps > self._most:
            raise Unsupported("so many accesses to memory of one dispatch")
        operation, memory = self._operations[unit], self._memories[unit]
        if operation.opcode in _COUNTER_OPCODES:
            return self._count(operation, self._chosen(active))
        if memory is None:
            return NOTHING
        if operation.opcode is MemoryOpcode.SIZE:
            return _sizes(memory, operands[0])
        if operation.opcode is MemoryOpcode.COUNT:
            return (np.full(1, memory.counted(), np.int32),) * 4
        chosen = self._chosen(active)
        if not operation.shared:
            self.bytes += len(chosen) * _moved(operation.opcode, memory, len(operands))
        if operation.opcode is MemoryOpcode.LOAD:
            return memory.load(operands)
        if all(len(each) == 1 for each in operands):
            if operation.opcode is MemoryOpcode.STORE and not operation.shared:
                # What every lane stores alike is stored once.
                chosen = _FIRST[: len(chosen)]
            else:
                operands = tuple(np.broadcast_to(each, self.lanes) for each in operands)
        if operation.opcode is MemoryOpcode.STORE:
            memory.store(operands[: memory.axes], operands[memory.axes :], chosen)
            return NOTHING
        return self._atomic(operation.opcode, memory, operands, chosen)

    def saved(self) -> tuple[Lanes, ...]:
        """Return copies of all words that accesses can change, and of the counts."""
        return (*(words.copy() for words in self._words()), np.array([self.bytes, self.steps]))

    def restore(self, saved: tuple[Lanes, ...]) -> None:
        """Restore the memory and the counts that ``saved`` returned."""
        for words, before in zip(self._words(), saved[:-1], strict=True):
            words[:] = before
        self.bytes, self.steps = map(int, saved[-1])

    def _words(self) -> list[I32]:
        """Return the words of every bound view, counter and g# memory, without duplicates."""
        surfaces = (s for view in self._bound.values() for s in (view.surface, view.counter))
        words = [surface.words for surface in surfaces if surface is not None]
        words += [memory.words for memory in self._shared.values()]
        return list({id(each): each for each in words}.values())

    def _memory(self, operation: MemoryOperation) -> UnorderedMemory | None:
        if operation.shared:
            return self._shared.get(operation.number)
        bound = self._bound.get(operation.number)
        return None if bound is None else memory_of(bound, operation.dimension)

    def _chosen(self, active: Mask | None) -> I64:
        """Return the numbers of the active lanes that are not helper lanes, in order."""
        if self._last is None or self._last[0] is not active:
            self._last = active, self._chosen_of(active)
        return self._last[1]

    def _chosen_of(self, active: Mask | None) -> I64:
        if active is None:
            return np.arange(self.lanes) if self._real is None else np.flatnonzero(self._real)
        return np.flatnonzero(active if self._real is None else active & self._real)

    def _atomic(
        self, opcode: MemoryOpcode, memory: UnorderedMemory, operands: tuple[I32, ...], chosen: I64
    ) -> Words:
        words, axes = memory.words, memory.axes
        if words is None:
            return NOTHING
        own = memory.of_lanes(chosen) if isinstance(memory, WordMemory) else memory
        number, inside = own.places([each[chosen] for each in operands[:axes]])
        acting = chosen[inside]
        old = np.zeros(self.lanes, np.int32)
        given = (each[acting] for each in operands[axes:])
        old[acting] = atomic(opcode, words, number[inside], *given)
        return old, *NOTHING[1:]

    def _count(self, operation: MemoryOperation, chosen: I64) -> Words:
        """Step a view's hidden counter once per chosen lane; return the value each lane gets."""
        bound = self._bound.get(operation.number)
        if bound is None or bound.counter is None:
            return NOTHING
        counter = bound.counter.words.view(np.uint32)[:1]
        steps = np.arange(len(chosen), dtype=np.uint32)
        found = np.zeros(self.lanes, np.uint32)
        if operation.opcode is MemoryOpcode.ALLOC:
            found[chosen] = counter + steps
            counter += np.uint32(len(chosen))
        else:
            found[chosen] = counter - np.uint32(1) - steps
            counter -= np.uint32(len(chosen))
        self.bytes += 2 * WORD_BYTES * len(chosen)
        return found.view(np.int32), *NOTHING[1:]


_COUNTER_OPCODES = frozenset({MemoryOpcode.ALLOC, MemoryOpcode.CONSUME})
ALIKE = frozenset({MemoryOpcode.SIZE, MemoryOpcode.COUNT, MemoryOpcode.LOAD, MemoryOpcode.STORE})
"""Opcodes that ``Accesses`` executes once for all lanes of a pixel program if operands are the
same in each, with the same result in each."""


def _moved(opcode: MemoryOpcode, memory: UnorderedMemory, operands: int) -> int:
    """Number of bytes that a memory operation reads and writes for one lane."""
    if isinstance(memory, TexelMemory) and opcode in (MemoryOpcode.LOAD, MemoryOpcode.STORE):
        return memory.row.size
    if opcode is MemoryOpcode.LOAD:
        return 4 * WORD_BYTES
    return WORD_BYTES * (operands - memory.axes if opcode is MemoryOpcode.STORE else 2)


def _sizes(memory: UnorderedMemory, level: I32) -> Words:
    """Return a view's three sizes, or 0 where mip ``level`` is not 0, and its number of levels."""
    *sides, levels = memory.sizes()
    x, y, z = (np.where(level == 0, np.int32(side), np.int32(0)) for side in sides)
    return x, y, z, np.full(1, levels, np.int32)


Same = tuple[tuple[int, int], ...]
"""Pairs of u# numbers: a bound view, and the lowest-numbered view of the same memory."""


@lru_cache(maxsize=1 << 8)
def in_any_order(
    program: Program, operations: tuple[MemoryOperation, ...], same: Same, read: bool
) -> bool:
    """Whether groups of lanes may run a program in any order with the same result as in sequence.

    True if on each memory they only load, execute a single operation once, or execute one
    commutative operation without using its results.  With ``read``, a bound memory is also read as
    a resource, and they may only load.
    """
    lowest, found = dict(same), dict[tuple[int, bool], list[tuple[MemoryOperation, bool]]]()
    for unit, looped in _accesses(program.statements, looped=False):
        each = operations[unit]
        if not each.shared and each.opcode not in (MemoryOpcode.SIZE, MemoryOpcode.COUNT):
            memory = lowest.get(each.number, each.number), each.opcode in _COUNTER_OPCODES
            found.setdefault(memory, []).append((each, looped))
    return all(_independent(each, read) for each in found.values())


def _accesses(statements: tuple[Statement, ...], *, looped: bool) -> list[tuple[int, bool]]:
    """List, for each Access statement, its unit number and whether it is in a loop."""
    done = []
    for statement in statements:
        if isinstance(statement, Access):
            done.append((statement.unit, looped))
        inner = looped or (isinstance(statement, Loop) and statement.limit > 1)
        for block in blocks(statement):
            done += _accesses(block, looped=inner)
    return done


def _independent(operations: list[tuple[MemoryOperation, bool]], read: bool) -> bool:
    opcodes = {operation.opcode for operation, _ in operations}
    if opcodes == {MemoryOpcode.LOAD}:
        return True
    if read:
        return False
    silent = all(operation.silent for operation, _ in operations)
    if len(opcodes) == 1 and silent and opcodes <= COMMUTING:
        return True
    return len(operations) == 1 and not operations[0][1]


# Atomic operations of many lanes at once, with the results of lanes in sequence.
#
# Lanes are sorted by word: the first lanes of all words are vectorised, then the second ones, and
# so on.  Where most lanes share a few words, each word's lanes are a prefix scan instead.

_COMBINE: dict[MemoryOpcode, tuple[np.ufunc, type[np.int32 | np.uint32]]] = {
    MemoryOpcode.AND: (np.bitwise_and, np.int32),
    MemoryOpcode.OR: (np.bitwise_or, np.int32),
    MemoryOpcode.XOR: (np.bitwise_xor, np.int32),
    MemoryOpcode.IADD: (np.add, np.int32),
    MemoryOpcode.IMAX: (np.maximum, np.int32),
    MemoryOpcode.IMIN: (np.minimum, np.int32),
    MemoryOpcode.UMAX: (np.maximum, np.uint32),
    MemoryOpcode.UMIN: (np.minimum, np.uint32),
}
COMMUTING = frozenset(_COMBINE)
"""Opcodes of the atomics that leave the same memory content in whatever order lanes execute."""


def atomic(opcode: MemoryOpcode, words: I32, places: I64, *operands: I32) -> I32:
    """Execute an atomic on ``words`` at ``places`` in lane order; return the previous values.

    Places and operands have an item for each lane; all places are in bounds.  Sums wrap.
    """
    old = np.zeros(len(places), np.int32)
    if not len(places):
        return old
    order = np.argsort(places, kind="stable")
    found, starts, counts = np.unique(places[order], return_index=True, return_counts=True)
    if opcode in _COMBINE and len(found) < counts.max():
        combine, view = _COMBINE[opcode]
        for place, start, count in zip(found, starts, counts, strict=True):
            chosen = order[start : start + count]
            given = np.concatenate((words[place : place + 1], operands[0][chosen]))
            running = combine.accumulate(given.view(view), dtype=view).view(np.int32)
            old[chosen], words[place] = running[:-1], running[-1]
        return old
    for number in range(int(counts.max())):
        chosen = order[starts[counts > number] + number]
        at = places[chosen]
        old[chosen] = words[at]
        words[at] = _result(opcode, old[chosen], *(each[chosen] for each in operands))
    return old


def _result(opcode: MemoryOpcode, old: I32, *given: I32) -> I32:
    """Return the words that an atomic stores, from the old words and its operands."""
    if opcode is MemoryOpcode.EXCHANGE:
        return given[0]
    if opcode is MemoryOpcode.COMPARE:
        return np.where(old == given[0], given[1], old)
    combine, view = _COMBINE[opcode]
    found: I32 = combine(old.view(view), given[0].view(view)).view(np.int32)
    return found
