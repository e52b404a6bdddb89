"""Hull programs, tessellator and domain programs: patches become points, lines or triangles.

A hull program has a control point phase, which runs for each output control point, and patch
constant phases, which run in order, each once an instance, and read the output of earlier ones.
The tessellator takes its factors from the patch constants.  The domain program runs once for each
point of a patch, however many primitives share it (SM4-5 tokens, "Hull shaders" and "Domain
shaders").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.enums10 import Topology10
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32, I64
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.post_vertex_stages import (
    Component,
    HullStage,
    StageProgram,
    TessellationStage,
)
from dp2emu.gpu.command.topology import PATCHES
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.tessellation.factors import ONE, Factors
from dp2emu.gpu.tessellation.tessellate import Tessellation
from dp2emu.gpu.vertex_shader.mesh import Made, Mesh
from dp2emu.gpu.vertex_shader.vertex_stage import StageRun
from dp2emu.shader.ports import CONSTANT, CONSTANTS, POINTS_IN, POINTS_OUT
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.types import I32, Lanes

WORDS = 1 << 18
"""Approximate number of 32-bit register words of the patches whose hull program runs at once."""
POINTS = 1 << 15
"""Approximate number of domain points in a batch of patches that are tessellated together."""

MOST_POINTS = 1 << 26
"""Most domain points (tessellated vertices) of one instance of a draw; more raises Unsupported."""
MOST_EMITTED = 1 << 27
"""Limit on the vertices that a geometry program may emit for the domain points of one instance."""

_NOTHING = Mesh({}, np.zeros((3, 0), np.int64), Topology10.TRIANGLELIST, np.zeros(0, np.int64))
_TOPOLOGIES = {1: Topology10.POINTLIST, 2: Topology10.LINELIST, 3: Topology10.TRIANGLELIST}
"""From number of corners, 1 to 3, to the list topology of tessellation's primitives."""

_NONE = np.zeros(0, np.int32)

Registers = NDArray[np.int32]
"""Registers of control points: int32 bits, shape (patches, points, registers, 4 components)."""


def divided(draw: Draw, running: StageRun, flow: Iterable[Made]) -> Iterator[Made]:
    """Meshes of ``flow`` after a draw's hull and domain programs; unchanged without programs.

    Primitives other than patches with the hull program's number of input points are dropped.
    Raises Unsupported for too many domain points.
    """
    stage = None if draw.post_vertex is None else draw.post_vertex.tessellation
    if stage is None:
        yield from flow
        return
    points, most = 0, _most(draw)
    for mesh, work in flow:
        yield Made(_NOTHING, work)
        if mesh.topology in PATCHES and len(mesh.corners) == stage.hull.takes:
            for patches in patch_batches(stage, mesh):
                for made in _of_patches(draw, stage, running, patches):
                    points += made.work.domain_runs
                    if points > most:
                        raise Unsupported(f"draws of more than {most:,} divided points")
                    yield made


