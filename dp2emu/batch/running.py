"""Captures handed out to children in portions, and their rows put in order again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TypeVar

from dp2emu.batch.watching import Child, Limits, Row
from dp2emu.errors import UsageError

T = TypeVar("T")

PORTION = 64
"""Files a child is asked for at once, at most."""

PORTION_SECONDS = 0.1, 0.4
"""A portion that took less is followed by a larger one, one that took more by a smaller one."""


class Portions:
    """Numbers of files, handed out in order to so many ``jobs``.  Mutable: they run out."""

    def __init__(self, files: int, jobs: int) -> None:
        self._files, self._jobs = files, jobs
        self._next = 0
        self._taking = Lock()

    def take(self, size: int) -> range:
        """The next ``size``, fewer near the end so that all jobs end together; empty: no more."""
        with self._taking:
            start = self._next
            fair = max(1, (self._files - start) // (2 * self._jobs))
            self._next = min(self._files, start + min(size, fair))
            return range(start, self._next)

    def stop(self) -> None:
        """Nothing is handed out any more."""
        with self._taking:
            self._next = self._files


def batch(files: Sequence[str], limits: Limits, *, jobs: int = 1) -> Iterator[Row]:
    """Replay ``files``, at most ``jobs`` at a time; their rows in the order of the files.

    The rows are the same for any number of jobs.  Raises UsageError for no jobs, and OSError if
    no process can be started.
    """
    if jobs < 1:
        raise UsageError(f"{jobs} jobs")
    count = min(jobs, max(1, len(files)))
    done: SimpleQueue[tuple[int, list[Row] | OSError]] = SimpleQueue()
    with _working(files, limits, Portions(len(files), count), count, done):
        yield from _in_order(done, len(files))


@contextmanager
def _working(
    files: Sequence[str],
    limits: Limits,
    portions: Portions,
    count: int,
    done: SimpleQueue[tuple[int, list[Row] | OSError]],
) -> Iterator[None]:
    """Threads with a child each, which are ended with the block."""
    children = [Child(limits) for _ in range(count)]
    threads = [
        Thread(target=_work, args=(child, files, portions, done), daemon=True)
        for child in children
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        portions.stop()
        for child in children:
            child.close()
        for thread in threads:
            thread.join()


def _work(
    child: Child,
    files: Sequence[str],
    portions: Portions,
    done: SimpleQueue[tuple[int, list[Row] | OSError]],
) -> None:
    size = 1
    while part := portions.take(size):
        began = monotonic()
        try:
            done.put((part.start, child.rows(files[part.start : part.stop])))
        except OSError as error:
            done.put((part.start, error))
            return
        size = next_size(size, monotonic() - began)


def next_size(size: int, seconds: float) -> int:
    """Files to ask for after ``size`` of them took ``seconds``.

    >>> next_size(8, 0.02), next_size(8, 0.2), next_size(8, 3.0), next_size(1, 3.0)
    (16, 8, 4, 1)
    """
    short, long = PORTION_SECONDS
    if seconds < short:
        return min(PORTION, 2 * size)
    return max(1, size // 2) if seconds > long else size


def _in_order(done: SimpleQueue[tuple[int, list[Row] | OSError]], count: int) -> Iterator[Row]:
    waiting: dict[int, list[Row]] = {}
    at = 0
    while at < count:
        start, rows = done.get()
        if isinstance(rows, OSError):
            raise rows
        waiting[start] = rows
        while at in waiting:
            ready = waiting.pop(at)
            yield from ready
            at += len(ready)


def parse_shard(text: str) -> tuple[int, int]:
    """The ``text`` ``"2/5"`` is (2, 5): the second of five parts.

    Raises UsageError for anything else.
    """
    one, slash, other = text.partition("/")
    if slash and one.isdecimal() and other.isdecimal() and len(text) < 20:
        part, parts = int(one), int(other)
        if 1 <= part <= parts:
            return part, parts
    raise UsageError(f"shard {text!r} is not K/N with 1 <= K <= N")


def shard_of(files: Sequence[T], part: int, parts: int) -> list[T]:
    """Every ``parts``-th of ``files`` from the ``part``-th on: all parts together have each once.

    >>> shard_of("abcde", 2, 3)
    ['b', 'e']
    """
    return list(files[part - 1 :: parts])
