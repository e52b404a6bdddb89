"""Frames: blocks that lanes can leave early, which are routines, loops, iterations and switches.

The intermediate representation can only break out of the innermost loop.  So every frame is a
loop, most of a single iteration.  To leave an outer frame, lanes set its flag and break out of the
inner one; after the inner one, lanes with the flag set break again.
"""

from __future__ import annotations

from contextlib import ExitStack
from enum import Enum

import msgspec

from dp2emu.shader.values import Value, Variable


class FrameKind(Enum):
    """Kind of a frame."""

    ROUTINE = "routine"
    LOOP = "loop"
    ITERATION = "iteration"
    """One iteration of a loop, the target of continue."""
    SWITCH = "switch"
    BRANCH = "branch"
    """An if, or the body of a case; lanes cannot leave it early."""


class Frame(msgspec.Struct, eq=False):
    """An open block.  Mutable: it collects the jumps out of it.

    ``flag`` is set for lanes that leave it from inside other frames.  ``outer_exits`` are the
    outer frames that lanes inside this one leave.
    """

    kind: FrameKind
    exit: ExitStack
    flag: Variable | None = None
    outer_exits: list[Frame] = msgspec.field(default_factory=list)
    switch: Switch | None = None


class Switch(msgspec.Struct, eq=False):
    """An open switch: the value, the case labels, and the lanes that have reached their case."""

    value: Value
    words: tuple[int, ...]
    """Labels of all cases; default takes every other value."""
    running: Variable
