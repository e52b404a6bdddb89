"""Primitives with all their vertices, against a plain model of strips and their neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.command.topology import PATCHES, TOPOLOGIES
from dp2emu.gpu.vertex_shader.mesh import Mesh, corners_with_adjacent, three, without_adjacent

SIMPLE = {
    Topology10.POINTLIST: [(0,), (1,), (2,)],
    Topology10.LINELIST: [(0, 1), (2, 3), (4, 5)],
    Topology10.LINESTRIP: [(0, 1), (1, 2), (2, 3)],
    Topology10.TRIANGLELIST: [(0, 1, 2), (3, 4, 5), (6, 7, 8)],
    Topology10.TRIANGLESTRIP: [(0, 1, 2), (1, 3, 2), (2, 3, 4)],
    Topology10.LINELIST_ADJ: [(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)],
    Topology10.LINESTRIP_ADJ: [(0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5)],
    Topology10.TRIANGLELIST_ADJ: [tuple(range(n, n + 6)) for n in (0, 6, 12)],
    Topology10.TRIANGLESTRIP_ADJ: [(0, 1, 2, 6, 4, 3), (2, 5, 6, 8, 4, 0), (4, 2, 6, 9, 8, 7)],
    **{
        Topology10(32 + k): [tuple(range(k * n, k * n + k)) for n in range(3)]
        for k in range(1, 33)
    },
}
"""The vertices of the first three primitives, of three."""


def listed(topology: Topology10, count: int) -> list[tuple[int, ...]]:
    numbers = np.arange(count)
    return [
        tuple(row)
        for row in corners_with_adjacent(topology, numbers, numbers == count - 1).T.tolist()
    ]


@pytest.mark.parametrize("topology", list(Topology10))
def test_primitives_have_these_vertices(topology: Topology10) -> None:
    assert listed(topology, 3) == SIMPLE[topology]


def test_a_strip_of_one_triangle_has_its_three_neighbours_between() -> None:
    assert listed(Topology10.TRIANGLESTRIP_ADJ, 1) == [(0, 1, 2, 5, 4, 3)]


@given(st.integers(1, 9))
def test_adjacent_vertices_of_strips_are_what_lies_across_the_edges(count: int) -> None:
    triangles = [{2 * n, 2 * n + 2, 2 * n + 4} for n in range(count)]
    for n, vertices in enumerate(listed(Topology10.TRIANGLESTRIP_ADJ, count)):
        assert set(vertices[::2]) == triangles[n]
        for at in (0, 2, 4):
            edge = {vertices[at], vertices[(at + 2) % 6]}
            sharing = [other for other in triangles if edge < other and other != triangles[n]]
            beside = vertices[at + 1]
            if sharing:
                assert {beside} == sharing[0] - edge
            else:
                # Not shared: the vertex that stands between, or closes the strip.
                assert beside % 2
                assert beside in (min(edge) + 1, max(edge) + 1, max(edge) - 1)


@pytest.mark.parametrize("topology", [each for each in Topology10 if each not in PATCHES])
@given(count=st.integers(1, 7))
def test_what_is_not_adjacent_is_what_is_drawn(topology: Topology10, count: int) -> None:
    plain = {10: 2, 11: 2, 12: 4, 13: 4}.get(topology, topology)
    lists = {3: 2, 5: 4}
    corners = np.array(listed(topology, count)).T
    given_ = Mesh({}, corners, Topology10(lists.get(plain, plain)), np.arange(count))
    if topology >= Topology10.LINELIST_ADJ:
        adjacent = Topology10.LINELIST_ADJ if plain == 2 else Topology10.TRIANGLELIST_ADJ
        given_ = without_adjacent(Mesh({}, corners, adjacent, np.arange(count)))
    wanted = np.stack(TOPOLOGIES[topology].corners(np.arange(count)))
    assert three(given_.corners).tolist() == wanted.tolist()


def test_a_mesh_alone_has_the_vertices_of_its_primitives() -> None:
    lanes = np.arange(10, dtype=np.float32) * 3
    mesh = Mesh({"v1.x": lanes}, np.array([[7, 2], [2, 9]]), Topology10.LINELIST, np.array([4, 5]))
    alone = mesh.part(slice(1, 2)).alone()
    assert alone.vertices["v1.x"].tolist() == [6, 27]
    assert alone.lanes("v1.x", 1).tolist() == [27]  # type: ignore[union-attr]
    assert alone.lanes("v2.x", 1) is None
    assert alone.ids.tolist() == [5]
