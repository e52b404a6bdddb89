"""Threads that wait for work."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from threading import Event
from time import sleep
from typing import Any

import pytest

from dp2emu.gpu.kernel import workers
from dp2emu.gpu.kernel.workers import Worker

HERE = 1


def test_a_worker_works_again_and_again() -> None:
    worker, done = Worker(), []
    for number in range(3):
        worker.begin(lambda number=number: done.append(number))  # type: ignore[misc]
        assert worker.end() is None
    assert done == [0, 1, 2]


def test_what_was_raised_is_not_said_twice() -> None:
    worker = Worker()
    worker.begin(lambda: 1 // 0)
    assert isinstance(worker.end(), ZeroDivisionError)
    worker.begin(lambda: None)
    assert worker.end() is None


def test_what_was_done_is_not_kept() -> None:
    worker = Worker()
    order = _Order()
    gone = weakref.ref(order)
    worker.begin(order)
    worker.end()
    del order
    gc.collect()
    assert gone() is None


class _Order:
    def __call__(self) -> None:
        """Nothing to do."""


def test_an_interrupt_is_said_when_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, begun, done = Worker(), Event(), []

    class Interrupted:
        """A queue whose reader is interrupted once."""

        def __init__(self, queue: Any) -> None:
            self.queue, self.left = queue, 1

        def get(self) -> Any:
            if self.left:
                self.left = 0
                raise KeyboardInterrupt
            return self.queue.get()

    def work() -> None:
        begun.wait(10)
        sleep(0.01)
        done.append(1)

    worker.begin(work)
    monkeypatch.setattr(worker, "_done", Interrupted(worker._done))
    begun.set()
    assert isinstance(worker.end(), KeyboardInterrupt) and done == [1]


def test_a_worker_ends_with_whoever_has_it() -> None:
    worker = Worker()
    thread = worker._thread
    del worker
    thread.join(10)
    assert not thread.is_alive()


def test_workers_are_kept_and_are_each_threads_own() -> None:
    found: list[list[Worker]] = []
    mine = workers.workers(2)
    assert workers.workers(1) == mine[:1] and workers.workers(3)[:2] == mine
    other = threading.Thread(target=lambda: found.append(workers.workers(1)))
    other.start()
    other.join()
    assert found[0][0] not in workers.workers(3)


def test_a_child_has_workers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = workers.workers(1)
    monkeypatch.setattr(workers.os, "getpid", lambda: -1)
    assert workers.workers(1) != mine


def test_a_worker_is_moved_when_its_caller_was(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda who: {0, 1, 2}, raising=False)
    monkeypatch.setattr(
        os, "sched_setaffinity", lambda who, where: moved.append(where), raising=False
    )
    worker = Worker()
    for here in (1, 1, 2, 0):
        monkeypatch.setattr(workers, "_processor", lambda here=here: here)
        worker.begin(lambda: None)
        worker.end()
    assert moved == [{0, 2}, {0, 1}, {1, 2}]


@pytest.mark.parametrize("there", [None, HERE])
def test_nobody_is_moved_where_there_is_nowhere_else(
    there: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[Any] = []
    monkeypatch.setattr(workers, "_processor", lambda: there)
    monkeypatch.setattr(os, "sched_getaffinity", lambda who: {HERE}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda *told: moved.append(told), raising=False)
    worker = Worker()
    worker.begin(lambda: None)
    assert worker.end() is None and not moved


@pytest.mark.parametrize("told", [True, False])
def test_the_processor_is_known_where_threads_can_be_told(
    told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers._question.cache_clear()
    if told:
        monkeypatch.setattr(os, "sched_setaffinity", lambda *a: None, raising=False)
        found = workers._processor()
        assert found is None or 0 <= found < 1 << 20
    else:
        monkeypatch.delattr(os, "sched_setaffinity", raising=False)
        assert workers._processor() is None
    workers._question.cache_clear()
