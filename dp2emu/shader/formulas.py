"""Formulas: what a fixed stage computes, said once for every engine.

A formula is a function of a builder, a key and one value for each operand, that gives a value, or
a bool, for each result:

    def scaled(b: Builder, factor: float, x: Value) -> tuple[Value]:
        return (x * factor,)

Its program has no control flow and reads nothing but its operands.  The reference engine computes
it over NumPy arrays (``computed``), the compiling engine writes it into the text of a kernel
(``jit.inline.emitted``).  What moves data around it is each engine's own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dp2emu.identity_cache import identity_cached
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Assign, Constant, Input, Operand, Output, Program, Stage
from dp2emu.shader.ops import OPS
from dp2emu.shader.types import Lanes, Type
from dp2emu.shader.values import Value

Formula = Callable[..., Sequence["Value | bool"]]
"""Takes a builder, a key and values."""


def operand_name(number: int) -> str:
    """The input port of an operand."""
    return f"x{number}"


@lru_cache(maxsize=1 << 12)
def program_of(formula: Formula, key: Hashable, types: tuple[Type, ...]) -> Program:
    """The program of a formula for operands of these types; its outputs are in order."""
    b = Builder(Stage.PIXEL)
    operands = [b.input(operand_name(number), type) for number, type in enumerate(types)]
    for number, result in enumerate(formula(b, key, *operands)):
        value = result if isinstance(result, Value) else b.constant(Type.BOOL, bool(result))
        b.output(f"y{number}", value)
    return b.program()


def computed(formula: Formula, key: Hashable, *operands: Lanes | np.generic) -> list[Lanes]:
    """The results of a formula for arrays of any shapes that broadcast, and for NumPy scalars.

    Unsigned integers are taken as signed ones.  A result that depends on no operand has no axis.
    """
    lanes = [_SIGNED.get(each.dtype.char, _same)(each) for each in operands]
    steps = _steps(program_of(formula, key, tuple(_TYPES[each.dtype.char] for each in lanes)))
    held = [*lanes, *steps.constants]
    held += [held[0]] * steps.slots
    # NaN and infinity are values like any other.
    with np.errstate(all="ignore"):
        for function, place, read, done in steps.steps:
            held[place] = function(*[held[each] for each in read])
            for each in done:
                held[each] = held[0]
    return [held[place] for place in steps.results]


def _same(lanes: Any) -> Any:
    return lanes


_TYPES = {type.dtype.char: type for type in Type}
_SIGNED: dict[str, Callable[[Any], Any]] = {
    np.dtype(np.uint32).char: lambda lanes: lanes.view(np.int32),
    np.dtype(np.uint64).char: lambda lanes: lanes.view(np.int64),
}


class _Steps(NamedTuple):
    """A program as calls: operands come first, then ``constants`` and as many ``slots``.

    A step is a function, the place of its result, the places it reads, and those of them that no
    later step reads, whose arrays can go.
    """

    constants: tuple[Lanes, ...]
    slots: int
    steps: tuple[tuple[Callable[..., Lanes], int, tuple[int, ...], tuple[int, ...]], ...]
    results: tuple[int, ...]


@identity_cached()
def _steps(program: Program) -> _Steps:
    constants: dict[Constant, int] = {}
    slots: dict[int, int] = {}
    operations = [each for each in program.statements if isinstance(each, Assign)]
    outputs = [each for each in program.statements if isinstance(each, Output)]
    first = len(program.inputs)
    for operand in [o for s in operations for o in s.operands] + [o.value for o in outputs]:
        if isinstance(operand, Constant):
            constants.setdefault(operand, first + len(constants))
    for statement in program.statements:
        if isinstance(statement, Input):
            slots[statement.slot] = [port.name for port in program.inputs].index(statement.port)
        elif isinstance(statement, Assign):
            slots[statement.slot] = first + len(constants) + len(slots) - first

    def place(operand: Operand) -> int:
        return constants[operand] if isinstance(operand, Constant) else slots[operand.number]

    results = tuple(place(each.value) for each in outputs)
    last = {place(o): n for n, s in enumerate(operations) for o in s.operands}
    kept = {*results, *range(first + len(constants))}
    steps = tuple(
        (
            OPS[s.op].lanes,
            slots[s.slot],
            tuple(map(place, s.operands)),
            tuple({place(o) for o in s.operands if last[place(o)] == n} - kept),
        )
        for n, s in enumerate(operations)
    )
    scalars = tuple(np.array(each.scalar) for each in constants)
    return _Steps(scalars, len(operations), steps, results)
