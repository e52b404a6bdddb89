"""Threads that wait for work."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from functools import partial
from time import sleep
from typing import Any

import pytest

from dp2emu.gpu.compile import thread_pool
from dp2emu.gpu.compile.thread_pool import Worker

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


def test_who_leaves_waits_for_all_that_was_begun() -> None:
    done: list[int] = []

    def slow(number: int) -> None:
        sleep(0.01)
        done.append(number)

    mine = thread_pool.workers(2)
    for number in range(4):
        mine[number % 2].begin(partial(slow, number))
    thread_pool.leave()
    assert sorted(done) == [0, 1, 2, 3] and not any(each._thread.is_alive() for each in mine)
    assert not set(thread_pool.workers(2)) & set(mine)


def test_what_interrupts_whoever_leaves_does_not_keep_it_from_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker, done = Worker(), []
    join, left = worker._thread.join, [KeyboardInterrupt, ValueError]

    def interrupted() -> None:
        if left:
            raise left.pop()
        join()

    monkeypatch.setattr(worker._thread, "join", interrupted)
    worker.begin(lambda: sleep(0.01))
    worker.begin(lambda: done.append(1))
    worker.leave()
    assert done == [1] and not left


def test_workers_are_fewer_where_there_is_no_room_for_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[list[Worker]] = []

    def full(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def asks() -> None:
        there = thread_pool.workers(1)
        monkeypatch.setattr(threading.Thread, "start", full)
        found.append(thread_pool.workers(3))
        assert found == [there]

    other = threading.Thread(target=asks)
    other.start()
    other.join()
    assert len(found[0]) == 1


def test_nobody_waits_for_threads_when_python_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pool.sys, "is_finalizing", lambda: True)
    assert thread_pool.workers(2) == []


def test_a_worker_that_may_not_be_moved_works_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*told: Any) -> Any:
        raise PermissionError

    monkeypatch.setattr(thread_pool, "_processor", lambda: HERE)
    monkeypatch.setattr(os, "sched_getaffinity", lambda who: {HERE, HERE + 1}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", forbidden, raising=False)
    worker = Worker()
    for _ in range(2):
        worker.begin(lambda: None)
        assert worker.end() is None


def test_a_worker_ends_with_whoever_has_it() -> None:
    worker = Worker()
    thread = worker._thread
    del worker
    thread.join(10)
    assert not thread.is_alive()


def test_workers_are_kept_and_are_each_threads_own() -> None:
    found: list[list[Worker]] = []
    mine = thread_pool.workers(2)
    assert thread_pool.workers(1) == mine[:1] and thread_pool.workers(3)[:2] == mine
    other = threading.Thread(target=lambda: found.append(thread_pool.workers(1)))
    other.start()
    other.join()
    assert found[0][0] not in thread_pool.workers(3)


def test_a_child_has_workers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = thread_pool.workers(1)
    monkeypatch.setattr(thread_pool.os, "getpid", lambda: -1)
    assert thread_pool.workers(1) != mine


def test_a_worker_is_moved_when_its_caller_was(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda who: {0, 1, 2}, raising=False)
    monkeypatch.setattr(
        os, "sched_setaffinity", lambda who, where: moved.append(where), raising=False
    )
    worker = Worker()
    for here in (1, 1, 2, 0):
        monkeypatch.setattr(thread_pool, "_processor", lambda here=here: here)
        worker.begin(lambda: None)
        worker.end()
    assert moved == [{0, 2}, {0, 1}, {1, 2}]


@pytest.mark.parametrize("there", [None, HERE])
def test_nobody_is_moved_where_there_is_nowhere_else(
    there: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[Any] = []
    monkeypatch.setattr(thread_pool, "_processor", lambda: there)
    monkeypatch.setattr(os, "sched_getaffinity", lambda who: {HERE}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda *told: moved.append(told), raising=False)
    worker = Worker()
    worker.begin(lambda: None)
    assert worker.end() is None and not moved


@pytest.mark.parametrize("told", [True, False])
def test_the_processor_is_known_where_threads_can_be_told(
    told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread_pool._processor_function.cache_clear()
    if told:
        monkeypatch.setattr(os, "sched_setaffinity", lambda *a: None, raising=False)
        found = thread_pool._processor()
        assert found is None or 0 <= found < 1 << 20
    else:
        monkeypatch.delattr(os, "sched_setaffinity", raising=False)
        assert thread_pool._processor() is None
    thread_pool._processor_function.cache_clear()
