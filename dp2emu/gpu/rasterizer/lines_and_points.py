"""Coverage of lines, one pixel wide, and of points, in exact integers.

A line is rasterised column by column, or row by row if it is steep.  ``diamond_exit`` is the rule
of Direct3D: a line draws the pixels whose diamond (all points less than half a pixel away in the
1-norm) it leaves.  The diamond owns its two lower edges and its bottom corner, and for lines
steeper than 45 degrees also its right corner.  A line has at most one pixel in each column: the
one whose diamond's diagonal it crosses there.

``smooth`` is this device's choice, since Direct3D leaves the coverage of antialiased lines open.
In each column a line is a box one pixel high around its crossing of the column's middle, as wide
as the part of the column between the line's ends; coverage is the box's share of a pixel.  Ends
are exact, so D3DRS_LASTPIXEL has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np

from dp2emu.gpu.arrays import F32, F64, I64, Mask, expand
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import SOLID, LinePattern, PointSize
from dp2emu.gpu.rasterizer.spans import (
    CENTRE,
    HALF,
    ONE,
    Offset,
    Spans,
    after_centre,
    first_centre,
    fits_int64,
    in_order,
    integers,
    slices,
    snap,
)

STEPS = 1 << 16
"""Most columns (rows of steep lines) rasterised in one batch; a longer line is a batch alone."""

FEW = 3
"""Most lines that are rasterised one after the other instead of as arrays."""

PATTERN_BITS = 16
_FAR = 1 << 40

Point = tuple[Any, Any]
"""One end of a line: its coordinate along the line's longer axis and that across, 1/256 pixel."""
Hits = tuple[tuple[Any, Any], ...]
"""Pairs of a pixel's row in a column (steep lines: column in a row) and its coverage, 0 to 1."""
Rule = Callable[[Point, Point, Any, Any, Any], Hits]
"""Function that tells which pixels a line draws in one column (of a steep line: in one row).

Parameters: start and end, number of the column, whether steep, whether the end pixel is drawn;
bools, and int64 or Python integers.  Returns pixels and coverage."""


def line_spans(
    x: F64,
    y: F64,
    last: Mask,
    region: Rect,
    rule: Rule | None = None,
    pattern: LinePattern = SOLID,
) -> Iterator[Spans]:
    """Spans within ``region`` of lines in grid coordinates, shape (2 or more, n), in order.

    ``last`` marks the lines that also draw the pixel in whose diamond they end (D3DRS_LASTPIXEL).
    A line of no length draws nothing.  ``rule`` is ``diamond_exit`` by default; spans of other
    rules have a coverage.
    """
    x, y = x[:2], y[:2]
    fits = fits_int64(x, y)
    steep = np.abs(y[1] - y[0]) > np.abs(x[1] - x[0])
    lines = _Lines(x, y, steep, last, region, rule or diamond_exit, pattern)
    if len(steep) <= FEW and fits.all():
        parts = [part for part in map(lines.alone, range(len(steep))) if part is not None]
        if parts:
            yield in_order(parts[0], parts[1:])
        return
    first, count = _steps(x, y, steep, region)
    far = not fits.all()
    if far:
        for i in np.flatnonzero(~fits & (count > 0)).tolist():
            first[i], count[i] = lines.crossing(i, first[i], first[i] + count[i])
    (visible,) = count.nonzero()
    for cut in slices(count[visible], STEPS):
        part = visible[cut]
        slow = part[~fits[part]] if far else _NO_LINES
        fast = part[fits[part]] if far else part
        spans = lines.spans(fast, first[fast], count[fast], np.int64)
        beyond = [lines.spans(slow, first[slow], count[slow], object)] if len(slow) else []
        yield in_order(spans, beyond)


_NO_LINES = np.zeros(0, np.int64)


def _steps(x: F64, y: F64, steep: Mask, region: Rect) -> tuple[I64, I64]:
    """First column (row) and number of columns (rows) in which each line can have pixels."""
    low = np.where(steep, region.top, region.left)
    high = np.where(steep, region.bottom, region.right)
    one, other = np.where(steep, y, x)
    first = first_centre(np.minimum(one, other) - HALF, low, high)
    after = after_centre(np.maximum(one, other) + HALF, low, high)
    # The longer axis of a line of some length has two different ends.
    count = np.maximum(after - first, 0) * (one != other)
    return first.astype(np.int64), count.astype(np.int64)


