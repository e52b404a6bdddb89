"""A batch over the workers of a cluster that is there already (dask.distributed, extra cluster).

Workers see the files under the same names as whoever asks.  Each of them has children of its own,
so that no capture can end a worker; a worker that goes takes its task along, which another does
again from its start.  Results are taken file by file, so nothing is lost and nothing comes twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from secrets import token_hex
from typing import Any

from dp2emu.batch.chunk import rows_of_chunk
from dp2emu.batch.limits import Limits
from dp2emu.batch.portions import Portions, in_order
from dp2emu.batch.watching import Row, Terms
from dp2emu.errors import UsageError
from dp2emu.records import dataclass

TASK_SECONDS, LEAST_SECONDS = 2.0, 0.5
"""How long a task is to take, and near the end: giving one out takes 10 ms of processors, and
what is done of one when its worker is lost is done again."""

FIRST_SECONDS = 0.25
"""What a file is held to take before any has been replayed."""

TASK_FILES = 256
"""Of a task, at most."""

AHEAD = 2
"""Tasks for each thread of the cluster that are given out: one is done while the other waits."""

ROUNDS = 100
"""How often a task is given out again whose workers were lost."""

LOOK_SECONDS, ALONE_SECONDS = 10.0, 600.0
"""How often it is seen who works, and how long there may be nobody."""

_ADDRESS = re.compile(r"((tcp|tls|wss?)://)?[^/]+:\d+|(?!tcp|tls|ws)\w+://.+")
"""Of others the library makes a client that it cannot get rid of for a minute."""


def batch_on(address: str, files: Sequence[str], limits: Limits) -> Iterator[Row]:
    """Replay ``files`` on the cluster whose scheduler has ``address``; rows in their order.

    They are the rows of ``batch``.  Raises UsageError without dask.distributed, for what is no
    address, where nobody answers, when the scheduler is lost or a worker can start no child, when
    the workers of a task are lost again and again, and when there is none for long.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("without dask.distributed there is no cluster: dp2emu[cluster]") from None
    if not _ADDRESS.fullmatch(address):
        raise UsageError(f"{address!r} is no address of a scheduler, such as tcp://HOST:8786")
    try:
        client = Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"no scheduler answers at {address!r}: {error}") from None
    with client:
        try:
            yield from in_order(_Tasks(client, files, limits.terms()).ended())
        except OSError as error:  # the scheduler is lost, or a worker can start no child
            raise UsageError(f"the cluster at {address!r} cannot go on: {error}") from None


@dataclass(frozen=True, slots=True)
class _Task:
    """Numbers of files that were given out, ``again`` times after the first."""

    part: range
    again: int


class _Tasks:
    """Tasks of a cluster.  Mutable: they are given out and come back."""

    def __init__(self, client: Any, files: Sequence[str], terms: Terms) -> None:
        self._client, self._files, self._terms = client, files, terms
        self._portions = Portions(len(files), 1)
        self._file_seconds = FIRST_SECONDS
        self._out: dict[Any, _Task] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._alone = 0.0
        self._batch, self._folder = token_hex(8), os.getcwd()

    def ended(self) -> Iterator[tuple[int, list[Row]]]:
        """The first number and the rows of each task as it ends."""
        self._look()
        self._fill()
        while self._out:
            try:
                future = self._done.get(timeout=LOOK_SECONDS)
            except Empty:
                self._look()
                continue
            task = self._out.pop(future)
            found = self._result(future, task)
            self._fill()
            if found is not None:
                yield task.part.start, found

    def _look(self) -> None:
        """See how many threads there are; raise UsageError if there were none for long."""
        threads = sum(self._client.nthreads().values())
        self._portions.hands = max(1, threads)
        self._alone = 0.0 if threads else self._alone + LOOK_SECONDS
        if self._alone > ALONE_SECONDS:
            raise UsageError(f"the cluster has had no worker for {ALONE_SECONDS:g} seconds")

    def _fill(self) -> None:
        most = max(1, min(TASK_FILES, int(TASK_SECONDS / self._file_seconds)))
        least = max(1, min(most, int(LEAST_SECONDS / self._file_seconds)))
        room = AHEAD * self._portions.hands
        while len(self._out) < room and (part := self._portions.take(most, least)):
            self._give(_Task(part, 0))

    def _give(self, task: _Task) -> None:
        files = list(self._files[task.part.start : task.part.stop])
        name = str(task.part.start)
        given = files, self._terms, self._batch, name, self._folder
        future = self._client.submit(rows_of_chunk, *given, pure=False)
        self._out[future] = task
        future.add_done_callback(self._done.put)

    def _result(self, future: Any, task: _Task) -> list[Row] | None:
        """The rows of a task that ended; None if it has to be done again."""
        from distributed import CancelledError, KilledWorker

        try:
            found: tuple[list[Row], float] = future.result(timeout=LOOK_SECONDS)
        except TimeoutError:  # its worker was lost before it said them: another is at it
            self._look()
            self._out[future] = task
            future.add_done_callback(self._done.put)
            return None
        except (KilledWorker, CancelledError):
            self._again(task)
            return None
        rows, seconds = found
        self._file_seconds = max(1e-4, (self._file_seconds + 3 * seconds / len(rows)) / 4)
        return rows

    def _again(self, task: _Task) -> None:
        if task.again == ROUNDS:
            first = self._files[task.part.start]
            raise UsageError(f"{first}: {ROUNDS} times its workers were lost")
        self._give(_Task(task.part, task.again + 1))
