"""Clipping: what is left, which edges are new, and that nothing opens between neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.rasterizer.clip import GUARD, Clipped, clip
from dp2emu.gpu.rasterizer.spans import snap
from dp2emu.gpu.rasterizer.triangles import doubled_area, triangle_spans
from tests.gpu.drawing import hits

Corner = list[float]
Plane = Callable[[Corner], float]

NEAR_FAR: tuple[Plane, ...] = (lambda v: v[2], lambda v: v[3] - v[2])
BAND: tuple[Plane, ...] = (
    lambda v: GUARD * v[3] + v[0],
    lambda v: GUARD * v[3] - v[0],
    lambda v: GUARD * v[3] + v[1],
    lambda v: GUARD * v[3] - v[1],
)
USER: Plane = lambda v: v[4]  # noqa: E731

INSIDE = [[0, 0, 1, 2, 1], [1, 0, 1, 2, 1], [0, 1, 1, 2, 1]]


def lanes(*triangles: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Corners -> shape (rows, 3, n)."""
    return np.array(triangles, np.float64).transpose(2, 1, 0)


def primitives(clipped: Clipped) -> list[list[Corner]]:
    """Shape (rows, 3, n) -> corners."""
    found: list[list[Corner]] = clipped.lanes.transpose(2, 1, 0).tolist()
    return found


def polygon(corners: list[Corner], planes: Sequence[Plane]) -> list[Corner]:
    """One polygon against one plane after the other."""
    for plane in planes:
        left: list[Corner] = []
        for here, ahead in zip(corners, corners[1:] + corners[:1], strict=True):
            a, b = plane(here), plane(ahead)
            if a >= 0:
                left.append(here)
            if a > 0 > b or b > 0 > a:
                inner, outer, inside, outside = (
                    (here, ahead, a, b) if a > 0 else (ahead, here, b, a)
                )
                t = inside / (inside - outside)
                left.append([p + t * (q - p) for p, q in zip(inner, outer, strict=True)])
        corners = left
    return corners


number = st.integers(-8, 8).map(lambda n: n / 4)
corner = st.tuples(number, number, number, number, number).map(list)
triangle = st.tuples(corner, corner, corner).map(list)


@settings(max_examples=300)
@given(st.lists(triangle, min_size=1, max_size=6), st.booleans())
def test_triangles_equal_one_polygon_after_the_other(
    triangles: list[list[Corner]], depth: bool
) -> None:
    planes = (*(NEAR_FAR if depth else ()), *BAND, USER)
    expected, sources, extra = [], [], 0
    for number, corners in enumerate(triangles):
        left = polygon(corners, planes)
        fan = [[left[0], left[k], left[k + 1]] for k in range(1, len(left) - 1)]
        expected += fan
        sources += [number] * len(fan)
        extra += max(len(fan) - 1, 0)
    clipped = clip(lanes(*triangles), None, 3, depth=depth, user=1)
    assert primitives(clipped) == expected
    assert clipped.source.tolist() == sources
    assert clipped.extra == extra


@settings(max_examples=150)
@given(st.lists(st.tuples(corner, corner), min_size=1, max_size=6))
def test_lines_keep_their_direction(lines: list[tuple[Corner, Corner]]) -> None:
    clipped = clip(lanes(*([a, b, a] for a, b in lines)), None, 2, depth=True, user=1)
    expected = []
    for a, b in lines:
        for plane in (*NEAR_FAR, *BAND, USER):
            da, db = plane(a), plane(b)
            if (da < 0 and db <= 0) or (db < 0 and da <= 0):
                break
            if da < 0:
                t = db / (db - da)
                a = [p + t * (q - p) for p, q in zip(b, a, strict=True)]
            elif db < 0:
                t = da / (da - db)
                b = [p + t * (q - p) for p, q in zip(a, b, strict=True)]
        else:
            expected.append([a, b, a])
    assert primitives(clipped) == expected
    assert clipped.extra == 0


def test_points_stay_or_go() -> None:
    points = [[0, 0, 1, 2, 0], [0, 0, -1, 2, 0], [0, 0, 1, 2, -1], [300, 0, 1, 2, 0]]
    clipped = clip(lanes(*([p, p, p] for p in points)), None, 1, depth=True, user=1)
    assert clipped.source.tolist() == [0]


def test_inside_of_everything_nothing_changes() -> None:
    clipped = clip(lanes(INSIDE, INSIDE), None, 3, depth=True, user=1)
    assert primitives(clipped) == [INSIDE, INSIDE]
    assert clipped.edges.all()
    assert clipped.extra == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("row", range(4))
def test_a_corner_nowhere_takes_its_primitive_along(bad: float, row: int) -> None:
    broken = [list(v) for v in INSIDE]
    broken[1][row] = bad
    assert clip(lanes(broken, INSIDE), None, 3, depth=False, user=0).source.tolist() == [1]


