"""The work of a lane: loops run as often as what their breaks depend on says, and never less."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dp2emu.shader.budget import EXECUTED
from dp2emu.shader.builder import Builder
from dp2emu.shader.executed import STEPS, WIDEST_INSTRUCTION, Work, _exhausted, work_of
from dp2emu.shader.ir import Access, Fetch, Program, Stage
from dp2emu.shader.types import Lanes, Type
from dp2emu.shader.values import Value

BODY = 40
"""Statements in a body whose number of executions a test counts."""


def measured(program: Program) -> Work:
    return work_of(program, lambda statement: 1)


def looping(ends: Callable[[Builder, Value], Value], limit: int = 1 << 18) -> Program:
    """A program that counts iterations and leaves its loop when ``ends`` says so."""
    b = Builder(Stage.PIXEL)
    number = b.variable(Type.I32, 0)
    total = b.variable(Type.F32, 0.0)
    x = b.input("v0.x")
    with b.loop(limit):
        b.break_(ends(b, number.value))
        for _ in range(BODY):
            total.value = total.value + x
        number.value = number.value + 1
    b.output("color0.r", total.value)
    return b.program()


def is_of(found: int, times: int) -> bool:
    """Whether a bound on the work of ``looping`` is that of so many iterations, perhaps with the
    one that ends the loop.
    """
    return times * BODY <= found <= (times + 1) * (BODY + 10)


def uniform(*values: int) -> dict[str, Lanes]:
    return {"i": np.array(values, np.int32)}


def test_a_loop_up_to_a_constant_is_counted() -> None:
    program = looping(lambda b, number: number >= 7)
    assert is_of(measured(program).evaluated(program, {}), 7)
    assert measured(program).reads == ()


@pytest.mark.parametrize("times", [0, 1, 9, 30])
def test_a_loop_up_to_a_uniform_is_counted_by_its_value(times: int) -> None:
    program = looping(lambda b, number: number >= b.load(b.uniform("i", Type.I32, 4), 2))
    work = measured(program)
    assert work.reads == (("i", 2),)
    assert is_of(work.evaluated(program, uniform(0, 0, times, 0)), times)


def test_uniforms_beyond_the_end_are_0() -> None:
    program = looping(lambda b, number: number >= b.load(b.uniform("i", Type.I32, 4), 2))
    assert is_of(measured(program).evaluated(program, uniform(5)), 0)


def test_a_missing_file_may_be_anything() -> None:
    program = looping(lambda b, number: number >= b.load(b.uniform("i", Type.I32, 4), 2))
    assert measured(program).evaluated(program, {}) == measured(program).most


def test_some_hundred_iterations_are_counted() -> None:
    program = looping(lambda b, number: number >= 255)
    assert is_of(measured(program).evaluated(program, {}), 255)


def test_a_loop_that_ends_by_an_input_is_assumed_to_run_on() -> None:
    program = looping(lambda b, number: b.input("v0.y") < 0.5)
    work = measured(program)
    assert work.evaluated(program, {}) == work.most > EXECUTED * WIDEST_INSTRUCTION


def test_a_break_by_an_input_does_not_hide_one_by_a_constant() -> None:
    program = looping(lambda b, number: (b.input("v0.y") < 0.5) | (number >= 5))
    assert measured(program).evaluated(program, {}) == measured(program).most  # or of an unknown

    b = Builder(Stage.PIXEL)
    number = b.variable(Type.I32, 0)
    with b.loop(1 << 18):
        b.break_(b.input("v0.y") < 0.5)
        b.break_(number.value >= 5)
        number.value = number.value + 1
    b.output("color0.r", b.input("v0.y"))
    twice = b.program()
    assert measured(twice).evaluated(twice, {}) < 100


def stepping(step: int) -> Program:
    """A program whose loop takes 6 steps of 1, or of ``step`` if an input is less than a half."""
    b = Builder(Stage.PIXEL)
    number, size = b.variable(Type.I32, 0), b.variable(Type.I32, 1)
    with b.loop(1 << 18):
        b.break_(number.value >= 6)
        with b.if_(b.input("v0.y") < 0.5):
            size.value = b.constant(Type.I32, step)
        number.value = number.value + size.value
    b.output("color0.r", b.input("v0.y"))
    return b.program()


def test_branches_by_an_input_count_both() -> None:
    program = stepping(1)
    assert measured(program).evaluated(program, {}) < 200


def test_a_step_by_an_input_is_unknown() -> None:
    program = stepping(0)
    assert measured(program).evaluated(program, {}) == measured(program).most


def test_nested_loops_multiply() -> None:
    b = Builder(Stage.PIXEL)
    outer, inner = b.variable(Type.I32, 0), b.variable(Type.I32, 0)
    total = b.variable(Type.F32, 0.0)
    with b.loop(1 << 18):
        b.break_(outer.value >= 4)
        inner.value = b.constant(Type.I32, 0)
        with b.loop(1 << 18):
            b.break_(inner.value >= 5)
            for _ in range(BODY):
                total.value = total.value + 1.0
            inner.value = inner.value + 1
        outer.value = outer.value + 1
    b.output("color0.r", total.value)
    program = b.program()
    assert 20 <= measured(program).evaluated(program, {}) // BODY <= 25 + 1


def test_loops_that_take_long_to_evaluate_count_in_full() -> None:
    program = looping(lambda b, number: number >= STEPS)
    assert measured(program).evaluated(program, {}) == measured(program).most


def test_short_loops_run_to_their_limit() -> None:
    program = looping(lambda b, number: number >= 2, limit=8)
    work = measured(program)
    assert work.loops is None
    assert work.evaluated(program, {}) == work.most >= 8 * BODY


# Sizes of resources


ROWS = np.array([[6, 5, 0, 2], [3, 2, 0, 2], [0, 0, 0, 2]], np.int32)


def by_size(level: int, kind: str = "access") -> Program:
    """A program with a loop for each row, in it one for each column, of a level of a resource."""
    b = Builder(Stage.PIXEL)
    width, height, *_ = getattr(b, kind)(3, [b.constant(Type.I32, level)])
    row, column = b.variable(Type.I32, 0), b.variable(Type.I32, 0)
    total = b.variable(Type.F32, 0.0)
    with b.loop(1 << 18):
        b.break_(row.value >= height)
        column.value = b.constant(Type.I32, 0)
        with b.loop(1 << 18):
            b.break_(column.value >= width)
            for _ in range(BODY):
                total.value = total.value + 1.0
            column.value = column.value + 1
        row.value = row.value + 1
    b.output("color0.r", total.value)
    return b.program()


@pytest.mark.parametrize(("kind", "statement"), [("access", Access), ("fetch", Fetch)])
@pytest.mark.parametrize(("level", "rounds"), [(0, 30), (1, 6), (2, 0), (-1, 0), (99, 0)])
def test_a_loop_up_to_a_size_is_counted(
    kind: str, statement: type[Access | Fetch], level: int, rounds: int
) -> None:
    program = by_size(level, kind)
    work = work_of(program, lambda each: 1, lambda unit: True)
    assert work.units == ((statement, 3),)
    assert not work.fixed
    found = work.evaluated(program, {}, lambda unit: ROWS)
    # Blocks count whole: each loop has one more round, which ends it.
    assert rounds * BODY <= found <= (rounds + 6) * (BODY + 20)
    assert work.evaluated(program, {}, lambda unit: None) == work.most


def test_answers_that_are_no_sizes_are_unknown() -> None:
    program = by_size(0)
    work = measured(program)
    assert work.units == ()
    assert work.evaluated(program, {}) == work.most


def test_loops_that_do_again_what_they_did_are_evaluated_once() -> None:
    program = by_size(0)
    rows = ROWS * 0 + 100
    found = work_of(program, lambda each: 1, lambda unit: True).evaluated(
        program, {}, lambda unit: rows
    )
    assert 100 * 100 * BODY <= found <= 101 * 101 * (BODY + 10)  # 8 steps for each would be many


def budgeted(reset: bool = False) -> Program:
    """A program of 900 iterations of 9 instructions each, of which a budget allows many."""
    b = Builder(Stage.PIXEL)
    left, number = b.variable(Type.I32, EXECUTED), b.variable(Type.I32, 0)
    total = b.variable(Type.F32, 0.0)
    with b.loop(1 << 18):
        left.value = left.value - 9
        b.break_(left.value < 0)
        b.break_(number.value >= 900)
        for _ in range(BODY):
            total.value = total.value + 1.0
        number.value = number.value + 1
        if reset:
            left.value = b.constant(Type.I32, EXECUTED)
    b.output("color0.r", total.value)
    return b.program()


def test_the_budget_of_instructions_is_not_evaluated() -> None:
    program = budgeted()
    found = measured(program).evaluated(program, {})
    assert 900 * BODY <= found <= 902 * (BODY + 10)
    assert _exhausted(program)


def test_a_counter_that_is_set_again_is_no_budget() -> None:
    assert not _exhausted(budgeted(reset=True))


def test_a_lane_beyond_its_budget_executes_the_rest_once() -> None:
    program = budgeted()
    work = measured(program)
    assert work.loops is not None
    once = sum(work.loops.weights.values())
    assert work.loops.beyond == once
