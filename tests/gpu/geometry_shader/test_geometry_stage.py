"""Strips that geometry programs put out, taken apart, and the programs run in parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import dp2emu.gpu.geometry_shader.geometry_stage
from dp2emu.d3d.enums10 import Topology10
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import Topology
from dp2emu.gpu.command.packets import Draw, Instances
from dp2emu.gpu.command.pipeline import RasterState
from dp2emu.gpu.command.post_vertex_stages import (
    EmittedStream,
    GeometryStage,
    PostVertexStages,
    StageProgram,
)
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.geometry_shader.geometry_stage import strip_corners
from dp2emu.shader.engines import engine
from dp2emu.shader.ir import Port
from dp2emu.shader.sm4 import assemble, decode
from dp2emu.shader.sm4.lower import lower
from dp2emu.shader.types import Type
from tests.gpu.draw.test_post_vertex import ENGINES
from tests.gpu.drawing import color_surface, corner, draw, programmed, rebound

RASTER = RasterState(half_centres=True, last_pixel=False)


def primitives(topology: Topology, lengths: list[int]) -> list[tuple[int, ...]]:
    """Of strips of so many vertices, one by one."""
    found: list[tuple[int, ...]] = []
    first = 0
    for length in lengths:
        strip = list(range(first, first + length))
        first += length
        if topology == Topology10.POINTLIST:
            found += [(vertex,) for vertex in strip]
        elif topology == Topology10.LINESTRIP:
            found += list(pairwise(strip))
        else:
            for n, (a, b, c) in enumerate(zip(strip, strip[1:], strip[2:], strict=False)):
                found.append((a, c, b) if n % 2 else (a, b, c))
    return found


@pytest.mark.parametrize(
    "topology", [Topology10.POINTLIST, Topology10.LINESTRIP, Topology10.TRIANGLESTRIP]
)
@given(lengths=st.lists(st.integers(1, 6), max_size=6))
def test_strips_are_taken_apart_and_what_is_too_short_is_nothing(
    topology: Topology, lengths: list[int]
) -> None:
    starts = [n == 0 for length in lengths for n in range(length)]
    corners = strip_corners(topology, np.array(starts, np.bool_))
    assert [tuple(row) for row in corners.T.tolist()] == primitives(topology, lengths)


TEXT = """gs_5_0
dcl_input vPrim
dcl_input vGSInstanceID
dcl_temps 1
dcl_gsinstances {instances}
dcl_inputprimitive {primitive}
dcl_outputtopology {topology}
dcl_output o0.xyzw
dcl_output o1.x
dcl_maxout {limit}
mov o0.xyzw, l(0, 0, 0, 1.0)
{body}
ret
"""
TAKES = {
    "point": Topology10.POINTLIST,
    "line": Topology10.LINELIST,
    "triangle": Topology10.TRIANGLELIST,
    "lineadj": Topology10.LINELIST_ADJ,
    "triangleadj": Topology10.TRIANGLELIST_ADJ,
}


def amplified(
    body: str,
    primitive: str = "triangle",
    topology: Topology10 = Topology10.POINTLIST,
    limit: int = 4,
    instances: int = 1,
) -> Draw:
    """A draw of 12 vertices at the middle of the screen, whose geometry program is so."""
    text = TEXT.format(primitive=primitive, topology=topology.name.lower(), limit=limit,
                       instances=instances, body=body)  # fmt: skip
    program = lower(decode(assemble(text))).program
    ports = tuple((Port(f"position0.{c}", Type.F32), n) for n, c in enumerate("xyzw"))
    stream = EmittedStream(0, topology, (*ports, (Port("primitive_id.x", Type.I32), 4)))
    stage = GeometryStage(StageProgram(program), TAKES[primitive], instances, limit, (stream,))
    packet = programmed(draw([corner(0, 0)] * 12, color=color_surface(), raster=RASTER))
    return rebound(packet, post_vertex=PostVertexStages(geometry=stage))


def counted(packet: Draw, run: str = "reference") -> Counters:
    counters = Counters()
    execute_draw(packet, counters, run=engine(run))
    return counters


@pytest.mark.parametrize("run", ENGINES)
def test_it_runs_for_each_primitive_and_instance_and_counts(run: str) -> None:
    found = counted(amplified("emit\nemit", instances=3), run)
    assert (found.primitives, found.geometry_runs, found.geometry_primitives) == (4, 12, 24)
    assert (found.entered, found.clipped, found.samples) == (24, 24, 24)


@pytest.mark.parametrize(
    ("topology", "emits", "count"),
    [
        (Topology10.POINTLIST, 3, 3),
        (Topology10.LINESTRIP, 1, 0),
        (Topology10.LINESTRIP, 3, 2),
        (Topology10.TRIANGLESTRIP, 2, 0),
        (Topology10.TRIANGLESTRIP, 4, 2),
    ],
)
def test_every_invocation_begins_a_strip(topology: Topology10, emits: int, count: int) -> None:
    found = counted(amplified("emit\n" * emits, topology=topology))
    assert found.geometry_primitives == found.entered == 4 * count


@pytest.mark.parametrize("primitive", ["point", "line", "lineadj", "triangleadj"])
def test_primitives_of_another_kind_than_it_takes_are_none(primitive: str) -> None:
    found = counted(amplified("emit", primitive))
    assert (found.primitives, found.geometry_runs, found.entered) == (4, 0, 0)


def test_adjacent_vertices_are_left_out_for_what_does_not_take_them() -> None:
    packet = rebound(amplified("emit"), topology=Topology10.TRIANGLELIST_ADJ, count=2)
    found = counted(packet)
    assert (found.geometry_runs, found.vertices) == (2, 12)


def test_a_draw_of_more_than_is_held_together_comes_in_parts_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = "mov o1.x, vPrim\nemit\nmov o1.x, vGSInstanceID\nemit"
    whole = counted(amplified(body, instances=2))
    monkeypatch.setattr(dp2emu.gpu.geometry_shader.geometry_stage, "WORDS", 1)
    assert counted(amplified(body, instances=2)) == whole
    assert whole.geometry_primitives == 16


def test_primitives_are_numbered_from_0_in_each_instance_of_a_draw() -> None:
    body = "mov r0.x, vPrim\nif_z r0.x\n emit\nendif"
    packet = rebound(amplified(body), instances=Instances(3))
    assert counted(packet).geometry_primitives == 3


def test_nothing_is_rasterized_without_rasterization() -> None:
    packet = amplified("emit")
    off = replace(packet.pipeline, raster=replace(packet.pipeline.raster, enabled=False))
    found = counted(replace(packet, pipeline=off))
    assert (found.geometry_primitives, found.entered) == (4, 0)


def test_more_vertices_than_there_may_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dp2emu.gpu.geometry_shader.geometry_stage, "MOST_EMITTED", 4 * 2 * 4 - 1)
    counted(amplified("emit", limit=3, instances=2))
    with pytest.raises(Unsupported, match="geometry shaders that emit more"):
        counted(amplified("emit", limit=4, instances=2))
