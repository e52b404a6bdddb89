"""A child that replays captures: asked for several at a time, watched, ended and replaced."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

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


class Child:
    """A process that replays captures.  Mutable: it comes and goes.

    Names of files count from ``folder``, by default the current one.
    """

    def __init__(self, terms: Terms, folder: str | None = None) -> None:
        self._terms = terms
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._over = False
        self._changing = Lock()

    def row(self, path: str) -> Row:
        """What came of a file: its row, or one with outcome ``timeout`` or ``crash``."""
        return self.rows([path])[0]

    def rows(self, files: Sequence[str]) -> list[Row]:
        """What came of each file, in order; fewer only if the child is closed meanwhile.

        A child answers for several files at once.  When it ends, those without an answer are
        asked for one by one until it is known which of them ended it.  Raises OSError if there
        can be no process.
        """
        rows: list[Row] = []
        alone = len(files) == 1
        while len(rows) < len(files) and not self._over:
            asked = files[len(rows) :][: 1 if alone else None]
            found, why = self._asked(asked)
            rows += found
            if why and alone:
                rows.append({"file": asked[0], **why})
            alone = alone != bool(why)
        return rows

    def close(self) -> None:
        """End the process for good."""
        self._over = True
        with self._changing:
            self._end()

    def _asked(self, files: Sequence[str]) -> tuple[list[Row], Row | None]:
        """The rows that came, and what became of the process if it is gone."""
        process = self._started()
        if process is None:
            return [], None
        with _Watch(process, self._terms.seconds) as watch:
            rows = list(_answers(process, files, watch))
        if len(rows) == len(files):
            return rows, None
        code = process.wait()
        with self._changing:
            self._end()
        if watch.late:
            what = f"more than {self._terms.seconds:g} seconds"
            return rows, {"outcome": "timeout", "error": what}
        return rows, {"outcome": "crash", "error": f"the process ended with {code}"}

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[str] | None:
        with self._changing:
            if self._over:
                return None
            if self._process is not None and self._process.poll() is None:
                return self._process
            self._end()
            process = self._process = self._popen()
        _await_start(process)
        return process

    def _popen(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "dp2emu.batch.child", self._terms.settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            cwd=self._folder,
        )


class _Watch:
    """Ends a process that says nothing for so many seconds.  Mutable: it looks at the clock."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
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


def _await_start(process: subprocess.Popen[str]) -> None:
    """Let a process say that it is ready, which no file's time has to pay."""
    assert process.stdout is not None
    with _Watch(process, START_SECONDS), suppress(OSError, ValueError):
        process.stdout.readline()


def _answers(process: subprocess.Popen[str], files: Sequence[str], watch: _Watch) -> Iterator[Row]:
    """Rows as they come, until all are there or the process is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError, ValueError):  # ValueError: closed meanwhile
        process.stdin.write(json.dumps(files) + "\n")
        process.stdin.flush()
        for _ in files:
            line = process.stdout.readline()
            if not line.endswith("\n"):
                return
            watch.heard()
            yield json.loads(line)
