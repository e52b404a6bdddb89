"""A batch on a cluster: tasks of lost workers are given out again, and nothing comes twice.

The cluster here is one of a few lines; ``tools/cluster_check.py`` kills workers of a real one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dp2emu.batch import Limits, batch_on
from dp2emu.batch import cluster as clusters
from dp2emu.errors import UsageError


class KilledWorker(Exception):
    pass


class CancelledError(Exception):
    pass


class Future:
    def __init__(self, work: Callable[[], Any], lost: type[Exception] | None) -> None:
        self.work, self.lost = work, lost

    def result(self, timeout: int) -> Any:
        if self.lost is TimeoutError and timeout:
            raise self.lost
        if self.lost is not None:
            raise self.lost("gone")
        return self.work()


@pytest.fixture
def losses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[type[Exception] | None]]:
    """Which of the next tasks are lost, and how; a cluster that has it so."""
    fates: list[type[Exception] | None] = []

    class Client:
        def __init__(self, address: str, **options: Any) -> None:
            if address == "nowhere":
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
        clusters, "rows_of_chunk", lambda files, limits, folder: [{"file": f} for f in files]
    )
    yield fates


FILES = [f"{number}.dp2" for number in range(61)]


def found() -> list[str]:
    return [row["file"] for row in batch_on("somewhere", FILES, Limits())]


def test_rows_come_in_order_whatever_is_lost(losses: list[type[Exception] | None]) -> None:
    losses += [None, KilledWorker, CancelledError, None, KilledWorker]
    assert found() == FILES
    assert losses == []


def test_a_task_that_is_always_lost_is_an_error(losses: list[type[Exception] | None]) -> None:
    losses += [KilledWorker] * (2 * clusters.ROUNDS)
    with pytest.raises(UsageError, match=r"0\.dp2: 100 times its workers were lost"):
        found()


def test_a_cluster_without_workers_is_not_waited_for_for_ever(
    losses: list[type[Exception] | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    losses += [TimeoutError] * len(FILES)
    monkeypatch.setattr(sys.modules["distributed"].Client, "nthreads", lambda client: {})
    with pytest.raises(UsageError, match="no worker for 600 seconds"):
        found()


def test_nobody_answering_is_one_error(losses: list[type[Exception] | None]) -> None:
    with pytest.raises(UsageError, match="no scheduler answers at 'nowhere': timed out"):
        list(batch_on("nowhere", FILES, Limits()))


def test_without_the_library_it_is_said_what_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"dp2emu\[cluster\]"):
        list(batch_on("somewhere", FILES, Limits()))


def test_tasks_hold_every_file_once_in_order() -> None:
    for most in (0, 1, 7, 1000):
        tasks = list(clusters.tasks_of(FILES, most))
        assert [name for task in tasks for name in task] == FILES
        assert max(map(len, tasks)) == max(1, min(most, len(FILES)))
    assert max(map(len, clusters.tasks_of(FILES * 9, 1000))) == clusters.TASK_FILES


def test_large_files_are_tasks_of_their_own(tmp_path: Path) -> None:
    large = tmp_path / "large.dp2"
    with large.open("wb") as file:
        file.truncate(clusters.TASK_BYTES + 1)
    files = ["a", "b", str(large), str(large), "c"]
    assert list(clusters.tasks_of(files, 64)) == [["a", "b"], [str(large)], [str(large)], ["c"]]
