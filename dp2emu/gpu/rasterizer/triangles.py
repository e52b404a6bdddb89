"""Triangles: area, culling and exact coverage (Direct3D 9 rules, top-left fill).

An edge function is A * x + C(y) for integer pixels x, with the top-left rule folded into C; a
pixel is inside where all three are >= 0.  Solving for x yields one span a row, so that the cost
depends on the rows of the region and the pixels drawn, not on the triangle's extent.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from dp2emu.d3d.enums import Cull
from dp2emu.gpu.arrays import F64, I64, Mask, expand
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.rasterizer.spans import (
    CENTRE,
    ONE,
    Offset,
    Spans,
    after_centre,
    first_centre,
    fits_int64,
    in_order,
    integers,
    slices,
)
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

ROWS = 1 << 16
"""Most pixel rows in a batch of triangles rasterised together; a taller one is a batch alone."""

_CULLED_SIGN = {Cull.NONE: 0.0, Cull.CW: 1.0, Cull.CCW: -1.0}
"""From cull mode to the sign of the areas that it removes; with y down, clockwise is positive."""


def doubled_area(x: F64, y: F64) -> F64:
    """Doubled signed area in pixels of grid coordinates, shape (3, n): exact, rounded once."""
    fits = fits_int64(x, y)
    area = np.zeros(x.shape[1])
    ix, iy = x[:, fits].astype(np.int64), y[:, fits].astype(np.int64)
    area[fits] = computed(grid_area, None, *ix, *iy)[0]
    for i in np.flatnonzero(~fits).tolist():
        (x0, x1, x2), (y0, y1, y2) = integers(x, i), integers(y, i)
        area[i] = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    return computed(pixel_area, None, area)[0]


def grid_area(
    b: Builder, key: None, x0: Value, x1: Value, x2: Value, y0: Value, y1: Value, y2: Value
) -> tuple[Value]:
    """Formula: doubled signed area of a triangle in grid coordinates."""
    return ((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0),)


def pixel_area(b: Builder, key: None, area: Value) -> tuple[Value]:
    """Formula: area in pixels, an F64, from an area in grid units."""
    wide = b.apply("ltod", area) if area.type is Type.I64 else area
    return (wide / float(ONE**2),)


def drawn(area: F64, cull: Cull) -> Mask:
    """Mask of triangles left after culling, which removes those of zero area too."""
    return computed(left_by_culling, None, area, np.float64(_CULLED_SIGN[cull]))[0]


def left_by_culling(b: Builder, key: None, area: Value, culled: Value) -> tuple[Value]:
    """Formula: whether a triangle's area is not 0 and differs in sign from ``culled``."""
    return (area.ne(0) & (_signed(area, culled) <= 0),)


def facing(b: Builder, key: None, area: Value, front: Value) -> tuple[Value]:
    """Formula: ``front`` for a positive area, else -``front``."""
    return (_signed(area, front),)


def _signed(area: Value, value: Value) -> Value:
    return area.builder.select(area > 0, value, -value)


def triangle_spans(
    x: F64, y: F64, area: F64, region: Rect, sample: Offset = CENTRE
) -> Iterator[Spans]:
    """Spans within ``region`` of triangles in grid coordinates, shape (3, n), in order.

    A pixel is covered if its ``sample`` is inside.  No area may be zero.
    """
    triangles = _Triangles(x, y, area, sample)
    top, height = _rows(x - sample[0], y - sample[1], region)
    visible = np.flatnonzero(height)
    fits = fits_int64(x, y)
    for cut in slices(height[visible], ROWS):
        part = visible[cut]
        fast = part[fits[part]]
        yield in_order(
            _int64_spans(triangles, region, fast, top[fast], height[fast]),
            [
                _exact_spans(triangles, region, i, range(top[i], top[i] + height[i]))
                for i in part[~fits[part]].tolist()
            ],
        )


