"""Tessellation factors, clamped and rounded, and the points they divide rows into (SM4-5 tokens,
"Tessellation").
"""

from __future__ import annotations

import msgspec
import numpy as np

from dp2emu.d3d.enums10 import Domain, Partitioning
from dp2emu.gpu.arrays import F32, I64, Mask

ONE = 1 << 16
"""The number 1 in units of 1/65536."""

HALF = ONE // 2

EDGES = {Domain.DOMAIN_ISOLINE: 2, Domain.DOMAIN_TRI: 3, Domain.DOMAIN_QUAD: 4}
"""From domain to its number of edge factors (U = 0 first; isolines: density, then detail)."""

INSIDES = {Domain.DOMAIN_ISOLINE: 0, Domain.DOMAIN_TRI: 1, Domain.DOMAIN_QUAD: 2}
"""From domain to its number of inside factors: isoline 0, triangle 1, quad 2."""

_RANGES = {
    Partitioning.PARTITIONING_INTEGER: (1, 64),
    Partitioning.PARTITIONING_POW2: (1, 64),
    Partitioning.PARTITIONING_FRACTIONAL_ODD: (1, 63),
    Partitioning.PARTITIONING_FRACTIONAL_EVEN: (2, 64),
}
"""From partitioning to the least and the greatest tessellation factor that it allows."""

_WHOLE = (Partitioning.PARTITIONING_INTEGER, Partitioning.PARTITIONING_POW2)

_ABOVE_ONE = np.float32(1 + 2**-17)
"""Tessellation factors above this round to more than 1 in units of 1/65536."""

_RING = np.float32(1 + 2**-16)
"""Least inside factor, in odd partitioning, of a patch with any factor above 1: above 1 too,
though only just, so that the patch has an inner ring of points."""

_LEAST_EVEN, _LEAST_ODD = 3, 4
"""Least number of points across a patch's inside, for an even and an odd number of segments."""


