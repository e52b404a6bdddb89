"""Inlining of formulas into a function under construction."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dp2emu.shader.formulas import Formula, operand_name, program_of
from dp2emu.shader.ir import Assign, Constant, Input, Operand, Output
from dp2emu.shader.jit.operations import EMIT
from dp2emu.shader.jit.peephole import Facts, peephole
from dp2emu.shader.jit.ranges import Range
from dp2emu.shader.jit.writer import Writer
from dp2emu.shader.types import Type

Typed = tuple[Type, str]
"""An operand of a formula: its IR type, and the name of its LLVM value."""


def emitted(
    w: Writer,
    formula: Formula,
    key: Hashable,
    operands: Sequence[Typed],
    known: Sequence[Range | None] = (),
) -> list[str]:
    """Emit a formula and return the names of its results.

    ``known`` has the operands' ranges; None, or a missing entry, is an unknown range.
    """
    program = program_of(formula, key, tuple(type for type, _ in operands))
    given = {operand_name(number): name for number, (_, name) in enumerate(operands)}
    ranges = {operand_name(number): range_ for number, range_ in enumerate(known)}
    facts = Facts.of(program, {}, ranges)
    held: dict[int, str] = {}

    def read(operand: Operand) -> str:
        return w.constant(operand) if isinstance(operand, Constant) else held[operand.number]

    results = []
    for statement in program.statements:
        if isinstance(statement, Assign):
            value = peephole(w, facts, statement, read)
            if value is None:
                value = EMIT[statement.op](w, *map(read, statement.operands))
            held[statement.slot] = value
        elif isinstance(statement, Input):
            held[statement.slot] = given[statement.port]
        else:
            assert isinstance(statement, Output)
            results.append(read(statement.value))
    return results
