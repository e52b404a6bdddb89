"""Codes as fractions: the nearest float, without a division."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.shader import checked
from dp2emu.shader.builder import Builder
from dp2emu.shader.integers import ushr
from dp2emu.shader.ir import Constant, Program, Stage
from dp2emu.shader.jit.peephole import BITS, divisor, whole_numbers
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value


def _program(value: Value, largest: float) -> Program:
    b = value.builder
    b.output("o", b.itof(value) / largest)
    return b.program()


@pytest.mark.parametrize("bits", range(1, BITS + 1))
def test_every_number_below_65536_by_every_largest_code(bits: int) -> None:
    b = Builder(Stage.PIXEL)
    program = _program(b.input("x", Type.I32) & 0xFFFF, float((1 << bits) - 1))
    assert whole_numbers(program)
    checked.run(program, {"x": np.arange(1 << 16, dtype=np.int32)}, {}, 1 << 16)


def test_fields_at_the_top_are_small_numbers() -> None:
    b = Builder(Stage.PIXEL)
    program = _program(ushr(b.input("x", Type.I32), 24), 255.0)
    assert whole_numbers(program)
    words = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, 512).astype(np.int32)
    checked.run(program, {"x": words}, {}, 512)


def test_numbers_that_may_be_large_are_divided() -> None:
    b = Builder(Stage.PIXEL)
    x = b.input("x", Type.I32)
    assert not whole_numbers(_program(x & 0x1FFFF, 255.0))
    b = Builder(Stage.PIXEL)
    held = b.variable(Type.I32, 0)
    held.value = b.input("x", Type.I32) & 255
    with b.if_(b.input("k") > 0.5):
        held.value = b.input("x", Type.I32)
    assert not whole_numbers(_program(held.value, 255.0))


def test_divisors_are_largest_codes() -> None:
    assert divisor(Constant.of(Type.F32, 255.0)) == 255
    assert divisor(Constant.of(Type.F32, 254.0)) is None
    assert divisor(Constant.of(Type.F32, 131071.0)) is None
