"""The loops of a shader as its budget counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dp2emu.shader.budget import Loops, Step, loops_of
from dp2emu.shader.sm.flow import CALLS, LOOP_ENDS, LOOPS, Routines
from dp2emu.shader.sm.program import Instruction


def measure(parts: Routines, rounds: Callable[[Instruction], int]) -> Loops:
    """The loops of a shader; ``rounds`` is how often a loop goes round at most."""
    return loops_of(
        Step(rounds(each) if each.op in LOOPS else None, each.op in LOOP_ENDS)
        for each in _expanded(parts.main, parts)
    )


def _expanded(body: Iterable[Instruction], parts: Routines) -> Iterator[Instruction]:
    """Instructions in order, those of subroutines where they are called."""
    for instruction in body:
        yield instruction
        if instruction.op in CALLS:
            yield from _expanded(parts.subroutines[instruction.label], parts)
