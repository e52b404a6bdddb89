"""Geometry programs, which emit strips for each primitive.

The program (``shader.sm4.lower.geometry``) outputs vertices as words, in the order of primitives,
then of instances, then of emission.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from dp2emu.cancellation import polled
from dp2emu.d3d.enums10 import Topology10
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.command.bindings import Topology
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.post_vertex_stages import EmittedStream, GeometryStage
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.vertex_shader.mesh import LISTS, PRIMITIVE_ID, Made, Mesh, without_adjacent
from dp2emu.gpu.vertex_shader.vertex_stage import StageRun
from dp2emu.shader.ops import canonical
from dp2emu.shader.ports import CONSTANT, STARTS
from dp2emu.shader.types import I32, Lanes, Type

WORDS = 1 << 22
"""Most 32-bit words of outputs and registers of geometry program invocations that run at once."""

MOST_EMITTED = 1 << 27
"""Largest number of vertices that a draw's geometry program may emit."""

INSTANCE = "gs_instance.x"
"""Name of the geometry program input that has the instance number, an I32."""

_NOTHING = Mesh({}, np.zeros((1, 0), np.int64), Topology10.POINTLIST, np.zeros(0, np.int64))


def emitted(draw: Draw, running: StageRun, flow: Iterable[Made]) -> Iterator[Made]:
    """Meshes of ``flow`` after a draw's geometry program, one a stream; unchanged without one.

    Raises Unsupported if the program may emit too many vertices.
    """
    stage = None if draw.post_vertex is None else draw.post_vertex.geometry
    if stage is None:
        yield from flow
        return
    most = MOST_EMITTED // (stage.instances * max(stage.limit, 1))
    for mesh, work in flow:
        most -= mesh.count
        if most < 0:
            raise too_much()
        given = mesh if mesh.topology == stage.takes else without_adjacent(mesh)
        yield Made(_NOTHING, work)
        # Primitives of another topology than the program's input are dropped.
        if given.topology == stage.takes:
            yield from _of_mesh(draw, stage, running, given)


def too_much() -> Unsupported:
    """The error for a draw whose geometry program may emit too many vertices."""
    return Unsupported(f"geometry shaders that emit more than {MOST_EMITTED:,} vertices")


def _of_mesh(draw: Draw, stage: GeometryStage, running: StageRun, mesh: Mesh) -> Iterator[Made]:
    together = max(WORDS // (stage.instances * _held(stage)), 1)
    for start in polled(range(0, mesh.count, together)):
        part = mesh.part(slice(start, start + together))
        lanes = part.count * stage.instances
        inputs = {port.name: _input(port.name, stage, part) for port in stage.bound.program.inputs}
        outputs = running(draw, stage.bound, inputs, lanes).outputs
        size = 4 * len(stage.words) * int(outputs["emitted.x"].sum())
        work = Work(geometry_runs=lanes, geometry_bytes=size)
        for made in _streams(stage, outputs):
            yield Made(made, work + Work(geometry_primitives=made.count))
            work = Work()


def _held(stage: GeometryStage) -> int:
    """Number of 32-bit words of one geometry program invocation: outputs and register files."""
    own = sum(file.size for file in stage.bound.program.files if not file.uniform)
    return own + len(stage.bound.program.outputs)


def _input(port: str, stage: GeometryStage, mesh: Mesh) -> Lanes:
    """Lanes of the input ``port``, one for each instance of each primitive; absent data is 0."""
    if port == INSTANCE:
        return np.tile(np.arange(stage.instances, dtype=np.int32), mesh.count)
    if port == PRIMITIVE_ID:
        return np.repeat(mesh.ids.astype(np.int32), stage.instances)
    vertex, _, component = port.removeprefix("vertex").partition(".")
    found = mesh.lanes(CONSTANT + component, int(vertex))
    return np.zeros(1, np.int32) if found is None else np.repeat(found, stage.instances)


def _streams(stage: GeometryStage, outputs: Mapping[str, Lanes]) -> Iterator[Mesh]:
    if not stage.limit:
        yield _NOTHING
        return
    marks = _each(outputs, "mark", stage.limit)
    there = np.arange(stage.limit) < outputs["emitted.x"][:, None]
    for stream in stage.streams:
        chosen = there & (marks % STARTS == stream.number)
        used = {word for _, word in stream.ports}
        words = {word: _each(outputs, str(word), stage.limit)[chosen] for word in used}
        yield _mesh(stream, words, marks[chosen] >= STARTS)


def _each(outputs: Mapping[str, Lanes], name: str, limit: int) -> I32:
    """Output ``name`` of each vertex that invocations may emit, shape (lanes, limit): the port
    ``emit0.NAME`` for the first vertex, and so on.
    """
    return np.stack([outputs[f"emit{vertex}.{name}"] for vertex in range(limit)], axis=1)


def _mesh(stream: EmittedStream, words: Mapping[int, I32], starts: Mask) -> Mesh:
    vertices = {port.name: _typed(words[word], port.type) for port, word in stream.ports}
    corners = strip_corners(stream.topology, starts)
    ids = vertices.get(PRIMITIVE_ID)
    numbers = np.zeros(corners.shape[1], np.int64) if ids is None else ids[corners[0]]
    topology = LISTS.get(stream.topology, stream.topology)
    return Mesh(vertices, corners, topology, numbers.astype(np.int64), stream.number)


def _typed(words: I32, type: Type) -> Lanes:
    return canonical(words.view(np.float32)) if type is Type.F32 else words


def strip_corners(topology: Topology, starts: Mask) -> I64:
    """Vertex numbers of the primitives of strips, shape (k, n), provoking vertex first.

    ``starts``, shape (vertices,), marks the first vertex of each strip; strips that are too short
    have no primitive.
    """
    number = np.arange(len(starts))
    if topology == Topology10.POINTLIST:
        return number[None]
    place = number - np.maximum.accumulate(np.where(starts, number, 0))
    if topology == Topology10.LINESTRIP:
        last = number[place >= 1]
        return np.stack((last - 1, last))
    last = number[place >= 2]
    odd = place[last] & 1
    return np.stack((last - 2, last - 1 + odd, last - odd))
