"""The supervisor of a worker that replays captures: deadlines, retries and replacement.

The module imports nothing that replaying needs, so that a cluster's worker, which only runs
supervisors, starts fast.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from dp2emu.process.child import Child, Deadline
from dp2emu.process.forking import START_SECONDS, ForkServer
from dp2emu.process.worker import call_of

Row = dict[str, Any]
"""Type of the results of replaying one file: a dictionary with the keys that
``dp2emu.batch.worker.row_of`` documents."""

PRELOAD = (
    "dp2emu.batch.worker",
    "dp2emu.gpu.compile.band_workers",
    "dp2emu.gpu.compile.kernel_draw",
    "dp2emu.gpu.compile.large_draw",
    "dp2emu.gpu.vertex_shader.vertex_kernel",
    "dp2emu.shader.jit.engine",
    "dp2emu.shader.jit.object_cache",
    "llvmlite.binding",
)
"""Modules that a fork server imports before it forks workers: ``batch.worker`` and those that most
replays need."""

IDLE_SECONDS = 30.0
"""In a cluster's worker, a supervisor without a task for this number of seconds is closed."""

LOOK_MILLISECONDS = 1000.0
"""Interval in milliseconds of dask's checks of a worker that only waits for a supervisor."""


def fork_server(settings: str, name: str = "") -> ForkServer:
    """Return a fork server for workers with these settings, shared if it has a ``name``.

    It imports ``PRELOAD``, or nothing if memory is bounded, since imported modules would count.
    """
    return ForkServer(*(() if json.loads(settings)["memory"] else PRELOAD), name=name)


class Supervisor:
    """Replays files in a worker process, which it starts when needed and replaces when it fails.

    ``settings`` is the text that ``dp2emu.batch.Limits`` makes, ``folder`` the directory that
    relative paths count from.  Mutable.
    """

    def __init__(self, settings: str, server: ForkServer, folder: str | None = None) -> None:
        self._seconds, self._server = json.loads(settings)["seconds"], server
        self._call = call_of("dp2emu.batch.worker:serve", settings, folder=folder)
        self._worker: Child | None = None
        self._closed = False
        self._changing = threading.Lock()

    def row(self, path: str) -> Row:
        """Return the row of a file, which may have the outcome ``timeout`` or ``crash``."""
        return self.rows([path])[0]

    def rows(self, files: Sequence[str], task: str = "") -> list[Row]:
        """Return the rows of files, in order; fewer if the supervisor is closed meanwhile.

        A worker is asked for several files at once.  If it ends, the files without a row are asked
        for one by one until it is known which of them ended it.  A file whose worker was killed by
        SIGKILL is tried again once: it may have been the out-of-memory killer.  ``task``
        names these files to workers, which keep the rows of a task for a client that is lost.
        Raises OSError if no process can be started.
        """
        rows: list[Row] = []
        alone, tried = len(files) == 1, -1
        while len(rows) < len(files) and not self._closed:
            asked = files[len(rows) :][: 1 if alone else None]
            found, failure = self._ask(asked, task if len(asked) == len(files) else "")
            rows += found
            if alone and failure == _KILLED and tried < len(rows):
                tried = len(rows)
                continue
            if failure and alone:
                rows.append({"file": asked[0], **failure})
            alone = alone != bool(failure)
        return rows

    def close(self) -> None:
        """End the worker, and start no other: ``rows`` then returns only the rows that it has."""
        self._closed = True
        worker = self._worker
        if worker is not None:
            worker.kill()  # it may be starting, which another thread waits for
        with self._changing:
            self._end()

    def _ask(self, files: Sequence[str], task: str) -> tuple[list[Row], Row | None]:
        """Have the worker replay files; returns (rows so far, None), or if the worker ended
        meanwhile (rows so far, the outcome and error of the next file).
        """
        worker = self._running()
        if worker is None:
            return [], None
        with Deadline(worker, self._seconds) as deadline:
            rows = list(_answers(worker, (task, files), deadline))
        if len(rows) == len(files):
            return rows, None
        code = worker.wait()
        with self._changing:
            self._end()
        if deadline.expired or code == _BY_ITSELF:
            what = f"more than {self._seconds:g} seconds"
            return rows, {"outcome": "timeout", "error": what}
        return rows, _crash(code)

    def _running(self) -> Child | None:
        """Return the worker, started anew if there is none; None if the supervisor is closed."""
        with self._changing:
            if self._closed:
                return None
            if self._worker is not None and self._worker.poll() is None:
                return self._worker
            self._end()
            worker = self._worker = self._server.start(self._call)
        # Imports are not counted as time of a file.
        with Deadline(worker, START_SECONDS), suppress(OSError, ValueError):
            worker.stdout.readline()
        return worker

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def _answers(worker: Child, asked: tuple[str, Sequence[str]], deadline: Deadline) -> Iterator[Row]:
    """Send a worker the name and the files of a task; yield the row of each file as it comes.

    Each row renews the deadline.  If the worker ends, the rows of the other files are missing.
    """
    with suppress(OSError, ValueError):  # ValueError: closed meanwhile
        worker.stdin.write(json.dumps(asked).encode() + b"\n")
        worker.stdin.flush()
        for _ in asked[1]:
            line = worker.stdout.readline()
            if not line.endswith(b"\n"):
                return
            deadline.renew()
            yield json.loads(line)


