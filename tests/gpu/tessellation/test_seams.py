"""Rows of points stitched together: which triangles, and in which order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.tessellation.tessellate import (
    CENTRE,
    RULER,
    SQUARE,
    Side,
    strip,
    transition,
    trapezoid,
)
from tests.gpu.tessellation.test_tessellate import drawn

SIDES = st.builds(Side, st.integers(0, 31), st.booleans())


def segments(side: Side, outer: bool) -> int:
    """Of a row: two for each point by rank, of an inner row without the ends, and the middle."""
    return 2 * (side.ranks if outer else max(side.ranks - 1, 0)) + side.odd


def spoken(triangles: I64) -> list[list[str]]:
    """Points of rows as i and o with their numbers."""
    return [[f"{'io'[code % 2]}{code // 2}" for code in row] for row in triangles.T.tolist()]


def test_points_of_half_a_row_appear_in_the_order_of_a_ruler() -> None:
    order = [0, 17, 9, 25, 5, 13, 21, 29, *range(3, 33, 4), *range(2, 33, 2), 1]
    assert [RULER[place] for place in order] == list(range(33))


@given(SIDES, SIDES)
def test_both_rows_are_walked_from_end_to_end(inner: Side, outer: Side) -> None:
    """Each triangle goes one segment further on one of the rows, and begins where the last did."""
    at = {"i": 0, "o": 0}
    for triangle in spoken(transition(inner, outer)):
        row, other = ("i", "o") if sum(name[0] == "i" for name in triangle) == 2 else ("o", "i")
        assert set(triangle) == {f"{row}{at[row]}", f"{row}{at[row] + 1}", f"{other}{at[other]}"}
        at[row] += 1
    assert at == {"i": segments(inner, False), "o": segments(outer, True)}


@given(SIDES, SIDES)
def test_the_second_half_mirrors_the_first(inner: Side, outer: Side) -> None:
    """The rows take turns in the opposite order, but for what is in the middle."""
    turns = ["i" if sum(name[0] == "i" for name in each) == 2 else "o"
             for each in spoken(transition(inner, outer))]  # fmt: skip
    half = (len(turns) - (inner.odd + outer.odd)) // 2
    assert turns[:half] == turns[len(turns) - half :][::-1]


def test_which_row_goes_first_is_by_rank_and_the_inner_before_the_outer() -> None:
    """Points of rank 0 to 2 stand first, 9th and 17th; the inner row has no first."""
    turns = ["i" if sum(name[0] == "i" for name in each) == 2 else "o"
             for each in spoken(transition(Side(2, False), Side(3, False)))]  # fmt: skip
    assert "".join(turns[:4]) == "ooio"


def test_trapezoids_have_mirrored_diagonals() -> None:
    assert spoken(trapezoid(1)) == [["o0", "o1", "i0"], ["o1", "o2", "i0"]]
    assert spoken(trapezoid(3)) == [
        ["o0", "o1", "i0"],
        ["o1", "i1", "i0"],
        ["o1", "o2", "i1"],
        ["i1", "o2", "o3"],
        ["i1", "o3", "i2"],
        ["o3", "o4", "i2"],
    ]


def test_strips_lean_one_way_but_in_the_middle() -> None:
    plain = [["i0", "o0", "o1"], ["i0", "o1", "i1"], ["i1", "o1", "o2"], ["i1", "o2", "i2"]]
    assert spoken(strip(3, mirrored=False)) == plain
    assert spoken(strip(4, mirrored=True)) == [
        ["o0", "o1", "i0"],
        ["i0", "o1", "i1"],
        ["o1", "i2", "i1"],
        ["o1", "o2", "i2"],
        ["o2", "o3", "i2"],
        ["i2", "o3", "i3"],
    ]


def test_what_is_innermost() -> None:
    assert spoken(CENTRE) == [["o0", "o1", "o2"]]
    assert spoken(SQUARE) == [["o0", "o1", "o3"], ["o1", "o2", "o3"]]


T, Q = Domain.DOMAIN_TRI, Domain.DOMAIN_QUAD
ORDERS = [
    (Q, [1, 1, 1, 1, 2, 3], "405 501 512 524 423 430"),
    (Q, [1, 1, 1, 1, 4, 3], "405 501 516 612 627 728 823 839 930 904 456 469 967 978"),
    (Q, [1, 1, 1, 1, 3, 3], "405 501 516 612 627 723 734 430 467 456"),
    (T, [2, 1, 1, 3], "014 415 125 526 623 634 430 456"),
    (T, [1, 1, 1, 4], "304 401 415 516 612 627 728 820 803 349 459 569 679 789 839"),
]
"""Factors, and the corners of triangles: rings from the outside, edges as points are counted."""


@pytest.mark.parametrize(("domain", "factors", "corners"), ORDERS)
def test_triangles_come_ring_by_ring_and_edge_by_edge(
    domain: Domain, factors: list[float], corners: str
) -> None:
    clockwise = OutputPrimitive.OUTPUT_TRIANGLE_CW
    found = drawn(domain, Partitioning.PARTITIONING_INTEGER, clockwise, factors)
    assert ["".join(map(str, row)) for row in found.corners.T.tolist()] == corners.split()
    turned = drawn(
        domain, Partitioning.PARTITIONING_INTEGER, OutputPrimitive.OUTPUT_TRIANGLE_CCW, factors
    )
    assert [
        "".join(map(str, (a, c, b))) for a, b, c in turned.corners.T.tolist()
    ] == corners.split()
