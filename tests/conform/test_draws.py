"""The model of coverage against triangles counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.conform.draws import covered

sides = st.integers(-64, 2112).map(lambda n: n / 64)
corners = st.tuples(sides, sides)


@pytest.mark.parametrize(
    ("triangle", "pixels"),
    [
        (((0, 0), (2, 0), (0, 2)), {(0, 0), (1, 0), (0, 1)}),
        (((0, 0), (2, 0), (2, 2)), {(0, 0), (1, 0), (1, 1)}),
        (((0.5, 0.5), (2.5, 0.5), (0.5, 2.5)), {(1, 1)}),
        (((0, 0), (4, 4), (8, 8)), set()),
        (((1, 1), (1, 1.5), (1.5, 1)), {(1, 1)}),
        (((1.5, 1), (1, 1.5), (1.5, 1.5)), set()),
    ],
)
def test_pixels_counted_by_hand(
    triangle: tuple[tuple[float, float], ...], pixels: set[tuple[int, int]]
) -> None:
    assert covered(triangle, 8, 8) == pixels


@given(corners, corners, corners)
@settings(max_examples=30)
def test_either_way_round_covers_the_same(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]
) -> None:
    assert covered((a, b, c), 32, 32) == covered((c, b, a), 32, 32)


@given(sides, sides)
@settings(max_examples=30)
def test_triangles_around_a_point_cover_a_box_once(x: float, y: float) -> None:
    box = (-2, -2), (40, -2), (40, 40), (-2, 40)
    inside = min(max(x, -1), 39), min(max(y, -1), 39)
    triangles = [(box[i], box[(i + 1) % 4], inside) for i in range(4)]
    assert sum(len(covered(each, 32, 32)) for each in triangles) == 32 * 32
