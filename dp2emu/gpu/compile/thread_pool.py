"""A pool of worker threads, which draw bands of rows (``band_workers``).

One thread draws a band, primitive by primitive in order, so results do not depend on the number
of threads.
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


def cores() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share(orders: Sequence[Order]) -> None:
    """Run orders (functions) in parallel; the calling thread runs the first one and those for
    which there is no worker thread.

    Raises an order's exception, or one that interrupts the calling thread, only when all orders
    have ended: the caller may free the memory that they draw to.
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


# The pool: each drawing thread has its own workers, kept off the processor that it runs on.

Order = Callable[[], object]


class Worker:
    """A daemon thread that runs orders (functions) one by one; it ends when this object is freed.
    Mutable.
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
        """Start an order on the worker thread; ``end`` waits until it has ended."""
        self._move()
        self._orders.put(order)

    def end(self) -> BaseException | None:
        """Wait for the order that ``begin`` started -> the exception that it raised, if any."""
        return self._done.get()

    def leave(self) -> None:
        """End the thread after its queued orders, and wait until it has ended; exceptions that
        interrupt the wait are discarded.
        """
        self._orders.put(None)
        while self._thread.is_alive():
            with suppress(BaseException):
                self._thread.join()

    def _move(self) -> None:
        """Move the thread off the calling thread's processor.

        Linux wakes a thread on its waker's processor and migrates it milliseconds later, when the
        frame is done.
        """
        here = _processor()
        if here == self._beside or self._thread.native_id is None:
            return
        self._beside = here
        # Processors may go offline, and some systems do not permit affinity.
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
        # An idle worker must not keep objects alive.
        del order
        done.put(raised)
        del raised


class _Own(threading.local):
    """Thread-local: the worker threads that the thread has started to share its draws with.
    Mutable: workers are added when needed.
    """

    process = 0

    def __init__(self) -> None:
        self.workers: list[Worker] = []


_own = _Own()


def workers(count: int) -> list[Worker]:
    """``count`` worker threads that only the calling thread uses, fewer if the system refuses more
    threads.

    Threads do not survive a fork; during interpreter shutdown they no longer run.
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
    """End the worker threads of the calling thread once their orders are done.  It is called after
    an interrupt, when it is unknown which orders still run.
    """
    for worker in _own.workers:
        worker.leave()
    _own.workers = []


def _processor() -> int | None:
    """The processor that the calling thread runs on; None on systems without affinity."""
    function = _processor_function()
    return None if function is None else function()


@lru_cache(maxsize=1)
def _processor_function() -> Callable[[], int] | None:
    if not hasattr(os, "sched_setaffinity"):
        return None
    return getattr(ctypes.PyDLL(None), "sched_getcpu", None)
