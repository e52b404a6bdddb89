"""Long compilations in threads of their own, which a cancellation or a signal need not wait for.

LLVM cannot be stopped.  It releases the GIL while it works, so a caller that only waits can poll
its token and handle signals.  A compilation whose caller has gone continues in its thread, and its
code enters the object cache.  The thread is no daemon: LLVM must not work while the interpreter
ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from dp2emu.cancellation import CURRENT

_T = TypeVar("_T")

POLL_SECONDS = 0.02
"""Interval in seconds at which a caller that waits polls its token."""

_running: set[threading.Thread] = set()


class Pending(Generic[_T]):
    """Work that runs in a thread of its own; a call waits for it and returns its result.

    Any number of threads may call it.  A call raises what the work raised, and Cancelled if the
    caller's token is cancelled before the work is done.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        """Raises RuntimeError if the system refuses another thread."""
        self._result: list[_T] = []
        self._error: Exception | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), name="compile")
        _running.add(self._thread)
        try:
            self._thread.start()
        except RuntimeError:
            _running.discard(self._thread)
            raise

    def __call__(self) -> _T:
        """Wait for the result."""
        while not self._done.wait(POLL_SECONDS):
            CURRENT.token.check()
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _run(self, work: Callable[[], _T]) -> None:
        try:
            self._result.append(work())
        except Exception as error:
            self._error = error
        finally:
            _running.discard(self._thread)
            self._done.set()


def begun(work: Callable[[], _T]) -> Callable[[], _T]:
    """Start ``work`` in a thread of its own, and return the ``Pending``; ``work`` itself if the
    system refuses another thread or the interpreter is ending.
    """
    try:
        return Pending(work)
    except RuntimeError:
        return work


def wait_for_pending() -> None:
    """Block until no compilation is running in a thread of its own."""
    for thread in tuple(_running):
        thread.join()
