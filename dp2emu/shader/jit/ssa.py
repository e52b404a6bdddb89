"""Programs whose slots are assigned once, of which more can be known than of registers."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from typing import Any

from dp2emu.shader.ir import (
    Address,
    Break,
    Program,
    Slot,
    Statement,
    blocks,
    of_program,
    walk,
    written,
)
from dp2emu.shader.types import Type


@of_program
def single(program: Program) -> Program:
    """The same program with a slot for each assignment, if it is straight."""
    if any(blocks(s) or isinstance(s, Break) for s in program.statements):
        return program
    places = Counter(slot for s in walk(program.statements) for slot in written(s))
    names: dict[int, Slot] = {}
    types = [*program.slots]
    done: list[Statement] = []
    for statement in program.statements:
        read = {f.name: _read(getattr(statement, f.name), names) for f in fields(statement)}
        fresh = {slot: _fresh(types, slot) for slot in written(statement) if places[slot] > 1}
        names |= {slot: Slot(number) for slot, number in fresh.items()}
        done.append(replace(statement, **(read | _assigned(read, fresh))))
    return replace(program, slots=tuple(types), statements=tuple(done))


def _fresh(types: list[Type], slot: int) -> int:
    """A new slot of the type of another."""
    types.append(types[slot])
    return len(types) - 1


def _read(value: Any, names: dict[int, Slot]) -> Any:
    """What a field of a statement reads, by the names that slots have."""
    if isinstance(value, Slot):
        return names.get(value.number, value)
    if isinstance(value, Address):
        return replace(value, index=_read(value.index, names))
    return tuple(_read(each, names) for each in value) if isinstance(value, tuple) else value


def _assigned(read: dict[str, Any], fresh: dict[int, int]) -> dict[str, Any]:
    """Fields that say what a statement assigns."""
    if "slot" in read:
        return {"slot": fresh.get(read["slot"], read["slot"])}
    if "slots" in read:
        return {"slots": tuple(fresh.get(slot, slot) for slot in read["slots"])}
    return {}
