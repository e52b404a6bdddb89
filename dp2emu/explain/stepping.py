"""Stepping through a shader trace, forward and back, with breaks and watches."""

from __future__ import annotations

import math
import operator
import re
from collections import deque
from collections.abc import Callable, Iterator
from itertools import takewhile

import msgspec

from dp2emu.argument_check import checked
from dp2emu.errors import UsageError
from dp2emu.explain.shader_trace import ShaderTrace, Step, Value

_CONDITION = re.compile(
    r"\s*([A-Za-z_][\w\[\]]*(?:\.[xyzw])?)(:i)?\s*(==|!=|<=|>=|<|>)\s*([-+\w.]+)\s*", re.ASCII
)
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
FORM = "a condition such as 'r0.x > 1', 'r2 == nan' or 'r1.y:i >= 0x10'"


class Condition(msgspec.Struct, frozen=True):
    """A comparison of a register with a number.

    Without a component any of the register's four may fulfil it.  ``integer``: the value counts as
    a signed integer.  ``nan`` equals ``nan`` here.
    """

    text: str
    register: str
    integer: bool
    compare: str
    number: float

    def holds(self, values: dict[str, Value]) -> bool:
        """Whether a register's value fulfils the condition; a register without a value does
        not.
        """
        return any(self._fits(value) for value in values.values() if _is_of(value, self.register))

    def _fits(self, value: Value) -> bool:
        found = value.integer if self.integer else value.number
        if math.isnan(self.number):
            return (math.isnan(found)) is (self.compare == "==")
        return _OPERATORS[self.compare](found, self.number)


def _is_of(value: Value, register: str) -> bool:
    """Whether ``register`` names a value's register component, or its register."""
    return value.name == register or value.name.rpartition(".")[0] == register


@checked
def parse_condition(text: str) -> Condition:
    """The condition that a text such as ``r0.x > 1`` means.  Raises UsageError for another."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise UsageError(f"expected {FORM}, got {text!r:.60}")
    register, integer, compare, number = found.groups()
    return Condition(text.strip(), register, integer is not None, compare, _number(number))


def _number(text: str) -> float:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"expected a number, got {text!r:.60}") from None


class Stepper:
    """A position in a trace: ``position`` steps are done.  Mutable.

    ``breaks`` stop a run at the first step after which a condition holds that did not hold before;
    ``watches`` after a step that writes a register.
    """

    def __init__(self, trace: ShaderTrace) -> None:
        self.trace = trace
        self.position = 0
        self.breaks: list[Condition] = []
        self.watches: list[str] = []

    @property
    def step(self) -> Step | None:
        """The step that was done last; None at the start."""
        return self.trace.steps[self.position - 1] if self.position else None

    @property
    def values(self) -> dict[str, Value]:
        """The registers by name, as they are now."""
        return self.trace.values(self.position)

    def go(self, position: int) -> None:
        """Move to where ``position`` steps are done, or to the nearest end."""
        self.position = min(max(position, 0), len(self.trace.steps))

    def run(self) -> str:
        """Do steps until one stops; returns why, empty at the end."""
        for position, reason in self._stops(self.position):
            self.position = position
            return reason
        self.position = len(self.trace.steps)
        return ""

    def run_back(self) -> str:
        """Undo steps until the last one done stops a run; returns why, empty at the start."""
        stops = takewhile(lambda stop: stop[0] < self.position, self._stops(0))
        self.position, reason = deque(stops, 1).pop() if self._has_stop() else (0, "")
        return reason

    def _has_stop(self) -> bool:
        """Whether a run from the start stops before the position."""
        first = next(self._stops(0), None)
        return first is not None and first[0] < self.position

    def _stops(self, start: int) -> Iterator[tuple[int, str]]:
        """Positions after ``start`` at which runs stop, and why.  One pass over the steps."""
        values = self.trace.values(start)
        held = [condition.holds(values) for condition in self.breaks]
        for step in self.trace.steps[start:]:
            values.update((value.name, value) for value in (*step.reads, *step.writes))
            now = [condition.holds(values) for condition in self.breaks]
            begun = (c.text for c, old, new in zip(self.breaks, held, now, strict=True)
                     if new and not old)  # fmt: skip
            reason = self._written(step) or next(begun, "")
            held = now
            if reason:
                yield step.number + 1, reason

    def _written(self, step: Step) -> str:
        """Which watched register a step writes; empty for none."""
        for register in self.watches:
            if any(_is_of(value, register) for value in step.writes):
                return f"{register} was written"
        return ""
