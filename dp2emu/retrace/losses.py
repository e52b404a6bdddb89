"""What of a trace could not be expressed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from dp2emu.errors import Dp2Error

KEPT = 1000
"""Losses kept one by one; those beyond are counted."""
_SHOWN = 10
"""Numbers of calls in a line."""


class Inexpressible(Dp2Error):
    """A call has no expression in the traffic of a driver, or was not recorded in full."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A call of the trace that has no effect on the capture, and why."""

    call: int
    name: str
    reason: str

    def __str__(self) -> str:
        return f"call {self.call}: {self.name}: {self.reason}"


class Losses:
    """Losses in the order of their calls.  Mutable: it grows, up to ``KEPT`` and then by number.

    ``total`` counts all of them, ``by_name`` those of each function.
    """

    def __init__(self) -> None:
        self._kept: list[Loss] = []
        self.total = 0
        self.by_name: Counter[str] = Counter()

    def add(self, call: int, name: str, reason: str) -> None:
        """Note one."""
        self.total += 1
        self.by_name[name] += 1
        if len(self._kept) < KEPT:
            self._kept.append(Loss(call, name, reason))

    def lines(self) -> Iterator[str]:
        """For reading: a line for each function and reason, with the numbers of its calls."""
        calls: dict[tuple[str, str], list[int]] = {}
        for loss in self._kept:
            calls.setdefault((loss.name, loss.reason), []).append(loss.call)
        for (name, reason), numbers in calls.items():
            shown = ", ".join(map(str, numbers[:_SHOWN]))
            more = len(numbers) - _SHOWN
            noun = "call" if len(numbers) == 1 else "calls"
            yield f"{noun} {shown}{f' and {more} more' if more > 0 else ''}: {name}: {reason}"
        if self.total > len(self._kept):
            yield f"and {self.total - len(self._kept)} losses more"

    def __iter__(self) -> Iterator[Loss]:
        return iter(self._kept)

    def __len__(self) -> int:
        return self.total
