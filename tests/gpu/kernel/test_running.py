"""Kernels and the stages draw the same, bit for bit, and count the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.errors import Disagreement
from dp2emu.gpu.draw import execute_draw
from dp2emu.gpu.kernel import checking, running
from dp2emu.gpu.kernel import threads as threads_
from dp2emu.gpu.queries import Counters
from dp2emu.gpu.work import Work
from dp2emu.shader.engines import CHECKED, JIT, REFERENCE, engine
from tests.gpu.drawing import color_surface, corner, draw
from tests.gpu.kernel.states import random_draw


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32))
def test_any_state_is_drawn_as_the_stages_draw_it(seed: int) -> None:
    execute_draw(random_draw(seed), Counters(), run=engine(CHECKED))


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_any_number_of_threads_draws_the_same(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "WORTH", 0)
    monkeypatch.setattr(threads_, "ROWS", 4)
    for seed in range(12):
        execute_draw(random_draw(seed), Counters(), run=engine(CHECKED), threads=threads)


def test_bands_cover_every_row_once() -> None:
    assert threads_.bands(5, 140) == [(5, 64), (64, 128), (128, 140)]
    assert threads_.bands(64, 64) == []
    assert threads_.bands(70, 71) == [(70, 71)]


def test_what_a_worker_raises_is_raised() -> None:
    def fails(first: int, end: int) -> None:
        raise ValueError(f"{first} to {end}")

    with pytest.raises(ValueError, match="0 to 64"):
        threads_.share([(0, 64)], [fails])


def test_what_differs_is_told_by_target_pixel_and_count() -> None:
    color = color_surface()
    packet = draw([corner(3, 2), corner(28, 7), corner(10, 30)], color=color)

    def drawn(word: int, pixels: int) -> Work:
        color.data[:] = 1
        color.pixels()[3, 5] = word
        return Work(pixels=pixels)

    with pytest.raises(Disagreement) as raised:
        checking.compared(packet, lambda: drawn(7, 1), lambda: drawn(9, 2))
    assert "target 0 pixel 5, 3 sample 0 is 0x00000007 and 0x00000009" in str(raised.value)
    assert "pixels are 1 and 2" in str(raised.value)


def test_a_draw_by_a_kernel_raises_the_counters_it_raises_through_the_stages() -> None:
    counted = []
    for name in (REFERENCE, JIT):
        color, counters = color_surface(), Counters()
        packet = draw([corner(3, 2), corner(28, 7), corner(10, 30)], color=color)
        work = execute_draw(packet, counters, run=engine(name))
        counted.append((work, counters.samples, counters.invocations, color.data.tolist()))
    assert counted[0] == counted[1]
    assert counted[0][0].pixels > 100
