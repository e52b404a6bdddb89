"""Geometry as arithmetic on values of a builder.  Sums go from left to right."""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.shader.values import Number, Value

Vector = tuple[Value, Value, Value]


def total(terms: Sequence[Value]) -> Value:
    """((first + second) + third) + ..."""
    result, *rest = terms
    for term in rest:
        result = result + term
    return result


def dot(x: Sequence[Value], y: Sequence[Value]) -> Value:
    """(x0 y0 + x1 y1) + x2 y2, and so on."""
    return total([a * b for a, b in zip(x, y, strict=True)])


def length(x: Sequence[Value]) -> Value:
    """The square root of x . x."""
    return x[0].builder.sqrt(dot(x, x))


def scaled(x: Vector, factor: Number) -> Vector:
    """Every component times a factor."""
    return x[0] * factor, x[1] * factor, x[2] * factor


def plus(x: Vector, y: Vector) -> Vector:
    """The sum."""
    return x[0] + y[0], x[1] + y[1], x[2] + y[2]


def minus(x: Vector, y: Vector) -> Vector:
    """The difference."""
    return x[0] - y[0], x[1] - y[1], x[2] - y[2]


def over(x: Vector, size: Value) -> Vector:
    """x times 1 / size; 0 if the size is 0."""
    b = size.builder
    return scaled(x, b.select(size > 0.0, 1.0 / size, 0.0))


def unit(x: Vector) -> Vector:
    """The vector of length 1 in that direction; 0 for 0."""
    return over(x, length(x))


def transform(x: Sequence[Value | None], matrix: Sequence[Value], columns: int) -> list[Value]:
    """The row vector x times a matrix, which lies row by row; None is a component 1."""
    rows = [matrix[row * columns : (row + 1) * columns] for row in range(len(x))]
    return [
        total([row[c] if a is None else a * row[c] for a, row in zip(x, rows, strict=True)])
        for c in range(columns)
    ]


def reflect(direction: Vector, normal: Vector) -> Vector:
    """direction - normal (2 normal . direction)."""
    return minus(direction, scaled(normal, dot(normal, direction) * 2.0))
