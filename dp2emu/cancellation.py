"""Cancellation of work: a token that Python and compiled code poll.

A token holds a word in memory, which is 0 until the token is cancelled.  Compiled loops load the
word and end early once it is set; Python then raises ``Cancelled`` instead of using their results.
Setting a word needs no lock, so another thread, a timer or a signal watcher may do it at any
time.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar
from weakref import WeakSet

from dp2emu.argument_check import checked
from dp2emu.errors import Cancelled, UsageError
from dp2emu.places import place_of

_T = TypeVar("_T")

_tokens: WeakSet[Cancellation] = WeakSet()
"""The tokens of all drivers and GPUs, for ``cancel_all``."""
_tokens_lock = threading.Lock()


@checked
class Cancellation:
    """A cancellation token, which ends the work of each driver or GPU that was created with it.

    Mutable: it is cancelled at most once, by any thread, and stays cancelled.  With ``seconds`` it
    is cancelled when that much time has passed since its creation.  Raises UsageError unless
    ``seconds`` is positive.

    ``word.value`` is 0 until the token is cancelled: code that runs for every packet reads it
    without a call.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.word = ctypes.c_int64(0)
        self._reason = ""
        self._timer: threading.Timer | None = None
        if seconds is not None:
            self._start_timer(seconds)

    def cancel(self, reason: str = "cancelled") -> None:
        """End the work; ``reason`` is the message of the errors that it ends with."""
        if not self.word.value:
            self._reason = reason
            self.word.value = 1
        self.close()

    def close(self) -> None:
        """Stop the timer, if one is running; the token can still be cancelled."""
        if self._timer is not None:
            self._timer.cancel()

    @property
    def cancelled(self) -> bool:
        """Whether the token is cancelled."""
        return bool(self.word.value)

    @property
    def address(self) -> int:
        """Address of the 64-bit word that compiled code polls; it lives as long as the token."""
        return ctypes.addressof(self.word)

    def check(self) -> None:
        """Raise Cancelled, with the reason and the place, if the token is cancelled."""
        if self.word.value:
            raise Cancelled(self._reason, **place_of())

    def _start_timer(self, seconds: float) -> None:
        if not 0 < seconds <= threading.TIMEOUT_MAX:
            raise UsageError(f"a timeout of {seconds} s, not above 0")
        reason = f"not finished within the timeout of {seconds:g} s"
        self._timer = threading.Timer(seconds, self.cancel, (reason,))
        self._timer.daemon = True
        self._timer.start()


def registered(token: Cancellation) -> Cancellation:
    """Return ``token``, which ``cancel_all`` cancels too from now on."""
    with _tokens_lock:
        _tokens.add(token)
    return token


def cancel_all(reason: str) -> None:
    """Cancel every registered token of the process."""
    with _tokens_lock:
        tokens = tuple(_tokens)
    for token in tokens:
        token.cancel(reason)


class _Current(threading.local):
    """Thread-local: the ``token`` of the work that the thread executes."""

    def __init__(self) -> None:
        self.token = Cancellation()


CURRENT = _Current()
"""The token of the work that the calling thread executes; outside of any, a token of the thread's
own."""


def polled(steps: Iterable[_T]) -> Iterator[_T]:
    """Yield the steps of the work that the calling thread executes.  Raises Cancelled, before the
    next step, once its token is cancelled.
    """
    token = CURRENT.token
    for step in steps:
        if token.word.value:
            token.check()
        yield step


def current() -> Cancellation:
    """Return the token of the work that the calling thread executes."""
    return CURRENT.token
