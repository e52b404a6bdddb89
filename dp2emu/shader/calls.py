"""Calls of subroutines, followed from caller to callee: they end, and stay within bounds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from dp2emu.errors import ShaderError

CALLED = 1 << 13
"""Instructions that all calls together stand for.  Whoever expands calls relies on it."""


class Call(NamedTuple):
    """A call of a label; ``offset`` of the instruction, for errors."""

    label: Hashable
    name: str
    offset: int


class Body(NamedTuple):
    """A routine: how many instructions it has, and the calls among them."""

    size: int
    calls: tuple[Call, ...]


def check_calls(main: Body, subroutines: Mapping[Hashable, Body], limit: int) -> None:
    """Every callee exists, none calls itself, and ``limit`` is how deep calls nest.

    Raises ShaderError at the call.
    """
    _Calls(subroutines, limit).check(main)


class _Cost(NamedTuple):
    """Of a routine: levels of calls below it, and the instructions that they stand for."""

    depth: int
    called: int


class _Calls:
    """The calls of a shader, each subroutine followed once."""

    def __init__(self, subroutines: Mapping[Hashable, Body], limit: int) -> None:
        self._limit = limit
        self._subroutines = subroutines
        self._costs: dict[Hashable, _Cost] = {}

    def check(self, main: Body) -> None:
        """Raises ShaderError."""
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
