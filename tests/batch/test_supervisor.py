"""Workers are supervised: a crash and a file that takes too long are rows like others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from threading import Timer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.batch import Limits, batch, shard_of
from dp2emu.batch.local import PORTION, Portions
from dp2emu.batch.supervisor import PRELOAD, Supervisor
from dp2emu.batch.worker import row_of
from dp2emu.errors import UsageError
from dp2emu.process import forking
from dp2emu.process.forking import ForkServer
from dp2emu.process.worker import call_of
from tests.tools.loading import ROOT

STREAM = str(ROOT / "streams" / "first_light.dp2")


@contextmanager
def supervised(server: ForkServer, seconds: float = 600.0) -> Iterator[Supervisor]:
    supervisor = Supervisor(Limits(seconds=seconds).settings(), server)
    try:
        yield supervisor
    finally:
        supervisor.close()


def enough() -> float:
    """Seconds for a capture; a new interpreter imports much of what it takes with the first."""
    return 2.0 if forking.can_fork() else 6.0


def kill(supervisor: Supervisor, number: signal.Signals, after: float = 0.2) -> None:
    """Have a worker end a little later."""
    assert supervisor._worker is not None
    Timer(after, os.kill, (supervisor._worker.pid, number)).start()


def test_a_worker_says_what_this_process_says(server: ForkServer) -> None:
    with supervised(server) as supervisor:
        rows = supervisor.rows([STREAM, "missing.dp2"])
    assert rows == [row_of(STREAM), row_of("missing.dp2")]


def test_a_file_that_takes_too_long_is_ended_and_the_next_one_runs(
    server: ForkServer, waiting: str
) -> None:
    with supervised(server, enough()) as supervisor:
        rows = supervisor.rows([STREAM, waiting, STREAM])
    assert [row["outcome"] for row in rows] == ["fine", "timeout", "fine"]
    assert rows[1]["error"] == f"more than {enough():g} seconds"


def test_a_worker_that_dies_is_a_row_and_the_next_file_runs(
    server: ForkServer, waiting: str
) -> None:
    with supervised(server) as supervisor:
        assert supervisor.row(STREAM)["outcome"] == "fine"
        kill(supervisor, signal.SIGSEGV)
        assert supervisor.row(waiting) == {
            "file": waiting,
            "outcome": "crash",
            "error": f"the process ended with {-signal.SIGSEGV}",
        }
        assert supervisor.row(STREAM)["outcome"] == "fine"


def test_a_file_whose_worker_is_killed_is_tried_again_once(
    server: ForkServer, waiting: str
) -> None:
    with supervised(server, enough()) as supervisor:
        assert supervisor.row(STREAM)["outcome"] == "fine"
        kill(supervisor, signal.SIGKILL)
        assert supervisor.row(waiting)["outcome"] == "timeout"


IMPATIENT = """
import sys
from dp2emu.batch import worker
from dp2emu.process.worker import main
worker.PATIENCE = 0.1
main(sys.argv[1])
"""


def test_a_worker_without_a_supervisor_ends_when_its_file_has_taken_too_long(waiting: str) -> None:
    call = call_of("dp2emu.batch.worker:serve", Limits(seconds=0.1).settings())
    asked = json.dumps(["", [STREAM, waiting]]) + "\n"
    ended = subprocess.run(
        [sys.executable, "-c", IMPATIENT, call], input=asked, text=True, capture_output=True,
        timeout=60,
    )  # fmt: skip
    assert ended.returncode == -signal.SIGALRM


def test_a_worker_that_ends_itself_in_time_took_too_long(server: ForkServer, waiting: str) -> None:
    with supervised(server, 5.0) as supervisor:
        supervisor.row(STREAM)
        kill(supervisor, signal.SIGALRM)
        row = supervisor.row(waiting)
    assert (row["outcome"], row["error"]) == ("timeout", "more than 5 seconds")


def test_every_module_that_a_server_imports_is_there() -> None:
    assert [name for name in PRELOAD if find_spec(name) is None] == []


@pytest.mark.parametrize("at", [1, 4])
def test_the_file_that_ends_a_worker_is_found_among_several(
    private: ForkServer, waiting: str, at: int
) -> None:
    files = [STREAM] * 4
    files.insert(at, waiting)
    with supervised(private, 3.0) as supervisor:
        rows = supervisor.rows(files)
    assert [row["file"] for row in rows] == files
    assert [row["outcome"] for row in rows if row["file"] == waiting] == ["timeout"]
    assert [row for row in rows if row["file"] == STREAM] == [row_of(STREAM)] * 4


def test_rows_are_in_the_order_of_files_for_any_jobs() -> None:
    files = [STREAM, "missing.dp2", str(ROOT / "streams" / "bad_token.dp2")] * 7
    assert list(batch(files, Limits(), jobs=3)) == [row_of(path) for path in files]


def test_no_worker_can_be_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "missing"))
    with pytest.raises(OSError, match="missing"):
        list(batch([STREAM], Limits()))


def test_a_thread_without_memory_ends_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Supervisor, files: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Supervisor, "rows", fails)
    with pytest.raises(MemoryError):
        list(batch(["a", "b"], Limits(), jobs=2))


@given(st.integers(0, 500), st.integers(1, 9), st.lists(st.integers(1, PORTION), min_size=1))
def test_portions_are_disjoint_and_complete(files: int, jobs: int, sizes: list[int]) -> None:
    portions, taken = Portions(files, jobs), list[int]()
    while part := portions.take(sizes[len(taken) % len(sizes)]):
        taken += part
    assert taken == list(range(files))


def test_a_batch_that_is_left_leaves_no_worker(waiting: str) -> None:
    rows = batch([STREAM, waiting, STREAM], Limits(seconds=600))
    next(rows)
    before = time.monotonic()
    rows.close()
    assert time.monotonic() - before < 60


def test_no_jobs_are_refused() -> None:
    with pytest.raises(UsageError, match="0 jobs"):
        list(batch([], Limits(), jobs=0))


def test_shards_are_disjoint_and_complete() -> None:
    parts = [shard_of(range(17), part, 5) for part in range(1, 6)]
    assert sorted(chain.from_iterable(parts)) == list(range(17))
