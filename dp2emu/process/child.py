"""The supervising side of a child process: its pipes, a deadline, its exit code."""

from __future__ import annotations

import math
import os
import shlex
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from typing import Any, BinaryIO, Protocol

from dp2emu.errors import UsageError
from dp2emu.unfinished import begin_unfinished, end_unfinished


class Child(Protocol):
    """Interface of a running child process, with its pipes: a ``Command`` or a forked worker."""

    pid: int
    stdin: BinaryIO
    stdout: BinaryIO

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while the process runs."""

    def wait(self) -> int:
        """Wait for a process that was killed or closed its output; returns the exit code."""

    def kill(self) -> None:
        """Kill the process; does nothing if it has ended."""

    def close(self) -> None:
        """End the process and release its pipes."""


def split_command(command: str, user: str) -> list[str]:
    """Split a command as a shell does.  Raises UsageError if that fails or leaves nothing."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"command {command!r}: {error}") from None
    if not words:
        raise UsageError(f"{user} needs a command")
    return words


class Command(subprocess.Popen[bytes]):
    """A child process that executes a command, with pipes for standard input and output.

    ``options`` are those of ``subprocess.Popen``.  With ``group`` the command leads a session, and
    ``kill`` ends all processes of it.
    """

    stdin: BinaryIO
    stdout: BinaryIO

    def __init__(self, words: Sequence[str], *, group: bool = False, **options: Any) -> None:
        self._group = group and hasattr(os, "killpg")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        super().__init__(words, start_new_session=group, **pipes | options)
        begin_unfinished(self, self.kill)

    def kill(self) -> None:
        """End the process, and with ``group`` what it has started."""
        if not self._group:
            super().kill()
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and release its pipes."""
        self.kill()
        self.wait()
        end_unfinished(self)
        for pipe in filter(None, (self.stdin, self.stdout)):
            with suppress(OSError):  # bytes that the process has not read are lost with it
                pipe.close()


class Deadline:
    """A context in which ``child`` is killed when ``seconds`` have passed since the start or the
    last ``renew``.

    Mutable: ``expired`` is then True.
    """

    def __init__(self, child: Child, seconds: float) -> None:
        self.expired = False
        self._child, self._seconds = child, seconds
        self._over = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self.renew()

    def renew(self) -> None:
        """Restart the time: the child may take ``seconds`` from now on."""
        self._until = monotonic() + self._seconds

    def _watch(self) -> None:
        while (left := self._until - monotonic()) > 0:
            if self._over.wait(left):
                return
        self.expired = True
        self._child.kill()

    def __enter__(self) -> Deadline:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._over.set()
        self._thread.join()


class Watchdog:
    """A thread that kills ``child`` if one of its tasks takes longer than it may: up to an eighth
    of ``seconds`` later.

    Mutable: ``begin`` and ``end`` bound a task, and cost nothing; ``expired`` is True when the
    child was killed.
    """

    def __init__(self, child: Child, seconds: float) -> None:
        self.expired = False
        self._child = child
        self._until = math.inf
        self._step = min(max(seconds / 8, _SHORTEST_STEP), 1.0)
        self._over = Event()
        Thread(target=self._watch, daemon=True).start()

    def begin(self, seconds: float) -> None:
        """Start a task that may take ``seconds`` from now on."""
        self._until = monotonic() + seconds

    def end(self) -> None:
        """End the task: the child may be idle for any time."""
        self._until = math.inf

    def close(self) -> None:
        """Stop watching."""
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(self._step):
            if monotonic() > self._until:
                self.expired = True
                self._child.kill()
                return


_SHORTEST_STEP = 0.01
"""Least time between two looks of a watchdog, in seconds."""
