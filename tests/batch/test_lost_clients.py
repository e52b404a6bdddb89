"""Workers of a shared server leave the rows of a client that is lost to the next."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import sleep

import pytest

from dp2emu.batch import Limits
from dp2emu.batch.supervisor import Supervisor
from dp2emu.batch.worker import row_of
from dp2emu.process import forking
from dp2emu.process.forking import ForkedWorker, ForkServer
from tests.tools.loading import ROOT

STREAM = str(ROOT / "streams" / "first_light.dp2")


@contextmanager
def supervised(server: ForkServer, seconds: float = 600.0) -> Iterator[Supervisor]:
    supervisor = Supervisor(Limits(seconds=seconds).settings(), server, os.getcwd())
    try:
        yield supervisor
    finally:
        supervisor.close()


def lose(supervisor: Supervisor) -> None:
    """End the connection as if the process of the supervisor were killed."""
    assert isinstance(supervisor._worker, ForkedWorker)
    supervisor._worker._release()


def left(server: ForkServer, task: str) -> Path:
    assert server.place is not None
    return server.place / f"{task}.rows"


def await_file(path: Path) -> None:
    while not path.exists():
        sleep(0.01)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return Path(shutil.copy(STREAM, tmp_path))


def test_a_file_outlives_a_server_that_is_killed_with_its_workers(
    shared: ForkServer, waiting: str
) -> None:
    with supervised(shared, 2.0) as supervisor:
        supervisor.row(STREAM)
        (process,) = forking._STARTED
        assert supervisor._worker is not None
        numbers = process.pid, supervisor._worker.pid

        def kill() -> None:
            sleep(0.2)
            for number in numbers:
                os.kill(number, signal.SIGKILL)

        Thread(target=kill).start()
        rows = [supervisor.row(waiting), supervisor.row(STREAM)]
    assert [row["outcome"] for row in rows] == ["timeout", "fine"]
    assert forking._STARTED[-1] is not process


@pytest.mark.parametrize("task", ["7", ""])
def test_rows_of_a_lost_task_are_there_for_who_is_given_it(
    shared: ForkServer, capture: Path, task: str
) -> None:
    with supervised(shared) as lost, supervised(shared) as next_one:
        row = lost.rows([str(capture)], task)[0]
        lose(lost)
        if task:
            await_file(left(shared, task))
        capture.unlink()
        again = next_one.rows([str(capture), STREAM], task)
    assert (again[0] == row) is bool(task)
    assert again[1] == row_of(STREAM)


def test_rows_of_the_last_tasks_are_left_and_not_of_all(shared: ForkServer) -> None:
    with supervised(shared) as lost:
        for task in "1234":
            lost.rows([STREAM], task)
        lose(lost)
        await_file(left(shared, "4"))
        found = left(shared, "").parent.glob("*.rows")
        assert sorted(path.stem for path in found) == ["3", "4"]


def test_a_task_that_is_lost_half_way_goes_on_from_there(
    shared: ForkServer, capture: Path, waiting: str
) -> None:
    files = [str(capture), waiting, STREAM]
    with supervised(shared) as lost, supervised(shared) as next_one:
        worker = lost._running()
        assert worker is not None
        worker.stdin.write(json.dumps(["7", files]).encode() + b"\n")
        worker.stdin.flush()
        with open(waiting, "wb"):  # there is a reader: the first file is done
            lose(lost)
            capture.unlink()
        await_file(left(shared, "7"))
        rows = next_one.rows(files, "7")
    assert [row["outcome"] for row in rows] == ["fine", "unusable", "fine"]


def test_a_server_that_is_killed_makes_nobody_wait(shared: ForkServer, waiting: str) -> None:
    with supervised(shared, 1.0) as supervisor:
        supervisor.row(STREAM)
        forking._STARTED[-1].kill()
        assert supervisor.row(waiting)["outcome"] == "timeout"
        assert supervisor.row(STREAM) == row_of(STREAM)


def test_rows_in_a_directory_of_others_are_not_taken(shared: ForkServer) -> None:
    place = left(shared, "").parent
    place.mkdir(mode=0o755)
    left(shared, "7").write_text('{"file": "planted"}\n', "utf-8")
    with supervised(shared) as supervisor:
        assert supervisor.rows([STREAM], "7") == [row_of(STREAM)]
