"""Every operation once more, on the bits of one lane, in Python's exact arithmetic.

Nothing here is shared with the op table: floats are fractions, signs and a few names, and
rounding to float32 is spelled out.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

NAN, INFINITY, SIGN = 0x7FC00000, 0x7F800000, 0x80000000
WORD = 0xFFFFFFFF

EDGES = (
    0x00000000,  # 0
    0x00000001,  # least subnormal
    0x00000003,
    0x00400000,  # half the least normal
    0x007FFFFF,  # largest subnormal
    0x00800000,  # least normal
    0x00800001,
    0x01000000,
    0x1F800000,  # 2**-64
    0x33800000,  # 2**-24
    0x33800001,
    0x3DCCCCCD,  # 0.1
    0x3EFFFFFF,
    0x3F000000,  # 0.5
    0x3F000001,
    0x3F7FFFFF,  # before 1
    0x3F800000,  # 1
    0x3F800001,  # after 1
    0x3FC00000,  # 1.5
    0x40000000,
    0x40200000,  # 2.5
    0x40490FDB,  # pi
    0x4AFFFFFF,  # 2**23 - 0.5
    0x4B000001,  # 2**23 + 1
    0x4B7FFFFF,  # 2**24 - 1
    0x4B800001,  # 2**24 + 2
    0x4EFFFFFF,  # before 2**31
    0x4F000000,  # 2**31
    0x4F7FFFFF,  # before 2**32
    0x4F800000,  # 2**32
    0x5F800000,  # 2**64
    0x7F000000,  # 2**127
    0x7F7FFFFF,  # largest
    0x7F800000,  # infinity
    0x7F800001,  # a signalling NaN
    0x7FC00000,  # the NaN
    0x7FFFFFFF,
)
FLOATS = tuple(word ^ sign for word in EDGES for sign in (0, SIGN))
FEW_FLOATS = tuple(word ^ sign for word in (*EDGES[::3], NAN) for sign in (0, SIGN))
INTEGERS = (0, 1, 2, 3, 4, 7, 30, 31, 32, 33, 63, 64, 255, 0x7FFF, 0x8000, 0xFFFF, 0x10000,
            0x00FFFFFF, 0x01000001, 0x12345678, 0x7F800001, 0x7FC00001, 0x7FFFFF80, 0x7FFFFFBF,
            0x7FFFFFC0, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0x80000080, 0x80000081,
            0xAAAAAAAA, 0xFFFFFF7F, 0xFFFFFF80, 0xFFFFFFFE, 0xFFFFFFFF)  # fmt: skip


def is_nan(x: int) -> bool:
    return x & ~SIGN > INFINITY


def is_infinite(x: int) -> bool:
    return x & ~SIGN == INFINITY


def is_zero(x: int) -> bool:
    return x & ~SIGN == 0


def number(x: int) -> float:
    """A float32 as a Python float, which holds it exactly."""
    value: float = struct.unpack("<f", struct.pack("<I", x))[0]
    return value


def exact(x: int) -> Fraction:
    """A finite float32."""
    return Fraction(number(x))


def rounded(value: Fraction, sign: int = 0) -> int:
    """The nearest float32, ties to the even one; ``sign`` is that of a zero."""
    if not value:
        return sign
    sign, size = SIGN if value < 0 else 0, abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - 24
    exponent = max(exponent + (size >= Fraction(2) ** (exponent + 24)), -149)
    units = round(size / Fraction(2) ** exponent)
    # A carry out of the significand raises the exponent by itself, up to infinity.
    words = units + ((exponent + 149) << 23)
    return sign | min(int(words), INFINITY)


def negated(x: int) -> int:
    return x ^ SIGN


def product(x: int, y: int) -> int:
    sign = (x ^ y) & SIGN
    if is_nan(x) or is_nan(y):
        return NAN
    if is_infinite(x) or is_infinite(y):
        return NAN if is_zero(x) or is_zero(y) else INFINITY | sign
    return rounded(exact(x) * exact(y), sign)


def total(x: int, y: int) -> int:
    return multiply_add(x, 0x3F800000, y)


def multiply_add(x: int, y: int, z: int) -> int:
    sign = (x ^ y) & SIGN
    if is_nan(x) or is_nan(y) or is_nan(z):
        return NAN
    if is_infinite(x) or is_infinite(y):
        if is_zero(x) or is_zero(y) or (is_infinite(z) and z & SIGN != sign):
            return NAN
        return INFINITY | sign
    if is_infinite(z):
        return z
    return rounded(exact(x) * exact(y) + exact(z), sign & z)


def quotient(x: int, y: int) -> int:
    sign = (x ^ y) & SIGN
    if is_nan(x) or is_nan(y):
        return NAN
    if is_infinite(x):
        return NAN if is_infinite(y) else INFINITY | sign
    if is_zero(y):
        return NAN if is_zero(x) else INFINITY | sign
    return sign if is_infinite(y) else rounded(exact(x) / exact(y), sign)


def root(x: int) -> int:
    if is_nan(x) or is_zero(x) or x == INFINITY:
        return x
    if x & SIGN:
        return NAN
    square = int(exact(x) * 4**200)
    below = math.isqrt(square)
    # A half more if inexact, so that no rounding sees a tie where there is none.
    return rounded(Fraction(2 * below + (below * below != square), 2**201))


def integral(rounding: Callable[[Fraction], int]) -> Callable[[int], int]:
    def model(x: int) -> int:
        if is_nan(x) or is_infinite(x):
            return x
        return rounded(Fraction(rounding(exact(x))), x & SIGN)

    return model


def fraction(x: int) -> int:
    return total(x, negated(integral(math.floor)(x)))


def smaller(x: int, y: int) -> int:
    if is_nan(x) or is_nan(y):
        return x if is_nan(y) else y
    return x if number(x) < number(y) else y


def larger(x: int, y: int) -> int:
    if is_nan(x) or is_nan(y):
        return x if is_nan(y) else y
    return x if number(x) >= number(y) else y


def clamped(x: int) -> int:
    if is_nan(x) or x & SIGN:
        return 0
    return min(x, 0x3F800000)


def to_integer(low: int, high: int) -> Callable[[int], int]:
    def model(x: int) -> int:
        if is_nan(x):
            return 0
        if is_infinite(x):
            return (low if x & SIGN else high) & WORD
        return min(max(math.trunc(exact(x)), low), high) & WORD

    return model


def signed(x: int) -> int:
    return x - (x >> 31 << 32)


def compared(test: Callable[[float, float], bool]) -> Callable[[int, int], int]:
    return lambda x, y: int(test(number(x), number(y)))


def chosen(condition: int, x: int, y: int) -> int:
    return x if condition else y


MODELS: dict[str, Callable[..., int]] = {
    "mov": lambda x: x,
    "add": total,
    "sub": lambda x, y: total(x, negated(y)),
    "mul": product,
    "mulz": lambda x, y: 0 if is_zero(x) or is_zero(y) else product(x, y),
    "div": quotient,
    "fma": multiply_add,
    "sqrt": root,
    "floor": integral(math.floor),
    "ceil": integral(math.ceil),
    "round": integral(round),
    "trunc": integral(math.trunc),
    "fract": fraction,
    "abs": lambda x: x & ~SIGN,
    "neg": negated,
    "min": smaller,
    "max": larger,
    "saturate": clamped,
    "flush": lambda x: x if x >> 23 & 0xFF else x & SIGN,
    "select": chosen,
    "lt": compared(lambda x, y: x < y),
    "ge": compared(lambda x, y: x >= y),
    "eq": compared(lambda x, y: x == y),
    "ne": compared(lambda x, y: x != y),
    "imov": lambda x: x,
    "iadd": lambda x, y: x + y & WORD,
    "isub": lambda x, y: x - y & WORD,
    "imul": lambda x, y: x * y & WORD,
    "imulh": lambda x, y: signed(x) * signed(y) >> 32 & WORD,
    "umulh": lambda x, y: x * y >> 32,
    "udiv": lambda x, y: x // y if y else WORD,
    "urem": lambda x, y: x % y if y else WORD,
    "ineg": lambda x: -x & WORD,
    "iand": lambda x, y: x & y,
    "ior": lambda x, y: x | y,
    "ixor": lambda x, y: x ^ y,
    "inot": lambda x: ~x & WORD,
    "ishl": lambda x, y: x << y % 32 & WORD,
    "ishr": lambda x, y: signed(x) >> y % 32 & WORD,
    "ushr": lambda x, y: x >> y % 32,
    "iselect": chosen,
    "ilt": lambda x, y: int(signed(x) < signed(y)),
    "ige": lambda x, y: int(signed(x) >= signed(y)),
    "ieq": lambda x, y: int(x == y),
    "ine": lambda x, y: int(x != y),
    "ult": lambda x, y: int(x < y),
    "uge": lambda x, y: int(x >= y),
    "bmov": lambda x: x,
    "band": lambda x, y: x & y,
    "bor": lambda x, y: x | y,
    "bxor": lambda x, y: x ^ y,
    "bnot": lambda x: 1 - x,
    "bselect": chosen,
    "ftoi": to_integer(-(2**31), 2**31 - 1),
    "ftou": to_integer(0, 2**32 - 1),
    "itof": lambda x: rounded(Fraction(signed(x))),
    "utof": lambda x: rounded(Fraction(x)),
    "asint": lambda x: NAN if is_nan(x) else x,
    "asfloat": lambda x: x,
}
"""Bits of the result for the bits of the operands; a BOOL is 0 or 1."""
