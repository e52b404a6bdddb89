"""Background compilation and tiered functions.

A worker thread exists only while there is work; it runs one compilation at a time.  A process that
exits waits for the current one only and drops the rest.  A fork waits for it too, since LLVM is
unusable in a child forked during a compilation.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, TypeVar

from dp2emu.shader.jit.code import CodeSource, Effort
from dp2emu.shader.jit.compiling import Code
from dp2emu.shader.jit.pending import Pending, wait_for_pending

_Result = TypeVar("_Result")

_queue: deque[Callable[[], None]] = deque()
_queue_lock, _work_lock = threading.Lock(), threading.Lock()
_threads: list[threading.Thread] = []
"""List of the one background compiler thread while it is running, otherwise empty."""


def run_in_background(work: Callable[[], None]) -> None:
    """Queue work for the worker thread.

    Exceptions are discarded; the caller that needs the result compiles again and meets the error
    then.
    """
    with _queue_lock:
        _queue.append(work)
        if _threads and _threads[0].is_alive():
            return
        _threads[:] = [threading.Thread(target=_work, name="background compile")]
        try:
            _threads[0].start()
        except RuntimeError:
            # The system refuses another thread, or the interpreter is shutting down.
            _queue.clear()
            _threads.clear()


def wait_for_background() -> None:
    """Block until the queue is empty and the worker has ended."""
    for thread in tuple(_threads):
        thread.join()


def drop_background() -> None:
    """Drop queued work; work that has begun goes on."""
    with _queue_lock:
        _queue.clear()


def _work() -> None:
    while True:
        with _queue_lock:
            # Clear _threads under the lock: work queued after this starts a new thread.
            if not (_queue and threading.main_thread().is_alive()):
                _queue.clear()
                _threads.clear()
                return
            work = _queue.popleft()
        with _work_lock, suppress(Exception):
            work()


def _after_fork_in_child() -> None:
    """Reset the state in a forked child, which has no copy of the worker thread."""
    _queue.clear()
    _threads.clear()
    _after_fork_in_parent()


def _before_fork() -> None:
    # The worker never holds both locks, so this waits for its current piece and cannot deadlock.
    _queue_lock.acquire()
    _work_lock.acquire()
    wait_for_pending()


def _after_fork_in_parent() -> None:
    _work_lock.release()
    _queue_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )


# Tiering: optimised (tier-1) code takes about three times as long to compile as quick (tier-0)
# code, which runs half as fast.  A function's first call compiles tier-0 code, unless a large
# workload is known; after some calls tier-1 code is compiled in the background and replaces it.
# Both compute the same bits, so the moment of replacement is unobservable.

_HOT_CALLS = 8
"""Calls after which a function is optimised: more than a first draw makes, whose processor time
the compilation would compete for."""
_POLLS_BEFORE_COMPILE, _POLLS_BEFORE_WAIT = 4, 64
"""Number of polls without code after which the worker compiles it (a first draw needs its time
for other code), and after which the caller compiles it (in a forked child no worker may be
compiling)."""
_noted: list[set[TieredFunction]] = []
"""A set for each open ``tier0_calls``."""


class TieredFunction:
    """A compiled function; ``run`` calls its best code so far.

    Mutable: ``run`` is replaced when better code is ready.  ``kind`` is its ``ctypes`` function
    type.  Methods that compile raise ImportError without llvmlite.
    """

    def __init__(self, source: CodeSource, kind: Callable[[int], Any]) -> None:
        self.run: Callable[..., Any] = self._call_best
        self._source, self._kind = source, kind
        self._code: Callable[..., Any] | None = None
        self._begun: tuple[Callable[[], Code], Effort] | None = None
        self._good = self._promoted = False
        self._calls = self._polls = 0
        self._changing = Lock()

    @property
    def has_code(self) -> bool:
        """Whether any code, fast-compiled (tier 0) or optimised, is in memory."""
        return self._code is not None

    @property
    def good(self) -> bool:
        """Whether there is optimised code, in memory or in the object cache."""
        if self._code is None:
            self._load_cached()
        return self._good

    def ready(self, effort: Effort = Effort.QUICK) -> None:
        """Ensure that there is code: without any, compile with ``effort`` now; otherwise, for
        GOOD, optimise in the background.
        """
        if self._code is None:
            with self._changing:
                if self._code is None:
                    self._begin(effort)
        elif effort is Effort.GOOD:
            self.promote()

    def compile_ahead(self, effort: Effort = Effort.QUICK) -> None:
        """Begin compiling ahead of the first call: generate the text here, emit code in the
        background.

        Does nothing if another thread is compiling or code is cached.  A caller that arrives first
        finishes the compilation itself.
        """
        if self._code is None and self._changing.acquire(blocking=False):
            try:
                if self._code is None and self._begun is None and not self._install_cached():
                    self._begun = self._source.begin(effort), effort
                    run_in_background(self.ready)
            finally:
                self._changing.release()

    def poll(self) -> bool:
        """Return whether there is code; repeated calls first compile it in the background, then
        wait for it.
        """
        if self._code is None:
            self._polls += 1
            if self._polls == 1:
                self._load_cached()
            elif self._polls == _POLLS_BEFORE_COMPILE:
                run_in_background(self.ready)
            elif self._polls > _POLLS_BEFORE_WAIT:
                self.ready()
        return self._code is not None

    def _load_cached(self) -> None:
        """Load code from the object cache if there is none in memory."""
        with self._changing:
            if self._code is None:
                self._install_cached()

    def optimize(self) -> None:
        """Compile and install optimised code now."""
        with self._changing:
            if not self._good:
                self._install(self._source.good(), good=True)

    def _begin(self, effort: Effort) -> None:
        if self._begun is None and self._install_cached():
            return
        finish, effort = self._begun or (self._source.begin(effort), effort)
        if isinstance(finish, Pending):
            self._begun = finish, effort  # a caller after one that was cancelled waits for it too
        self._install(finish(), good=effort is Effort.GOOD)
        self._begun = None

    def _install_cached(self) -> bool:
        """Install optimised code from the object cache, if it has any; return whether it has."""
        cached = self._source.cached()
        if cached is not None:
            self._install(cached, good=True)
        return cached is not None

    def promote(self) -> None:
        """Queue the optimisation of a function that has tier-0 code."""
        if not (self._good or self._promoted) and self._code is not None:
            self._promoted = True
            run_in_background(self.optimize)

    def _install(self, code: Code, *, good: bool) -> None:
        made = self._kind(code.address)
        # The function object keeps its code alive, also during a call that outlasts replacement.
        made.code = code
        self._code, self._good = made, good
        if good:
            self.run = made

    def best(self) -> Any:
        """Return the current code, for other code to call by address, and count a call.

        The caller must keep the result alive while the address is in use.
        """
        self.ready()
        calls = self._calls = self._calls + 1
        if calls == _HOT_CALLS:
            self.promote()
        if not self._good:
            for noted in _noted:
                noted.add(self)
        return self._code

    def _call_best(self, *arguments: Any) -> Any:
        return self.best()(*arguments)


@contextmanager
def tier0_calls() -> Iterator[set[TieredFunction]]:
    """Collect, until the block ends, the functions whose tier-0 code is called."""
    found: set[TieredFunction] = set()
    _noted.append(found)
    try:
        yield found
    finally:
        _noted[:] = [calls for calls in _noted if calls is not found]


def tiers(run: Callable[[], _Result]) -> Iterator[_Result]:
    """Yield the results of ``run`` by the code that there is, and by optimised code of all
    functions that it called in tier 0, until it calls none.
    """
    calls: set[TieredFunction] | None = None
    while calls is None or calls:
        for each in calls or ():
            each.optimize()
        with tier0_calls() as calls:
            result = run()
        yield result
