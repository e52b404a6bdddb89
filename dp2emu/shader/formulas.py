"""Formulas: computations of fixed-function stages, defined once for both engines.

A formula is a function of a builder, a key and one value for each operand; it returns a value, or
a bool, for each result:

    def scaled(b: Builder, factor: float, x: Value) -> tuple[Value]:
        return (x * factor,)

Its program has no control flow and reads only its operands.  The reference engine evaluates it
over NumPy arrays (``computed``), the compiling engine inlines it into a kernel
(``jit.inline.emitted``).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Assign, Constant, Input, Operand, Output, Program, Stage
from dp2emu.shader.ops import OPS
from dp2emu.shader.types import Lanes, Type
from dp2emu.shader.values import Value

Formula = Callable[..., Sequence["Value | bool"]]
"""Type of a function (builder, key, then a value for each operand) that records operations in the
builder and returns the values of its results."""


def operand_name(number: int) -> str:
    """Return the name of the input port for a formula's operand ``number``: ``x0``, ``x1``, ..."""
    return f"x{number}"


@lru_cache(maxsize=1 << 12)
def program_of(formula: Formula, key: Hashable, types: tuple[Type, ...]) -> Program:
    """Return the program of a formula for operand types; its outputs are the results in order."""
    b = Builder(Stage.PIXEL)
    operands = [b.input(operand_name(number), type) for number, type in enumerate(types)]
    for number, result in enumerate(formula(b, key, *operands)):
        value = result if isinstance(result, Value) else b.constant(Type.BOOL, bool(result))
        b.output(f"y{number}", value)
    return b.program()


def computed(formula: Formula, key: Hashable, *operands: Lanes | np.generic) -> list[Lanes]:
    """Evaluate a formula over arrays of shapes that broadcast, or NumPy scalars.

    Unsigned integers are reinterpreted as signed.  A result without operands has no axis.
    """
    steps = _steps_of(formula, key, "".join([each.dtype.char for each in operands]))
    values: list[Any] = [*operands, *steps.constants, *steps.room]
    for place, signed in steps.unsigned:
        values[place] = values[place].view(signed)
    # NaN and infinity are legal values: no NumPy warnings.
    with np.errstate(all="ignore"):
        for function, place, read, done in steps.steps:
            values[place] = function(*[values[each] for each in read])
            # Dropping the reference frees the array before the next step allocates.
            for each in done:
                values[each] = None
    return [values[place] for place in steps.results]


_TYPES = {type.dtype.char: type for type in Type}
_SIGNED: dict[str, type[np.signedinteger[Any]]] = {
    np.dtype(np.uint32).char: np.int32,
    np.dtype(np.uint64).char: np.int64,
}


class _Steps(NamedTuple):
    """A formula's program as a sequence of NumPy calls on a list of arrays.

    The list has the operands, then ``constants``, then ``room`` for the results of steps.  A step
    is (function, index of its result, indices of its arguments, indices of arguments that no later
    step reads); ``results`` are the indices of the formula's results.  ``unsigned`` are the
    indices of unsigned operands, with the signed type that each is reinterpreted as.
    """

    constants: tuple[Lanes, ...]
    room: tuple[None, ...]
    steps: tuple[tuple[Callable[..., Lanes], int, tuple[int, ...], tuple[int, ...]], ...]
    results: tuple[int, ...]
    unsigned: tuple[tuple[int, type[np.signedinteger[Any]]], ...]


@lru_cache(maxsize=1 << 12)
def _steps_of(formula: Formula, key: Hashable, chars: str) -> _Steps:
    """The steps of a formula for operands of the NumPy types ``chars``."""
    unsigned = tuple((at, _SIGNED[char]) for at, char in enumerate(chars) if char in _SIGNED)
    signed = dict(unsigned)
    types = (_TYPES[np.dtype(signed.get(at, char)).char] for at, char in enumerate(chars))
    return _steps(program_of(formula, key, tuple(types)), unsigned)


def _steps(
    program: Program, unsigned: tuple[tuple[int, type[np.signedinteger[Any]]], ...]
) -> _Steps:
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
    return _Steps(scalars, (None,) * len(operations), steps, results, unsigned)
