"""Patches with which a verb is busy for hours at a certain place, and says that it has come there.

Each is called in the process of the verb, ahead of it (``processes.Running``).
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

MARK = "stuck"
"""File in the current folder, made when a verb has come to the place."""


def busy() -> None:
    """Work for hours in C code that neither polls nor needs the interpreter."""
    Path(MARK).touch()
    hashlib.pbkdf2_hmac("sha256", b"", b"", (1 << 31) - 1)


def in_compilation() -> None:
    """LLVM does not end, whatever the length of a text."""
    from dp2emu.shader.jit import code
    from dp2emu.shader.jit.compiling import Host

    os.environ["XDG_CACHE_HOME"] = os.getcwd()
    patch.object(code, "PENDING_LINES", 0).start()
    patch.object(Host, "begin", lambda *given: busy()).start()


def _ahead_of(record: str, then: Callable[[], None]) -> None:
    from dp2emu.replay.player import Player

    perform = Player.perform

    def performed(player: Player, given: Any) -> None:
        if type(given).__name__ == record and player.tally.calls == 1:
            then()
        perform(player, given)

    patch.object(Player, "perform", performed).start()


def in_library() -> None:
    """The second call of a replay needs hours in the code of a library, on the main thread."""
    _ahead_of("Called", busy)


class _Signalling:
    """An object whose end is a signal: Python drops exceptions of this place."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass


def in_callback() -> None:
    """A signal comes in a callback during the second call of a replay, which then does not end."""

    def then() -> None:
        _Signalling()
        while True:
            sys.getsizeof(0)

    _ahead_of("Called", then)


def in_decompression() -> None:
    """The inflation of a capture's first chunk takes hours."""
    from dp2emu.capture import reader

    patch.object(reader, "inflate", lambda *given, **more: busy()).start()


def in_import() -> None:
    """The method of a trace's first call takes hours."""
    from dp2emu.retrace.program import Program

    patch.object(Program, "play", lambda *given: busy()).start()
