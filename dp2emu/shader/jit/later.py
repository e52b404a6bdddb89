"""Work that nobody waits for, one piece after the other, on a thread that is there while there is
some.

A process that ends waits for the piece at work, not for the others; one that forks, too, for LLVM
is no good in a child of what was half done.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

_waiting: deque[Callable[[], None]] = deque()
_changing, _working = threading.Lock(), threading.Lock()
_threads: list[threading.Thread] = []
"""The thread, if there is one."""


def later(work: Callable[[], None]) -> None:
    """Have something done, whose errors are its own."""
    with _changing:
        _waiting.append(work)
        # One that an error ended is still in the list.
        if not (_threads and _threads[0].is_alive()):
            _threads[:] = [threading.Thread(target=_work, name="later")]
            _threads[0].start()


def done() -> None:
    """Wait until nothing is left to do."""
    for thread in tuple(_threads):
        thread.join()


def _work() -> None:
    while True:
        with _changing:
            # Who leaves says so before another piece may come.
            if not (_waiting and threading.main_thread().is_alive()):
                _waiting.clear()
                _threads.clear()
                return
            work = _waiting.popleft()
        with _working:
            work()


def _forget() -> None:
    """A child has none of its parent's threads."""
    _waiting.clear()
    _threads.clear()
    _go_on()


def _stop() -> None:
    _changing.acquire()
    _working.acquire()


def _go_on() -> None:
    _working.release()
    _changing.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_stop, after_in_parent=_go_on, after_in_child=_forget)
