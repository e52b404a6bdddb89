"""Normalisation of n-bit codes, c / (2^n - 1), by multiplication.

The code times the reciprocal, given as a sum of two floats whose small product is rounded first,
is the correctly rounded quotient for every integer below 2^16 and every n up to 16.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

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
    divisor = constant(Constant.of(Type.F32, float(largest)))
    if not w.target.fused or largest > _LARGEST:
        return w(f"fdiv {w.f} {value}, {divisor}")
    about, beyond = (constant(Constant.of(Type.F32, float(part))) for part in parts(largest))
    return w.float_call("fma", value, about, w(f"fmul {w.f} {value}, {beyond}"))


def parts(largest: int) -> tuple[np.float32, np.float32]:
    """Return the reciprocal as a sum of two floats."""
    about = np.float32(1) / np.float32(largest)
    return about, np.float32((1 - float(about) * largest) / largest)


def divisor(operand: Operand) -> int | None:
    """Return the divisor that a constant is, None for other operands."""
    return _DIVISORS.get(operand) if isinstance(operand, Constant) else None


def whole_numbers(program: Program) -> frozenset[int]:
    """Return the F32 slots that hold only integers of at most ``BITS`` bits.

    Each has a single assignment, as do the slots it is computed from; before it they hold 0.
    """
    statements = [*walk(program.statements)]
    places = Counter(slot for statement in statements for slot in written(statement))
    once = {slot for slot, count in places.items() if count == 1}
    made = {s.slot: s for s in statements if isinstance(s, Assign) and s.slot in once}
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
    return masked or (statement.op == "ushr" and BITS <= last.bits < 32)
