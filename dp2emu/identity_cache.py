"""A cache keyed by object identity instead of equality.

Comparing and hashing large records takes longer than a small draw, and the same objects recur.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import wraps
from typing import Generic, TypeVar, TypeVarTuple
from weakref import ref

ROOM = 1 << 10
"""Default maximum number of results that a cache stores."""

_A = TypeVar("_A")
_T = TypeVar("_T")
_Others = TypeVarTuple("_Others")


class IdentityCache(Generic[_T]):
    """A dictionary of results whose key is the identity of some objects and the values of others.

    Mutable: it stores at most ``room`` results and drops the oldest first.  An entry is removed
    when one of its objects is garbage collected, so a result should not refer to them.  An object
    that cannot be weakly referenced, such as a tuple or dictionary, stays alive with its entry, so
    that no new object gets its identity.  Several threads may compute the same result.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._entries: OrderedDict[Hashable, tuple[_T, list[object]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, objects: Sequence[object], values: Hashable = ()) -> _T:
        """The result for these objects (by identity) and equal values; KeyError without one."""
        return self._entries[(*map(id, objects), values)][0]

    def put(self, objects: Sequence[object], values: Hashable, result: _T) -> None:
        """Store ``result`` for objects and values; removes the oldest results beyond ``room``."""
        entries, key, cache = self._entries, (*map(id, objects), values), ref(self)

        def forget(_: object) -> None:
            found = cache()
            if found is not None:
                found._entries.pop(key, None)

        entries[key] = result, [_held(each, forget) for each in objects]
        # Other threads and the garbage collector may remove entries at any time.
        with suppress(KeyError):
            while len(entries) > self._room:
                entries.popitem(last=False)

    def of(self, objects: Sequence[object], compute: Callable[[], _T]) -> _T:
        """The stored result for ``objects``, else the result of ``compute``, then stored."""
        try:
            return self._entries[(*map(id, objects), ())][0]
        except KeyError:
            result = compute()
        self.put(objects, (), result)
        return result


def identity_cached(
    room: int = ROOM,
) -> Callable[[Callable[[_A, *_Others], _T]], Callable[[_A, *_Others], _T]]:
    """Decorator that caches a function's results, by the identity of its first argument and the
    values of the others; ``room`` is the maximum number of results.
    """

    def decorate(compute: Callable[[_A, *_Others], _T]) -> Callable[[_A, *_Others], _T]:
        cache: IdentityCache[_T] = IdentityCache(room)
        entries = cache._entries

        @wraps(compute)
        def look_up(first: _A, /, *others: *_Others) -> _T:
            try:
                return entries[id(first), others][0]  # find() in place: each draw asks often
            except KeyError:
                result = compute(first, *others)
            cache.put((first,), others, result)
            return result

        return look_up

    return decorate


def _held(each: object, forget: Callable[[object], None]) -> object:
    """A weak reference that calls ``forget`` when ``each`` dies, or ``each`` if it allows none."""
    try:
        return ref(each, forget)
    except TypeError:
        return each
