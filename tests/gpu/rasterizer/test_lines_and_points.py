"""Lines against a diamond in rational numbers that looks at every pixel."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import SOLID, LinePattern
from dp2emu.gpu.rasterizer import lines_and_points
from dp2emu.gpu.rasterizer.lines_and_points import Rule, diamond_exit, line_spans, smooth
from dp2emu.gpu.rasterizer.spans import EXACT_LIMIT, ONE, snap
from tests.gpu.drawing import hits

REGION = Rect(-3, 2, 11, 13)
HALF = Fraction(1, 2)

Point = tuple[float, float]
Line = tuple[Point, Point]
Exact = tuple[Fraction, Fraction]


def in_diamond(point: Exact, centre: tuple[int, int], steep: bool) -> bool:
    """Less than half a pixel away, or on a lower edge; steep lines also own the right corner."""
    dx, dy = point[0] - centre[0], point[1] - centre[1]
    distance = abs(dx) + abs(dy)
    if distance == HALF:
        return dy > 0 or (steep and dy == 0 and dx > 0)
    return distance < HALF


def touches(a: Exact, b: Exact, centre: tuple[int, int], steep: bool) -> bool:
    """Whether any point of the segment is in the diamond: between all its crossings, one each."""
    for start, end, middle in zip(a, b, centre, strict=True):
        if min(start, end) > middle + HALF or max(start, end) < middle - HALF:
            return False
    at = {Fraction(0), Fraction(1)}
    for across, down in ((1, 1), (1, -1)):
        start = across * (a[0] - centre[0]) + down * (a[1] - centre[1])
        change = across * (b[0] - a[0]) + down * (b[1] - a[1])
        at |= {(side - start) / change for side in (HALF, -HALF) if change}
    places = sorted(t for t in at if 0 <= t <= 1)
    places += [(s + t) / 2 for s, t in pairwise(places)]
    along = [(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])) for t in places]
    return any(in_diamond(point, centre, steep) for point in along)


def model(line: Line, last: bool, region: Rect = REGION) -> NDArray[np.int64]:
    a, b = (tuple(Fraction(round(Fraction(v) * 256), 256) for v in point) for point in line)
    steep = abs(b[1] - a[1]) > abs(b[0] - a[0])
    counts = np.zeros((region.bottom - region.top, region.right - region.left), np.int64)
    if a == b:
        return counts
    for y in range(region.top, region.bottom):
        for x in range(region.left, region.right):
            leaves = touches(a, b, (x, y), steep)
            if leaves and not last:
                leaves = not in_diamond(b, (x, y), steep)
            counts[y - region.top, x - region.left] = leaves
    return counts


def engine(some: list[Line], last: list[bool], region: Rect = REGION) -> NDArray[np.int64]:
    ends = np.array(some, np.float32).transpose(2, 1, 0)
    return hits(line_spans(snap(ends[0]), snap(ends[1]), np.array(last), region), region)


f32 = np.float32
lattice = st.integers(-10, 28).map(lambda n: n / 2)
fine = st.integers(-1500, 5000).map(lambda n: float(f32(n / 300)))
huge = st.sampled_from([1e8, -1e8, 2.0**21, -(2.0**21), 2.0**21 + 1, 3e38, -3e38, 1e20])
any_float = st.floats(width=32, allow_nan=False, allow_infinity=False)
coordinate = st.one_of(lattice, fine, huge, any_float)


def line_of(number: st.SearchStrategy[float]) -> st.SearchStrategy[Line]:
    point = st.tuples(number, number)
    return st.tuples(point, point)


@pytest.mark.parametrize("number", [lattice, fine, coordinate], ids=["ties", "fine", "any"])
def test_lines_follow_the_diamond_exit_rule(number: st.SearchStrategy[float]) -> None:
    @given(line_of(number), st.booleans())
    def check(line: Line, last: bool) -> None:
        np.testing.assert_array_equal(engine([line], [last]), model(line, last))

    check()


@pytest.mark.parametrize("step", [4, 2, 256])
def test_six_hundred_random_lines_match_the_model(step: int) -> None:
    generator = np.random.default_rng(step)
    region = Rect(0, 0, 7, 6)
    some = np.round(generator.uniform(-3, 9, (200, 2, 2)) * step) / step
    for number, line in enumerate(some.tolist()):
        last = bool(number & 1)
        expected = model(line, last, region)
        np.testing.assert_array_equal(engine([line], [last], region), expected)


@given(st.lists(st.tuples(line_of(coordinate), st.booleans()), min_size=1, max_size=6))
@settings(max_examples=150)
def test_lines_together_have_the_pixels_of_each_alone(lines: list[tuple[Line, bool]]) -> None:
    for rule in (diamond_exit, smooth):
        for pattern in (SOLID, LinePattern(2, 0b1011_0010_1100_0101)):
            together = covered(lines, rule, pattern)
            alone = [(number, *pixel)
                     for number, line in enumerate(lines)
                     for _, *pixel in covered([line], rule, pattern)]  # fmt: skip
            assert together == sorted(alone)


def covered(
    lines: list[tuple[Line, bool]], rule: Rule, pattern: LinePattern
) -> list[tuple[float, ...]]:
    """Number of a line, row, column and coverage of each pixel of lines, sorted."""
    ends = np.array([line for line, _ in lines], np.float32).transpose(2, 1, 0)
    last = np.array([last for _, last in lines])
    found = line_spans(snap(ends[0]), snap(ends[1]), last, REGION, rule, pattern)
    return sorted(
        pixel
        for spans in found
        for pixel in zip(
            spans.primitive.tolist(),
            spans.y.tolist(),
            spans.left.tolist(),
            np.ones(len(spans)) if spans.coverage is None else spans.coverage.tolist(),
            strict=True,
        )
    )


@given(st.one_of(line_of(lattice), line_of(coordinate)), st.booleans())
@settings(max_examples=150)
def test_python_integers_give_what_int64_gives(line: Line, last: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dp2emu.gpu.rasterizer.spans.EXACT_LIMIT", -1)
        exact = engine([line], [last])
    np.testing.assert_array_equal(engine([line], [last]), exact)


def test_int64_is_exact_at_its_limit() -> None:
    limit = EXACT_LIMIT / ONE
    for line in (
        ((limit, -limit), (-limit, limit)),
        ((-limit, 5.0), (limit, 6.0)),
        ((3.5, limit), (4.0, -limit)),
    ):
        np.testing.assert_array_equal(engine([line], [True]), model(line, True))


@given(line_of(lattice))
def test_one_pixel_for_each_step_of_the_longer_axis(line: Line) -> None:
    counts = engine([line], [False])
    (ax, ay), (bx, by) = line
    axis = 1 if abs(by - ay) > abs(bx - ax) else 0
    assert counts.sum(axis=axis).max(initial=0) <= 1


def test_a_strip_of_lines_joins_without_gap_or_double_hit() -> None:
    corners = [(0.0, 3.0), (6.0, 3.0), (6.0, 9.0), (0.0, 9.0), (0.0, 3.0)]
    strip = list(pairwise(corners))
    counts = engine(strip, [False] * 4)
    assert counts.sum() == 24
    assert counts.max() == 1


def test_the_last_pixel_is_drawn_only_if_asked_for() -> None:
    line = ((1.0, 4.0), (5.0, 4.0))
    without, along = engine([line], [False]), engine([line], [True])
    assert without.sum() == 4
    assert along.sum() == 5
    assert (along - without)[4 - REGION.top, 5 - REGION.left] == 1


def test_a_line_of_no_length_draws_nothing() -> None:
    assert not engine([((4.0, 4.0), (4.0, 4.0))], [True]).any()
    assert not engine([((4.0, 4.0), (4.001, 4.0))], [True]).any()


def test_portions_do_not_change_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    some = generator.uniform(-5, 20, (40, 2, 2)).tolist()
    whole = engine(some, [True] * 40)
    monkeypatch.setattr(lines_and_points, "STEPS", 7)
    np.testing.assert_array_equal(engine(some, [True] * 40), whole)


def test_lines_of_any_length_keep_their_order() -> None:
    some = [((0.0, 3.0), (9.0, 8.0)), ((-1e9, -1e9), (1e9, 1e9))] * 2
    ends = np.array(some, np.float32).transpose(2, 1, 0)
    parts = line_spans(snap(ends[0]), snap(ends[1]), np.ones(4, bool), REGION)
    primitives = np.concatenate([part.primitive for part in parts]).tolist()
    assert primitives == sorted(primitives)
    assert set(primitives) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "line",
    [
        ((-1e9, 5e8), (1e9, 6e8)),
        ((6e8, 1e9), (5e8, -1e9)),
        ((-1e9, -1e8), (1e9, -1e8)),
        ((-1e9, 2e9), (1e9, 2e8)),
    ],
    ids=["flat", "steep", "level", "falling"],
)
def test_a_line_that_passes_by_is_worked_out_nowhere(line: Line) -> None:
    def never(*_: object) -> lines_and_points.Hits:
        raise AssertionError

    ends = np.array([line], np.float32).transpose(2, 1, 0)
    spans = line_spans(snap(ends[0]), snap(ends[1]), np.ones(1, bool), REGION, never)
    assert list(spans) == []


def test_a_line_that_crosses_is_worked_out_where_it_does() -> None:
    tried: list[int] = []

    def noting(*given: Any) -> lines_and_points.Hits:
        tried.extend(given[2].tolist())
        return lines_and_points.diamond_exit(*given)

    # One row in a hundred thousand columns: both ends are beyond what 64 bits can multiply.
    ends = np.array([((-9e9, -9e4), (9e9, 9e4))], np.float32).transpose(2, 1, 0)
    region = Rect(-16000, 0, 16000, 1)
    parts = list(line_spans(snap(ends[0]), snap(ends[1]), np.ones(1, bool), region, noting))
    assert tried == list(range(-16000, 16000))
    assert sum(len(part) for part in parts) == 32000
    tried.clear()
    region = Rect(-9000, 1, 9000, 2)
    assert not any(
        map(len, line_spans(snap(ends[0]), snap(ends[1]), np.ones(1, bool), region, noting))
    )
    assert len(tried) == 9000
