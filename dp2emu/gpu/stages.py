"""The stages between vertex fetch and clipping, for draws that have any (``packets.Later``).

Each makes meshes of meshes.  Draws without such stages come the same way if they are told to, and
then draw what ``gpu.geometry`` alone makes of them, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.assembly import TOPOLOGIES
from dp2emu.gpu.geometry import Geometry, placed, shaded
from dp2emu.gpu.mesh import LISTS, Mesh, three, whole, without_beside
from dp2emu.gpu.packets import Draw, Later, StageProgram
from dp2emu.gpu.parts import strips
from dp2emu.gpu.streamout import StreamOutput, stream_out
from dp2emu.gpu.texturing import Texturing, fetcher
from dp2emu.gpu.vertex import vertex_bytes, vertex_numbers
from dp2emu.gpu.work import Streams, Work
from dp2emu.shader.ir import Stage
from dp2emu.shader.reference import Result
from dp2emu.shader.types import Lanes

if TYPE_CHECKING:
    from dp2emu.gpu.texture_cache import TextureCache
    from dp2emu.shader.reference import Run

CHUNK = 1 << 13
"""Primitives assembled together, and clipped together."""

VIEWPORT, LAYER = "viewport.x", "layer.x"
"""I32 ports of vertices: the number of a viewport, and of a slice of the targets."""


@dataclass(frozen=True, slots=True)
class Running:
    """Runs the programs of stages: ``run`` is the engine, ``cache`` is asked for texels."""

    run: Run
    cache: TextureCache | None = None

    def __call__(
        self, draw: Draw, bound: StageProgram, inputs: Mapping[str, Lanes], lanes: int
    ) -> Result:
        """Run a stage's program, reading what is bound to it."""
        given = standing(draw, bound)
        texturing = Texturing.of(given, self.cache, self.run)
        return self.run(
            bound.program,
            inputs,
            given.vertex_uniforms,
            lanes,
            sampler=texturing.sampler(Stage.VERTEX),
            fetcher=fetcher(given, texturing, Stage.VERTEX),
        )

    def vertices(self, draw: Draw, numbers: I64) -> tuple[Mapping[str, Lanes], I64]:
        """Run the vertex program, as ``geometry.shaded`` does."""
        assert draw.pipeline.vertex is not None
        texturing = Texturing.of(draw, self.cache, self.run)
        sampler, reads = texturing.sampler(Stage.VERTEX), fetcher(draw, texturing, Stage.VERTEX)
        return shaded(draw, draw.pipeline.vertex, numbers, sampler, self.run, reads)


def standing(draw: Draw, bound: StageProgram) -> Draw:
    """A draw whose vertex program is that of another stage, with what is bound to it."""
    pipeline = replace(
        draw.pipeline,
        vertex=bound.program,
        vertex_samplers=bound.samplers,
        vertex_units=bound.units,
    )
    return replace(
        draw,
        pipeline=pipeline,
        vertex_uniforms=bound.uniforms,
        vertex_textures=bound.textures,
    )


class Made(NamedTuple):
    """A mesh that a stage made, and the work of that and of what came before."""

    mesh: Mesh
    work: Work


Flow = Iterable[Made]
"""Meshes in drawing order, on their way from stage to stage."""


def meshes(draw: Draw, running: Running) -> Flow:
    """What an instance of a draw with later stages makes, up to clipping."""
    assert draw.later is not None
    return _stored(assembled(draw, running), draw.later.output)


