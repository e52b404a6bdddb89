"""What a worker of a cluster does: a task's files given to a child that the worker keeps.

A worker imports this module and what watches children; what replays captures is the child's.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from time import monotonic

from dp2emu.batch.watching import Child, Row, Terms

IDLE_SECONDS = 30.0
"""How long a child without a task is kept: a worker outlives the batch, its children do not."""

_Key = tuple[int, Terms, str]

_IDLE: dict[_Key, tuple[Child, threading.Timer]] = {}
"""Children without a task, of a thread; with whatever ends them if they stay so."""


def rows_of_chunk(files: Sequence[str], terms: Terms, folder: str) -> tuple[list[Row], float]:
    """On a worker: rows of ``files``, whose names count from ``folder``; the seconds they took.

    Raises OSError if there can be no child.
    """
    key = threading.get_ident(), terms, folder
    began = monotonic()
    child = _taken(key)
    try:
        return child.rows(files), monotonic() - began
    finally:
        _keep(key, child)


def _taken(key: _Key) -> Child:
    kept = _IDLE.pop(key, None)
    if kept is None:
        return Child(key[1], key[2])
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
