"""Triangles and quads as rings of points, from the outermost inwards (SM4-5 tokens,
"Tessellation").

Ring 0 has the edges' factors, the others those of the inside.  Each side of a ring has the point
it begins with, and the next side the one it ends with.  A ring without width is a row of points,
of which the last stands as well; to go around it is to go there and back.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from dp2emu.d3d.enums10 import Domain
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.tessellation.factors import ONE, Factors, Rows, place

_TWO_THIRDS = 0xAAAA


class Shape(msgspec.Struct, frozen=True):
    """``along`` is the row of inside factors that divides each side, ``across`` the one whose
    points the rings pass through there; ``forward`` whether the side runs from 0 to 1, and
    ``far`` whether it lies at the end of the row across.
    """

    along: tuple[int, ...]
    across: tuple[int, ...]
    forward: tuple[bool, ...]
    far: tuple[bool, ...]

    @property
    def sides(self) -> int:
        """Three or four."""
        return len(self.along)


SHAPES = {
    Domain.DOMAIN_TRI: Shape((0, 0, 0), (0, 0, 0), (False, True, False), (False,) * 3),
    Domain.DOMAIN_QUAD: Shape(
        (1, 0, 1, 0), (0, 1, 0, 1), (False, True, True, False), (False, False, True, True)
    ),
}


class Rings(msgspec.Struct, frozen=True):
    """The rings of all patches in order: whose they are, and which; ``last`` ones are innermost.

    ``segments`` and ``points`` of their sides have shape (rings, sides).
    """

    domain: Domain
    factors: Factors
    patch: I64
    number: I64
    last: Mask
    segments: I64
    points: I64

    @property
    def shape(self) -> Shape:
        """The sides."""
        return SHAPES[self.domain]

    @property
    def starts(self) -> I64:
        """The first point of each ring, points of all patches being counted together."""
        return starts_of(self.points.sum(axis=1))


def rings_of(domain: Domain, factors: Factors) -> Rings:
    """The rings of patches."""
    shape, across = SHAPES[domain], factors.inside_points
    count = np.where(factors.least, 1, (across.min(axis=0) + 1) // 2)
    patch, number = unrolled(count)
    outer = factors.edges.points.T[patch] - 1
    inner = across[list(shape.along)].T[patch] - 1 - 2 * number[:, None]
    segments = np.where(number[:, None] == 0, outer, inner)
    points = _points(segments, number)
    return Rings(domain, factors, patch, number, number == count[patch] - 1, segments, points)


def _points(segments: I64, number: I64) -> I64:
    """As many points as segments, and one more where there and back is a row."""
    row = (number > 0) & (segments == 0).any(axis=1)
    longest = np.argmax(segments, axis=1)
    found = np.where(row[:, None], 0, segments)
    rows = np.flatnonzero(row)
    found[rows, longest[rows]] = segments[rows, longest[rows]] + 1
    return found


def positions(rings: Rings) -> tuple[I64, I64]:
    """u and v of all points in order, in 1/65536."""
    shape = rings.shape
    owner, place_on_side = unrolled(rings.points.reshape(-1))
    ring, side = owner // shape.sides, owner % shape.sides
    number, patch = rings.number[ring], rings.patch[ring]
    segments = rings.segments[ring, side]
    forward = np.array(shape.forward)[side]
    point = number + np.where(forward, place_on_side, segments - place_on_side)
    parameter = place(_along(rings, number, side, patch), point)
    u, v = _UV[rings.domain](rings, side, number, patch, parameter)
    return _turned(rings, u, v)


def _along(rings: Rings, number: I64, side: I64, patch: I64) -> Rows:
    """What divides the sides that points are on."""
    outer, inner = rings.factors.edges, rings.factors.inside
    axis = np.array(rings.shape.along)[side]
    return Rows(
        np.where(number == 0, outer.fixed[side, patch], inner.fixed[axis, patch]),
        np.where(number == 0, outer.odd[side, patch], inner.odd[axis, patch]),
    )


def _across(rings: Rings, side: I64, number: I64, patch: I64) -> I64:
    """How far the sides that points are on lie from where the row across begins."""
    axis, far = np.array(rings.shape.across)[side], np.array(rings.shape.far)[side]
    ring = np.where(far, rings.factors.inside_points[axis, patch] - 1 - number, number)
    inside = rings.factors.inside[axis, patch]
    return np.where(number == 0, np.where(far, ONE, 0), place(inside, np.where(number, ring, 0)))


def _of_quad(rings: Rings, side: I64, number: I64, patch: I64, parameter: I64) -> tuple[I64, I64]:
    across, even = _across(rings, side, number, patch), side % 2 == 0
    return np.where(even, across, parameter), np.where(even, parameter, across)


def _of_triangle(
    rings: Rings, side: I64, number: I64, patch: I64, parameter: I64
) -> tuple[I64, I64]:
    """A ring lies two thirds as far from an edge as a row of points across is long, and what it
    lies inside is half of that shorter at either end.
    """
    across = (_across(rings, side, number, patch) * _TWO_THIRDS + ONE // 2) // ONE
    along = parameter - (across + 1) // 2
    u = np.where(side == 0, across, along)
    return u, np.choose(side, (along, across, ONE - along - across))


_UV: dict[Domain, Callable[[Rings, I64, I64, I64, I64], tuple[I64, I64]]] = {
    Domain.DOMAIN_TRI: _of_triangle,
    Domain.DOMAIN_QUAD: _of_quad,
}


def _turned(rings: Rings, u: I64, v: I64) -> tuple[I64, I64]:
    """A quad that is nothing but its corners begins with the second of them."""
    if rings.domain is Domain.DOMAIN_QUAD:
        least = rings.factors.least[rings.patch]
        first = rings.starts[least, None]
        here, there = first + np.arange(4), first + np.arange(1, 5) % 4
        u[here], v[here] = u[there], v[there]
    return u, v


# Ragged arrays: runs of different lengths, one after the other, without a loop.


def starts_of(counts: I64) -> I64:
    """Where each run begins."""
    starts: I64 = np.cumsum(counts) - counts
    return starts


def unrolled(counts: I64) -> tuple[I64, I64]:
    """For each element of runs of so many elements: its run, and its place there from 0 on."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - starts_of(counts)[owner]
