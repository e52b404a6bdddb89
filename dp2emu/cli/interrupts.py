"""Signals and timeouts that end the command: the exceptions, their messages and exit codes."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from types import FrameType

from dp2emu.cancellation import cancel_all
from dp2emu.cli import signal_watch
from dp2emu.cli.outcome import abandon_stdout, complain
from dp2emu.errors import Cancelled, Interrupted
from dp2emu.escaping import plain
from dp2emu.places import place_of
from dp2emu.process import signals
from dp2emu.unfinished import dispose_all

TIMED_OUT = 124
"""Exit code of a command that ``--timeout`` ended; ``timeout`` of GNU coreutils has the same."""

_REPEAT = 1.0
"""Seconds in which a repeated signal is ignored: some senders signal the process and then its
group, and the second signal must not disturb the cleanup."""
_ALARM: int | None = getattr(signal, "SIGALRM", None)
_importing = False
"""Whether modules are being imported, with nothing open that a signal's exception would close."""


class Ending(Interrupted):
    """The end of the command by a signal or a timeout; ``code`` is its exit code."""

    def __init__(self, code: int, what: str, thread: int | None = None) -> None:
        """The error names the place of the work of ``thread``, by default of the calling one."""
        super().__init__(what, **place_of(thread))
        self.code = code


class Asked(Ending):
    """A signal, ``number``, that ends the command."""

    def __init__(self, number: int, thread: int | None = None) -> None:
        super().__init__(signals.CODE + number, signals.words_of(number), thread)


class TimedOut(Ending):
    """The end of the ``seconds`` that ``--timeout`` gives a verb."""

    def __init__(self, seconds: float, thread: int | None = None) -> None:
        what = f"not finished within the timeout of {seconds:g} s"
        super().__init__(TIMED_OUT, what, thread)


class _State:
    """The interrupts of the command.  Mutable.

    ``timeout`` is the timeout of the running verb in seconds, and ``expired`` whether it is over;
    ``raised`` is the latest exception of a signal, ``last`` its time.
    """

    def __init__(self) -> None:
        self.timeout: float | None = None
        self.expired = False
        self.raised: Ending | None = None
        self.last = -_REPEAT

    def ending(self, number: int, thread: int | None = None) -> Ending:
        """Return the exception for a signal that arrived."""
        if self.timeout is not None and (self.expired or number == _ALARM):
            return TimedOut(self.timeout, thread)
        return Asked(number, thread)


_state = _State()


def ending(error: BaseException | None) -> tuple[int, str]:
    """(exit code, message) for a command that an exception of an interrupt ended.

    Work that was cancelled counts for the signal handled last; any other exception without a
    signal of its own means SIGINT.
    """
    if isinstance(error, Cancelled) and _state.raised is not None:
        error.what = _state.raised.what
        return _state.raised.code, str(error)
    found = error if isinstance(error, Ending) else Asked(signal.SIGINT)
    return found.code, str(found)


def interrupted(error: BaseException | None) -> int:
    """Print the message for an interrupt and return the exit code.

    Buffered output is discarded: its reader may be the reason for the interrupt.
    """
    code, words = ending(error)
    abandon_stdout()
    complain(words)
    return code


@contextmanager
def signals_raised() -> Iterator[None]:
    """Raise ``Asked`` for signals within the block, and end compiled code; after it they end the
    process at once.

    Signals that the parent process has set to be ignored stay ignored.  During ``importing`` they
    end the process at once, and so does one to which the main thread does not react.
    """
    global _state
    _state = _State()
    handled = signals.handled()
    watched = handled if _ALARM is None else [*handled, _ALARM]
    for number in handled:
        signal.signal(number, _ask)
    try:
        with signal_watch.kernels_stopped(watched, _end_without_main_thread), _drops_reported():
            yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _ask(number: int, frame: FrameType | None) -> None:
    if _importing:
        signals.end_at_once(number, frame)
    now = monotonic()
    if now - _state.last >= _REPEAT:
        _state.last = now
        _state.raised = _state.ending(number)
        signal_watch.reacted.set()
        # No work goes on while blocks are left.
        cancel_all(_state.raised.what)
        raise _state.raised


@contextmanager
def _drops_reported() -> Iterator[None]:
    """A block in which ``signal_watch`` is told of interrupts that Python drops.

    Exceptions of callbacks, as of garbage collections and imports, reach no caller.
    """
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, Interrupted):
            _state.last = -_REPEAT
            signal_watch.dropped.set()
        else:
            before(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _end_without_main_thread(number: int) -> None:
    """End the process from another thread, since the main thread does not react or unwind."""
    found = _state.raised or _state.ending(number, threading.main_thread().ident)
    dispose_all()
    with suppress(OSError):
        os.write(2, f"dp2emu: {plain(str(found))}\n".encode("utf-8", "backslashreplace"))
    os._exit(found.code)


@contextmanager
def ended_after(seconds: float | None) -> Iterator[None]:
    """Raise ``TimedOut`` in the block when ``seconds`` have passed (None: never), and end compiled
    code.

    Must be entered by the main thread, within ``signals_raised``.
    """
    if seconds is None:
        yield
        return
    _state.timeout = seconds
    stop = _alarm(seconds)
    try:
        yield
    finally:
        stop()
        _state.timeout = None


def _alarm(seconds: float) -> Callable[[], object]:
    """Have ``_ask`` called after ``seconds``; returns a function that stops that."""
    if _ALARM is not None and hasattr(signal, "setitimer"):
        alarm, before = _ALARM, signal.signal(_ALARM, _ask)
        signal.setitimer(signal.ITIMER_REAL, seconds)

        def stop() -> None:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(alarm, before)

        return stop
    timer = threading.Timer(seconds, _expire)
    timer.daemon = True
    timer.start()
    return timer.cancel


def _expire() -> None:
    _state.expired = True
    _thread.interrupt_main(signal.SIGINT)


def end_interrupted(code: int) -> None:
    """End the process at once with ``code`` if a signal or timeout has ended the command.

    Otherwise threads that compile would be waited for, and large work be freed piece by piece.
    """
    if _state.raised is None:
        return
    dispose_all()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


@contextmanager
def importing() -> Iterator[None]:
    """A block that imports modules before a verb runs; signals then end the process at once."""
    global _importing
    _importing = True
    try:
        yield
    finally:
        _importing = False
