"""Double precision functions built of operations of the table: pairs of words, saturation, fma.

Arguments and results are F64 unless a docstring says otherwise.
"""

from __future__ import annotations

from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

_MANTISSA, _BIAS = 52, 1023
_EXPONENT = 0x7FF
_INFINITY = float("inf")
_LEAST_NORMAL, _LEAST_EXPONENT = 2.0**-1022, -1022
_LEAST = -1074
"""Exponent of the least subnormal."""
_RAISE = 64
"""Exponent of the factor that makes every subnormal normal."""
_SPLIT = 2.0**27 + 1
"""Veltkamp's factor, which splits a double into two of 26 bits."""
_FAR = 120
"""Difference of exponents from which on the smaller term of an fma only breaks ties.

A product has 106 bits and lies below 4, so its last bit is at least 2**-104."""


def from_words(low: Value, high: Value) -> Value:
    """The double whose bits are two I32, the least significant first."""
    b = low.builder
    return b.apply("asdouble", b.apply("utol", low) | (b.apply("itol", high) << 32))


def to_words(x: Value) -> tuple[Value, Value]:
    """The bits of a double as two I32, the least significant first; a NaN is the canonical one."""
    b = x.builder
    bits = b.apply("aslong", x)
    return b.apply("ltoi", bits), b.apply("ltoi", bits >> 32)


def saturate(x: Value) -> Value:
    """Clamp to 0..1; a NaN and -0 become +0."""
    b = x.builder
    return b.apply("dmin", 1.0, b.apply("dmax", 0.0, x))


def fma(x: Value, y: Value, z: Value) -> Value:
    """x * y + z with a single rounding, also of subnormal results.

    The plain product and sum are right where an operand is a zero or not finite, but for a
    product that overflows or underflows beside such a ``z``.
    """
    b = x.builder
    product = x * y
    finite = _is_finite(x) & _is_finite(y)
    nonzero = x.ne(0.0) & y.ne(0.0)
    special = b.select(nonzero & z.eq(0.0), product, product + z)
    special = b.select(finite & ~_is_finite(z), z, special)
    regular = finite & nonzero & _is_finite(z) & z.ne(0.0)
    return b.select(regular, _fused(x, y, z), special)


def _fused(x: Value, y: Value, z: Value) -> Value:
    """x * y + z with a single rounding, for finite operands that are not 0.

    The product of the mantissas and the scaled ``z`` are summed as in Boldo and Melquiond 2008,
    "Emulation of a FMA and correctly rounded sums": the rounding errors, rounded to odd, decide
    the last rounding.  A subnormal result is rounded at the last bit of subnormals instead, by
    adding the number whose last bit that is.
    """
    b = x.builder
    (x, x_exponent), (y, y_exponent), (z, z_exponent) = map(_parts, (x, y, z))
    scale = b.apply("lmax", x_exponent + y_exponent, z_exponent - _FAR)
    addend = z * _power(b.apply("lmax", z_exponent - scale, -_FAR))
    product, product_rest = _exact_product(x, y)
    low, low_rest = _exact_sum(addend, product_rest)
    high, high_rest = _exact_sum(product, low)
    rest = _odd_sum(low_rest, high_rest)
    normal = high + rest
    small = (_exponent(normal) + scale) < _LEAST_EXPONENT
    unit = b.select(small, _power(_MANTISSA + _LEAST - scale), 0.0)
    unit = b.select(normal < 0.0, -unit, unit)
    total, total_rest = _exact_sum(unit, high)
    rounded = (total + _odd_sum(total_rest, rest)) - unit
    rounded = b.select(rounded.eq(0.0), normal * 0.0, rounded)
    half = scale >> 1
    return rounded * _power(half) * _power(scale - half)


def _is_finite(x: Value) -> Value:
    return x.builder.apply("dabs", x) < _INFINITY


def _exponent(x: Value) -> Value:
    """The exponent of a normal number, an I64."""
    return ((x.builder.apply("aslong", x) >> _MANTISSA) & _EXPONENT) - _BIAS


def _power(exponent: Value) -> Value:
    """2 to the power of an I64 from -1022 to 1023."""
    return exponent.builder.apply("asdouble", (exponent + _BIAS) << _MANTISSA)


def _parts(x: Value) -> tuple[Value, Value]:
    """The mantissa, signed and of magnitude 1 to 2, and the I64 exponent of a number but 0."""
    b = x.builder
    small = b.apply("dabs", x) < _LEAST_NORMAL
    normal = b.select(small, x * 2.0**_RAISE, x)
    mantissa = (b.apply("aslong", normal) & ~(_EXPONENT << _MANTISSA)) | (_BIAS << _MANTISSA)
    lowered = b.select(small, b.constant(Type.I64, _RAISE), 0)
    return b.apply("asdouble", mantissa), _exponent(normal) - lowered


def _exact_sum(x: Value, y: Value) -> tuple[Value, Value]:
    """The rounded sum and its error (Knuth's TwoSum)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _exact_product(x: Value, y: Value) -> tuple[Value, Value]:
    """The rounded product and its error, of numbers far from overflow (Dekker's product)."""
    product = x * y
    (x, x_low), (y, y_low) = _halves(x), _halves(y)
    return product, ((x * y - product) + x * y_low + x_low * y) + x_low * y_low


def _halves(x: Value) -> tuple[Value, Value]:
    scaled = x * _SPLIT
    high = scaled - (scaled - x)
    return high, x - high


def _odd_sum(x: Value, y: Value) -> Value:
    """The sum rounded to odd: if it is inexact, truncated with the last bit set."""
    b = x.builder
    total, lost = _exact_sum(x, y)
    below, above = lost < 0.0, lost > 0.0
    overshot = b.select(total < 0.0, above, below)
    zero, one = (b.constant(Type.I64, n) for n in (0, 1))
    bits = b.apply("aslong", total) - b.select(overshot, one, zero)
    return b.apply("asdouble", bits | b.select(below | above, one, zero))
