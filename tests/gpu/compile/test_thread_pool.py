"""Bands of rows, and the threads that share them."""

from __future__ import annotations

from functools import partial
from threading import Event
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest

from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.compile import band_workers, kernel_draw, thread_pool
from dp2emu.gpu.draw.draw_stages import draw_setup, execute_draw
from dp2emu.shader.engines import CHECKED, JIT, engine
from dp2emu.shader.jit.tiering import TieredFunction
from tests.gpu.drawing import color_surface, corner, draw, programmed
from tests.gpu.kernel_states import random_draw


@pytest.mark.parametrize("count", [2, 3, 7])
def test_any_number_of_threads_draws_the_same(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_draw, "WORTH", 0)
    monkeypatch.setattr(thread_pool, "ROWS", 4)
    for seed in range(12):
        execute_draw(random_draw(seed), Counters(), run=engine(CHECKED), threads=count)


def test_threads_are_no_more_than_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_draw, "WORTH", 0)
    band_workers.band_function().ready()
    shared = []
    monkeypatch.setattr(band_workers, "share", lambda orders: shared.append(len(orders)))
    color = color_surface()
    packet = draw([corner(3, 2), corner(28, 7), corner(10, 30)], color=color)
    for rows in (4, 16):
        monkeypatch.setattr(thread_pool, "ROWS", rows)
        execute_draw(packet, Counters(), run=engine(JIT), threads=1 << 40)
    assert shared == [8, 2]


@pytest.mark.parametrize("rhw", [(1.0, 1.0, 1.0), (1.0, 0.5, 0.25), (2.0, 2.0, 2.0)])
@pytest.mark.parametrize("shaded", [False, True])
def test_the_kernel_that_is_compiled_beside_vertices_is_the_one_that_draws(
    monkeypatch: pytest.MonkeyPatch, rhw: tuple[float, ...], shaded: bool
) -> None:
    begun: list[Any] = []
    nowhere = SimpleNamespace(has_code=False, compile_ahead=lambda: None)
    monkeypatch.setattr(kernel_draw, "vertices", lambda: nowhere)
    monkeypatch.setattr(
        TieredFunction, "compile_ahead", lambda self, good=False: begun.append(self)
    )
    places = [(3.0, 2.0), (28.0, 7.0), (10.0, 30.0)]
    corners = [corner(x, y, 0.5, rhw=w) for (x, y), w in zip(places, rhw, strict=True)]
    packet = draw(corners, color=color_surface())
    packet = programmed(packet) if shaded else packet
    drawing = draw_setup(packet, None, engine(JIT), 1).kernel
    assert drawing is not None
    (guessed,) = drawing.plans.values()
    execute_draw(packet, Counters(), run=engine(JIT))
    assert list(drawing.plans.values()) == [guessed]
    assert begun[:2] == [guessed.kernel, guessed.setup] and guessed.kernel.has_code


@pytest.mark.parametrize(
    ("top", "bottom", "count"),
    [(5, 140, 3), (64, 128, 1), (70, 71, 1), (63, 65, 2), (0, 4096, 64)],
)
def test_bands_begin_at_multiples_of_their_rows(top: int, bottom: int, count: int) -> None:
    found = thread_pool.Bands.of(top, bottom)
    assert (found.shift, found.count) == (6, count)


@pytest.mark.parametrize("bottom", [4097, 16384, 1 << 20])
def test_bands_are_not_too_many(bottom: int) -> None:
    found = thread_pool.Bands.of(0, bottom)
    assert thread_pool.MOST / 2 < found.count <= thread_pool.MOST


def test_every_worker_works_once() -> None:
    for count in (1, 2, 5):
        done: list[int] = []
        thread_pool.share([partial(done.append, number) for number in range(count)])
        assert sorted(done) == list(range(count))


def test_what_a_worker_raises_is_raised() -> None:
    def fails() -> None:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        thread_pool.share([fails])


def test_there_is_a_processor() -> None:
    assert thread_pool.cores() >= 1


def test_nobody_draws_any_more_when_the_calling_thread_is_interrupted() -> None:
    begun, drawn = Event(), []

    def interrupted() -> None:
        begun.wait(10)
        raise KeyboardInterrupt

    def slow() -> None:
        begun.set()
        sleep(0.05)
        drawn.append(1)

    with pytest.raises(KeyboardInterrupt):
        thread_pool.share([interrupted, slow])
    assert drawn == [1]


def test_what_a_worker_of_another_thread_raises_is_raised() -> None:
    begun = Event()

    def waits() -> None:
        begun.wait(10)

    def fails() -> None:
        begun.set()
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        thread_pool.share([waits, fails])


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, TimeoutError])
def test_an_interrupt_while_work_is_begun_waits_for_what_was(
    interrupt: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a handler of signals raises: the next work has no answers of the last one's."""
    drawn: list[int] = []
    begin, calls = thread_pool.Worker.begin, [0]

    def interrupted(self: thread_pool.Worker, order: Any) -> None:
        calls[0] += 1
        if calls[0] == 2:
            raise interrupt
        begin(self, order)

    def slow(number: int) -> None:
        sleep(0.01)
        drawn.append(number)

    monkeypatch.setattr(thread_pool.Worker, "begin", interrupted)
    with pytest.raises(interrupt):
        thread_pool.share([partial(slow, number) for number in range(3)])
    assert drawn == [1]
    thread_pool.share([partial(slow, number) for number in range(3)])
    assert sorted(drawn[1:]) == [0, 1, 2]


def test_an_answer_that_an_interrupt_has_lost_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end = thread_pool.Worker.end

    def interrupted(self: thread_pool.Worker) -> BaseException | None:
        end(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(thread_pool.Worker, "end", interrupted)
    with pytest.raises(KeyboardInterrupt):
        thread_pool.share([lambda: None, lambda: None, lambda: None])
    monkeypatch.undo()
    test_every_worker_works_once()


@pytest.mark.parametrize("room", [0, 1, 2])
def test_the_calling_thread_works_for_those_that_are_not_there(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = thread_pool.workers(room)
    monkeypatch.setattr(thread_pool, "workers", lambda count: there)
    done: list[int] = []
    thread_pool.share([partial(done.append, number) for number in range(4)])
    assert sorted(done) == [0, 1, 2, 3]
    monkeypatch.setattr(kernel_draw, "WORTH", 0)
    monkeypatch.setattr(thread_pool, "ROWS", 4)
    for seed in range(3):
        execute_draw(random_draw(seed), Counters(), run=engine(CHECKED), threads=4)
