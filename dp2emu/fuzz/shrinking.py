"""The smallest input that still does it: parts are left out as long as that succeeds.

Delta debugging: first halves, then quarters, down to single parts, from the end, since what stands
at the end seldom matters to what stands before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


class Budget:
    """How many more tries there may be.  Mutable: they are spent."""

    def __init__(self, tries: int) -> None:
        self.left = tries

    def spend(self) -> bool:
        """Whether there was one more."""
        self.left -= 1
        return self.left >= 0


def shrink(parts: Sequence[_T], still: Callable[[Sequence[_T]], bool], budget: Budget) -> list[_T]:
    """As few parts as will do, in order.  ``still`` tells whether some of them do.

    >>> shrink(range(100), lambda some: {3, 77} <= set(some), Budget(1000))
    [3, 77]
    """
    kept = list(parts)
    size = max(len(kept) // 2, 1)
    while kept and budget.left > 0:
        before = len(kept)
        kept = _without(kept, size, still, budget)
        if size == 1 and len(kept) == before:
            break
        size = max(min(size, len(kept)) // 2, 1)
    return kept


def _without(
    parts: list[_T], size: int, still: Callable[[Sequence[_T]], bool], budget: Budget
) -> list[_T]:
    """Without all runs of ``size`` parts that can be spared."""
    end = len(parts)
    while end > 0:
        start = max(end - size, 0)
        fewer = parts[:start] + parts[end:]
        if not budget.spend():
            break
        if still(fewer):
            parts = fewer
        end = start
    return parts


def shrink_bytes(data: bytes, still: Callable[[bytes], bool], budget: Budget) -> bytes:
    """As few bytes as will do, and of these as many zero as will do.

    >>> shrink_bytes(b"one two three", lambda some: b"two" in some, Budget(1000))
    b'two'
    """
    kept = bytes(shrink(data, lambda some: still(bytes(some)), budget))
    for at, byte in enumerate(kept):
        plainer = kept[:at] + b"\0" + kept[at + 1 :]
        if byte and budget.spend() and still(plainer):
            kept = plainer
    return kept
