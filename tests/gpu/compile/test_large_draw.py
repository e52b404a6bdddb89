"""Draws of many triangles are those of the stages, whoever sets up and draws which of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.errors import Exceeded
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.compile import kernel_draw, thread_pool
from dp2emu.gpu.compile.band_workers import band_function
from dp2emu.gpu.draw import draw_stages
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.vertex_shader.vertex_kernel import vertices
from dp2emu.gpu.work_budget import WorkBudget
from dp2emu.limits import Limits
from dp2emu.shader.engines import CHECKED, JIT, REFERENCE, engine
from tests.gpu.drawing import color_surface, corner, depth_surface, draw, programmed, rebound
from tests.gpu.kernel_states import random_draw, random_draw_of_any_shape


@pytest.fixture(autouse=True)
def every_draw_is_large() -> Iterator[None]:
    for function in (vertices(), band_function()):
        function.ready()
    with (
        patch.object(draw_stages, "FEW", 0),
        patch.object(kernel_draw, "EACH", 2),
        patch.object(kernel_draw, "BATCH_BYTES", 1 << 12),
        patch.object(kernel_draw, "BLOCK", 8),
        patch.object(kernel_draw, "WORTH", 0),
        patch.object(thread_pool, "ROWS", 4),
    ):
        yield


def alone(packet: Draw, count: int = 1) -> list[tuple[int, int]]:
    """Draw, compared with the stages; which primitives were drawn alone, from and to."""
    found: list[tuple[int, int]] = []
    batch = kernel_draw.LargeDraw.of

    def watched(drawing: Any, draw: Draw, names: Any, by: Any) -> Any:
        def noted(start: int, stop: int) -> Any:
            found.append((start, stop))
            return by(start, stop)

        return batch(drawing, draw, names, noted)

    with patch.object(kernel_draw.LargeDraw, "of", watched):
        execute_draw(packet, Counters(), run=engine(CHECKED), threads=count)
    return sorted(set(found))


def triangles(count: int, seed: int = 1) -> list[tuple[float, ...]]:
    """Corners of triangles that lie on top of each other."""
    pick = Random(seed)
    return [
        tuple(
            corner(pick.uniform(0, 32), pick.uniform(0, 32), pick.random(), pick.getrandbits(32))
        )
        for _ in range(3 * count)
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from([1, 2, 3]))
def test_any_state_is_drawn_as_the_stages_draw_it(seed: int, count: int) -> None:
    execute_draw(random_draw(seed), Counters(), run=engine(CHECKED), threads=count)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from([1, 2]))
def test_targets_of_any_shape_and_corners_anywhere(seed: int, count: int) -> None:
    packet = random_draw_of_any_shape(seed)
    execute_draw(packet, Counters(), run=engine(CHECKED), threads=count)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_nothing_is_drawn_alone_that_need_not(count: int) -> None:
    packet = draw(triangles(41), color=color_surface(), depth=depth_surface())
    assert alone(packet, count) == []
    assert alone(rebound(packet, indices=None, first=3, count=7), count) == []


def test_items_that_are_too_large_are_drawn_in_their_turn() -> None:
    corners = triangles(9)
    corners[9] = tuple(corner(-1e7, 3.0))
    assert alone(draw(corners, color=color_surface()), 2) == [(2, 4)]


def test_items_that_have_to_be_cut_are_drawn_in_their_turn() -> None:
    corners = triangles(9)
    corners[13] = tuple(corner(5.0, 3.0, 0.5, rhw=-1.0))
    packet = programmed(draw(corners, color=color_surface()))
    assert alone(packet, 2) == [(4, 6)]


def test_perspective_is_looked_for_in_all_items_and_remembered() -> None:
    color, corners = color_surface(), triangles(9)
    level = draw(corners, color=color)
    corners[26] = tuple(corner(5.0, 3.0, 0.5, rhw=0.25))
    tilted = rebound(level, streams=draw(corners, color=color).input.streams)
    for packet in (level, tilted, tilted, level, level):
        assert alone(packet, 2) == []


def test_any_number_of_threads_draws_and_counts_the_same() -> None:
    found = []
    for name, count in ((REFERENCE, 1), (JIT, 1), (JIT, 2), (JIT, 5)):
        color, counters = color_surface(), Counters()
        work = execute_draw(draw(triangles(60), color=color), counters, False, engine(name), count)
        found.append((work, counters.samples, color.data.tobytes()))
    assert found == [found[0]] * 4


@pytest.mark.parametrize("name", [REFERENCE, JIT])
def test_what_may_be_spent_ends_at_the_same_primitive(name: str) -> None:
    color = color_surface()
    corners = [tuple(corner(x, y)) for _ in range(8) for x, y in ((0, 0), (20, 0), (0, 20))]
    spending = WorkBudget(Limits(call_pixels=5 * 1024))
    with (
        patch("dp2emu.gpu.draw.draw_stages.CHUNK", 2),
        pytest.raises(Exceeded, match="call_pixels"),
    ):
        for _ in range(9):
            packet = draw(corners, color=color)
            execute_draw(packet, Counters(), run=engine(name), spending=spending)
    assert np.count_nonzero(color.data)
