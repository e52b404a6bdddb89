"""The execution budget of a shader: nested loops could otherwise keep a GPU busy for years.

Direct3D 9 hardware reports a limit of its own (MaxVShaderInstructionsExecuted and
MaxPShaderInstructionsExecuted of D3DCAPS9), at most 65,535; Direct3D 10 resets a device that takes
seconds.  Neither says what a shader does when it reaches the limit.  Here its lanes leave all of
their loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dp2emu.shader.builder import Builder
from dp2emu.shader.types import Type

EXECUTED = 1 << 18
"""Maximum number of instructions that a lane executes in loops; iterations count in full."""


class Step(NamedTuple):
    """An instruction, as far as the execution budget is concerned.

    ``rounds`` is the iteration limit of the loop if it begins one, else None; ``ends`` says
    whether it ends a loop.
    """

    rounds: int | None = None
    ends: bool = False


class Loops(NamedTuple):
    """Sizes of the loops of a shader with its calls expanded.

    ``sizes`` are the numbers of instructions in one iteration of each loop, without nested loops
    but with the two that begin and end it, in the order in which the loops begin.  ``most`` is the
    number of instructions that a lane executes if it leaves no loop early.
    """

    sizes: tuple[int, ...]
    most: int


def loops_of(steps: Iterable[Step]) -> Loops:
    """Measure the loops of a shader, whose instructions are ``steps`` with calls expanded."""
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
    """The remaining execution budget, kept in a variable of the program being built.

    Mutable: it steps through the sizes of the loops.
    """

    def __init__(self, b: Builder, loops: Loops) -> None:
        """Declare the budget variable, unless ``loops`` are such that no lane can exceed it."""
        self._b = b
        self._sizes = iter(loops.sizes)
        self._left = b.variable(Type.I32, EXECUTED) if loops.most > EXECUTED else None

    def spend(self) -> None:
        """Charge an iteration of the loop just begun; lanes with an exhausted budget break out of
        it.
        """
        size = next(self._sizes)
        if self._left is not None:
            self._left.value = self._left.value - size
            self._b.break_(self._left.value < 0)
