"""Every operation once more, on the bits of one lane, in Python's exact arithmetic.

Nothing here is shared with the op table: floats are fractions, signs and a few names, and
rounding is spelled out.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

NAN, INFINITY, SIGN = 0x7FC00000, 0x7F800000, 0x80000000
WORD, LONG = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF

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
DOUBLES = tuple(
    word ^ sign
    for word in (
        0x0000000000000000,  # 0
        0x0000000000000001,  # least subnormal
        0x000FFFFFFFFFFFFF,  # largest subnormal
        0x0010000000000000,  # least normal
        0x3690000000000000,  # 2**-150, half the least float32
        0x36A0000000000001,  # after 2**-149
        0x380FFFFFE0000000,  # before 2**-126, a tie of float32
        0x3810000000000000,  # 2**-126
        0x3DF0000000000000,  # 2**-32
        0x3FB999999999999A,  # 0.1
        0x3FDFFFFFFFFFFFFF,  # before 0.5
        0x3FE0000000000000,  # 0.5
        0x3FEFFFFFFFFFFFFF,  # before 1
        0x3FF0000000000000,  # 1
        0x3FF0000010000000,  # 1 + 2**-24, a tie of float32
        0x3FF0000010000001,
        0x3FF0000030000000,
        0x3FF8000000000000,  # 1.5
        0x4004000000000000,  # 2.5
        0x41DFFFFFFFC00000,  # 2**31 - 1
        0x41DFFFFFFFE00000,  # 2**31 - 0.5
        0x41E0000000000000,  # 2**31
        0x41E0000000100000,  # 2**31 + 0.5
        0x41E0000000200000,  # 2**31 + 1
        0x41EFFFFFFFF00000,  # 2**32 - 0.5
        0x41F0000000000000,  # 2**32
        0x4330000000000001,  # 2**52 + 1
        0x433FFFFFFFFFFFFF,  # 2**53 - 1
        0x43E0000000000000,  # 2**63
        0x47EFFFFFE0000000,  # largest float32
        0x47EFFFFFF0000000,  # the tie of it and infinity
        0x7FEFFFFFFFFFFFFF,  # largest
        0x7FF0000000000000,  # infinity
        0x7FF0000000000001,  # a signalling NaN
        0x7FF8000000000000,  # the NaN
        0x7FFFFFFFFFFFFFFF,
    )
    for sign in (0, 1 << 63)
)
LONGS = (0, 1, 2, 5, 31, 32, 63, 64, 65, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000,
         0x0123456789ABCDEF, 0x001FFFFFFFFFFFFF, 0x0020000000000001, 0x0020000000000003,
         0x7FFFFFFFFFFFFBFF, 0x7FFFFFFFFFFFFC00, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
         0x8000000000000001, 0xAAAAAAAAAAAAAAAA, 0xFFFFFFFF80000000, 0xFFFFFFFFFFFFFFFE,
         0xFFFFFFFFFFFFFFFF)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A type of floats: its width, bits of precision, and the exponent of its least number."""

    bits: int
    precision: int
    least: int

    @property
    def sign(self) -> int:
        return 1 << self.bits - 1

    @property
    def infinity(self) -> int:
        return self.sign - (1 << self.precision - 1)

    @property
    def nan(self) -> int:
        return self.infinity | 1 << self.precision - 2

    @property
    def one(self) -> int:
        return self.infinity >> 1 & -(1 << self.precision - 1)


SINGLE, DOUBLE = Kind(32, 24, -149), Kind(64, 53, -1074)


def is_nan(x: int, kind: Kind = SINGLE) -> bool:
    return x & ~kind.sign > kind.infinity


def is_infinite(x: int, kind: Kind = SINGLE) -> bool:
    return x & ~kind.sign == kind.infinity


def is_zero(x: int, kind: Kind = SINGLE) -> bool:
    return x & ~kind.sign == 0


def number(x: int, kind: Kind = SINGLE) -> float:
    """A float as a Python float, which holds it exactly."""
    letters = "fI" if kind is SINGLE else "dQ"
    value: float = struct.unpack(f"<{letters[0]}", struct.pack(f"<{letters[1]}", x))[0]
    return value


def exact(x: int, kind: Kind = SINGLE) -> Fraction:
    """A finite float."""
    return Fraction(number(x, kind))


