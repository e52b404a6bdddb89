"""What lanes can leave before its end: routines, loops, their rounds, and switches.

The representation knows loops and how to leave the innermost one.  So each of these is a loop,
most of them of a single round; to leave one from inside another, lanes raise its flag and leave
the inner one, behind which those with the flag up leave further.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import field
from enum import Enum

from dp2emu.records import dataclass
from dp2emu.shader.values import Value, Variable


class FrameKind(Enum):
    """What a frame is of."""

    ROUTINE = "routine"
    LOOP = "loop"
    ROUND = "round"
    """One round of a loop, for continue."""
    SWITCH = "switch"
    BRANCH = "branch"
    """An if, or what follows cases: nothing that can be left."""


@dataclass(eq=False, slots=True)
class Frame:
    """A block that is open.  Mutable: lanes come to leave it, or to pass through.

    ``flag`` tells of lanes that leave it from inside others; ``passed`` are the frames around
    it that lanes leave from inside.
    """

    kind: FrameKind
    exit: ExitStack
    flag: Variable | None = None
    passed: list[Frame] = field(default_factory=list)
    switch: Switch | None = None


@dataclass(eq=False, slots=True)
class Switch:
    """A switch under way: what is compared, and the lanes that have come to their case."""

    value: Value
    words: tuple[int, ...]
    """Of all its cases, which default stands for the rest of."""
    running: Variable
