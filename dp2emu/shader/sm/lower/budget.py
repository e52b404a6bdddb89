"""How much a shader may execute: loops in loops would keep a GPU busy for years.

Hardware of Direct3D 9 has a limit too (MaxVShaderInstructionsExecuted and its twin for pixels of
the capabilities), 65,535 where it is generous.  What happens then is nowhere written down; here
lanes leave all of their loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from dp2emu.shader.builder import Builder
from dp2emu.shader.sm.flow import CALLS, LOOP_ENDS, LOOPS, Routines
from dp2emu.shader.sm.program import Instruction
from dp2emu.shader.types import Type

EXECUTED = 1 << 18
"""Instructions that a lane executes in loops; a round counts as all that it may execute."""


class Loops(NamedTuple):
    """The loops of a shader, calls expanded.

    ``sizes``: the instructions a round of each takes, both its ends included and loops inside it
    apart, in the order the loops begin.  ``most``: what a lane executes that leaves no loop early.
    """

    sizes: tuple[int, ...]
    most: int


def measure(parts: Routines, rounds: Callable[[Instruction], int]) -> Loops:
    """The loops of a shader; ``rounds`` is how often a loop goes round at most."""
    sizes: list[int] = []
    around: list[int] = []
    times, most = [1], 0
    for instruction in _expanded(parts.main, parts):
        if instruction.op in LOOPS:
            around.append(len(sizes))
            sizes.append(0)
            times.append(times[-1] * rounds(instruction))
        if around:
            sizes[around[-1]] += 1
        most += times[-1]
        if instruction.op in LOOP_ENDS:
            around.pop()
            times.pop()
    return Loops(tuple(sizes), most)


def _expanded(body: Iterable[Instruction], parts: Routines) -> Iterator[Instruction]:
    """Instructions in order, those of subroutines where they are called."""
    for instruction in body:
        yield instruction
        if instruction.op in CALLS:
            yield from _expanded(parts.subroutines[instruction.label], parts)


class Budget:
    """What is left to execute, a variable of the program.  Mutable: it knows the next loop."""

    def __init__(self, b: Builder, loops: Loops) -> None:
        """A program that can never spend it all does without."""
        self._b = b
        self._sizes = iter(loops.sizes)
        self._left = b.variable(Type.I32, EXECUTED) if loops.most > EXECUTED else None

    def spend(self) -> None:
        """Begin a round of the loop just begun: lanes that have nothing left leave it."""
        size = next(self._sizes)
        if self._left is not None:
            self._left.value = self._left.value - size
            self._b.break_(self._left.value < 0)
