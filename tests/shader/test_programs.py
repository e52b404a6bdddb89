"""What holds for every program: verified, printed, run; lanes and masks by themselves."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.shader.ir import Program
from dp2emu.shader.reference import Result, run
from dp2emu.shader.text import dump
from dp2emu.shader.types import Mask, Type
from dp2emu.shader.verify import verify
from tests.shader.parsing import parse
from tests.shader.programs import Environment, environment, random_program, sampler

randoms = st.randoms(use_true_random=True)


def result_of(
    program: Program, world: Environment, lanes: int, mask: Mask | None = None
) -> Result:
    return run(program, world.inputs, world.uniforms, lanes, mask, sampler)


def bits_of(result: Result, lane: int | slice) -> list[bytes]:
    found = [values[lane].tobytes() for _, values in sorted(result.outputs.items())]
    return [*found, result.alive[lane].tobytes()]


@given(randoms)
@settings(max_examples=300)
def test_programs_come_back_from_their_text(random: Random) -> None:
    program = random_program(random)
    verify(program)
    again = parse(dump(program))
    assert again == program
    assert hash(again) == hash(program)
    assert dump(again) == dump(program)


@given(randoms)
@settings(max_examples=300)
def test_programs_run_and_give_outputs_of_their_types(random: Random) -> None:
    program = random_program(random)
    result = result_of(program, environment(random, 8), 8)
    for port in program.outputs:
        values = result.outputs[port.name]
        assert values.shape == (8,)
        assert values.dtype == port.type.dtype
        if port.type is Type.F32:
            words = values.view(np.uint32)[np.isnan(values)]
            assert (words == 0x7FC00000).all()


@given(randoms)
@settings(max_examples=150)
def test_a_lane_alone_is_the_same_as_in_company(random: Random) -> None:
    program = random_program(random, derivatives=False)
    world = environment(random, 6)
    together = result_of(program, world, 6)
    for lane in range(6):
        own = {name: values[lane : lane + 1] for name, values in world.inputs.items()}
        alone = result_of(program, Environment(own, world.uniforms), 1)
        assert bits_of(alone, 0) == bits_of(together, lane)


@given(randoms, st.lists(st.booleans(), min_size=8, max_size=8))
@settings(max_examples=150)
def test_a_mask_takes_lanes_out_and_changes_no_other(random: Random, bits: list[bool]) -> None:
    program = random_program(random, derivatives=False)
    world = environment(random, 8)
    everyone = result_of(program, world, 8)
    mask = np.array(bits)
    some = result_of(program, world, 8, mask)
    for lane in range(8):
        if mask[lane]:
            assert bits_of(some, lane) == bits_of(everyone, lane)
        else:
            assert not any(values[lane] for values in some.outputs.values())
            assert not some.alive[lane]


@given(randoms, st.integers(0, 1))
@settings(max_examples=100)
def test_quads_are_independent(random: Random, quad: int) -> None:
    program = random_program(random)
    world = environment(random, 8)
    together = result_of(program, world, 8)
    place = slice(4 * quad, 4 * quad + 4)
    own = {name: values[place] for name, values in world.inputs.items()}
    alone = result_of(program, Environment(own, world.uniforms), 4)
    assert bits_of(alone, slice(0, 4)) == bits_of(together, place)


@given(randoms)
@settings(max_examples=60)
def test_nothing_that_is_read_is_written(random: Random) -> None:
    program = random_program(random)
    world = environment(random, 4)
    for values in (*world.inputs.values(), *world.uniforms.values()):
        values.flags.writeable = False
    first = result_of(program, world, 4)
    assert bits_of(first, slice(0, 4)) == bits_of(result_of(program, world, 4), slice(0, 4))
