"""Bands of rows, and the threads that share them."""

from __future__ import annotations

import pytest

from dp2emu.gpu.draw import execute_draw
from dp2emu.gpu.kernel import running, threads
from dp2emu.gpu.queries import Counters
from dp2emu.shader.engines import CHECKED, engine
from tests.gpu.kernel.states import random_draw


@pytest.mark.parametrize("count", [2, 3, 7])
def test_any_number_of_threads_draws_the_same(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "WORTH", 0)
    monkeypatch.setattr(threads, "ROWS", 4)
    for seed in range(12):
        execute_draw(random_draw(seed), Counters(), run=engine(CHECKED), threads=count)


def test_bands_cover_every_row_once() -> None:
    assert threads.bands(5, 140) == [(5, 64), (64, 128), (128, 140)]
    assert threads.bands(64, 64) == []
    assert threads.bands(70, 71) == [(70, 71)]


def test_every_band_is_drawn_once_by_any_number_of_workers() -> None:
    for count in (1, 2, 5):
        done: list[tuple[int, int]] = []
        workers = [lambda first, end, done=done: done.append((first, end))] * count  # type: ignore[misc]
        threads.share(threads.bands(0, 1000), workers)
        assert sorted(done) == threads.bands(0, 1000)


def test_what_a_worker_raises_is_raised() -> None:
    def fails(first: int, end: int) -> None:
        raise ValueError(f"{first} to {end}")

    with pytest.raises(ValueError, match="0 to 64"):
        threads.share([(0, 64)], [fails])


def test_there_is_a_processor() -> None:
    assert threads.cores() >= 1
