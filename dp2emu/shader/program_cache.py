"""Caches of lowered shaders, bounded by the slots of their programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from dp2emu.shader.origins import remember

PROGRAM_SLOTS = 1 << 19
"""Default limit on the sum of the sizes in a program cache: slots of programs, plus one per
``_SLOT_BYTES`` of shader code."""
_SLOT_BYTES = 512
"""Number of bytes of shader code that count as one slot in the size of a cached program."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


def programs_cached(
    slots: Callable[[_T], int], code_bytes: Callable[[Any], int] = len, room: int = PROGRAM_SLOTS
) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Return a decorator that caches a function's results by its arguments, the first being code.

    A result's size is what ``slots`` returns, plus one per ``_SLOT_BYTES`` of code.  When the sum
    of the sizes exceeds ``room``, all results but the newest are dropped.
    """

    def decorate(compute: Callable[_P, _T]) -> Callable[_P, _T]:
        taken = 0

        @wraps(compute)
        def measured(*arguments: _P.args, **named: _P.kwargs) -> _T:
            nonlocal taken
            result = compute(*arguments, **named)
            remember(result, compute, arguments, named)
            size = max(slots(result) + code_bytes(arguments[0]) // _SLOT_BYTES, 1)
            taken += size
            if taken > room:
                cached.cache_clear()
                taken = size
            return result

        cached = lru_cache(maxsize=None)(measured)
        return cached  # type: ignore[return-value]

    return decorate
