"""Expressions of the op table that need more than one NumPy call.

They are exact on every machine: none depends on how a CPU fuses, flushes or converts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.shader.types import F32, I32, Lanes, Type, canonical

ZERO, UNIT = np.float32(0), np.float32(1)


LEAST_NORMAL = np.float32(2.0**-126)


ALL_ONES = np.uint32(0xFFFFFFFF)

U32 = NDArray[np.uint32]


F64 = NDArray[np.float64]

_INT_MIN, _INT_MAX, _UINT_MAX = -(2.0**31), 2.0**31 - 1, 2.0**32 - 1


def unsigned(lanes: I32) -> U32:
    """The same bits, read as unsigned."""
    return lanes.view(np.uint32)


def signed(lanes: U32) -> I32:
    """The same bits, read as signed."""
    return lanes.view(np.int32)


def fma(x: F32, y: F32, z: F32) -> F32:
    """x * y + z, rounded once.

    The product of two float32 is exact in float64.  The sum is rounded to odd there: TwoSum gives
    what rounding to nearest lost, and any loss sets the last bit of the sum cut towards zero.
    With 53 bits against 24 that bit decides every tie, and the second rounding is the right one
    (Boldo and Melquiond 2008).  Rounding to nearest twice is not.
    """
    product = x.astype(np.float64) * y.astype(np.float64)
    addend = z.astype(np.float64)
    total = product + addend
    lost = _lost(product, addend, total)
    below, above = lost < 0, lost > 0
    if not (below.any() or above.any()):
        return total.astype(np.float32)
    overshot = np.where(total < 0, above, below)
    bits = (total.view(np.int64) - overshot) | (below | above)
    return bits.view(np.float64).astype(np.float32)


def _lost(a: F64, b: F64, total: F64) -> F64:
    """a + b - total, exactly (Knuth's TwoSum); NaN if the total is not finite."""
    part: F64 = total - a
    rest: F64 = (a - (total - part)) + (b - part)
    return rest


def mulz(x: F32, y: F32) -> F32:
    """x * y, but 0 times anything is +0: Direct3D 9 hardware (SM1-3 tokens, "Arithmetic")."""
    return np.where((x == ZERO) | (y == ZERO), ZERO, x * y)


def minimum(x: F32, y: F32) -> F32:
    """x < y ? x : y; if one is a NaN, the other (SM1-3 tokens, "Arithmetic")."""
    return np.where((x < y) | np.isnan(y), x, y)


def maximum(x: F32, y: F32) -> F32:
    """x >= y ? x : y; if one is a NaN, the other (SM1-3 tokens, "Arithmetic")."""
    return np.where((x >= y) | np.isnan(y), x, y)


def saturate(x: F32) -> F32:
    """Clamped to 0..1; a NaN and -0 become +0 (SM1-3 tokens, "Arithmetic")."""
    positive = np.where(x > ZERO, x, ZERO)
    return np.where(positive < UNIT, positive, UNIT)


def flush(x: F32) -> F32:
    """A zero of the same sign for what is subnormal (SM4-5 tokens, "Floats")."""
    small = np.abs(x) < LEAST_NORMAL
    return np.where(small, x * ZERO, x) if small.any() else x


def signed_high(x: I32, y: I32) -> I32:
    """The upper half of a signed product."""
    product = x.astype(np.int64) * y.astype(np.int64)
    return (product >> 32).astype(np.int32)


def unsigned_high(x: I32, y: I32) -> I32:
    """The upper half of an unsigned product."""
    product = unsigned(x).astype(np.uint64) * unsigned(y).astype(np.uint64)
    return signed((product >> np.uint64(32)).astype(np.uint32))


def unsigned_quotient(x: I32, y: I32) -> I32:
    """x / y cut off; all ones if y is 0 (Direct3D 10)."""
    divisor = unsigned(y)
    return signed(np.where(divisor == 0, ALL_ONES, unsigned(x) // np.maximum(divisor, 1)))


def unsigned_remainder(x: I32, y: I32) -> I32:
    """What is left of x; all ones if y is 0 (Direct3D 10)."""
    divisor = unsigned(y)
    return signed(np.where(divisor == 0, ALL_ONES, unsigned(x) % np.maximum(divisor, 1)))


def float_to_int(x: F32) -> I32:
    """Cut towards zero, saturated; 0 for a NaN."""
    return _clamped(x, _INT_MIN, _INT_MAX).astype(np.int32)


def float_to_uint(x: F32) -> I32:
    """Cut towards zero, saturated to 0..2**32 - 1; 0 for a NaN."""
    return signed(_clamped(x, 0.0, _UINT_MAX).astype(np.uint32))


def _clamped(x: F32, low: float, high: float) -> NDArray[np.int64]:
    """A cast in range, since one out of range is anything the CPU likes."""
    number = np.where(np.isnan(x), ZERO, x).astype(np.float64)
    return np.clip(number, low, high).astype(np.int64)


# The operations of a program: one row each, and the row's expression is its meaning.
#
# Every operation has one correct result on every machine: float32 arithmetic rounds to nearest
# even with gradual underflow (subnormals are kept, read and produced), nothing is contracted, and
# integers wrap.  The payload of a NaN is not defined; it is never visible, because the bits of a
# float32 are seen only through ``asint`` and through outputs, which make it 0x7FC00000.
#
# The names are those of the Direct3D 10 assembly where it has one: no prefix for F32, ``i`` and
# ``u`` for signed and unsigned I32, ``b`` for BOOL.  ``x > y`` is ``lt`` with the operands
# exchanged, ``x <= y`` is ``ge`` likewise.

_F, _I, _B = Type.F32, Type.I32, Type.BOOL

SHIFT_MASK = np.int32(31)
"""A shift counts by the low five bits of its second operand."""


class Op(NamedTuple):
    """Types of operands and result; ``lanes`` computes the result for NumPy lanes.

    ``lanes`` is given arrays of shape (n,) or (1,) and broadcasts.
    """

    operands: tuple[Type, ...]
    result: Type
    lanes: Callable[..., Lanes]


OPS: dict[str, Op] = {
    # F32 arithmetic
    "mov": Op((_F,), _F, lambda x: x),
    "add": Op((_F, _F), _F, lambda x, y: x + y),
    "sub": Op((_F, _F), _F, lambda x, y: x - y),
    "mul": Op((_F, _F), _F, lambda x, y: x * y),
    "mulz": Op((_F, _F), _F, mulz),
    "div": Op((_F, _F), _F, lambda x, y: x / y),
    "fma": Op((_F, _F, _F), _F, fma),
    "sqrt": Op((_F,), _F, np.sqrt),
    "floor": Op((_F,), _F, np.floor),
    "ceil": Op((_F,), _F, np.ceil),
    "round": Op((_F,), _F, np.rint),
    "trunc": Op((_F,), _F, np.trunc),
    "fract": Op((_F,), _F, lambda x: x - np.floor(x)),
    "abs": Op((_F,), _F, np.abs),
    "neg": Op((_F,), _F, np.negative),
    "min": Op((_F, _F), _F, minimum),
    "max": Op((_F, _F), _F, maximum),
    "saturate": Op((_F,), _F, saturate),
    "flush": Op((_F,), _F, flush),
    "select": Op((_B, _F, _F), _F, np.where),
    # F32 comparisons: false for NaN, but ne is true
    "lt": Op((_F, _F), _B, lambda x, y: x < y),
    "ge": Op((_F, _F), _B, lambda x, y: x >= y),
    "eq": Op((_F, _F), _B, lambda x, y: x == y),
    "ne": Op((_F, _F), _B, lambda x, y: x != y),
    # I32
    "imov": Op((_I,), _I, lambda x: x),
    "iadd": Op((_I, _I), _I, lambda x, y: x + y),
    "isub": Op((_I, _I), _I, lambda x, y: x - y),
    "imul": Op((_I, _I), _I, lambda x, y: x * y),
    "imulh": Op((_I, _I), _I, signed_high),
    "umulh": Op((_I, _I), _I, unsigned_high),
    "udiv": Op((_I, _I), _I, unsigned_quotient),
    "urem": Op((_I, _I), _I, unsigned_remainder),
    "ineg": Op((_I,), _I, np.negative),
    "iand": Op((_I, _I), _I, lambda x, y: x & y),
    "ior": Op((_I, _I), _I, lambda x, y: x | y),
    "ixor": Op((_I, _I), _I, lambda x, y: x ^ y),
    "inot": Op((_I,), _I, np.invert),
    "ishl": Op((_I, _I), _I, lambda x, y: x << (y & SHIFT_MASK)),
    "ishr": Op((_I, _I), _I, lambda x, y: x >> (y & SHIFT_MASK)),
    "ushr": Op((_I, _I), _I, lambda x, y: signed(unsigned(x) >> unsigned(y & SHIFT_MASK))),
    "iselect": Op((_B, _I, _I), _I, np.where),
    "ilt": Op((_I, _I), _B, lambda x, y: x < y),
    "ige": Op((_I, _I), _B, lambda x, y: x >= y),
    "ieq": Op((_I, _I), _B, lambda x, y: x == y),
    "ine": Op((_I, _I), _B, lambda x, y: x != y),
    "ult": Op((_I, _I), _B, lambda x, y: unsigned(x) < unsigned(y)),
    "uge": Op((_I, _I), _B, lambda x, y: unsigned(x) >= unsigned(y)),
    # BOOL
    "bmov": Op((_B,), _B, lambda x: x),
    "band": Op((_B, _B), _B, lambda x, y: x & y),
    "bor": Op((_B, _B), _B, lambda x, y: x | y),
    "bxor": Op((_B, _B), _B, lambda x, y: x ^ y),
    "bnot": Op((_B,), _B, np.invert),
    "bselect": Op((_B, _B, _B), _B, np.where),
    # Conversions: to integers they cut off the fraction and saturate, and a NaN becomes 0
    "ftoi": Op((_F,), _I, float_to_int),
    "ftou": Op((_F,), _I, float_to_uint),
    "itof": Op((_I,), _F, lambda x: x.astype(np.float32)),
    "utof": Op((_I,), _F, lambda x: unsigned(x).astype(np.float32)),
    "asint": Op((_F,), _I, lambda x: canonical(x).view(np.int32)),
    "asfloat": Op((_I,), _F, lambda x: x.view(np.float32)),
}
"""By name, in the order of their types.  Adding one is adding a row here, what it is compiled to
in ``dp2emu/shader/jit/operations.py`` and a model of it in ``tests/shader/models.py``."""