class _Lines(msgspec.Struct, frozen=True):
    """Lines in grid coordinates, which a line rule rasterises within a region."""

    x: F64
    y: F64
    steep: Mask
    last: Mask
    region: Rect
    rule: Rule
    pattern: LinePattern

    def crossing(self, line: int, first: int, after: int) -> tuple[int, int]:
        """First and number of the columns (rows) in ``first`` <= n < ``after`` in which a line can
        have pixels of the region, in Python integers: the line may be too long for int64.
        """
        (a_along, b_along), (a_across, b_across) = integers(self.x, line), integers(self.y, line)
        low, high = self.region.top - 1, self.region.bottom + 1
        if self.steep[line]:
            a_along, b_along, a_across, b_across = a_across, b_across, a_along, b_along
            low, high = self.region.left - 1, self.region.right + 1
        if b_along < a_along:
            a_along, b_along, a_across, b_across = b_along, a_along, b_across, a_across
        run, rise = b_along - a_along, b_across - a_across
        if not rise:
            return (first, after - first) if low * ONE <= a_across <= high * ONE else (first, 0)
        if rise < 0:
            low, high, a_across, rise = -high, -low, -a_across, -rise
        # A column's crossing is a_across + (column * ONE - a_along) * rise / run.
        start, stop = ((side * ONE - a_across) * run + a_along * rise for side in (low, high))
        begin, after = max(first, -(-start // (rise * ONE))), min(after, stop // (rise * ONE) + 1)
        return (begin, after - begin) if begin < after else (first, 0)

    def spans(self, chosen: I64, first: I64, count: I64, kind: type) -> Spans:
        """Spans of the lines numbered ``chosen``, in ``count`` columns (rows) from ``first`` on.

        ``kind`` is the arithmetic: np.int64, or object for Python integers.
        """
        which, step = expand(count)
        step += first[which]
        line, turned = chosen[which], self.steep[chosen]
        x, y = (_integer(ends[:, chosen]) if kind is object
                else ends[:, chosen].astype(kind) for ends in (self.x, self.y))  # fmt: skip
        major, minor = np.where(turned, y, x)[:, which], np.where(turned, x, y)[:, which]
        a, b, turned = (major[0], minor[0]), (major[1], minor[1]), turned[which]
        column: Any = step.astype(kind, copy=False)
        hits = self.rule(a, b, column, turned.astype(np.int64), self.last[line])
        on = _in_pattern(a, b, column, self.pattern)
        parts = []
        for pixel, cover in hits:
            # A pixel beyond int64 is outside of the region.
            near = np.minimum(np.maximum(pixel, -_FAR), _FAR).astype(np.int64, copy=False)
            left, row = np.where(turned, near, step), np.where(turned, step, near)
            parts.append(self._spans(line, left, row, cover * on))
        return in_order(parts[0], parts[1:])

    def alone(self, number: int) -> Spans | None:
        """Spans of a line that int64 can rasterise; None if no column (row) can have any.

        Its ends are numbers instead of arrays: for one line each NumPy call takes longer than its
        arithmetic.
        """
        (x0, x1), (y0, y1) = integers(self.x, number), integers(self.y, number)
        region, steep = self.region, bool(self.steep[number])
        a, b, low, high = (x0, y0), (x1, y1), region.left, region.right
        if steep:
            a, b, low, high = (y0, x0), (y1, x1), region.top, region.bottom
        first = min(max(-((HALF - min(a[0], b[0])) // ONE), low), high)
        after = min(max((max(a[0], b[0]) + HALF) // ONE + 1, low), high)
        if a[0] == b[0] or after <= first:
            return None
        step = np.arange(first, after)
        hits = self.rule(a, b, step, int(steep), bool(self.last[number]))
        on = _in_pattern(a, b, step, self.pattern)
        line = np.full(after - first, number)
        parts = []
        for pixel, cover in hits:
            left, row = (pixel, step) if steep else (step, pixel)
            parts.append(self._spans(line, left, row, cover * on))
        return in_order(parts[0], parts[1:])

    def _spans(self, line: I64, left: I64, row: I64, cover: Any) -> Spans:
        region = self.region
        drawn = (cover > 0) & (region.left <= left) & (left < region.right)
        drawn &= (region.top <= row) & (row < region.bottom)
        coverage = None if self.rule is diamond_exit else cover.astype(np.float32)
        return Spans(line, row, left, left + 1, coverage=coverage).part(drawn.nonzero()[0])


_integer = np.frompyfunc(int, 1, 1)


def _in_pattern(a: Point, b: Point, step: Any, pattern: LinePattern) -> Any:
    """Whether the pattern of a line from ``a`` to ``b`` draws the pixel of column ``step`` (row
    ``step`` of a steep line); the pattern's first bit belongs to the pixel of ``a``.
    """
    if not pattern.repeat:
        return True
    along, end = a[0], b[0]
    forward = 1 - 2 * (end < along)
    behind = _lesser(((along + HALF) // ONE - step) * forward, 0)
    bit = -behind // pattern.repeat % PATTERN_BITS
    return (pattern.bits >> bit & 1) != 0


def smooth(a: Point, b: Point, step: Any, steep: Any, last: Any) -> Hits:
    """The two pixels of an antialiased line in column (if ``steep``, row) ``step``, and
    coverage.
    """
    (a_along, a_across), b_along, centre = a, b[0], step * ONE
    _, run, rise = _slope(a, b)
    crossing = a_across * run + (centre - a_along) * rise
    whole = run * ONE
    pixel = crossing // whole
    beyond = (crossing - pixel * whole) / whole
    right = _lesser(2 * centre + ONE, a_along + b_along + run)
    left = -_lesser(ONE - 2 * centre, run - a_along - b_along)
    width = (right - left) / (2 * ONE)
    return (pixel, (1 - beyond) * width), (pixel + 1, beyond * width)


def _lesser(p: Any, q: Any) -> Any:
    return (p + q - abs(p - q)) // 2


def _slope(a: Point, b: Point) -> tuple[Any, Any, Any]:
    """Direction of a line along its longer axis, 1 or -1, positive run, and rise over that run."""
    forward = 1 - 2 * (b[0] < a[0])
    return forward, (b[0] - a[0]) * forward, (b[1] - a[1]) * forward


def diamond_exit(a: Point, b: Point, step: Any, steep: Any, last: Any) -> Hits:
    """The pixel whose diamond the line from ``a`` to ``b`` exits in column ``step`` (row, if
    ``steep``); coverage 0 if it exits none.  ``last``: it also draws the pixel that it ends in.
    """
    (a_along, a_across), (b_along, b_across) = a, b
    centre = step * ONE
    forward, run, rise = _slope(a, b)
    # Crossing - 1/2, rounded up, since the diamond owns its lower edges.
    crossing = (a_across - HALF) * run + (centre - a_along) * rise
    pixel = -(-crossing // (run * ONE))
    starts_before = (centre - a_along) * forward >= 0
    ends_after = (b_along - centre) * forward >= 0
    begins = starts_before | _in_diamond(a_along - centre, a_across - pixel * ONE, steep)
    stays = _in_diamond(b_along - centre, b_across - pixel * ONE, steep)
    return ((pixel, begins & ((stays & last) | (ends_after & (stays ^ True)))),)


def _in_diamond(along: Any, across: Any, steep: Any) -> Any:
    """Whether a point, relative to a pixel's centre, belongs to the pixel's diamond."""
    distance = abs(along) + abs(across)
    below = across + (along - across) * steep
    right_corner = (steep != 0) & (below == 0) & (across > 0)
    return (distance < HALF) | ((distance == HALF) & ((below > 0) | right_corner))


ROWS = 1 << 16
"""Most pixel rows in a batch of points rasterised together; a taller point is a batch alone."""


def point_sizes(own: F32 | F64 | None, point: PointSize, count: int) -> F64:
    """Point sizes in grid units, shape (count,): the vertices' own or the state's, clamped.

    NaN becomes the minimum; the largest float32 is the maximum.
    """
    largest = float(np.finfo(np.float32).max)
    size = np.full(count, point.size, np.float32) if own is None else own
    size = np.where(size > point.min, size, np.float32(point.min))
    size = np.where(size < point.max, size, np.float32(point.max))
    return snap(np.where(size < largest, size, np.float32(largest)))


def point_spans(
    x: F64, y: F64, size: F64, region: Rect, sample: Offset = CENTRE
) -> Iterator[Spans]:
    """Spans within ``region`` of squares around grid coordinates; all arrays shape (n,).

    Top-left rule: position - size / 2 <= sample < position + size / 2 on both axes.
    """
    left, right = _covered(x - sample[0], size, region.left, region.right)
    top, bottom = _covered(y - sample[1], size, region.top, region.bottom)
    height = np.where(right > left, np.maximum(bottom - top, 0), 0)
    visible = np.flatnonzero(height)
    for cut in slices(height[visible], ROWS):
        which, step = expand(height[visible[cut]])
        point = visible[cut][which]
        yield Spans(point, top[point] + step, left[point], right[point])


def _covered(centre: F64, size: F64, low: int, high: int) -> tuple[I64, I64]:
    """First pixel and one past the last, clamped to ``low``..``high``, of a point on one axis."""
    # Terms are integers: sums below 2**53 are exact, and larger ones far outside of any surface.
    first = np.ceil((2 * centre - size) / (2 * ONE))
    after = np.ceil((2 * centre + size) / (2 * ONE))
    return (np.clip(first, low, high).astype(np.int64), np.clip(after, low, high).astype(np.int64))
