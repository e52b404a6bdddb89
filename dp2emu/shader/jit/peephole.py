"""Where the sign of a zero makes no difference, so that mulz may be a plain product.

Mulz is 0 where an operand is, so it differs from a product there: by the sign, or if the other
one is no finite number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from dp2emu.records import dataclass
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
from dp2emu.shader.jit.fractions import divisor, fraction, whole_numbers
from dp2emu.shader.jit.ranges import Found, Range, Sampled, ranges
from dp2emu.shader.jit.writer import ZERO, Writer

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
    value = np.uint32(operand.bits).view(np.float32)
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


# What operations come down to where a program's text says something of their operands.
#
# Each gives the same bits as the row of ``operations``.

Read = Callable[[Operand], str]
"""Gives the name of an operand."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the slots of a program."""

    ranges: Found
    whole: frozenset[int]
    unsigned: frozenset[int]

    @classmethod
    def of(cls, program: Program, sampled: Sampled) -> Facts:
        """``sampled`` is known of what is sampled."""
        return cls(ranges(program, sampled), whole_numbers(program), unsigned_zeros(program))

    def range(self, operand: Operand) -> Range | None:
        """That of an operand, if it is a slot."""
        return self.ranges.get(operand.number) if isinstance(operand, Slot) else None


def simpler(w: Writer, facts: Facts, statement: Assign, read: Read) -> str | None:
    """The result of a statement by a shorter way, if there is one."""
    rule = _RULES.get(statement.op)
    return None if rule is None else rule(w, facts, statement, read)


def _quotient(w: Writer, facts: Facts, statement: Assign, read: Read) -> str | None:
    """A code as a fraction."""
    value, largest = statement.operands[0], divisor(statement.operands[1])
    whole = isinstance(value, Slot) and value.number in facts.whole
    return fraction(w, read(value), largest) if largest and whole else None


def _saturated(w: Writer, facts: Facts, statement: Assign, read: Read) -> str | None:
    """What is within 0..1 as it is."""
    (value,) = statement.operands
    known = facts.range(value)
    return read(value) if known is not None and known.within else None


def _cut(w: Writer, facts: Facts, statement: Assign, read: Read) -> str | None:
    """To I32, of what needs no saturation."""
    (value,) = statement.operands
    known = facts.range(value)
    if known is None or not known.converts:
        return None
    x = read(value)
    if known.nan:
        x = w.select(w(f"fcmp ord {w.f} {x}, {ZERO}"), w.f, x, ZERO)
    return w(f"fptosi {w.f} {x} to {w.i}")


def _product(w: Writer, facts: Facts, statement: Assign, read: Read) -> str | None:
    """mulz of a number with itself, or with a constant that a product with 0 is a zero for."""
    x, y = statement.operands
    factor = number_of(y) or number_of(x)
    plain = x == y or (factor and statement.slot in facts.unsigned)
    if not plain and not (factor and abs(factor) >= 1):
        return None
    value = w(f"fmul {w.f} {read(x)}, {read(y)}")
    # No number but 0 has a product of 0 with one from 1 on, and -0 + 0 is 0.
    return value if plain else w(f"fadd {w.f} {value}, {ZERO}")


def _extreme(how: str) -> Callable[[Writer, Facts, Assign, Read], str | None]:
    """Of a number and a constant, which it is not the same as a zero of another sign."""

    def rule(w: Writer, facts: Facts, statement: Assign, read: Read) -> str | None:
        x, y = statement.operands
        value, bound = (y, x) if isinstance(x, Constant) else (x, y)
        if not number_of(bound):
            return None
        given, limit = read(value), read(bound)
        return w.select(w(f"fcmp {how} {w.f} {given}, {limit}"), w.f, given, limit)

    return rule


_RULES: dict[str, Callable[[Writer, Facts, Assign, Read], str | None]] = {
    "div": _quotient,
    "saturate": _saturated,
    "ftoi": _cut,
    "mulz": _product,
    "min": _extreme("olt"),
    "max": _extreme("ogt"),
}
