"""Copies between surfaces, buffers and mip levels; compositions; multisample resolve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from operator import and_, or_

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.cancellation import polled
from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import ComposeRectsOp, Format
from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.gpu.arrays import I64, Words
from dp2emu.gpu.command import packets
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import pack_color, unpack_color, unused_bits
from dp2emu.gpu.resource.resample import Axis, Lanes, linear, point, resample
from dp2emu.gpu.resource.srgb import decoded, encoded
from dp2emu.gpu.resource.subresources import Box
from dp2emu.gpu.resource.texels import Blocks, blocks, read_texels, whole_blocks, write_texels

_BAND = 1 << 18
"""Number of texels that a copy converts, or a resolve averages, at once."""

_COPY_BYTES = 16 << 20
"""Number of bytes that are copied between two polls."""

_Filter = Callable[[int, int], Axis]
"""Function that returns the filter along one axis; parameters: sizes of source and target."""


def execute_copy(copy: packets.Copy, counters: Counters) -> Work:
    """Copy, convert or stretch a part of a surface; count the bytes of both parts, not pixels."""
    source, target = copy.source, copy.target
    origin, destination = _texels(source), _texels(target)
    if source.surface.samples > target.surface.samples:
        origin = replace(origin, stored=resolved_blocks(source.surface))
    if np.may_share_memory(origin.stored, destination.stored):
        origin = replace(origin, stored=_copied(origin.stored))
    if origin.row.format == destination.row.format and source.box.sides == target.box.sides:
        _take_over(origin, destination)
    else:
        _stretch(origin, destination, linear if copy.linear else point)
    return _work(counters, source, target)


def execute_generate_levels(packet: packets.GenerateLevels, counters: Counters) -> Work:
    """Generate the lower mip levels of a texture, each from the level above it."""
    surface, filter = packet.surface, point if packet.point else linear
    work = Work()
    for index in range(len(surface.subresources)):
        if index % surface.desc.levels:
            above, part = (packets.whole_part(surface, at) for at in (index - 1, index))
            _stretch(_texels(above), _texels(part), filter)
            work += _work(counters, above, part)
    return work


def execute_copy_bytes(copy: packets.CopyBytes, counters: Counters) -> Work:
    """Copy bytes from buffer to buffer; the two ranges may overlap."""
    data = _copied(copy.source.data[copy.source_offset : copy.source_offset + copy.size])
    _copy(data, copy.target.data[copy.target_offset : copy.target_offset + copy.size])
    counters.pixel_bytes += 2 * copy.size
    return Work(pixel_bytes=2 * copy.size)


def execute_write(write: packets.Write, counters: Counters) -> Work:
    """Write the pixel blocks that a packet carries into a surface."""
    destination = _texels(write.target)
    there = whole_blocks(destination.row, destination.box)
    stored = destination.stored[there]
    _copy(np.frombuffer(write.data, np.uint8).reshape(stored.shape), stored)
    width, height, depth = destination.box.sides
    counters.pixel_bytes += len(write.data)
    return Work(pixels=width * height * depth, pixel_bytes=len(write.data))


def execute_write_bytes(write: packets.WriteBytes, counters: Counters) -> Work:
    """Write the bytes that a packet carries into a buffer."""
    data = np.frombuffer(write.data, np.uint8)
    write.target.data[write.offset : write.offset + len(data)] = data
    counters.pixel_bytes += len(data)
    return Work(pixel_bytes=len(data))


def execute_swap(swap: packets.Swap) -> Work:
    """Exchange the contents of two surfaces.  No bytes are counted: hardware swaps addresses."""
    contents = _copied(swap.one.data)
    _copy(swap.other.data, swap.one.data)
    _copy(contents, swap.other.data)
    return Work()


class _Texels(msgspec.Struct, frozen=True, eq=False):
    """The source or target of a copy: the texels of a subresource that are in ``box``.

    ``row`` is its format; ``stored`` has all blocks of the subresource, of which ``edge`` is the
    box.
    """

    row: FormatRow
    stored: Blocks
    box: Box
    edge: Box

    def read(self, z: I64, y: I64, x: I64) -> Lanes:
        """Return colours of the texels at offsets from the corner of ``box``.

        Positions may lie outside the box; they are clamped to the subresource.
        """
        box, edge = self.box, self.edge
        return read_texels(
            self.row,
            self.stored,
            np.clip(z + box.front, 0, edge.back - 1),
            np.clip(y + box.top, 0, edge.bottom - 1),
            np.clip(x + box.left, 0, edge.right - 1),
        )


def _take_over(origin: _Texels, destination: _Texels) -> None:
    """Copy blocks as they are stored, between boxes of the same size in the same format."""
    if destination.row.format is not Format.A1:
        source = origin.stored[whole_blocks(origin.row, origin.box)]
        _copy(source, destination.stored[whole_blocks(destination.row, destination.box)])
        return
    for z in range(destination.box.sides[2]):
        read = origin.stored[origin.box.front + z, :, :, 0, 0]
        written = destination.stored[destination.box.front + z, :, :, 0, 0]
        combine_bits(ComposeRectsOp.COPY, read, origin.box, written, destination.box)


def _copy(source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    """Copy bytes, or blocks with two or more axes, in pieces of about ``_COPY_BYTES``."""
    if target.ndim == 1:
        source, target = source[None], target[None]
    for plane in range(len(target)):
        step = max(1, _COPY_BYTES // max(target[plane, :1].nbytes, 1))
        for top in polled(range(0, target.shape[1], step)):
            target[plane, top : top + step] = source[plane, top : top + step]


def _copied(source: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a copy of bytes or blocks, made in pieces."""
    made = np.empty_like(source)
    _copy(source, made)
    return made


