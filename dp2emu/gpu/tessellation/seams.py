"""Triangles between two rows of points that run the same way (SM4-5 tokens, "Tessellation").

A corner is ``2 * i`` for point i of the inner row, and ``2 * i + 1`` for point i of the outer one.
Triangles are clockwise, shape (3, n).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np

from dp2emu.d3d.enums10 import Domain
from dp2emu.gpu.arrays import I64, Mask, Words
from dp2emu.gpu.tessellation.rings import Rings, starts_of, unrolled

_POSITIONS = 33
"""Points of half a row at most, with the middle."""


def _ruler() -> tuple[int, ...]:
    """When each point of half a row appears as the factor grows: the end, then by halves."""
    order = [0]
    step = 16
    while step:
        order += range(1 + step, _POSITIONS, 2 * step)
        step //= 2
    order.append(1)
    ranks = {position: rank for rank, position in enumerate(order)}
    return tuple(ranks[position] for position in range(_POSITIONS))


RULER = _ruler()


class Side(NamedTuple):
    """Half a row: its points by rank, and whether a segment is in the middle of the whole."""

    ranks: int
    odd: bool


Triangle = tuple[int, int, int]


class _Walk:
    """Two rows being walked.  Mutable: where one is on each."""

    def __init__(self) -> None:
        self.inner = 0
        self.outer = 1

    def advance_inner(self) -> Triangle:
        """The triangle over the next segment of the inner row."""
        self.inner += 2
        return self.inner - 2, self.outer, self.inner

    def advance_outer(self) -> Triangle:
        """The triangle over the next segment of the outer row."""
        self.outer += 2
        return self.outer - 2, self.outer, self.inner


@cache
def transition(inner: Side, outer: Side) -> I64:
    """Between rows of different factors: both halves are walked in the order of the ruler."""
    return _array(_transition(_Walk(), inner, outer))


def _transition(walk: _Walk, inner: Side, outer: Side) -> Iterator[Triangle]:
    steps = [step for position, rank in enumerate(RULER)
             for step in _steps(position, rank, inner, outer)]  # fmt: skip
    for inside in steps:
        yield walk.advance_inner() if inside else walk.advance_outer()
    yield from _middle(walk, inner, outer)
    for inside in reversed(steps):
        yield walk.advance_inner() if inside else walk.advance_outer()


def _steps(position: int, rank: int, inner: Side, outer: Side) -> Iterator[bool]:
    """Whether the inner row goes on at a position, then whether the outer one does."""
    if position and rank < inner.ranks:
        yield True
    if rank < outer.ranks:
        yield False


def _middle(walk: _Walk, inner: Side, outer: Side) -> Iterator[Triangle]:
    """What is between the halves: nothing, a triangle, or two."""
    if inner.odd and outer.odd:
        yield walk.advance_inner()
        a, b = walk.inner, walk.outer
        walk.outer += 2
        yield a, b, walk.outer
    elif outer.odd:
        a, b = walk.inner, walk.outer
        walk.outer += 2
        yield a, b, walk.outer
    elif inner.odd:
        yield walk.advance_inner()


@cache
def trapezoid(points: int) -> I64:
    """Between an inner row of so many points and an outer one of two more; diagonals mirrored."""
    return _array(_trapezoid(_Walk(), points))


def _trapezoid(walk: _Walk, points: int) -> Iterator[Triangle]:
    yield walk.advance_outer()
    for place in range(points - 1):
        yield from _rising(walk) if place < points // 2 else _falling(walk)
    yield walk.advance_outer()


@cache
def strip(points: int, *, mirrored: bool) -> I64:
    """Between two rows of as many points.  ``mirrored``: but for the quad in the middle."""
    return _array(_strip(_Walk(), points, mirrored=mirrored))


def _strip(walk: _Walk, points: int, *, mirrored: bool) -> Iterator[Triangle]:
    for place in range(points - 1):
        if not mirrored:
            yield from _falling(walk)
        elif place == points // 2 - 1:
            yield from _rising(walk)
        else:
            yield from _outward(walk)


def _rising(walk: _Walk) -> Iterator[Triangle]:
    """A quad whose diagonal goes from the outer row forward to the inner one."""
    a, b = walk.outer, walk.inner
    walk.inner += 2
    walk.outer += 2
    yield a, walk.inner, b
    yield a, walk.outer, walk.inner


def _falling(walk: _Walk) -> Iterator[Triangle]:
    """A quad whose diagonal goes from the inner row forward to the outer one."""
    a, b = walk.inner, walk.outer
    walk.inner += 2
    walk.outer += 2
    yield a, b, walk.outer
    yield a, walk.outer, walk.inner


def _outward(walk: _Walk) -> Iterator[Triangle]:
    """The same quad, of which the outer row's triangle begins there."""
    first, second = _falling(walk)
    a, b, c = first
    yield b, c, a
    yield second


