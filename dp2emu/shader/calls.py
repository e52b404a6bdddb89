"""Bounds on subroutine calls: no recursion, limited depth, limited expanded size."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from dp2emu.errors import ShaderError

CALLED = 1 << 13
"""Maximum number of instructions that the calls of a shader add when they are inlined."""


class Call(NamedTuple):
    """A call of a label; ``offset`` is the byte offset of the instruction, for errors."""

    label: Hashable
    name: str
    offset: int


class Body(NamedTuple):
    """A routine (main program or subroutine): its instruction count and its calls."""

    size: int
    calls: tuple[Call, ...]


def check_calls(main: Body, subroutines: Mapping[Hashable, Body], limit: int) -> None:
    """Check that every callee exists, no routine is recursive, and calls nest at most ``limit``
    deep.

    Raises ShaderError at the offending call.
    """
    _Calls(subroutines, limit).check(main)


class _Cost(NamedTuple):
    """What a routine's calls cost: their nesting depth, and the instructions they expand to."""

    depth: int
    called: int


class _Calls:
    """The call graph of a shader; it computes the cost of each subroutine once."""

    def __init__(self, subroutines: Mapping[Hashable, Body], limit: int) -> None:
        self._limit = limit
        self._subroutines = subroutines
        self._costs: dict[Hashable, _Cost] = {}

    def check(self, main: Body) -> None:
        """Check the calls in the main program and in all subroutines.

        Raises ShaderError for recursion, an unknown label, or too large a depth or expanded size.
        """
        for label in self._subroutines:
            self._follow(label, (label,))
        self._cost(main, ())

    def _follow(self, label: Hashable, path: tuple[Hashable, ...]) -> _Cost:
        if label not in self._costs:
            self._costs[label] = self._cost(self._subroutines[label], path)
        return self._costs[label]

    def _cost(self, body: Body, path: tuple[Hashable, ...]) -> _Cost:
        depth = called = 0
        for call in body.calls:
            callee = self._callee(call, path)
            depth = max(depth, callee.depth + 1)
            called += self._subroutines[call.label].size + callee.called
            if len(path) + depth > self._limit:
                raise self._too_deep(call)
            if called > CALLED:
                what = f"calls of more than {CALLED} instructions"
                raise ShaderError(what, offset=call.offset)
        return _Cost(depth, called)

    def _callee(self, call: Call, path: tuple[Hashable, ...]) -> _Cost:
        if call.label not in self._subroutines:
            raise ShaderError(f"there is no label {call.name}", offset=call.offset)
        if call.label in path:
            raise ShaderError(f"{call.name} calls itself", offset=call.offset)
        if len(path) == self._limit:
            raise self._too_deep(call)
        return self._follow(call.label, (*path, call.label))

    def _too_deep(self, call: Call) -> ShaderError:
        return ShaderError(f"calls nest deeper than {self._limit}", offset=call.offset)
