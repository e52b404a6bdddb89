"""Loads of two scalars that mostly lie side by side, as texels along a row do.

A filter reads a texel and the next one.  Of both a CPU can have one word of 64 bits for each lane,
which takes far less than gathering lanes twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dp2emu.records import dataclass
from dp2emu.shader.ir import (
    Assign,
    Constant,
    Load,
    Operand,
    Program,
    Slot,
    Statement,
    blocks,
    of_program,
    walk,
    written,
)
from dp2emu.shader.types import Type

WORD_SHIFT = Constant(Type.I32, 2)
"""What bytes are shifted by to be scalars."""
_WORD = Constant(Type.I32, 4)


@dataclass(frozen=True, slots=True)
class Pair:
    """The second load of two: what it assigns, and the terms of the bytes that it is at."""

    slot: int
    common: Slot
    step: Slot


_Made = dict[int, Statement]
"""What assigns slots that are assigned in one place."""
_Address = tuple[Slot, Slot]
"""Common and step: (common + step) >> 2, the step a number of words times 4."""


@of_program
def pairs(program: Program) -> dict[int, Pair]:
    """Second loads by the slot that the first one assigns, which stands before it in a block.

    Both are of a uniform file and at as many bytes from a common place as there are words before
    them; all terms are known at the first one.
    """
    places = Counter(slot for s in walk(program.statements) for slot in written(s))
    made: _Made = {slot: s for s in walk(program.statements) for slot in written(s)
                   if places[slot] == 1}  # fmt: skip
    uniform = {file.name for file in program.files if file.uniform}
    found: dict[int, Pair] = {}
    for block in _all_blocks(program.statements):
        found |= _of_block(block, made, uniform)
    return found


def _of_block(block: tuple[Statement, ...], made: _Made, uniform: set[str]) -> dict[int, Pair]:
    number = {slot: at for at, s in enumerate(block) for slot in written(s)}
    first: dict[tuple[str, int, Slot], Load] = {}
    found: dict[int, Pair] = {}
    for statement in block:
        if not isinstance(statement, Load) or statement.file not in uniform:
            continue
        address = _address(statement, made)
        if address is None:
            continue
        common, step = address
        before = first.pop((statement.file, statement.address.offset, common), None)
        if before is None:
            first[statement.file, statement.address.offset, common] = statement
        elif number.get(step.number, len(block)) < number[before.slot]:
            found[before.slot] = Pair(statement.slot, common, step)
    return found


def _all_blocks(statements: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    yield statements
    for statement in walk(statements):
        yield from blocks(statement)


def _address(load: Load, made: _Made) -> _Address | None:
    """The terms that the index of a load is made of."""
    index = load.address.index
    if index is None or load.address.stride != 1 or load.address.offset < 0:
        return None
    shifted = _assigned(index, "ishr", made)
    if shifted is None or shifted.operands[1] != WORD_SHIFT:
        return None
    added = _assigned(shifted.operands[0], "iadd", made)
    if added is None:
        return None
    common, step = added.operands
    stepped = _assigned(step, "imul", made)
    if stepped is None or stepped.operands[1] != _WORD:
        return None
    if not isinstance(common, Slot) or not isinstance(step, Slot) or common.number not in made:
        return None
    return common, step


def _assigned(operand: Operand, op: str, made: _Made) -> Assign | None:
    """The assignment that an operand has its value from, if it is of such an op."""
    found = made.get(operand.number) if isinstance(operand, Slot) else None
    return found if isinstance(found, Assign) and found.op == op else None
