"""Integer and bit functions built of operations of the table.

Arguments and results are I32 unless a docstring says otherwise; bits are numbered from the least
significant.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.shader.values import Value

ALL_ONES = 0xFFFFFFFF
"""Result of ``first_high``, ``first_low`` and similar bit searches if there is no such bit."""

_PAIRS, _NIBBLES, _BYTES = 0x55555555, 0x33333333, 0x0F0F0F0F
_ONES = 0x01010101
_SMEARS = (1, 2, 4, 8, 16)
_SWAPS = ((1, _PAIRS), (2, _NIBBLES), (4, _BYTES), (8, 0x00FF00FF))

_INFINITY = 0x7F800000
_MANTISSA = 23
_LEAST_NORMAL = 113 << _MANTISSA
"""Float32 bits of 2**-14, the smallest normal number of a format with 5 bits of exponent."""
_REBIAS = 112 << _MANTISSA
"""127 - 15, the difference of the exponent biases of float32 and half, shifted left by 23 bits."""
_SIGN, _HALF_NAN = 0x8000, 0x7E00


def ushr(x: Value, count: Value | int) -> Value:
    """Logical shift right."""
    return x.builder.apply("ushr", x, count)


def count_bits(x: Value) -> Value:
    """Number of set bits, from sums over pairs of bits, then nibbles, then bytes."""
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
    """Number of leading zeros; ``ALL_ONES`` for 0."""
    smeared = x
    for size in _SMEARS:
        smeared = smeared | ushr(smeared, size)
    return x.builder.select(x.eq(0), ALL_ONES, 32 - count_bits(smeared))


def first_low(x: Value) -> Value:
    """Number of the lowest set bit; ``ALL_ONES`` for 0."""
    return x.builder.select(x.eq(0), ALL_ONES, count_bits((x & -x) - 1))


def first_signed(x: Value) -> Value:
    """Number of bits above the highest bit unlike the sign bit; ``ALL_ONES`` if none is."""
    return first_high(x ^ (x >> 31))


def extract_unsigned(width: Value, offset: Value, x: Value) -> Value:
    """Zero-extended bit field of ``width`` bits from bit ``offset`` on; both use their low five
    bits.
    """
    return _extract(width, offset, x, ushr)


def extract_signed(width: Value, offset: Value, x: Value) -> Value:
    """Bits ``offset`` to ``offset`` + ``width`` - 1 of ``x``, sign-extended.

    ``width`` and ``offset`` use their low five bits.
    """
    return _extract(width, offset, x, lambda raised, count: raised >> count)


def _extract(
    width: Value, offset: Value, x: Value, shift: Callable[[Value, Value], Value]
) -> Value:
    """Extract ``width`` bits from bit ``offset`` on with ``shift``, which shifts right.

    A field that reaches beyond bit 31 has the bits that exist, without a left shift.
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


def sum_of_differences(reference: Value, x: Value, total: Value) -> Value:
    """``total`` plus the absolute differences of the bytes of ``reference`` and ``x``.

    Bytes that are 0 in ``reference`` do not count.  The sum of unsigned integers saturates, which
    the specification of msad recommends.
    """
    b = x.builder
    added = b.constant(x.type, 0)
    for place in range(0, 32, 8):
        one, other = (ushr(each, place) & 0xFF for each in (reference, x))
        difference = b.apply("imax", one - other, other - one)
        added = added + b.select(one.eq(0), 0, difference)
    found = total + added
    return b.select(b.apply("ult", found, added), ALL_ONES, found)


def to_half(x: Value) -> Value:
    """Convert an F32 to a half in the low 16 bits, rounding toward zero."""
    return to_small_float(x, 10)


def to_small_float(x: Value, mantissa: int, *, signed: bool = True) -> Value:
    """Convert an F32 to 5 bits of exponent and ``mantissa`` bits, rounding toward zero.

    The result is in the low bits.  Overflow gives the largest number, infinity stays infinity, a
    NaN becomes the one with only the first bit of the mantissa set; without a sign, negative
    numbers become 0 (Direct3D 10, Data Conversion).
    """
    b = x.builder
    bits, largest = b.asint(x), (31 << mantissa) - 1
    size = bits & 0x7FFFFFFF
    normal = b.apply("imin", (size - _REBIAS) >> (_MANTISSA - mantissa), largest)
    subnormal = b.ftoi(b.abs(x) * 2.0 ** (14 + mantissa))
    finite = b.select(size < _LEAST_NORMAL, subnormal, normal)
    nan = largest + 1 | 1 << mantissa - 1
    special = b.apply("iselect", size.eq(_INFINITY), largest + 1, nan)
    found = b.select(size < _INFINITY, finite, special)
    return found | (ushr(bits, 16) & _SIGN) if signed else b.select(bits < 0, 0, found)


def nearest_half(x: Value) -> Value:
    """Convert an F32 to a half in the low 16 bits, rounding to nearest even; a NaN is 0x7E00."""
    b = x.builder
    bits = b.asint(x)
    size = bits & 0x7FFFFFFF
    # Subtract 112 from the exponent; 0xFFF and the last bit that stays round.
    normal = ushr(size + (ushr(size, 13) & 1) + (0xFFF - _REBIAS), 13)
    # The spacing of floats from one half on is the least subnormal half.
    subnormal = b.asint(b.abs(x) + 0.5) - 0x3F000000
    found = b.select(size < _LEAST_NORMAL, subnormal, normal)
    found = b.select(size >= 0x477FF000, 0x7C00, found) | (ushr(bits, 16) & _SIGN)
    return b.select(size > _INFINITY, _HALF_NAN, found)
