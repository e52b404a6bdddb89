"""Bands of rows, and the threads that share them.

Each band is drawn by one thread, primitive by primitive in order, so no pixel is ever two
threads', and the result is the same for any number of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from dp2emu.gpu.kernel.workers import Order, leave, workers
from dp2emu.records import dataclass

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


def share(orders: Sequence[Order]) -> None:
    """Carry out orders, each on a thread of its own as long as there are any, until all are done.

    The first one is the calling thread's, as are those for which no thread is left.  Raises what
    one of them raised, or what interrupted the calling thread, when none is under way any more:
    memory that is drawn to may go away then.
    """
    own, *others = orders
    try:
        working = workers(len(others))
        for worker, other in zip(working, others, strict=False):
            worker.begin(other)
        for order in (own, *others[len(working) :]):
            order()
        raised = [worker.end() for worker in working]
    except BaseException:
        leave()
        raise
    for error in raised:
        if error is not None:
            raise error
