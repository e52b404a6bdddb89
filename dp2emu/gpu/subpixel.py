"""Positions on the sub-pixel grid: whole numbers of 1/256 pixel.

Pixel centres are at whole pixels, so they are the multiples of 256.

Grid coordinates are kept as float64, which holds every snapped float32 exactly (24 significant
bits, up to 2**136).  Geometry computes with int64 where no product can overflow and with Python
integers elsewhere, so coverage is exact whatever the coordinates are.
"""

from __future__ import annotations

import numpy as np

from dp2emu.gpu.arrays import F32, F64, I64, Mask
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed
from dp2emu.shader.values import Value

ONE = 256
"""Grid units in a pixel: 8 sub-pixel bits."""
HALF = ONE // 2

Offset = tuple[int, int]
"""From the centre of a pixel to a sample in it, x and y in grid units."""
CENTRE: Offset = (0, 0)

Limit = int | I64
"""A bound in pixels, for all primitives or for each."""

EXACT_LIMIT = 1 << 29
"""Grid coordinates up to here (two million pixels) keep every product below 2**62."""


def snap(position: F32 | F64) -> F64:
    """Pixels -> grid units, rounding halves to even.  NaN and infinity stay what they are."""
    return computed(snapped, None, position.astype(np.float64))[0]


def snapped(b: Builder, key: None, position: Value) -> tuple[Value]:
    """Formula: the grid coordinate of an F64."""
    return (b.apply("dround", position * float(ONE)),)


def fits_int64(x: F64, y: F64) -> Mask:
    """Which primitives (columns of grid coordinates, shape (corners, n)) int64 can rasterise."""
    fits: Mask = np.maximum(np.abs(x).max(axis=0), np.abs(y).max(axis=0)) <= EXACT_LIMIT
    return fits


def first_centre(grid: F64, low: Limit, high: Limit) -> F64:
    """The first pixel centre at or after a coordinate, kept within ``low``..``high``."""
    centre: F64 = np.clip(np.ceil(grid / ONE), low, high)
    return centre


def after_centre(grid: F64, low: Limit, high: Limit) -> F64:
    """One past the last pixel centre at or before a coordinate, within ``low``..``high``."""
    centre: F64 = np.clip(np.floor(grid / ONE) + 1, low, high)
    return centre


def integers(grid: F64, primitive: int) -> list[int]:
    """Coordinates of one primitive, column of shape (corners, n), as Python integers."""
    return [int(value) for value in grid[:, primitive]]