def _texels(part: packets.Part) -> _Texels:
    surface, index = part.surface, part.index
    edge = packets.whole_part(surface, index).box
    return _Texels(ROWS[surface.format], blocks(surface, index), part.box, edge)


def resolved_blocks(surface: Surface) -> Blocks:
    """Return the pixels of a multisampled surface, averaged to one sample each."""
    row = ROWS[surface.format]
    words = resolve(row, surface.pixels(), surface.samples)
    return words.view(np.uint8).reshape(1, surface.height, surface.width, 1, row.size)


def _stretch(origin: _Texels, destination: _Texels, filter: _Filter) -> None:
    """Resample the texels of ``origin`` to the size of ``destination``, some rows at a time."""
    box = destination.box
    x, y, z = (filter(a, b) for a, b in zip(origin.box.sides, box.sides, strict=True))
    width, height, depth = box.sides
    rows = max(1, _BAND // (width * depth))
    for top in polled(range(0, height, rows)):
        bottom = min(top + rows, height)
        lanes = resample(origin.read, z, y.between(top, bottom), x)
        there = (
            slice(box.front, box.back),
            slice(box.top + top, box.top + bottom),
            slice(box.left, box.right),
        )
        write_texels(destination.row, destination.stored[there], lanes)


def _work(counters: Counters, source: packets.Part, target: packets.Part) -> Work:
    width, height, depth = target.box.sides
    moved = _bytes(source) + _bytes(target)
    counters.pixel_bytes += moved
    return Work(pixels=width * height * depth, pixel_bytes=moved)


def _bytes(part: packets.Part) -> int:
    """Return the number of bytes of the blocks that the box of a part meets."""
    row = ROWS[part.surface.format]
    counts = (int(s.stop) - int(s.start) for s in whole_blocks(row, part.box))
    return math.prod(counts, start=part.surface.samples * row.size)


# Compositions: rectangles of a monochrome surface combined with another one by bit operations.
# The highest bit of a byte is the leftmost pixel.

RECT_BYTES = 8
"""Size in bytes of a D3DCOMPOSERECTDESC and of a D3DCOMPOSERECTDESTINATION, which are equal."""
_PIXELS = 8
"""Number of pixels in a byte of a monochrome surface, one bit each."""

Bits = NDArray[np.uint8]
"""Monochrome pixels, an array element of 0 or 1 for each: shape (rows, columns)."""
Rows = NDArray[np.uint8]
"""Monochrome pixels, eight in each byte of an array of shape (rows, bytes of a row)."""


def execute_compose(packet: packets.Compose, counters: Counters) -> Work:
    """Execute ComposeRects: combine rectangles of a monochrome surface with the target, in order.

    Counts the bytes accessed; no query counts pixels.  Rectangles outside the buffers or the
    source are skipped; the part outside the target is clipped (driver documentation of
    ComposeRects).
    """
    source_rows, target_rows = _rows(packet.source), _rows(packet.target)
    pixels = moved = 0
    for source, target in polled(_rectangles(packet)):
        moved += combine_bits(packet.operation, source_rows, source, target_rows, target)
        pixels += target.sides[0] * target.sides[1]
    counters.pixel_bytes += moved
    return Work(pixels=pixels, pixel_bytes=moved)


def composed_pixels(packet: packets.Compose) -> int:
    """The number of target pixels of ComposeRects."""
    most = packet.count * math.prod(packet.target.box.sides)
    if most <= _BAND:
        return most
    return sum(math.prod(target.sides) for _, target in _rectangles(packet))


def combine_bits(
    operation: ComposeRectsOp, source_rows: Rows, source: Box, target_rows: Rows, target: Box
) -> int:
    """Combine a rectangle of bits with one of the same size in ``target_rows``, in place; return
    the number of bytes accessed.
    """
    read, written = _touched(source_rows, source), _touched(target_rows, target)
    bits, width = np.unpackbits(written, axis=1), target.sides[0]
    left, first = target.left % _PIXELS, source.left % _PIXELS
    there = bits[:, left : left + width]
    taken = np.unpackbits(read, axis=1)[:, first : first + width]
    there[...] = _OPERATIONS[operation](there, taken)
    written[...] = np.packbits(bits, axis=1)
    passes = 1 if operation is ComposeRectsOp.COPY else 2
    return read.size + passes * written.size


_OPERATIONS: dict[ComposeRectsOp, Callable[[Bits, Bits], Bits]] = {
    ComposeRectsOp.COPY: lambda target, source: source,
    ComposeRectsOp.OR: or_,
    ComposeRectsOp.AND: and_,
    ComposeRectsOp.NEG: lambda target, source: target & ~source,
}
"""D3DCOMPOSERECTSOP -> function that returns the new target bits; parameters: target bits, source
bits."""


def _rows(part: packets.Part) -> Rows:
    """Return a writable view of a monochrome subresource's rows of bytes."""
    return blocks(part.surface, part.index)[0, :, :, 0, 0]


def _touched(rows: Rows, box: Box) -> Rows:
    """Return a view of the bytes of a monochrome surface that contain pixels of a box."""
    return rows[box.top : box.bottom, box.left // _PIXELS : -(-box.right // _PIXELS)]


def _rectangles(packet: packets.Compose) -> Iterator[tuple[Box, Box]]:
    """Yield the clipped boxes of each rectangle in source and target, in order."""
    sources = _rectangle_words(packet.sources.data).astype(np.int64)
    places = _rectangle_words(packet.places.data)[: packet.count]
    places = places[places[:, 0] < len(sources)]
    left, top, width, height = sources[places[:, 0]].T
    moved = places[:, 2:].view(np.int16).astype(np.int64) + packet.offset
    inside = packet.source.box.sides
    there = (left + width <= inside[0]) & (top + height <= inside[1])
    x, columns = _cut(moved[:, 0], width, packet.target.box.sides[0])
    y, rows = _cut(moved[:, 1], height, packet.target.box.sides[1])
    left, top = left + x - moved[:, 0], top + y - moved[:, 1]
    visible = there & (columns > 0) & (rows > 0)
    corners = np.stack([left, top, x, y, columns, rows], axis=1)[visible]
    for left, top, x, y, columns, rows in corners.tolist():
        yield Box(left, top, left + columns, top + rows), Box(x, y, x + columns, y + rows)


def _rectangle_words(data: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the complete rectangle records of a buffer, four 16-bit words each."""
    whole = len(data) // RECT_BYTES * RECT_BYTES
    return data[:whole].view("<u2").reshape(-1, 4)


def _cut(start: I64, size: I64, room: int) -> tuple[I64, I64]:
    """Clip ranges to 0..``room``; returns their new starts and sizes, 0 or less if empty."""
    first = np.maximum(start, 0)
    return first, np.minimum(start + size, room) - first


# Multisample resolve


def resolve(row: FormatRow, words: Words, samples: int) -> Words:
    """Average the adjacent samples of each pixel, in the stored format.

    ``words`` has shape (height, width * samples), or (height, width * samples, row.words) if
    pixels have several; the result has width instead of width * samples.  Codes of unsigned
    channels are averaged rounding half up.  Floats, signed fractions and sRGB codes, as linear
    values, are added in float64 in sample order, divided, and rounded to float32 and then to the
    format.  Bits of no channel become ones.  Direct3D leaves the average to implementations.
    """
    signed = any(channel.coding is Coding.SNORM for channel in row.channels.values())
    average = _float_average if row.floating or signed or row.srgb else _whole_average
    height, columns, *rest = words.shape
    resolved = np.empty((height, columns // samples, *rest), words.dtype)
    step = max(1, _BAND // columns)
    for top in polled(range(0, height, step)):
        band = words[top : top + step]
        apart = band.reshape(len(band), -1, samples, *rest)
        resolved[top : top + step] = average(row, apart, samples)
    return resolved


def _whole_average(row: FormatRow, words: Words, samples: int) -> Words:
    """Average unsigned codes: words (rows, pixels, samples, ...) to words (rows, pixels, ...)."""
    if row.words == 1 and row.size <= _LANE // 8:
        return _narrow_average(row, words, samples)
    bits = 8 * row.word.itemsize
    unused = unused_bits(row)
    parts = [np.full(words.shape[:2], unused >> bits * part & (1 << bits) - 1, np.uint64)
             for part in range(row.words)]  # fmt: skip
    for channel in row.channels.values():
        part, shift = divmod(channel.shift, bits)
        source = words if row.words == 1 else words[..., part]
        fields = source.astype(np.uint64) >> np.uint64(shift) & np.uint64(channel.max)
        total = fields.sum(axis=2, dtype=np.uint64) + np.uint64(samples // 2)
        parts[part] |= total // np.uint64(samples) << np.uint64(shift)
    whole = parts[0] if row.words == 1 else np.stack(parts, axis=-1)
    return whole.astype(row.word)


_LANE = 32
"""Width in bits of the integers in which a resolve adds several channels at once (SIMD within a
register)."""


def _narrow_average(row: FormatRow, words: Words, samples: int) -> Words:
    """Average as ``_whole_average`` pixels of at most 32 bits, several channels per addition."""
    spare = samples.bit_length() - 1
    resolved = np.full(words.shape[:2], unused_bits(row), np.uint32)
    for channels in _groups(row, spare):
        first = channels[0].shift
        places = [channel.shift - first for channel in channels]
        mask = sum(c.max << place for c, place in zip(channels, places, strict=True))
        half = sum(samples // 2 << place for place in places)
        fields = words.astype(np.uint32, copy=False) >> np.uint32(first) & np.uint32(mask)
        total = fields[:, :, 0] + np.uint32(half)
        for sample in range(1, samples):
            total += fields[:, :, sample]
        resolved |= (total >> np.uint32(spare) & np.uint32(mask)) << np.uint32(first)
    return resolved.astype(row.word, copy=False)


def _groups(row: FormatRow, spare: int) -> list[list[Channel]]:
    """Group the channels that one 32-bit addition can add, ``spare`` bits apart for carries."""
    groups: list[list[Channel]] = []
    for channel in sorted(row.channels.values(), key=lambda channel: channel.shift):
        end = channel.shift + channel.bits + spare
        for group in groups:
            below = group[-1]
            apart = channel.shift - below.shift - below.bits >= spare
            if apart and end - group[0].shift <= _LANE:
                group.append(channel)
                break
        else:
            groups.append([channel])
    return groups


def _float_average(row: FormatRow, words: Words, samples: int) -> Words:
    """Average channels as floats: words (rows, pixels, samples, ...) to (rows, pixels, ...)."""
    means = []
    with np.errstate(all="ignore"):
        for lane in decoded(row, unpack_color(row, words)):
            total = lane[:, :, 0].astype(np.float64)
            for sample in range(1, samples):
                total += lane[:, :, sample]
            means.append((total / samples).astype(np.float32))
        return pack_color(row, encoded(row, means))
