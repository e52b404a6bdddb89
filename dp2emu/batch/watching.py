"""A child that replays captures: asked for several at a time, watched, ended and replaced."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, Protocol, TextIO

from dp2emu.records import dataclass

Row = dict[str, Any]
"""What came of a file; ``dp2emu.batch.child.row_of`` says what is in it."""

START_SECONDS = 120.0
"""How long a process may take to be ready."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a child is held to: ``seconds`` a file may take, and ``settings`` it is started with.

    ``dp2emu.batch.limits.Limits`` makes them.  They are plain, so that who watches a child needs
    nothing of what the child needs.
    """

    seconds: float
    settings: str


class Process(Protocol):
    """What a child is here: ``subprocess.Popen``, as far as it is used, or a nursery's child."""

    stdin: TextIO
    stdout: TextIO

    def poll(self) -> int | None:
        """None as long as it is there."""

    def wait(self) -> int:
        """With what it ended, when it has."""

    def kill(self) -> None:
        """End it."""

    def close(self) -> None:
        """End what is left of the way to it."""


class _Started(subprocess.Popen[str]):
    """A process of this one."""

    stdin: TextIO
    stdout: TextIO

    def close(self) -> None:
        self.communicate()


def started(terms: Terms, folder: str | None = None) -> Process:
    """A child of this process, in ``folder``.  Raises OSError if there can be none."""
    return _Started(
        [sys.executable, "-m", "dp2emu.batch.child", terms.settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        cwd=folder,
    )


class Child:
    """A process that replays captures.  Mutable: it comes and goes.

    ``start`` says how one is started; names of files count from the folder that it is in.
    """

    def __init__(self, terms: Terms, start: Callable[[Terms], Process] = started) -> None:
        self._terms = terms
        self._start = start
        self._process: Process | None = None
        self._over = False
        self._changing = Lock()

    def row(self, path: str) -> Row:
        """What came of a file: its row, or one with outcome ``timeout`` or ``crash``."""
        return self.rows([path])[0]

    def rows(self, files: Sequence[str], task: str = "") -> list[Row]:
        """What came of each file, in order; fewer only if the child is closed meanwhile.

        A child answers for several files at once.  When it ends, those without an answer are
        asked for one by one until it is known which of them ended it; a file is tried again if
        somebody killed its child, once, since that need not be the file's doing.  ``task`` names
        these files for a nursery, which knows of tasks that somebody else has begun.  Raises
        OSError if there can be no process.
        """
        rows: list[Row] = []
        alone, tried = len(files) == 1, -1
        while len(rows) < len(files) and not self._over:
            asked = files[len(rows) :][: 1 if alone else None]
            found, why = self._asked(asked, task if len(asked) == len(files) else "")
            rows += found
            if alone and why == _KILLED and tried < len(rows):
                tried = len(rows)
                continue
            if why and alone:
                rows.append({"file": asked[0], **why})
            alone = alone != bool(why)
        return rows

    def close(self) -> None:
        """End the process for good."""
        self._over = True
        with self._changing:
            self._end()

    def _asked(self, files: Sequence[str], task: str) -> tuple[list[Row], Row | None]:
        """The rows that came, and what became of the process if it is gone."""
        process = self._started()
        if process is None:
            return [], None
        with _Watch(process, self._terms.seconds) as watch:
            rows = list(_answers(process, (task, files), watch))
        if len(rows) == len(files):
            return rows, None
        code = process.wait()
        with self._changing:
            self._end()
        if watch.late or code == _BY_ITSELF:
            what = f"more than {self._terms.seconds:g} seconds"
            return rows, {"outcome": "timeout", "error": what}
        return rows, _crash(code)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.close()
            self._process = None

    def _started(self) -> Process | None:
        with self._changing:
            if self._over:
                return None
            if self._process is not None and self._process.poll() is None:
                return self._process
            self._end()
            process = self._process = self._start(self._terms)
        _await_start(process)
        return process


def _crash(code: int) -> Row:
    return {"outcome": "crash", "error": f"the process ended with {code}"}


_KILLED = _crash(-9)
"""SIGKILL's, which the memory of the machine may be the cause of, or whoever tidies it up."""


_BY_ITSELF = -getattr(signal, "SIGALRM", 14)
"""How a child ends that nobody ended in time."""


class _Watch:
    """Ends a process that says nothing for so many seconds.  Mutable: it looks at the clock."""

    def __init__(self, process: Process, seconds: float) -> None:
        self.late = False
        self._process, self._seconds = process, seconds
        self._over = Event()
        self._thread = Thread(target=self._wait, daemon=True)
        self.heard()

    def heard(self) -> None:
        """It said something."""
        self._until = monotonic() + self._seconds

    def _wait(self) -> None:
        while (left := self._until - monotonic()) > 0:
            if self._over.wait(left):
                return
        self.late = True
        self._process.kill()

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._over.set()
        self._thread.join()


def _await_start(process: Process) -> None:
    """Let a process say that it is ready, which no file's time has to pay."""
    with _Watch(process, START_SECONDS), suppress(OSError, ValueError):
        process.stdout.readline()


def _answers(process: Process, asked: tuple[str, Sequence[str]], watch: _Watch) -> Iterator[Row]:
    """Rows as they come, until all are there or the process is gone."""
    with suppress(OSError, ValueError):  # ValueError: closed meanwhile
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        for _ in asked[1]:
            line = process.stdout.readline()
            if not line.endswith("\n"):
                return
            watch.heard()
            yield json.loads(line)
