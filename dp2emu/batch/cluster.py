"""A batch on the workers of an existing cluster (dask.distributed, extra ``cluster``).

Workers see the files under the same paths as this process.  A worker of the cluster starts
supervised processes, so that a capture cannot end it.  The task of a worker that is lost is given
to another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from secrets import token_hex
from typing import Any

from dp2emu.batch.local import Limits, Portions, in_order
from dp2emu.batch.supervisor import Row, rows_of_task
from dp2emu.errors import UsageError

TASK_SECONDS, LEAST_SECONDS = 2.0, 0.5
"""Desired duration in seconds of a task (a list of files that a cluster's worker replays), and of
the shorter tasks near the end of a batch."""

FIRST_SECONDS = 0.25
"""Assumed seconds to replay a file, used until the first files have been replayed."""

TASK_FILES = 256
"""Maximum number of files that are submitted to a cluster as one task."""

AHEAD = 2
"""Number of tasks kept submitted for each thread of the cluster: one is executed, one waits."""

ROUNDS = 100
"""Maximum number of times that a task is submitted again after its worker was lost."""

LOOK_SECONDS, ALONE_SECONDS = 10.0, 600.0
"""Seconds between counts of the cluster's worker threads, and seconds without any such thread
after which a batch ends with an error."""

_ADDRESS = re.compile(r"((tcp|tls|wss?)://)?[^/]+:\d+|(?!tcp|tls|ws)\w+://.+")
"""Pattern of valid addresses of dask schedulers, such as ``tcp://host:8786``; other text is
refused before dask gets it."""


def batch_on(address: str, files: Sequence[str], limits: Limits) -> Iterator[Row]:
    """Replay ``files`` on the cluster whose scheduler has ``address``; yields rows in order.

    They are the rows of ``batch``.  Raises UsageError without dask.distributed, if the address is
    malformed or does not answer, if the scheduler is lost or a worker can start no process, if the
    workers of a task are lost again and again, and if the cluster has no worker for long.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("a cluster needs dask.distributed: install dp2emu[cluster]") from None
    if not _ADDRESS.fullmatch(address):
        raise UsageError(f"{address!r} is not a scheduler's address, such as tcp://HOST:8786")
    try:
        client = Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"no scheduler answers at {address!r}: {error}") from None
    with client:
        try:
            yield from in_order(_Tasks(client, files, limits.settings()).finished())
        except OSError as error:  # the scheduler is lost, or a worker can start no process
            raise UsageError(f"the cluster at {address!r} cannot go on: {error}") from None


class _Tasks:
    """Submits the files of a batch to a cluster in tasks, and collects their rows.  Mutable."""

    def __init__(self, client: Any, files: Sequence[str], settings: str) -> None:
        self._client, self._files, self._settings = client, files, settings
        self._portions = Portions(len(files), 1)
        self._file_seconds = FIRST_SECONDS
        self._submitted: dict[Any, tuple[range, int]] = {}
        self._finished: SimpleQueue[Any] = SimpleQueue()
        self._unmanned = 0.0
        self._batch, self._folder = token_hex(8), os.getcwd()

    def finished(self) -> Iterator[tuple[int, list[Row]]]:
        """Yield the first file number and the rows of each task as it finishes."""
        self._count_threads()
        self._fill()
        while self._submitted:
            try:
                future = self._finished.get(timeout=LOOK_SECONDS)
            except Empty:
                self._count_threads()
                continue
            part, retries = self._submitted.pop(future)
            found = self._result(future, part, retries)
            self._fill()
            if found is not None:
                yield part.start, found

    def _count_threads(self) -> None:
        """Update the number of worker threads; UsageError when it was 0 for ``ALONE_SECONDS``."""
        threads = sum(self._client.nthreads().values())
        self._portions.takers = max(1, threads)
        self._unmanned = 0.0 if threads else self._unmanned + LOOK_SECONDS
        if self._unmanned > ALONE_SECONDS:
            raise UsageError(f"the cluster has had no worker for {ALONE_SECONDS:g} seconds")

    def _fill(self) -> None:
        most = max(1, min(TASK_FILES, int(TASK_SECONDS / self._file_seconds)))
        least = max(1, min(most, int(LEAST_SECONDS / self._file_seconds)))
        room = AHEAD * self._portions.takers
        while len(self._submitted) < room and (part := self._portions.take(most, least)):
            self._submit(part, 0)

    def _submit(self, part: range, retries: int) -> None:
        """Submit file numbers ``part`` as one task; it has been lost ``retries`` times before."""
        files = list(self._files[part.start : part.stop])
        given = files, self._settings, self._batch, str(part.start), self._folder
        future = self._client.submit(rows_of_task, *given, pure=False)
        self._await(future, part, retries)

    def _await(self, future: Any, part: range, retries: int) -> None:
        self._submitted[future] = part, retries
        future.add_done_callback(self._finished.put)

    def _result(self, future: Any, part: range, retries: int) -> list[Row] | None:
        """Return the rows of a finished task; None if its worker was lost, so that the task is
        executed again.

        Raises UsageError if that has happened ``ROUNDS`` times.
        """
        from distributed import CancelledError, KilledWorker

        try:
            found: tuple[list[Row], float] = future.result(timeout=LOOK_SECONDS)
        except TimeoutError:  # its worker was lost before it sent them: another has the task
            self._count_threads()
            self._await(future, part, retries)
            return None
        except (KilledWorker, CancelledError):
            if retries == ROUNDS:
                first = self._files[part.start]
                raise UsageError(f"{first}: its workers were lost {ROUNDS} times") from None
            self._submit(part, retries + 1)
            return None
        rows, seconds = found
        self._file_seconds = max(1e-4, (self._file_seconds + 3 * seconds / len(rows)) / 4)
        return rows
