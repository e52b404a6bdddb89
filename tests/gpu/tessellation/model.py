"""The rules of SM4-5 tokens, "Tessellation" once more, a patch, an edge and a point at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning

ODD, EVEN = Partitioning.PARTITIONING_FRACTIONAL_ODD, Partitioning.PARTITIONING_FRACTIONAL_EVEN
WHOLE = (Partitioning.PARTITIONING_INTEGER, Partitioning.PARTITIONING_POW2)
LEAST = {ODD: 1, EVEN: 2}
MOST = {ODD: 63}


def clamped(partitioning: Partitioning, factor: float, least: float | None = None) -> float:
    least = LEAST.get(partitioning, 1) if least is None else least
    if math.isnan(factor):
        return least
    factor = min(max(factor, least), MOST.get(partitioning, 64))
    return math.ceil(factor) if partitioning in WHOLE else factor


def fixed(factor: float) -> int:
    return round(Fraction(factor) * 65536)


def segments(partitioning: Partitioning, factor: float) -> int:
    """Of an edge: whole, or the next odd or even number."""
    number = -(-fixed(factor) // 65536)
    if partitioning in WHOLE:
        return number
    return number + (number % 2 != (partitioning is ODD))


def prepared(
    domain: Domain, partitioning: Partitioning, factors: Sequence[float], edges: int
) -> tuple[list[float], list[float]] | None:
    """Edges and inside as they are used, None if the patch is not drawn."""
    if not all(factor > 0 for factor in factors[:edges]):
        return None
    outer = [clamped(partitioning, factor) for factor in factors[:edges]]
    least = None
    if partitioning is ODD and any(f > 1 + 2**-17 for f in [*outer, *factors[edges:]]):
        least = 1 + 2**-16
    return outer, [clamped(partitioning, factor, least) for factor in factors[edges:]]


def counts(
    domain: Domain, partitioning: Partitioning, output: OutputPrimitive, factors: Sequence[float]
) -> tuple[int, int]:
    """Points and primitives of a patch, by the table."""
    if domain is Domain.DOMAIN_ISOLINE:
        return _lines(partitioning, output, factors)
    edges = 3 if domain is Domain.DOMAIN_TRI else 4
    found = prepared(domain, partitioning, factors, edges)
    if found is None:
        return 0, 0
    outer, inside = found
    ends = [segments(partitioning, factor) + 1 for factor in outer]
    if {fixed(factor) for factor in (*outer, *inside)} == {65536}:
        points, triangles = (3, 1) if edges == 3 else (4, 2)
    else:
        across = [_across(partitioning, factor) for factor in inside]
        surface = _triangle if edges == 3 else _quad
        points, triangles = surface(ends, across)
    by_output = {OutputPrimitive.OUTPUT_POINT: points, OutputPrimitive.OUTPUT_LINE: points - 1}
    return points, by_output.get(output, triangles)


def _across(partitioning: Partitioning, factor: float) -> int:
    number = segments(partitioning, factor) + 1
    even = partitioning is EVEN or (partitioning in WHOLE and (factor % 2 == 0 or factor == 1))
    return max(number, 3 if even else 4)


def _triangle(ends: list[int], across: list[int]) -> tuple[int, int]:
    (n,) = across
    rings = n // 2 - 1
    points = sum(ends) - 3 + (3 * rings * (rings + 1) + 1 if n % 2 else 3 * rings * rings)
    triangles, outer, ring = 0, ends, 1
    while ring < (n + 1) // 2:
        triangles += sum(n - 2 * ring + points_outside - 2 for points_outside in outer)
        outer = [n - 2 * ring] * 3
        ring += 1
    return points, triangles + (n % 2 == 0)


def _quad(ends: list[int], across: list[int]) -> tuple[int, int]:
    u, v = across
    points = sum(ends) - 4 + (u - 2) * (v - 2)
    return points, sum(ends) - 4 + 2 * (u - 3) + 2 * (v - 3) + 2 * (u - 3) * (v - 3)


def _lines(
    partitioning: Partitioning, output: OutputPrimitive, factors: Sequence[float]
) -> tuple[int, int]:
    density, detail = factors
    if not (density > 0 and detail > 0):
        return 0, 0
    lines = math.ceil(min(max(density, 1), 64))
    points = segments(partitioning, clamped(partitioning, detail)) + 1
    pointed = output is OutputPrimitive.OUTPUT_POINT
    return lines * points, lines * (points if pointed else points - 1)


def position(odd: bool, factor: int, point: int) -> int:
    """Where a point of a row is whose factor is so many 1/65536."""
    half = Fraction((factor + 1) // 2, 65536)
    if odd or half == Fraction(1, 2):
        half += Fraction(1, 2)
    low, high = math.floor(half), math.ceil(half)
    last = 2 * high - odd
    if point >= high and point != last - point:
        return 65536 - position(odd, factor, last - point)
    if not odd and point == high:
        return 32768
    behind = point > _split(odd, low) if low != high else False
    before = (point - behind) * _reciprocal(2 * low - odd)
    after = point * _reciprocal(2 * high - odd)
    share = half - low
    return math.floor(before * (1 - share) + after * share + Fraction(1, 2))


def _split(odd: bool, low: int) -> int:
    if odd and low == 1:
        return 0
    number = low - odd
    return 2 * (number - 2 ** (number.bit_length() - 1)) + 1


def _reciprocal(number: int) -> int:
    return math.floor(Fraction(65536, number) + Fraction(1, 2))