def rounded(value: Fraction, sign: int = 0, kind: Kind = SINGLE) -> int:
    """The nearest float, ties to the even one; ``sign`` is that of a zero."""
    if not value:
        return sign
    sign, size = kind.sign if value < 0 else 0, abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - kind.precision
    above = size >= Fraction(2) ** (exponent + kind.precision)
    exponent = max(exponent + above, kind.least)
    units = round(size / Fraction(2) ** exponent)
    # A carry out of the significand raises the exponent by itself, up to infinity.
    words = units + ((exponent - kind.least) << kind.precision - 1)
    return sign | min(int(words), kind.infinity)


def negated(x: int, kind: Kind = SINGLE) -> int:
    return x ^ kind.sign


def product(x: int, y: int, kind: Kind = SINGLE) -> int:
    sign = (x ^ y) & kind.sign
    if is_nan(x, kind) or is_nan(y, kind):
        return kind.nan
    if is_infinite(x, kind) or is_infinite(y, kind):
        return kind.nan if is_zero(x, kind) or is_zero(y, kind) else kind.infinity | sign
    return rounded(exact(x, kind) * exact(y, kind), sign, kind)


def total(x: int, y: int, kind: Kind = SINGLE) -> int:
    return multiply_add(x, kind.one, y, kind)


def multiply_add(x: int, y: int, z: int, kind: Kind = SINGLE) -> int:
    sign = (x ^ y) & kind.sign
    if is_nan(x, kind) or is_nan(y, kind) or is_nan(z, kind):
        return kind.nan
    if is_infinite(x, kind) or is_infinite(y, kind):
        none = is_zero(x, kind) or is_zero(y, kind)
        if none or (is_infinite(z, kind) and z & kind.sign != sign):
            return kind.nan
        return kind.infinity | sign
    if is_infinite(z, kind):
        return z
    return rounded(exact(x, kind) * exact(y, kind) + exact(z, kind), sign & z, kind)


def quotient(x: int, y: int, kind: Kind = SINGLE) -> int:
    sign = (x ^ y) & kind.sign
    if is_nan(x, kind) or is_nan(y, kind):
        return kind.nan
    if is_infinite(x, kind):
        return kind.nan if is_infinite(y, kind) else kind.infinity | sign
    if is_zero(y, kind):
        return kind.nan if is_zero(x, kind) else kind.infinity | sign
    return sign if is_infinite(y, kind) else rounded(exact(x, kind) / exact(y, kind), sign, kind)


def root(x: int) -> int:
    if is_nan(x) or is_zero(x) or x == INFINITY:
        return x
    if x & SIGN:
        return NAN
    square = int(exact(x) * 4**200)
    below = math.isqrt(square)
    # A half more if inexact, so that no rounding sees a tie where there is none.
    return rounded(Fraction(2 * below + (below * below != square), 2**201))


def integral(rounding: Callable[[Fraction], int], kind: Kind = SINGLE) -> Callable[[int], int]:
    def model(x: int) -> int:
        if is_nan(x, kind) or is_infinite(x, kind):
            return x
        return rounded(Fraction(rounding(exact(x, kind))), x & kind.sign, kind)

    return model


def fraction(x: int) -> int:
    return total(x, negated(integral(math.floor)(x)))


def smaller(x: int, y: int, kind: Kind = SINGLE) -> int:
    if is_nan(x, kind) or is_nan(y, kind):
        return x if is_nan(y, kind) else y
    return x if number(x, kind) < number(y, kind) else y


def larger(x: int, y: int, kind: Kind = SINGLE) -> int:
    if is_nan(x, kind) or is_nan(y, kind):
        return x if is_nan(y, kind) else y
    return x if number(x, kind) >= number(y, kind) else y


def clamped(x: int) -> int:
    if is_nan(x) or x & SIGN:
        return 0
    return min(x, 0x3F800000)


def to_integer(low: int, high: int, kind: Kind = SINGLE) -> Callable[[int], int]:
    def model(x: int) -> int:
        if is_nan(x, kind):
            return 0
        if is_infinite(x, kind):
            return (low if x & kind.sign else high) & WORD
        return min(max(math.trunc(exact(x, kind)), low), high) & WORD

    return model


