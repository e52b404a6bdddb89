"""Results that are kept while there is room for them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def kept(room: int, size: Callable[[_T], int]) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A function that remembers its latest results, as many as have ``room`` by their ``size``.

    Arguments are hashable.  The newest result is kept whatever its size.
    """

    def decorate(compute: Callable[_P, _T]) -> Callable[_P, _T]:
        known: OrderedDict[Hashable, _T] = OrderedDict()
        taken = 0

        @wraps(compute)
        def look_up(*arguments: _P.args, **named: _P.kwargs) -> _T:
            nonlocal taken
            key = arguments, tuple(named.items())
            if key not in known:
                known[key] = result = compute(*arguments, **named)
                taken += size(result)
                while taken > room and len(known) > 1:
                    taken -= size(known.popitem(last=False)[1])
            known.move_to_end(key)
            return known[key]

        return look_up

    return decorate
