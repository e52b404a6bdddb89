"""What statistics may be: the documents' table and examples, and the engine always in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.errors import UsageError
from dp2emu.gpu.command.packets import Draw
from dp2emu.testing.statistic_intervals import (
    Case,
    Depth,
    GeometryOutput,
    Interval,
    Tessellated,
    ranges,
)
from tests.ddi10.driving import Driven
from tests.ddi10.rendering import Drawing
from tests.gpu.drawing import color_surface, corner, draw, primitives, programmed

POINTS, LINES, LINE_STRIP, LIST, STRIP = 1, 2, 3, 4, 5
INSIDE = [(-0.5, 0.5, 0.5, 1.0), (0.5, 0.5, 0.5, 1.0), (-0.5, -0.5, 0.5, 1.0)]


@pytest.mark.parametrize(
    ("case", "vertices", "shaded"),
    [
        (Case(STRIP, indices=[7] * 6), 6, (1, 12)),
        (Case(LIST, indices=[7] * 12), 12, (1, 12)),
        (Case(STRIP, 6), 6, (6, 12)),
        (Case(LIST, 12), 12, (6, 12)),
    ],
)
def test_four_triangles_are_those_of_the_table(
    case: Case, vertices: int, shaded: tuple[int, int]
) -> None:
    found = ranges([case])
    assert found.IAVertices == (vertices, vertices)
    assert found.IAPrimitives == (4, 4)
    assert found.VSInvocations == shaded


@pytest.mark.parametrize(
    ("topology", "counts"),
    [
        (1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (2, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]),
        (3, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (4, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]),
        (5, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]),
        (10, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]),
        (11, [0, 0, 0, 0, 1, 2, 3, 4, 5, 6]),
        (12, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]),
        (13, [0, 0, 0, 0, 0, 0, 1, 1, 2, 2]),
        (33, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (36, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]),
        (64, [0] * 10),
    ],
)
def test_primitives_of_each_topology(topology: int, counts: list[int]) -> None:
    found = [ranges([Case(topology, vertices)]).IAPrimitives.low for vertices in range(10)]
    assert found == counts


def test_partial_primitives_count_nowhere_or_everywhere_before_pixels() -> None:
    found = ranges([Case(LIST, 5, positions=INSIDE * 2)])
    assert found.IAVertices == (3, 5)
    assert found.IAPrimitives == found.CInvocations == found.CPrimitives == (1, 2)
    assert found.VSInvocations == (3, 5)


@pytest.mark.parametrize(
    ("topology", "vertices", "needed"), [(10, 8, 4), (11, 5, 3), (12, 12, 6), (13, 8, 4)]
)
def test_adjacent_vertices_may_count(topology: int, vertices: int, needed: int) -> None:
    assert ranges([Case(topology, vertices)]).IAVertices == (needed, vertices)


def test_an_index_of_all_ones_ends_a_strip_and_may_count() -> None:
    found = ranges([Case(STRIP, indices=[0, 1, 2, 0xFFFF, 2, 1, 3], cut=0xFFFF)])
    assert found.IAVertices == (6, 7)
    assert found.IAPrimitives == (2, 2)
    assert found.VSInvocations == (4, 7)


def test_an_index_of_all_ones_is_a_vertex_of_a_list() -> None:
    assert ranges([Case(LIST, indices=[0, 1, 0xFFFF], cut=0xFFFF)]).IAVertices == (3, 3)


@pytest.mark.parametrize("streams", [False, True])
def test_stream_output_without_a_geometry_shader_may_count_as_one(streams: bool) -> None:
    found = ranges([Case(STRIP, 6, rasterized=False, streams=streams)])
    assert found.GSInvocations == (0, 4 if streams else 0)
    assert found.GSPrimitives == (0, 4)
    assert found.CInvocations == found.CPrimitives == found.PSInvocations == (0, 0)


def test_instances_multiply() -> None:
    found = ranges([Case(STRIP, 4, instances=3)])
    assert (found.IAVertices, found.IAPrimitives) == ((12, 12), (6, 6))
    assert found.VSInvocations == (12, 18)
    assert ranges([Case(STRIP, 4, instances=0)]) == ranges([])


def test_draws_add_up() -> None:
    one = Case(LIST, 3, positions=INSIDE, passed=3, failed=2)
    assert ranges([one, one]) == tuple(a.plus(a) for a in ranges([one]))


@pytest.mark.parametrize(
    ("depths", "left"),
    [((0.5, 0.5, 0.5), 1), ((-1, -1, -1), 0), ((2, 2, 2), 0), ((-1, 0.5, 0.5), 2),
     ((0.5, -1, -1), 1), ((-1, 0.5, 2), 3)],
)  # fmt: skip
def test_the_depth_range_clips_exactly(depths: tuple[float, ...], left: int) -> None:
    places = [(x, y, z, w) for (x, y, _, w), z in zip(INSIDE, depths, strict=True)]
    assert ranges([Case(LIST, 3, positions=places)]).CPrimitives == (left, left)
    assert ranges([Case(LIST, 3, positions=places, depth_clip=False)]).CPrimitives == (1, 1)


@pytest.mark.parametrize(
    ("x", "left"), [(0, (1, 1)), (-3, (0, 1)), (0.75, (1, 2)), (-0.75, (1, 1))]
)
def test_a_guard_band_leaves_from_none_to_all_of_the_sides(
    x: float, left: tuple[int, int]
) -> None:
    places = [(a + x, b, c, d) for a, b, c, d in INSIDE]
    assert ranges([Case(LIST, 3, positions=places)]).CPrimitives == left


def test_what_is_behind_the_eye_is_always_clipped() -> None:
    places = [(0.0, 0.0, 0.5, -1.0)] * 3
    case = Case(LIST, 3, positions=places, depth_clip=False)
    assert ranges([case]).CPrimitives == (0, 0)


def test_without_positions_a_triangle_leaves_as_up_to_seven() -> None:
    assert ranges([Case(LIST, 3)]).CPrimitives == (0, 7)
    assert ranges([Case(LINES, 2)]).CPrimitives == (0, 1)
    nowhere = [(float("nan"), 0.0, 0.0, 1.0)] * 3
    assert ranges([Case(LIST, 3, positions=nowhere)]).CPrimitives == (0, 7)


def test_culled_and_empty_triangles_may_leave_or_not() -> None:
    assert ranges([Case(LIST, 3, positions=INSIDE, culls=True)]).CPrimitives == (0, 1)
    assert ranges([Case(LIST, 3, positions=INSIDE[:1] * 3)]).CPrimitives == (0, 1)


def test_lines_and_points_leave_once_or_not_at_all() -> None:
    across = [(-3.0, 0.0, 0.5, 1.0), (0.0, 0.0, 0.5, 1.0)]
    assert ranges([Case(LINES, 2, positions=across)]).CPrimitives == (1, 1)
    assert ranges([Case(POINTS, 2, positions=across)]).CPrimitives == (1, 2)
    behind = [(0.0, 0.0, -0.5, 1.0)] * 2
    assert ranges([Case(LINES, 2, positions=behind)]).CPrimitives == (0, 0)


@pytest.mark.parametrize(
    ("depth", "expected"),
    [(Depth.INTERPOLATED, (5, 12)), (Depth.WRITTEN, (12, 12)), (None, (0, 0))],
)
def test_pixels_are_between_passed_and_covered(
    depth: Depth | None, expected: tuple[int, int]
) -> None:
    assert ranges([Case(LIST, 3, passed=5, failed=7, depth=depth)]).PSInvocations == expected


def test_without_a_geometry_shader_its_primitives_may_be_those_that_are_clipped() -> None:
    found = ranges([Case(STRIP, 6)])
    assert (found.GSInvocations, found.GSPrimitives) == ((0, 0), (0, 4))


def test_nothing_is_clipped_or_shaded_when_nothing_is_rasterized() -> None:
    found = ranges([Case(LIST, 3, positions=INSIDE, rasterized=False, passed=3)])
    assert found.IAPrimitives == (1, 1)
    assert found.CInvocations == found.CPrimitives == found.PSInvocations == (0, 0)


@pytest.mark.parametrize(
    "case",
    [Case(0, 3), Case(6, 3), Case(65, 3), Case(LIST, -1), Case(LIST, 3, instances=-1),
     Case(LIST, 3, passed=-1), Case(LIST, 1 << 20, instances=17)],
)  # fmt: skip
def test_what_is_no_draw_is_refused(case: Case) -> None:
    with pytest.raises(UsageError):
        ranges([case])


def test_a_value_outside_is_named() -> None:
    found = ranges([Case(LIST, 3, positions=INSIDE, passed=4)])
    assert found.outside(Statistics(3, 1, 3, 0, 0, 1, 1, 4)) == []
    assert found.outside(Statistics(3, 1, 4, 0, 0, 1, 1, 3)) == ["VSInvocations", "PSInvocations"]
    assert 1.0 not in Interval(0, 2)


# The engine


def counted(packet: Draw) -> tuple[Statistics, int]:
    """Statistics and samples that passed."""
    driven = Driven()
    driven.submit(packet)
    driven.adapter.finish()
    return driven.device.statistics(), driven.adapter.gpu.counters.samples


NUMBERS = st.sampled_from([-3.0, -1.5, -1.0, -0.25, 0.0, 0.5, 1.0, 2.5])
PLACES = st.lists(
    st.tuples(NUMBERS, NUMBERS, NUMBERS, st.sampled_from([1.0, 0.5, 2.0])), min_size=1, max_size=9
)


@given(
    topology=st.sampled_from([POINTS, LINES, LINE_STRIP, LIST, STRIP]),
    places=PLACES,
    indices=st.none() | st.lists(st.integers(0, 8), max_size=12),
)
def test_what_the_engine_counts_is_in_the_ranges(
    topology: int, places: Sequence[tuple[float, ...]], indices: list[int] | None
) -> None:
    if indices is not None:
        indices = [index % len(places) for index in indices]
    vertices: Any = [corner(x, y, z, rhw=w) for x, y, z, w in places]
    used = len(places) if indices is None else len(indices)
    kind = PrimitiveType(topology)
    if primitives(kind, used) == 0:
        return
    packet = draw(vertices, color=color_surface(), topology=kind, indices=indices)
    found, passed = counted(programmed(replace(packet)))
    case = Case(topology, used, indices=indices, positions=places, passed=passed)
    assert ranges([case]).outside(found) == []


UINT16 = 57
"""DXGI_FORMAT_R16_UINT."""
CUT = 0xFFFF


@given(
    topology=st.sampled_from([1, 2, 3, 4, 5, 10, 11, 12, 13]),
    places=PLACES,
    indices=st.none() | st.lists(st.integers(0, 8) | st.just(CUT), max_size=14),
    instances=st.integers(0, 3),
    shaded=st.booleans(),
)
def test_what_entries_draw_is_in_the_ranges(
    topology: int,
    places: Sequence[tuple[float, ...]],
    indices: list[int] | None,
    instances: int,
    shaded: bool,
) -> None:
    driven = Drawing(ps="ps_color" if shaded else None)
    driven.vertices([[*place, 1, 1, 1, 1] for place in places])
    driven.call("IaSetTopology", topology)
    if indices is None:
        driven.call("DrawInstanced", len(places), instances, 0, 0)
    else:
        buffer = driven.buffer(np.array([*indices, 0], "<u2").tobytes(), BindFlag.INDEX_BUFFER)
        driven.call("IaSetIndexBuffer", buffer, UINT16, 0)
        driven.call("DrawIndexedInstanced", len(indices), instances, 0, 0, 0)
    driven.call("Flush")
    driven.adapter.finish()
    case = Case(
        topology,
        len(places),
        indices=indices,
        cut=CUT,
        instances=instances,
        positions=places,
        rasterized=shaded,
        passed=driven.adapter.gpu.counters.samples,
        depth=Depth.INTERPOLATED if shaded else None,
    )
    found = driven.device.statistics()
    outside = ranges([case]).outside(found)
    if not shaded:  # whether anything enters clipping then, the documents leave open
        outside = [name for name in outside if name not in ("CInvocations", "CPrimitives")]
    assert outside == []


# Geometry shaders

RIGHT = [(1.5, 0.5, 0.5, 1.0), (2.5, 0.5, 0.5, 1.0), (1.5, -0.5, 0.5, 1.0)]
ACROSS = [(0.5, 0.5, 0.5, 1.0), (1.5, 0.5, 0.5, 1.0), (0.5, -0.5, 0.5, 1.0)]


def test_a_geometry_shader_runs_for_whole_primitives_and_maybe_for_instances() -> None:
    found = ranges([Case(LIST, 9, geometry=GeometryOutput(instances=4, primitives=5))])
    assert found.GSInvocations == (3, 12)
    assert found.GSPrimitives == found.CInvocations == (5, 5)
    assert ranges([Case(LIST, 10, geometry=GeometryOutput())]).GSInvocations == (3, 4)


@pytest.mark.parametrize(
    ("topology", "vertices", "without"), [(10, 8, 4), (11, 6, 4), (12, 12, 6), (13, 10, 5)]
)
def test_adjacent_vertices_count_if_a_geometry_shader_declares_them(
    topology: int, vertices: int, without: int
) -> None:
    for adjacent, low in ((False, without), (True, vertices)):
        case = Case(topology, vertices, geometry=GeometryOutput(adjacent))
        found = ranges([case])
        assert found.IAVertices == (low, vertices)
        assert found.VSInvocations.low == low


def test_strips_that_a_geometry_shader_breaks_off_may_count() -> None:
    found = ranges(
        [Case(POINTS, 1, geometry=GeometryOutput(primitives=2, broken=3, outlines=[INSIDE]))]
    )
    assert found.GSPrimitives == found.CInvocations == (2, 5)
    assert found.CPrimitives == (1, 4)


def test_the_clipper_gets_what_a_geometry_shader_draws() -> None:
    outlines = [INSIDE, RIGHT, ACROSS]
    geometry = GeometryOutput(primitives=7, drawn=3, outlines=outlines)
    found = ranges([Case(POINTS, 4, geometry=geometry, instances=2)])
    assert found.GSPrimitives == (14, 14)
    assert found.CInvocations == (6, 6)
    assert found.CPrimitives == (4, 8)
    unknown = GeometryOutput(primitives=2)
    assert ranges([Case(POINTS, 1, geometry=unknown)]).CPrimitives == (0, 14)
    lines = GeometryOutput(primitives=2, corners=2)
    assert ranges([Case(POINTS, 1, geometry=lines)]).CPrimitives == (0, 2)


def test_what_only_streams_out_enters_no_clipping() -> None:
    found = ranges([Case(LIST, 9, rasterized=False, geometry=GeometryOutput(primitives=5))])
    assert found.GSPrimitives == (5, 5)
    assert found.CInvocations == found.CPrimitives == (0, 0)


@pytest.mark.parametrize(
    "geometry",
    [
        GeometryOutput(instances=-1),
        GeometryOutput(primitives=-1),
        GeometryOutput(drawn=-1),
        GeometryOutput(broken=-1),
    ],
)
def test_a_geometry_shader_does_nothing_less_than_never(geometry: GeometryOutput) -> None:
    with pytest.raises(UsageError, match="negative"):
        ranges([Case(LIST, 3, geometry=geometry)])


# Tessellation


def test_hull_shaders_run_by_patch_and_domain_shaders_by_point_or_by_corner() -> None:
    found = ranges([Case(35, 7, instances=2, tessellation=Tessellated(points=12, primitives=13))])
    assert found.HSInvocations == Interval(4, 6)
    assert found.DSInvocations == Interval(24, 78)
    assert found.CInvocations == Interval(26, 26)
    assert found.CPrimitives == Interval(0, 26 * 7)
    assert found.GSInvocations == Interval(0, 0)


def test_patches_that_are_culled_divide_into_nothing() -> None:
    found = ranges([Case(36, 8, tessellation=Tessellated())])
    assert (found.HSInvocations, found.DSInvocations) == (Interval(2, 2), Interval(0, 0))
    assert found.CInvocations == Interval(0, 0)


def test_a_geometry_shader_gets_what_patches_divide_into() -> None:
    shader = GeometryOutput(primitives=5, instances=2)
    made = Tessellated(points=3, primitives=1, outlines=[INSIDE])
    found = ranges([Case(35, 3, tessellation=made, geometry=shader)])
    assert (found.GSInvocations, found.GSPrimitives) == (Interval(1, 2), Interval(5, 5))
    without = ranges([Case(35, 3, tessellation=made)])
    assert without.CPrimitives == Interval(1, 1)


def test_patches_that_nothing_divides_may_be_clipped_or_not() -> None:
    assert ranges([Case(36, 8)]).CInvocations == Interval(0, 2)


def test_what_is_divided_is_no_less_than_nothing() -> None:
    with pytest.raises(UsageError, match="negative"):
        ranges([Case(35, 3, tessellation=Tessellated(points=-1))])
