"""Accesses of events to memory: which bytes of which surfaces a packet reads and writes.

What a packet reads is declared: vertices and indices from the first to the last one where that is
known, else to the end of the buffer; whole textures, constant buffers and views; copied boxes by
their rows, or if these are many from the first to the last.  What it writes is declared exactly
for copies, clears, writes and fills, which store every byte; a draw or a dispatch may write any
byte of its targets and views, and the bytes that it changed are found by comparison (``writers``).
The tests and blending of a draw read its own targets, which is not listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from dp2emu.d3d.dxgi import ROWS
from dp2emu.gpu.command import bindings, packets
from dp2emu.gpu.command.packets import Draw, Packet, Part
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.command.topology import vertex_count
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.subresources import Box, Subresource

Span = tuple[int, int]
"""A half-open range of bytes in the memory of a resource."""


class Access(NamedTuple):
    """A read or write of ``spans`` of the memory of ``surface``, which is no view.

    ``use`` names the binding, such as "vertices 0", "texture 1" or "target".  ``exact`` is False
    for writes of which only the bytes that changed are written.
    """

    surface: Surface
    use: str
    spans: tuple[Span, ...]
    writes: bool = False
    exact: bool = True


def root_of(surface: Surface) -> tuple[Surface, int]:
    """The surface that has the memory of a view, and the byte offset of the view in it."""
    root = surface
    while root.parent is not None:
        root = root.parent
    start = surface.data.ctypes.data - root.data.ctypes.data if root is not surface else 0
    return root, start


def accesses_of(packet: Packet) -> list[Access]:
    """The accesses of a packet in the order of the pipeline, reads first."""
    found = _ACCESSES.get(type(packet))
    return [] if found is None else [each for each in found(packet) if each.spans]


def _whole(
    surface: Surface | None, use: str, *, writes: bool = False, exact: bool = True
) -> Iterator[Access]:
    """An access to all bytes of a surface or view."""
    if surface is not None:
        root, start = root_of(surface)
        span = start, start + surface.data.nbytes
        yield Access(root, use, (span,), writes, exact)


MOST_ROWS = 1 << 16
"""Maximum number of rows of the boxes of a packet whose bytes are listed row by row."""


def _part(
    part: Part, use: str, *, writes: bool = False, exact: bool = True, rows: int | None = None
) -> Iterator[Access]:
    """An access to a box of texels, by rows; of a packet with more than ``MOST_ROWS`` rows one
    inexact span.  ``rows`` is the number of rows of all boxes of the packet.
    """
    root, start = root_of(part.surface)
    layout = part.surface.subresources
    level, first = layout[part.index], start - layout[0].offset
    if (_row_count(part.box) if rows is None else rows) > MOST_ROWS:
        yield Access(root, use, _hull(part, level, first), writes, exact=False)
        return
    yield Access(root, use, tuple(merged(_rows(part, level, first))), writes, exact)


def _row_count(box: Box) -> int:
    return (box.bottom - box.top) * (box.back - box.front)


def _hull(part: Part, level: Subresource, start: int) -> tuple[Span, ...]:
    """The bytes from the first to the last row of a box."""
    box = part.box
    if box.front >= box.back or box.top >= box.bottom:
        return ()
    first = replace(part, box=replace(box, bottom=box.top + 1, back=box.front + 1))
    last = replace(part, box=replace(box, top=box.bottom - 1, front=box.back - 1))
    (begin, _), (_, end) = (next(_rows(each, level, start)) for each in (first, last))
    return ((begin, end),) if begin < end else ()


def _rows(part: Part, level: Subresource, start: int) -> Iterator[Span]:
    box, row = part.box, ROWS[part.surface.format]
    wide, high = row.block
    size = row.size * part.surface.samples
    left, right = box.left // wide * size, -(-box.right // wide) * size
    for slice_number in range(box.front, box.back):
        base = start + level.offset + slice_number * level.slice_pitch
        for line in range(box.top // high, -(-box.bottom // high)):
            yield base + line * level.pitch + left, base + line * level.pitch + right


def merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans in the order of their begins, those that touch or overlap as one; empty ones are left
    out.

    >>> list(merged([(4, 8), (0, 4), (10, 12), (11, 12), (9, 9)]))
    [(0, 8), (10, 12)]
    """
    last: Span | None = None
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if last is not None and start <= last[1]:
            last = last[0], max(last[1], end)
            continue
        if last is not None:
            yield last
        last = start, end
    if last is not None:
        yield last


