"""Children of a nursery are those of a process, but that they outlive who asked them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from time import sleep

import pytest

from dp2emu.batch import Limits, forked
from dp2emu.batch import nursery as nurseries
from dp2emu.batch.child import row_of
from dp2emu.batch.forked import _said, place_of
from dp2emu.batch.watching import Child, Terms
from tests.tools.loading import ROOT

STREAM = str(ROOT / "streams" / "first_light.dp2")
TERMS = Limits().terms()

SOON = """
import sys
from dp2emu.batch import nursery
nursery.IDLE_SECONDS = 0.1
nursery.main(*sys.argv[1:])
"""


def child_of(nursery: str, terms: Terms = TERMS) -> Child:
    return Child(terms, lambda terms: forked.forked(terms, nursery, os.getcwd()))


def number_of(child: Child) -> str:
    process = child._process
    assert isinstance(process, forked._Forked)
    return process._number


@pytest.fixture
def waiting(tmp_path: Path) -> str:
    """A file that nobody ever writes."""
    path = tmp_path / "waiting.dp2"
    os.mkfifo(path)
    return str(path)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return Path(shutil.copy(STREAM, tmp_path))


def test_a_child_says_what_this_process_says(nursery: str) -> None:
    child = child_of(nursery)
    assert child.rows([STREAM, "missing.dp2"]) == [row_of(STREAM), row_of("missing.dp2")]
    child.close()


def test_a_file_that_takes_too_long_is_ended_and_the_next_one_runs(
    nursery: str, waiting: str
) -> None:
    child = child_of(nursery, Terms(1.0, TERMS.settings))
    rows = child.rows([STREAM, waiting, STREAM])
    child.close()
    assert [row["outcome"] for row in rows] == ["fine", "timeout", "fine"]


def test_a_child_that_dies_is_a_row_with_its_signal(nursery: str, waiting: str) -> None:
    child = child_of(nursery)
    child.rows([STREAM])
    number = int(number_of(child))

    def kill() -> None:
        sleep(0.2)
        os.kill(number, signal.SIGSEGV)

    Thread(target=kill).start()
    row = child.row(waiting)
    child.close()
    assert row["error"] == f"the process ended with {-signal.SIGSEGV}"
    assert row["outcome"] == "crash"


def test_a_file_outlives_a_nursery_that_is_killed_with_its_children(
    nursery: str, waiting: str
) -> None:
    child = child_of(nursery, Terms(2.0, TERMS.settings))
    child.row(STREAM)
    (process,) = forked._STARTED

    def kill() -> None:
        sleep(0.2)
        for number in (process.pid, int(number_of(child))):
            os.kill(number, signal.SIGKILL)

    Thread(target=kill).start()
    rows = [child.row(waiting), child.row(STREAM)]
    child.close()
    assert [row["outcome"] for row in rows] == ["timeout", "fine"]
    assert forked._STARTED[-1] is not process


def test_who_is_lost_leaves_its_child_to_the_next(nursery: str) -> None:
    lost, other, late = (child_of(nursery) for _ in range(3))
    for child in (lost, other):
        child.rows([STREAM])
    assert lost._process is not None
    lost._process.close()
    while late.rows([STREAM]) and number_of(late) != number_of(lost):
        late.close()  # the nursery has not heard yet that it is free
        late = child_of(nursery)
    assert number_of(other) != number_of(late)
    for child in (other, late):
        child.close()


@pytest.mark.parametrize("task", ["7", ""])
def test_rows_of_a_lost_task_are_there_for_who_is_given_it(
    nursery: str, capture: Path, task: str
) -> None:
    lost, next_one = child_of(nursery), child_of(nursery)
    row = lost.rows([str(capture)], task)[0]
    assert lost._process is not None
    lost._process.close()
    while task and not (place_of(nursery) / f"{task}.rows").exists():
        sleep(0.01)
    capture.unlink()
    again = next_one.rows([str(capture), STREAM], task)
    next_one.close()
    assert (again[0] == row) is bool(task)
    assert again[1] == row_of(STREAM)


def test_rows_of_the_last_tasks_are_left_and_not_of_all(nursery: str) -> None:
    lost = child_of(nursery)
    for task in "1234":
        lost.rows([STREAM], task)
    assert lost._process is not None
    lost._process.close()
    while not (place_of(nursery) / "4.rows").exists():
        sleep(0.01)
    assert sorted(path.stem for path in place_of(nursery).glob("*.rows")) == ["3", "4"]


def test_a_task_that_is_lost_half_way_goes_on_from_there(
    nursery: str, capture: Path, waiting: str
) -> None:
    files = [str(capture), waiting, STREAM]
    process = forked.forked(TERMS, nursery, os.getcwd())
    process.stdin.write(json.dumps(["7", files]) + "\n")
    process.stdin.flush()
    with open(waiting, "wb"):  # there is a reader: the first file is done
        process.close()
        capture.unlink()
    left = place_of(nursery) / "7.rows"
    while not left.exists():
        sleep(0.01)
    child = child_of(nursery)
    rows = child.rows(files, "7")
    child.close()
    assert [row["outcome"] for row in rows] == ["fine", "unusable", "fine"]


def test_a_child_that_is_done_with_a_connection_has_none_of_it(nursery: str) -> None:
    process = forked.forked(TERMS, nursery, os.getcwd())
    assert isinstance(process, forked._Forked)
    process._connection.shutdown(socket.SHUT_WR)
    process._connection.settimeout(15.0)  # sooner than its nursery ends
    assert process.stdout.read() == "\n"
    process.close()


def test_a_second_nursery_leaves_the_first_alone(nursery: str) -> None:
    first = child_of(nursery)
    row = first.row(STREAM)
    second = forked._nursery(place_of(nursery), TERMS, os.getcwd())
    assert second.wait() == 0
    assert first.row(STREAM) == row
    first.close()


def test_a_nursery_that_nobody_wants_ends_with_its_folder() -> None:
    place = Path(tempfile.mkdtemp())
    subprocess.run([sys.executable, "-c", SOON, str(place), TERMS.settings], check=True)
    assert not place.exists()


@pytest.mark.parametrize("what", ["", "serve", "end", "end x", "\0", "end 1"])
def test_strange_requests_are_nobodys_end(nursery: str, what: str) -> None:
    child = child_of(nursery)
    child.row(STREAM)
    _said(place_of(nursery), what).close()
    assert child.row(STREAM) == row_of(STREAM)
    child.close()


def test_a_folder_of_others_is_not_used(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(PermissionError, match="not this user's alone"):
        forked._nursed(tmp_path, TERMS, os.getcwd())


def has_its_own(child: Child) -> bool:
    """Whether a child replays and is no nursery's."""
    assert child.row(STREAM) == row_of(STREAM)
    own = not isinstance(child._process, forked._Forked)
    child.close()
    return own


