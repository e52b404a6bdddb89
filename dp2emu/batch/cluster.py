"""A batch over the workers of a cluster that is there already (dask.distributed, extra cluster).

Workers see the files under the same names as whoever asks.  Each of them has children of its own,
so that no capture can end a worker; a worker that goes takes its task along, which another does
again from its start.  Results are taken file by file, so nothing is lost and nothing comes twice.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from dp2emu.batch.watching import Child, Limits, Row
from dp2emu.errors import UsageError

TASK_FILES = 64
TASK_BYTES = 1 << 20
"""Of a task, at most: enough that asking costs little, few enough that little is done again."""

TASKS = 4
"""For each thread of the cluster, if there are files enough: the last ones end together."""

ROUNDS = 100
"""How often a task is given out again whose workers were lost."""

LOOK_SECONDS, ALONE_SECONDS = 10, 600
"""How often it is seen whether there are workers, and how long there may be none."""

_CHILDREN: dict[tuple[int, Limits, str], Child] = {}
"""Of a worker, by thread."""


def rows_of_chunk(files: Sequence[str], limits: Limits, folder: str) -> list[Row]:
    """On a worker: rows of files, whose names count from ``folder``."""
    key = threading.get_ident(), limits, folder
    child = _CHILDREN.setdefault(key, Child(limits, folder))
    return child.rows(files)


def batch_on(address: str, files: Sequence[str], limits: Limits) -> Iterator[Row]:
    """Replay ``files`` on the cluster whose scheduler has ``address``; rows in their order.

    They are the rows of ``batch``.  Raises UsageError without dask.distributed, where nobody
    answers, when the workers of a task are lost again and again, and when there is none for long.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("without dask.distributed there is no cluster: dp2emu[cluster]") from None
    try:
        client = Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"no scheduler answers at {address!r}: {error}") from None
    with client:
        threads = max(1, sum(client.nthreads().values()))
        tasks = list(tasks_of(files, len(files) // (TASKS * threads)))
        given = [_given(client, task, limits) for task in tasks]
        for number, task in enumerate(tasks):
            yield from _taken(client, given[number], task, limits)
            given[number] = None


def tasks_of(files: Sequence[str], most: int) -> Iterator[list[str]]:
    """``files`` in order, in tasks of at most ``most`` files (and at least one)."""
    task: list[str] = []
    size = 0
    for path in files:
        added = _size(path)
        if task and (len(task) >= min(most, TASK_FILES) or size + added > TASK_BYTES):
            yield task
            task, size = [], 0
        task.append(path)
        size += added
    if task:
        yield task


def _size(path: str) -> int:
    with suppress(OSError, ValueError):
        return os.stat(path).st_size
    return 0


def _given(client: Any, task: Sequence[str], limits: Limits) -> Any:
    return client.submit(rows_of_chunk, list(task), limits, os.getcwd(), pure=False)


def _taken(client: Any, future: Any, task: Sequence[str], limits: Limits) -> list[Row]:
    """The rows of a task, which is given out again if the cluster gave it up."""
    from distributed import CancelledError, KilledWorker

    for _ in range(ROUNDS):
        try:
            return _waited(client, future)
        except (KilledWorker, CancelledError):
            future = _given(client, task, limits)
    raise UsageError(f"{task[0]}: {ROUNDS} times its workers were lost")


def _waited(client: Any, future: Any) -> list[Row]:
    """The rows of a task, as long as there is anybody who may do it."""
    alone = 0
    while alone * LOOK_SECONDS < ALONE_SECONDS:
        try:
            rows: list[Row] = future.result(timeout=LOOK_SECONDS)
            return rows
        except TimeoutError:
            alone = 0 if client.nthreads() else alone + 1
    raise UsageError(f"the cluster has had no worker for {ALONE_SECONDS} seconds")
