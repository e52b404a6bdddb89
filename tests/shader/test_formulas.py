"""Formulas over NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed, program_of
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value


def scaled(b: Builder, factor: float, x: Value, y: Value) -> list[Value | bool]:
    return [x * factor + y, x < y, True]


def test_results_are_computed_for_arrays_that_broadcast() -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([[1], [4]])
    total, below, always = computed(scaled, 2.0, x, y)
    assert total.tolist() == (x * 2 + y).tolist()
    assert below.tolist() == (x < y).tolist()
    assert bool(always)


def test_a_formula_is_built_once_for_a_key_and_types() -> None:
    types = (Type.F32, Type.F32)
    assert program_of(scaled, 2.0, types) is program_of(scaled, 2.0, types)
    assert program_of(scaled, 3.0, types) != program_of(scaled, 2.0, types)
    assert program_of(scaled, 2.0, (Type.F64,) * 2).outputs[0].type is Type.F64


def high(b: Builder, key: None, x: Value) -> tuple[Value]:
    return (b.apply("ushr", x, 28),)


@pytest.mark.parametrize("type", [np.uint32, np.int32])
def test_unsigned_operands_are_read_as_signed_ones(type: type) -> None:
    words = np.array([0x12345678, 0xF0000000], np.uint32).view(type)
    assert computed(high, None, words)[0].tolist() == [1, 15]


def test_operands_are_left_as_they_are() -> None:
    x = np.arange(4, dtype=np.float32)
    computed(scaled, 2.0, x, x)
    assert x.tolist() == [0, 1, 2, 3]


def test_a_number_that_overflows_gives_no_warning() -> None:
    large = np.array([3e38, 0, np.nan], np.float32)
    found = computed(scaled, 2.0, large, large)[0]
    assert np.isinf(found[0])
