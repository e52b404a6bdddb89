"""Integer and bit functions built of operations of the table.

Arguments and results are I32 unless a docstring says otherwise; bits are numbered from the least
significant.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.shader.values import Value

ALL_ONES = 0xFFFFFFFF
"""Result of a bit search that finds nothing."""

_PAIRS, _NIBBLES, _BYTES = 0x55555555, 0x33333333, 0x0F0F0F0F
_ONES = 0x01010101
_SMEARS = (1, 2, 4, 8, 16)
_SWAPS = ((1, _PAIRS), (2, _NIBBLES), (4, _BYTES), (8, 0x00FF00FF))

HALF_INFINITY, HALF_NAN, HALF_LARGEST = 0x7C00, 0x7E00, 0x7BFF
_INFINITY = 0x7F800000
_LEAST_HALF = 0x38800000
"""Float32 bits of 2**-14, the least normal half."""
_REBIAS = 0x38000000
"""Difference of the exponent biases of float32 and half, 127 - 15, in the exponent's position."""


def ushr(x: Value, count: Value | int) -> Value:
    """Logical shift right."""
    return x.builder.apply("ushr", x, count)


def count_bits(x: Value) -> Value:
    """Population count: sums of pairs of bits, then of nibbles, then of bytes."""
    pairs = x - (ushr(x, 1) & _PAIRS)
    nibbles = (pairs & _NIBBLES) + (ushr(pairs, 2) & _NIBBLES)
    octets = (nibbles + ushr(nibbles, 4)) & _BYTES
    return ushr(octets * _ONES, 24)


def reverse_bits(x: Value) -> Value:
    """Reverse the 32 bits: swap neighbouring bits, then pairs, nibbles, bytes and halves."""
    for size, low in _SWAPS:
        x = (ushr(x, size) & low) | ((x & low) << size)
    return ushr(x, 16) | (x << 16)


def first_high(x: Value) -> Value:
    """Count leading zeros; ``ALL_ONES`` for 0."""
    smeared = x
    for size in _SMEARS:
        smeared = smeared | ushr(smeared, size)
    return x.builder.select(x.eq(0), ALL_ONES, 32 - count_bits(smeared))


def first_low(x: Value) -> Value:
    """Number of the lowest set bit; ``ALL_ONES`` for 0."""
    return x.builder.select(x.eq(0), ALL_ONES, count_bits((x & -x) - 1))


def first_signed(x: Value) -> Value:
    """``first_high`` of the highest bit that differs from the sign bit."""
    return first_high(x ^ (x >> 31))


def extract_unsigned(width: Value, offset: Value, x: Value) -> Value:
    """Zero-extended bit field of ``width`` bits from bit ``offset`` on; both use their low five
    bits.
    """
    return _extract(width, offset, x, ushr)


def extract_signed(width: Value, offset: Value, x: Value) -> Value:
    """Sign-extended bit field, otherwise as ``extract_unsigned``."""
    return _extract(width, offset, x, lambda raised, count: raised >> count)


def _extract(
    width: Value, offset: Value, x: Value, shift: Callable[[Value, Value], Value]
) -> Value:
    """Extract a field; one that reaches beyond bit 31 takes the bits that exist, without a left
    shift.
    """
    b, width, offset = x.builder, width & 31, offset & 31
    raised = x << (32 - width - offset)
    within = shift(raised, 32 - width)
    found = b.select(width + offset < 32, within, shift(x, offset))
    return b.select(width.eq(0), 0, found)


def insert(width: Value, offset: Value, x: Value, base: Value) -> Value:
    """Replace ``width`` bits of ``base`` from bit ``offset`` on by the low bits of ``x``."""
    one = x.builder.constant(x.type, 1)
    mask = ((one << width) - 1) << offset
    return ((x << offset) & mask) | (base & ~mask)


def to_half(x: Value) -> Value:
    """Convert an F32 to a half in the low 16 bits, rounding toward zero.

    Overflow gives the largest half, infinity stays infinity, a NaN becomes ``HALF_NAN``.
    """
    b = x.builder
    bits = b.asint(x)
    size = bits & 0x7FFFFFFF
    normal = (size - _REBIAS) >> 13
    normal = b.select(normal < HALF_LARGEST, normal, HALF_LARGEST)
    subnormal = b.ftoi(b.abs(x) * 2.0**24)
    finite = b.select(size < _LEAST_HALF, subnormal, normal)
    special = b.apply("iselect", size.eq(_INFINITY), HALF_INFINITY, HALF_NAN)
    found = b.select(size < _INFINITY, finite, special)
    return found | (ushr(bits, 16) & 0x8000)
