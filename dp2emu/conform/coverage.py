"""Which pixels a triangle covers by Direct3D 9's rules, exactly: what cases of drawing expect.

Pixel centres are at whole coordinates; one on an edge belongs to the triangle if that is a top
or a left edge (Direct3D 9 documentation of rasterization rules; wire format, "Primitive order").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

Pixel = tuple[int, int]
_Point = tuple[int, int]

_STEPS = 256
"""Coordinates are told apart to 1/256 of a pixel, so whole numbers of that hold them exactly."""


def covered(corners: Sequence[tuple[float, float]], width: int, height: int) -> frozenset[Pixel]:
    """Pixels (x, y) of a target that a triangle covers, whichever way round it is."""
    a, b, c = (_snapped(corner) for corner in corners)
    if _side(a, b, c) == 0:
        return frozenset()
    if _side(a, b, c) < 0:
        b, c = c, b
    return frozenset(
        (x, y)
        for y, x in product(range(height), range(width))
        if all(_inside(*edge, (x * _STEPS, y * _STEPS)) for edge in ((a, b), (b, c), (c, a)))
    )


def area(triangles: Iterable[Sequence[tuple[float, float]]], width: int, height: int) -> int:
    """Pixels of all triangles, those under several counted for each."""
    return sum(len(covered(corners, width, height)) for corners in triangles)


def _snapped(corner: tuple[float, float]) -> _Point:
    x, y = (round(side * _STEPS) for side in corner)
    return x, y


def _side(a: _Point, b: _Point, c: _Point) -> int:
    """Positive if a, b, c are clockwise on a screen whose y grows downwards."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _inside(a: _Point, b: _Point, pixel: _Point) -> bool:
    where = _side(a, b, pixel)
    if where != 0:
        return where > 0
    return b[0] > a[0] if a[1] == b[1] else b[1] < a[1]