def overlaps(spans: Sequence[Span], wanted: Span) -> bool:
    """Whether a byte of ``wanted`` is in one of the spans."""
    return any(start < wanted[1] and wanted[0] < end for start, end in spans)


# Draws


def _drawn(draw: Draw) -> Iterator[Access]:
    yield from _assembled(draw.input)
    stages = (("vertex", draw.vertex), ("pixel", draw.pixel))
    for name, bound in stages:
        yield from _bound(name, bound.textures, bound.buffers)
    for name, program in later_stages(draw):
        yield from _bound(name, program.textures, program.buffers)
    yield from _written(draw)


def _assembled(given: packets.InputAssembly) -> Iterator[Access]:
    for number, stream in enumerate(given.streams):
        if stream is not None and isinstance(stream.data, Surface):
            yield _vertices(given, number, stream, stream.data)
    indices = given.indices
    if indices is not None and isinstance(indices.data, Surface):
        root, start = root_of(indices.data)
        first = indices.offset + given.first * indices.size
        count = _count(given)
        end = None if count is None else first + count * indices.size
        yield Access(root, "indices", _clipped(indices.data, start, first, end))


def _vertices(
    given: packets.InputAssembly, number: int, stream: packets.Stream, data: Surface
) -> Access:
    """The elements of a stream that a draw can read: to its end, unless vertices are consecutive
    and of a single instance.
    """
    root, start = root_of(data)
    count = _count(given)
    known = given.indices is None and given.instances is None and stream.divider == 1
    if not known or count is None or not stream.stride:
        return Access(root, f"vertices {number}", _clipped(data, start, stream.offset, None))
    first = stream.offset + given.first * stream.stride
    end = first + count * stream.stride
    return Access(root, f"vertices {number}", _clipped(data, start, first, end))


def _count(given: packets.InputAssembly) -> int | None:
    """The number of vertices or indices of a draw, None where it follows from the data."""
    if given.patch is not None or given.cuts or given.filled is not None:
        return None
    if given.vertices is not None:
        return given.vertices
    return vertex_count(given.topology, given.count)


def _clipped(surface: Surface, start: int, first: int, end: int | None) -> tuple[Span, ...]:
    size = surface.data.nbytes
    last = size if end is None else min(end, size)
    return ((start + first, start + last),) if 0 <= first < last else ()


def _bound(
    stage: str, textures: bindings.Textures, buffers: bindings.ConstantBuffers
) -> Iterator[Access]:
    for number, texture in textures.items():
        yield from _whole(texture.surface, f"{stage} texture {number}")
    for name, constants in buffers.items():
        if isinstance(constants, Surface):
            yield from _whole(constants, f"{stage} constants {name}")
        else:
            root, start = root_of(constants.surface)
            first = constants.first * _CONSTANT_BYTES
            end = first + constants.count * _CONSTANT_BYTES
            spans = _clipped(constants.surface, start, first, end)
            yield Access(root, f"{stage} constants {name}", spans)


_CONSTANT_BYTES = 16
"""Size in bytes of a constant of four words."""


def later_stages(draw: Draw) -> Iterator[tuple[str, StageProgram]]:
    """The stages between vertex program and clipping that a draw has, with their bindings; a hull
    stage once for each phase.
    """
    later = draw.post_vertex
    if later is None:
        return
    patches = later.tessellation
    if patches is not None:
        hull = patches.hull
        if hull.points is not None:
            yield "hull", hull.points
        yield from (("hull", each.bound) for each in hull.constants)
        yield "domain", patches.domain
    if later.geometry is not None:
        yield "geometry", later.geometry.bound


def _written(draw: Draw) -> Iterator[Access]:
    later = draw.post_vertex
    outputs = [(draw.output.colors, draw.output.depth)]
    outputs += [] if later is None else [(each.colors, each.depth) for each in later.layers]
    for colors, depth in outputs:
        for number, color in enumerate(colors):
            yield from _whole(color, f"target {number}", writes=True, exact=False)
        yield from _whole(depth, "depth", writes=True, exact=False)
    yield from _viewed(draw.output.unordered)
    if later is not None:
        for slot, target in later.output.targets.items():
            yield from _whole(target.surface, f"stream output {slot}", writes=True, exact=False)


