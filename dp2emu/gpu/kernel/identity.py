"""What was derived from an object, found again by the object itself, not by what it equals."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

ROOM = 1 << 10
"""Results a function keeps; of more, the latest."""

_A = TypeVar("_A")
_P = ParamSpec("_P")
_T = TypeVar("_T")


def by_identity(
    compute: Callable[Concatenate[_A, _P], _T],
) -> Callable[Concatenate[_A, _P], _T]:
    """A function of a frozen object, and of what can be hashed, that remembers its results.

    Comparing large records takes longer than drawing something small, and who resolves states
    keeps them.  The object is kept with the result, so that no other one gets its identity;
    called from several threads a result may be computed more than once.
    """
    known: dict[tuple[Any, ...], tuple[_A, _T]] = {}

    @wraps(compute)
    def look_up(first: _A, /, *others: _P.args, **named: _P.kwargs) -> _T:
        key = id(first), others
        found = known.get(key)
        if found is None:
            found = first, compute(first, *others, **named)
            while len(known) >= ROOM:
                known.pop(next(iter(known)), None)
            known[key] = found
        return found[1]

    return look_up
