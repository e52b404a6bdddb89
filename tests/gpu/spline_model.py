"""Patches in exact arithmetic: closed forms and Cox-de Boor, not the pyramids of the package."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial

from dp2emu.d3d.enums import Basis

F = Fraction
Point = Sequence[Fraction]
Weights = list[tuple[Fraction, Fraction]]
"""Weight and slope of each control point."""

CATMULL_ROM = [
    [0, F(-1, 2), 1, F(-1, 2)],
    [1, 0, F(-5, 2), F(3, 2)],
    [0, F(1, 2), 2, F(-3, 2)],
    [0, 0, F(-1, 2), F(1, 2)],
]
"""Coefficients of 1, t, t^2 and t^3 for each of four points."""


def bernstein(degree: int, number: int, t: Fraction) -> Fraction:
    if not 0 <= number <= degree:
        return F(0)
    return comb(degree, number) * t**number * (1 - t) ** (degree - number)


def cox_de_boor(degree: int, number: int, x: Fraction) -> Fraction:
    """The basis function on knots number, number + 1, ... ."""
    if degree == 0:
        return F(number <= x < number + 1)
    left = F(x - number, degree) * cox_de_boor(degree - 1, number, x)
    right = F(number + degree + 1 - x, degree) * cox_de_boor(degree - 1, number + 1, x)
    return left + right


def piece(basis: Basis, degree: int, t: Fraction) -> Weights:
    """Of the degree + 1 points of one piece."""
    if t == 1:
        return [(weight, -slope) for weight, slope in reversed(piece(basis, degree, F(0)))]
    count = range(degree + 1)
    if basis is Basis.BEZIER:
        slopes = [
            degree * (bernstein(degree - 1, i - 1, t) - bernstein(degree - 1, i, t)) for i in count
        ]
        return list(zip((bernstein(degree, i, t) for i in count), slopes, strict=True))
    if basis is Basis.INTERPOLATE:
        return [
            (
                sum((F(c) * t**k for k, c in enumerate(row)), F(0)),
                sum((k * F(c) * t ** (k - 1) for k, c in enumerate(row) if k), F(0)),
            )
            for row in CATMULL_ROM
        ]
    at = t + degree
    return [
        (
            cox_de_boor(degree, i, at),
            cox_de_boor(degree - 1, i, at) - cox_de_boor(degree - 1, i + 1, at),
        )
        for i in count
    ]


def along(basis: Basis, degree: int, size: int, s: Fraction) -> Weights:
    """Of all ``size`` points of a row, at s from 0 to 1."""
    pieces = 1 if basis is Basis.BEZIER else size - degree
    number = min(int(s * pieces), pieces - 1)
    found = piece(basis, degree, s * pieces - number)
    weights = [(F(0), F(0))] * size
    weights[number : number + degree + 1] = [(w, slope * pieces) for w, slope in found]
    return weights


def rectangle(
    basis: Basis, degree: int, width: int, height: int, u: Fraction, v: Fraction
) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Weight, slope along u and along v of each control point, row by row."""
    across, down = along(basis, degree, width, u), along(basis, degree, height, v)
    return [(a * d, a1 * d, a * d1) for d, d1 in down for a, a1 in across]


def triangle(degree: int, u: Fraction, v: Fraction) -> list[tuple[Fraction, Fraction, Fraction]]:
    """The same of a triangle in rows of 1, 2, 3 and so on."""
    w = 1 - u - v
    found = []
    for row in range(degree + 1):
        for column in range(row + 1):
            i, j, k = degree - row, column, row - column
            found.append(
                (_term(i, j, k, w, u, v), _slope(i, j, k, w, u, v), _slope(i, k, j, w, v, u))
            )
    return found


def _term(i: int, j: int, k: int, w: Fraction, u: Fraction, v: Fraction) -> Fraction:
    if min(i, j, k) < 0:
        return F(0)
    number = factorial(i + j + k) // (factorial(i) * factorial(j) * factorial(k))
    return number * w**i * u**j * v**k


def _slope(i: int, j: int, k: int, w: Fraction, u: Fraction, v: Fraction) -> Fraction:
    """Along u, where w falls as u rises."""
    return (i + j + k) * (_term(i, j - 1, k, w, u, v) - _term(i - 1, j, k, w, u, v))


def total(weights: Sequence[Fraction], points: Sequence[Point]) -> list[Fraction]:
    """Points times weights."""
    return [
        sum((w * p[c] for w, p in zip(weights, points, strict=True)), F(0))
        for c in range(len(points[0]))
    ]
