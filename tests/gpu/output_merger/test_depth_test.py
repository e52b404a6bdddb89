"""Piles of fragments on the same pixel, and the alpha test."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dp2emu.d3d.enums import CmpFunc
from dp2emu.gpu.arrays import F32
from dp2emu.gpu.output_merger.alpha_test import REFERENCE_STEP, AlphaTest, alpha_passes
from dp2emu.gpu.output_merger.depth_test import last_of_each, pixel_groups, single_fragment_groups
from dp2emu.shader.formulas import computed
from tests.gpu.model import COMPARE

pixels = st.lists(st.integers(0, 6), min_size=1, max_size=40)


def passes(func: CmpFunc, alpha: F32, reference: int, *, unclamped: bool = False) -> list[bool]:
    wanted = np.full(1, reference * REFERENCE_STEP, np.int32)
    found: list[bool] = np.broadcast_to(
        computed(alpha_passes, AlphaTest(func, unclamped), alpha, wanted)[0], alpha.shape
    ).tolist()
    return found


@given(pixels)
def test_layers_visit_each_fragment_once_and_in_order(pixel: list[int]) -> None:
    seen: dict[int, list[int]] = {}
    for members in pixel_groups(np.array(pixel)).layers():
        for fragment in members.tolist():
            seen.setdefault(pixel[fragment], []).append(fragment)
    expected: dict[int, list[int]] = {}
    for fragment, p in enumerate(pixel):
        expected.setdefault(p, []).append(fragment)
    assert seen == expected


@given(pixels)
def test_a_layer_is_the_start_of_the_one_below_it(pixel: list[int]) -> None:
    stacks = pixel_groups(np.array(pixel))
    places = [[pixel[fragment] for fragment in members] for members in stacks.layers()]
    for below, above in pairwise(places):
        assert below[: len(above)] == above
        assert len(set(below)) == len(below)


@given(pixels, st.data())
def test_the_last_that_passed_is_seen(pixel: list[int], data: st.DataObject) -> None:
    passed = data.draw(st.lists(st.booleans(), min_size=len(pixel), max_size=len(pixel)))
    stacks = pixel_groups(np.array(pixel))
    last = {p: i for i, p in enumerate(pixel) if passed[i]}
    assert sorted(last_of_each(stacks, np.array(passed)).tolist()) == sorted(last.values())
    last = {p: i for i, p in enumerate(pixel)}
    assert sorted(last_of_each(stacks, None).tolist()) == sorted(last.values())


def test_fragments_of_one_primitive_are_a_pile_each() -> None:
    stacks = single_fragment_groups(4)
    assert [members.tolist() for members in stacks.layers()] == [[0, 1, 2, 3]]


@given(pixels, st.data())
def test_parts_of_piles_are_the_piles_of_the_parts(pixel: list[int], data: st.DataObject) -> None:
    some = data.draw(st.lists(st.booleans(), min_size=len(pixel), max_size=len(pixel)))
    chosen = np.array(some)
    assume(chosen.any())
    part = pixel_groups(np.array(pixel)).part(chosen)
    wanted = pixel_groups(np.array(pixel)[chosen])
    found = [sorted(members.tolist()) for members in part.layers()]
    assert found == [sorted(members.tolist()) for members in wanted.layers()]
    assert sorted(part.heights.tolist()) == sorted(wanted.heights.tolist())


@pytest.mark.parametrize("func", list(CmpFunc))
def test_the_alpha_test_compares_every_alpha_of_eight_bits(func: CmpFunc) -> None:
    alpha = np.arange(256, dtype=np.float32) / np.float32(255)
    for reference in (0, 1, 127, 128, 254, 255):
        found = passes(func, alpha, reference)
        assert found == [COMPARE[func](value, reference) for value in range(256)]


def test_alpha_is_clamped_and_rounded_to_sixteen_bits() -> None:
    nearly = 65534.51 / 65535
    alpha = np.array([-3, math.nan, 0.49 / 65535, 1 / 255, nearly, 9, math.inf], np.float32)
    values = [0, 0, 0, 1, 255, 255, 255]
    for value in (0, 1, 255):
        found = passes(CmpFunc.EQUAL, alpha, value)
        assert found == [each == value for each in values]


def test_alpha_beyond_the_references_is_beyond_them_if_unclamped() -> None:
    alpha = np.array([-math.inf, -0.5, 0, 1 / 255, 1, 1.5, 3e38, math.inf], np.float32)
    for value, where in ((0, 2), (1, 3), (255, 4)):
        found = passes(CmpFunc.EQUAL, alpha, value, unclamped=True)
        assert found == [place == where for place in range(len(alpha))]
        found = passes(CmpFunc.GREATER, alpha, value, unclamped=True)
        assert found == [place > where for place in range(len(alpha))]


@pytest.mark.parametrize("alpha", [99.5, 100.01, 100.5, 100.99])
def test_an_alpha_between_two_references_is_between_them(alpha: float) -> None:
    lane = np.full(1, alpha / 255, np.float32)
    assert passes(CmpFunc.GREATER, lane, 100)[0] == (alpha > 100)
    assert passes(CmpFunc.LESS, lane, 101)[0]
    assert passes(CmpFunc.NOTEQUAL, lane, 100)[0]
