"""Which vertices make which primitive."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.gpu.command.topology import TOPOLOGIES, corners, fan_edges, list_edges, vertex_count


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        (PrimitiveType.POINTLIST, [(0, 0, 0), (1, 1, 1), (2, 2, 2)]),
        (PrimitiveType.LINELIST, [(0, 1, 0), (2, 3, 2), (4, 5, 4)]),
        (PrimitiveType.LINESTRIP, [(0, 1, 0), (1, 2, 1), (2, 3, 2)]),
        (PrimitiveType.TRIANGLELIST, [(0, 1, 2), (3, 4, 5), (6, 7, 8)]),
        (PrimitiveType.TRIANGLESTRIP, [(0, 1, 2), (1, 3, 2), (2, 3, 4)]),
        (PrimitiveType.TRIANGLEFAN, [(1, 2, 0), (2, 3, 0), (3, 4, 0)]),
    ],
)
def test_corners_start_with_the_provoking_vertex(
    topology: PrimitiveType, expected: list[tuple[int, int, int]]
) -> None:
    assert [tuple(c) for c in corners(topology, 0, 0, 3).T.tolist()] == expected
    shifted = corners(topology, 10, 0, 3) - 10
    assert [tuple(c) for c in shifted.T.tolist()] == expected


@pytest.mark.parametrize(
    ("topology", "vertices"),
    [
        (PrimitiveType.POINTLIST, 5),
        (PrimitiveType.LINELIST, 10),
        (PrimitiveType.LINESTRIP, 6),
        (PrimitiveType.TRIANGLELIST, 15),
        (PrimitiveType.TRIANGLESTRIP, 7),
        (PrimitiveType.TRIANGLEFAN, 7),
    ],
)
def test_five_primitives_use_this_many_vertices(topology: PrimitiveType, vertices: int) -> None:
    assert vertex_count(topology, 5) == vertices
    assert vertex_count(topology, 0) == 0
    assert corners(topology, 0, 0, 5).max() == vertices - 1


@given(st.sampled_from(list(TOPOLOGIES)), st.integers(0, 1 << 32), st.integers(0, 40),
       st.integers(0, 40))  # fmt: skip
def test_portions_number_the_same_vertices(
    topology: PrimitiveType, first: int, cut: int, more: int
) -> None:
    parts = corners(topology, first, 0, cut), corners(topology, first, cut, cut + more)
    whole = corners(topology, first, 0, cut + more)
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)


def test_edge_flags_of_lists_name_corners_in_turn() -> None:
    flags = np.array([0x700, 0x100, 0x203, 0x400])
    assert list_edges(flags).T.tolist() == [
        [True, True, True],
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


def test_edge_flags_of_fans_follow_the_outline() -> None:
    # A quad: edges 0-1, 1-2, 2-3 and 3-0; corners of triangle i are i + 1, i + 2 and 0.
    assert fan_edges(0b1111, 2).T.tolist() == [[True, False, True], [True, True, False]]
    for bit, (edge, triangle) in enumerate(((2, 0), (0, 0), (0, 1), (1, 1))):
        assert np.argwhere(fan_edges(1 << bit, 2)).tolist() == [[edge, triangle]]
    assert fan_edges(0b111, 1).all()


def test_edges_of_a_fan_beyond_the_flags_are_drawn() -> None:
    edges = fan_edges(0, 40)
    assert np.flatnonzero(edges[0]).tolist() == list(range(31, 40))
    assert np.flatnonzero(edges[1]).tolist() == [39]
    assert not edges[2].any()
