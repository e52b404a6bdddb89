"""Threads that wait for work of the thread they belong to, on processors that it does not use."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
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
        """Wait -> what the work raised, or what interrupted the calling thread meanwhile."""
        interrupt: KeyboardInterrupt | None = None
        while True:
            try:
                raised = self._done.get()
            except KeyboardInterrupt as found:
                interrupt = found
            else:
                return interrupt or raised

    def _move(self) -> None:
        """Have a processor that is not the calling thread's.

        Linux puts whoever is woken where its waker is as long as it can, and moves it only after
        some milliseconds, in which a frame is drawn.
        """
        here = _processor()
        if here == self._beside or self._thread.native_id is None:
            return
        others = os.sched_getaffinity(0) - {here}
        if others:
            os.sched_setaffinity(self._thread.native_id, others)
        self._beside = here


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
    """So many that work for the calling thread.  Threads do not outlive a fork."""
    if _own.process != os.getpid():
        _own.process, _own.workers = os.getpid(), []
    while len(_own.workers) < count:
        _own.workers.append(Worker())
    return _own.workers[:count]


def _processor() -> int | None:
    """The one that the calling thread is on; None where threads are not told where to be."""
    asked = _question()
    return None if asked is None else asked()


@lru_cache(maxsize=1)
def _question() -> Callable[[], int] | None:
    if not hasattr(os, "sched_setaffinity"):
        return None
    return getattr(ctypes.PyDLL(None), "sched_getcpu", None)
