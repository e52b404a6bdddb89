"""Uniformity: what the interpreting engine executes once for all lanes, and what it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Access, Assign, Stage, reads, walk
from dp2emu.shader.reference import Environment, Machine, execute_statements, machine_of
from dp2emu.shader.types import Mask, Type
from dp2emu.shader.uniformity import uniformity
from dp2emu.shader.values import Value
from tests.shader.jit.test_engine import Toy, _program
from tests.shader.programs import environment, sampler

Fill = Callable[[Builder, Value, Value], Value]


def _differs(fill: Fill) -> bool:
    """Whether the value that ``fill`` returns differs, from a uniform value and an input."""
    b = Builder(Stage.PIXEL)
    uniform = b.load(b.uniform("i", Type.I32, 4), 2)
    value = fill(b, uniform, b.input("lane", Type.I32))
    b.output("out", value, Type.I32)
    program = b.program()
    (output,) = program.statements[-1:]
    return not uniformity(program).slots.isdisjoint(reads(output))


def _if(b: Builder, condition: Value) -> Value:
    found = b.variable(Type.I32, 0)
    with b.if_(condition):
        found.value = b.constant(Type.I32, 1)
    return found.value


def _rounds(b: Builder, ends: Callable[[Value], Value]) -> Value:
    number = b.variable(Type.I32, 0)
    with b.loop(9):
        b.break_(ends(number.value))
        number.value = number.value + 1
    return number.value


def _inner(b: Builder, lane: Value) -> Value:
    """A count of rounds of a loop that an If in it, of a condition by lanes, leaves."""
    number = b.variable(Type.I32, 0)
    with b.loop(9):
        number.value = number.value + 1
        with b.if_(lane > 3):
            b.break_(number.value >= 2)
    return number.value


@pytest.mark.parametrize(
    ("fill", "differs"),
    [
        (lambda b, same, lane: same + 1, False),
        (lambda b, same, lane: same + lane, True),
        (lambda b, same, lane: _if(b, same > 3), False),
        (lambda b, same, lane: _if(b, lane > 3), True),
        (lambda b, same, lane: _rounds(b, lambda number: number >= same), False),
        (lambda b, same, lane: _rounds(b, lambda number: number >= lane), True),
        (lambda b, same, lane: _inner(b, lane), True),
        (lambda b, same, lane: b.fetch(0, (same,))[0], False),
        (lambda b, same, lane: b.fetch(0, (lane,))[0], True),
        (lambda b, same, lane: b.access(0, (same,))[0], True),
    ],
)
def test_what_depends_on_lanes_differs(fill: Fill, *, differs: bool) -> None:
    assert _differs(fill) is differs


def test_accesses_that_answer_all_lanes_alike_are_uniform() -> None:
    b = Builder(Stage.PIXEL)
    b.output("out", b.access(0, (b.constant(Type.I32, 1),))[0], Type.I32)
    b.output("own", b.access(0, (b.input("lane", Type.I32),))[0], Type.I32)
    program = b.program()
    one, own = (each for each in walk(program.statements) if isinstance(each, Access))
    found = uniformity(program, lambda access: True)
    assert found.slots.isdisjoint(one.slots)
    assert found.slots.issuperset(own.slots)
    assert id(own) in found.apart
    assert id(one) not in found.apart


def test_inputs_that_are_uniform_make_uniform_values() -> None:
    b = Builder(Stage.PIXEL)
    b.output("out", b.input("lane", Type.I32) + 1, Type.I32)
    program = b.program()
    assert uniformity(program).slots
    assert not uniformity(program, ports={"lane"}).slots


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_slots_that_do_not_differ_have_one_value_in_the_interpreter(seed: int) -> None:
    from random import Random

    program, random = _program(seed), Random(seed)
    found = uniformity(program)
    bound = environment(random, 12)

    def assigned(machine: Machine, statement: Assign, active: Mask | None) -> None:
        reference._assign(machine, statement, active)
        if statement.slot not in found.slots:
            assert len(machine.slots[statement.slot]) == 1
        if id(statement) not in found.apart:
            assert active is None
            assert machine.uniform(statement.operands)

    machine = machine_of(
        program, bound.inputs, bound.uniforms, 12, None,
        Environment(sampler, None, None, Toy(12)), {Assign: assigned},
    )  # fmt: skip
    execute_statements(machine, program, None, program.statements)