def patch_batches(stage: TessellationStage, mesh: Mesh) -> Iterator[Mesh]:
    """Divide a mesh of patches into batches whose hull program runs at once."""
    together = max(WORDS // _words(stage), 1)
    for start in range(0, mesh.count, together):
        yield mesh.part(slice(start, start + together))


def _most(draw: Draw) -> int:
    """Most domain points of an instance of a draw; a geometry program with much output lowers
    it.
    """
    geometry = None if draw.post_vertex is None else draw.post_vertex.geometry
    if geometry is None:
        return MOST_POINTS
    # A point has at most two primitives.
    return min(MOST_POINTS, MOST_EMITTED // (2 * geometry.instances * max(geometry.limit, 1)))


def _words(stage: TessellationStage) -> int:
    """Number of 32-bit words of a patch in the largest of its register files, at least 4."""
    hull = stage.hull
    sizes = (hull.takes * hull.registers, hull.makes * hull.registers,
             stage.takes * stage.registers)  # fmt: skip
    return 4 * max(*sizes, 1)


def _of_patches(
    draw: Draw, stage: TessellationStage, running: StageRun, mesh: Mesh
) -> Iterator[Made]:
    hull = stage.hull
    points, constants = hull_outputs(draw, hull, running, mesh)
    factors = stage.tessellator.factors(
        *(_factors(hull, places, constants) for places in (hull.edges, hull.inside))
    )
    files = {
        POINTS_IN: _sized(points, stage.takes, stage.registers),
        CONSTANTS: _sized(constants[:, None], 1, stage.registers),
    }
    domain = _with_files(stage.domain, files)
    yield Made(_NOTHING, Work(hull_runs=mesh.count))
    for part in _batches(stage, factors):
        found = stage.tessellator.tessellate(part)
        inputs = _domain_inputs(domain, found, mesh.ids)
        outputs = running(draw, domain, inputs, len(found.u)).outputs
        topology = _TOPOLOGIES[len(found.corners)]
        divided = Mesh(outputs, found.corners, topology, mesh.ids[found.patch])
        yield Made(divided, Work(domain_runs=len(found.u)))


def _batches(stage: TessellationStage, factors: Factors) -> Iterator[Factors]:
    """Divide factors into batches of consecutive patches that are tessellated together."""
    ends = np.cumsum(stage.tessellator.counts(factors).points)
    places = np.arange(len(ends))
    changes = np.flatnonzero(np.diff((ends - 1) // POINTS)) + 1
    for chosen in np.split(places, changes):
        if len(chosen):
            yield factors.part(chosen)


def hull_outputs(
    draw: Draw, hull: HullStage, running: StageRun, mesh: Mesh
) -> tuple[Registers, Registers]:
    """Run a hull program -> control points; patch constants, shape (patches, registers, 4)."""
    given = _registers(mesh.vertices, CONSTANT + "v", mesh.corners, hull.registers)
    made = given
    if hull.points is not None:
        bound = _with_files(hull.points, {POINTS_IN: given})
        lanes = mesh.count * hull.makes
        outputs = running(draw, bound, _point_inputs(bound, mesh, hull.makes), lanes).outputs
        corners = np.arange(lanes).reshape(mesh.count, hull.makes).T
        made = _registers(outputs, "o", corners, hull.registers)
    made = _sized(made, hull.makes, hull.registers)
    constants = np.zeros((mesh.count, 1, hull.registers, 4), np.int32)
    for each in hull.constants:
        for instance in range(each.instances):
            files = {POINTS_IN: given, POINTS_OUT: made, CONSTANTS: constants}
            bound = _with_files(each.bound, files)
            inputs = _constant_inputs(bound, mesh, instance)
            outputs = running(draw, bound, inputs, mesh.count).outputs
            constants = constants.copy()
            _fill(constants, outputs, "o", np.arange(mesh.count)[None])
    return made, constants[:, 0]


def _registers(lanes: Mapping[str, Lanes], name: str, corners: I64, registers: int) -> Registers:
    """Registers of patches' control points, the vertices ``corners``, shape (points, patches),
    from the lanes of the ports ``name`` + register number; 0 without a port.
    """
    points, patches = corners.shape
    found = np.zeros((patches, points, registers, 4), np.int32)
    _fill(found, lanes, name, corners)
    return found


def _fill(found: Registers, lanes: Mapping[str, Lanes], name: str, corners: I64) -> None:
    """Copy lanes of ports ``name`` + register number, at vertices ``corners``, to ``found``."""
    for register in range(found.shape[2]):
        for component, letter in enumerate(COMPONENTS):
            lane = lanes.get(f"{name}{register}.{letter}")
            if lane is not None:
                found[:, :, register, component] = lane[corners.T]


def _sized(found: Registers, points: int, registers: int) -> Registers:
    """``found`` cut, or padded with zeros, to ``points`` points of ``registers`` each."""
    if found.shape[1:3] == (points, registers):
        return found
    sized = np.zeros((len(found), points, registers, 4), np.int32)
    kept = found[:, :points, :registers]
    sized[:, : kept.shape[1], : kept.shape[2]] = kept
    return sized


def _with_files(bound: StageProgram, files: Mapping[str, Registers]) -> StageProgram:
    """A program with register files of patches bound as uniforms if it reads them; absent
    files are empty.
    """
    read = {file.name for file in bound.program.files} & {POINTS_IN, POINTS_OUT, CONSTANTS}
    given = {name: files.get(name, _NONE).reshape(-1) for name in read}
    return replace(bound, uniforms={**bound.uniforms, **given})


def _inputs(bound: StageProgram, lanes: Mapping[str, Lanes]) -> dict[str, Lanes]:
    """The inputs of a program, by port; inputs without lanes are 0."""
    return {
        port.name: lanes.get(port.name, np.zeros(1, port.type.dtype))
        for port in bound.program.inputs
    }


def _point_inputs(bound: StageProgram, mesh: Mesh, count: int) -> dict[str, Lanes]:
    """Input lanes of a control point phase: for each patch, one for each output control point."""
    patches, points = np.arange(mesh.count, dtype=np.int32), np.arange(count, dtype=np.int32)
    return _inputs(bound, {
        "patch.x": np.repeat(patches, count),
        "output_control_point.x": np.tile(points, mesh.count),
        "primitive_id.x": np.repeat(mesh.ids.astype(np.int32), count),
    })  # fmt: skip


def _constant_inputs(bound: StageProgram, mesh: Mesh, instance: int) -> dict[str, Lanes]:
    """Input lanes of one instance of a patch constant phase: one lane for each patch."""
    return _inputs(bound, {
        "patch.x": np.arange(mesh.count, dtype=np.int32),
        "phase_instance.x": np.array([instance], np.int32),
        "primitive_id.x": mesh.ids.astype(np.int32),
    })  # fmt: skip


def _domain_inputs(bound: StageProgram, points: Tessellation, ids: I64) -> dict[str, Lanes]:
    """Inputs of a domain program, a lane a point; z is the third coordinate of a triangle."""
    places = points.u, points.v, ONE - points.u - points.v
    lanes: dict[str, Lanes] = {
        f"domain.{letter}": (place / ONE).astype(np.float32)
        for letter, place in zip(COMPONENTS, places, strict=False)
    }
    lanes["patch.x"] = points.owner.astype(np.int32)
    lanes["primitive_id.x"] = ids[points.owner].astype(np.int32)
    return _inputs(bound, lanes)


def _factors(hull: HullStage, places: tuple[Component | None, ...], constants: Registers) -> F32:
    """Tessellation factors from patch constants at ``places`` (register and component), shape
    (places, n), at most the program's declared maximum; a place of None yields 0.
    """
    found: I32 = np.zeros((len(places), len(constants)), np.int32)
    for row, place in zip(found, places, strict=True):
        if place is not None:
            row[:] = constants[:, place[0], place[1]]
    factors: F32 = found.view(np.float32)
    # Not np.minimum: a NaN has to stay the same NaN.
    return np.where(factors > np.float32(hull.most), np.float32(hull.most), factors)
