"""Threads that wait for work of the thread they belong to, on processors that it does not use."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from queue import SimpleQueue

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
