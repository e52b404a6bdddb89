"""Which pixels a triangle covers by Direct3D 9's rules, exactly: what cases of drawing expect.

Pixel centres are at whole coordinates; one on an edge belongs to the triangle if that is a top
or a left edge (Direct3D 9 documentation of rasterization rules; reference 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

Point = tuple[Fraction, Fraction]
Pixel = tuple[int, int]

_STEPS = 256
"""Coordinates are told apart to 1/256 of a pixel."""


def covered(corners: Sequence[tuple[float, float]], width: int, height: int) -> frozenset[Pixel]:
    """Pixels (x, y) of a target that a triangle covers, whichever way round it is."""
    a, b, c = (_snapped(corner) for corner in corners)
    if _side(a, b, c) == 0:
        return frozenset()
    if _side(a, b, c) < 0:
        b, c = c, b
    edges = ((a, b), (b, c), (c, a))
    return frozenset(
        (x, y)
        for y in range(height)
        for x in range(width)
        if all(_inside(edge, (Fraction(x), Fraction(y))) for edge in edges)
    )


def area(triangles: Iterable[Sequence[tuple[float, float]]], width: int, height: int) -> int:
    """Pixels of all triangles, those under several counted for each."""
    return sum(len(covered(corners, width, height)) for corners in triangles)


def _snapped(corner: tuple[float, float]) -> Point:
    x, y = (Fraction(round(side * _STEPS), _STEPS) for side in corner)
    return x, y


def _side(a: Point, b: Point, c: Point) -> Fraction:
    """Positive if a, b, c are clockwise on a screen whose y grows downwards."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _inside(edge: tuple[Point, Point], pixel: Point) -> bool:
    a, b = edge
    where = _side(a, b, pixel)
    if where != 0:
        return where > 0
    return b[0] > a[0] if a[1] == b[1] else b[1] < a[1]