def code(x: int, y: int) -> int:
    """In float64, so that both the product and the sum are rounded there."""
    product_ = product(converted(SINGLE, DOUBLE)(clamped(x)), converted(SINGLE, DOUBLE)(y), DOUBLE)
    half = rounded(Fraction(1, 2), 0, DOUBLE)
    return to_integer(0, 2**32 - 1, DOUBLE)(total(product_, half, DOUBLE))


def signed(x: int, bits: int = 32) -> int:
    return x - (x >> bits - 1 << bits)


def compared(
    test: Callable[[float, float], bool], kind: Kind = SINGLE
) -> Callable[[int, int], int]:
    return lambda x, y: int(test(number(x, kind), number(y, kind)))


def converted(given: Kind, kind: Kind) -> Callable[[int], int]:
    def model(x: int) -> int:
        if is_nan(x, given):
            return kind.nan
        sign = kind.sign if x & given.sign else 0
        return (
            kind.infinity | sign if is_infinite(x, given) else rounded(exact(x, given), sign, kind)
        )

    return model


def long(x: int) -> int:
    return signed(x, 64)


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
    "imin": lambda x, y: min(x, y, key=signed),
    "imax": lambda x, y: max(x, y, key=signed),
    "umin": min,
    "umax": max,
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
    "dmov": lambda x: x,
    "dadd": lambda x, y: total(x, y, DOUBLE),
    "dsub": lambda x, y: total(x, negated(y, DOUBLE), DOUBLE),
    "dmul": lambda x, y: product(x, y, DOUBLE),
    "ddiv": lambda x, y: quotient(x, y, DOUBLE),
    "dfma": lambda x, y, z: multiply_add(x, y, z, DOUBLE),
    "dfloor": integral(math.floor, DOUBLE),
    "dround": integral(round, DOUBLE),
    "dabs": lambda x: x & ~DOUBLE.sign,
    "dneg": lambda x: negated(x, DOUBLE),
    "dmin": lambda x, y: smaller(x, y, DOUBLE),
    "dmax": lambda x, y: larger(x, y, DOUBLE),
    "dselect": chosen,
    "dlt": compared(lambda x, y: x < y, DOUBLE),
    "dge": compared(lambda x, y: x >= y, DOUBLE),
    "deq": compared(lambda x, y: x == y, DOUBLE),
    "dne": compared(lambda x, y: x != y, DOUBLE),
    "lmov": lambda x: x,
    "ladd": lambda x, y: x + y & LONG,
    "lsub": lambda x, y: x - y & LONG,
    "lmul": lambda x, y: x * y & LONG,
    "lneg": lambda x: -x & LONG,
    "land": lambda x, y: x & y,
    "lor": lambda x, y: x | y,
    "lxor": lambda x, y: x ^ y,
    "lnot": lambda x: ~x & LONG,
    "lshl": lambda x, y: x << y % 64 & LONG,
    "lshr": lambda x, y: long(x) >> y % 64 & LONG,
    "lmin": lambda x, y: min(x, y, key=long),
    "lmax": lambda x, y: max(x, y, key=long),
    "lselect": chosen,
    "llt": lambda x, y: int(long(x) < long(y)),
    "lge": lambda x, y: int(long(x) >= long(y)),
    "leq": lambda x, y: int(x == y),
    "lne": lambda x, y: int(x != y),
    "ftoi": to_integer(-(2**31), 2**31 - 1),
    "ftou": to_integer(0, 2**32 - 1),
    "ftoun": code,
    "itof": lambda x: rounded(Fraction(signed(x))),
    "utof": lambda x: rounded(Fraction(x)),
    "asint": lambda x: NAN if is_nan(x) else x,
    "asfloat": lambda x: x,
    "ftod": converted(SINGLE, DOUBLE),
    "dtof": converted(DOUBLE, SINGLE),
    "dtoi": to_integer(-(2**31), 2**31 - 1, DOUBLE),
    "dtou": to_integer(0, 2**32 - 1, DOUBLE),
    "itod": lambda x: rounded(Fraction(signed(x)), 0, DOUBLE),
    "ltod": lambda x: rounded(Fraction(long(x)), 0, DOUBLE),
    "itol": lambda x: signed(x) & LONG,
    "utol": lambda x: x,
    "ltoi": lambda x: x & WORD,
    "aslong": lambda x: DOUBLE.nan if is_nan(x, DOUBLE) else x,
    "asdouble": lambda x: x,
}
"""Bits of the result for the bits of the operands; a BOOL is 0 or 1."""
