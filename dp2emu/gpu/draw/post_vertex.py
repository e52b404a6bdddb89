"""The stages between vertex fetch and clipping, for draws that have any (``packets.Later``).

Each makes meshes of meshes.  Draws without such stages come the same way if they are told to, and
then draw what ``gpu.rasterizer.clip`` alone makes of them, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from msgspec.structs import replace

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.post_vertex_stages import PostVertexStages
from dp2emu.gpu.command.topology import TOPOLOGIES
from dp2emu.gpu.command.work import Streams, Work
from dp2emu.gpu.geometry_shader.geometry_stage import emitted, stream_out
from dp2emu.gpu.input_assembler.vertex_fetch import strips, vertex_bytes, vertex_numbers
from dp2emu.gpu.patches.hull_domain import divided
from dp2emu.gpu.rasterizer.clip import Geometry, placed
from dp2emu.gpu.vertex_shader.mesh import (
    LAYER,
    LISTS,
    VIEWPORT,
    Made,
    Mesh,
    corners_with_adjacent,
    three,
    without_adjacent,
)
from dp2emu.gpu.vertex_shader.vertex_stage import StageRun
from dp2emu.shader.types import Lanes

CHUNK = 1 << 13
"""Primitives assembled together, and clipped together."""

Flow = Iterable[Made]
"""Meshes in drawing order, on their way from stage to stage."""


def assembled(draw: Draw, running: StageRun) -> Iterator[Made]:
    """The primitives that indices and topology tell, of vertices that the vertex program made;
    adjacent ones are counted in any case, and made if a stage reads them.
    """
    starts, counts = strips(draw)
    total, row = int(counts.sum()), TOPOLOGIES[draw.input.topology]
    read = int((row.step * counts + row.extra).sum()) if total else 0
    work = Work(vertices=read, vertex_bytes=read * vertex_bytes(draw.pipeline.layout))
    ends = np.cumsum(counts)
    for start in range(0, total, CHUNK):
        ids = np.arange(start, min(start + CHUNK, total))
        strip = np.searchsorted(ends, ids, side="right")
        number = ids - (ends - counts)[strip]
        places = starts[strip] + corners_with_adjacent(
            draw.input.topology, number, number == counts[strip] - 1
        )
        mesh = Mesh({}, places, LISTS.get(draw.input.topology, draw.input.topology), ids)
        yield Made(_with_vertices(draw, running, mesh), work + Work(primitives=len(ids)))
        work = Work()


def _with_vertices(draw: Draw, running: StageRun, mesh: Mesh) -> Mesh:
    """The mesh with vertices, whose corners are places of vertices or indices as yet."""
    assert draw.post_vertex is not None
    mesh = mesh if draw.post_vertex.reads_beside else without_adjacent(mesh)
    numbers = vertex_numbers(draw.input.indices, mesh.corners.ravel()).reshape(mesh.corners.shape)
    outputs, corner = running.vertices(draw, numbers)
    return replace(mesh, vertices=outputs, corners=corner)


def stored(draw: Draw, running: StageRun, flow: Flow) -> Iterator[Made]:
    """Meshes of the stream that is rasterized, after all are stored that should be."""
    assert draw.post_vertex is not None
    output = draw.post_vertex.output
    for mesh, work in flow:
        layout = output.layouts.get(mesh.stream)
        if layout is not None:
            plain = without_adjacent(mesh)
            found = stream_out(layout, output.targets, plain.vertices, plain.corners)
            streams = Streams.of(mesh.stream, found.written, found.needed)
            work += Work(streams=streams, stream_bytes=found.size)
        yield Made(mesh if mesh.stream == output.rasterized else mesh.part(_NONE), work)


_NONE = slice(0)
_Stage = Callable[[Draw, StageRun, Flow], Flow]

STAGES: tuple[_Stage, ...] = (divided, emitted, stored)
"""Those that a draw may have, in order; meshes go through the ones it has not as they are."""


def meshes(draw: Draw, running: StageRun) -> Flow:
    """What an instance of a draw with later stages makes, up to clipping."""
    flow: Flow = assembled(draw, running)
    for stage in STAGES:
        flow = stage(draw, running, flow)
    return flow


def on_screen(draw: Draw, mesh: Mesh, names: tuple[str, ...]) -> Iterator[tuple[Draw, Geometry]]:
    """Primitives on the screen with those varyings of ``names`` that they have, some at a time,
    and the draw they are to be drawn with.
    """
    mesh = without_adjacent(mesh)
    for start in range(0, mesh.count, CHUNK):
        for shown, part in _routed(draw, mesh.part(slice(start, start + CHUNK))):
            part = part.alone() if part.count < mesh.count else part
            corner = three(part.corners)
            yield shown, placed(shown, part.vertices, corner, part.ids, names)


def _routed(draw: Draw, mesh: Mesh) -> Iterator[tuple[Draw, Mesh]]:
    """Primitives by slice of the targets and viewport; in order, but that of slices, which have
    nothing in common, and of viewports if these have not.
    """
    shown = replace(draw, input=replace(draw.input, topology=mesh.topology, count=mesh.count))
    later = draw.post_vertex
    assert later is not None
    layers, views = mesh.lanes(LAYER, 0), mesh.lanes(VIEWPORT, 0)
    if not (later.layers and layers is not None) and not (later.views and views is not None):
        yield shown, mesh
        return
    layer, view = _known(layers, later.layers, mesh), _known(views, later.views, mesh)
    apart = _apart([later.views[n].scissor for n in np.unique(view)] if later.views else [])
    order = np.lexsort((view, layer)) if apart else np.argsort(layer, kind="stable")
    changed = np.diff(layer[order]) | np.diff(view[order])
    for chosen in np.split(order, np.flatnonzero(changed) + 1):
        if len(chosen):
            yield _in(shown, later, int(layer[chosen[0]]), int(view[chosen[0]])), mesh.part(chosen)


def _apart(rects: Sequence[Rect]) -> bool:
    """Whether rectangles have nothing in common."""
    return all(one.intersect(other).empty for one, other in combinations(rects, 2))


def _known(numbers: Lanes | None, known: Sequence[object], mesh: Mesh) -> I64:
    """The numbers, and 0 for those that there are none of."""
    if numbers is None:
        return np.zeros(mesh.count, np.int64)
    inside = (numbers >= 0) & (numbers < len(known))
    return np.where(inside, numbers, 0).astype(np.int64)


def _in(draw: Draw, later: PostVertexStages, layer: int, view: int) -> Draw:
    """The draw into one of the layers, and in one of the views."""
    if later.layers:
        slices = later.layers[layer]
        output = replace(draw.output, colors=slices.colors, depth=slices.depth)
        draw = replace(draw, output=output)
    if later.views:
        chosen = later.views[view]
        raster = replace(draw.raster, viewport=chosen.viewport)
        draw = replace(draw, raster=raster, scissor=chosen.scissor)
    return draw
