"""Normalisation of n-bit codes, c / (2^n - 1), by multiplication, and the inverse conversion.

The code times the reciprocal, given as a sum of two floats whose small product is rounded first,
is the correctly rounded quotient for every integer below 2^16 and every n up to 16.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from dp2emu.identity_cache import identity_cached
from dp2emu.shader.ir import Assign, Constant, Operand, Program, Slot, walk, written
from dp2emu.shader.jit.writer import Writer, constant
from dp2emu.shader.types import Type

BITS = 16
"""Most bits of the code and of the divisor."""
_LARGEST = (1 << BITS) - 1
_DIVISORS = {
    Constant.of(Type.F32, float((1 << bits) - 1)): (1 << bits) - 1 for bits in range(1, BITS + 1)
}


def fraction(w: Writer, value: str, largest: int) -> str:
    """Emit value / largest for integers of at most ``BITS`` bits and either sign."""
    if not w.target.fused or largest > _LARGEST:
        return w(f"fdiv {w.f} {value}, {_constant(largest)}")
    about, beyond = (_constant(float(part)) for part in parts(largest))
    return w.float_call("fma", value, about, w(f"fmul {w.f} {value}, {beyond}"))


def parts(largest: int) -> tuple[np.float32, np.float32]:
    """Return the reciprocal as a sum of two floats."""
    about = np.float32(1) / np.float32(largest)
    return about, np.float32((1 - float(about) * largest) / largest)


def byte_fraction(w: Writer, words: str, number: int) -> str:
    """Emit code / 255 for a byte of each word: 2^-32 times the byte four times over, rounded up.

    The binary expansion of the quotient repeats the byte without end, and the float has at most 24
    bits from the byte's first set bit on.  The remainder after these bits therefore always begins
    with a set bit and exceeds half a unit in the last place: rounding up is rounding to nearest.
    """
    width = w.target.width
    bytes, count = f"<{4 * width} x i8>", 4 * width
    each = w(f"bitcast {w.i} {words} to {bytes}")
    four = w.picked(bytes, each, "poison", tuple(n // 4 * 4 + number for n in range(count)))
    repeated = w(f"bitcast {bytes} {four} to {w.i}")
    name = "llvm.x86.avx512.uitofp.round.v16f32.v16i32"
    value = w.call(name, w.f, (w.i, repeated), ("i32", str(_UP)))
    return w(f"fmul {w.f} {value}, {_constant(2.0**-32)}")


_UP = 10
"""Rounding mode of the conversion: up, without exceptions."""
_EXACT = frozenset((1 << bits) - 1 for bits in range(2, 17))
"""Largest codes for which a single fma rounds as defined: the product is exact, and the only tie,
at one half, rounds up to an even number."""


def fraction_code(w: Writer, value: str, largest: float) -> str:
    """Emit floor(c * largest + 0.5) as i32 for c within 0..1; ``largest`` is below 2^31."""
    if largest in _EXACT and w.target.fused:
        rounded = w.float_call("fma", value, _constant(largest), _constant(2.0**23))
        # Clear the upper byte, which holds the exponent of 2^23; a later shift may do so anyway.
        return w(f"and {w.i} {w(f'bitcast {w.f} {rounded} to {w.i}')}, splat (i32 {0xFFFFFF})")
    factor, half = (constant(Constant.of(Type.F64, each)) for each in (largest, 0.5))
    scaled = w(f"fmul {w.d} {w(f'fpext {w.f} {value} to {w.d}')}, {factor}")
    return w(f"fptosi {w.d} {w(f'fadd {w.d} {scaled}, {half}')} to {w.i}")


def _constant(value: float) -> str:
    return constant(Constant.of(Type.F32, value))


def divisor(operand: Operand) -> int | None:
    """Return the divisor that a constant is, None for other operands."""
    return _DIVISORS.get(operand) if isinstance(operand, Constant) else None


@identity_cached()
def made_once(program: Program) -> dict[int, Assign]:
    """Return the Assign of each slot with a single assignment."""
    statements = [*walk(program.statements)]
    places = Counter(slot for statement in statements for slot in written(statement))
    return {s.slot: s for s in statements if isinstance(s, Assign) and places[s.slot] == 1}


@identity_cached()
def whole_numbers(program: Program) -> frozenset[int]:
    """Return the F32 slots that hold only integers of at most ``BITS`` bits.

    Each has a single assignment, as do the slots it is computed from; before it they hold 0.
    """
    made = made_once(program)
    small = {slot for slot, s in made.items() if _is_small(s)}
    converted = {slot: s.operands[0] for slot, s in made.items() if s.op in ("itof", "utof")}
    return frozenset(slot for slot, value in converted.items()
                     if isinstance(value, Slot) and value.number in small)  # fmt: skip


def _is_small(statement: Assign) -> bool:
    """Whether the result is an integer of at most ``BITS`` bits by a mask or a shift."""
    last = statement.operands[-1]
    if not isinstance(last, Constant):
        return False
    masked = statement.op == "iand" and 0 <= last.bits <= _LARGEST
    return masked or (statement.op in ("ushr", "ishr") and BITS <= last.bits < 32)
