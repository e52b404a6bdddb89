"""Triangles between two rows of points that run the same way (SM4-5 tokens, "Tessellation").

A corner is ``2 * i`` for point i of the inner row, and ``2 * i + 1`` for point i of the outer one.
Triangles are clockwise, shape (3, n).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from dp2emu.gpu.arrays import I64

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
