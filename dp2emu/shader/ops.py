"""The op table: operand types and NumPy semantics of each operation.

Results are exact on every machine: none depends on how a CPU fuses, flushes or converts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dp2emu.shader import double_fma
from dp2emu.shader.types import F32, F64, I32, NAN_BITS, WIDE_NAN_BITS, Lanes, Type

ZERO, UNIT = np.float32(0), np.float32(1)
LEAST_NORMAL = np.float32(2.0**-126)
ALL_ONES = np.uint32(0xFFFFFFFF)

U32 = NDArray[np.uint32]

_Floats = TypeVar("_Floats", F32, F64)

_INT_MIN, _INT_MAX, _UINT_MAX = -(2.0**31), 2.0**31 - 1, 2.0**32 - 1


def unsigned(lanes: I32) -> U32:
    """Reinterpret int32 as uint32."""
    return lanes.view(np.uint32)


def signed(lanes: U32) -> I32:
    """Reinterpret uint32 as int32."""
    return lanes.view(np.int32)


def canonical(lanes: _Floats) -> _Floats:
    """Replace every NaN by ``NAN_BITS`` or ``WIDE_NAN_BITS``; returns the same array if it has
    none.
    """
    bad = np.isnan(lanes)
    if not bad.any():
        return lanes
    return np.where(bad, _NANS[lanes.dtype.itemsize], lanes)


_NANS: dict[int, NDArray[Any]] = {
    4: np.array(NAN_BITS, np.uint32).view(np.float32),
    8: np.array(WIDE_NAN_BITS, np.uint64).view(np.float64),
}


def fma(x: F32, y: F32, z: F32) -> F32:
    """x * y + z with a single rounding.

    The product of two float32 is exact in float64.  The sum is rounded to odd there: TwoSum gives
    the rounding error, and any error sets the last bit of the sum truncated toward zero.  With 53
    bits against 24 that bit decides every tie, so the second rounding is the correct one (Boldo
    and Melquiond 2008).  Rounding to nearest twice is not.
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
    """Rounding error a + b - total, exactly (Knuth's TwoSum); NaN if ``total`` is not finite."""
    part: F64 = total - a
    rest: F64 = (a - (total - part)) + (b - part)
    return rest


def mulz(x: F32, y: F32) -> F32:
    """x * y, but 0 times anything is +0: Direct3D 9 hardware (SM1-3 tokens, "Arithmetic")."""
    return np.where((x == ZERO) | (y == ZERO), ZERO, x * y)


def minimum(x: _Floats, y: _Floats) -> _Floats:
    """x < y ? x : y; if one operand is a NaN, the other (SM1-3 tokens, "Arithmetic")."""
    return np.where((x < y) | np.isnan(y), x, y)


def maximum(x: _Floats, y: _Floats) -> _Floats:
    """x >= y ? x : y; if one operand is a NaN, the other (SM1-3 tokens, "Arithmetic")."""
    return np.where((x >= y) | np.isnan(y), x, y)


def saturate(x: F32) -> F32:
    """Clamp to 0..1; a NaN and -0 become +0 (SM1-3 tokens, "Arithmetic")."""
    positive = np.where(x > ZERO, x, ZERO)
    return np.where(positive < UNIT, positive, UNIT)


def flush(x: F32) -> F32:
    """Flush a subnormal to a zero of the same sign (SM4-5 tokens, "Floats")."""
    small = np.abs(x) < LEAST_NORMAL
    return np.where(small, x * ZERO, x) if small.any() else x


def signed_high(x: I32, y: I32) -> I32:
    """Upper half of a signed 64-bit product."""
    product = x.astype(np.int64) * y.astype(np.int64)
    return (product >> 32).astype(np.int32)


def unsigned_high(x: I32, y: I32) -> I32:
    """Upper half of an unsigned 64-bit product."""
    product = unsigned(x).astype(np.uint64) * unsigned(y).astype(np.uint64)
    return signed((product >> np.uint64(32)).astype(np.uint32))


