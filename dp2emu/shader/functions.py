"""Transcendental functions built of exact operations, so that every engine computes the same bits.

Errors in units in the last place of the correctly rounded result, over every float32, as
``tools/function_errors.py`` measures them:

=====  ==============================================
exp2   <= 1.2, subnormal results included
log2   <= 1.2, subnormal arguments included
sin    <= 1.1 on [-pi, pi], <= 1.9 up to 2**20
cos    <= 1.0 on [-pi, pi], <= 1.1 up to 2**20
=====  ==============================================
"""

from __future__ import annotations

import math

from dp2emu.shader.values import Value

EXP2 = (1.0, 0.6931472, 0.2402265, 0.05550357, 0.009618031, 0.0013390867, 0.00015469735)
"""Coefficients, lowest power first, of the polynomial in f for 2**f, -0.5 <= f <= 0.5."""

LOG2 = (
    -0.7213474,
    0.480898,
    -0.36069572,
    0.2885825,
    -0.23964827,
    0.20433569,
    -0.19056249,
    0.18761994,
    -0.11286767,
)
"""Coefficients, lowest power first, of the polynomial in f for (log2(1 + f) - f / ln 2) / f**2,
where 1/sqrt(2) <= 1 + f < sqrt(2)."""
LOG2_E, LOG2_E_REST = 1.442695, 1.925963e-08
"""1 / ln 2 as the sum of two float32."""
SQRT_HALF_BITS = 0x3F3504F3

SIN = (-0.16666655, 0.008332178, -0.00019517296)
"""Coefficients, lowest power first, of the polynomial in r**2 for (sin r - r) / r**3, r up to pi /
4."""
COS = (0.041666646, -0.0013887368, 2.4438426e-05)
"""Coefficients, lowest power first, of the polynomial in r**2 for (cos r - 1 + r**2 / 2) / r**4, r
up to pi / 4."""
HALF_PI = (1.5707964, -4.371139e-08, -1.7151245e-15)
"""pi / 2 as a sum of three float32 (Cody-Waite range reduction)."""
TWO_BY_PI = 0.63661975
LAST_ANGLE = 2.0**23
"""Largest angle that is reduced: beyond it neighbouring float32 lie a radian or more apart."""


def rcp(x: Value) -> Value:
    """1 / x; a zero gives infinity with the zero's sign."""
    return 1.0 / x


def rsqrt(x: Value) -> Value:
    """1 / sqrt(x), rounded twice."""
    return 1.0 / x.builder.sqrt(x)


def exp2(x: Value) -> Value:
    """2**x: the integer part becomes an exponent, a polynomial gives the rest.

    Infinity from 128 on, 0 below -150; exact for integers.
    """
    b = x.builder
    clamped = b.select(x < -151.0, -151.0, x)
    clamped = b.select(clamped > 129.0, 129.0, clamped)
    whole = b.round(clamped)
    fraction = _polynomial(clamped - whole, EXP2)
    exponent = b.ftoi(whole)
    # Scale in two steps: 2**exponent itself may be out of float32's range.  The first product is
    # exact, so only the second rounds (results may be subnormal).
    half = exponent >> 1
    return fraction * _power_of_two(half) * _power_of_two(exponent - half)


def log2(x: Value) -> Value:
    """log2(x): the exponent plus the logarithm of a mantissa between 1/sqrt(2) and sqrt(2).

    -infinity for a zero of either sign, NaN below 0, infinity for infinity.
    """
    b = x.builder
    subnormal = x < 2.0**-126
    # Subtracting the bits of sqrt(1/2) first centres the mantissa's range on 1.
    bits = b.asint(b.select(subnormal, x * 2.0**24, x))
    exponent = (bits - SQRT_HALF_BITS) >> 23
    f = b.asfloat(bits - (exponent << 23)) - 1.0
    small = f * f * _polynomial(f, LOG2) + f * LOG2_E_REST
    whole = b.itof(exponent) + b.select(subnormal, -24.0, 0.0)
    result = whole + b.fma(f, LOG2_E, small)
    # The square root gives the right result for the remaining inputs: infinity, NaN, negatives.
    special = b.select(x.eq(0.0), -math.inf, b.sqrt(x))
    return b.select((x > 0.0) & (x < math.inf), result, special)


def pow(x: Value, y: Value) -> Value:
    """x**y as exp2(y * log2(x)), where 0 times anything is 0: anything to the power 0 is 1.

    Rounding errors of the product and the logarithm grow with the exponent of the result.
    """
    return exp2(x.builder.mulz(y, log2(x)))


def sin(x: Value) -> Value:
    """Sine of radians, with the accuracy of ``sincos``."""
    quadrant, high, low = _reduced(x)
    return _in_quadrant(quadrant, _sin(high, low), _cos(high, low))


def cos(x: Value) -> Value:
    """Cosine of radians, with the accuracy of ``sincos``."""
    quadrant, high, low = _reduced(x)
    return _in_quadrant(quadrant + 1, _sin(high, low), _cos(high, low))


def sincos(x: Value) -> tuple[Value, Value]:
    """Sine and cosine of radians.

    Range reduction subtracts multiples of pi / 2, given as three parts of 24 bits.  That keeps
    full precision up to 2**20; up to ``LAST_ANGLE`` the absolute error stays below 2**-13, and a
    larger finite argument counts as 0.  NaN for infinity.
    """
    quadrant, high, low = _reduced(x)
    sine, cosine = _sin(high, low), _cos(high, low)
    return _in_quadrant(quadrant, sine, cosine), _in_quadrant(quadrant + 1, sine, cosine)


def _polynomial(x: Value, coefficients: tuple[float, ...]) -> Value:
    """Evaluate a polynomial by Horner's rule; coefficients from the lowest power up."""
    *rest, last = coefficients
    total = x * last + rest.pop()
    for coefficient in reversed(rest):
        total = total * x + coefficient
    return total


def _power_of_two(exponent: Value) -> Value:
    """2**exponent, which must be a normal float32."""
    return exponent.builder.asfloat((exponent + 127) << 23)


def _reduced(x: Value) -> tuple[Value, Value, Value]:
    """Split an angle in radians into n * pi / 2 and a rest of at most about pi / 4.

    Returns n as an integer, then the rest as the sum of two float32, the larger first.
    """
    b = x.builder
    # x - x is 0 for a large finite argument and NaN for infinity and NaN.
    x = b.select(b.abs(x) <= LAST_ANGLE, x, x - x)
    turns = b.round(x * TWO_BY_PI)
    first, second, third = HALF_PI
    rest = b.fma(-turns, first, x)
    # rest - turns * second as high + low: TwoSum gives the rounding error of the difference, the
    # fma gives the rounding error of the product.
    product = turns * second
    high = rest - product
    moved = high - rest
    lost = (rest - (high - moved)) - (product + moved)
    low = lost - b.fma(turns, second, -product) - turns * third
    return b.ftoi(turns), high, low


def _sin(high: Value, low: Value) -> Value:
    square = high * high
    return high + (square * high * _polynomial(square, SIN) + low)


def _cos(high: Value, low: Value) -> Value:
    square = high * high
    return (square * square * _polynomial(square, COS) - high * low - square * 0.5) + 1.0


def _in_quadrant(quadrant: Value, sine: Value, cosine: Value) -> Value:
    """Return the sine of an angle from the sine and cosine of its reduced angle.

    ``quadrant`` is the multiple of pi / 2 that the reduction subtracted.
    """
    b = quadrant.builder
    chosen = b.select((quadrant & 1).ne(0), cosine, sine)
    return b.select((quadrant & 2).ne(0), -chosen, chosen)
