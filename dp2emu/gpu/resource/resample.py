"""Resampling of pictures to another size, with exact integer positions and weights.

Each direction has one rule: a texel of the target is the weighted mean of a few texels of the
source.  Integers keep rounding from deciding which texel is read; values are added in float64 and
rounded once to float32.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import msgspec
import numpy as np

from dp2emu.gpu.arrays import F32, F64, I64

SUBTEXELS = 256
"""Linear filtering rounds positions to 1 / this of the distance between texel centres."""

Lanes = tuple[F32, ...]
"""Red, green, blue and alpha of texels: four arrays of the same shape."""
Reader = Callable[[I64, I64, I64], Lanes]
"""Function that reads the texels at all combinations of z, y and x; returns lanes of shape
(len(z), len(y), len(x))."""


class Axis(msgspec.Struct, frozen=True, eq=False):
    """Resampling filter along one axis.

    Each of ``taps`` has a source position and a weight for every target position; the weights of a
    target position sum to ``total``.
    """

    taps: tuple[tuple[I64, I64], ...]
    total: int

    def between(self, first: int, last: int) -> Axis:
        """Return the filter of target positions ``first`` up to ``last``, exclusive."""
        return Axis(tuple((p[first:last], w[first:last]) for p, w in self.taps), self.total)


def point(source: int, target: int) -> Axis:
    """Return the nearest-texel filter: target i reads source floor((i + 1/2) source / target)."""
    centre = 2 * np.arange(target, dtype=np.int64) + 1
    return Axis(((centre * source // (2 * target), np.ones(target, np.int64)),), 1)


def linear(source: int, target: int) -> Axis:
    """Return the linear filter, which mixes the two source texels around each target's centre.

    Source positions are -1 to ``source``.  The fraction between the two texels is rounded to 1 /
    ``SUBTEXELS``, half up.
    """
    step = 2 * target
    place = (2 * np.arange(target, dtype=np.int64) + 1) * source - target
    whole, rest = np.divmod(place, step)
    weight = (2 * SUBTEXELS * rest + step) // (2 * step)
    return Axis(((whole, SUBTEXELS - weight), (whole + 1, weight)), SUBTEXELS)


def resample(read: Reader, z: Axis, y: Axis, x: Axis) -> Lanes:
    """Return the target's lanes, of shape (depth, height, width).

    Sums value * weight over the taps of z, of y and (fastest) of x, then divides by the product of
    the totals.  A texel of weight 0 contributes 0 even if it is infinite or a NaN.
    """
    sums: list[F64] = []
    with np.errstate(all="ignore"):
        for (front, deep), (top, high), (left, wide) in product(z.taps, y.taps, x.taps):
            weight = deep[:, None, None] * high[:, None] * wide
            if not weight.any():
                continue
            values = [
                np.where(weight == 0, 0.0, lane * weight.astype(np.float64))
                for lane in read(front, top, left)
            ]
            sums = [a + b for a, b in zip(sums, values, strict=True)] if sums else values
        total = np.float64(z.total * y.total * x.total)
        return tuple((lane / total).astype(np.float32) for lane in sums)