@cache
def centre() -> I64:
    """The triangle of an outer row that has three points in all."""
    return _array(iter([(1, 3, 5)]))


@cache
def square() -> I64:
    """The two triangles of an outer row that has four points in all."""
    return _array(iter([(1, 3, 7), (3, 5, 7)]))


def _array(triangles: Iterator[Triangle]) -> I64:
    found = np.array(list(triangles), np.int64).reshape(-1, 3)
    found.setflags(write=False)
    return found.T


# The triangles of triangles and quads: between rings, and inside the innermost.

_NOTHING, _CENTRE, _SQUARE, _STRIP, _MIRRORED, _TRAPEZOID, _TRANSITION = range(7)
"""Kinds of seams, in the lowest bits of what names the triangles of one."""

_KIND, _FIELD = 3, 7
"""Bits of a kind, and of each number after it."""


class _Row(msgspec.Struct, frozen=True):
    """Points of a seam: point i is ``start`` + (``at`` + i * ``step``) mod ``around``; where a
    ring is a row of points, ``folded``, what is beyond its end comes back.
    """

    start: I64
    at: I64
    around: I64
    step: I64 | int = 1
    folded: Mask | bool = False

    def points(self, seam: I64, index: I64) -> I64:
        """The points of so many of the seams."""
        step = self.step if isinstance(self.step, int) else self.step[seam]
        around = self.around[seam]
        place = (self.at[seam] + index * step) % around
        if not isinstance(self.folded, bool):
            place = np.where(self.folded[seam], np.minimum(place, around - place), place)
        found: I64 = self.start[seam] + place
        return found