class Rows(msgspec.Struct, frozen=True):
    """Tessellation factors of rows of points, ``fixed`` in 1/65536, and whether each row has an
    ``odd`` number of segments.
    """

    fixed: I64
    odd: Mask

    def __getitem__(self, chosen: I64 | int | tuple[I64 | slice, ...]) -> Rows:
        return Rows(self.fixed[chosen], self.odd[chosen])

    @property
    def half(self) -> I64:
        """Half of each factor, in 1/65536, plus half a segment if the row has a middle segment."""
        half: I64 = (self.fixed + 1) // 2
        # A factor of 1 that counts as even has two segments.
        return half + np.where(self.odd | (half == HALF), HALF, 0)

    @property
    def points(self) -> I64:
        """Number of points of each row, both ends included."""
        whole: I64 = -(-((self.fixed + 1) // 2 + np.where(self.odd, HALF, 0)) // ONE) * 2
        return whole + np.where(self.odd, 0, 1)

    @property
    def ranks(self) -> I64:
        """Number of segments in half of each row, not counting one in the row's middle."""
        ceiling: I64 = -(-self.half // ONE)
        return ceiling - self.odd


class Factors(msgspec.Struct, frozen=True):
    """Factors of the patches that are not culled, whose indices are ``patches``.

    ``edges`` have shape (edges, n), ``inside`` (insides, n).  ``least``: all factors are 1, so
    that the points are the corners of the domain.
    """

    patches: I64
    edges: Rows
    inside: Rows
    least: Mask

    @property
    def inside_points(self) -> I64:
        """Number of points across the inside of each patch, shape (insides, n): at least 3, or 4
        if the number of segments is odd, so that an inner ring exists.
        """
        return np.maximum(self.inside.points, np.where(self.inside.odd, _LEAST_ODD, _LEAST_EVEN))

    def part(self, chosen: I64) -> Factors:
        """Factors of the patches at the indices ``chosen``."""
        rows = (slice(None), chosen)
        return Factors(
            self.patches[chosen], self.edges[rows], self.inside[rows], self.least[chosen]
        )


def factors_of(domain: Domain, partitioning: Partitioning, edges: F32, inside: F32) -> Factors:
    """Clamped, rounded factors from float32 arrays of shapes (edges, n) and (insides, n).

    A patch with an edge factor of 0, below, or NaN is culled.  An inside factor of NaN becomes the
    least.
    """
    drawn = np.flatnonzero((edges > 0).all(axis=0))
    edges, inside = edges[:, drawn], inside[:, drawn]
    if domain is Domain.DOMAIN_ISOLINE:
        return _isoline_factors(drawn, partitioning, edges)
    lowest, most = _RANGES[partitioning]
    edges = _clamped(edges, lowest, most)
    least = np.full(len(drawn), lowest, np.float32)
    if partitioning is Partitioning.PARTITIONING_FRACTIONAL_ODD:
        above = (edges > _ABOVE_ONE).any(axis=0) | (inside > _ABOVE_ONE).any(axis=0)
        least = np.where(above, _RING, least)
    inside = _clamped(inside, least, most)
    outer, inner = _rows(partitioning, edges), _rows(partitioning, inside)
    if partitioning in _WHOLE:
        # An inside of one segment is divided in two to make room for a ring.
        inner = Rows(inner.fixed, inner.odd & (inner.fixed != ONE))
    all_one = (outer.fixed == ONE).all(axis=0) & (inner.fixed == ONE).all(axis=0)
    return Factors(drawn, outer, inner, all_one)


def _isoline_factors(drawn: I64, partitioning: Partitioning, edges: F32) -> Factors:
    """Factors of isoline patches, whose indices are ``drawn``, from ``edges``: line density, which
    is rounded up to an integer under any partitioning, and line detail.
    """
    integer = Partitioning.PARTITIONING_INTEGER
    density = _rows(integer, _clamped(edges[:1], *_RANGES[integer]))
    detail = _rows(partitioning, _clamped(edges[1:], *_RANGES[partitioning]))
    rows = Rows(
        np.concatenate((density.fixed, detail.fixed)), np.concatenate((density.odd, detail.odd))
    )
    return Factors(drawn, rows, rows[np.arange(0)], np.zeros(len(drawn), np.bool_))


def _clamped(factors: F32, least: F32 | float, most: float) -> F32:
    """Factors clamped to a range; NaN becomes the least."""
    found: F32 = np.fmin(np.float32(most), np.fmax(np.float32(least), factors)).astype(np.float32)
    return found


def _rows(partitioning: Partitioning, factors: F32) -> Rows:
    """Convert float32 factors to 1/65536, rounded half to even; where ``partitioning`` allows only
    whole factors, they are rounded up first.
    """
    whole = partitioning in _WHOLE
    rounded = np.ceil(factors) if whole else factors
    fixed = np.rint(rounded.astype(np.float64) * ONE).astype(np.int64)
    if whole:
        return Rows(fixed, fixed // ONE % 2 == 1)
    odd = partitioning is Partitioning.PARTITIONING_FRACTIONAL_ODD
    return Rows(fixed, np.full(fixed.shape, odd))


# Positions of the points of a row, in fixed point between 0 and 1.
#
# With a fractional factor points move from their positions under the whole factor below to those
# under the one above, which has one more point on each half; that point emerges from its
# neighbour, the split point.

_SEGMENTS = 2 * 65
"""Length of the tables indexed by a row's number of segments: greater than any such number."""

_RECIPROCALS = np.array([0, *((2 * ONE + n) // (2 * n) for n in range(1, _SEGMENTS))], np.int64)
"""From number of segments n to 1 / n in units of 1/65536, rounded (0 for n = 0)."""


_REMAINDERS = np.array([n & ~(1 << n.bit_length() >> 1) for n in range(_SEGMENTS)], np.int64)
"""From number of segments n to n with its highest set bit cleared."""

_NO_SPLIT = _SEGMENTS
"""Result of ``_split`` for whole factors, which move no point: greater than all point numbers."""


def position_of(rows: Rows, point: I64) -> I64:
    """Positions, in 1/65536, of the points numbered ``point`` on ``rows``, arrays of one shape.

    The second half of a row mirrors the first, so that it is the same from both ends.
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
    """Positions, in 1/65536, of points in the first half of rows: interpolated between those under
    the next lower and the next higher whole factor.
    """
    floor, ceiling, fraction = half // ONE, -(-half // ONE), half % ONE
    lower = point - (point > _split(rows, floor, fraction))
    before = lower * _RECIPROCALS[2 * floor - rows.odd]
    after = point * _RECIPROCALS[2 * ceiling - rows.odd]
    return (before * (ONE - fraction) + after * fraction + HALF) // ONE


def _split(rows: Rows, floor: I64, fraction: I64) -> I64:
    """In the first half of each row, the number of the last point before the one that the next
    higher whole factor adds; ``_NO_SPLIT`` for a whole factor.
    """
    split: I64 = 2 * _REMAINDERS[floor - rows.odd] + 1
    split = np.where(rows.odd & (floor == 1), 0, split)
    return np.where(fraction == 0, _NO_SPLIT, split)
