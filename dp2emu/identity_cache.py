"""What was derived from an object, found again by the object itself, not by what it equals.

Comparing large records takes longer than drawing something small, and who makes them keeps them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar
from weakref import ReferenceType, WeakKeyDictionary, ref

ROOM = 1 << 10
"""Results a function keeps unless told otherwise; of more, the latest."""
ROOM_EACH = 64
"""Results it keeps for an object that may go away; more than these, and it begins anew."""

_A = TypeVar("_A")
_P = ParamSpec("_P")
_T = TypeVar("_T")


def by_identity(
    room: int = ROOM,
) -> Callable[[Callable[Concatenate[_A, _P], _T]], Callable[Concatenate[_A, _P], _T]]:
    """A function of a frozen object, and of what can be hashed, that remembers its results.

    The object is kept with the result, so that no other one gets its identity; called from
    several threads a result may be computed more than once.
    """

    def remembering(
        compute: Callable[Concatenate[_A, _P], _T],
    ) -> Callable[Concatenate[_A, _P], _T]:
        known: dict[tuple[Any, ...], tuple[_A, _T]] = {}

        @wraps(compute)
        def look_up(first: _A, /, *others: _P.args, **named: _P.kwargs) -> _T:
            key = id(first), others
            found = known.get(key)
            if found is None:
                found = first, compute(first, *others, **named)
                while len(known) >= room:
                    known.pop(next(iter(known)), None)
                known[key] = found
            return found[1]

        return look_up

    return remembering


def while_it_lives(
    compute: Callable[Concatenate[_A, _P], _T],
) -> Callable[Concatenate[_A, _P], _T]:
    """The same for objects that are not kept, and may change in what does not matter.

    They are told apart by identity (``eq=False``) and can be referred to weakly; results must not
    refer to them.
    """
    known: WeakKeyDictionary[_A, dict[tuple[Any, ...], _T]] = WeakKeyDictionary()

    @wraps(compute)
    def look_up(first: _A, /, *others: _P.args, **named: _P.kwargs) -> _T:
        results = known.get(first)
        if results is None:
            results = known.setdefault(first, {})
        if others not in results:
            if len(results) >= ROOM_EACH:
                results.clear()
            results[others] = compute(first, *others, **named)
        return results[others]

    return look_up


def kept(room: int, size: Callable[..., int]) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A function that remembers its latest results, as many as have ``room`` by their ``size``.

    Arguments are hashable, and kept with the result: ``size`` is asked with the result and what
    was given by position.  It counts as 1 at least, or any number of results would have room.
    The newest result is kept whatever its size.
    """

    def decorate(compute: Callable[_P, _T]) -> Callable[_P, _T]:
        known: OrderedDict[Hashable, tuple[_T, int]] = OrderedDict()
        taken = 0

        @wraps(compute)
        def look_up(*arguments: _P.args, **named: _P.kwargs) -> _T:
            nonlocal taken
            key = arguments, tuple(named.items())
            if key not in known:
                result = compute(*arguments, **named)
                known[key] = result, max(size(result, *arguments), 1)
                taken += known[key][1]
                while taken > room and len(known) > 1:
                    taken -= known.popitem(last=False)[1][1]
            known.move_to_end(key)
            return known[key][0]

        return look_up

    return decorate


class Together(Generic[_T]):
    """Results that are each about several objects, and go with the first of them that does.

    Mutable: it remembers, ``ROOM`` results at most.  A key has the identities of the objects in
    it, which no others can have while the result is there; results must not refer to them.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[_T, list[ReferenceType[Any]]]] = {}

    def get(self, key: Hashable) -> _T | None:
        """A result, None if there is none."""
        found = self._known.get(key)
        return None if found is None else found[0]

    def put(self, key: Hashable, about: Iterable[object], result: _T) -> None:
        """Remember a result for as long as all that it is ``about`` is there."""
        known = self._known

        def forget(_: object) -> None:
            known.pop(key, None)

        while len(known) >= ROOM:
            known.pop(next(iter(known)), None)
        known[key] = result, [ref(each, forget) for each in about]
