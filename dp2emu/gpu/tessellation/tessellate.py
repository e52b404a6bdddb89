"""Domain points and primitives of tessellated patches (SM4-5 tokens, "Tessellation").

Coordinates are integers in units of 1/65536.  All patches are tessellated at once, and the
result for one does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.gpu.arrays import F32, I64, Mask, Words, expand
from dp2emu.gpu.tessellation.factors import ONE, Factors, Rows, factors_of, position_of


class Counts(NamedTuple):
    """Number of domain points and of primitives of each patch, shape (n,)."""

    points: I64
    primitives: I64


class Tessellation(msgspec.Struct, frozen=True):
    """Domain points and primitives of patches; all arrays are int64.

    ``owner`` is the patch of each point, ``u`` and ``v`` its domain coordinates.  ``corners``,
    shape (1 to 3, m), are point numbers of each primitive, and ``patch`` is its patch.
    """

    owner: I64
    u: I64
    v: I64
    corners: I64
    patch: I64


class Tessellator(msgspec.Struct, frozen=True):
    """Tessellator declaration of a hull shader: domain, partitioning, output primitive."""

    domain: Domain
    partitioning: Partitioning
    output: OutputPrimitive

    def factors(self, edges: F32, inside: F32) -> Factors:
        """Clamped and rounded factors, from shapes (EDGES, n) and (INSIDES, n)."""
        return factors_of(self.domain, self.partitioning, edges, inside)

    def counts(self, factors: Factors) -> Counts:
        """Number of points and primitives of each patch."""
        if self.domain is Domain.DOMAIN_ISOLINE:
            lines, points = _isoline_counts(factors), factors.edges.points[1]
            pointed = self.output is OutputPrimitive.OUTPUT_POINT
            return Counts(lines * points, lines * (points if pointed else points - 1))
        edges, across = factors.edges.points, factors.inside_points
        around = edges.sum(axis=0) - len(edges)
        across = np.where(factors.least, 2, across)
        if self.domain is Domain.DOMAIN_QUAD:
            inside = (across - 2).prod(axis=0)
        else:
            half, odd = np.divmod(across[0] - 2, 2)
            inside = np.where(odd, 3 * half * (half + 1) + 1, 3 * half * half)
        return Counts(around + inside, self._primitives(around, inside))

    def _primitives(self, around: I64, inside: I64) -> I64:
        if self.output is OutputPrimitive.OUTPUT_POINT:
            return around + inside
        if self.output is OutputPrimitive.OUTPUT_LINE:
            return around + inside - 1
        return around + 2 * inside - 2  # Euler's formula for a triangulated disc

    def tessellate(self, factors: Factors) -> Tessellation:
        """Points and primitives in patch order; line primitives join consecutive points."""
        if self.domain is Domain.DOMAIN_ISOLINE:
            owner, u, v = _isoline_points(factors)
            lines = factors.edges.points[1], _isoline_counts(factors)
            corners, patch = self._points_or_lines(np.repeat(lines[0], lines[1]), owner)
        else:
            rings = rings_of(self.domain, factors)
            u, v = positions(rings)
            owner = np.repeat(rings.patch, rings.points.sum(axis=1))
            if self.output in (OutputPrimitive.OUTPUT_POINT, OutputPrimitive.OUTPUT_LINE):
                corners, patch = self._points_or_lines(self.counts(factors).points, owner)
            else:
                corners, patch = triangles(rings)
        if self.output is OutputPrimitive.OUTPUT_TRIANGLE_CCW and len(corners) == 3:
            corners = corners[[0, 2, 1]]
        return Tessellation(factors.patches[owner], u, v, corners, factors.patches[patch])

    def _points_or_lines(self, lengths: I64, owner: I64) -> tuple[I64, I64]:
        """Point numbers of points, shape (1, n), or of segments of line strips of ``lengths``
        points, shape (2, n), and the patch of each; ``owner`` is the patch of each point.
        """
        if self.output is OutputPrimitive.OUTPUT_POINT:
            return np.arange(len(owner))[None], owner
        run, place = expand(lengths - 1)
        first = _starts(lengths)[run] + place
        return np.stack((first, first + 1)), owner[first]


def _isoline_counts(factors: Factors) -> I64:
    """Number of lines of each patch; there is none at v = 1."""
    lines: I64 = factors.edges.points[0] - 1
    return lines


def _isoline_points(factors: Factors) -> tuple[I64, I64, I64]:
    """Patch, u and v of the points of isolines, line after line."""
    patch, line = expand(_isoline_counts(factors))
    run, point = expand(factors.edges.points[1][patch])
    owner = patch[run]
    density, detail = (factors.edges[n] for n in range(2))
    return owner, position_of(detail[owner], point), position_of(density[owner], line[run])


def _starts(counts: I64) -> I64:
    """Index of the first element of each group, for consecutive groups of ``counts`` elements."""
    starts: I64 = np.cumsum(counts) - counts
    return starts


# Concentric rings of points, from the outermost inwards
#
# Ring 0 has the edge factors, the others the inside factors.  Each side of a ring owns its first
# point.  A ring without width is a row of points that owns its last point too; around it means
# there and back.

_TWO_THIRDS = 0xAAAA


class DomainShape(msgspec.Struct, frozen=True):
    """Where the sides of a domain's rings lie; every tuple has an item for each side.

    ``along`` is the number of the inside factor that divides the side, ``across`` the number
    of the inside factor of the perpendicular axis.  ``forward``: the coordinate along the side
    grows from 0 to 1.  ``far``: on the perpendicular axis the side lies near 1, not near 0.
    """

    along: tuple[int, ...]
    across: tuple[int, ...]
    forward: tuple[bool, ...]
    far: tuple[bool, ...]

    @property
    def sides(self) -> int:
        """Number of sides, 3 or 4."""
        return len(self.along)


SHAPES = {
    Domain.DOMAIN_TRI: DomainShape((0, 0, 0), (0, 0, 0), (False, True, False), (False,) * 3),
    Domain.DOMAIN_QUAD: DomainShape(
        (1, 0, 1, 0), (0, 1, 0, 1), (False, True, True, False), (False, False, True, True)
    ),
}


class Rings(msgspec.Struct, frozen=True):
    """Concentric rings of points of all patches, in order.

    ``patch`` is the patch's index, ``number`` counts its rings from the outermost, 0, and ``last``
    marks its innermost.  ``segments`` and ``points`` of the sides have shape (rings, sides).
    """

    domain: Domain
    factors: Factors
    patch: I64
    number: I64
    last: Mask
    segments: I64
    points: I64

    @property
    def shape(self) -> DomainShape:
        """Axis, direction and position of the sides of rings in this domain, triangle or quad."""
        return SHAPES[self.domain]

    @property
    def starts(self) -> I64:
        """Number of the first point of each ring, counted over all patches."""
        return _starts(self.points.sum(axis=1))


def rings_of(domain: Domain, factors: Factors) -> Rings:
    """Concentric rings of domain points, from the outermost to the innermost, of all patches in
    ``factors``; the domain is a triangle or a quad.
    """
    shape, across = SHAPES[domain], factors.inside_points
    count = np.where(factors.least, 1, (across.min(axis=0) + 1) // 2)
    patch, number = expand(count)
    outer = factors.edges.points.T[patch] - 1
    inner = across[list(shape.along)].T[patch] - 1 - 2 * number[:, None]
    segments = np.where(number[:, None] == 0, outer, inner)
    points = _ring_points(segments, number)
    return Rings(domain, factors, patch, number, number == count[patch] - 1, segments, points)


def _ring_points(segments: I64, number: I64) -> I64:
    """Number of points that each side of a ring owns, shape (rings, sides): one for each segment;
    of a ring without width, the longest side owns all points and the others none.
    """
    row = (number > 0) & (segments == 0).any(axis=1)
    longest = np.argmax(segments, axis=1)
    found = np.where(row[:, None], 0, segments)
    rows = np.flatnonzero(row)
    found[rows, longest[rows]] = segments[rows, longest[rows]] + 1
    return found


def positions(rings: Rings) -> tuple[I64, I64]:
    """Coordinates u and v of all points in order, in 1/65536."""
    shape = rings.shape
    owner, place_on_side = expand(rings.points.reshape(-1))
    ring, side = owner // shape.sides, owner % shape.sides
    number, patch = rings.number[ring], rings.patch[ring]
    segments = rings.segments[ring, side]
    forward = np.array(shape.forward)[side]
    point = number + np.where(forward, place_on_side, segments - place_on_side)
    parameter = position_of(_rows_along(rings, number, side, patch), point)
    u, v = _UV[rings.domain](rings, side, number, patch, parameter)
    if rings.domain is Domain.DOMAIN_QUAD:
        # A quad of four points begins with its second corner.
        first = rings.starts[rings.factors.least[rings.patch], None]
        here, there = first + np.arange(4), first + np.arange(1, 5) % 4
        u[here], v[here] = u[there], v[there]
    return u, v


def _rows_along(rings: Rings, number: I64, side: I64, patch: I64) -> Rows:
    """For each point, the tessellation factor that divides its ring side: an edge factor on ring
    0, an inside factor on inner rings.
    """
    outer, inner = rings.factors.edges, rings.factors.inside
    axis = np.array(rings.shape.along)[side]
    return Rows(
        np.where(number == 0, outer.fixed[side, patch], inner.fixed[axis, patch]),
        np.where(number == 0, outer.odd[side, patch], inner.odd[axis, patch]),
    )


def _across(rings: Rings, side: I64, number: I64, patch: I64) -> I64:
    """Coordinate, in 1/65536, of each point's ring side on the axis perpendicular to that side."""
    axis, far = np.array(rings.shape.across)[side], np.array(rings.shape.far)[side]
    ring = np.where(far, rings.factors.inside_points[axis, patch] - 1 - number, number)
    inside = rings.factors.inside[axis, patch]
    return np.where(
        number == 0, np.where(far, ONE, 0), position_of(inside, np.where(number, ring, 0))
    )


