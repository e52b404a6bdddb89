"""Copies: between surfaces, between buffers, and from a level of a texture to the next."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import ComposeRectsOp, Format
from dp2emu.d3d.formats import FormatRow
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command import packets
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.resample import Axis, Lanes, linear, point, resample
from dp2emu.gpu.resource.subresources import Box
from dp2emu.gpu.resource.texels import Blocks, blocks, read_texels, whole_blocks, write_texels
from dp2emu.gpu.transfer.compose import combine_bits
from dp2emu.gpu.transfer.resolve import resolve

_BAND = 1 << 18
"""Texels converted together."""

_Along = Callable[[int, int], Axis]
"""Sizes of source and target in one direction -> where texels come from."""


def execute_copy(copy: packets.Copy, counters: Counters) -> Work:
    """Copy, convert or stretch.  Counts the bytes of both parts; no query counts pixels."""
    source, target = copy.source, copy.target
    given, made = _texels(source), _texels(target)
    if source.surface.samples > target.surface.samples:
        given = replace(given, stored=_resolved(source.surface))
    if np.may_share_memory(given.stored, made.stored):
        given = replace(given, stored=given.stored.copy())
    if given.row.format == made.row.format and source.box.sides == target.box.sides:
        _take_over(given, made)
    else:
        _stretch(given, made, linear if copy.linear else point)
    return _work(counters, source, target)


def execute_generate_levels(packet: packets.GenerateLevels, counters: Counters) -> Work:
    """Make levels from those above them."""
    surface, along = packet.surface, point if packet.point else linear
    work = Work()
    for index in range(len(surface.subresources)):
        if index % surface.desc.levels:
            above, part = (
                packets.whole_part(surface, index - 1),
                packets.whole_part(surface, index),
            )
            _stretch(_texels(above), _texels(part), along)
            work += _work(counters, above, part)
    return work


def execute_copy_bytes(copy: packets.CopyBytes, counters: Counters) -> Work:
    """Copy bytes of buffers; the parts may overlap."""
    data = copy.source.data[copy.source_offset : copy.source_offset + copy.size].copy()
    copy.target.data[copy.target_offset : copy.target_offset + copy.size] = data
    counters.pixel_bytes += 2 * copy.size
    return Work(pixel_bytes=2 * copy.size)


def execute_write(write: packets.Write, counters: Counters) -> Work:
    """Store blocks that came with a command."""
    made = _texels(write.target)
    there = whole_blocks(made.row, made.box)
    stored = made.stored[there]
    stored[...] = np.frombuffer(write.data, np.uint8).reshape(stored.shape)
    width, height, depth = made.box.sides
    counters.pixel_bytes += len(write.data)
    return Work(pixels=width * height * depth, pixel_bytes=len(write.data))


def execute_write_bytes(write: packets.WriteBytes, counters: Counters) -> Work:
    """Store bytes that came with a command."""
    data = np.frombuffer(write.data, np.uint8)
    write.target.data[write.offset : write.offset + len(data)] = data
    counters.pixel_bytes += len(data)
    return Work(pixel_bytes=len(data))


def execute_swap(swap: packets.Swap) -> Work:
    """Exchange what two surfaces hold.  Boards do that by exchanging addresses: no byte moves."""
    held = swap.one.data.copy()
    swap.one.data[:] = swap.other.data
    swap.other.data[:] = held
    return Work()


class _Texels(msgspec.Struct, frozen=True, eq=False):
    """A part and how its texels are stored; ``stored`` is all of its subresource."""

    row: FormatRow
    stored: Blocks
    box: Box
    edge: Box

    def read(self, z: I64, y: I64, x: I64) -> Lanes:
        """Colours of texels, counted from the corner of the box.  What lies beside the box is
        read as well; beyond the edge of the subresource it is the texel there.
        """
        box, edge = self.box, self.edge
        return read_texels(
            self.row,
            self.stored,
            np.clip(z + box.front, 0, edge.back - 1),
            np.clip(y + box.top, 0, edge.bottom - 1),
            np.clip(x + box.left, 0, edge.right - 1),
        )


def _take_over(given: _Texels, made: _Texels) -> None:
    """Fill one part with what another of its format and size has stored."""
    if made.row.format is not Format.A1:
        made.stored[whole_blocks(made.row, made.box)] = given.stored[
            whole_blocks(given.row, given.box)
        ]
        return
    for z in range(made.box.sides[2]):
        read = given.stored[given.box.front + z, :, :, 0, 0]
        written = made.stored[made.box.front + z, :, :, 0, 0]
        combine_bits(ComposeRectsOp.COPY, read, given.box, written, made.box)


def _texels(part: packets.Part) -> _Texels:
    surface, index = part.surface, part.index
    edge = packets.whole_part(surface, index).box
    return _Texels(ROWS[surface.format], blocks(surface, index), part.box, edge)


def _resolved(surface: Surface) -> Blocks:
    """A multisampled surface, which has no levels, with one sample for each pixel."""
    row = ROWS[surface.format]
    words = resolve(row, surface.pixels(), surface.samples)
    return words.view(np.uint8).reshape(1, surface.height, surface.width, 1, row.size)


def _stretch(given: _Texels, made: _Texels, along: _Along) -> None:
    """Fill one part from another, a band of rows at a time."""
    x, y, z = (along(a, b) for a, b in zip(given.box.sides, made.box.sides, strict=True))
    width, height, depth = made.box.sides
    rows = max(1, _BAND // (width * depth))
    box = made.box
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        lanes = resample(given.read, z, y.between(top, bottom), x)
        there = (
            slice(box.front, box.back),
            slice(box.top + top, box.top + bottom),
            slice(box.left, box.right),
        )
        write_texels(made.row, made.stored[there], lanes)


def _work(counters: Counters, source: packets.Part, target: packets.Part) -> Work:
    width, height, depth = target.box.sides
    moved = _bytes(source) + _bytes(target)
    counters.pixel_bytes += moved
    return Work(pixels=width * height * depth, pixel_bytes=moved)


def _bytes(part: packets.Part) -> int:
    """Bytes of the blocks a part touches."""
    row, samples = ROWS[part.surface.format], part.surface.samples
    touched = whole_blocks(row, part.box)
    each: int = samples * row.size
    return each * math.prod(int(s.stop) - int(s.start) for s in touched)
