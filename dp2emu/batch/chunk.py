"""What a worker of a cluster does: a task's files given to a child that the worker keeps.

A worker imports this module and what watches children; what replays captures is the child's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any

from dp2emu.batch.forked import forked
from dp2emu.batch.watching import Child, Row, Terms

IDLE_SECONDS = 30.0
"""How long a child without a task is kept: a worker outlives the batch, its children do not."""

LOOK_MILLISECONDS = 1000.0
"""How often dask looks at a worker that waits for a child."""

_Key = tuple[int, Terms, str, str]

_IDLE: dict[_Key, tuple[Child, threading.Timer]] = {}
"""Children without a task, of a thread; with whatever ends them if they stay so."""


def rows_of_chunk(
    files: Sequence[str], terms: Terms, batch: str, task: str, folder: str
) -> tuple[list[Row], float]:
    """On a worker: rows of ``files``, whose names count from ``folder``; the seconds they took.

    ``batch`` and ``task`` are names that no other batch has, and no other files of the batch.
    Raises OSError if there can be no child.
    """
    key = threading.get_ident(), terms, batch, folder
    began = monotonic()
    child = _taken(key)
    try:
        with _unobserved():
            return child.rows(files, task), monotonic() - began
    finally:
        _keep(key, child)


@contextmanager
def _unobserved() -> Iterator[None]:
    """Have dask look once a second at this worker, which only waits, and not 150 times.

    That takes 3 % of a processor.  A worker of several threads goes on with it: others may work.
    """
    looks = _looks()
    usual = [look.callback_time for look in looks]
    for look in looks:
        look.callback_time = LOOK_MILLISECONDS
    try:
        yield
    finally:
        for look, time in zip(looks, usual, strict=True):
            look.callback_time = time


def _looks() -> list[Any]:
    """What a worker calls for its profile, and to see that it is not stuck."""
    try:
        from distributed import get_worker

        worker = get_worker()
    except (ImportError, ValueError):
        return []
    callbacks = worker.periodic_callbacks if worker.state.nthreads == 1 else {}
    return [callbacks[name] for name in ("profile", "tick") if name in callbacks]


def _taken(key: _Key) -> Child:
    kept = _IDLE.pop(key, None)
    if kept is None:
        _, terms, batch, folder = key
        return Child(terms, partial(forked, batch=batch, folder=folder))
    child, timer = kept
    timer.cancel()
    return child


def _keep(key: _Key, child: Child) -> None:
    timer = threading.Timer(IDLE_SECONDS, _end, (key,))
    timer.daemon = True
    _IDLE[key] = child, timer
    timer.start()


def _end(key: _Key) -> None:
    """Whoever pops a child has it: one that was taken meanwhile is left alone."""
    kept = _IDLE.pop(key, None)
    if kept is not None:
        kept[0].close()
