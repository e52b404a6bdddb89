"""Shorter ways give the same bits, with zeros of both signs and what is no number."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Assign, Program, Stage
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.jit.engine import run_for
from dp2emu.shader.jit.peephole import unsigned_zeros
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value
from tests.shader.engines import bits_of

SPECIAL = np.float32([0.0, -0.0, 1.0, -1.0, 0.3, -7.5, 1e-45, -1e-45, 1e-38, 3e38, -3e38,
                      np.inf, -np.inf, np.nan])  # fmt: skip
FACTORS = (1.5, 0.5, -2.0, -0.25, 1.0, 1e-40, 0.0, -0.0, np.inf, np.nan)
Context = Callable[[Builder, Value, Value], Value]
BLIND: dict[str, Context] = {
    "a number is added": lambda b, p, y: p + 0.25,
    "0 is added": lambda b, p, y: p + 0.0,
    "from a number": lambda b, p, y: 0.5 - p,
    "less a number": lambda b, p, y: p - 0.5,
    "positive": lambda b, p, y: b.abs(p),
    "clamped": lambda b, p, y: b.saturate(p),
    "the larger": lambda b, p, y: b.max(p, 0.5),
    "the smaller": lambda b, p, y: b.min(p, -0.5),
    "part": lambda b, p, y: b.fract(p),
    "converted": lambda b, p, y: b.itof(b.ftoi(p)),
    "compared": lambda b, p, y: b.select(p >= 0.0, y, p + 1.0),
    "a factor": lambda b, p, y: b.apply("mulz", p, y),
    "in the end": lambda b, p, y: b.floor(-b.copy(p + y) * 2.0) + 3.0,
}
SEEING: dict[str, Context] = {
    "put out": lambda b, p, y: p,
    "-0 is added": lambda b, p, y: p + -0.0,
    "another is added": lambda b, p, y: p + y,
    "divided by": lambda b, p, y: 1.0 / p,
    "bits": lambda b, p, y: b.itof(b.asint(p)),
    "the larger of a lower one": lambda b, p, y: b.max(p, -0.5),
    "the smaller of a higher one": lambda b, p, y: b.min(0.5, p),
    "one use of two": lambda b, p, y: b.select(p + 1.0 > y, p, y),
}


def _program(context: Context, factor: float | None) -> Program:
    b = Builder(Stage.PIXEL)
    x, y = b.input("x"), b.input("y")
    other = x if factor is None else b.constant(Type.F32, factor)
    b.output("result", context(b, b.apply("mulz", x, other), y))
    return b.program()


def _assert_same(program: Program) -> None:
    x, y = (each.ravel() for each in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        wanted = reference.run(program, {"x": x, "y": y}, {}, len(x))
    for target in (Target(8), Target(16), Target(4, fused=False)):
        found = run_for(target, program, {"x": x, "y": y}, {}, len(x))
        assert bits_of(found) == bits_of(wanted)


@pytest.mark.parametrize("name", [*BLIND, *SEEING])
def test_products_that_are_0_with_a_0_are_the_same(name: str) -> None:
    for factor in (None, *FACTORS):
        _assert_same(_program((BLIND | SEEING)[name], factor))


@pytest.mark.parametrize("name", [*BLIND, *SEEING])
def test_it_is_known_what_shows_the_sign_of_a_zero(name: str) -> None:
    program = _program((BLIND | SEEING)[name], 0.5)
    product = next(s.slot for s in program.statements if isinstance(s, Assign) and s.op == "mulz")
    assert (product in unsigned_zeros(program)) is (name in BLIND)


@pytest.mark.parametrize("name", [*BLIND, *SEEING])
def test_products_of_finite_operands_are_the_same(name: str) -> None:
    for bound in (lambda b, v: b.saturate(v), lambda b, v: b.max(b.min(v, 2.0), -1.5)):
        for both in (False, True):
            b = Builder(Stage.PIXEL)
            x, y = b.input("x"), b.input("y")
            product = b.apply("mulz", bound(b, x), bound(b, y) if both else y)
            b.output("result", (BLIND | SEEING)[name](b, product, y))
            _assert_same(b.program())


def test_a_product_of_a_finite_operand_tests_only_that() -> None:
    def count(*bounded: bool) -> int:
        b = Builder(Stage.PIXEL)
        x, y = (b.max(b.min(b.input(n), 2.0), -1.5) if each else b.input(n)
                for n, each in zip("xy", bounded, strict=True))  # fmt: skip
        b.output("result", b.apply("mulz", x, y) + 0.25)
        program = b.program()
        _, text = body(program, ("x", "y"), target=Target(), masked=False, name="f")
        return "\n".join(text.lines).count("fcmp une")

    assert (count(False, False), count(True, False), count(True, True)) == (2, 1, 0)


def test_a_product_that_nobody_sees_the_sign_of_is_only_multiplied() -> None:
    plain, signed = (
        "\n".join(
            body(_program(each, 0.5), ("x", "y"), target=Target(), masked=False, name="f")[1].lines
        ).count("fadd")
        for each in (BLIND["the larger"], SEEING["the larger of a lower one"])
    )
    assert (plain, signed) == (0, 1)


@pytest.mark.parametrize("bound", [0.5, -0.5, 0.0, -0.0, np.inf, np.nan])
@pytest.mark.parametrize("op", ["min", "max"])
def test_extremes_of_a_number_and_a_constant_are_the_same(op: str, bound: float) -> None:
    def first(b: Builder, p: Value, y: Value) -> Value:
        return b.apply(op, b.constant(Type.F32, bound), y)

    def second(b: Builder, p: Value, y: Value) -> Value:
        return b.apply(op, y, b.constant(Type.F32, bound))

    _assert_same(_program(first, None))
    _assert_same(_program(second, None))


def chain(length: int) -> Program:
    """A program of ``length`` products and sums, each of which reads the one before."""
    b = Builder(Stage.PIXEL)
    x, y = b.input("x"), b.input("y")
    for _ in range(length):
        x = x * y + y
    b.output("o", x)
    return b.program()


def calls_of(function: Callable[[Program], object], program: Program) -> int:
    """The number of Python functions that a call of ``function`` calls."""
    count = 0

    def watch(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(watch)
    try:
        function(program)
    finally:
        sys.setprofile(None)
    return count


def test_the_signs_of_zeros_of_a_chain_are_found_in_proportion_to_its_length() -> None:
    short, long = (calls_of(unsigned_zeros, chain(length)) for length in (50, 400))
    assert long < 9 * short
