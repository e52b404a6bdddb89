"""Functions that are there quickly, and better if they are called again.

Good code takes some three times as long to compile as code that works half as fast.  The first
call of a function is by the latter; the second one has good code compiled, which takes its place
when it is there.  Both give the same bits, so nobody sees when that is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from dp2emu.shader.jit.code import Source
from dp2emu.shader.jit.later import later

_WORTH = 2
"""Calls that good code is worth while for."""
_improvable: WeakSet[Improving] = WeakSet()
"""Functions without good code."""


class Improving:
    """A function of memory: ``run`` is the best code that there is for it.

    Mutable: ``run`` changes.  ``kind`` is its type, one of ``ctypes``.
    Raises ImportError without llvmlite.
    """

    def __init__(self, source: Source, kind: Callable[[int], Any]) -> None:
        self._source, self._kind = source, kind
        self.run: Callable[..., Any]
        self._calls = 0
        kept = source.kept()
        if kept is not None:
            self.run = self._quick = self._made(kept)
            return
        self._quick = self._made(source.quick())
        self.run = self._counted
        _improvable.add(self)

    def improve(self) -> None:
        """Have good code from here on."""
        if self in _improvable:
            # Quick code is there until nobody runs it any more.
            self.run = self._quick = self._made(self._source.good())
            _improvable.discard(self)

    def best(self) -> Any:
        """What ``run`` would call now, for other code to call by its address: this is a call of
        it.  It has to be kept for as long as somebody has the address.
        """
        self._count()
        return self._quick

    def _counted(self, *arguments: Any) -> Any:
        self._count()
        return self._quick(*arguments)

    def _count(self) -> None:
        calls = self._calls = self._calls + 1
        if calls == _WORTH and self in _improvable:
            later(self.improve)

    def _made(self, code: Any) -> Any:
        function = self._kind(code.address)
        # The code is there as long as something refers to it.
        function.code = code
        return function


def improve_all() -> bool:
    """Have good code for all there is; whether anything changed."""
    found = list(_improvable)
    for each in found:
        each.improve()
    return bool(found)
