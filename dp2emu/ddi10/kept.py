"""What was made last, kept for as long as it is made of the same objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Kept(Generic[_T]):
    """The last thing made.  Mutable: it remembers that, and what it is made of.

    What draws are made of are objects that entries set and that do not change, so that asking
    whether they are the same ones takes less time than making things again, and whoever knows
    what is made by its identity knows it again.
    """

    def __init__(self) -> None:
        self._made: _T | None = None
        self._of: Sequence[object] = ()

    def of(self, objects: Sequence[object], make: Callable[[], _T]) -> _T:
        """What ``make`` makes of the objects, or made of the same ones."""
        same = len(objects) == len(self._of) and all(map(is_, objects, self._of))
        if self._made is None or not same:
            self._made, self._of = make(), objects
        return self._made
