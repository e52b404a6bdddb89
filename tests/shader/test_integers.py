"""Functions of integers against Python's own, at the edges and anywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.shader import integers
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Stage
from dp2emu.shader.reference import run
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value
from tests.shader.models import FLOATS, INTEGERS
from tests.shader.sm4.lower import model

NAMES = {
    "countbits": (integers.count_bits, 1),
    "bfrev": (integers.reverse_bits, 1),
    "firstbit_hi": (integers.first_high, 1),
    "firstbit_lo": (integers.first_low, 1),
    "firstbit_shi": (integers.first_signed, 1),
    "ubfe": (integers.extract_unsigned, 3),
    "ibfe": (integers.extract_signed, 3),
    "bfi": (integers.insert, 4),
}
words = st.one_of(st.sampled_from(INTEGERS), st.integers(0, 2**32 - 1))


def computed(
    function: Callable[..., Value], type: Type, lanes: list[tuple[int, ...]]
) -> list[int]:
    b = Builder(Stage.VERTEX)
    columns = [np.array(column, np.uint32) for column in zip(*lanes, strict=True)]
    given = [b.input(f"x{n}", type) for n in range(len(columns))]
    b.output("y", function(*given))
    inputs = {f"x{n}": column.view(type.dtype) for n, column in enumerate(columns)}
    found = run(b.program(), inputs, {}, len(lanes)).outputs["y"]
    return [int(word) for word in found.view(np.uint32)]


@pytest.mark.parametrize("name", NAMES)
@given(lanes=st.lists(st.tuples(words, words, words, words), min_size=1, max_size=20))
def test_function_is_its_rule_anywhere(name: str, lanes: list[tuple[int, ...]]) -> None:
    function, count = NAMES[name]
    lanes = [lane[:count] for lane in lanes]
    rule = model.OTHERS[name][1]
    assert computed(function, Type.I32, lanes) == [rule(*lane) for lane in lanes]


def test_halves_are_cut_towards_zero_and_keep_what_is_subnormal() -> None:
    lanes = [(word,) for word in FLOATS]
    found = computed(integers.to_half, Type.F32, lanes)
    assert found == [model.to_half(word) for word in FLOATS]
    halves = [0x0001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0x8001, 0xFBFF]
    exact = [int(np.uint16(h).view(np.float16).astype(np.float32).view(np.uint32)) for h in halves]
    assert computed(integers.to_half, Type.F32, [(word,) for word in exact]) == halves
    # One more bit below each is lost.
    assert computed(integers.to_half, Type.F32, [(word | 1,) for word in exact]) == halves