def triangles(rings: Rings) -> tuple[I64, I64]:
    """Clockwise triangles of all patches in order, shape (3, n), and whose they are."""
    kinds = np.concatenate((_between(rings), _inside(rings)[:, None]), axis=1).reshape(-1)
    tables, counts, table = _tables(kinds)
    seam, place = unrolled(counts)
    codes = tables[:, starts_of(table[1])[table[0][seam]] + place]
    inner, outer = _inner(rings), _outer(rings)
    index = codes // 2
    found = np.where(codes % 2 == 1, outer.points(seam, index), inner.points(seam, index))
    return found, rings.patch[seam // (rings.shape.sides + 1)]


def _tables(kinds: I64) -> tuple[I64, I64, tuple[I64, I64]]:
    """Triangles of all kinds that occur, one kind after the other; how many each seam has; and
    which kind it is of, with the number of triangles of each.
    """
    names, kind = np.unique(kinds, return_inverse=True)
    found = [_table(int(name)) for name in names]
    sizes = np.array([each.shape[1] for each in found], np.int64)
    tables = np.concatenate((np.empty((3, 0), np.int64), *found), axis=1)
    return tables, sizes[kind], (kind, sizes)


def _name(kind: int, *numbers: I64 | Mask) -> I64:
    """What names the triangles of a seam of a kind: its numbers above it."""
    name = np.full(numbers[0].shape, kind, np.int64)
    for place, number in enumerate(numbers):
        name |= number.astype(np.int64) << _KIND + _FIELD * place
    return name


def _table(name: int) -> I64:
    """The triangles of what is so named."""
    kind = name & (1 << _KIND) - 1
    a, b, c, d = (name >> _KIND + _FIELD * place & (1 << _FIELD) - 1 for place in range(4))
    if kind == _TRANSITION:
        return transition(Side(a, bool(b)), Side(c, bool(d)))
    if kind == _TRAPEZOID:
        return trapezoid(a)
    if kind in (_STRIP, _MIRRORED):
        return strip(a, mirrored=kind == _MIRRORED)
    return {_NOTHING: np.empty((3, 0), np.int64), _CENTRE: centre(), _SQUARE: square()}[kind]


def _between(rings: Rings) -> I64:
    """What is between each side of a ring and that of the ring around it, if there is one."""
    edges, inside, patch = rings.factors.edges, rings.factors.inside, rings.patch
    along = list(rings.shape.along)
    first = _name(
        _TRANSITION,
        inside.ranks[along].T[patch],
        inside.odd[along].T[patch],
        edges.ranks.T[patch],
        edges.odd.T[patch],
    )
    others = _name(_TRAPEZOID, np.maximum(rings.segments, 0) + 1)
    number = rings.number[:, None]
    return np.where(number == 0, _NOTHING, np.where(number == 1, first, others))


def _inside(rings: Rings) -> I64:
    """What is inside each ring: something in the innermost, unless that is a row of points."""
    room = rings.last & (rings.points == rings.segments).all(axis=1)
    if rings.domain is Domain.DOMAIN_TRI:
        return np.where(room, _CENTRE, _NOTHING)
    upright = _upright(rings)
    longest = np.where(upright, rings.segments[:, 0], rings.segments[:, 1]) + 1
    mirrored = upright & (longest % 2 == 0)
    strips = np.where(mirrored, _name(_MIRRORED, longest), _name(_STRIP, longest))
    least = rings.factors.least[rings.patch]
    return np.where(room, np.where(least, _SQUARE, strips), _NOTHING)


def _upright(rings: Rings) -> Mask:
    """Whether the innermost ring runs along v rather than along u."""
    across = rings.factors.inside_points
    found: Mask = (across[1] >= across[0])[rings.patch]
    return found


def _around(rings: Rings) -> I64:
    """How many steps it is around each ring."""
    around: I64 = np.maximum(rings.segments.sum(axis=1), 1)
    return around


def _offsets(rings: Rings) -> I64:
    """Steps from the first point of a ring to where its sides begin."""
    offsets: I64 = np.cumsum(rings.segments, axis=1) - rings.segments
    return offsets


def _seams(sides: Words, inside: Words) -> Words:
    """One value for each side of each ring, shape (rings, sides), then one for its inside."""
    found: Words = np.concatenate((sides, inside[:, None]), axis=1).reshape(-1)
    return found


def _outer(rings: Rings) -> _Row:
    """Rows of points on the ring around; inside the innermost it is this ring itself."""
    before = np.maximum(np.arange(len(rings.patch)) - 1, 0)
    starts, around, offsets = rings.starts, _around(rings), _offsets(rings)
    first = np.zeros_like(starts)
    if rings.domain is Domain.DOMAIN_QUAD:
        first = np.where(_upright(rings) | rings.factors.least[rings.patch], 0, 1)
    return _Row(
        start=_seams(_by_side(rings, starts[before]), starts),
        at=_seams(offsets[before], first),
        around=_seams(_by_side(rings, around[before]), around),
    )


def _inner(rings: Rings) -> _Row:
    """Rows of points on the ring itself; inside the innermost the side opposite, backwards."""
    starts, around = rings.starts, _around(rings)
    row = (rings.points != rings.segments).any(axis=1)
    opposite = around
    if rings.domain is Domain.DOMAIN_QUAD:
        opposite = np.where(_upright(rings), around - 1, around)
    return _Row(
        start=_seams(_by_side(rings, starts), starts),
        at=_seams(_offsets(rings), opposite),
        around=_seams(_by_side(rings, around), around),
        step=_seams(np.ones_like(rings.segments), np.full(len(starts), -1)),
        folded=_seams(_by_side(rings, row), row),
    )


def _by_side(rings: Rings, values: Words) -> Words:
    """What rings have, for each of their sides."""
    return np.repeat(values[:, None], rings.shape.sides, axis=1)
