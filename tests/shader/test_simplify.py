"""Needless copies go, and nothing else changes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.shader import builder
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Assign, Program, Stage, TextureKind, walk
from dp2emu.shader.reference import run
from dp2emu.shader.simplify import COPIES
from dp2emu.shader.text import dump
from dp2emu.shader.types import Type
from tests.shader.programs import environment, random_build, sampler

seeds = st.integers(0, 2**64 - 1)


def plain(seed: int) -> Program:
    """The same program as recorded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "tidy", lambda statements: statements)
        return random_build(Random(seed))


def copies(program: Program) -> int:
    return sum(isinstance(s, Assign) and s.op in COPIES for s in walk(program.statements))


def seen(program: Program, seed: int) -> list[bytes]:
    world = environment(Random(seed), 16)
    mask = environment(Random(seed + 1), 16).inputs["f"]
    result = run(program, world.inputs, world.uniforms, 16, mask, sampler)
    return [values.tobytes() for values in (*result.outputs.values(), result.alive)]


@given(seeds)
@settings(max_examples=150)
def test_a_tidy_program_does_the_same(seed: int) -> None:
    assert seen(random_build(Random(seed)), seed) == seen(plain(seed), seed)


def test_most_copies_of_a_program_go() -> None:
    before = sum(copies(plain(seed)) for seed in range(20))
    after = sum(copies(random_build(Random(seed))) for seed in range(20))
    assert after < 0.6 * before


def lines(b: Builder) -> list[str]:
    """Statements of a program, without its declarations."""
    text = [line.strip() for line in dump(b.program()).splitlines()]
    slots = next(number for number, line in enumerate(text) if line.startswith("slots"))
    return text[slots + 1 :]


@pytest.fixture
def b() -> Builder:
    return Builder(Stage.PIXEL)


def test_a_computation_goes_straight_into_its_variable(b: Builder) -> None:
    x, v = b.input("x"), b.variable(Type.F32)
    v.value = x * 2.0
    v.value = v.value + x
    b.output("y", v.value)
    assert lines(b) == ["f0 = input x", "f1 = mul f0 2.0", "f1 = add f1 f0", "output y f1"]


def test_several_components_are_computed_before_any_is_assigned(b: Builder) -> None:
    u, v = b.variable(Type.F32), b.variable(Type.F32)
    first, second = u.value + v.value, u.value - v.value
    u.value = first
    v.value = second
    b.output("y", u.value * v.value)
    assert lines(b)[:3] == ["f2 = add f0 f1", "f1 = sub f0 f1", "f0 = mov f2"]


def test_of_two_assignments_the_last_stays_the_last(b: Builder) -> None:
    x, v = b.input("x"), b.variable(Type.F32)
    first, second = x + 1.0, x + 2.0
    v.value = second
    v.value = first
    b.output("y", v.value)
    assert lines(b)[1:4] == ["f2 = add f0 1.0", "f1 = add f0 2.0", "f1 = mov f2"]


def test_copies_of_copies_go_and_so_do_those_in_loops(b: Builder) -> None:
    u, v = b.variable(Type.F32), b.variable(Type.F32)
    with b.loop():
        u.value = b.input("x") * 2.0
        v.value = u.value
        b.output("y", v.value)
    assert lines(b) == ["f2 = input x", "loop 255", "f1 = mul f2 2.0", "output y f1", "end"]


def test_a_texel_goes_straight_into_variables(b: Builder) -> None:
    variables = [b.variable(Type.F32) for _ in range(4)]
    texel = b.sample(TextureKind.TEX2D, 0, (0.0, 0.0))
    for variable, value in zip(variables, texel, strict=True):
        variable.value = value
    assert lines(b) == ["f0 f1 f2 f3 = sample 2d 0 0.0 0.0 implicit"]


def test_one_variable_does_not_take_two_of_a_texel(b: Builder) -> None:
    v = b.variable(Type.F32)
    red, green, _, _ = b.sample(TextureKind.TEX2D, 0, (0.0, 0.0))
    v.value = red
    v.value = green
    b.output("y", v.value)
    assert lines(b) == ["f0 f2 f3 f4 = sample 2d 0 0.0 0.0 implicit", "f0 = mov f2", "output y f0"]


@pytest.mark.parametrize("between", ["if", "break", "use", "assign", "block"])
def test_a_copy_stays_where_something_is_between(b: Builder, between: str) -> None:
    v = b.variable(Type.F32)
    with b.loop():
        value = b.input("x") * 2.0
        if between == "if":
            with b.if_(v.value < 1.0):
                b.output("z", v.value)
        elif between == "break":
            b.break_(b.input("x") < 1.0)
        elif between == "use":
            b.output("z", v.value)
        elif between == "assign":
            v.value = b.input("x")
            b.output("z", v.value)
        if between == "block":
            with b.if_(b.input("x") < 1.0):
                v.value = value
        else:
            v.value = value
    assert sum(" = mov f2" in line for line in lines(b)) == 1


def test_a_value_that_is_used_again_keeps_its_slot(b: Builder) -> None:
    v, x = b.variable(Type.F32), b.input("x")
    value = x * 2.0
    v.value = value
    v.value = v.value + value
    b.output("y", v.value)
    assert lines(b)[2] == "f0 = mov f2"