def _quad_uv(rings: Rings, side: I64, number: I64, patch: I64, parameter: I64) -> tuple[I64, I64]:
    across, even = _across(rings, side, number, patch), side % 2 == 0
    return np.where(even, across, parameter), np.where(even, parameter, across)


def _triangle_uv(
    rings: Rings, side: I64, number: I64, patch: I64, parameter: I64
) -> tuple[I64, I64]:
    """Coordinates u and v, in 1/65536, of points on the rings of triangles.

    A ring's side lies at two thirds of ``_across`` from the domain's edge; half of this distance
    is subtracted from ``parameter``, the coordinate along the side.
    """
    across = (_across(rings, side, number, patch) * _TWO_THIRDS + ONE // 2) // ONE
    along = parameter - (across + 1) // 2
    u = np.where(side == 0, across, along)
    return u, np.choose(side, (along, across, ONE - along - across))


_UV: dict[Domain, Callable[[Rings, I64, I64, I64, I64], tuple[I64, I64]]] = {
    Domain.DOMAIN_TRI: _triangle_uv,
    Domain.DOMAIN_QUAD: _quad_uv,
}

# Strips of triangles between an inner and an outer row of points that run the same way
#
# A corner code is ``2 * i`` for point i of the inner row, and ``2 * i + 1`` for point i of the
# outer one.  Triangles are clockwise, shape (3, n).

_ORDER = (0, *(n for step in (16, 8, 4, 2, 1) for n in range(1 + step, 33, 2 * step)), 1)
"""Numbers of the points in half a row (33 at most, point 0 at the row's end) in the order in which
they appear as the tessellation factor grows."""

RULER: tuple[int, ...] = tuple(np.argsort(_ORDER).tolist())
"""From number of a point in half a row, counted from the row's end, to its rank: how many other
points of the half appear earlier as the tessellation factor grows."""


class Side(NamedTuple):
    """Half of a row of points: ``ranks``, its number of segments without a middle one, and
    ``odd``, whether a segment lies in the middle of the whole row.
    """

    ranks: int
    odd: bool


Triangle = tuple[int, int, int]


class _Walk:
    """Walk along two rows of points; ``inner`` and ``outer`` are the corner codes of the current
    points: 2 i for point i of the inner row, 2 i + 1 for point i of the outer row.  Mutable.
    """

    def __init__(self) -> None:
        self.inner = 0
        self.outer = 1

    def advance_inner(self) -> Triangle:
        """Step along the inner row -> triangle of the two inner points and the outer point."""
        self.inner += 2
        return self.inner - 2, self.outer, self.inner

    def advance_outer(self) -> Triangle:
        """Step along the outer row -> triangle of the two outer points and the inner point."""
        self.outer += 2
        return self.outer - 2, self.outer, self.inner

    def advance_both(self) -> tuple[int, int]:
        """Step along both rows -> corner codes of the inner and outer point before the step."""
        self.inner += 2
        self.outer += 2
        return self.inner - 2, self.outer - 2


@cache
def transition(inner: Side, outer: Side) -> I64:
    """Triangles, as corner codes of shape (3, n), between rows of different tessellation factors;
    inner and outer points with the same index in ``RULER`` face each other.
    """
    return _array(_transition(_Walk(), inner, outer))


def _transition(walk: _Walk, inner: Side, outer: Side) -> Iterator[Triangle]:
    steps: list[Callable[[], Triangle]] = []
    for position, rank in enumerate(RULER):
        if position and rank < inner.ranks:
            steps.append(walk.advance_inner)
        if rank < outer.ranks:
            steps.append(walk.advance_outer)
    for advance in steps:
        yield advance()
    if inner.odd:
        yield walk.advance_inner()
    if outer.odd:
        start, end, opposite = walk.advance_outer()
        yield opposite, start, end
    for advance in reversed(steps):
        yield advance()


@cache
def trapezoid(points: int) -> I64:
    """Triangles, as corner codes of shape (3, n), between ``points`` inner and ``points`` + 2
    outer points; the diagonals of the second half mirror those of the first.
    """
    return _array(_trapezoid(_Walk(), points))


def _trapezoid(walk: _Walk, points: int) -> Iterator[Triangle]:
    yield walk.advance_outer()
    for quad in range(points - 1):
        yield from _rising(walk) if quad < points // 2 else _falling(walk)
    yield walk.advance_outer()


@cache
def strip(points: int, *, mirrored: bool) -> I64:
    """Triangles, as corner codes, between rows of ``points``; ``mirrored``: middle diagonal
    flipped.
    """
    return _array(_strip(_Walk(), points, mirrored=mirrored))


def _strip(walk: _Walk, points: int, *, mirrored: bool) -> Iterator[Triangle]:
    for quad in range(points - 1):
        if mirrored and quad == points // 2 - 1:
            yield from _rising(walk)
            continue
        (a, b, c), second = _falling(walk)
        yield (b, c, a) if mirrored else (a, b, c)
        yield second


def _rising(walk: _Walk) -> tuple[Triangle, Triangle]:
    """Step along both rows -> two triangles that fill the quad passed, divided by the diagonal
    from its first outer to its second inner point.
    """
    inner, outer = walk.advance_both()
    return (outer, walk.inner, inner), (outer, walk.outer, walk.inner)


def _falling(walk: _Walk) -> tuple[Triangle, Triangle]:
    """Step along both rows -> two triangles that fill the quad passed, divided by the diagonal
    from its first inner to its second outer point.
    """
    inner, outer = walk.advance_both()
    return (inner, outer, walk.outer), (inner, walk.outer, walk.inner)


def _array(triangles: Iterable[Triangle]) -> I64:
    found = np.array(list(triangles), np.int64).reshape(-1, 3)
    found.setflags(write=False)
    return found.T


EMPTY, CENTRE, SQUARE = (_array(each) for each in ((), [(1, 3, 5)], [(1, 3, 7), (3, 5, 7)]))
"""Triangles inside an innermost ring: none, one for a ring of three points, two for one of four.
Corners are codes: 2 i + 1 for point i of the ring."""

# Seams: the strips between rings, and the inside of the innermost ring

_EMPTY, _CENTRE, _SQUARE, _STRIP, _MIRRORED, _TRAPEZOID, _TRANSITION = range(7)
"""Ways to triangulate a seam (the strip between two rings, or the inside of the innermost one)."""

_KIND, _FIELD = 3, 7
"""Numbers of bits in a seam key (``_key``): of the kind of triangulation, which is lowest, and of
each parameter above it."""


class _SeamRows(msgspec.Struct, frozen=True):
    """For each seam, the row of points on one side of it, which is a part of a ring: point i of
    the row is point number ``start`` + (``at`` + i * ``step``) mod ``around`` of all points.
    ``folded``: the ring has no width; its second half is the first half backwards.
    """

    start: I64
    at: I64
    around: I64
    step: I64 | int = 1
    folded: Mask | bool = False

    def points(self, seam: I64, index: I64) -> I64:
        """Numbers of the points with the indices ``index`` on the rows of seams ``seam``."""
        step = self.step if isinstance(self.step, int) else self.step[seam]
        around = self.around[seam]
        place = (self.at[seam] + index * step) % around
        if not isinstance(self.folded, bool):
            place = np.where(self.folded[seam], np.minimum(place, around - place), place)
        found: I64 = self.start[seam] + place
        return found


def triangles(rings: Rings) -> tuple[I64, I64]:
    """Clockwise triangles of all patches in order, shape (3, n), and the patch of each."""
    keys = np.concatenate((_between(rings), _inside(rings)[:, None]), axis=1).reshape(-1)
    names, kind = np.unique(keys, return_inverse=True)
    found = [_seam_triangles(int(name)) for name in names]
    sizes = np.array([each.shape[1] for each in found], np.int64)
    seam, place = expand(sizes[kind])
    codes = np.concatenate((EMPTY, *found), axis=1)[:, _starts(sizes)[kind[seam]] + place]
    inner, outer = _inner(rings), _outer(rings)
    index = codes // 2
    points = np.where(codes % 2 == 1, outer.points(seam, index), inner.points(seam, index))
    return points, rings.patch[seam // (rings.shape.sides + 1)]


def _key(kind: int, *numbers: I64 | Mask) -> I64:
    """Pack a kind of seam and its parameters ``numbers`` to integer keys; seams with equal keys
    have the same triangulation.
    """
    key = np.full(numbers[0].shape, kind, np.int64)
    for field, number in enumerate(numbers):
        key |= number.astype(np.int64) << _KIND + _FIELD * field
    return key


def _seam_triangles(key: int) -> I64:
    """Triangles, shape (3, n), that fill a seam with ``key`` (``_key``).  Corner 2 i is point i of
    the seam's inner row, 2 i + 1 point i of its outer row.
    """
    kind = key & (1 << _KIND) - 1
    a, b, c, d = (key >> _KIND + _FIELD * field & (1 << _FIELD) - 1 for field in range(4))
    if kind == _TRANSITION:
        return transition(Side(a, bool(b)), Side(c, bool(d)))
    if kind == _TRAPEZOID:
        return trapezoid(a)
    if kind in (_STRIP, _MIRRORED):
        return strip(a, mirrored=kind == _MIRRORED)
    return {_EMPTY: EMPTY, _CENTRE: CENTRE, _SQUARE: SQUARE}[kind]


def _between(rings: Rings) -> I64:
    """Seam keys (``_key``), shape (rings, sides), of the seams between each side of a ring and the
    next outer ring; ``_EMPTY`` for outermost rings.
    """
    edges, inside, patch = rings.factors.edges, rings.factors.inside, rings.patch
    along = list(rings.shape.along)
    rows = (inside.ranks[along], inside.odd[along], edges.ranks, edges.odd)
    first = _key(_TRANSITION, *(row.T[patch] for row in rows))
    others = _key(_TRAPEZOID, np.maximum(rings.segments, 0) + 1)
    number = rings.number[:, None]
    return np.where(number == 0, _EMPTY, np.where(number == 1, first, others))


def _inside(rings: Rings) -> I64:
    """For each ring, the key (``_key``) of the seam inside it: ``_EMPTY`` unless the ring is the
    innermost of its patch and has width.
    """
    room = rings.last & (rings.points == rings.segments).all(axis=1)
    if rings.domain is Domain.DOMAIN_TRI:
        return np.where(room, _CENTRE, _EMPTY)
    upright = _upright(rings)
    longest = np.where(upright, rings.segments[:, 0], rings.segments[:, 1]) + 1
    mirrored = upright & (longest % 2 == 0)
    strips = np.where(mirrored, _key(_MIRRORED, longest), _key(_STRIP, longest))
    least = rings.factors.least[rings.patch]
    return np.where(room, np.where(least, _SQUARE, strips), _EMPTY)


def _upright(rings: Rings) -> Mask:
    """For each ring of a quad, whether its patch has at least as many points along v as u."""
    across = rings.factors.inside_points
    found: Mask = (across[1] >= across[0])[rings.patch]
    return found


def _around(rings: Rings) -> I64:
    """Number of segments around each ring, at least 1."""
    around: I64 = np.maximum(rings.segments.sum(axis=1), 1)
    return around


def _offsets(rings: Rings) -> I64:
    """Segments from a ring's first point to the start of each side, shape (rings, sides)."""
    offsets: I64 = np.cumsum(rings.segments, axis=1) - rings.segments
    return offsets


def _seams(sides: Words, inside: Words) -> Words:
    """Join values of ring sides, shape (rings, sides), and of the insides of rings, shape
    (rings,), in seam order: for each ring its sides, then its inside.
    """
    found: Words = np.concatenate((sides, inside[:, None]), axis=1).reshape(-1)
    return found


def _outer(rings: Rings) -> _SeamRows:
    """For each seam, the row of its outer points: a side of the next outer ring or, for the seam
    inside a ring, points of the ring itself.
    """
    before = np.maximum(np.arange(len(rings.patch)) - 1, 0)
    starts, around, offsets = rings.starts, _around(rings), _offsets(rings)
    first = np.zeros_like(starts)
    if rings.domain is Domain.DOMAIN_QUAD:
        first = np.where(_upright(rings) | rings.factors.least[rings.patch], 0, 1)
    return _SeamRows(
        start=_seams(_by_side(rings, starts[before]), starts),
        at=_seams(offsets[before], first),
        around=_seams(_by_side(rings, around[before]), around),
    )


def _inner(rings: Rings) -> _SeamRows:
    """For each seam, the row of its inner points: a side of the ring or, for the seam inside a
    ring, points of the ring's opposite side, backwards.
    """
    starts, around = rings.starts, _around(rings)
    row = (rings.points != rings.segments).any(axis=1)
    opposite = around
    if rings.domain is Domain.DOMAIN_QUAD:
        opposite = np.where(_upright(rings), around - 1, around)
    return _SeamRows(
        start=_seams(_by_side(rings, starts), starts),
        at=_seams(_offsets(rings), opposite),
        around=_seams(_by_side(rings, around), around),
        step=_seams(np.ones_like(rings.segments), np.full(len(starts), -1)),
        folded=_seams(_by_side(rings, row), row),
    )


def _by_side(rings: Rings, values: Words) -> Words:
    """Repeat ``values``, one for each ring, for each side -> shape (rings, sides)."""
    return np.repeat(values[:, None], rings.shape.sides, axis=1)
