"""A batch on a cluster: tasks of lost workers are given out again, and nothing comes twice.

The cluster here is one of a few lines; ``tools/cluster_check.py`` kills workers of a real one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dp2emu.batch import Limits, batch_on, supervisor
from dp2emu.batch import cluster as clusters
from dp2emu.batch.worker import row_of
from dp2emu.errors import UsageError
from dp2emu.process.forking import ForkServer
from tests.tools.loading import ROOT


class KilledWorker(Exception):
    pass


class CancelledError(Exception):
    pass


class Future:
    def __init__(self, work: Callable[[], Any], lost: type[Exception] | None) -> None:
        self.work, self.lost = work, lost

    def add_done_callback(self, call: Callable[[Future], None]) -> None:
        if self.lost is not TimeoutError:
            call(self)

    def result(self, timeout: float) -> Any:
        if self.lost is not None:
            raise self.lost("gone")
        return self.work()


@pytest.fixture
def losses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[type[Exception] | None]]:
    """Which of the next tasks are lost, and how; a cluster that has it so."""
    fates: list[type[Exception] | None] = []

    class Client:
        def __init__(self, address: str, **options: Any) -> None:
            if address == "nowhere:1":
                raise OSError("timed out")

        def __enter__(self) -> Client:
            return self

        def __exit__(self, *problem: object) -> None:
            pass

        def nthreads(self) -> dict[str, int]:
            return {"one": 2, "other": 2}

        def submit(self, work: Callable[..., Any], *given: Any, pure: bool) -> Future:
            assert not pure
            return Future(lambda: work(*given), fates.pop(0) if fates else None)

    module = ModuleType("distributed")
    for member in (Client, KilledWorker, CancelledError):
        setattr(module, member.__name__, member)
    monkeypatch.setitem(sys.modules, "distributed", module)
    monkeypatch.setattr(
        clusters, "rows_of_task", lambda files, *how: ([{"file": f} for f in files], 0.1)
    )
    yield fates


STREAM = str(ROOT / "streams" / "first_light.dp2")
FILES = [f"{number}.dp2" for number in range(61)]


def found() -> list[str]:
    return [row["file"] for row in batch_on("somewhere:8786", FILES, Limits())]


def test_rows_come_in_order_whatever_is_lost(losses: list[type[Exception] | None]) -> None:
    losses += [None, KilledWorker, CancelledError, None, KilledWorker]
    assert found() == FILES
    assert losses == []


def test_a_task_that_is_always_lost_is_an_error(losses: list[type[Exception] | None]) -> None:
    losses += [KilledWorker] * (10 * clusters.ROUNDS)
    with pytest.raises(UsageError, match=r"^\d+\.dp2: its workers were lost 100 times"):
        found()


def test_a_cluster_without_workers_is_not_waited_for_for_ever(
    losses: list[type[Exception] | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    losses += [TimeoutError] * len(FILES)
    monkeypatch.setattr(sys.modules["distributed"].Client, "nthreads", lambda client: {})
    monkeypatch.setattr(clusters, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(clusters, "ALONE_SECONDS", 0.05)
    with pytest.raises(UsageError, match=r"no worker for 0\.05 seconds"):
        found()


def test_a_scheduler_that_is_lost_is_one_error(losses: list[type[Exception] | None]) -> None:
    losses += [None, OSError]
    with pytest.raises(UsageError, match="the cluster at 'somewhere:8786' cannot go on: gone"):
        found()


def test_nobody_answering_is_one_error(losses: list[type[Exception] | None]) -> None:
    with pytest.raises(UsageError, match="no scheduler answers at 'nowhere:1': timed out"):
        list(batch_on("nowhere:1", FILES, Limits()))


@pytest.mark.parametrize("address", ["", "nowhere", "tcp://nowhere", "tcp://:", "://a"])
def test_what_is_no_address_is_not_asked(
    losses: list[type[Exception] | None], address: str
) -> None:
    with pytest.raises(UsageError, match="not a scheduler's address"):
        list(batch_on(address, FILES, Limits()))


@pytest.mark.parametrize("address", ["host:1", "tls://[::1]:8786", "inproc://10.0.0.1/9/1"])
def test_other_transports_are_addresses(
    losses: list[type[Exception] | None], address: str
) -> None:
    assert [row["file"] for row in batch_on(address, FILES, Limits())] == FILES


def test_without_the_library_it_is_said_what_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"dp2emu\[cluster\]"):
        list(batch_on("somewhere:8786", FILES, Limits()))


@pytest.mark.parametrize(
    ("seconds", "size"), [(0.02, 100), (0.2, 10), (5.0, 1), (0.0, clusters.TASK_FILES)]
)
def test_a_task_takes_about_as_long_whatever_its_files_take(
    losses: list[type[Exception] | None],
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    size: int,
) -> None:
    sizes = []

    def taking(files: list[str], *how: object) -> tuple[list[dict[str, str]], float]:
        sizes.append(len(files))
        return [{"file": f} for f in files], seconds * len(files)

    monkeypatch.setattr(clusters, "rows_of_task", taking)
    files = [str(number) for number in range(20 * size + 500)]
    assert [row["file"] for row in batch_on("somewhere:8786", files, Limits())] == files
    assert size / 2 < max(sizes) <= max(size, clusters.TASK_SECONDS / clusters.FIRST_SECONDS)


def test_tasks_have_names_of_their_own_and_keep_them(
    losses: list[type[Exception] | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def taking(files: list[str], terms: object, *names: str) -> tuple[list[dict[str, str]], float]:
        asked.append((names, tuple(files)))
        return [{"file": f} for f in files], 0.1

    monkeypatch.setattr(clusters, "rows_of_task", taking)
    assert found() == found() == FILES
    assert len({names for names, _ in asked}) == len(asked)
    assert {names[0] for names, _ in asked[: len(asked) // 2]} == {asked[0][0][0]}


def test_a_worker_keeps_a_supervisor_for_a_while_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch, shared: ForkServer
) -> None:
    monkeypatch.setattr(supervisor, "fork_server", lambda settings, name: shared)
    given = Limits().settings(), "batch", "0", os.getcwd()
    assert supervisor.rows_of_task([STREAM], *given)[0] == [row_of(STREAM)]
    ((kept, _),) = supervisor._IDLE.values()
    worker = kept._worker
    monkeypatch.setattr(supervisor, "IDLE_SECONDS", 0.01)
    supervisor.rows_of_task([STREAM], *given)
    while supervisor._IDLE or kept._worker is not None:
        time.sleep(0.01)
    assert worker is not None
    assert worker.poll() is not None


def test_a_directory_that_a_worker_has_not_is_an_error(tmp_path: Path) -> None:
    given = Limits().settings(), "batch", "0", str(tmp_path / "missing")
    with pytest.raises(FileNotFoundError, match="missing"):
        supervisor.rows_of_task([STREAM], *given)


@pytest.mark.parametrize(("threads", "seldom"), [(1, 1000.0), (2, 10.0)])
def test_a_worker_that_only_waits_is_seldom_looked_at(
    monkeypatch: pytest.MonkeyPatch, threads: int, seldom: float
) -> None:
    looks = {
        name: SimpleNamespace(callback_time=10.0) for name in ("profile", "tick", "heartbeat")
    }
    worker = SimpleNamespace(periodic_callbacks=looks, state=SimpleNamespace(nthreads=threads))
    module = ModuleType("distributed")
    vars(module)["get_worker"] = lambda: worker
    monkeypatch.setitem(sys.modules, "distributed", module)
    with supervisor._observed_seldom():
        assert [look.callback_time for look in looks.values()] == [seldom, seldom, 10.0]
    assert [look.callback_time for look in looks.values()] == [10.0, 10.0, 10.0]
