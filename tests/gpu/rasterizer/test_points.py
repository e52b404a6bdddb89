"""Points: which pixels a square of any size around any position has."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import PointSize
from dp2emu.gpu.rasterizer import lines_and_points
from dp2emu.gpu.rasterizer.lines_and_points import point_sizes, point_spans
from dp2emu.gpu.rasterizer.spans import ONE, snap
from tests.gpu.drawing import hits

REGION = Rect(-3, 2, 11, 13)


def grid(value: float) -> Fraction:
    return Fraction(round(Fraction(value) * 256), 256)


def model(x: float, y: float, size: float) -> NDArray[np.int64]:
    half = grid(size) / 2
    across = [grid(x) - half <= px < grid(x) + half for px in range(REGION.left, REGION.right)]
    down = [grid(y) - half <= py < grid(y) + half for py in range(REGION.top, REGION.bottom)]
    return np.outer(down, across).astype(np.int64)


def engine(x: list[float], y: list[float], size: list[float]) -> NDArray[np.int64]:
    lanes = [snap(np.array(values, np.float32)) for values in (x, y, size)]
    return hits(point_spans(*lanes, REGION), REGION)


f32 = np.float32
near = st.integers(-2000, 6000).map(lambda n: float(f32(n / 300)))
halves = st.integers(-8, 28).map(lambda n: n / 2)
any_float = st.floats(width=32, allow_nan=False, allow_infinity=False)
position = st.one_of(near, halves, any_float)
size = st.one_of(st.integers(0, 24).map(lambda n: n / 2), any_float.map(abs))


@given(position, position, size)
def test_a_point_covers_the_centres_in_its_half_open_square(x: float, y: float, s: float) -> None:
    np.testing.assert_array_equal(engine([x], [y], [s]), model(x, y, s))


def test_a_point_of_size_one_has_one_pixel_wherever_it_is() -> None:
    for n in range(256):
        assert engine([4 + n / 256], [5 + n / 256], [1.0]).sum() == 1


def test_left_and_top_edges_belong_to_the_square() -> None:
    counts = engine([5.0], [6.0], [2.0])
    assert counts.sum() == 4
    assert counts[5 - REGION.top, 4 - REGION.left] == 1


def test_points_without_size_draw_nothing() -> None:
    assert not engine([5.0], [5.0], [0.0]).any()
    assert not engine([5.0], [5.0], [-1.0]).any()


def test_size_is_clamped_and_nan_takes_the_minimum() -> None:
    own = np.array([0.25, 3.0, 100.0, math.nan, -5.0, math.inf], np.float32)
    sizes = point_sizes(own, PointSize(1.0, 0.5, 8.0), 6)
    assert (sizes / ONE).tolist() == [0.5, 3.0, 8.0, 0.5, 0.5, 8.0]


def test_size_comes_from_the_state_where_the_vertex_has_none() -> None:
    assert (point_sizes(None, PointSize(7.0, 1.0, 64.0), 2) / ONE).tolist() == [7.0, 7.0]


def test_an_unbounded_size_is_still_a_number() -> None:
    sizes = point_sizes(np.array([math.inf], np.float32), PointSize(1.0, 1.0, math.inf), 1)
    assert np.isfinite(sizes).all()


def test_portions_do_not_change_points(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    lanes = [generator.uniform(-4, 14, 20).tolist(), generator.uniform(0, 14, 20).tolist(),
             generator.uniform(0, 6, 20).tolist()]  # fmt: skip
    whole = engine(*lanes)
    monkeypatch.setattr(lines_and_points, "ROWS", 5)
    np.testing.assert_array_equal(engine(*lanes), whole)
