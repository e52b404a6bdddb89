"""Kernels and the stages draw the same, bit for bit, and count the same."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.errors import Disagreement
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.compile import kernel_draw, thread_pool
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.engines import CHECKED, JIT, REFERENCE, engine
from tests.gpu.drawing import color_surface, corner, draw
from tests.gpu.kernel_states import random_draw, random_draw_of_any_shape


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32))
def test_any_state_is_drawn_as_the_stages_draw_it(seed: int) -> None:
    execute_draw(random_draw(seed), Counters(), run=engine(CHECKED))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from([1, 2, 3, 7]))
def test_targets_of_any_shape_and_corners_anywhere(seed: int, count: int) -> None:
    with (
        patch.object(kernel_draw, "WORTH", 0),
        patch.object(thread_pool, "ROWS", 4 if seed % 2 else thread_pool.ROWS),
    ):
        packet = random_draw_of_any_shape(seed)
        execute_draw(packet, Counters(), run=engine(CHECKED), threads=count)


def test_what_differs_is_told_by_target_pixel_and_count() -> None:
    color = color_surface()
    packet = draw([corner(3, 2), corner(28, 7), corner(10, 30)], color=color)

    def drawn(word: int, pixels: int) -> Work:
        color.data[:] = 1
        color.pixels()[3, 5] = word
        return Work(pixels=pixels)

    with pytest.raises(Disagreement) as raised:
        kernel_draw.compared(packet, lambda: drawn(7, 1), lambda: drawn(9, 2))
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
