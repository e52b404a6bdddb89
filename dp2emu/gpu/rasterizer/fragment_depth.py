"""Formulas of fragment depth: clamp, depth bias, w-buffer."""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.shader.builder import Builder
from dp2emu.shader.values import Number, Value

_MANTISSA, _WIDE_MANTISSA = 23, 52
_BIAS_OF_ZERO, _NO_NUMBER = 1022, 0x7FF


def tilt(b: Builder, key: None, ddx: Value, ddy: Value) -> tuple[Value]:
    """Formula: the larger magnitude of the gradients of z along x and y."""
    across, down = b.apply("dabs", ddx), b.apply("dabs", ddy)
    return (b.select(across > down, across, down),)


class OffsetTerms(NamedTuple):
    """Which terms a triangle's depth offset has.

    ``sloped``: slope-scaled bias.  ``biased``: Direct3D 10 bias, ``of_float`` in units in the last
    place of a float buffer.  ``clamp`` is the sign of the limit, 0 without one.
    """

    sloped: bool
    biased: bool
    of_float: bool
    clamp: int


def depth_offset(b: Builder, terms: OffsetTerms, *operands: Value) -> tuple[Value]:
    """Formula: depth offset of a triangle (Direct3D 10, Depth Bias).

    ``operands``, each if its term is on: factor and tilt; bias; z of the corners; limit.
    """
    rest = iter(operands)
    slope = next(rest) * next(rest) if terms.sloped else None
    if not terms.biased:
        assert slope is not None
        return (slope,)
    offset = next(rest)
    if terms.of_float:
        offset = offset * _last_place(*(next(rest) for _ in range(3)))
    if slope is not None:
        offset = offset + slope
    if terms.clamp:
        limit = next(rest)
        kept = offset < limit if terms.clamp > 0 else offset > limit
        offset = b.select(kept, offset, limit)
    return (offset,)


def _last_place(*z: Value) -> Value:
    """2^(e - 23), e the float32 exponent of the greatest abs(z); -1 for 0, infinity, NaN."""
    b = z[0].builder
    greatest, *sizes = (b.apply("dabs", each) for each in z)
    for size in sizes:
        greatest = b.select((size > greatest) | size.ne(size), size, greatest)
    rounded = b.apply("ftod", b.apply("dtof", greatest))
    exponent = b.apply("aslong", rounded) >> _WIDE_MANTISSA
    odd = exponent.eq(0) | exponent.eq(_NO_NUMBER)
    place = b.select(odd, _BIAS_OF_ZERO, exponent) - _MANTISSA
    return b.apply("asdouble", place << _WIDE_MANTISSA)


class DepthTerms(NamedTuple):
    """Which terms a fragment's depth has: w-buffer, constant bias, slope-scaled bias."""

    w_buffer: bool = False
    biased: bool = False
    sloped: bool = False


def depth_tested(
    b: Builder, terms: DepthTerms, low: Value, high: Value, z: Value, *others: Value
) -> tuple[Value]:
    """Formula: (z + bias) + slope, an F64, clamped; NaN becomes ``low``.

    In a w-buffer (1 / rhw - near) / (far - near) replaces z.  ``others``, each if its term is on:
    rhw, near and far - near; bias; slope.
    """
    rest = iter(others)
    if terms.w_buffer:
        rhw, near, range_ = (next(rest) for _ in range(3))
        z = (1.0 / rhw - near) / range_
    if terms.biased:
        z = z + next(rest)
    if terms.sloped:
        z = z + next(rest)
    return (_clamped(z, low, high),)


def _clamped(z: Value, low: Number, high: Number) -> Value:
    b = z.builder
    above = b.select(z > low, z, low)
    return b.select(above < high, above, high)


def depth_read(b: Builder, key: None, z: Value) -> tuple[Value]:
    """Formula: z as a pixel program reads it, without bias and clamp."""
    return (b.apply("dtof", z),)


def inside_depth(b: Builder, key: None, z: Value) -> tuple[Value]:
    """Formula: whether z is within 0..1, so that depth clipping keeps the fragment."""
    return ((z >= 0.0) & (z <= 1.0),)
