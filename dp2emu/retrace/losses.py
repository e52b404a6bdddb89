"""Losses: calls of a trace that a capture cannot express."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from dp2emu.errors import Dp2Error

KEPT = 1000
"""Largest number of losses that are stored one by one, and of (function, reason) pairs for which
call numbers are stored; further losses are only counted."""
_SHOWN = 10
"""Largest number of call numbers that a line of the loss report lists."""


class Inexpressible(Dp2Error):
    """Raised for a traced call that no driver commands express, or that lacks recorded data."""


class Loss(msgspec.Struct, frozen=True):
    """A call of the trace without effect on the capture, and the reason."""

    call: int
    name: str
    reason: str

    def __str__(self) -> str:
        return f"call {self.call}: {self.name}: {self.reason}"


class Losses:
    """Losses in the order of their calls, the first ``KEPT`` in full.  Mutable.

    ``total`` counts all losses, ``by_name`` the losses of each function.
    """

    def __init__(self) -> None:
        self._kept: list[Loss] = []
        self._groups: dict[tuple[str, str], tuple[int, list[int]]] = {}
        self._others: Counter[str] = Counter()
        self.total = 0
        self.by_name: Counter[str] = Counter()

    def add(self, call: int, name: str, reason: str) -> None:
        """Add the loss of ``call`` of the method ``name`` for a ``reason``."""
        self.total += 1
        self.by_name[name] += 1
        if len(self._kept) < KEPT:
            self._kept.append(Loss(call, name, reason))
        group = name, reason
        if group not in self._groups and len(self._groups) >= KEPT:
            self._others[name] += 1
            return
        count, numbers = self._groups.get(group, (0, []))
        self._groups[group] = count + 1, numbers
        if len(numbers) < _SHOWN:
            numbers.append(call)

    def lines(self) -> Iterator[str]:
        """A line of text for each function and reason, with the numbers of its calls."""
        for (name, reason), (count, numbers) in self._groups.items():
            shown = ", ".join(map(str, numbers))
            more = f" and {count - len(numbers)} more" if count > len(numbers) else ""
            yield f"{'call' if count == 1 else 'calls'} {shown}{more}: {name}: {reason}"
        for name, count in sorted(self._others.items()):
            yield f"{count} calls more: {name}: for other reasons"

    def __iter__(self) -> Iterator[Loss]:
        return iter(self._kept)

    def __len__(self) -> int:
        return self.total
