"""Every row of the op table compiled, against the row itself: at its edges and anywhere."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.jit.engine import run_for
from dp2emu.shader.jit.operations import EMIT
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.ops import OPS
from dp2emu.shader.types import FLOATS, Lanes, Type
from tests.shader.engines import bits_of
from tests.shader.test_ops import lanes_of, operands_at_edges

TARGETS = [Target(4, True), Target(8, False), Target(16, True)]


def test_every_operation_can_be_emitted() -> None:
    assert list(EMIT) == list(OPS)


def program_of(name: str) -> Program:
    b = Builder(Stage.VERTEX)
    operands = [b.input(f"x{n}", type) for n, type in enumerate(OPS[name].operands)]
    b.output("y", b.apply(name, *operands))
    return b.program()


def words_anywhere(type: Type, count: int) -> Lanes:
    wide = type.bits == 64
    random = np.random.default_rng(6)
    words = random.integers(0, 2**64 if wide else 2**32, count, np.uint64 if wide else np.uint32)
    return words % 2 == 1 if type is Type.BOOL else words.view(type.dtype)


def near_each_other(types: tuple[Type, ...]) -> list[Lanes]:
    """Floats from about 2**-20 to 2**20: sums, products and conversions round there."""
    random = np.random.default_rng(7)
    return [
        np.ldexp(random.uniform(-2, 2, 4000), random.integers(-20, 20, 4000)).astype(type.dtype)
        if type in FLOATS
        else words_anywhere(type, 4000)
        for type in types
    ]


def operands_of(name: str) -> list[Lanes]:
    """Edges, then anything, then what is near each other."""
    types = OPS[name].operands
    columns = zip(*operands_at_edges(types), strict=True)
    edges = [lanes_of(type, column) for type, column in zip(types, columns, strict=True)]
    anywhere = [np.roll(words_anywhere(type, 4000), n) for n, type in enumerate(types)]
    return [np.concatenate(each) for each in
            zip(edges, anywhere, near_each_other(types), strict=True)]  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_an_operation_compiled_is_its_row(name: str) -> None:
    program = program_of(name)
    inputs = {f"x{n}": lanes for n, lanes in enumerate(operands_of(name))}
    count = len(inputs["x0"])
    wanted = bits_of(reference.run(program, inputs, {}, count))
    for target in TARGETS:
        assert bits_of(run_for(target, program, inputs, {}, count)) == wanted


def test_nothing_is_contracted() -> None:
    b = Builder(Stage.VERTEX)
    x, y, z = (b.input(name) for name in "xyz")
    b.output("o", x * y + z)
    b.output("p", z - x * y)
    inputs = {name: np.random.default_rng(n).uniform(-1, 1, 999).astype(np.float32)
              for n, name in enumerate("xyz")}  # fmt: skip
    program = b.program()
    wanted = bits_of(reference.run(program, inputs, {}, 999))
    for target in TARGETS:
        assert bits_of(run_for(target, program, inputs, {}, 999)) == wanted


def test_a_nan_of_any_origin_is_seen_as_one_pattern() -> None:
    """The sign of a NaN that a CPU makes is its own, and so may be what LLVM knows of it."""
    b = Builder(Stage.VERTEX)
    x = b.input("x")
    for name, value in {
        "sqrt": b.sqrt(x), "zero": (x - x) / (x - x), "endless": x * np.inf - x * np.inf,
        "negated": -b.sqrt(x), "absolute": b.abs(b.sqrt(x)),
    }.items():  # fmt: skip
        b.output(name, value)
        b.output(f"{name}_bits", b.asint(value))
        b.output(f"{name}_told", value.ne(value))
    program, inputs = b.program(), {"x": np.linspace(-2, -1, 9, dtype=np.float32)}
    wanted = reference.run(program, inputs, {}, 9)
    assert wanted.outputs["sqrt_told"].all()
    for target in TARGETS:
        assert bits_of(run_for(target, program, inputs, {}, 9)) == bits_of(wanted)
