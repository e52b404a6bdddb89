"""Programs written as arithmetic, and the mistakes the builder does not let pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Assign, Constant, Input, Load, Output, ProgramError, Slot, Stage
from dp2emu.shader.reference import run
from dp2emu.shader.types import F32, Type
from dp2emu.shader.values import Value


def lanes(*values: float) -> F32:
    return np.array(values, np.float32)


def results(b: Builder, value: Value, **inputs: F32) -> list[float]:
    b.output("y", value)
    count = max((len(each) for each in inputs.values()), default=1)
    found: list[float] = run(b.program(), inputs, {}, count).outputs["y"].tolist()
    return found


@pytest.fixture
def b() -> Builder:
    return Builder(Stage.PIXEL)


def test_statements_are_recorded_in_order(b: Builder) -> None:
    b.output("y", b.input("x") + 0.5)
    assert b.program().statements == (
        Input(0, "x"),
        Assign(1, "add", (Slot(0), Constant(Type.F32, 0x3F000000))),
        Output("y", Slot(1)),
    )


def test_inputs_and_fixed_uniforms_are_read_once_and_first(b: Builder) -> None:
    c = b.uniform("c", Type.F32, 8)
    with b.if_(b.input("x") < 1.0):
        inside = b.input("z") * b.load(c, 3)
        b.output("y", inside)
    b.output("w", b.input("z") * b.load(c, 3))
    program = b.program()
    assert [type(each) for each in program.statements[:3]] == [Input, Input, Load]
    assert len({s.slot for s in program.statements if isinstance(s, Input | Load)}) == 3


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (lambda x, y: x + y * 2.0, 11.0),
        (lambda x, y: 2.0 * x - 1.0 / y, 5.75),
        (lambda x, y: -(x - y) / 2.0, 0.5),
        (lambda x, y: 1.0 - x, -2.0),
        (lambda x, y: 1 + x, 4.0),
    ],
)
def test_operators_are_the_arithmetic_of_floats(
    b: Builder, expression: Callable[[Value, Value], Value], expected: float
) -> None:
    value = expression(b.input("x"), b.input("y"))
    assert results(b, value, x=lanes(3), y=lanes(4)) == [expected]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (lambda i: i + 3, 8), (lambda i: i - 7, -2), (lambda i: i * 2, 10), (lambda i: -i, -5),
        (lambda i: i & 4, 4), (lambda i: i | 2, 7), (lambda i: i ^ 1, 4), (lambda i: ~i, -6),
        (lambda i: i << 2, 20), (lambda i: -i >> 1, -3),
    ],
)  # fmt: skip
def test_operators_are_the_arithmetic_of_integers(
    b: Builder, expression: Callable[[Value], Value], expected: int
) -> None:
    value = expression(b.ftoi(b.input("x")))
    assert results(b, value, x=lanes(5)) == [expected]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (lambda x: x < 2.0, [1, 0, 0, 0]),
        (lambda x: x <= 2.0, [1, 1, 0, 0]),
        (lambda x: x > 2.0, [0, 0, 1, 0]),
        (lambda x: x >= 2.0, [0, 1, 1, 0]),
        (lambda x: x.eq(2.0), [0, 1, 0, 0]),
        (lambda x: x.ne(2.0), [1, 0, 1, 1]),
        (lambda x: (x < 2.0) | (x > 2.0), [1, 0, 1, 0]),
        (lambda x: (x >= 2.0) & ~(x > 2.0), [0, 1, 0, 0]),
        (lambda x: (x >= 2.0) ^ (x >= 3.0), [0, 1, 0, 0]),
        (lambda x: (x >= 2.0).ne(x >= 3.0), [0, 1, 0, 0]),
    ],
)
def test_comparisons_make_conditions(
    b: Builder, condition: Callable[[Value], Value], expected: list[float]
) -> None:
    value = b.select(condition(b.input("x")), 1.0, 0.0)
    assert results(b, value, x=lanes(1, 2, 3, np.nan)) == expected


def test_a_variable_is_what_was_assigned_last(b: Builder) -> None:
    v = b.variable(Type.F32, 1.0)
    before = b.copy(v.value)
    v.value = v.value + b.input("x")
    v.value = v.value * 2.0
    assert results(b, v.value * 100.0 + before, x=lanes(3, 4)) == [801, 1001]


def test_branches_and_loops_assign_variables_by_lane(b: Builder) -> None:
    x, v = b.input("x"), b.variable(Type.F32)
    with b.if_(x < 2.0):
        v.value = x
    with b.else_(), b.loop():
        b.break_(v.value >= x)
        v.value = v.value + 3.0
    assert results(b, v.value, x=lanes(1, 2, 3, 4, 7)) == [1, 3, 3, 6, 9]


def test_a_stale_value_of_a_variable_is_refused(b: Builder) -> None:
    v = b.variable(Type.F32, 1.0)
    old = v.value
    v.value = old + 1.0
    with pytest.raises(ProgramError, match="after the variable was assigned"):
        b.output("y", old)


def test_a_loop_may_not_assign_what_it_borrowed(b: Builder) -> None:
    v = b.variable(Type.F32, 1.0)
    old = v.value
    with pytest.raises(ProgramError, match="whose value of before"), b.loop():
        v.value = old + 1.0


def test_a_branch_may_assign_what_it_borrowed(b: Builder) -> None:
    v = b.variable(Type.F32, 1.0)
    old = v.value
    with b.if_(b.input("x") < 1.0):
        v.value = old + 1.0
    assert results(b, v.value, x=lanes(0, 1)) == [2, 1]


def test_a_program_is_verified() -> None:
    vertex = Builder(Stage.VERTEX)
    vertex.kill(True)
    with pytest.raises(ProgramError, match="kill outside a pixel program"):
        vertex.program()


def test_a_value_is_not_known_outside_its_block(b: Builder) -> None:
    with b.if_(b.input("x") < 1.0):
        inside = b.input("x") * 2.0
    with pytest.raises(ProgramError, match="outside the block"):
        b.output("y", inside)


def test_else_needs_an_if_before_it(b: Builder) -> None:
    b.output("y", 1.0)
    with pytest.raises(ProgramError, match="else without an if"), b.else_():
        pass


def test_an_if_has_one_else(b: Builder) -> None:
    with b.if_(b.input("x") < 1.0):
        b.output("y", 1.0)
    with b.else_():
        b.output("y", 2.0)
    with pytest.raises(ProgramError, match="else without an if"), b.else_():
        pass


def test_a_program_is_not_taken_from_an_open_block(b: Builder) -> None:
    with b.loop(), pytest.raises(ProgramError, match="still open"):
        b.program()


def test_values_of_another_builder_are_refused(b: Builder) -> None:
    with pytest.raises(ProgramError, match="another builder"):
        b.output("y", Builder(Stage.PIXEL).input("x"))


def test_the_wrong_number_of_operands_is_refused(b: Builder) -> None:
    with pytest.raises(TypeError, match="add takes 2 operands, not 1"):
        b.apply("add", b.input("x"))


@pytest.mark.parametrize(
    "mistake",
    [
        lambda b, x: x & x,
        lambda b, x: x + b.ftoi(x),
        lambda b, x: x + True,
        lambda b, x: b.ftoi(x) + 0.5,
        lambda b, x: b.kill(x),
        lambda b, x: b.select(x, x, x),
        lambda b, x: b.if_(x).__enter__(),
        lambda b, x: 1.0 < x < 2.0,
    ],
)
def test_operands_of_the_wrong_type_are_refused(
    b: Builder, mistake: Callable[[Builder, Value], object]
) -> None:
    with pytest.raises(TypeError):
        mistake(b, b.input("x"))


def test_a_name_has_one_declaration(b: Builder) -> None:
    b.uniform("c", Type.F32, 4)
    with pytest.raises(ProgramError, match="already declared"):
        b.local("c", Type.F32, 4)
