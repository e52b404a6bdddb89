"""Every opcode that computes, on the edges of its operands, against the rules in plain Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from dp2emu.shader.reference import Result
from dp2emu.shader.sm4.lower import arithmetic
from tests.shader.models import FEW_FLOATS, FLOATS, INTEGERS, number
from tests.shader.sm4.lower import model
from tests.shader.sm4.lower.running import execute, floats, lowered, ps, ps_text, vs, vs_text

SOME_FLOATS = FEW_FLOATS[::2]
SOME_INTEGERS = INTEGERS[::2]
FEW_INTEGERS = (0, 1, 5, 16, 31, 32, 0x7FFFFFFF, 0x80000000, 0xAAAAAAAA, 0xFFFFFFFF)

Lanes = list[tuple[int, ...]]


def combinations(kinds: str) -> Lanes:
    """Every combination of edges, of fewer the more operands there are."""
    floats = {1: FLOATS, 2: FEW_FLOATS, 3: SOME_FLOATS}
    integers = {1: INTEGERS, 2: INTEGERS, 3: SOME_INTEGERS, 4: FEW_INTEGERS}
    sets = [(floats if kind == "f" else integers)[len(kinds)] for kind in kinds]
    return list(itertools.product(*sets))


def computed(line: str, lanes: Lanes) -> Result:
    """A line on v0.x, v1.x and so on, a lane for each set of operands."""
    ports = {f"v{n}.x": list(column) for n, column in enumerate(zip(*lanes, strict=True))}
    return execute(lowered(vs_text(line)), ports, lanes=len(lanes))


def column(result: Result, port: str) -> list[int]:
    found: list[int] = result.outputs[port].view(np.uint32).tolist()
    return found


def operands(count: int) -> str:
    return ", ".join(f"v{n}.x" for n in range(count))


def differences(lanes: Lanes, found: Sequence[int], wanted: Sequence[int]) -> list[str]:
    return [
        f"{tuple(map(hex, lane))}: {x:#x}, not {y:#x}"
        for lane, x, y in zip(lanes, found, wanted, strict=True)
        if x != y
    ]


@pytest.mark.parametrize("name", model.FLOAT)
def test_float_operation_flushes_and_rounds(name: str) -> None:
    count, rule = model.FLOAT[name]
    lanes = combinations("f" * count)
    found = column(computed(f"{name} o0.x, {operands(count)}", lanes), "o0.x")
    assert differences(lanes, found, [rule(*lane) for lane in lanes]) == []  # type: ignore[misc]


@pytest.mark.parametrize("name", model.FLOAT)
def test_what_saturates_lies_from_0_to_1_and_nan_is_0(name: str) -> None:
    count, rule = model.FLOAT[name]
    lanes = combinations("f" * count)
    found = column(computed(f"{name}_sat o0.x, {operands(count)}", lanes), "o0.x")
    wanted = [model.saturated(rule(*lane)) for lane in lanes]  # type: ignore[arg-type]
    assert differences(lanes, found, wanted) == []


@pytest.mark.parametrize("name", model.OTHERS)
def test_other_operation_is_its_rule_on_words(name: str) -> None:
    kinds, rule = model.OTHERS[name]
    lanes = combinations(kinds)
    wanted = [rule(*lane) for lane in lanes]
    if isinstance(wanted[0], tuple):
        result = computed(f"{name} o0.x, o1.x, {operands(len(kinds))}", lanes)
        for place, port in enumerate(("o0.x", "o1.x")):
            pairs = [each[place] for each in wanted if isinstance(each, tuple)]
            assert differences(lanes, column(result, port), pairs) == []
    else:
        found = column(computed(f"{name} o0.x, {operands(len(kinds))}", lanes), "o0.x")
        assert differences(lanes, found, [each for each in wanted if isinstance(each, int)]) == []


@pytest.mark.parametrize("size", [2, 3, 4])
def test_dot_product_adds_from_x_to_w_and_is_everywhere(size: int) -> None:
    few = (0x3F800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x00800000, 0x33800000)
    rows = list(itertools.product(few, repeat=size))[::7]
    pairs = list(itertools.product(rows, rows))[::11]
    ports = {f"v0.{c}": [x[n] for x, _ in pairs] for n, c in enumerate("xyzw"[:size])}
    ports |= {f"v1.{c}": [y[n] for _, y in pairs] for n, c in enumerate("xyzw"[:size])}
    result = execute(lowered(vs_text(f"dp{size} o0.xyzw, v0, v1")), ports, lanes=len(pairs))
    rule = model.floating(model.dot(size))
    lanes = [(*x, *y) for x, y in pairs]
    wanted = [rule(*lane) for lane in lanes]
    for c in "xyzw":
        assert differences(lanes, column(result, f"o0.{c}"), wanted) == []  # type: ignore[arg-type]


def close(found: float, wanted: float, relative: float, absolute: float = 0.0) -> bool:
    return abs(found - wanted) <= max(relative * abs(wanted), absolute)


NUMBERS = [number(each) for each in FLOATS if not model.is_nan(each)]
NORMAL = [x for x in NUMBERS if abs(x) >= 2.0**-126 and math.isfinite(x)]


def results(name: str, values: Sequence[float]) -> list[float]:
    lanes = [(int(word),) for word in np.array(values, np.float32).view(np.uint32)]
    return floats(column(computed(f"{name} o0.x, v0.x", lanes), "o0.x"))


def test_exp_is_a_power_of_two() -> None:
    values = [x for x in [*NORMAL, -125.5, -1.25, 0.3125, 100.75] if -126 <= x < 128]
    for x, found in zip(values, results("exp", values), strict=True):
        assert close(found, 2.0**x, 2.0**-21)
    assert results("exp", [-math.inf, math.inf, 128.0, -127.0, 0.0, 1e-40]) == [
        0,
        math.inf,
        math.inf,
        0,
        1,
        1,
    ]


def test_log_is_a_logarithm_to_base_two() -> None:
    values = [x for x in [*NORMAL, 0.7, 1.3, 1e10] if x > 0]
    for x, found in zip(values, results("log", values), strict=True):
        assert close(found, math.log2(x), 2.0**-21, 2.0**-21)
    assert results("log", [0.0, -0.0, 1e-40, -1e-40]) == [-math.inf] * 4
    assert results("log", [math.inf]) == [math.inf]
    assert all(math.isnan(x) for x in results("log", [-1.0, -math.inf, math.nan]))


def test_sincos_are_sine_and_cosine() -> None:
    values = [math.pi * n / 7 for n in range(-700, 701, 13)]
    lanes = [(int(word),) for word in np.array(values, np.float32).view(np.uint32)]
    result = computed("sincos o0.x, o1.x, v0.x", lanes)
    for (word,), sine, cosine in zip(
        lanes, floats(column(result, "o0.x")), floats(column(result, "o1.x")), strict=True
    ):
        assert close(sine, math.sin(number(word)), 0, 0.0008)
        assert close(cosine, math.cos(number(word)), 0, 0.0008)


def test_sine_of_what_is_not_finite_is_nan_and_of_zero_has_its_sign() -> None:
    lanes = [(0x7F800000,), (0xFF800000,), (0x7FC00000,), (0,), (0x80000000,), (0x80000001,)]
    result = computed("sincos o0.x, o1.x, v0.x", lanes)
    assert column(result, "o0.x") == [model.NAN] * 3 + [0, 0x80000000, 0x80000000]
    assert column(result, "o1.x") == [model.NAN] * 3 + [model.ONE] * 3


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("sincos o0.x, null, v1.x", 0),
        ("sincos null, o0.x, v1.x", model.ONE),
        ("udiv o0.x, null, v0.x, v0.y", 3),
        ("udiv null, o0.x, v0.x, v0.y", 2),
        ("imul null, o0.x, v0.x, v0.y", 85),
        ("umul o0.x, null, v0.z, v0.x", 16),
    ],
)
def test_one_of_two_results_may_be_null(line: str, wanted: int) -> None:
    assert vs(line, inputs={"v0.x": 17, "v0.y": 5, "v0.z": 0xFFFFFFFF})[0] == wanted


def test_mov_keeps_every_bit_and_saturates_as_a_float() -> None:
    payload = 0x7F812345
    assert vs("mov o0, v0", inputs={"v0.x": payload, "v0.y": 1})[:2] == [payload, 1]
    assert vs("mov_sat o0, v0", inputs={"v0.x": payload, "v0.y": 0x40000000})[:2] == [0, model.ONE]


def test_signs_of_what_is_moved_change_no_other_bit() -> None:
    ports = {"v0.x": 0x7F812345, "v0.y": 0x80000001}
    assert vs("mov o0, -v0", inputs=ports)[:2] == [0xFF812345, 1]
    assert vs("mov o0, |v0|", inputs=ports)[:2] == [0x7F812345, 1]
    assert vs("mov o0, -|v0|", inputs=ports)[:2] == [0xFF812345, 0x80000001]


def test_negated_integers_are_complements_and_floats_have_their_sign() -> None:
    assert vs("iadd o0.x, v0.x, -v0.y", inputs={"v0.x": 5, "v0.y": 7})[0] == 0xFFFFFFFE
    assert vs("imax o0.x, v0.x, -v0.x", inputs={"v0.x": 0x80000000})[0] == 0x80000000
    assert floats(vs("add o0.x, -|v0.x|, l(1.0)", inputs={"v0.x": 0xC0000000}))[0] == -1.0


def test_both_results_are_computed_before_either_is_written() -> None:
    body = "mov r0.xy, v0.xyxx\nudiv r0.x, r0.y, r0.x, r0.y\nmov o0.xy, r0.xyxx"
    assert vs(body, inputs={"v0.x": 17, "v0.y": 5})[:2] == [3, 2]
    body = "mov r0, v0\nswapc r0.xy, r0.zw, l(1, 0, 0, 0), r0.xyxx, r0.zwzw\nmov o0, r0"
    found = vs(body, inputs={f"v0.{c}": n for n, c in enumerate("xyzw")})
    # x is swapped; of the second destination z and w are written, by their conditions.
    assert found == [2, 1, 2, 3]


def test_components_are_read_before_they_are_written() -> None:
    body = "mov r0, v0\nmov r0.xyz, r0.yzxw\nadd r0.xy, r0.yxxx, r0.xyxx\nmov o0, r0"
    ports = {
        f"v0.{c}": w for c, w in zip("xyz", (0x3F800000, 0x40000000, 0x40800000), strict=True)
    }
    assert floats(vs(body, inputs=ports))[:3] == [6.0, 6.0, 1.0]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("deriv_rtx", [1, 1, 4, 4]),
        ("deriv_rty", [3, 6, 3, 6]),
        ("deriv_rtx_fine", [1, 1, 4, 4]),
        ("deriv_rty_fine", [3, 6, 3, 6]),
        ("deriv_rtx_coarse", [1, 1, 1, 1]),
        ("deriv_rty_coarse", [3, 3, 3, 3]),
        ("deriv_rty_sat", [1, 1, 1, 1]),
    ],
)
def test_derivative_is_of_the_quad(line: str, wanted: list[float]) -> None:
    shader = lowered(ps_text(f"{line} o0.x, v1.x"))
    result = execute(shader, {"v1.x": [1, 2, 4, 8]}, lanes=4)
    assert floats(column(result, "target0.x")) == wanted


def test_every_opcode_that_computes_is_under_test() -> None:
    spelled = {op.name.lower() for op in arithmetic.EVALUATE}
    tested = {*model.FLOAT, *model.OTHERS, "exp", "log", "sincos", "dp2", "dp3", "dp4"}
    assert {each for each in spelled if not each.startswith("deriv")} == tested


def test_denormal_inputs_of_pixels_are_flushed_too() -> None:
    assert ps("lt o0.x, l(0.0), v1.x", inputs={"v1.x": 1e-40})[0] == 0
    assert ps("mov o0.x, v1.x", inputs={"v1.x": 1e-40})[0] == 0x000116C2
