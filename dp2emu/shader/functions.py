"""Transcendental functions, spelled in exact operations: every engine computes the same bits.

Errors are in units in the last place of the correctly rounded result, over every float32, as
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

EXP2 = (
    1.0,
    0.6931472,
    0.2402265,
    0.05550357,
    0.009618031,
    0.0013390867,
    0.00015469735,
)
"""2**f for -0.5 <= f <= 0.5 in powers of f."""

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
"""(log2(1 + f) - f / ln 2) / f**2 for 1/sqrt(2) <= 1 + f < sqrt(2)."""
LOG2_E, LOG2_E_REST = 1.442695, 1.925963e-08
"""1 / ln 2 in two parts."""
SQRT_HALF_BITS = 0x3F3504F3

SIN = (-0.16666655, 0.008332178, -0.00019517296)
"""(sin r - r) / r**3 in powers of r**2, for r up to pi / 4."""
COS = (0.041666646, -0.0013887368, 2.4438426e-05)
"""(cos r - 1 + r**2 / 2) / r**4, likewise."""
HALF_PI = (1.5707964, -4.371139e-08, -1.7151245e-15)
"""pi / 2 in three parts."""
TWO_BY_PI = 0.63661975
LAST_ANGLE = 2.0**23
"""From here on neighbouring float32 lie a radian or more apart."""


def rcp(x: Value) -> Value:
    """1 / x; infinity with the sign of x for a zero."""
    return 1.0 / x


def rsqrt(x: Value) -> Value:
    """1 / sqrt(x), rounded twice."""
    return 1.0 / x.builder.sqrt(x)


def exp2(x: Value) -> Value:
    """2**x: split into a whole number, which becomes an exponent, and a rest near 0.

    Infinity from 128 on, 0 below -150; exact for whole numbers.
    """
    b = x.builder
    clamped = b.select(x < -151.0, -151.0, x)
    clamped = b.select(clamped > 129.0, 129.0, clamped)
    whole = b.round(clamped)
    fraction = _polynomial(clamped - whole, EXP2)
    exponent = b.ftoi(whole)
    # In two halves, since an exponent of the range may be out of a float32's.  The first product
    # is exact, so that only the second rounds.
    half = exponent >> 1
    return fraction * _power_of_two(half) * _power_of_two(exponent - half)


def log2(x: Value) -> Value:
    """The exponent, plus the logarithm of a fraction between 1/sqrt(2) and sqrt(2).

    -infinity for a zero of either sign, NaN below 0, infinity for infinity.
    """
    b = x.builder
    subnormal = x < 2.0**-126
    bits = b.asint(b.select(subnormal, x * 2.0**24, x))
    exponent = (bits - SQRT_HALF_BITS) >> 23
    f = b.asfloat(bits - (exponent << 23)) - 1.0
    small = f * f * _polynomial(f, LOG2) + f * LOG2_E_REST
    whole = b.itof(exponent) + b.select(subnormal, -24.0, 0.0)
    result = whole + b.fma(f, LOG2_E, small)
    # The square root has the right answer for what is left: infinity, NaN and below 0.
    special = b.select(x.eq(0.0), -math.inf, b.sqrt(x))
    return b.select((x > 0.0) & (x < math.inf), result, special)


def pow(x: Value, y: Value) -> Value:
    """exp2(y * log2(x)), where 0 times anything is 0: anything to the power 0 is 1.

    The rounding of the product and of the logarithm grow with the result's exponent.
    """
    return exp2(x.builder.mulz(y, log2(x)))


def sin(x: Value) -> Value:
    """The first of ``sincos``."""
    quadrant, high, low = _reduced(x)
    return _in_quadrant(quadrant, _sin(high, low), _cos(high, low))


def cos(x: Value) -> Value:
    """The second of ``sincos``."""
    quadrant, high, low = _reduced(x)
    return _in_quadrant(quadrant + 1, _sin(high, low), _cos(high, low))


def sincos(x: Value) -> tuple[Value, Value]:
    """Sine and cosine of radians.

    The argument is reduced by whole multiples of pi / 2, of which three parts of 24 bits are
    used.  That carries the full precision up to 2**20; up to ``LAST_ANGLE`` the absolute error
    stays below 2**-13, and a finite argument beyond counts as 0.  NaN for infinity.
    """
    quadrant, high, low = _reduced(x)
    sine, cosine = _sin(high, low), _cos(high, low)
    return _in_quadrant(quadrant, sine, cosine), _in_quadrant(quadrant + 1, sine, cosine)


def _polynomial(x: Value, coefficients: tuple[float, ...]) -> Value:
    """Horner's rule; lowest power first."""
    *rest, last = coefficients
    total = x * last + rest.pop()
    for coefficient in reversed(rest):
        total = total * x + coefficient
    return total


def _power_of_two(exponent: Value) -> Value:
    """2**exponent of a normal float32."""
    return exponent.builder.asfloat((exponent + 127) << 23)


def _reduced(x: Value) -> tuple[Value, Value, Value]:
    """Number of the quadrant, and the angle from its middle as a sum of two float32."""
    b = x.builder
    x = b.select(b.abs(x) <= LAST_ANGLE, x, x - x)
    turns = b.round(x * TWO_BY_PI)
    first, second, third = HALF_PI
    rest = b.fma(-turns, first, x)
    # rest - turns * second, with the error of the product and of the difference (TwoSum).
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
    """The sine of an angle in that quadrant."""
    b = quadrant.builder
    chosen = b.select((quadrant & 1).ne(0), cosine, sine)
    return b.select((quadrant & 2).ne(0), -chosen, chosen)
