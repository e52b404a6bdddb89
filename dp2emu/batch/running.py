"""Captures given to children of this machine, and the parts that several machines do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import TypeVar

from dp2emu.batch.limits import Limits
from dp2emu.batch.portions import Portions, in_order
from dp2emu.batch.watching import Child, Row
from dp2emu.errors import UsageError

T = TypeVar("T")

PORTION = 64
"""Files a child is asked for at once, at most."""

PORTION_SECONDS = 0.1, 0.4
"""A portion that took less is followed by a larger one, one that took more by a smaller one."""


def batch(files: Sequence[str], limits: Limits, *, jobs: int = 1) -> Iterator[Row]:
    """Replay ``files``, at most ``jobs`` at a time; their rows in the order of the files.

    The rows are the same for any number of jobs.  Raises UsageError for no jobs, and OSError if
    no process can be started.
    """
    if jobs < 1:
        raise UsageError(f"{jobs} jobs")
    count = min(jobs, max(1, len(files)))
    done: SimpleQueue[tuple[int, list[Row] | OSError]] = SimpleQueue()
    with _working(files, limits, count, done):
        yield from in_order(_ended(done, len(files)))


@contextmanager
def _working(
    files: Sequence[str],
    limits: Limits,
    count: int,
    done: SimpleQueue[tuple[int, list[Row] | OSError]],
) -> Iterator[None]:
    """Threads with a child each, which are ended with the block."""
    portions = Portions(len(files), count)
    children = [Child(limits.terms()) for _ in range(count)]
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


def _ended(
    done: SimpleQueue[tuple[int, list[Row] | OSError]], files: int
) -> Iterator[tuple[int, list[Row]]]:
    while files:
        start, rows = done.get()
        if isinstance(rows, OSError):
            raise rows
        files -= len(rows)
        yield start, rows


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
