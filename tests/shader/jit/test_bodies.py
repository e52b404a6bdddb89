"""Any program compiled does what the reference engine does: random ones, and what they sample."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage, TextureKind
from dp2emu.shader.jit.engine import run_for
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.text import dump
from dp2emu.shader.types import F32, I32, Mask, Type
from tests.shader.engines import bits_of
from tests.shader.programs import Environment, environment, random_build, random_program, sampler

randoms = st.randoms(use_true_random=True)
TARGETS = [Target(8), Target(4, fused=False)]


def assert_same(
    program: Program, world: Environment, lanes: int, mask: Mask | None = None
) -> None:
    with np.errstate(all="ignore"):
        wanted = reference.run(program, world.inputs, world.uniforms, lanes, mask, sampler)
    for target in TARGETS:
        found = run_for(target, program, world.inputs, world.uniforms, lanes, mask, sampler)
        assert bits_of(found) == bits_of(wanted), dump(program)


def mask_of(random: Random, lanes: int) -> Mask | None:
    if random.random() < 0.5:
        return None
    return np.array([random.random() < 0.6 for _ in range(lanes)])


@given(randoms, st.sampled_from([4, 8, 12, 28]))
def test_any_program_compiled_gives_the_same_bits(random: Random, lanes: int) -> None:
    program = random_program(random)
    assert_same(program, environment(random, lanes), lanes, mask_of(random, lanes))


@given(randoms, st.sampled_from([4, 8, 12, 28]))
@settings(max_examples=20)
def test_any_built_program_compiled_gives_the_same_bits(random: Random, lanes: int) -> None:
    program = random_build(random)
    assert_same(program, environment(random, lanes), lanes, mask_of(random, lanes))


@given(randoms, st.integers(1, 19))
@settings(max_examples=20)
def test_any_number_of_lanes_may_run(random: Random, lanes: int) -> None:
    program = random_program(random, derivatives=False)
    assert_same(program, environment(random, lanes), lanes, mask_of(random, lanes))


@pytest.mark.parametrize("stride", [1, 2, 4, 1 << 20, 1 << 28])
@pytest.mark.parametrize("offset", [0, 3, -3, 2**28, 2**31 - 1, -(2**31)])
def test_addresses_of_every_kind(offset: int, stride: int) -> None:
    b = Builder(Stage.VERTEX)
    index = b.input("n", Type.I32)
    files = [b.uniform("c", Type.I32, 64), b.uniform("t", Type.BOOL, 9), b.local("r", Type.F32, 7)]
    for n in range(7):
        b.store(files[2], float(n + 1), n)
    b.store(files[2], -1.0, offset, index, stride)
    for file in files:
        b.output(f"{file.name}", b.load(file, offset, index, stride))
        for n in range(7):
            b.output(f"{file.name}{n}", b.load(file, n))
    edges = [-(2**31), -(2**30), -(2**28), -4, -3, -1, 0, 1, 2, 3, 5, 6, 7, 62, 2**28, 2**31 - 1]
    world = Environment(
        {"n": np.array(edges, np.int32)},
        {"c": np.arange(5, 66, dtype=np.int32), "t": np.arange(9) % 3 == 1},
    )
    assert_same(b.program(), world, len(edges))


def test_fixed_addresses_out_of_range_read_zero_and_store_nothing() -> None:
    b = Builder(Stage.VERTEX)
    c, r = b.uniform("c", Type.F32, 3), b.local("r", Type.F32, 2)
    for offset in (-1, 0, 1, 2, 3):
        b.store(r, 5.0, offset)
        b.output(f"c{offset + 1}", b.load(c, offset))
        b.output(f"r{offset + 1}", b.load(r, offset))
    assert_same(b.program(), Environment({}, {"c": np.ones(2, np.float32)}), 3)


def test_scalars_that_a_uniform_lacks_are_not_read_from_what_is_beside_it() -> None:
    b = Builder(Stage.VERTEX)
    c = b.uniform("c", Type.F32, 3)
    b.output("y", b.load(c, 2))
    long = np.full(9, 7, np.float32)
    for held in (long[:0], long[:2], long[:3], long[::3]):
        assert_same(b.program(), Environment({}, {"c": held}), 5)


def test_stores_of_lanes_that_are_off_change_nothing() -> None:
    b = Builder(Stage.VERTEX)
    x, r = b.input("n", Type.I32), b.local("r", Type.BOOL, 3)
    with b.if_(x > 1):
        b.store(r, True, 0)
        b.store(r, True, 0, x)
    for n in range(3):
        b.output(f"r{n}", b.load(r, n))
    assert_same(b.program(), Environment({"n": np.arange(5, dtype=np.int32)}, {}), 5)


def test_fetches_in_flow_control_answer_like_the_reference_engines() -> None:
    """Of operands of every number; a lane's answer depends on its own words and the unit alone."""

    def fetcher(
        unit: int, operands: tuple[I32, ...], active: Mask | None
    ) -> tuple[I32, I32, I32, I32]:
        total = sum(operands, np.zeros(1, np.int32)) + np.int32(unit)
        return total, -total, total * total, np.full(1, len(operands), np.int32)

    b = Builder(Stage.PIXEL)
    n, total = b.input("n", Type.I32), b.variable(Type.I32)
    with b.loop(limit=5):
        b.break_(total.value > 40)
        with b.if_(n > 2):
            total.value = b.fetch(3, (n, total.value, 1))[0]
        with b.else_():
            total.value = total.value + b.fetch(3, (n,))[2]
        total.value = total.value + b.fetch(9, ())[3] + 1
    b.output("total", total.value)
    program, inputs = b.program(), {"n": np.arange(-4, 9, dtype=np.int32)}
    wanted = reference.run(program, inputs, {}, 13, fetcher=fetcher)
    for target in TARGETS:
        found = run_for(target, program, inputs, {}, 13, fetcher=fetcher)
        assert bits_of(found) == bits_of(wanted)


def test_what_a_sampler_raises_comes_out() -> None:
    def sampler(*given: object) -> tuple[F32, F32, F32, F32]:
        raise ValueError("no such texture")

    b = Builder(Stage.PIXEL)
    b.output("y", b.sample(TextureKind.TEX2D, 0, (0.5, 0.5))[0])
    for target in TARGETS:
        with pytest.raises(ValueError, match="no such texture"):
            run_for(target, b.program(), {}, {}, 9, None, sampler)


def test_programs_may_run_in_threads() -> None:
    """The same one for the first time, and each with its own scratch memory."""
    b = Builder(Stage.VERTEX)
    x, r = b.input("x"), b.local("r", Type.F32, 9)
    count = b.variable(Type.F32, 0.0)
    with b.loop(limit=200):
        b.break_(count.value >= x)
        count.value = count.value + 1.0
        b.store(r, count.value, 0, b.ftoi(count.value) & 7)
    b.output("y", b.load(r, 0, b.ftoi(x) & 7))
    program = b.program()
    lanes = [np.full(3000, n, np.float32) for n in range(1, 40)]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda x: run_for(TARGETS[0], program, {"x": x}, {}, 3000), lanes)
        assert all((f.outputs["y"] == x).all() for f, x in zip(found, lanes, strict=True))
