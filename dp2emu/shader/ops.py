"""The operations of a program: one row each, and the row's expression is its meaning.

Every operation has one correct result on every machine: float32 and float64 arithmetic rounds
to nearest even with gradual underflow (subnormals are kept, read and produced), nothing is
contracted, and integers wrap.  The payload of a NaN is not defined; it is never
visible, because the bits of a float are seen only through ``asint`` and ``aslong`` and through
outputs, which make it 0x7FC00000, or 0x7FF8000000000000 of a float64.

The names are those of the Direct3D 10 assembly where it has one: no prefix for F32, ``i`` and
``u`` for signed and unsigned I32, ``b`` for BOOL, ``d`` for F64, ``l`` for I64.  ``x > y`` is
``lt`` with the operands exchanged, ``x <= y`` is ``ge`` likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dp2emu.shader.exact import (
    float_to_int,
    float_to_uint,
    flush,
    fma,
    fraction_code,
    maximum,
    minimum,
    mulz,
    saturate,
    signed,
    signed_high,
    unsigned,
    unsigned_high,
    unsigned_quotient,
    unsigned_remainder,
)
from dp2emu.shader.types import Lanes, Type, canonical

_F, _I, _B, _D, _L = Type.F32, Type.I32, Type.BOOL, Type.F64, Type.I64

SHIFT_MASK, WIDE_SHIFT_MASK = np.int32(31), np.int64(63)
"""A shift counts by the low five bits of its second operand, of I64 the low six."""


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
"""By name, in the order of their types.  Adding one is adding a row here, what it is compiled to
in ``dp2emu/shader/jit/operations.py`` and a model of it in ``tests/shader/models.py``."""