def assembled(draw: Draw, running: Running) -> Iterator[Made]:
    """The primitives that indices and topology tell, of vertices that the vertex program made;
    adjacent ones are counted in any case, and made if a stage reads them.
    """
    starts, counts = strips(draw)
    total, row = int(counts.sum()), TOPOLOGIES[draw.topology]
    read = int((row.step * counts + row.extra).sum()) if total else 0
    work = Work(vertices=read, vertex_bytes=read * vertex_bytes(draw.pipeline.layout))
    ends = np.cumsum(counts)
    for start in range(0, total, CHUNK):
        ids = np.arange(start, min(start + CHUNK, total))
        strip = np.searchsorted(ends, ids, side="right")
        number = ids - (ends - counts)[strip]
        places = starts[strip] + whole(draw.topology, number, number == counts[strip] - 1)
        mesh = Mesh({}, places, LISTS.get(draw.topology, draw.topology), ids)
        yield Made(_with_vertices(draw, running, mesh), work + Work(primitives=len(ids)))
        work = Work()


def _with_vertices(draw: Draw, running: Running, mesh: Mesh) -> Mesh:
    """The mesh with vertices, whose corners are places of vertices or indices as yet."""
    assert draw.later is not None
    mesh = mesh if draw.later.reads_beside else without_beside(mesh)
    numbers = vertex_numbers(draw.indices, mesh.corners.ravel()).reshape(mesh.corners.shape)
    outputs, corner = running.vertices(draw, numbers)
    return replace(mesh, vertices=outputs, corners=corner)


def _stored(flow: Flow, output: StreamOutput) -> Iterator[Made]:
    """Meshes of the stream that is rasterized, after all are stored that should be."""
    for mesh, work in flow:
        layout = output.layouts.get(mesh.stream)
        if layout is not None:
            plain = without_beside(mesh)
            found = stream_out(layout, output.targets, plain.vertices, plain.corners)
            work += Work(streams=Streams.of(mesh.stream, *found))
        yield Made(mesh if mesh.stream == output.rasterized else mesh.part(_NONE), work)


_NONE = slice(0)


def on_screen(draw: Draw, mesh: Mesh, names: tuple[str, ...]) -> Iterator[tuple[Draw, Geometry]]:
    """Primitives on the screen with those varyings of ``names`` that they have, some at a time,
    and the draw they are to be drawn with.
    """
    mesh = without_beside(mesh)
    for start in range(0, mesh.count, CHUNK):
        for shown, part in _routed(draw, mesh.part(slice(start, start + CHUNK))):
            part = part.alone() if part.count < mesh.count else part
            corner = three(part.corners)
            yield shown, placed(shown, part.vertices, corner, part.ids, names)


def _routed(draw: Draw, mesh: Mesh) -> Iterator[tuple[Draw, Mesh]]:
    """Primitives by slice of the targets and viewport; in order, but that of slices, which have
    nothing in common.
    """
    shown = replace(draw, topology=mesh.topology, count=mesh.count)
    later = draw.later
    assert later is not None
    layers, views = mesh.lanes(LAYER, 0), mesh.lanes(VIEWPORT, 0)
    if not (later.layers and layers is not None) and not (later.views and views is not None):
        yield shown, mesh
        return
    layer, view = _known(layers, later.layers, mesh), _known(views, later.views, mesh)
    order = np.argsort(layer, kind="stable")
    changed = np.diff(layer[order]) | np.diff(view[order])
    changes = np.flatnonzero(changed) + 1
    for chosen in np.split(order, changes):
        if len(chosen):
            yield _in(shown, later, int(layer[chosen[0]]), int(view[chosen[0]])), mesh.part(chosen)


def _known(numbers: Lanes | None, known: Sequence[object], mesh: Mesh) -> I64:
    """The numbers, and 0 for those that there are none of."""
    if numbers is None:
        return np.zeros(mesh.count, np.int64)
    inside = (numbers >= 0) & (numbers < len(known))
    return np.where(inside, numbers, 0).astype(np.int64)


def _in(draw: Draw, later: Later, layer: int, view: int) -> Draw:
    """The draw into one of the layers, and in one of the views."""
    if later.layers:
        draw = replace(draw, colors=later.layers[layer].colors, depth=later.layers[layer].depth)
    if later.views:
        chosen = later.views[view]
        draw = replace(draw, viewport=chosen.viewport, scissor=chosen.scissor)
    return draw
