"""Functions of integers and their bits, spelled in operations of the table.

Arguments and results are I32 unless told; bits are numbered from the lowest.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.shader.values import Value

ALL_ONES = 0xFFFFFFFF
"""The answer where a bit is sought and there is none."""

_PAIRS, _NIBBLES, _BYTES = 0x55555555, 0x33333333, 0x0F0F0F0F
_ONES = 0x01010101
_SMEARS = (1, 2, 4, 8, 16)
_SWAPS = ((1, _PAIRS), (2, _NIBBLES), (4, _BYTES), (8, 0x00FF00FF))

HALF_INFINITY, HALF_NAN, HALF_LARGEST = 0x7C00, 0x7E00, 0x7BFF
_INFINITY = 0x7F800000
_LEAST_HALF = 0x38800000
"""2**-14, the least half that is normal, as a float32."""
_REBIAS = 0x38000000
"""What the exponents of float32 count more, 127 - 15, where they stand."""


def ushr(x: Value, count: Value | int) -> Value:
    """Shifted down, zeros from above."""
    return x.builder.apply("ushr", x, count)


def count_bits(x: Value) -> Value:
    """How many bits are 1: sums of neighbours, then of their neighbours."""
    pairs = x - (ushr(x, 1) & _PAIRS)
    nibbles = (pairs & _NIBBLES) + (ushr(pairs, 2) & _NIBBLES)
    octets = (nibbles + ushr(nibbles, 4)) & _BYTES
    return ushr(octets * _ONES, 24)


def reverse_bits(x: Value) -> Value:
    """Bit 0 for bit 31 and so on: neighbours change places, then ever larger groups."""
    for size, low in _SWAPS:
        x = (ushr(x, size) & low) | ((x & low) << size)
    return ushr(x, 16) | (x << 16)


def first_high(x: Value) -> Value:
    """How far below bit 31 the highest 1 is; ``ALL_ONES`` if there is none."""
    smeared = x
    for size in _SMEARS:
        smeared = smeared | ushr(smeared, size)
    return x.builder.select(x.eq(0), ALL_ONES, 32 - count_bits(smeared))


def first_low(x: Value) -> Value:
    """The number of the lowest 1; ``ALL_ONES`` if there is none."""
    return x.builder.select(x.eq(0), ALL_ONES, count_bits((x & -x) - 1))


def first_signed(x: Value) -> Value:
    """``first_high`` of the first bit that differs from the sign."""
    return first_high(x ^ (x >> 31))


def extract_unsigned(width: Value, offset: Value, x: Value) -> Value:
    """``width`` bits from bit ``offset`` on; both count by their low five bits."""
    return _extract(width, offset, x, ushr)


def extract_signed(width: Value, offset: Value, x: Value) -> Value:
    """The same, with the highest of them as sign."""
    return _extract(width, offset, x, lambda raised, count: raised >> count)


def _extract(
    width: Value, offset: Value, x: Value, shift: Callable[[Value, Value], Value]
) -> Value:
    """Where the field goes beyond bit 31, what is there counts: no shift up is needed then."""
    b, width, offset = x.builder, width & 31, offset & 31
    raised = x << (32 - width - offset)
    within = shift(raised, 32 - width)
    found = b.select(width + offset < 32, within, shift(x, offset))
    return b.select(width.eq(0), 0, found)


def insert(width: Value, offset: Value, x: Value, base: Value) -> Value:
    """``base`` with its ``width`` bits from ``offset`` on replaced by the low ones of ``x``."""
    one = x.builder.constant(x.type, 1)
    mask = ((one << width) - 1) << offset
    return ((x << offset) & mask) | (base & ~mask)


def to_half(x: Value) -> Value:
    """The half of an F32, cut towards zero, in the low 16 bits.

    What is too large becomes the largest half, infinity stays infinity, a NaN is ``HALF_NAN``.
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
