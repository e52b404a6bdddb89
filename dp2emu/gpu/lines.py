"""Lines, one pixel wide: the diamond exit rule of Direct3D, in exact integers.

A line draws the pixels whose diamond (all points less than half a pixel away, measured along the
axes) it leaves.  The diamond owns its two lower edges and its bottom corner, and for lines that
are steeper than 45 degrees also its right corner.  A line therefore has at most one pixel in each
column (row, if steep): the one whose diamond's diagonal it crosses there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dp2emu.gpu.arrays import F64, I64, Mask
from dp2emu.gpu.packets import Rect
from dp2emu.gpu.spans import Spans, expand, in_order, slices
from dp2emu.gpu.subpixel import HALF, ONE, after_centre, first_centre, fits_int64, integers

STEPS = 1 << 16
"""Columns (rows, if steep) of lines tried together, give or take one line."""


def line_spans(x: F64, y: F64, last: Mask, region: Rect) -> Iterator[Spans]:
    """Pixels within ``region`` of lines in grid coordinates, shape (2 or more, n), in order.

    ``last`` says which lines also draw the pixel whose diamond they end in
    (D3DRS_LASTPIXEL).  A line of no length draws nothing.
    """
    x, y = x[:2], y[:2]
    steep = np.abs(y[1] - y[0]) > np.abs(x[1] - x[0])
    first, count = _steps(x, y, steep, region)
    visible = np.flatnonzero(count)
    fits = fits_int64(x, y)
    for cut in slices(count[visible], STEPS):
        part = visible[cut]
        fast = part[fits[part]]
        yield in_order(
            _int64_spans(x, y, steep, last, fast, first[fast], count[fast], region),
            [
                _exact_spans(x, y, steep, last, i, range(first[i], first[i] + count[i]), region)
                for i in part[~fits[part]].tolist()
            ],
        )


def _steps(x: F64, y: F64, steep: Mask, region: Rect) -> tuple[I64, I64]:
    """First column (row) and number of columns (rows) a line can have pixels in."""
    low = np.where(steep, region.top, region.left)
    high = np.where(steep, region.bottom, region.right)
    major = np.where(steep, y, x)
    first = first_centre(major.min(axis=0) - HALF, low, high)
    after = after_centre(major.max(axis=0) + HALF, low, high)
    some = (x[0] != x[1]) | (y[0] != y[1])
    return first.astype(np.int64), np.where(some, np.maximum(after - first, 0), 0).astype(np.int64)


def _int64_spans(
    x: F64, y: F64, steep: Mask, last: Mask, chosen: I64, first: I64, count: I64, region: Rect
) -> Spans:
    which, step = expand(count)
    line = chosen[which]
    step += first[which]
    turned = steep[line]
    major = np.where(turned, y[:, line], x[:, line]).astype(np.int64)
    minor = np.where(turned, x[:, line], y[:, line]).astype(np.int64)
    a, b = (major[0], minor[0]), (major[1], minor[1])
    pixel, drawn = _trace(a, b, step, turned.astype(np.int64), last[line])
    left, row = np.where(turned, pixel, step), np.where(turned, step, pixel)
    drawn &= (region.left <= left) & (left < region.right)
    drawn &= (region.top <= row) & (row < region.bottom)
    spans = Spans(line, row, left, left + 1)
    return spans.part(np.flatnonzero(drawn))


def _exact_spans(
    x: F64, y: F64, steep: Mask, last: Mask, i: int, steps: range, region: Rect
) -> Spans:
    """The same for one line of any size, in Python integers."""
    turned = bool(steep[i])
    ends = list(zip(integers(x, i), integers(y, i), strict=True))
    a, b = (end[::-1] if turned else end for end in ends)
    found = []
    for step in steps:
        pixel, drawn = _trace(a, b, step, int(turned), bool(last[i]))
        left, row = (pixel, step) if turned else (step, pixel)
        inside = region.left <= left < region.right and region.top <= row < region.bottom
        if drawn and inside:
            found.append((i, row, left, left + 1))
    return Spans(*np.array(found, np.int64).reshape(-1, 4).T)


def _trace(a: Any, b: Any, step: Any, steep: Any, last: Any) -> tuple[Any, Any]:
    """The pixel of a line from a to b in column (row) ``step``, and whether it is drawn.

    Points are (along the longer axis, across it) in grid units.  All arguments are Python
    integers and bools, or arrays of int64 and bools: the formulas serve both.
    """
    (a_along, a_across), (b_along, b_across) = a, b
    centre = step * ONE
    forward = 1 - 2 * (b_along < a_along)
    run = (b_along - a_along) * forward
    rise = (b_across - a_across) * forward
    # The crossing minus half a pixel, rounded up, times run * ONE: the lower edge is owned.
    crossing = (a_across - HALF) * run + (centre - a_along) * rise
    pixel = -(-crossing // (run * ONE))
    starts_before = (centre - a_along) * forward >= 0
    ends_after = (b_along - centre) * forward >= 0
    begins = starts_before | _in_diamond(a_along - centre, a_across - pixel * ONE, steep)
    stays = _in_diamond(b_along - centre, b_across - pixel * ONE, steep)
    return pixel, begins & ((stays & last) | (ends_after & (stays ^ True)))


def _in_diamond(along: Any, across: Any, steep: Any) -> Any:
    """Whether a point, relative to a pixel's centre, belongs to the pixel's diamond."""
    distance = abs(along) + abs(across)
    below = across + (along - across) * steep
    right_corner = (steep != 0) & (below == 0) & (across > 0)
    return (distance < HALF) | ((distance == HALF) & ((below > 0) | right_corner))
