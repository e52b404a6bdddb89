"""Where vertices of patches are: whole coverage, and edges that only their number divides."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.gpu.arrays import F64
from dp2emu.gpu.tessellation.patch_domains import (
    MAX_SEGMENTS,
    Domain,
    divisions,
    rectangle,
    segments_of,
    triangle,
)

WHOLE = st.integers(1, 12).map(float)
ANY = st.floats(1, 12)


def areas(domain: Domain) -> F64:
    """Of the triangles, doubled; positive if they turn from u to v."""
    u, v = domain.u[domain.triangles], domain.v[domain.triangles]
    return (u[1] - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (v[1] - v[0])


def outline(domain: Domain, corners: list[tuple[float, float]]) -> list[set[float]]:
    """How far along each edge its vertices are, of those that triangles use."""
    used = np.unique(domain.triangles)
    points = [(float(u), float(v)) for u, v in zip(domain.u[used], domain.v[used], strict=True)]
    edges = []
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        along = x1 - x0, y1 - y0
        lengths = along[0] ** 2 + along[1] ** 2
        edges.append(
            {
                round(((x - x0) * along[0] + (y - y0) * along[1]) / lengths, 12)
                for x, y in points
                if abs((x - x0) * along[1] - (y - y0) * along[0]) < 1e-12
            }
        )
    return edges


def places(segments: float, continuous: bool) -> set[float]:
    return {round(place, 12) for place in divisions(segments, continuous=continuous)}


SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
CORNER = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]


@given(st.tuples(ANY, ANY, ANY, ANY), st.booleans())
def test_a_rectangle_is_covered_once(segments: tuple[float, ...], continuous: bool) -> None:
    first, second, third, fourth = (segments_of(n, continuous=continuous) for n in segments)
    domain = rectangle((first, second, third, fourth), continuous=continuous)
    assert areas(domain).min() > -1e-12
    assert math.fsum(areas(domain).tolist()) == pytest.approx(2)
    edges = outline(domain, SQUARE)
    assert edges == [places(n, continuous) for n in (first, second, third, fourth)]


@given(st.tuples(WHOLE, WHOLE, WHOLE))
def test_a_triangle_is_covered_once(segments: tuple[float, float, float]) -> None:
    domain = triangle(segments, continuous=False)
    assert areas(domain).min() > -1e-12
    assert math.fsum(areas(domain).tolist()) == pytest.approx(1)
    assert outline(domain, CORNER) == [places(n, False) for n in segments]


@given(st.tuples(ANY, ANY, ANY))
def test_a_triangle_divided_continuously_is_whole(segments: tuple[float, float, float]) -> None:
    domain = triangle(segments, continuous=True)
    assert math.fsum(areas(domain).tolist()) == pytest.approx(1)
    assert outline(domain, CORNER) == [places(n, True) for n in segments]


@given(ANY)
def test_a_triangle_with_equal_edges_is_covered_once(segments: float) -> None:
    assert areas(triangle((segments,) * 3, continuous=True)).min() > -1e-12


@pytest.mark.parametrize("n", [1, 2, 3, 7, MAX_SEGMENTS])
def test_equal_edges_make_a_grid(n: int) -> None:
    square = rectangle((float(n),) * 4, continuous=False)
    assert (len(square.u), square.triangles.shape[1]) == ((n + 1) ** 2, 2 * n * n)
    corner = triangle((float(n),) * 3, continuous=False)
    assert (len(corner.u), corner.triangles.shape[1]) == ((n + 1) * (n + 2) // 2, n * n)


def test_triangles_come_row_by_row() -> None:
    square = rectangle((2.0, 1.0, 2.0, 1.0), continuous=False)
    assert square.triangles.T.tolist() == [[0, 1, 3], [1, 4, 3], [1, 2, 4], [2, 5, 4]]
    corner = triangle((2.0, 2.0, 2.0), continuous=False)
    assert corner.triangles.T.tolist() == [[0, 1, 3], [1, 4, 3], [1, 2, 4], [3, 4, 5]]
    assert list(zip(corner.u.tolist(), corner.v.tolist(), strict=True)) == [
        (0, 0), (0.5, 0), (1, 0), (0, 0.5), (0.5, 0.5), (0, 1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "discrete", "continuous"),
    [(math.nan, 1, 1), (-3.0, 1, 1), (0.0, 1, 1), (0.5, 1, 1), (1.0, 1, 1), (2.75, 2, 2.75),
     (64.0, 64, 64), (64.5, 64, 64), (math.inf, 64, 64), (-math.inf, 1, 1)],
)  # fmt: skip
def test_segments_are_at_least_one_and_at_most_what_the_device_has(
    asked: float, discrete: float, continuous: float
) -> None:
    assert segments_of(asked, continuous=False) == discrete
    assert segments_of(asked, continuous=True) == continuous


@pytest.mark.parametrize("n", range(1, 10))
def test_discrete_edges_are_divided_evenly(n: int) -> None:
    assert divisions(float(n), continuous=False) == tuple(k / n for k in range(n + 1))


@pytest.mark.parametrize(
    ("segments", "wanted"),
    [
        (1.0, (0, 1)),
        (2.0, (0, 1 / 4, 3 / 4, 1)),
        (3.0, (0, 1 / 3, 2 / 3, 1)),
        (4.0, (0, 1 / 4, 3 / 8, 5 / 8, 3 / 4, 1)),
        (5.0, (0, 1 / 5, 2 / 5, 3 / 5, 4 / 5, 1)),
    ],
)
def test_continuous_edges_have_an_odd_number_of_segments(
    segments: float, wanted: tuple[float, ...]
) -> None:
    assert divisions(segments, continuous=True) == pytest.approx(wanted)


@given(st.floats(1, MAX_SEGMENTS))
def test_continuous_divisions_move_little_when_the_number_does(segments: float) -> None:
    found = divisions(segments, continuous=True)
    near = divisions(min(segments + 1e-9, float(MAX_SEGMENTS)), continuous=True)
    assert list(found) == sorted(found)
    assert found == pytest.approx([1 - place for place in reversed(found)])
    assert all(min(abs(a - b) for b in found) < 1e-6 for a in near)
