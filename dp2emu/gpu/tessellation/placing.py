"""Where the points of a row are: fixed point between 0 and 1 (SM4-5 tokens, "Tessellation").

Of a factor between two whole ones points move from where the lower has them to where the upper
has, which has one more on each half; the split point is where that one comes out of its neighbour.
"""

from __future__ import annotations

import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.tessellation.factors import HALF, ONE, Rows

_SEGMENTS = 2 * 65
"""More than any row has."""
_RECIPROCALS = np.array([0, *((2 * ONE + n) // (2 * n) for n in range(1, _SEGMENTS))], np.int64)
"""1 / n, rounded."""


def _without_top_bit(numbers: range) -> list[int]:
    return [n & ~(1 << n.bit_length() >> 1) for n in numbers]


_REMAINDERS = np.array(_without_top_bit(range(_SEGMENTS)), np.int64)
_NO_SPLIT = _SEGMENTS
"""A split point that no point is beyond."""


def place(rows: Rows, point: I64) -> I64:
    """The place of a point, counted from 0, of each row; shapes are alike.

    The second half is 1 - what the first has, so that a row is the same from both ends.
    """
    half = rows.half
    ceiling: I64 = -(-half // ONE)
    count = 2 * ceiling - rows.odd
    flipped = point >= ceiling
    near = np.where(flipped, count - point, point)
    found = _lerped(rows, half, near)
    found = np.where(flipped, ONE - found, found)
    middle = ~rows.odd & (near == ceiling)
    result: I64 = np.where(middle, HALF, found)
    return result


def _lerped(rows: Rows, half: I64, point: I64) -> I64:
    """A point of the first half, between where both whole factors have it."""
    floor, ceiling, fraction = half // ONE, -(-half // ONE), half % ONE
    lower = point - (point > _split(rows, floor, fraction))
    before = lower * _RECIPROCALS[2 * floor - rows.odd]
    after = point * _RECIPROCALS[2 * ceiling - rows.odd]
    return (before * (ONE - fraction) + after * fraction + HALF) // ONE


def _split(rows: Rows, floor: I64, fraction: I64) -> I64:
    """The last point that both whole factors have in the same place of the order."""
    split: I64 = 2 * _REMAINDERS[floor - rows.odd] + 1
    split = np.where(rows.odd & (floor == 1), 0, split)
    return np.where(fraction == 0, _NO_SPLIT, split)
