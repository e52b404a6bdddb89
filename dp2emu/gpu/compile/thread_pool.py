"""Bands of rows, and the threads that share them.

Each band is drawn by one thread, primitive by primitive in order, so no pixel is ever two
threads', and the result is the same for any number of them.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from queue import SimpleQueue

import msgspec

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


class Bands(msgspec.Struct, frozen=True):
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


# Threads that wait for work of the thread they belong to, on processors that it does not use.

Order = Callable[[], object]


class Worker:
    """A thread that works when it is told to.  Mutable: it has work, or none.

    It does not keep its process alive, and ends when nobody holds this any more.
    """

    def __init__(self) -> None:
        self._orders: SimpleQueue[Order | None] = SimpleQueue()
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        self._thread = threading.Thread(
            target=_obey, args=(self._orders, self._done), name="kernel", daemon=True
        )
        self._thread.start()
        self._beside: int | None = None

    def __del__(self) -> None:
        self._orders.put(None)

    def begin(self, order: Order) -> None:
        """Work, while the calling thread does something else until ``end``."""
        self._move()
        self._orders.put(order)

    def end(self) -> BaseException | None:
        """Wait -> what the work raised."""
        return self._done.get()

    def leave(self) -> None:
        """Have the thread end, and wait until all is done that it was told, whatever that is.

        What interrupts the calling thread meanwhile is lost: it does not leave before.
        """
        self._orders.put(None)
        while self._thread.is_alive():
            with suppress(BaseException):
                self._thread.join()

    def _move(self) -> None:
        """Have a processor that is not the calling thread's.

        Linux puts whoever is woken where its waker is as long as it can, and moves it only after
        some milliseconds, in which a frame is drawn.
        """
        here = _processor()
        if here == self._beside or self._thread.native_id is None:
            return
        self._beside = here
        # Processors may go meanwhile, and some systems let nobody choose.
        with suppress(OSError):
            others = os.sched_getaffinity(0) - {here}
            if others:
                os.sched_setaffinity(self._thread.native_id, others)


def _obey(orders: SimpleQueue[Order | None], done: SimpleQueue[BaseException | None]) -> None:
    while (order := orders.get()) is not None:
        raised = None
        try:
            order()
        except BaseException as error:
            raised = error
        # What it refers to is not kept while there is nothing to do.
        del order
        done.put(raised)
        del raised


class _Own(threading.local):
    """The workers of a thread.  Mutable: there are more when more are needed."""

    process = 0

    def __init__(self) -> None:
        self.workers: list[Worker] = []


_own = _Own()


def workers(count: int) -> list[Worker]:
    """So many that work for the calling thread, or fewer: there may be no room for more threads.

    Threads do not outlive a fork, and do nothing any more when Python has begun to end.
    """
    if sys.is_finalizing():
        return []
    if _own.process != os.getpid():
        _own.process, _own.workers = os.getpid(), []
    with suppress(RuntimeError):
        while len(_own.workers) < count:
            _own.workers.append(Worker())
    return _own.workers[:count]


def leave() -> None:
    """Have the calling thread's workers end, when all is done that they were told: who was
    interrupted does not know what that is.
    """
    for worker in _own.workers:
        worker.leave()
    _own.workers = []


def _processor() -> int | None:
    """The one that the calling thread is on; None where threads are not told where to be."""
    asked = _question()
    return None if asked is None else asked()


@lru_cache(maxsize=1)
def _question() -> Callable[[], int] | None:
    if not hasattr(os, "sched_setaffinity"):
        return None
    return getattr(ctypes.PyDLL(None), "sched_getcpu", None)
