"""Compositions: many rectangles of a monochrome surface combined with another one, bit by bit.

The highest bit of a byte is the leftmost pixel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import and_, or_

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import ComposeRectsOp
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.packets import Compose, Part
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.resource.subresources import Box
from dp2emu.gpu.resource.texels import blocks

RECT_BYTES = 8
"""Of a D3DCOMPOSERECTDESC, and of a D3DCOMPOSERECTDESTINATION."""

_PIXELS = 8
"""Pixels of a byte."""

Bits = NDArray[np.uint8]
"""A pixel each, 0 or 1: (rows, columns)."""
Rows = NDArray[np.uint8]
"""Eight pixels each: (rows, bytes)."""


def execute_compose(packet: Compose, counters: Counters) -> Work:
    """Combine the rectangles one after the other.  Counts the bytes they touch; no query counts
    pixels.

    Passed over are rectangles that the buffers do not have, and those that are not inside the
    source; what leaves the target is cut off (driver documentation of ComposeRects).
    """
    given, made = _rows(packet.source), _rows(packet.target)
    pixels = moved = 0
    for source, target in _rectangles(packet):
        moved += combine_bits(packet.operation, given, source, made, target)
        pixels += target.sides[0] * target.sides[1]
    counters.pixel_bytes += moved
    return Work(pixels=pixels, pixel_bytes=moved)


def combine_bits(
    operation: ComposeRectsOp, given: Rows, source: Box, made: Rows, target: Box
) -> int:
    """Combine a rectangle of rows of bytes with one as large of others; the bytes touched."""
    read, written = _touched(given, source), _touched(made, target)
    bits = np.unpackbits(written, axis=1)
    left, width = target.left % _PIXELS, target.sides[0]
    there = bits[:, left : left + width]
    first = source.left % _PIXELS
    taken = np.unpackbits(read, axis=1)[:, first : first + width]
    there[...] = _OPERATIONS[operation](there, taken)
    written[...] = np.packbits(bits, axis=1)
    passes = 1 if operation is ComposeRectsOp.COPY else 2
    return read.size + passes * written.size


def _neither(made: Bits, given: Bits) -> Bits:
    """What the source has is taken away from the target."""
    return made & ~given


_OPERATIONS: dict[ComposeRectsOp, Callable[[Bits, Bits], Bits]] = {
    ComposeRectsOp.COPY: lambda made, given: given,
    ComposeRectsOp.OR: or_,
    ComposeRectsOp.AND: and_,
    ComposeRectsOp.NEG: _neither,
}
"""Documentation of D3DCOMPOSERECTSOP."""


def _rows(part: Part) -> Rows:
    """The bytes of a subresource, a writable view."""
    return blocks(part.surface, part.index)[0, :, :, 0, 0]


def _touched(rows: Rows, box: Box) -> Rows:
    """The bytes in which a box has pixels."""
    return rows[box.top : box.bottom, box.left // _PIXELS : -(-box.right // _PIXELS)]


def _rectangles(packet: Compose) -> Iterator[tuple[Box, Box]]:
    """What is left of each rectangle in source and target, in order."""
    sources = _words(packet.sources.data).astype(np.int64)
    places = _words(packet.places.data)[: packet.count]
    places = places[places[:, 0] < len(sources)]
    left, top, width, height = sources[places[:, 0]].T
    moved = places[:, 2:].view(np.int16).astype(np.int64) + packet.offset
    inside = packet.source.box.sides
    there = (left + width <= inside[0]) & (top + height <= inside[1])
    x, columns = _cut(moved[:, 0], width, packet.target.box.sides[0])
    y, rows = _cut(moved[:, 1], height, packet.target.box.sides[1])
    left, top = left + x - moved[:, 0], top + y - moved[:, 1]
    kept = there & (columns > 0) & (rows > 0)
    corners = np.stack([left, top, x, y, columns, rows], axis=1)[kept]
    for left, top, x, y, columns, rows in corners.tolist():
        yield Box(left, top, left + columns, top + rows), Box(x, y, x + columns, y + rows)


def _words(data: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Whole rectangles of a buffer, four words each."""
    whole = len(data) // RECT_BYTES * RECT_BYTES
    return data[:whole].view("<u2").reshape(-1, 4)


def _cut(start: I64, size: I64, room: int) -> tuple[I64, I64]:
    """Where what lies between 0 and ``room`` starts, and how much it is."""
    first = np.maximum(start, 0)
    return first, np.minimum(start + size, room) - first
