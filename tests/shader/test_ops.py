"""The op table: exact results, and NaN on a defined way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dp2emu.shader.ops import OPS


def apply(op: str, *operands: float) -> float:
    lanes = (np.array([operand], np.float32) for operand in operands)
    result = OPS[op].lanes(*lanes)
    assert result.dtype == np.float32
    return float(result[0])


@pytest.mark.parametrize(
    ("value", "clamped"),
    [(0.5, 0.5), (-0.0, 0.0), (-3.0, 0.0), (1.5, 1.0), (math.inf, 1.0), (-math.inf, 0.0),
     (math.nan, 0.0), (1e-45, 1e-45)],
)  # fmt: skip
def test_saturate_clamps_and_makes_nan_zero(value: float, clamped: float) -> None:
    assert apply("saturate", value) == np.float32(clamped)
    assert math.copysign(1, apply("saturate", value)) == 1


def test_arithmetic_rounds_to_float32() -> None:
    assert apply("add", 1.0, 2.0**-25) == 1.0
    assert apply("mul", 1 + 2.0**-23, 1 + 2.0**-23) == float(np.float32(1 + 2.0**-22))
    assert apply("add", 1e-45, 1e-45) > 0
