"""Delta debugging: the smallest input that still fails.

Runs of parts are left out, first halves, then quarters, down to single parts, from the end, since
later parts seldom affect earlier ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


class Budget:
    """The number of attempts that are left.  Mutable: it decreases."""

    def __init__(self, tries: int) -> None:
        self.left = tries

    def spend(self) -> bool:
        """Use an attempt; returns whether one was left."""
        self.left -= 1
        return self.left >= 0


def shrink(parts: Sequence[_T], still: Callable[[Sequence[_T]], bool], budget: Budget) -> list[_T]:
    """Return the fewest parts found, in order, for which ``still`` is true.

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
    """Return the parts without each run of ``size`` that ``still`` does not need."""
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
    """Return the fewest bytes found for which ``still`` is true, as many of them zero as possible.

    >>> shrink_bytes(b"one two three", lambda some: b"two" in some, Budget(1000))
    b'two'
    """
    kept = bytes(shrink(data, lambda some: still(bytes(some)), budget))
    for at, byte in enumerate(kept):
        plainer = kept[:at] + b"\0" + kept[at + 1 :]
        if byte and budget.spend() and still(plainer):
            kept = plainer
    return kept