def _viewed(views: packets.UnorderedViews) -> Iterator[Access]:
    """Views are read and written."""
    for writes in (False, True):
        for number, view in views.items():
            for surface in (view.surface, view.counter):
                yield from _whole(surface, f"view {number}", writes=writes, exact=not writes)


# Other packets


def _indirect(packet: packets.IndirectDraw) -> Iterator[Access]:
    yield from _whole(packet.arguments, "arguments")
    yield from _drawn(packet.draw)


def _dispatched(packet: packets.Dispatch) -> Iterator[Access]:
    yield from _bound("compute", packet.stage.textures, packet.stage.buffers)
    if packet.arguments is not None:
        yield from _whole(packet.arguments[0], "arguments")
    yield from _viewed(packet.unordered)


def _cleared(packet: packets.Clear) -> Iterator[Access]:
    colors = () if packet.color is None else packet.colors
    for surface in colors:
        yield from _filled(surface, packet.rects, exact=True)
    if packet.z is not None or packet.stencil is not None:
        # Depth and stencil share words: with one of them, the other's bytes stay.
        both = packet.z is not None and packet.stencil is not None
        yield from _filled(packet.depth, packet.rects, exact=both)


def _filled(
    surface: Surface | None, rects: Sequence[bindings.Rect], *, exact: bool
) -> Iterator[Access]:
    if surface is None:
        return
    boxes = [Box(rect.left, rect.top, rect.right, rect.bottom) for rect in rects]
    rows = sum(map(_row_count, boxes))
    for box in boxes:
        yield from _part(Part(surface, 0, box), "clear", writes=True, exact=exact, rows=rows)


def _copied(packet: packets.Copy) -> Iterator[Access]:
    yield from _part(packet.source, "copy")
    yield from _part(packet.target, "copy", writes=True)


def _blitted(packet: packets.Blit) -> Iterator[Access]:
    if packet.source is not None:
        yield from _part(packet.source, "blit")
    exact = packet.source_key is None and packet.target_key is None
    yield from _part(packet.target, "blit", writes=True, exact=exact)


def _copied_bytes(packet: packets.CopyBytes) -> Iterator[Access]:
    pairs = (packet.source, packet.source_offset), (packet.target, packet.target_offset)
    for writes, (surface, offset) in enumerate(pairs):
        root, start = root_of(surface)
        spans = _clipped(surface, start, offset, offset + packet.size)
        yield Access(root, "copy", spans, bool(writes))


def _written_bytes(packet: packets.WriteBytes) -> Iterator[Access]:
    root, start = root_of(packet.target)
    end = packet.offset + len(packet.data)
    yield Access(root, "write", _clipped(packet.target, start, packet.offset, end), True)


def _swapped(packet: packets.Swap) -> Iterator[Access]:
    for writes in (False, True):
        for surface in (packet.one, packet.other):
            yield from _whole(surface, "flip", writes=writes)


def _composed(packet: packets.Compose) -> Iterator[Access]:
    yield from _part(packet.source, "compose")
    yield from _whole(packet.sources, "rectangles")
    yield from _whole(packet.places, "rectangles")
    yield from _part(packet.target, "compose", writes=True, exact=False)


def _generated(packet: packets.GenerateLevels) -> Iterator[Access]:
    yield from _whole(packet.surface, "levels")
    yield from _whole(packet.surface, "levels", writes=True, exact=False)


_ACCESSES: dict[type[Any], Callable[[Any], Iterable[Access]]] = {
    Draw: _drawn,
    packets.IndirectDraw: _indirect,
    packets.Dispatch: _dispatched,
    packets.Clear: _cleared,
    packets.ClearUnordered: lambda packet: _viewed({0: packet.view}),
    packets.Copy: _copied,
    packets.Blit: _blitted,
    packets.CopyBytes: _copied_bytes,
    packets.Write: lambda packet: _part(packet.target, "write", writes=True),
    packets.WriteBytes: _written_bytes,
    packets.Swap: _swapped,
    packets.Compose: _composed,
    packets.GenerateLevels: _generated,
}
"""Functions that return the accesses of a packet, by the packet's type."""
