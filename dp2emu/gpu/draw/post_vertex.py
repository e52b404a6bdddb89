"""The stages between vertex fetch and clipping, of draws that have some (``PostVertexStages``).

Each maps meshes to meshes.  For draws without such stages the result equals the
result of ``gpu.rasterizer.clip`` alone, bit for bit.
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
from dp2emu.gpu.geometry_shader.geometry_stage import emitted
from dp2emu.gpu.geometry_shader.stream_output import stream_out
from dp2emu.gpu.input_assembler.vertex_fetch import Strips, strips, vertex_bytes, vertex_numbers
from dp2emu.gpu.patches.hull_domain import divided
from dp2emu.gpu.rasterizer.clip import Geometry, placed
from dp2emu.gpu.vertex_shader.mesh import (
    LISTS,
    Made,
    Mesh,
    corners_with_adjacent,
    three,
    without_adjacent,
)
from dp2emu.gpu.vertex_shader.vertex_stage import StageRun
from dp2emu.shader.ports import LAYER, VIEWPORT
from dp2emu.shader.types import Lanes

CHUNK = 1 << 13
"""Maximum number of primitives that are assembled together, and that are clipped together."""

Flow = Iterable[Made]
"""Iterable of meshes in drawing order, each with the work done for it."""


def assembled(draw: Draw, running: StageRun) -> Iterator[Made]:
    """Assemble primitives and run the vertex program; adjacent vertices always count as read, and
    are computed if a stage reads them.
    """
    starts, counts = strips(draw)
    total, row = int(counts.sum()), TOPOLOGIES[draw.input.topology]
    read = int((row.step * counts + row.extra).sum()) if total else 0
    work = Work(vertices=read, vertex_bytes=read * vertex_bytes(draw.pipeline.layout))
    for ids, places in placed_primitives(draw, Strips(starts, counts)):
        mesh = Mesh({}, places, LISTS.get(draw.input.topology, draw.input.topology), ids)
        yield Made(_with_vertices(draw, running, mesh), work + Work(primitives=len(ids)))
        work = Work()


def placed_primitives(draw: Draw, given: Strips) -> Iterator[tuple[I64, I64]]:
    """Primitive numbers in chunks, and for each the positions of its vertices in the index buffer
    (or vertex numbers without one), shape (k, n), adjacent vertices included.
    """
    starts, counts = given
    total, ends = int(counts.sum()), np.cumsum(counts)
    for start in range(0, total, CHUNK):
        ids = np.arange(start, min(start + CHUNK, total))
        strip = np.searchsorted(ends, ids, side="right")
        number = ids - (ends - counts)[strip]
        yield (
            ids,
            starts[strip]
            + corners_with_adjacent(draw.input.topology, number, number == counts[strip] - 1),
        )


def _with_vertices(draw: Draw, running: StageRun, mesh: Mesh) -> Mesh:
    """Run the vertex program for all corners of a mesh, which are positions in the index buffer
    (or vertex numbers without one) -> the mesh with its vertices.
    """
    assert draw.post_vertex is not None
    mesh = mesh if draw.post_vertex.reads_beside else without_adjacent(mesh)
    numbers = vertex_numbers(draw.input.indices, mesh.corners.ravel()).reshape(mesh.corners.shape)
    outputs, corner = running.vertices(draw, numbers)
    return replace(mesh, vertices=outputs, corners=corner)


def stored(draw: Draw, running: StageRun, flow: Flow) -> Iterator[Made]:
    """Write meshes to stream output, and pass on those of the rasterized stream."""
    assert draw.post_vertex is not None
    output = draw.post_vertex.output
    for mesh, work in flow:
        layout = output.layouts.get(mesh.stream)
        if layout is not None:
            plain = without_adjacent(mesh)
            found = stream_out(
                layout, output.targets, plain.vertices, plain.corners, output.overflow
            )
            streams = Streams.of(mesh.stream, found.written, found.needed)
            work += Work(streams=streams, stream_bytes=found.size)
        yield Made(mesh if mesh.stream == output.rasterized else mesh.part(slice(0)), work)


STAGES: tuple[Callable[[Draw, StageRun, Flow], Flow], ...] = (divided, emitted, stored)
"""Functions of the stages after the vertex program, in order: tessellation, geometry program,
stream output; each passes meshes on unchanged if the draw lacks its stage."""


def meshes(draw: Draw, running: StageRun) -> Flow:
    """Run the stages of one instance of a draw -> the meshes to be clipped."""
    flow: Flow = assembled(draw, running)
    for stage in STAGES:
        flow = stage(draw, running, flow)
    return flow


def on_screen(draw: Draw, mesh: Mesh, names: tuple[str, ...]) -> Iterator[tuple[Draw, Geometry]]:
    """Clip a mesh in chunks -> primitives in screen space with varyings ``names``, and the draw
    (target slice, viewport) for each.
    """
    mesh = without_adjacent(mesh)
    for start in range(0, mesh.count, CHUNK):
        for shown, part in _routed(draw, mesh.part(slice(start, start + CHUNK))):
            part = part.alone() if part.count < mesh.count else part
            corner = three(part.corners)
            yield shown, placed(shown, part.vertices, corner, part.ids, names)


def _routed(draw: Draw, mesh: Mesh) -> Iterator[tuple[Draw, Mesh]]:
    """Split a mesh by target slice and viewport -> for each part, a draw that has these, and a
    mesh.

    Order is kept within a slice, and between viewports that overlap.
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
    """Whether no two rectangles overlap."""
    return all(one.intersect(other).empty for one, other in combinations(rects, 2))


def _known(numbers: Lanes | None, known: Sequence[object], mesh: Mesh) -> I64:
    """For each primitive, the number of the layer or viewport that it selects; 0 if it selects
    none or one that is not in ``known``.
    """
    if numbers is None:
        return np.zeros(mesh.count, np.int64)
    inside = (numbers >= 0) & (numbers < len(known))
    return np.where(inside, numbers, 0).astype(np.int64)


def _in(draw: Draw, later: PostVertexStages, layer: int, view: int) -> Draw:
    """The draw with the targets of layer number ``layer`` and the viewport of view number
    ``view``.
    """
    if later.layers:
        slices = later.layers[layer]
        draw = replace(draw, output=replace(draw.output, colors=slices.colors, depth=slices.depth))
    if later.views:
        chosen = later.views[view]
        raster = replace(draw.raster, viewport=chosen.viewport)
        draw = replace(draw, raster=raster, scissor=chosen.scissor)
    return draw
