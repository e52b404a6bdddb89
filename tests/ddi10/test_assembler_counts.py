"""What the input assembler counts for every topology, against its table and a list of strips."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums10 import Topology10, patch_list
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.testing.statistic_intervals import Case, GeometryOutput, ranges
from tests.ddi10.drawing import tokens
from tests.ddi10.rendering import Drawing

CUT, WIDE_CUT = 0xFFFF, 0xFFFFFFFF
"""What ends a strip among indices of 16 bits, and of 32."""
R16_UINT, R32_UINT = 57, 42

TABLE = {
    Topology10.POINTLIST: lambda v: v,
    Topology10.LINELIST: lambda v: v // 2,
    Topology10.LINESTRIP: lambda v: max(v - 1, 0),
    Topology10.TRIANGLELIST: lambda v: v // 3,
    Topology10.TRIANGLESTRIP: lambda v: max(v - 2, 0),
    Topology10.LINELIST_ADJ: lambda v: v // 4,
    Topology10.LINESTRIP_ADJ: lambda v: max(v - 3, 0),
    Topology10.TRIANGLELIST_ADJ: lambda v: v // 6,
    Topology10.TRIANGLESTRIP_ADJ: lambda v: 0 if v < 6 else (v - 4) // 2,
}
"""Primitives of so many vertices."""
USED = {
    Topology10.POINTLIST: lambda n: n,
    Topology10.LINELIST: lambda n: 2 * n,
    Topology10.LINESTRIP: lambda n: n + 1,
    Topology10.TRIANGLELIST: lambda n: 3 * n,
    Topology10.TRIANGLESTRIP: lambda n: n + 2,
    Topology10.LINELIST_ADJ: lambda n: 4 * n,
    Topology10.LINESTRIP_ADJ: lambda n: n + 3,
    Topology10.TRIANGLELIST_ADJ: lambda n: 6 * n,
    Topology10.TRIANGLESTRIP_ADJ: lambda n: 2 * n + 4,
}
"""Vertices of so many primitives, of which there are some."""
STRIPS = {3, 5, 11, 13}
GEOMETRY = {1: "gs_point_quad", 2: "gs_line_pass", 3: "gs_line_pass", 4: "gs_pass_tri",
            5: "gs_pass_tri", 10: "gs_lineadj", 11: "gs_lineadj", 12: "gs_triadj",
            13: "gs_triadj"}  # fmt: skip


def wanted(topology: Topology10, lengths: list[int]) -> tuple[int, int]:
    """IAVertices and IAPrimitives of strips of so many vertices."""
    counts = [TABLE[topology](length) for length in lengths]
    return sum(USED[topology](n) for n in counts if n), sum(counts)


def told(found: Statistics, gs: str | None) -> GeometryOutput | None:
    """What a recorded geometry shader did."""
    if gs is None:
        return None
    corners = 2 if "line" in gs else 3
    return GeometryOutput("adj" in gs, primitives=found.GSPrimitives, corners=corners)


def counted(
    topology: Topology10,
    indices: list[int] | None,
    vertices: int = 0,
    gs: str | None = None,
    wide: bool = False,
) -> Statistics:
    driven = Drawing()
    driven.call("IaSetTopology", int(topology))
    if gs is not None:
        shader = driven.memory_of("VertexShader", tokens(gs))
        assert driven.call("CreateGeometryShader", tokens(gs), shader) == []
        driven.call("GsSetShader", shader)
    if indices is None:
        driven.call("Draw", vertices, 0)
    else:
        data = np.array([*indices, 0], "<u4" if wide else "<u2").tobytes()
        buffer = driven.buffer(data, BindFlag.INDEX_BUFFER)
        driven.call("IaSetIndexBuffer", buffer, R32_UINT if wide else R16_UINT, 0)
        driven.call("DrawIndexed", len(indices), 0, 0)
    driven.call("Flush")
    driven.adapter.finish()
    return driven.device.statistics()


@pytest.mark.parametrize("geometry", [False, True])
@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("topology", list(TABLE))
def test_every_topology_counts_what_the_table_has(
    topology: Topology10, indexed: bool, geometry: bool
) -> None:
    for vertices in range(15):
        indices = [0] * vertices if indexed else None
        gs = GEOMETRY[topology] if geometry else None
        found = counted(topology, indices, vertices, gs)
        read, primitives = wanted(topology, [vertices])
        assert found[:3] == (read, primitives, min(read, 1) if indexed else read)
        assert found.GSInvocations == (primitives if geometry else 0)
        case = Case(topology, vertices, indices, cut=CUT, depth=None, geometry=told(found, gs))
        assert ranges([case]).outside(found._replace(PSInvocations=0)) == []


@pytest.mark.parametrize("points", range(1, 33))
def test_patches_count_as_lists_of_their_points(points: int) -> None:
    for vertices in (points - 1, points, 2 * points + 1):
        for indices in (None, [0] * vertices):
            found = counted(patch_list(points), indices, vertices)
            count = vertices // points
            shaded = points * count if indices is None else min(count, 1)
            assert found[:3] == (points * count, count, shaded)
            case = Case(32 + points, vertices, indices, cut=CUT, depth=None)
            assert ranges([case]).outside(found._replace(PSInvocations=0)) == []


@pytest.mark.parametrize("geometry", [False, True])
@pytest.mark.parametrize("topology", list(TABLE))
@settings(deadline=None, max_examples=12)
@given(indices=st.lists(st.sampled_from([0, 1, 2, 3, CUT]), max_size=24), wide=st.booleans())
def test_an_index_of_all_ones_ends_a_strip_and_nothing_else(
    geometry: bool, topology: Topology10, indices: list[int], wide: bool
) -> None:
    cut = WIDE_CUT if wide else CUT
    indices = [cut if wide and index == 3 else index for index in indices]
    runs = [list(run) for ends, run in groupby(indices, cut.__eq__) if not ends]
    runs = runs if topology in STRIPS else [indices]
    gs = GEOMETRY[topology] if geometry else None
    found = counted(topology, indices, gs=gs, wide=wide)
    read, primitives = wanted(topology, [len(run) for run in runs])
    # All distinct vertices have room in the cache.
    shaded = {index for run in runs for index in run[: wanted(topology, [len(run)])[0]]}
    assert found[:3] == (read, primitives, len(shaded))
    assert found.GSInvocations == (primitives if geometry else 0)
    case = Case(topology, indices=indices, cut=cut, depth=None, geometry=told(found, gs))
    assert ranges([case]).outside(found._replace(PSInvocations=0)) == []


@pytest.mark.parametrize(
    ("topology", "indexed", "row"),
    [
        (Topology10.TRIANGLESTRIP, True, (6, 4, range(1, 13))),
        (Topology10.TRIANGLELIST, True, (12, 4, range(1, 13))),
        (Topology10.TRIANGLESTRIP, False, (6, 4, range(6, 13))),
        (Topology10.TRIANGLELIST, False, (12, 4, range(6, 13))),
    ],
)
def test_the_four_rows_of_the_documents(
    topology: Topology10, indexed: bool, row: tuple[int, int, range]
) -> None:
    vertices, primitives, invocations = row
    found = counted(topology, [0] * vertices if indexed else None, vertices)
    assert found[:2] == (vertices, primitives)
    assert found.VSInvocations in invocations


@pytest.mark.parametrize("topology", [t for t in TABLE if t >= Topology10.LINELIST_ADJ])
def test_adjacent_vertices_count_whether_or_not_anything_reads_them(topology: Topology10) -> None:
    plain = "gs_line_pass" if topology < Topology10.TRIANGLELIST_ADJ else "gs_pass_tri"
    every = [counted(topology, None, 14, gs) for gs in (None, plain, GEOMETRY[topology])]
    assert {found[:3] for found in every} == {every[0][:3]}
    assert every[1].GSInvocations == every[2].GSInvocations == every[0].IAPrimitives
