"""Expressions of the op table that need more than one NumPy call.

They are exact on every machine: none depends on how a CPU fuses, flushes or converts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dp2emu.shader.types import F32, I32

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
