"""Bits of integers that are chosen by lanes: what LLVM 22 makes wrong code of with AVX-512."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.shader import checked
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

_LANES = 64
_MASKS = (1, 255, 0xFF00, 32767, 0xFFFF, 0x0F0F0F0F, 0x7FFFFFFF)


def _joined(pick: Random, one: Value, other: Value) -> Value:
    """Some bits of one integer and the rest of another."""
    mask = pick.choice(_MASKS)
    return (one & mask) | (other & ~mask)


def _program(seed: int) -> Program:
    """Integers that join bits of each other, in some lanes and in all of them."""
    pick, b = Random(seed), Builder(Stage.PIXEL)
    given_, lanes = [b.input(name, Type.I32) for name in "xyz"], b.input("k")
    held = [b.variable(Type.I32, 0) for _ in given_]
    for variable, value in zip(held, given_, strict=True):
        variable.value = value
    for _ in range(5):
        variable, other = pick.choice(held), pick.choice(held).value ^ pick.choice(given_)
        if pick.random() < 0.7:
            with b.if_(lanes > pick.random()):
                variable.value = _joined(pick, variable.value, other)
        else:
            old = variable.value
            variable.value = b.select(lanes < pick.random(), _joined(pick, old, other), old)
    for number, variable in enumerate(held):
        b.output(f"o{number}", variable.value)
    return b.program()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32))
def test_bits_of_two_integers_are_joined_in_the_lanes_that_ask_for_it(seed: int) -> None:
    program, numbers = _program(seed), np.random.default_rng(seed)
    lanes = {name: numbers.integers(-(1 << 31), 1 << 31, _LANES).astype(np.int32)
             for name in "xyz"}  # fmt: skip
    inputs = {**lanes, "k": numbers.random(_LANES).astype(np.float32)}
    given_ = {port.name: inputs[port.name] for port in program.inputs}
    checked.run(program, given_, {}, _LANES)