class _Triangles(msgspec.Struct, frozen=True):
    """Grid coordinates, shape (3, n), doubled areas, and the sample offset."""

    x: F64
    y: F64
    area: F64
    sample: Offset


def _rows(x: F64, y: F64, region: Rect) -> tuple[I64, I64]:
    """First row and number of rows of the region that each triangle can cover."""
    top = first_centre(y.min(axis=0), region.top, region.bottom)
    bottom = after_centre(y.max(axis=0), region.top, region.bottom)
    left = first_centre(x.min(axis=0), region.left, region.right)
    right = after_centre(x.max(axis=0), region.left, region.right)
    height = np.where(right > left, np.maximum(bottom - top, 0), 0)
    return top.astype(np.int64), height.astype(np.int64)


def _int64_spans(t: _Triangles, region: Rect, chosen: I64, top: I64, height: I64) -> Spans:
    ix = t.x[:, chosen].astype(np.int64) - t.sample[0]
    iy = t.y[:, chosen].astype(np.int64) - t.sample[1]
    swap = t.area[chosen] < 0
    ix[1:, swap], iy[1:, swap] = ix[:0:-1, swap], iy[:0:-1, swap]
    which, step = expand(height)
    y_row = top[which] + step
    left = np.full(len(which), region.left)
    right = np.full(len(which), region.right)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        dx, dy = ix[b] - ix[a], iy[b] - iy[a]
        open_edge = (dy > 0) | ((dy == 0) & (dx < 0))
        c = (dy * ix[a] - dx * iy[a] - open_edge)[which] + (dx * ONE)[which] * y_row
        _bound(left, right, (-dy * ONE)[which], c, region)
    spans = Spans(chosen[which], y_row, left, right)
    return spans.part(np.flatnonzero(right > left))


def _bound(left: I64, right: I64, a: I64, c: I64, region: Rect) -> None:
    """Narrow spans left <= x < right, in place, to pixels with a * x + c >= 0."""
    quotient = c // np.maximum(np.abs(a), 1)
    np.maximum(left, -quotient, out=left, where=a > 0)
    np.minimum(right, quotient + 1, out=right, where=a < 0)
    right[(a == 0) & (c < 0)] = region.left


def _exact_spans(t: _Triangles, region: Rect, i: int, rows: range) -> Spans:
    """Spans of triangle ``i``, which may have any size, computed in Python integers."""
    places = zip(integers(t.x, i), integers(t.y, i), strict=True)
    corners = [(x - t.sample[0], y - t.sample[1]) for x, y in places]
    if t.area[i] < 0:
        corners[1:] = corners[:0:-1]
    edges = _edges_crossing(corners, region)
    found = []
    for row in rows if edges is not None else ():
        left, right = region.left, region.right
        for a, b, c in edges or ():
            value = b * row + c
            if a > 0:
                left = max(left, -(value // a))
            elif a < 0:
                right = min(right, value // -a + 1)
            elif value < 0:
                right = left
        if right > left:
            found.append((i, row, left, right))
    return Spans(*np.array(found, np.int64).reshape(-1, 4).T)


_Edge = tuple[int, int, int]
"""Coefficients of the edge function a * x + b * y + c >= 0 for integer pixels x, y."""


def _edges_crossing(corners: list[tuple[int, int]], region: Rect) -> list[_Edge] | None:
    """The edges that cross the region; None if an edge has the whole region outside."""
    xs, ys = (region.left, region.right - 1), (region.top, region.bottom - 1)
    edges = []
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        dx, dy = bx - ax, by - ay
        open_edge = dy > 0 or (dy == 0 and dx < 0)
        a, b, c = -dy * ONE, dx * ONE, dy * ax - dx * ay - open_edge
        values = [a * px + b * py + c for px in xs for py in ys]
        if max(values) < 0:
            return None
        if min(values) < 0:
            edges.append((a, b, c))
    return edges