def _crash(code: int) -> Row:
    return {"outcome": "crash", "error": f"the process ended with {code}"}


_KILLED = _crash(-9)
_BY_ITSELF = -getattr(signal, "SIGALRM", 14)
"""Exit code (-SIGALRM) of a worker that its own timer ended, which is set to run out later than
its supervisor's deadline."""


# Supervisors that a worker of a cluster keeps between its tasks.

_Key = tuple[int, str, str, str]

_IDLE: dict[_Key, tuple[Supervisor, threading.Timer]] = {}
"""Idle supervisors, each with the timer that closes it; the key is (thread, settings, batch,
directory)."""


def rows_of_task(
    files: Sequence[str], settings: str, batch: str, task: str, folder: str
) -> tuple[list[Row], float]:
    """Replay ``files`` under a supervisor; returns (their rows, seconds it took).  Executed by a
    worker of a dask cluster.

    ``batch`` is unique to the batch and ``task`` to these files of it.  Relative paths count from
    ``folder``.  Raises OSError if no process can be started there.
    """
    key = threading.get_ident(), settings, batch, folder
    began = monotonic()
    supervisor = _take(key)
    try:
        with _observed_seldom():
            return supervisor.rows(files, task), monotonic() - began
    finally:
        _keep(key, supervisor)


def _take(key: _Key) -> Supervisor:
    kept = _IDLE.pop(key, None)
    if kept is None:
        _, settings, batch, folder = key
        os.stat(folder)  # raises FileNotFoundError where a worker could not start
        return Supervisor(settings, fork_server(settings, batch), folder)
    supervisor, timer = kept
    timer.cancel()
    return supervisor


def _keep(key: _Key, supervisor: Supervisor) -> None:
    timer = threading.Timer(IDLE_SECONDS, _close, (key,))
    timer.daemon = True
    _IDLE[key] = supervisor, timer
    timer.start()


def _close(key: _Key) -> None:
    """Close the idle supervisor of ``key``; does nothing if a task uses it again."""
    kept = _IDLE.pop(key, None)
    if kept is not None:
        kept[0].close()


@contextmanager
def _observed_seldom() -> Iterator[None]:
    """A context in which dask makes its periodic checks of this worker once a second, not 150
    times.

    The checks (profile, and whether it is stuck) would take 3 % of a processor.  A worker with
    several threads keeps its intervals.
    """
    checks: list[Any] = []
    with suppress(ImportError, ValueError):
        from distributed import get_worker

        worker = get_worker()
        if worker.state.nthreads == 1:
            checks = [worker.periodic_callbacks.get(name) for name in ("profile", "tick")]
    usual = [(check, check.callback_time) for check in checks if check is not None]
    for check, _ in usual:
        check.callback_time = LOOK_MILLISECONDS
    try:
        yield
    finally:
        for check, time in usual:
            check.callback_time = time
