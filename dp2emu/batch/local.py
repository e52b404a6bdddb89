"""Replay of a batch on this machine by several workers, and its division for several machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TypeVar

import msgspec
from msgspec.structs import asdict

from dp2emu.batch.supervisor import Row, Supervisor, fork_server
from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError

T = TypeVar("T")

_Done = SimpleQueue[tuple[int, list[Row] | Exception]]
"""Type of a queue of pairs: number of the first of some files, and a list of the rows of these
files, or an exception, such as an OSError if no process could be started."""

PORTION = 64
"""Maximum number of files that a local worker process is given in one request."""

PORTION_SECONDS = 0.1, 0.4
"""Two times: a worker gets twice as many files at once after files that took less than the first,
half as many after files that took more than the second."""


class Limits(msgspec.Struct, frozen=True):
    """How the files of a batch are replayed, and the limits of a file in ``seconds`` and in bytes
    of ``memory`` (0: none).

    A worker replays one file after the other and is replaced when it ends or exceeds the time; its
    start is not counted.  ``timing`` names the timing model; with None each capture has its own.
    """

    seconds: float = 600.0
    memory: int = 0
    timing: str | None = None
    options: Options = msgspec.field(default_factory=Options)

    def settings(self) -> str:
        """Return the limits as JSON for supervisors and workers."""
        return json.dumps(self, default=asdict)


def batch(files: Sequence[str], limits: Limits, *, jobs: int = 1) -> Iterator[Row]:
    """Replay ``files`` in at most ``jobs`` processes; yields their rows in order.

    The rows are the same for any number of jobs.  Raises UsageError if ``jobs`` is less than 1,
    and OSError if no process can be started.
    """
    if jobs < 1:
        raise UsageError(f"{jobs} jobs")
    count = min(jobs, max(1, len(files)))
    done: _Done = SimpleQueue()
    with _working(files, limits, count, done):
        yield from in_order(_finished(done, len(files)))


@contextmanager
def _working(files: Sequence[str], limits: Limits, count: int, done: _Done) -> Iterator[None]:
    """A context with ``count`` threads that replay ``files``, each by a supervisor, and put
    results into the queue ``done``.
    """
    portions = Portions(len(files), count)
    settings = limits.settings()
    server = fork_server(settings)
    supervisors = [Supervisor(settings, server) for _ in range(count)]
    threads = [
        Thread(target=_work, args=(supervisor, files, portions, done), daemon=True)
        for supervisor in supervisors
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        portions.stop()
        server.refuse()
        for supervisor in supervisors:
            supervisor.close()
        server.close()
        for thread in threads:
            thread.join()


def _work(supervisor: Supervisor, files: Sequence[str], portions: Portions, done: _Done) -> None:
    size = 1
    while part := portions.take(size):
        began = monotonic()
        try:
            done.put((part.start, supervisor.rows(files[part.start : part.stop])))
        except Exception as error:  # the thread that waits for the rows raises it
            done.put((part.start, error))
            return
        size = next_size(size, monotonic() - began)


def next_size(size: int, seconds: float) -> int:
    """Return how many files a worker is given next, if the last ``size`` files took ``seconds``.

    >>> next_size(8, 0.02), next_size(8, 0.2), next_size(8, 3.0), next_size(1, 3.0)
    (16, 8, 4, 1)
    """
    short, long = PORTION_SECONDS
    if seconds < short:
        return min(PORTION, 2 * size)
    return max(1, size // 2) if seconds > long else size


def _finished(done: _Done, files: int) -> Iterator[tuple[int, list[Row]]]:
    while files:
        start, rows = done.get()
        if isinstance(rows, Exception):
            raise rows
        files -= len(rows)
        yield start, rows


class Portions:
    """Divides ``files`` files among ``takers`` threads: each ``take`` returns the next file
    numbers.

    Mutable: the numbers run out, and the number of threads may change.
    """

    def __init__(self, files: int, takers: int) -> None:
        self.takers = takers
        self._files = files
        self._next = 0
        self._taking = Lock()

    def take(self, most: int, least: int = 1) -> range:
        """Return the next file numbers, at most ``most`` of them; an empty range if none are left.

        Near the end the range is shorter, so that all threads end at about the same time, but not
        shorter than ``least``.
        """
        with self._taking:
            start = self._next
            fair = max(least, (self._files - start) // (2 * self.takers))
            self._next = min(self._files, start + min(most, fair))
            return range(start, self._next)

    def stop(self) -> None:
        """Have ``take`` return empty ranges from now on."""
        with self._taking:
            self._next = self._files


def in_order(found: Iterable[tuple[int, list[Row]]]) -> Iterator[Row]:
    """Yield rows in the order of their files.

    ``found`` yields, in any order, consecutive files' (number of the first file, rows).
    """
    waiting: dict[int, list[Row]] = {}
    at = 0
    for start, rows in found:
        waiting[start] = rows
        while at in waiting:
            ready = waiting.pop(at)
            yield from ready
            at += len(ready)


def parse_shard(text: str) -> tuple[int, int]:
    """Return the part and the number of parts: "2/5" is (2, 5), the second of five.

    Raises UsageError for any other text.
    """
    one, slash, other = text.partition("/")
    if slash and one.isdecimal() and other.isdecimal() and len(text) < 20:
        part, parts = int(one), int(other)
        if 1 <= part <= parts:
            return part, parts
    raise UsageError(f"shard {text!r} is not K/N with 1 <= K <= N")


def shard_of(files: Sequence[T], part: int, parts: int) -> list[T]:
    """Return every ``parts``-th of ``files``, starting with number ``part`` (counted from 1).

    >>> shard_of("abcde", 2, 3)
    ['b', 'e']
    """
    return list(files[part - 1 :: parts])
