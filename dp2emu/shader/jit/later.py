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
from contextlib import suppress

_waiting: deque[Callable[[], None]] = deque()
_changing, _working = threading.Lock(), threading.Lock()
_threads: list[threading.Thread] = []
"""The thread, if there is one."""


def later(work: Callable[[], None]) -> None:
    """Have something done.

    An error is nobody's: what is not done is done by who needs it, who meets the error then.
    """
    with _changing:
        _waiting.append(work)
        if _threads and _threads[0].is_alive():
            return
        _threads[:] = [threading.Thread(target=_work, name="later")]
        try:
            _threads[0].start()
        except RuntimeError:
            # There is no room for one, or the process is about to end.
            _waiting.clear()
            _threads.clear()


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
        with _working, suppress(Exception):
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
