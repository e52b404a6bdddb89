"""Spline weights of control points at parameters of a patch, and their derivatives.

Every basis is a pyramid of interpolations: de Casteljau for Bezier, de Boor for uniform B-splines,
Barry and Goldman for Catmull-Rom.  Level r of degree n computes points i = 0 to n - r from the
level below,

    new[i] = (1 - a) * old[i] + a * old[i + 1]    with a = (t + shift) / width

and derivatives by the product rule.  On unit vectors the result is the weights.  Arithmetic is
float64, every operation rounded; at the ends of a Bezier or Catmull-Rom piece one weight is 1 and
the others exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dp2emu.d3d.enums import Basis
from dp2emu.gpu.arrays import F64, I64

_CATMULL_ROM = {1: (1, 1, 1), 2: (1, 1, 2), 3: (0, 0, 1)}
"""From level of the Catmull-Rom pyramid to (first, less, width): the level interpolates its point
i with a = (t + first - less * i) / width."""


def _bezier(degree: int, level: int, point: int) -> tuple[int, int]:
    return 0, 1


def _bspline(degree: int, level: int, point: int) -> tuple[int, int]:
    return degree - level - point, degree + 1 - level


def _catmull_rom(degree: int, level: int, point: int) -> tuple[int, int]:
    first, less, width = _CATMULL_ROM[level]
    return first - less * point, width


INTERPOLATIONS: dict[Basis, Callable[[int, int, int], tuple[int, int]]] = {
    Basis.BEZIER: _bezier,
    Basis.BSPLINE: _bspline,
    Basis.INTERPOLATE: _catmull_rom,
}
"""From spline basis to function (degree, level, point number i) -> (shift, width): the level
computes point i as (1 - a) * old[i] + a * old[i + 1], with a = (t + shift) / width."""


class Weights(NamedTuple):
    """Weights of control points at n parameters.

    ``points``, int64, shape (m, n), are control point numbers; ``value``, ``along_u`` and
    ``along_v``, float64 of the same shape, their weights and the weights' derivatives.
    """

    points: I64
    value: F64
    along_u: F64
    along_v: F64


def sum_of(factors: F64, control: F64) -> F64:
    """Sum of control points, shape (..., m, n), times factors, shape (m, n), in index order."""
    total: F64 = factors[0] * control[..., 0, :]
    for number in range(1, len(factors)):
        total = total + factors[number] * control[..., number, :]
    return total


def weights_of(basis: Basis, degree: int, t: F64) -> tuple[F64, F64]:
    """Weights of a spline piece's control points at ``t``, and slopes, shape (degree + 1, n)."""
    interpolation = INTERPOLATIONS[basis]
    units = np.eye(degree + 1)[:, :, None] * np.ones(len(t))
    values, slopes = list(units), list(np.zeros_like(units))
    for level in range(1, degree + 1):
        for i in range(degree + 1 - level):
            shift, width = interpolation(degree, level, i)
            a = (t + shift) / width
            rise = (values[i + 1] - values[i]) / width
            slopes[i] = ((1 - a) * slopes[i] + a * slopes[i + 1]) + rise
            values[i] = (1 - a) * values[i] + a * values[i + 1]
    return values[0], slopes[0]


def pieces(basis: Basis, degree: int, size: int) -> int:
    """Number of spline pieces that ``size`` control points in a row make."""
    return 1 if basis is Basis.BEZIER else size - degree


def _along(basis: Basis, degree: int, size: int, s: F64) -> tuple[I64, F64, F64]:
    """For parameters ``s``, 0 to 1 along a row of ``size`` control points: number of the first
    control point with influence, and weights and derivatives of degree + 1 points from it on.
    """
    count = pieces(basis, degree, size)
    place = s * count
    piece = np.minimum(np.floor(place), count - 1)
    value, slope = weights_of(basis, degree, place - piece)
    return piece.astype(np.int64), value, slope * count


def rectangle_weights(
    basis: Basis, degree: int, width: int, height: int, u: F64, v: F64
) -> Weights:
    """Weights of control points in rows of ``width``; u goes along a row, v from row to row."""
    column, across, across_slope = _along(basis, degree, width, u)
    row, down, down_slope = _along(basis, degree, height, v)
    steps = np.arange(degree + 1)[:, None]
    points = (row + steps)[:, None] * width + (column + steps)[None, :]
    shape = (-1, len(u))
    return Weights(
        points.reshape(shape),
        (down[:, None] * across[None, :]).reshape(shape),
        (down[:, None] * across_slope[None, :]).reshape(shape),
        (down_slope[:, None] * across[None, :]).reshape(shape),
    )


def triangle_points(degree: int) -> int:
    """Number of control points of a Bezier triangle."""
    return (degree + 1) * (degree + 2) // 2


def triangle_weights(degree: int, u: F64, v: F64) -> Weights:
    """Weights of the control points of a Bezier triangle, in rows of 1, 2, 3 and so on.

    The first point is a corner; u is the barycentric coordinate of the last point of the last row,
    v of its first.  A level computes ((1 - u - v) * top + u * right) + v * left of each three
    neighbours.
    """
    rest = (1 - u) - v
    size = triangle_points(degree)
    units = np.eye(size)[:, :, None] * np.ones(len(u))
    values, by_u, by_v = list(units), list(np.zeros_like(units)), list(np.zeros_like(units))
    for level in range(degree, 0, -1):
        for row in range(level):
            for column in range(row + 1):
                top, left = _number(row, column), _number(row + 1, column)
                right = left + 1
                upper, beside, below = values[top], values[right], values[left]
                for slopes, rise in ((by_u, beside - upper), (by_v, below - upper)):
                    mixed = (rest * slopes[top] + u * slopes[right]) + v * slopes[left]
                    slopes[top] = mixed + rise
                values[top] = (rest * upper + u * beside) + v * below
    points = np.broadcast_to(np.arange(size)[:, None], (size, len(u)))
    return Weights(points, values[0], by_u[0], by_v[0])


def _number(row: int, column: int) -> int:
    return row * (row + 1) // 2 + column
