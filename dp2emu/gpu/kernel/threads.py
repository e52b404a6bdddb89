"""Bands of rows, and the threads that share them.

Each band is drawn by one thread, primitive by primitive in order, so no pixel is ever two
threads', and the result is the same for any number of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from dp2emu.records import dataclass

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

ROWS = 64
"""Rows of a band, a power of two, and an even number since kernels work on pairs."""
MOST = 64
"""Bands; where there are more rows these are higher."""
WORTH = 1 << 15
"""Pixels that more than one band is worth while for, about."""


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Bands:
    """Rows from ``top`` to below ``bottom``; those of a band share all but ``shift`` bits."""

    top: int
    bottom: int
    shift: int

    @classmethod
    def of(cls, top: int, bottom: int) -> Bands:
        """Those of so many rows, of which there are some."""
        shift = ROWS.bit_length() - 1
        while ((bottom - 1) >> shift) - (top >> shift) >= MOST:
            shift += 1
        return cls(top, bottom, shift)

    @property
    def count(self) -> int:
        """How many there are."""
        return ((self.bottom - 1) >> self.shift) - (self.top >> self.shift) + 1


def share(workers: Sequence[Callable[[], object]]) -> None:
    """Let workers, of which each has a thread, work until all are done.

    The first one works on the calling thread.  Raises what a worker raised, when none works any
    more: memory that is drawn to may go away then.
    """
    own, *others = workers
    running = [_pool(os.getpid(), len(others)).submit(other) for other in others]
    try:
        own()
    finally:
        raised = [future.exception() for future in running]
    for error in raised:
        if error is not None:
            raise error


@lru_cache(maxsize=8)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Threads do not outlive a fork, so every process has its own."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, thread_name_prefix="kernel")
