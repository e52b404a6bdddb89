"""Points: squares around the snapped position, filled by the top-left rule."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dp2emu.gpu.arrays import F32, F64, I64
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import PointSize
from dp2emu.gpu.rasterizer.spans import CENTRE, ONE, Offset, Spans, expand, slices, snap

ROWS = 1 << 16
"""Rows of points expanded together, give or take one point."""


def point_sizes(own: F32 | F64 | None, point: PointSize, count: int) -> F64:
    """Sizes in grid units, shape (count,): the vertex's own or the state's, clamped.

    A NaN takes the minimum, and no size exceeds the largest float32.
    """
    largest = float(np.finfo(np.float32).max)
    size = np.full(count, point.size, np.float32) if own is None else own
    size = np.where(size > point.min, size, np.float32(point.min))
    size = np.where(size < point.max, size, np.float32(point.max))
    return snap(np.where(size < largest, size, np.float32(largest)))


def point_spans(
    x: F64, y: F64, size: F64, region: Rect, sample: Offset = CENTRE
) -> Iterator[Spans]:
    """Pixels within ``region`` of squares around grid coordinates; all arrays shape (n,).

    A pixel is covered if position - size / 2 <= sample < position + size / 2 on both axes.
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
    """First pixel and one past the last pixel on one axis, within ``low``..``high``.

    The terms are whole numbers, so float64 rounds no sum below 2**53, and any larger one is far
    outside of every surface.
    """
    first = np.ceil((2 * centre - size) / (2 * ONE))
    after = np.ceil((2 * centre + size) / (2 * ONE))
    return (np.clip(first, low, high).astype(np.int64), np.clip(after, low, high).astype(np.int64))
