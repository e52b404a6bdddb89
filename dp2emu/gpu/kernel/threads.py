"""Bands of rows, shared by threads.

Each band is drawn by one thread, primitive by primitive in order, so no pixel is ever two
threads', and the result is the same for any number of them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

ROWS = 64
"""Rows of a band: an even number, since kernels work on pairs."""
WORTH = 1 << 15
"""Pixels that more than one band is worth while for, about."""

Band = tuple[int, int]
"""The first row and one past the last."""


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def bands(top: int, bottom: int) -> list[Band]:
    """Rows in bands that begin at multiples of ``ROWS``."""
    starts = range(top - top % ROWS, bottom, ROWS)
    return [(max(start, top), min(start + ROWS, bottom)) for start in starts]


def share(parts: Sequence[Band], workers: Sequence[Callable[[int, int], None]]) -> None:
    """Let workers, of which each has a thread, take one band after the other.

    The first one works on the calling thread.  Raises what a worker raised, when none works any
    more: memory that is drawn to may go away then.
    """
    own, *others = workers
    if not others:
        for part in parts:
            own(*part)
        return
    left = deque(parts)

    def work(worker: Callable[[int, int], None]) -> None:
        while True:
            try:
                band = left.popleft()
            except IndexError:
                return
            worker(*band)

    running = [_pool(os.getpid(), len(others)).submit(work, other) for other in others]
    try:
        work(own)
    finally:
        left.clear()
        raised = [future.exception() for future in running]
    for error in raised:
        if error is not None:
            raise error


@lru_cache(maxsize=8)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Threads do not outlive a fork, so every process has its own."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, thread_name_prefix="kernel")
