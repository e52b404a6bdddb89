"""Coverage of triangles against a model in Python's integers that looks at every pixel."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.d3d.enums import Cull
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.rasterizer import triangles as raster
from dp2emu.gpu.rasterizer.spans import EXACT_LIMIT, ONE, snap
from dp2emu.gpu.rasterizer.triangles import doubled_area, drawn, triangle_spans
from tests.gpu.drawing import hits

REGION = Rect(-3, 2, 13, 15)

Point = tuple[float, float]
Triangle = tuple[Point, Point, Point]
Place = tuple[int, int]
"""In 1/256 of a pixel, which hold all that is looked at without rounding."""


def snapped(value: float) -> int:
    """In 1/256, halves to even."""
    return round(Fraction(value) * 256)


def model(triangle: Triangle, region: Rect = REGION) -> NDArray[np.int64]:
    """Top-left rule at pixel centres, one pixel after the other."""
    corners = [(snapped(x), snapped(y)) for x, y in triangle]
    if cross(*corners) < 0:
        corners.reverse()
    counts = np.zeros((region.bottom - region.top, region.right - region.left), np.int64)
    for y in range(region.top, region.bottom):
        for x in range(region.left, region.right):
            counts[y - region.top, x - region.left] = covers(corners, (256 * x, 256 * y))
    return counts


def cross(a: Place, b: Place, c: Place) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])


def covers(corners: list[Place], centre: Place) -> bool:
    """Corners clockwise on a screen with y down."""
    if cross(*corners) == 0:
        return False
    for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
        side = cross(a, b, centre)
        top = a[1] == b[1] and b[0] > a[0]
        left = b[1] < a[1]
        if side < 0 or (side == 0 and not (top or left)):
            return False
    return True


def engine(triangles: list[Triangle], region: Rect = REGION) -> NDArray[np.int64]:
    corners = np.array(triangles, np.float32).transpose(2, 1, 0)
    x, y = snap(corners[0]), snap(corners[1])
    area = doubled_area(x, y)
    kept = drawn(area, Cull.NONE)
    return hits(triangle_spans(x[:, kept], y[:, kept], area[kept], region), region)


f32 = np.float32
lattice = st.integers(-6, 40).map(lambda n: n / 2)
"""Vertices on centres, edges through centres, shared and degenerate: the ties."""
fine = st.integers(-2000, 6000).map(lambda n: float(f32(n / 300)))
huge = st.sampled_from([1e8, -1e8, 2.0**21, -(2.0**21), 2.0**21 + 1, 3e38, -3e38, 1e20, -1e30])
any_float = st.floats(width=32, allow_nan=False, allow_infinity=False)
coordinate = st.one_of(lattice, fine, huge, any_float)


def triangle_of(number: st.SearchStrategy[float]) -> st.SearchStrategy[Triangle]:
    point = st.tuples(number, number)
    return st.tuples(point, point, point)


@given(st.lists(triangle_of(lattice), min_size=1, max_size=4))
def test_ties_follow_the_top_left_rule(triangles: list[Triangle]) -> None:
    expected = sum(model(triangle) for triangle in triangles)
    np.testing.assert_array_equal(engine(triangles), expected)


@given(st.lists(triangle_of(fine), min_size=1, max_size=4))
def test_coverage_is_exact_between_the_centres(triangles: list[Triangle]) -> None:
    expected = sum(model(triangle) for triangle in triangles)
    np.testing.assert_array_equal(engine(triangles), expected)


@given(st.lists(triangle_of(coordinate), min_size=1, max_size=3))
def test_coverage_is_exact_for_any_coordinates(triangles: list[Triangle]) -> None:
    expected = sum(model(triangle) for triangle in triangles)
    np.testing.assert_array_equal(engine(triangles), expected)


@pytest.mark.parametrize("seed", range(4))
def test_two_thousand_random_triangles_match_the_model(seed: int) -> None:
    generator = np.random.default_rng(seed)
    region = Rect(0, 0, 9, 7)
    scale = [2.0, 8.0, 64.0, 2.0**23][seed]
    corners = np.round(generator.normal(4, scale, (500, 3, 2)) * 64) / 64
    for triangle in corners.tolist():
        np.testing.assert_array_equal(engine([triangle], region), model(triangle, region))


@given(st.one_of(triangle_of(lattice), triangle_of(fine), triangle_of(coordinate)))
@settings(max_examples=300)
def test_python_integers_give_what_int64_gives(triangle: Triangle) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dp2emu.gpu.rasterizer.spans.EXACT_LIMIT", -1)
        exact = engine([triangle])
    np.testing.assert_array_equal(exact, engine([triangle]))


@pytest.mark.parametrize("left", [-3, 0, 1])
@pytest.mark.parametrize("reach", [4.0, 2.0**22])
def test_python_integers_follow_the_top_left_rule(left: int, reach: float) -> None:
    square = [(left, 4.0), (left + reach, 4.0), (left, 4.0 + reach), (left + reach, 4.0 + reach)]
    for triangle in ((square[0], square[1], square[2]), (square[1], square[3], square[2])):
        np.testing.assert_array_equal(engine([triangle]), model(triangle))


def test_an_edge_may_leave_out_a_single_pixel_of_the_region() -> None:
    far = 2.0**22
    last = REGION.right - 1 + REGION.bottom - 1
    counts = engine([((-far, -far), (far + last, -far), (-far, far + last))])
    assert counts.sum() == counts.size - 1
    assert counts[-1, -1] == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_int64_is_exact_at_its_limit(sign: int) -> None:
    limit = sign * EXACT_LIMIT / ONE
    for triangle in (
        ((limit, limit), (-limit, limit), (3.0, -limit)),
        ((limit, -limit), (-limit, limit), (4.0, 9.0)),
        ((-limit, -limit), (limit, limit), (limit, -limit)),
    ):
        np.testing.assert_array_equal(engine([triangle]), model(triangle))


def test_small_and_huge_triangles_keep_their_order() -> None:
    small, large = ((0.0, 3.0), (9.0, 3.0), (0.0, 9.0)), ((-1e9, -1e9), (1e9, -1e9), (0.0, 1e9))
    corners = np.array([small, large, small, large], np.float32).transpose(2, 1, 0)
    x, y = snap(corners[0]), snap(corners[1])
    parts = list(triangle_spans(x, y, doubled_area(x, y), REGION))
    primitives = np.concatenate([part.primitive for part in parts])
    assert primitives.tolist() == sorted(primitives.tolist())
    assert set(primitives.tolist()) == {0, 1, 2, 3}


def test_portions_do_not_change_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    triangles = generator.uniform(-5, 20, (40, 3, 2)).tolist()
    whole = engine(triangles)
    monkeypatch.setattr(raster, "ROWS", 7)
    np.testing.assert_array_equal(engine(triangles), whole)


def grid_mesh(points: NDArray[np.float64], generator: np.random.Generator) -> list[Triangle]:
    """Two triangles for each cell of a grid of points, split and wound at random."""
    mesh: list[Triangle] = []
    for row in range(points.shape[0] - 1):
        for column in range(points.shape[1] - 1):
            a, b = points[row, column], points[row, column + 1]
            c, d = points[row + 1, column], points[row + 1, column + 1]
            halves = [(a, b, c), (b, d, c)] if generator.random() < 0.5 else [(a, b, d), (a, d, c)]
            for half in halves:
                mesh.append(tuple(half[i] for i in generator.permutation(3)))  # type: ignore[arg-type]
    return mesh


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [0.5, 1 / 256, 1e-3])
def test_a_mesh_has_no_cracks_and_no_double_hits(seed: int, step: float) -> None:
    generator = np.random.default_rng(seed)
    cell = generator.uniform(2, 6)
    ys, xs = np.mgrid[-2:9, -2:9] * cell
    jitter = np.round(generator.uniform(-0.3, 0.3, (11, 11, 2)) * cell / step) * step
    mesh = grid_mesh(np.stack([xs, ys], -1) + jitter, generator)
    region = Rect(0, 0, int(7 * cell), int(7 * cell))
    assert (engine(mesh, region) == 1).all()


@pytest.mark.parametrize("reach", [50.0, 1e6, 3e6, 1e9, 3e38])
def test_a_fan_to_the_horizon_covers_each_pixel_once(reach: float) -> None:
    generator = np.random.default_rng(int(math.log10(reach)))
    region = Rect(0, 0, 20, 20)
    for _ in range(10):
        centre = tuple(np.round(generator.uniform(0, 19, 2) * 2) / 2)
        angles = np.linspace(0, 2 * math.pi, 6)[:-1] + generator.uniform(0, 2)
        rim = [(reach * math.cos(a), reach * math.sin(a)) for a in angles]
        mesh = [(centre, a, b) for a, b in zip(rim, rim[1:] + rim[:1], strict=True)]
        assert (engine(mesh, region) == 1).all()


def test_area_is_positive_when_clockwise_on_the_screen() -> None:
    x, y = np.array([[10.0], [60.0], [10.0]]) * ONE, np.array([[10.0], [10.0], [60.0]]) * ONE
    assert doubled_area(x, y).tolist() == [2500.0]
    assert doubled_area(x[::-1], y[::-1]).tolist() == [-2500.0]


@pytest.mark.parametrize(
    ("cull", "kept"),
    [(Cull.NONE, [True, True, False]), (Cull.CW, [False, True, False]),
     (Cull.CCW, [True, False, False])],
)  # fmt: skip
def test_culling_takes_one_winding_and_zero_area_is_never_drawn(
    cull: Cull, kept: list[bool]
) -> None:
    assert drawn(np.array([1.0, -1.0, 0.0]), cull).tolist() == kept


def test_a_triangle_thinner_than_the_grid_has_no_area() -> None:
    corners = np.array([[[0.0, 0.0], [10.0, 0.0], [20.0, 0.001]]], np.float32).transpose(2, 1, 0)
    assert doubled_area(snap(corners[0]), snap(corners[1])).tolist() == [0.0]


def test_snapping_rounds_halves_to_even() -> None:
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5], np.float32) / ONE
    assert snap(halves).tolist() == [0, 2, 2, 0, -2]


def test_an_empty_region_gives_no_spans() -> None:
    assert engine([((0.0, 0.0), (9.0, 0.0), (0.0, 9.0))], Rect(0, 0, 9, 0)).size == 0


@settings(max_examples=25)
@given(triangle_of(coordinate), st.integers(-4, 10), st.integers(0, 12), st.integers(1, 9))
def test_a_smaller_region_cuts_the_same_coverage(
    triangle: Triangle, left: int, top: int, size: int
) -> None:
    region = Rect(left, top, left + size, top + size)
    np.testing.assert_array_equal(engine([triangle], region), model(triangle, region))
