"""Tessellation factors: clamped, rounded, and how many points they make (SM4-5 tokens,
"Tessellation").
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from dp2emu.d3d.enums10 import Domain, Partitioning
from dp2emu.gpu.arrays import F32, I64, Mask

ONE = 1 << 16
"""1 in fixed point."""

HALF = ONE // 2

EDGES = {Domain.DOMAIN_ISOLINE: 2, Domain.DOMAIN_TRI: 3, Domain.DOMAIN_QUAD: 4}
"""Factors of the edges of a domain, U = 0 first; of lines their density, then their detail."""

INSIDES = {Domain.DOMAIN_ISOLINE: 0, Domain.DOMAIN_TRI: 1, Domain.DOMAIN_QUAD: 2}
"""Factors of its inside."""


class Range(NamedTuple):
    """What factors of a partitioning are clamped to."""

    least: float
    most: float


_RANGES = {
    Partitioning.PARTITIONING_INTEGER: Range(1, 64),
    Partitioning.PARTITIONING_POW2: Range(1, 64),
    Partitioning.PARTITIONING_FRACTIONAL_ODD: Range(1, 63),
    Partitioning.PARTITIONING_FRACTIONAL_EVEN: Range(2, 64),
}

_WHOLE = (Partitioning.PARTITIONING_INTEGER, Partitioning.PARTITIONING_POW2)

_DENSITY = Range(1, 64)

_ABOVE_ONE = np.float32(1 + 2**-17)
"""What rounds to more than 1 in fixed point is above this."""

_RING = np.float32(1 + 2**-16)
"""The least inside factor of odd partitioning that leaves room for a ring."""

_LEAST_EVEN, _LEAST_ODD = 3, 4
"""Points across an even and an odd inside at least."""


class Rows(msgspec.Struct, frozen=True):
    """Rows of points: ``fixed`` factors in 1/65536 and whether they are ``odd``, of one shape."""

    fixed: I64
    odd: Mask

    def __getitem__(self, chosen: I64 | int | tuple[I64 | slice, ...]) -> Rows:
        return Rows(self.fixed[chosen], self.odd[chosen])

    @property
    def half(self) -> I64:
        """Half of the factor, and half a segment more where that has a segment in the middle.

        A factor of 1 that counts as even has two segments.
        """
        half: I64 = (self.fixed + 1) // 2
        return half + np.where(self.odd | (half == HALF), HALF, 0)

    @property
    def points(self) -> I64:
        """How many points a row has, both ends included."""
        whole: I64 = -(-((self.fixed + 1) // 2 + np.where(self.odd, HALF, 0)) // ONE) * 2
        return whole + np.where(self.odd, 0, 1)

    @property
    def ranks(self) -> I64:
        """Points of half a row that a stitch orders: not the middle, nor what the middle joins."""
        ceiling: I64 = -(-self.half // ONE)
        return ceiling - self.odd


class Factors(msgspec.Struct, frozen=True):
    """Factors of patches that are drawn, which are ``patches`` of those given.

    ``edges`` have shape (edges, n), ``inside`` (insides, n).  ``least``: all factors are 1, which
    makes of the domain what its corners are.
    """

    patches: I64
    edges: Rows
    inside: Rows
    least: Mask

    @property
    def inside_points(self) -> I64:
        """Points across the inside, shape (insides, n): never so few that no ring has room."""
        return np.maximum(self.inside.points, np.where(self.inside.odd, _LEAST_ODD, _LEAST_EVEN))

    def part(self, chosen: I64) -> Factors:
        """Some of the patches."""
        rows = (slice(None), chosen)
        return Factors(
            self.patches[chosen], self.edges[rows], self.inside[rows], self.least[chosen]
        )


def factors_of(domain: Domain, partitioning: Partitioning, edges: F32, inside: F32) -> Factors:
    """Factors as the tessellator takes them, from shapes (edges, n) and (insides, n).

    A patch with an edge that is not above 0, or no number, is not drawn.  Inside, what is no
    number is the least.
    """
    drawn = np.flatnonzero((edges > 0).all(axis=0))
    edges, inside = edges[:, drawn], inside[:, drawn]
    ranges, whole = _RANGES[partitioning], partitioning in _WHOLE
    if domain is Domain.DOMAIN_ISOLINE:
        return _of_lines(drawn, partitioning, edges)
    edges = _clamped(edges, ranges.least, ranges.most)
    least = np.full(len(drawn), ranges.least, np.float32)
    if partitioning is Partitioning.PARTITIONING_FRACTIONAL_ODD:
        above = (edges > _ABOVE_ONE).any(axis=0) | (inside > _ABOVE_ONE).any(axis=0)
        least = np.where(above, _RING, least)
    inside = _clamped(inside, least, ranges.most)
    outer, inner = _rows(partitioning, edges), _rows(partitioning, inside)
    if whole:
        # An inside of one segment is divided in two, so that there is a ring.
        inner = Rows(inner.fixed, inner.odd & (inner.fixed != ONE))
    all_one = (outer.fixed == ONE).all(axis=0) & (inner.fixed == ONE).all(axis=0)
    return Factors(drawn, outer, inner, all_one)


def _of_lines(drawn: I64, partitioning: Partitioning, edges: F32) -> Factors:
    """Densities are whole numbers, whatever the partitioning."""
    density = _rows(Partitioning.PARTITIONING_INTEGER, _clamped(edges[:1], *_DENSITY))
    detail = _rows(partitioning, _clamped(edges[1:], *_RANGES[partitioning]))
    rows = Rows(
        np.concatenate((density.fixed, detail.fixed)), np.concatenate((density.odd, detail.odd))
    )
    none = Rows(rows.fixed[:0], rows.odd[:0])
    return Factors(drawn, rows, none, np.zeros(len(drawn), np.bool_))


def _clamped(factors: F32, least: F32 | float, most: float) -> F32:
    """NaN becomes the least."""
    found: F32 = np.fmin(np.float32(most), np.fmax(np.float32(least), factors)).astype(np.float32)
    return found


def _rows(partitioning: Partitioning, factors: F32) -> Rows:
    """Fixed point, to nearest even; a product with a power of two is exact in float64."""
    whole = partitioning in _WHOLE
    rounded = np.ceil(factors) if whole else factors
    fixed = np.rint(rounded.astype(np.float64) * ONE).astype(np.int64)
    if whole:
        return Rows(fixed, fixed // ONE % 2 == 1)
    odd = partitioning is Partitioning.PARTITIONING_FRACTIONAL_ODD
    return Rows(fixed, np.full(fixed.shape, odd))


# Where the points of a row are: fixed point between 0 and 1 (SM4-5 tokens, "Tessellation").
#
# Of a factor between two whole ones points move from where the lower has them to where the upper
# has, which has one more on each half; the split point is where that one comes out of its
# neighbour.

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
