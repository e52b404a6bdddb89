"""Children are watched: a crash and a file that takes too long are rows like others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path
from threading import Timer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.batch import Limits, batch, shard_of
from dp2emu.batch.child import row_of
from dp2emu.batch.portions import Portions
from dp2emu.batch.running import PORTION
from dp2emu.batch.watching import Child
from dp2emu.errors import UsageError
from tests.tools.loading import ROOT

STREAM = str(ROOT / "streams" / "first_light.dp2")


@pytest.fixture
def waiting(tmp_path: Path) -> str:
    """A file that nobody ever writes."""
    path = tmp_path / "waiting.dp2"
    os.mkfifo(path)
    return str(path)


def test_a_child_says_what_this_process_says() -> None:
    child = Child(Limits().terms())
    try:
        assert child.row(STREAM) == row_of(STREAM)
    finally:
        child.close()


def test_a_file_that_takes_too_long_is_ended_and_the_next_one_runs(waiting: str) -> None:
    rows = list(batch([waiting, STREAM], Limits(seconds=5)))
    assert [row["outcome"] for row in rows] == ["timeout", "fine"]
    assert rows[0]["error"] == "more than 5 seconds"


def ended(child: Child, code: signal.Signals, after: float = 0.2) -> None:
    """Have a child's process end a little later."""
    process = child._process
    assert isinstance(process, subprocess.Popen)
    Timer(after, process.send_signal, (code,)).start()


def test_a_child_that_dies_is_a_row_and_the_next_file_runs(waiting: str) -> None:
    child = Child(Limits().terms())
    try:
        assert child.row(STREAM)["outcome"] == "fine"
        ended(child, signal.SIGSEGV)
        assert child.row(waiting) == {
            "file": waiting,
            "outcome": "crash",
            "error": f"the process ended with {-signal.SIGSEGV}",
        }
        assert child.row(STREAM)["outcome"] == "fine"
    finally:
        child.close()


def test_a_file_whose_child_is_killed_is_tried_again_once(waiting: str) -> None:
    child = Child(Limits(seconds=1).terms())
    try:
        assert child.row(STREAM)["outcome"] == "fine"
        ended(child, signal.SIGKILL)
        assert child.row(waiting)["outcome"] == "timeout"
    finally:
        child.close()


IMPATIENT = """
import sys
from dp2emu.batch import child
child.PATIENCE = 0.1
child.main(sys.argv[1])
"""


def test_a_child_that_nobody_watches_ends_when_its_file_has_taken_too_long(waiting: str) -> None:
    command = [sys.executable, "-c", IMPATIENT, Limits(seconds=0.1).terms().settings]
    asked = json.dumps(["", [STREAM, waiting]]) + "\n"
    ended = subprocess.run(command, input=asked, text=True, capture_output=True, timeout=60)
    assert ended.returncode == -signal.SIGALRM


def test_a_child_that_ends_itself_in_time_took_too_long(waiting: str) -> None:
    child = Child(Limits(seconds=5).terms())
    child.row(STREAM)
    ended(child, signal.SIGALRM)
    row = child.row(waiting)
    child.close()
    assert (row["outcome"], row["error"]) == ("timeout", "more than 5 seconds")


@pytest.mark.parametrize("at", [1, 4])
def test_the_file_that_ends_a_child_is_found_among_several(waiting: str, at: int) -> None:
    files = [STREAM] * 4
    files.insert(at, waiting)
    child = Child(Limits(seconds=3).terms())
    try:
        rows = child.rows(files)
    finally:
        child.close()
    assert [row["file"] for row in rows] == files
    assert [row["outcome"] for row in rows if row["file"] == waiting] == ["timeout"]
    assert [row for row in rows if row["file"] == STREAM] == [row_of(STREAM)] * 4


def test_rows_are_in_the_order_of_files_for_any_jobs() -> None:
    files = [STREAM, "missing.dp2", str(ROOT / "streams" / "bad_token.dp2")] * 7
    assert list(batch(files, Limits(), jobs=3)) == [row_of(path) for path in files]


def test_no_child_can_be_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "missing"))
    with pytest.raises(OSError, match="missing"):
        list(batch([STREAM], Limits()))


@given(st.integers(0, 500), st.integers(1, 9), st.lists(st.integers(1, PORTION), min_size=1))
def test_portions_are_disjoint_and_complete(files: int, jobs: int, sizes: list[int]) -> None:
    portions, taken = Portions(files, jobs), list[int]()
    while part := portions.take(sizes[len(taken) % len(sizes)]):
        taken += part
    assert taken == list(range(files))


def test_a_batch_that_is_left_leaves_no_child(waiting: str) -> None:
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
