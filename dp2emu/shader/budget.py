"""How much a shader may execute: loops in loops would keep a GPU busy for years.

Hardware of Direct3D 9 has a limit too (MaxVShaderInstructionsExecuted and its twin for pixels of
the capabilities), 65,535 where it is generous; that of Direct3D 10 gives up on what takes seconds.
What happens then is nowhere written down; here lanes leave all of their loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dp2emu.shader.builder import Builder
from dp2emu.shader.types import Type

EXECUTED = 1 << 18
"""Instructions that a lane executes in loops; a round counts as all that it may execute."""


class Step(NamedTuple):
    """An instruction as it counts here: the rounds of a loop it begins, if it does, and whether
    it ends one.
    """

    rounds: int | None = None
    ends: bool = False


class Loops(NamedTuple):
    """The loops of a shader, calls expanded.

    ``sizes``: the instructions a round of each takes, both its ends included and loops inside it
    apart, in the order the loops begin.  ``most``: what a lane executes that leaves no loop early.
    """

    sizes: tuple[int, ...]
    most: int


def loops_of(steps: Iterable[Step]) -> Loops:
    """The loops among the instructions of a shader."""
    sizes: list[int] = []
    around: list[int] = []
    times, most = [1], 0
    for step in steps:
        if step.rounds is not None:
            around.append(len(sizes))
            sizes.append(0)
            times.append(times[-1] * step.rounds)
        if around:
            sizes[around[-1]] += 1
        most += times[-1]
        if step.ends:
            around.pop()
            times.pop()
    return Loops(tuple(sizes), most)


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
