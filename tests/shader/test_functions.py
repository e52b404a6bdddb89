"""Transcendental functions against mpmath, in units in the last place."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.shader import functions
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.reference import run
from dp2emu.shader.types import F32
from dp2emu.shader.values import Value
from tests.tools.loading import load_tool

Function = Callable[..., Value]

NAN_BITS = 0x7FC00000
TINY, LEAST_NORMAL, LARGEST = 2.0**-149, 2.0**-126, float(np.finfo(np.float32).max)
EXACT = {
    functions.exp2: lambda x: mpmath.power(2, x),
    functions.log2: lambda x: mpmath.log(x, 2),
    functions.sin: mpmath.sin,
    functions.cos: mpmath.cos,
}


def program_of(function: Function, arguments: int = 1) -> Program:
    b = Builder(Stage.VERTEX)
    b.output("y", function(*(b.input(f"x{i}") for i in range(arguments))))
    return b.program()


def results(function: Function, *arguments: F32) -> F32:
    inputs = {f"x{i}": lanes for i, lanes in enumerate(arguments)}
    program = program_of(function, len(arguments))
    found: F32 = run(program, inputs, {}, len(arguments[0])).outputs["y"]
    return found


def value_at(function: Function, *arguments: float) -> float:
    return float(results(function, *(np.array([x], np.float32) for x in arguments))[0])


def bits(x: float) -> int:
    return int(np.float32(x).view(np.uint32))


def between(low: float, high: float, count: int) -> F32:
    """Float32 of one sign spread evenly over their bits, which is over all magnitudes."""
    return np.linspace(bits(low), bits(high), count).astype(np.uint32).view(np.float32)


def error(found: float, exact: mpmath.mpf) -> float:
    """In units of a float32 at ``exact``."""
    if exact == 0:
        return 0.0 if found == 0 else math.inf
    exponent = max(int(mpmath.floor(mpmath.log(abs(exact), 2))), -126)
    return float(abs(mpmath.mpf(found) - exact) / mpmath.ldexp(1, exponent - 23))


def worst_error(function: Function, arguments: F32) -> float:
    found = results(function, arguments)
    with mpmath.workprec(200):
        return max(
            error(float(y), EXACT[function](mpmath.mpf(float(x))))
            for x, y in zip(arguments, found, strict=True)
        )


@pytest.mark.parametrize(
    ("function", "low", "high", "limit"),
    [
        (functions.exp2, TINY, np.nextafter(np.float32(128), np.float32(0)), 1.2),
        (functions.exp2, 0.25, np.nextafter(np.float32(128), np.float32(0)), 1.2),
        (functions.exp2, -TINY, -151.0, 1.2),
        (functions.exp2, -0.25, -1.0, 1.2),
        (functions.exp2, -125.0, -151.0, 1.2),
        (functions.log2, TINY, LARGEST, 1.2),
        (functions.log2, TINY, LEAST_NORMAL, 1.2),
        (functions.log2, 0.5, 2.0, 1.2),
        (functions.log2, 0.999, 1.001, 1.2),
        (functions.sin, TINY, math.pi, 1.1),
        (functions.sin, 0.5, math.pi, 1.1),
        (functions.sin, -0.5, -math.pi, 1.1),
        (functions.sin, 3.1, math.pi, 1.1),
        (functions.sin, math.pi, 2.0**20, 1.9),
        (functions.cos, TINY, math.pi, 1.0),
        (functions.cos, -0.5, -math.pi, 1.0),
        (functions.cos, 1.55, 1.59, 1.0),
        (functions.cos, math.pi, 2.0**20, 1.1),
    ],
)
def test_errors_stay_within_what_the_module_says(
    function: Function, low: float, high: float, limit: float
) -> None:
    assert worst_error(function, between(low, high, 1500)) <= limit


def test_sines_near_multiples_of_half_pi_keep_their_digits() -> None:
    near = np.array([k * math.pi / 2 for k in range(1, 2000, 7)], np.float32)
    near = np.concatenate([near, np.nextafter(near, np.float32(0))])
    assert worst_error(functions.sin, near) <= 1.9
    assert worst_error(functions.cos, near) <= 1.9


@pytest.mark.parametrize(
    ("x", "y"),
    [(0.0, 1), (-0.0, 1), (1.0, 2), (10.0, 1024), (-1.0, 0.5), (127.0, 2.0**127),
     (-126.0, 2.0**-126), (-149.0, 2.0**-149), (-150.0, 0), (-151.0, 0), (128.0, math.inf),
     (math.inf, math.inf), (-math.inf, 0), (3e38, math.inf), (-3e38, 0), (TINY, 1)],
)  # fmt: skip
def test_exp2_of_whole_numbers_is_exact(x: float, y: float) -> None:
    assert value_at(functions.exp2, x) == y


@pytest.mark.parametrize(
    ("x", "y"),
    [(1.0, 0), (2.0, 1), (0.5, -1), (2.0**127, 127), (LEAST_NORMAL, -126), (TINY, -149),
     (2.0**-140, -140), (0.0, -math.inf), (-0.0, -math.inf), (math.inf, math.inf)],
)  # fmt: skip
def test_log2_of_powers_of_two_is_exact(x: float, y: float) -> None:
    assert value_at(functions.log2, x) == y


@pytest.mark.parametrize(
    ("function", "x"),
    [(functions.exp2, math.nan), (functions.log2, math.nan), (functions.log2, -1.0),
     (functions.log2, -math.inf), (functions.log2, -TINY), (functions.sin, math.nan),
     (functions.sin, math.inf), (functions.cos, -math.inf), (functions.cos, math.nan),
     (functions.rsqrt, -1.0), (functions.rcp, math.nan)],
)  # fmt: skip
def test_where_there_is_no_result_it_is_the_one_nan(function: Function, x: float) -> None:
    found = results(function, np.array([x], np.float32))
    assert found.view(np.uint32).tolist() == [NAN_BITS]


def test_small_angles_are_their_own_sine() -> None:
    x = np.array([0.0, TINY, 1e-30, -1e-20], np.float32)
    assert results(functions.sin, x).tolist() == x.tolist()
    assert results(functions.cos, x).tolist() == [1] * 4


def test_angles_lose_no_more_than_said_up_to_the_last_and_count_as_zero_beyond() -> None:
    x = between(2.0**20, functions.LAST_ANGLE, 2000)
    with mpmath.workprec(200):
        exact = [float(mpmath.sin(mpmath.mpf(float(each)))) for each in x]
    assert np.abs(results(functions.sin, x) - exact).max() < 2.0**-13
    beyond = np.array([functions.LAST_ANGLE + 2, -1e30, LARGEST], np.float32)
    assert results(functions.sin, beyond).tolist() == [0, 0, 0]
    assert results(functions.cos, beyond).tolist() == [1, 1, 1]


def test_sincos_is_sine_and_cosine() -> None:
    x = between(1e-3, 1e4, 500)
    for number, function in enumerate((functions.sin, functions.cos)):
        both = results(lambda x, number=number: functions.sincos(x)[number], x)
        assert both.tolist() == results(function, x).tolist()


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(2.0, 10.0, 1024), (2.0, -1.0, 0.5), (4.0, 0.5, 2), (0.0, 2.0, 0), (0.0, -1.0, math.inf),
     (0.0, 0.0, 1), (math.inf, 0.0, 1), (math.nan, 0.0, 1), (1.0, math.inf, 1),
     (math.inf, -1.0, 0), (0.5, math.inf, 0)],
)  # fmt: skip
def test_powers(x: float, y: float, expected: float) -> None:
    assert value_at(functions.pow, x, y) == expected


@given(st.floats(0.0625, 16, width=32), st.floats(-8, 8, width=32))
def test_powers_err_as_far_as_their_logarithm_is_rounded(x: float, y: float) -> None:
    with mpmath.workprec(200):
        exact = mpmath.power(mpmath.mpf(x), mpmath.mpf(y))
        assert error(value_at(functions.pow, x, y), exact) <= 2 + 2 * abs(y * math.log2(x))


@pytest.mark.parametrize(("x", "y"), [(0.0, math.inf), (-0.0, -math.inf), (4.0, 0.25)])
def test_reciprocals_divide(x: float, y: float) -> None:
    assert value_at(functions.rcp, x) == y
    assert value_at(functions.rsqrt, y * y) == 1 / abs(y)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=300)
def test_every_float_has_a_sine_within_bounds_or_none(pattern: int) -> None:
    x = np.array([pattern], np.uint32).view(np.float32)
    y = float(results(functions.sin, x)[0])
    assert abs(y) <= 1 or not math.isfinite(x[0])


def test_the_tool_measures_the_same() -> None:
    tool = load_tool("function_errors")
    for measured in tool.MEASURED.values():
        assert tool.measure(measured, 1_000_003).error <= measured.limit
    exact = np.array([1.0, 1.0, math.inf, 2.0**-149, 2.0**128, math.nan])
    found = np.array([1 + 2.0**-23, math.nan, math.inf, 0, math.inf, 1], np.float32)
    assert tool.ulps(found, exact).tolist() == [1, math.inf, 0, 1, 0, math.inf]
