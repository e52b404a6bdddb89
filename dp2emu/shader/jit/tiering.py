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
from threading import Lock
from typing import Any
from weakref import WeakSet

from dp2emu.shader.jit.code import Effort, Source
from dp2emu.shader.jit.compiling import Code

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


# Functions that are there quickly, and better if they are called again.
#
# Good code takes some three times as long to compile as code that works half as fast.  A
# function is compiled quickly when it is first called, unless it is known to have much to do;
# when it has been called some times good code is compiled, which takes the place of the other
# when it is there.  Both give the same bits, so nobody sees when that is.

_WORTH = 8
"""Calls after which good code seems worth while: more than a first draw makes, which it would take
a processor from."""


_LIKELY, _PATIENCE = 4, 64
"""Times that somebody does without code before it is compiled, for a first draw wants its time for
other code, and at most: in a child of a process nobody may be compiling it."""


_improvable: WeakSet[TieredFunction] = WeakSet()
"""Functions with quick code."""


_listing = Lock()


class TieredFunction:
    """A function in memory: ``run`` is the best code that there is for it.

    Mutable: ``run`` changes.  ``kind`` is its type, one of ``ctypes``.  What compiles raises
    ImportError without llvmlite.
    """

    def __init__(self, source: Source, kind: Callable[[int], Any]) -> None:
        self.run: Callable[..., Any] = self._counted
        self._source, self._kind = source, kind
        self._code: Callable[..., Any] | None = None
        self._begun: tuple[Callable[[], Code], Effort] | None = None
        self._good = self._asked = False
        self._calls = self._asking = 0
        self._changing = Lock()

    @property
    def there(self) -> bool:
        """Whether there is any code."""
        return self._code is not None

    @property
    def good(self) -> bool:
        """Whether there is good code, be it an earlier process's."""
        if self._code is None:
            self._find()
        return self._good

    def ready(self, effort: Effort = Effort.QUICK) -> None:
        """Have code: if there is none, of so much effort at once; good code otherwise before long,
        if that is wanted.
        """
        if self._code is None:
            with self._changing:
                if self._code is None:
                    self._begin(effort)
        elif effort is Effort.GOOD:
            self.ask()

    def ahead(self, effort: Effort = Effort.QUICK) -> None:
        """Have code before it is wanted, if nobody is about to: another thread makes it of what is
        written here, unless an earlier process has.  Who wants it first makes it.
        """
        if self._code is None and self._changing.acquire(blocking=False):
            try:
                if self._code is None and self._begun is None and not self._kept():
                    self._begun = self._source.begun(effort), effort
                    later(self.ready)
            finally:
                self._changing.release()

    def soon(self) -> bool:
        """Whether there is code.  If there is none another thread compiles it for whoever asks
        again, and who asks often waits for it.
        """
        if self._code is None:
            self._asking += 1
            if self._asking == 1:
                self._find()
            elif self._asking == _LIKELY:
                later(self.ready)
            elif self._asking > _PATIENCE:
                self.ready()
        return self._code is not None

    def _find(self) -> None:
        """Have what an earlier process has compiled."""
        with self._changing:
            if self._code is None:
                self._kept()

    def improve(self) -> None:
        """Have good code from here on."""
        with self._changing:
            if not self._good:
                self._have(self._source.good(), good=True)

    def _begin(self, effort: Effort) -> None:
        if self._begun is None and self._kept():
            return
        finish, effort = self._begun or (self._source.begun(effort), effort)
        self._have(finish(), good=effort is Effort.GOOD)
        self._begun = None

    def _kept(self) -> bool:
        """Have code of an earlier process, if there is any: it is good already."""
        kept = self._source.kept()
        if kept is not None:
            self._have(kept, good=True)
        return kept is not None

    def ask(self) -> None:
        """Have good code before long, if there is any code."""
        if not (self._good or self._asked) and self._code is not None:
            self._asked = True
            later(self.improve)

    def _have(self, code: Code, *, good: bool) -> None:
        made = self._kind(code.address)
        # The code is there as long as something refers to it, which may be a call.
        made.code = code
        self._code, self._good = made, good
        if good:
            self.run = made
        with _listing:
            (_improvable.discard if good else _improvable.add)(self)

    def best(self) -> Any:
        """What ``run`` would call now, for other code to call by its address: this is a call of
        it.  It has to be kept for as long as somebody has the address.
        """
        self.ready()
        calls = self._calls = self._calls + 1
        if calls == _WORTH:
            self.ask()
        return self._code

    def _counted(self, *arguments: Any) -> Any:
        return self.best()(*arguments)


def improve_all() -> bool:
    """Have good code for all that has quick code; whether there was any."""
    with _listing:
        found = list(_improvable)
    for each in found:
        each.improve()
    return bool(found)