def unsigned_quotient(x: I32, y: I32) -> I32:
    """Unsigned quotient; all ones if y is 0 (Direct3D 10)."""
    divisor = unsigned(y)
    return signed(np.where(divisor == 0, ALL_ONES, unsigned(x) // np.maximum(divisor, 1)))


def unsigned_remainder(x: I32, y: I32) -> I32:
    """Unsigned remainder; all ones if y is 0 (Direct3D 10)."""
    divisor = unsigned(y)
    return signed(np.where(divisor == 0, ALL_ONES, unsigned(x) % np.maximum(divisor, 1)))


def float_to_int(x: F32 | F64) -> I32:
    """Round toward zero and saturate to the range of int32; 0 for a NaN."""
    return _clamped(x, _INT_MIN, _INT_MAX).astype(np.int32)


def float_to_uint(x: F32 | F64) -> I32:
    """Round toward zero and saturate to 0..2**32 - 1; 0 for a NaN."""
    return signed(_clamped(x, 0.0, _UINT_MAX).astype(np.uint32))


def fraction_code(x: F32, y: F32) -> I32:
    """floor(x * y + 0.5) in float64, saturated, of x clamped to 0..1; a NaN counts as 0."""
    scaled = saturate(x).astype(np.float64) * y + 0.5
    # y is nearly always a constant for which nothing needs to be saturated.
    plain = y.ndim == 0 and 0 <= y < _UINT_MAX
    return signed(scaled.astype(np.uint32)) if plain else float_to_uint(scaled)


def _clamped(x: F32 | F64, low: float, high: float) -> NDArray[np.int64]:
    """Clamp to ``low``..``high``, then convert to int64.

    The clamp precedes the conversion, since a float to integer cast out of range is undefined in
    C.
    """
    number = np.where(np.isnan(x), ZERO, x).astype(np.float64)
    return np.clip(number, low, high).astype(np.int64)


# One row per operation; the expression of a row defines it.
#
# float32 and float64 arithmetic rounds to nearest even with gradual underflow (no subnormal is
# flushed), nothing is contracted, and integers wrap.  NaN payloads are undefined but never
# observable: the bits of a float are visible only through ``asint``, ``aslong`` and outputs, which
# make every NaN 0x7FC00000, or 0x7FF8000000000000 of a float64.
#
# Names are those of Direct3D 10 assembly where it has one: no prefix for F32, ``i`` and ``u`` for
# signed and unsigned I32, ``b`` for BOOL, ``d`` for F64, ``l`` for I64.  ``x > y`` is ``lt`` with
# swapped operands, ``x <= y`` is ``ge`` likewise.

_F, _I, _B, _D, _L = Type.F32, Type.I32, Type.BOOL, Type.F64, Type.I64

SHIFT_MASK, WIDE_SHIFT_MASK = np.int32(31), np.int64(63)
"""Masks of shift counts: the low five bits count, for I64 the low six, as in Direct3D 10."""


def _applied(op: str, *operands: Any) -> Lanes:
    """Apply an operation to arrays and Python numbers."""
    return OPS[op].lanes(*operands)


class Op(NamedTuple):
    """An operation: its operand types, its result type, and the function that computes it.

    ``lanes`` takes arrays of shape (n,) or (1,), which broadcast.
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
    "imin": Op((_I, _I), _I, np.minimum),
    "imax": Op((_I, _I), _I, np.maximum),
    "umin": Op((_I, _I), _I, lambda x, y: signed(np.minimum(unsigned(x), unsigned(y)))),
    "umax": Op((_I, _I), _I, lambda x, y: signed(np.maximum(unsigned(x), unsigned(y)))),
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
    # F64
    "dmov": Op((_D,), _D, lambda x: x),
    "dadd": Op((_D, _D), _D, lambda x, y: x + y),
    "dsub": Op((_D, _D), _D, lambda x, y: x - y),
    "dmul": Op((_D, _D), _D, lambda x, y: x * y),
    "ddiv": Op((_D, _D), _D, lambda x, y: x / y),
    "dfma": Op((_D, _D, _D), _D, lambda x, y, z: double_fma.fma(_applied, x, y, z)),
    "dfloor": Op((_D,), _D, np.floor),
    "dround": Op((_D,), _D, np.rint),
    "dabs": Op((_D,), _D, np.abs),
    "dneg": Op((_D,), _D, np.negative),
    "dmin": Op((_D, _D), _D, minimum),
    "dmax": Op((_D, _D), _D, maximum),
    "dselect": Op((_B, _D, _D), _D, np.where),
    "dlt": Op((_D, _D), _B, lambda x, y: x < y),
    "dge": Op((_D, _D), _B, lambda x, y: x >= y),
    "deq": Op((_D, _D), _B, lambda x, y: x == y),
    "dne": Op((_D, _D), _B, lambda x, y: x != y),
    # I64
    "lmov": Op((_L,), _L, lambda x: x),
    "ladd": Op((_L, _L), _L, lambda x, y: x + y),
    "lsub": Op((_L, _L), _L, lambda x, y: x - y),
    "lmul": Op((_L, _L), _L, lambda x, y: x * y),
    "lneg": Op((_L,), _L, np.negative),
    "land": Op((_L, _L), _L, lambda x, y: x & y),
    "lor": Op((_L, _L), _L, lambda x, y: x | y),
    "lxor": Op((_L, _L), _L, lambda x, y: x ^ y),
    "lnot": Op((_L,), _L, np.invert),
    "lshl": Op((_L, _L), _L, lambda x, y: x << (y & WIDE_SHIFT_MASK)),
    "lshr": Op((_L, _L), _L, lambda x, y: x >> (y & WIDE_SHIFT_MASK)),
    "lmin": Op((_L, _L), _L, np.minimum),
    "lmax": Op((_L, _L), _L, np.maximum),
    "lselect": Op((_B, _L, _L), _L, np.where),
    "llt": Op((_L, _L), _B, lambda x, y: x < y),
    "lge": Op((_L, _L), _B, lambda x, y: x >= y),
    "leq": Op((_L, _L), _B, lambda x, y: x == y),
    "lne": Op((_L, _L), _B, lambda x, y: x != y),
    # Conversions: floats to integers lose the fraction and saturate, and a NaN becomes 0; ltoi
    # keeps the low bits; ftoun is a fraction's code, of which y is the largest
    "ftoi": Op((_F,), _I, float_to_int),
    "ftou": Op((_F,), _I, float_to_uint),
    "ftoun": Op((_F, _F), _I, fraction_code),
    "itof": Op((_I,), _F, lambda x: x.astype(np.float32)),
    "utof": Op((_I,), _F, lambda x: unsigned(x).astype(np.float32)),
    "asint": Op((_F,), _I, lambda x: canonical(x).view(np.int32)),
    "asfloat": Op((_I,), _F, lambda x: x.view(np.float32)),
    "ftod": Op((_F,), _D, lambda x: x.astype(np.float64)),
    "dtof": Op((_D,), _F, lambda x: x.astype(np.float32)),
    "dtoi": Op((_D,), _I, float_to_int),
    "dtou": Op((_D,), _I, float_to_uint),
    "itod": Op((_I,), _D, lambda x: x.astype(np.float64)),
    "ltod": Op((_L,), _D, lambda x: x.astype(np.float64)),
    "itol": Op((_I,), _L, lambda x: x.astype(np.int64)),
    "utol": Op((_I,), _L, lambda x: unsigned(x).astype(np.int64)),
    "ltoi": Op((_L,), _I, lambda x: x.astype(np.int32)),
    "aslong": Op((_D,), _L, lambda x: canonical(x).view(np.int64)),
    "asdouble": Op((_L,), _D, lambda x: x.view(np.float64)),
}
"""The op table: operations by name, ordered by type.

A new operation needs a row here, its LLVM code in ``dp2emu/shader/jit/operations.py`` and a model
in ``tests/shader/models.py``."""
