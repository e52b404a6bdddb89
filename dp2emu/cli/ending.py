"""Signals that ask for an end: what is under way is put away, and a line says why."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
"""Signals that ask for an end, and what is said when they did; not every system has all."""
_REPEAT = 1.0
"""Seconds within which a signal that comes again says nothing new: some senders tell the process
and then its group, and that must not disturb what the first one has begun."""
_CODE = 128
"""A process that a signal ended has this, and the signal's number, as its exit code."""


class Asked(KeyboardInterrupt):
    """A signal, ``number``, asks for an end.  It passes wherever Ctrl-C does."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def ending(error: BaseException | None) -> tuple[int, str]:
    """The exit code and the words for an interrupt; one that has no signal is Ctrl-C's."""
    number = signal.Signals(error.number if isinstance(error, Asked) else signal.SIGINT)
    return _CODE + number, _WORDS.get(number.name, number.name)


@contextmanager
def signals_raised() -> Iterator[None]:
    """Signals that ask for an end raise ``Asked`` within; behind it they end the process at once,
    since there is nothing left to put away.

    Those that whoever started the process wants ignored stay ignored.
    """
    found = [number for name in _WORDS if (number := getattr(signal, name, None)) is not None]
    heard = [number for number in found if signal.getsignal(number) is not signal.SIG_IGN]
    ask = _asking()
    for number in heard:
        signal.signal(number, ask)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_DFL)


def _asking() -> Callable[[int, FrameType | None], None]:
    last = -_REPEAT

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = monotonic()
        if now - last >= _REPEAT:
            last = now
            raise Asked(number)

    return ask
