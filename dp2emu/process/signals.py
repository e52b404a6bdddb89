"""The signals that end a command: their words, their exit codes, and the end at once.

The command imports this module first, before it imports anything that takes time.
"""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
"""Message that is printed when a signal ends the command, by the signal's name."""
CODE = 128
"""Number that, added to a signal's number, is the exit code of a command that the signal ends."""


def handled() -> list[int]:
    """The signals of ``WORDS`` on this system, without those that the parent process ignores."""
    found = [number for name in WORDS if (number := getattr(signal, name, None)) is not None]
    return [number for number in found if signal.getsignal(number) is not signal.SIG_IGN]


def words_of(number: int) -> str:
    """The message for a signal that ends the command."""
    name = signal.Signals(number).name
    return WORDS.get(name, name)


def end_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """Signal handler: print one line and end the process, without an exception.

    It is for imports, during which no output is open.  An exception there could be lost: imports
    call callbacks, whose exceptions Python prints and drops.
    """
    try:
        os.write(2, f"dp2emu: {words_of(number)}\n".encode())
    finally:
        os._exit(CODE + number)


def signals_end_at_once() -> None:
    """Let the signals end this process by ``end_at_once`` from here on."""
    for number in handled():
        signal.signal(number, end_at_once)
