"""Where the sign of a zero makes no difference, so that mulz may be a plain product.

Mulz is 0 where an operand is, so it differs from a product there: by the sign, or if the other
one is no finite number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from dp2emu.shader.ir import (
    Assign,
    Constant,
    Operand,
    Program,
    Slot,
    Statement,
    of_program,
    operands,
    walk,
)

_BLIND = frozenset(("mulz", "abs", "lt", "ge", "eq", "ne", "saturate", "fract", "ftoi", "ftou"))
"""Ops whose results are the same for both zeros."""
_KEEPING = frozenset(("mov", "add", "sub", "mul", "neg", "sqrt", "floor", "select", "min", "max"))
"""Ops whose results are the same, or zeros of two signs."""


@of_program
def unsigned_zeros(program: Program) -> frozenset[int]:
    """Slots the sign of whose zeros nothing depends on."""
    uses: dict[int, list[Statement]] = defaultdict(list)
    for statement in walk(program.statements):
        for operand in operands(statement):
            if isinstance(operand, Slot):
                uses[operand.number].append(statement)
    signed = {slot for slot, each in uses.items() if not all(map(_may_be_blind, each))}
    size = -1
    while size < len(signed):
        size = len(signed)
        for slot, each in uses.items():
            if slot not in signed and any(_shows(s, slot, signed) for s in each):
                signed.add(slot)
    return frozenset(uses.keys() - signed)


def _may_be_blind(statement: Statement) -> bool:
    return isinstance(statement, Assign) and statement.op in _BLIND | _KEEPING


def _shows(statement: Statement, slot: int, signed: set[int]) -> bool:
    """Whether the sign of a zero operand can be seen in what a statement assigns."""
    assert isinstance(statement, Assign)
    if statement.op in _BLIND:
        return False
    hides = _HIDING.get(statement.op)
    if hides is not None and any(hides(each) for each in statement.operands if each != Slot(slot)):
        return False
    return statement.slot in signed


def number_of(operand: Operand) -> float | None:
    """A constant that is a finite number."""
    if not isinstance(operand, Constant):
        return None
    value = operand.scalar
    return float(value) if np.isfinite(value) else None


def _is(test: Callable[[float], bool]) -> Callable[[Operand], bool]:
    def holds(operand: Operand) -> bool:
        value = number_of(operand)
        return value is not None and test(value)

    return holds


_HIDING: dict[str, Callable[[Operand], bool]] = {
    "add": _is(lambda value: value != 0 or not np.signbit(value)),
    "sub": _is(lambda value: value != 0),
    "min": _is(lambda value: value < 0),
    "max": _is(lambda value: value > 0),
}
"""Which numbers beside a zero make the result the same for both."""
