"""Captures handed out to children, which are watched, ended and replaced."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from queue import SimpleQueue
from threading import Timer
from typing import Any, TypeVar

from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError

Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may take, ``seconds`` and bytes of ``memory`` (0: any), and how it is replayed.

    One child replays file after file; it is replaced when it ends, hangs or takes too long.
    """

    seconds: float = 600.0
    memory: int = 0
    timing: str | None = None
    options: Options = field(default_factory=Options)

    def settings(self) -> str:
        """What a child is told."""
        told = {
            "memory": self.memory,
            "timing": self.timing,
            "options": asdict(self.options),
        }
        return json.dumps(told)


class Child:
    """A process that replays one capture after the other.  Mutable: it comes and goes.

    Names of files count from ``folder``, by default the current one.
    """

    def __init__(self, limits: Limits, folder: str | None = None) -> None:
        self._limits = limits
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def row(self, path: str) -> Row:
        """What came of a file: its row, or one with outcome ``timeout`` or ``crash``."""
        process = self._started()
        late: list[bool] = []

        def end() -> None:
            late.append(True)
            process.kill()

        watch = Timer(self._limits.seconds, end)
        watch.start()
        try:
            line = _ask(process, path)
        finally:
            watch.cancel()
            watch.join()
        if line.endswith("\n"):
            row: Row = json.loads(line)
            return row
        code = process.wait()
        self.close()
        if late:
            what = f"more than {self._limits.seconds:g} seconds"
            return {"file": path, "outcome": "timeout", "error": what}
        return {"file": path, "outcome": "crash", "error": f"the process ended with {code}"}

    def close(self) -> None:
        """End the process."""
        if self._process is None:
            return
        self._process.kill()
        self._process.communicate()
        self._process = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dp2emu.batch.child", self._limits.settings()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            cwd=self._folder,
        )
        return self._process


def _ask(process: subprocess.Popen[str], path: str) -> str:
    """The line that comes back; without its end if the process is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):
        process.stdin.write(json.dumps(path) + "\n")
        process.stdin.flush()
        return process.stdout.readline()
    return ""


def batch(files: Sequence[str], limits: Limits, *, jobs: int = 1) -> Iterator[Row]:
    """Replay ``files``, at most ``jobs`` at a time; their rows in the order of the files.

    The rows are the same for any number of jobs.  Raises UsageError for no jobs.
    """
    if jobs < 1:
        raise UsageError(f"{jobs} jobs")
    children = [Child(limits) for _ in range(min(jobs, max(1, len(files))))]
    free: SimpleQueue[Child] = SimpleQueue()
    for child in children:
        free.put(child)

    def replayed(path: str) -> Row:
        child = free.get()
        try:
            return child.row(path)
        finally:
            free.put(child)

    pool = ThreadPoolExecutor(len(children))
    try:
        yield from pool.map(replayed, files)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.close()
        pool.shutdown()


def parse_shard(text: str) -> tuple[int, int]:
    """``"2/5"`` -> (2, 5): the second of five parts.  Raises UsageError for anything else."""
    one, slash, other = text.partition("/")
    if slash and one.isdecimal() and other.isdecimal() and len(text) < 20:
        part, parts = int(one), int(other)
        if 1 <= part <= parts:
            return part, parts
    raise UsageError(f"shard {text!r} is not K/N with 1 <= K <= N")


def shard_of(files: Sequence[T], part: int, parts: int) -> list[T]:
    """Every ``parts``-th file from the ``part``-th on: all parts together have each file once.

    >>> shard_of("abcde", 2, 3)
    ['b', 'e']
    """
    return list(files[part - 1 :: parts])
