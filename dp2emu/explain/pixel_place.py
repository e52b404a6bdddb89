"""A pixel of a surface as a place in memory, under every view that shares this memory."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import Coding, FormatRow, Use
from dp2emu.errors import Absent, Unsupported
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import (
    parts_of,
    read_lane,
    stored_stencil,
    unpack_bits,
    unpack_color,
)

Number = int | float
_WHOLE = frozenset((Coding.UINT, Coding.SINT))


class Place(msgspec.Struct, frozen=True):
    """Pixel ``x``, ``y`` of subresource ``index`` of a surface."""

    surface: Surface
    index: int
    x: int
    y: int

    @classmethod
    def of(cls, surface: Surface, index: int, x: int, y: int) -> Place:
        """The pixel of a surface.

        Raises Absent for a pixel or a subresource that the surface does not have, Unsupported
        for formats whose pixels share bytes.
        """
        name = f"surface {surface.handle or surface.serial}"
        if not surface.subresources:
            raise Absent(f"{name} is a buffer, which has no pixels")
        if not 0 <= index < len(surface.subresources):
            last = len(surface.subresources) - 1
            known = f"subresources 0 to {last}" if last else "only subresource 0"
            raise Absent(f"no subresource {index}: {name} has {known}")
        part = surface.subresources[index]
        if not (0 <= x < part.width and 0 <= y < part.height):
            size = f"{part.width} x {part.height} pixels"
            raise Absent(f"pixel {x}, {y} is outside of {name}: {size}")
        row = ROWS.get(surface.format)
        if row is None or row.blocked:
            raise Unsupported(f"pixels of {surface.format.sdk}")
        return cls(surface, index, x, y)

    @property
    def row(self) -> FormatRow:
        """The row of the surface's format."""
        return ROWS[self.surface.format]

    @property
    def samples(self) -> int:
        """Number of samples of the pixel."""
        return self.surface.samples

    @property
    def size(self) -> int:
        """Bytes of the pixel with all samples."""
        return self.row.size * self.samples

    @property
    def offset(self) -> int:
        """Byte at which the pixel starts in the data of its surface."""
        first, part = self.surface.subresources[0], self.surface.subresources[self.index]
        # The data of a level or view are its texture's, from its first subresource on.
        return part.offset - first.offset + self.y * part.pitch + self.x * self.size

    def read(self) -> bytes:
        """The bytes of the pixel, one sample after the other."""
        return self.surface.data[self.offset : self.offset + self.size].tobytes()

    def offset_in(self, other: Surface) -> int | None:
        """Byte at which the pixel starts in the data of another surface, None if it is not there
        as a whole.
        """
        offset = _address(self.surface.data) + self.offset - _address(other.data)
        return offset if 0 <= offset <= other.data.nbytes - self.size else None

    def within(self, other: Surface) -> tuple[int, int] | None:
        """Column and row of the pixel in the top level of another surface or view, None if it is
        not a pixel there.
        """
        row, offset = ROWS.get(other.format), self.offset_in(other)
        if row is None or offset is None or row.size * other.samples != self.size:
            return None
        y, byte = divmod(offset, other.pitch)
        x, rest = divmod(byte, self.size)
        return (x, y) if not rest and x < other.width and y < other.height else None


def _address(data: NDArray[np.uint8]) -> int:
    address: int = data.__array_interface__["data"][0]
    return address


def copied_pixel(
    read: tuple[int, int, int, int], wrote: tuple[int, int, int, int], x: int, y: int
) -> tuple[int, int] | None:
    """Column and row of the pixel that was copied to a pixel, None if it is not in the rectangle
    ``wrote``.  Rectangles are left, top, right and bottom; sizes that differ stretch.
    """
    left, top, right, bottom = wrote
    if not (left <= x < right and top <= y < bottom):
        return None
    column = read[0] + (x - left) * (read[2] - read[0]) // (right - left)
    return column, read[1] + (y - top) * (read[3] - read[1]) // (bottom - top)


def shortest(value: np.float32) -> float:
    """The float with the fewest digits that rounds to a float32."""
    return float(str(value))


def holds_integers(row: FormatRow) -> bool:
    """Whether the colours of a format are integers."""
    return any(channel.coding in _WHOLE for channel in row.channels.values())


def value_of(row: FormatRow, pixel: bytes) -> list[Number]:
    """The numbers in the bytes of a sample: red, green, blue and alpha, integers in formats of
    integers; depth, stencil or both; or the word of a palette index.
    """
    words = row.view(np.frombuffer(pixel, np.uint8))
    if Use.DEPTH in row.uses:
        found: list[Number] = []
        if row.depth is not None:
            found.append(shortest(read_lane(row, words, row.depth)[0]))
        if row.stencil is not None:
            found.append(int(stored_stencil(row, words)[0]))
        return found
    if not row.channels or Use.PALETTE in row.uses:
        return [int(part[0]) & 0xFFFFFFFF for part in parts_of(row, words)]
    if holds_integers(row):
        signed = any(channel.coding is Coding.SINT for channel in row.channels.values())
        lanes = [int(lane[0]) for lane in unpack_bits(row, words)]
        return [lane if signed else lane & 0xFFFFFFFF for lane in lanes]
    return [shortest(lane[0]) for lane in unpack_color(row, words)]