def test_nobody_is_asked_who_sits_in_a_folder_of_others(nursery: str) -> None:
    place_of(nursery).mkdir(mode=0o755)
    with nurseries._opened(place_of(nursery) / "door") as door:
        door.setblocking(False)
        assert has_its_own(child_of(nursery))
        with pytest.raises(BlockingIOError):
            door.accept()


def test_where_no_nursery_can_start_a_worker_has_a_child_of_its_own(
    nursery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*given: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])

    monkeypatch.setattr(forked, "_nursery", failing)
    assert has_its_own(child_of(nursery))


def test_nurseries_that_have_ended_are_not_kept(nursery: str) -> None:
    place = place_of(nursery)
    for _ in range(3):  # without a folder they end at once
        forked._nursery(place, TERMS, os.getcwd()).wait()
    assert len(forked._STARTED) == 1


def test_a_nursery_that_is_killed_makes_nobody_wait(nursery: str, waiting: str) -> None:
    child = child_of(nursery, Limits(seconds=1).terms())
    child.row(STREAM)
    forked._STARTED[-1].kill()
    assert child.row(waiting)["outcome"] == "timeout"
    assert child.row(STREAM) == row_of(STREAM)
    child.close()


def unlink(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    path.touch()


@pytest.mark.parametrize("change", [unlink, replace])
def test_a_lock_that_was_just_taken_away_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "lock"
    monkeypatch.setattr(nurseries.fcntl, "flock", lambda *given: change(path))
    assert nurseries._locked(path) is None


def test_a_lock_is_one_nurserys(tmp_path: Path) -> None:
    held = nurseries._locked(tmp_path / "lock")
    assert held is not None
    assert nurseries._locked(tmp_path / "lock") is None
    assert nurseries._locked(tmp_path / "missing" / "lock") is None
    os.close(held)


def test_a_nursery_that_ends_removes_nothing_of_the_next(tmp_path: Path) -> None:
    place = tmp_path / "place"
    for _ in range(2):
        place.mkdir()
        (place / "door").touch()
        nurseries._remove(place)
        assert list(tmp_path.iterdir()) == []


def test_folders_that_killed_nurseries_left_go_with_the_next_that_ends(tmp_path: Path) -> None:
    names = [f"dp2emu-{name}" for name in ("1-a", "2-a.77", "3-a", "4-b", "5-a")]
    for name in names:
        (tmp_path / name).mkdir(mode=0o755 if "5" in name else 0o700)
    held = nurseries._locked(tmp_path / names[2] / "lock")
    assert held is not None
    nurseries._tidy(tmp_path / names[2])
    os.close(held)
    assert sorted(path.name for path in tmp_path.iterdir()) == names[2:]


@pytest.mark.parametrize("name", ["can_fork", "gettempdir"])
def test_without_forks_or_with_long_names_a_child_is_this_processes(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name == "can_fork":
        monkeypatch.setattr(forked, name, lambda: False)
    else:
        monkeypatch.setattr(tempfile, name, lambda: "/" + 99 * "x")
    assert has_its_own(child_of("unused"))
