"""Piles of fragments on the same pixel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from dp2emu.gpu.merge import last_of_each, piles, single_pile_each

pixels = st.lists(st.integers(0, 6), min_size=1, max_size=40)


@given(pixels)
def test_layers_visit_each_fragment_once_and_in_order(pixel: list[int]) -> None:
    seen: dict[int, list[int]] = {}
    for members in piles(np.array(pixel)).layers():
        for fragment in members.tolist():
            seen.setdefault(pixel[fragment], []).append(fragment)
    expected: dict[int, list[int]] = {}
    for fragment, p in enumerate(pixel):
        expected.setdefault(p, []).append(fragment)
    assert seen == expected


@given(pixels)
def test_a_layer_is_the_start_of_the_one_below_it(pixel: list[int]) -> None:
    stacks = piles(np.array(pixel))
    places = [[pixel[fragment] for fragment in members] for members in stacks.layers()]
    for below, above in pairwise(places):
        assert below[: len(above)] == above
        assert len(set(below)) == len(below)


@given(pixels, st.data())
def test_the_last_that_passed_is_seen(pixel: list[int], data: st.DataObject) -> None:
    passed = data.draw(st.lists(st.booleans(), min_size=len(pixel), max_size=len(pixel)))
    stacks = piles(np.array(pixel))
    last = {p: i for i, p in enumerate(pixel) if passed[i]}
    assert sorted(last_of_each(stacks, np.array(passed)).tolist()) == sorted(last.values())
    last = {p: i for i, p in enumerate(pixel)}
    assert sorted(last_of_each(stacks, None).tolist()) == sorted(last.values())


def test_fragments_of_one_primitive_are_a_pile_each() -> None:
    stacks = single_pile_each(4)
    assert [members.tolist() for members in stacks.layers()] == [[0, 1, 2, 3]]


@given(pixels, st.data())
def test_parts_of_piles_are_the_piles_of_the_parts(pixel: list[int], data: st.DataObject) -> None:
    some = data.draw(st.lists(st.booleans(), min_size=len(pixel), max_size=len(pixel)))
    chosen = np.array(some)
    assume(chosen.any())
    part = piles(np.array(pixel)).part(chosen)
    wanted = piles(np.array(pixel)[chosen])
    found = [sorted(members.tolist()) for members in part.layers()]
    assert found == [sorted(members.tolist()) for members in wanted.layers()]
    assert sorted(part.heights.tolist()) == sorted(wanted.heights.tolist())