@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_a_distance_that_is_no_number_is_outside(bad: float) -> None:
    broken = [list(v) for v in INSIDE]
    for vertex in broken:
        vertex[4] = bad
    assert clip(lanes(broken), None, 3, depth=True, user=1).lanes.shape == (5, 3, 0)


def test_without_depth_planes_any_z_stays() -> None:
    deep = [[0, 0, -5, 2], [1, 0, 9, 2], [0, 1, 1, 2]]
    assert primitives(clip(lanes(deep), None, 3, depth=False, user=0)) == [deep]
    assert primitives(clip(lanes(deep), None, 3, depth=True, user=0)) != [deep]


def test_nothing_behind_the_eye_is_left() -> None:
    across = [[0, -1, 0, 4], [1, -1, 0, -4], [-1, -1, 0, -4]]
    left = primitives(clip(lanes(across), None, 3, depth=False, user=0))
    assert left
    assert all(v[3] > 0 for corners in left for v in corners)


def test_edges_that_clipping_makes_are_not_the_primitives() -> None:
    # The first corner is cut off, so two triangles remain: the quad 1, 2 and two new corners.
    cut = [[0, 0, -1, 2], [1, 0, 1, 2], [0, 1, 1, 2]]
    clipped = clip(lanes(cut), None, 3, depth=True, user=0)
    drawn = {
        frozenset(tuple(clipped.lanes[:2, c, n]) for c in (k, (k + 1) % 3))
        for n in range(2) for k in range(3) if clipped.edges[k, n]
    }  # fmt: skip
    a, b, on_first, on_last = (1.0, 0.0), (0.0, 1.0), (0.5, 0.0), (0.0, 0.5)
    assert drawn == {frozenset((on_first, a)), frozenset((a, b)), frozenset((b, on_last))}


def test_edges_that_were_not_drawn_stay_so() -> None:
    cut = [[0, 0, -1, 2], [1, 0, 1, 2], [0, 1, 1, 2]]
    flags = np.array([[False], [True], [False]])
    clipped = clip(lanes(cut), flags, 3, depth=True, user=0)
    assert np.count_nonzero(clipped.edges) == 1
    whole = clip(lanes([v[:4] for v in INSIDE]), flags, 3, depth=True, user=0)
    assert whole.edges.tolist() == flags.tolist()


REGION = Rect(0, 0, 24, 24)


def coverage(triangles: NDArray[np.float64]) -> NDArray[np.int64]:
    """How often the pixels of ``REGION`` are hit."""
    clipped = clip(triangles, None, 3, depth=True, user=0).lanes
    x, y = (snap(12 + 12 * clipped[row] / clipped[3]) for row in (0, 1))
    area = doubled_area(x, y)
    kept = area != 0
    return hits(triangle_spans(x[:, kept], y[:, kept], area[kept], REGION), REGION)


def inside(base: NDArray[np.float64], dx: float, dy: float) -> NDArray[np.bool_]:
    """Where the parallelogram ``origin + s * u + t * v`` lies, and is not clipped."""
    y, x = np.mgrid[0:24, 0:24]
    nx, ny = (x + dx - 12) / 12, (y + dy - 12) / 12
    # (x - nx * w) = 0 and (y - ny * w) = 0, linear in s and t.
    (ox, oy, oz, ow), (ux, uy, uz, uw), (vx, vy, vz, vw) = base
    a, b, c = ux - nx * uw, vx - nx * vw, nx * ow - ox
    d, e, f = uy - ny * uw, vy - ny * vw, ny * ow - oy
    determinant = a * e - b * d
    s, t = (c * e - b * f) / determinant, (a * f - c * d) / determinant
    z, w = oz + s * uz + t * vz, ow + s * uw + t * vw
    within = (s > 0) & (s < 1) & (t > 0) & (t < 1)
    found: NDArray[np.bool_] = within & (z > 0) & (z < w)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_neighbours_that_are_clipped_leave_no_crack_and_no_overlap(seed: int) -> None:
    generator = np.random.default_rng(seed)
    for _ in range(25):
        base = generator.uniform(-2, 2, (3, 4)).astype(np.float32).astype(np.float64)
        origin, u, v = base
        a, b, c, d = origin, origin + u, origin + u + v, origin + v
        middle = origin + 0.375 * u + 0.25 * v
        fan = [[a, b, middle], [b, c, middle], [c, d, middle], [d, a, middle]]
        counted = coverage(np.array(fan).transpose(2, 1, 0))
        assert counted.max() <= 1
        near = np.stack([inside(base, dx, dy) for dx in (-0.02, 0, 0.02) for dy in (-0.02, 0.02)])
        assert (counted[near.all(axis=0)] == 1).all()
        assert (counted[~near.any(axis=0)] == 0).all()
