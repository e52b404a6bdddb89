"""The numeric rules of Direct3D 10 once more, on words, in Python's exact arithmetic.

Shared with the lowering is nothing.  ``tests.shader.models`` rounds; here stand flushing of
subnormals, special values, and the integers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

from tests.shader.models import (
    INFINITY,
    NAN,
    SIGN,
    WORD,
    exact,
    integral,
    is_infinite,
    is_nan,
    is_zero,
    larger,
    negated,
    number,
    product,
    quotient,
    root,
    rounded,
    signed,
    smaller,
    total,
)

Model = Callable[..., int | tuple[int, int]]

ONE = 0x3F800000


def flushed(x: int) -> int:
    return x if x >> 23 & 0xFF else x & SIGN


def floating(model: Callable[..., int]) -> Model:
    """Arithmetic: flushed on the way in and out, a NaN as it is seen."""

    def flush_around(*operands: int) -> int:
        found = flushed(model(*map(flushed, operands)))
        return NAN if is_nan(found) else found

    return flush_around


def from_float(model: Callable[[int], int]) -> Model:
    return lambda x: model(flushed(x))


def comparing(test: Callable[[float, float], bool]) -> Model:
    return lambda x, y: WORD if test(number(flushed(x)), number(flushed(y))) else 0


def truth(test: Callable[[int, int], bool]) -> Model:
    return lambda x, y: WORD if test(x, y) else 0


def on_signed(test: Callable[[int, int], bool]) -> Callable[[int, int], bool]:
    return lambda x, y: test(signed(x), signed(y))


def saturated(x: int) -> int:
    if is_nan(x) or x & SIGN:
        return 0
    return min(x, ONE)


def fraction(x: int) -> int:
    if is_nan(x) or is_infinite(x):
        return NAN
    found = rounded(exact(x) - math.floor(exact(x)))
    return min(found, 0x3F7FFFFF)


def to_integer(low: int, high: int) -> Callable[[int], int]:
    def model(x: int) -> int:
        if is_nan(x):
            return 0
        if is_infinite(x):
            return (low if x & SIGN else high) & WORD
        return min(max(int(exact(x)), low), high) & WORD

    return model


def to_half(x: int) -> int:
    sign = x >> 16 & 0x8000
    if is_nan(x):
        return 0x7E00
    if is_infinite(x):
        return sign | 0x7C00
    size = abs(exact(x))
    if size >= 65504:
        return sign | 0x7BFF
    exponent = -14
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    units = int(size / Fraction(2) ** (exponent - 10))
    return sign | (units + (exponent + 14 << 10))


def from_half(x: int) -> int:
    (value,) = struct.unpack("<e", struct.pack("<H", x & 0xFFFF))
    if math.isnan(value):
        return NAN
    (word,) = struct.unpack("<I", struct.pack("<f", value))
    return int(word)


def dot(size: int) -> Callable[..., int]:
    """Operands x0, x1, .. y0, y1, ..; from x to w."""

    def model(*operands: int) -> int:
        found = product(operands[0], operands[size])
        for c in range(1, size):
            found = total(found, product(operands[c], operands[size + c]))
        return found

    return model


def wide(x: int) -> tuple[int, int]:
    return x >> 32 & WORD, x & WORD


def quotients(x: int, y: int) -> tuple[int, int]:
    return divmod(x, y) if y else (WORD, WORD)


def bits(x: int) -> str:
    return f"{x:032b}"


def found_at(place: int) -> int:
    return place & WORD


def first_signed(x: int) -> int:
    other = "1" if bits(x)[0] == "0" else "0"
    return found_at(bits(x).find(other))


def extracted(width: int, offset: int, x: int) -> int:
    width, offset = width % 32, offset % 32
    return x >> offset & (1 << width) - 1


def extracted_signed(width: int, offset: int, x: int) -> int:
    width, offset = width % 32, offset % 32
    if not width:
        return 0
    width = min(width, 32 - offset)
    field = x >> offset & (1 << width) - 1
    return field - (field >> width - 1 << width) & WORD


def inserted(width: int, offset: int, x: int, base: int) -> int:
    width, offset = width % 32, offset % 32
    mask = ((1 << width) - 1 << offset) & WORD
    return (x << offset & mask) | (base & ~mask)


def swapped(condition: int, x: int, y: int) -> tuple[int, int]:
    return (y, x) if condition else (x, y)


def borrowed(x: int, y: int) -> tuple[int, int]:
    return x - y & WORD, int(x < y)


def masked_differences(reference: int, x: int, total: int) -> int:
    pairs = zip(reference.to_bytes(4, "little"), x.to_bytes(4, "little"), strict=True)
    return min(total + sum(abs(one - other) for one, other in pairs if one), WORD)


FLOAT: dict[str, tuple[int, Model]] = {
    "add": (2, floating(total)),
    "mul": (2, floating(product)),
    "mad": (3, floating(lambda x, y, z: total(product(x, y), z))),
    "div": (2, floating(quotient)),
    "min": (2, floating(smaller)),
    "max": (2, floating(larger)),
    "frc": (1, floating(fraction)),
    "round_ne": (1, floating(integral(round))),
    "round_ni": (1, floating(integral(math.floor))),
    "round_pi": (1, floating(integral(math.ceil))),
    "round_z": (1, floating(integral(math.trunc))),
    "sqrt": (1, floating(root)),
    "rcp": (1, floating(lambda x: quotient(ONE, x))),
    "rsq": (1, floating(lambda x: quotient(ONE, root(x)))),
}
"""Operands and meaning of what takes and gives floats, and may saturate."""

OTHERS: dict[str, tuple[str, Model]] = {
    "eq": ("ff", comparing(lambda x, y: x == y)),
    "ge": ("ff", comparing(lambda x, y: x >= y)),
    "lt": ("ff", comparing(lambda x, y: x < y)),
    "ne": ("ff", comparing(lambda x, y: x != y)),
    "ftoi": ("f", from_float(to_integer(-(2**31), 2**31 - 1))),
    "ftou": ("f", from_float(to_integer(0, 2**32 - 1))),
    "f32tof16": ("f", from_float(to_half)),
    "f16tof32": ("i", lambda x: from_half(x)),
    "itof": ("i", lambda x: rounded(Fraction(signed(x)))),
    "utof": ("i", lambda x: rounded(Fraction(x))),
    "and": ("ii", lambda x, y: x & y),
    "or": ("ii", lambda x, y: x | y),
    "xor": ("ii", lambda x, y: x ^ y),
    "not": ("i", lambda x: ~x & WORD),
    "ishl": ("ii", lambda x, y: x << y % 32 & WORD),
    "ishr": ("ii", lambda x, y: signed(x) >> y % 32 & WORD),
    "ushr": ("ii", lambda x, y: x >> y % 32),
    "iadd": ("ii", lambda x, y: x + y & WORD),
    "imad": ("iii", lambda x, y, z: x * y + z & WORD),
    "umad": ("iii", lambda x, y, z: x * y + z & WORD),
    "imul": ("ii", lambda x, y: wide(signed(x) * signed(y))),
    "umul": ("ii", lambda x, y: wide(x * y)),
    "udiv": ("ii", quotients),
    "ineg": ("i", lambda x: -x & WORD),
    "imax": ("ii", lambda x, y: max(signed(x), signed(y)) & WORD),
    "imin": ("ii", lambda x, y: min(signed(x), signed(y)) & WORD),
    "umax": ("ii", max),
    "umin": ("ii", min),
    "ieq": ("ii", truth(lambda x, y: x == y)),
    "ine": ("ii", truth(lambda x, y: x != y)),
    "ige": ("ii", truth(on_signed(lambda x, y: x >= y))),
    "ilt": ("ii", truth(on_signed(lambda x, y: x < y))),
    "uge": ("ii", truth(lambda x, y: x >= y)),
    "ult": ("ii", truth(lambda x, y: x < y)),
    "uaddc": ("ii", lambda x, y: (x + y & WORD, x + y >> 32)),
    "usubb": ("ii", borrowed),
    "countbits": ("i", lambda x: bits(x).count("1")),
    "firstbit_hi": ("i", lambda x: found_at(bits(x).find("1"))),
    "firstbit_lo": ("i", lambda x: found_at(bits(x)[::-1].find("1"))),
    "firstbit_shi": ("i", first_signed),
    "bfrev": ("i", lambda x: int(bits(x)[::-1], 2)),
    "ubfe": ("iii", extracted),
    "ibfe": ("iii", extracted_signed),
    "bfi": ("iiii", inserted),
    "msad": ("iii", masked_differences),
    "swapc": ("iii", swapped),
    "movc": ("iii", lambda condition, x, y: x if condition else y),
    "mov": ("i", lambda x: x),
}
"""Kinds of operands, and the result or both results, as words."""

__all__ = [
    "FLOAT",
    "INFINITY",
    "NAN",
    "ONE",
    "OTHERS",
    "SIGN",
    "dot",
    "floating",
    "flushed",
    "is_nan",
    "is_zero",
    "negated",
    "saturated",
]  # fmt: skip
