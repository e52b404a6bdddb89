"""Atomic operations against lanes that act one after the other, in plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.gpu.shader_resources.unordered_access import COMMUTING, atomic
from dp2emu.shader.resources import MemoryOpcode

MASK = 0xFFFFFFFF


def signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


RULES: dict[MemoryOpcode, Callable[..., int]] = {
    MemoryOpcode.AND: lambda old, x: old & x,
    MemoryOpcode.OR: lambda old, x: old | x,
    MemoryOpcode.XOR: lambda old, x: old ^ x,
    MemoryOpcode.IADD: lambda old, x: old + x & MASK,
    MemoryOpcode.IMAX: lambda old, x: max(old, x, key=signed),
    MemoryOpcode.IMIN: lambda old, x: min(old, x, key=signed),
    MemoryOpcode.UMAX: max,
    MemoryOpcode.UMIN: min,
    MemoryOpcode.EXCHANGE: lambda old, x: x,
    MemoryOpcode.COMPARE: lambda old, expected, x: x if old == expected else old,
}
EDGES = (0, 1, 2, 0x7FFFFFFF, 0x80000000, MASK)
words = st.sampled_from(EDGES) | st.integers(0, MASK)


def lanes(numbers: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(numbers, np.uint32).view(np.int32)


def model(
    act: MemoryOpcode, memory: list[int], places: list[int], *operands: list[int]
) -> tuple[list[int], list[int]]:
    """What each lane finds, and what is left."""
    memory, found = list(memory), []
    for lane, place in enumerate(places):
        found.append(memory[place])
        memory[place] = RULES[act](memory[place], *(each[lane] for each in operands))
    return found, memory


def check(act: MemoryOpcode, memory: list[int], places: list[int], *operands: list[int]) -> None:
    held = lanes(memory)
    found = atomic(act, held, np.array(places, np.int64), *map(lanes, operands))
    wanted, left = model(act, memory, places, *operands)
    assert found.view(np.uint32).tolist() == wanted
    assert held.view(np.uint32).tolist() == left


@pytest.mark.parametrize("act", RULES, ids=lambda act: act.value)
@pytest.mark.parametrize("places", [[0] * 7, [0, 1, 0, 2, 1, 0, 2], [2, 1, 0], []], ids=str)
@given(data=st.data())
def test_lanes_act_one_after_the_other(
    act: MemoryOpcode, places: list[int], data: st.DataObject
) -> None:
    rows = st.lists(words, min_size=len(places), max_size=len(places))
    operands = [data.draw(rows) for _ in range(2 if act is MemoryOpcode.COMPARE else 1)]
    check(act, data.draw(st.lists(words, min_size=3, max_size=3)), places, *operands)


def test_a_comparison_sees_what_lanes_before_it_stored() -> None:
    check(MemoryOpcode.COMPARE, [5], [0, 0, 0], [5, 6, 5], [6, 7, 8])


def test_sums_wrap() -> None:
    check(MemoryOpcode.IADD, [0x7FFFFFFF, 0], [0] * 4, [1, MASK, 0x80000000, 0x80000000])


@pytest.mark.parametrize("act", sorted(COMMUTING, key=lambda act: act.value))
@given(data=st.data())
def test_what_commutes_leaves_the_same_in_any_order(
    act: MemoryOpcode, data: st.DataObject
) -> None:
    given = data.draw(st.lists(words, max_size=6))
    turned = data.draw(st.permutations(given))
    for row in (given, turned):
        places = [0] * len(row)
        assert model(act, [3], places, row)[1] == model(act, [3], places, given)[1]
