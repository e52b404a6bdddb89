"""Straight programs get a slot for each assignment and do what they did."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage, walk, written
from dp2emu.shader.jit.ssa import single
from dp2emu.shader.reference import run
from dp2emu.shader.types import Type
from dp2emu.shader.verify import verify
from tests.shader.engines import bits_of
from tests.shader.programs import environment, random_program, sampler


def _straight(count: int) -> Program:
    """A register that is written again and again."""
    b = Builder(Stage.PIXEL)
    register = b.variable(Type.F32, 1.0)
    for _ in range(count):
        register.value = register.value * b.input("x") + 1.0
        b.output("result", register.value)
    return b.program()


def _most(program: Program) -> int:
    return max(Counter(slot for s in walk(program.statements) for slot in written(s)).values())


def test_each_assignment_has_a_slot() -> None:
    program = _straight(5)
    assert _most(program) > 1
    assert _most(single(program)) == 1


def test_what_is_assigned_in_blocks_stays_as_it_is() -> None:
    b = Builder(Stage.PIXEL)
    register = b.variable(Type.F32, 1.0)
    with b.if_(b.input("x") > 0.0):
        register.value = b.input("x")
    b.output("result", register.value)
    program = b.program()
    assert single(program) is program


@given(st.randoms(use_true_random=True))
@settings(max_examples=40, deadline=None)
def test_any_program_does_the_same(random: Random) -> None:
    program = random_program(random)
    world = environment(random, 8)
    renamed = single(program)
    verify(renamed)
    found, wanted = (
        run(each, world.inputs, world.uniforms, 8, None, sampler) for each in (renamed, program)
    )
    assert bits_of(found) == bits_of(wanted)
