"""The allocator of memory that compiled code reads and writes.

``dp2emu.guard_pages`` replaces the allocator, to find code that leaves its arrays.  Other NumPy
arrays need no allocator here: guard pages replace NumPy's own memory handler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dp2emu.layout import Buffer

LINE = 64
"""Bytes of a cache line of the host's CPU."""

_Item = TypeVar("_Item", bound=np.generic)


class Allocator:
    """NumPy arrays without guards.

    ``mode`` distinguishes the arrays of allocators in the keys of caches; it is 0 here.  Arrays
    of an allocator whose mode is not 0 must neither share memory nor have more than was asked for.
    """

    mode = 0

    def words(self, size: int, beyond: int) -> NDArray[np.int32]:
        """Return zeroed int32 words of at least ``size`` bytes, aligned to a cache line, with
        ``beyond`` readable bytes after them.
        """
        count = -(-size // 4)
        found = np.zeros(count + -(-(beyond + LINE) // 4), np.dtype("<i4"))
        start = -found.__array_interface__["data"][0] % LINE // 4
        return found[start : start + count]

    def view(self, data: Buffer, owner: object = None) -> NDArray[np.uint8]:
        """Return an array of bytes that compiled code may read, as long as the array or ``owner``
        lives.
        """
        return np.frombuffer(data, np.uint8)

    def grown(self, held: NDArray[_Item], size: int) -> NDArray[_Item]:
        """Return the array ``held`` if it has at least ``size`` elements, otherwise a new array
        that has.
        """
        return held if len(held) >= size else np.empty(size, held.dtype)


PLAIN = Allocator()
"""The default allocator."""

current = PLAIN
"""The allocator in use, which ``use`` replaces: read it as ``allocation.current``."""

_forget: list[Callable[[], Any]] = []


def clears(cached: Any) -> Any:
    """Decorator of a function with ``lru_cache`` whose results are arrays: ``use`` clears it."""
    _forget.append(cached.cache_clear)
    return cached


def use(allocator: Allocator) -> None:
    """Replace the allocator and clear caches of arrays; objects keep the memory that they have."""
    global current
    current = allocator
    for clear in _forget:
        clear()
