"""Hull programs, the tessellator and domain programs: patches become points, lines or triangles.

A hull program is several: one for each control point that it makes, and those that make the patch
constants, which run one after the other, each as often as it has instances, and find what the
earlier ones made.  The tessellator reads factors among the constants; the domain program runs for
each point of each patch once, however many primitives share it (SM4-5 tokens, "Hull shaders" and
"Domain shaders").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
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
"""Of the registers of patches that run together, about."""
POINTS = 1 << 15
"""Points of patches that a domain program runs for together, about."""

MOST_POINTS = 1 << 26
"""That patches of an instance of a draw are divided into; more is not built."""
MOST_EMITTED = 1 << 27
"""Vertices that a geometry program may put out for points: each has at most two primitives."""

_NOTHING = Mesh({}, np.zeros((3, 0), np.int64), Topology10.TRIANGLELIST, np.zeros(0, np.int64))
_TOPOLOGIES = {1: Topology10.POINTLIST, 2: Topology10.LINELIST, 3: Topology10.TRIANGLELIST}
"""By how many corners primitives have."""

_NONE = np.zeros(0, np.int32)

Registers = NDArray[np.int32]
"""Registers of points of patches, shape (patches, points, registers, 4)."""


def divided(draw: Draw, running: StageRun, flow: Iterable[Made]) -> Iterator[Made]:
    """What a draw's hull and domain programs make of meshes of patches; the meshes themselves
    without them.

    Patches of another number of points than the hull program takes, and what are no patches,
    come to nothing.
    """
    stage = None if draw.post_vertex is None else draw.post_vertex.tessellation
    if stage is None:
        yield from flow
        return
    points, most = 0, _most(draw)
    for mesh, work in flow:
        yield Made(_NOTHING, work)
        if mesh.topology in PATCHES and len(mesh.corners) == stage.hull.takes:
            together = max(WORDS // _words(stage), 1)
            for start in range(0, mesh.count, together):
                patches = mesh.part(slice(start, start + together))
                for made in _of_patches(draw, stage, running, patches):
                    points += made.work.domain_runs
                    if points > most:
                        raise Unsupported(f"draws of more than {most:,} divided points")
                    yield made


def _most(draw: Draw) -> int:
    """Points of an instance of a draw."""
    geometry = None if draw.post_vertex is None else draw.post_vertex.geometry
    if geometry is None:
        return MOST_POINTS
    return min(MOST_POINTS, MOST_EMITTED // (2 * geometry.instances * max(geometry.limit, 1)))


def _words(stage: TessellationStage) -> int:
    """Words of the registers of a patch, in the file that has most."""
    hull = stage.hull
    sizes = (hull.takes * hull.registers, hull.makes * hull.registers,
             stage.takes * stage.registers)  # fmt: skip
    return 4 * max(*sizes, 1)


def _of_patches(
    draw: Draw, stage: TessellationStage, running: StageRun, mesh: Mesh
) -> Iterator[Made]:
    found = _hull(draw, stage.hull, running, mesh)
    factors = stage.tessellator.factors(
        _factors(stage.hull, stage.hull.edges, found.constants),
        _factors(stage.hull, stage.hull.inside, found.constants),
    )
    files = {
        POINTS_IN: _sized(found.points, stage.takes, stage.registers),
        CONSTANTS: _sized(found.constants[:, None], 1, stage.registers),
    }
    domain = _reading(stage.domain, files)
    yield Made(_NOTHING, Work(hull_runs=mesh.count))
    for part in _batches(stage, factors):
        points = stage.tessellator.tessellate(part)
        outputs = running(draw, domain, _at(domain, points, mesh.ids), len(points.u)).outputs
        topology = _TOPOLOGIES[len(points.corners)]
        divided = Mesh(outputs, points.corners, topology, mesh.ids[points.patch])
        yield Made(divided, Work(domain_runs=len(points.u)))


def _batches(stage: TessellationStage, factors: Factors) -> Iterator[Factors]:
    """Patches that are divided together."""
    ends = np.cumsum(stage.tessellator.counts(factors).points)
    places = np.arange(len(ends))
    changes = np.flatnonzero(np.diff((ends - 1) // POINTS)) + 1
    for chosen in np.split(places, changes):
        if len(chosen):
            yield factors.part(chosen)


class _Hull(msgspec.Struct, frozen=True):
    """What a hull program made: points, and constants of shape (patches, registers, 4)."""

    points: Registers
    constants: Registers


def _hull(draw: Draw, hull: HullStage, running: StageRun, mesh: Mesh) -> _Hull:
    given = _registers(mesh.vertices, CONSTANT + "v", mesh.corners, hull.registers)
    made = given
    if hull.points is not None:
        bound = _reading(hull.points, {POINTS_IN: given})
        lanes = mesh.count * hull.makes
        outputs = running(draw, bound, _points(bound, mesh, hull.makes), lanes).outputs
        corners = np.arange(lanes).reshape(mesh.count, hull.makes).T
        made = _registers(outputs, "o", corners, hull.registers)
    made = _sized(made, hull.makes, hull.registers)
    constants = np.zeros((mesh.count, 1, hull.registers, 4), np.int32)
    for each in hull.constants:
        for instance in range(each.instances):
            files = {POINTS_IN: given, POINTS_OUT: made, CONSTANTS: constants}
            bound = _reading(each.bound, files)
            inputs = _whole(bound, mesh, instance)
            outputs = running(draw, bound, inputs, mesh.count).outputs
            constants = constants.copy()
            _fill(constants, outputs, "o", np.arange(mesh.count)[None])
    return _Hull(made, constants[:, 0])


def _registers(lanes: Mapping[str, Lanes], name: str, corners: I64, registers: int) -> Registers:
    """Registers that ports of a name are, of the points of patches; what is no port is 0."""
    points, patches = corners.shape
    found = np.zeros((patches, points, registers, 4), np.int32)
    _fill(found, lanes, name, corners)
    return found


def _fill(found: Registers, lanes: Mapping[str, Lanes], name: str, corners: I64) -> None:
    """Write the registers that ports of a name are."""
    for register in range(found.shape[2]):
        for component, letter in enumerate(COMPONENTS):
            lane = lanes.get(f"{name}{register}.{letter}")
            if lane is not None:
                found[:, :, register, component] = lane[corners.T]


def _sized(found: Registers, points: int, registers: int) -> Registers:
    """With so many points and registers: the first of them, or zeros after them."""
    if found.shape[1:3] == (points, registers):
        return found
    sized = np.zeros((len(found), points, registers, 4), np.int32)
    kept = found[:, :points, :registers]
    sized[:, : kept.shape[1], : kept.shape[2]] = kept
    return sized


def _reading(bound: StageProgram, files: Mapping[str, Registers]) -> StageProgram:
    """A program with those files of patches that it reads; in others there is nothing."""
    read = {file.name for file in bound.program.files} & {POINTS_IN, POINTS_OUT, CONSTANTS}
    given = {name: files.get(name, _NONE).reshape(-1) for name in read}
    return replace(bound, uniforms={**bound.uniforms, **given})


def _known(bound: StageProgram, lanes: Mapping[str, Lanes]) -> dict[str, Lanes]:
    """Those of the inputs that a program has; what nobody gives is 0."""
    return {
        port.name: lanes.get(port.name, np.zeros(1, port.type.dtype))
        for port in bound.program.inputs
    }


def _points(bound: StageProgram, mesh: Mesh, count: int) -> dict[str, Lanes]:
    """Inputs of what runs for each of so many points of each patch."""
    patches, points = np.arange(mesh.count, dtype=np.int32), np.arange(count, dtype=np.int32)
    lanes: dict[str, Lanes] = {
        "patch.x": np.repeat(patches, count),
        "output_control_point.x": np.tile(points, mesh.count),
        "primitive_id.x": np.repeat(mesh.ids.astype(np.int32), count),
    }
    return _known(bound, lanes)


def _whole(bound: StageProgram, mesh: Mesh, instance: int) -> dict[str, Lanes]:
    """Inputs of what runs for each patch."""
    lanes: dict[str, Lanes] = {
        "patch.x": np.arange(mesh.count, dtype=np.int32),
        "phase_instance.x": np.array([instance], np.int32),
        "primitive_id.x": mesh.ids.astype(np.int32),
    }
    return _known(bound, lanes)


def _at(bound: StageProgram, points: Tessellation, ids: I64) -> dict[str, Lanes]:
    """Inputs of what runs for each point of the domain; the third coordinate is that of a
    triangle.
    """
    places = points.u, points.v, ONE - points.u - points.v
    lanes: dict[str, Lanes] = {
        f"domain.{letter}": (place / ONE).astype(np.float32)
        for letter, place in zip(COMPONENTS, places, strict=False)
    }
    lanes["patch.x"] = points.owner.astype(np.int32)
    lanes["primitive_id.x"] = ids[points.owner].astype(np.int32)
    return _known(bound, lanes)


def _factors(hull: HullStage, places: tuple[Component | None, ...], constants: Registers) -> F32:
    """Factors of patches among their constants, shape (places, n), none above what the program
    promises; what it does not make is 0.
    """
    found: I32 = np.zeros((len(places), len(constants)), np.int32)
    for row, place in zip(found, places, strict=True):
        if place is not None:
            row[:] = constants[:, place[0], place[1]]
    factors: F32 = found.view(np.float32)
    # What is no number stays so.
    return np.where(factors > np.float32(hull.most), np.float32(hull.most), factors)
