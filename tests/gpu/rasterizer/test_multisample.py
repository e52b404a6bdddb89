"""Samples: where they are, and that each is covered as a pixel with its centre there would be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.d3d.enums import Cull
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.rasterizer import multisample
from dp2emu.gpu.rasterizer.lines_and_points import point_spans
from dp2emu.gpu.rasterizer.multisample import POSITIONS, coverage, multisample_spans, rows_near
from dp2emu.gpu.rasterizer.planes import Frame, sites
from dp2emu.gpu.rasterizer.spans import Offset, Spans, fragments, snap
from dp2emu.gpu.rasterizer.triangles import doubled_area, drawn, triangle_spans
from tests.gpu.rasterizer.test_points import position, size
from tests.gpu.rasterizer.test_triangles import (
    Place,
    Triangle,
    coordinate,
    covers,
    cross,
    fine,
    lattice,
    snapped,
    triangle_of,
)

REGION = Rect(-2, 1, 9, 8)
STANDARD = {
    2: [(4, 4), (-4, -4)],
    4: [(-2, -6), (6, -2), (-6, 2), (2, 6)],
    8: [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)],
}
"""Sixteenths of a pixel from the centre, as the Direct3D 10.1 documentation of the standard
multisample patterns has them."""

Counts = NDArray[np.int64]


def places(samples: int, x: int, y: int) -> Iterator[Place]:
    """Of a pixel's samples, in 1/256 of a pixel."""
    for dx, dy in STANDARD[samples]:
        yield 256 * x + 16 * dx, 256 * y + 16 * dy


def model(triangle: Triangle, samples: int) -> Counts:
    """Shape (rows, columns, samples): the top-left rule at each sample."""
    corners = [(snapped(x), snapped(y)) for x, y in triangle]
    if cross(*corners) < 0:
        corners.reverse()
    return np.array([
        [[covers(corners, place) for place in places(samples, x, y)]
         for x in range(REGION.left, REGION.right)]
        for y in range(REGION.top, REGION.bottom)
    ], np.int64)  # fmt: skip


def counted(spans: Iterator[Spans], samples: int) -> Counts:
    """How often each sample of the region is covered, found through fragments."""
    counts = np.zeros((REGION.bottom - REGION.top, REGION.right - REGION.left, samples), np.int64)
    frame = Frame(*(np.ones(1 << 10) for _ in range(7)))
    for part in spans:
        assert part.runs is not None
        here = sites(frame, fragments(part))
        np.add.at(counts, (here.y - REGION.top, here.x - REGION.left), coverage(here, samples))
    return counts


def engine(triangles: list[Triangle], samples: int) -> Counts:
    corners = np.array(triangles, np.float32).transpose(2, 1, 0)
    x, y = snap(corners[0]), snap(corners[1])
    area = doubled_area(x, y)
    kept = drawn(area, Cull.NONE)
    x, y, area = x[:, kept], y[:, kept], area[kept]

    def cover(chosen: I64 | slice, at: Offset) -> Iterator[Spans]:
        return triangle_spans(x[:, chosen], y[:, chosen], area[chosen], REGION, at)

    return counted(multisample_spans(cover, rows_near(y, 0, REGION), samples), samples)


@pytest.mark.parametrize("samples", [2, 4, 8])
def test_samples_are_where_the_standard_patterns_have_them(samples: int) -> None:
    assert POSITIONS[samples] == tuple((16 * x, 16 * y) for x, y in STANDARD[samples])


@pytest.mark.parametrize("number", [lattice, fine, coordinate], ids=["ties", "fine", "any"])
@pytest.mark.parametrize("samples", [2, 4, 8])
def test_every_sample_is_covered_exactly(number: st.SearchStrategy[float], samples: int) -> None:
    @settings(max_examples=20)
    @given(st.lists(triangle_of(number), min_size=1, max_size=3))
    def check(triangles: list[Triangle]) -> None:
        expected = sum(model(triangle, samples) for triangle in triangles)
        np.testing.assert_array_equal(engine(triangles, samples), expected)

    check()


@pytest.mark.parametrize("samples", [2, 4, 8])
def test_edges_through_samples_follow_the_top_left_rule(samples: int) -> None:
    for x, y in places(samples, 3, 4):
        left, top = x / 256, y / 256
        right, bottom = left + 2, top + 2
        halves = [[(left, top), (right, top), (left, bottom)],
                  [(right, top), (right, bottom), (left, bottom)]]  # fmt: skip
        found = sum(engine([tuple(half)], samples) for half in halves)
        assert found.max() == 1
        assert found.sum() == 4 * samples
        np.testing.assert_array_equal(found, sum(model(tuple(half), samples) for half in halves))


def test_a_sliver_between_centres_covers_samples_apart() -> None:
    sliver = ((-2.0, 3.2), (8.5, 3.2), (8.5, 3.55))
    np.testing.assert_array_equal(engine([sliver], 8), model(sliver, 8))


def test_primitives_are_cut_into_portions_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multisample, "ROWS", 8)
    triangles = [((0.0, 0.0), (8.0, float(n)), (1.0, 8.0)) for n in range(1, 6)]
    expected = sum(model(triangle, 4) for triangle in triangles)
    np.testing.assert_array_equal(engine(triangles, 4), expected)


@settings(max_examples=60)
@given(position, position, size, st.sampled_from([2, 4, 8]))
def test_a_point_covers_the_samples_in_its_half_open_square(
    x: float, y: float, s: float, samples: int
) -> None:
    gx, gy, gs = (snap(np.array([value], np.float32)) for value in (x, y, s))

    def cover(chosen: I64 | slice, at: Offset) -> Iterator[Spans]:
        return point_spans(gx[chosen], gy[chosen], gs[chosen], REGION, at)

    spans = multisample_spans(cover, rows_near(gy[None], gs / 2, REGION), samples)
    low_x, low_y, side = (int(g[0]) for g in (gx, gy, gs))
    expected = np.array([
        [[-side <= 2 * (px - low_x) < side and -side <= 2 * (py - low_y) < side
          for px, py in places(samples, column, row)]
         for column in range(REGION.left, REGION.right)]
        for row in range(REGION.top, REGION.bottom)
    ], np.int64)  # fmt: skip
    np.testing.assert_array_equal(counted(spans, samples), expected)


def test_spans_without_runs_have_all_samples() -> None:
    column = np.array([2])
    part = Spans(np.zeros(1, np.int64), column, column, column + 3)
    here = sites(Frame(*(np.ones(1) for _ in range(7))), fragments(part))
    assert coverage(here, 4).tolist() == [[True] * 4] * 3
