"""Slots without a mask: which they are, and that nobody can tell."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.shader import reference
from dp2emu.shader.ir import Program
from dp2emu.shader.passes import temporaries
from dp2emu.shader.reference import run
from tests.shader.parsing import parse
from tests.shader.programs import environment, random_build, random_program, sampler

HEADER = "pixel\ninput x f32\noutput y f32\nslots " + "f" * 8 + "bb\n"


def found(body: str) -> set[int]:
    return set(temporaries(parse(HEADER + body)))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("f0 = input x\noutput y f0", {0}),
        ("f0 = input x\nf0 = neg f0\noutput y f0", set()),
        ("output y f0\nf0 = input x", set()),
        ("f0 = add f0 1.0", set()),
        ("if true\nf0 = mov 1.0\nf1 = neg f0\nend\noutput y f1", {0}),
        ("f0 = mov 1.0\nif true\noutput y f0\nelse\noutput y f0\nend", {0}),
        ("if true\nf0 = mov 1.0\nelse\noutput y f0\nend", set()),
        ("loop 2\noutput y f0\nf0 = mov 1.0\nend", set()),
        ("loop 2\nf0 = mov 1.0\noutput y f0\nend", {0}),
        ("f0 = mov 1.0\nf1 = ddx f0\noutput y f1", {1}),
        ("f4 f5 f6 f7 = sample 2d 0 f0 0.0 explicit f1", {4, 5, 6, 7}),
        ("f0 = mov 1.0\nf4 f5 f6 f7 = sample 2d 0 f0 0.0 implicit", {4, 5, 6, 7}),
        ("b8 = lt 0.0 1.0\nif b8\nend\nkill b8", {8}),
    ],
)
def test_temporaries_are_written_once_and_read_after(body: str, expected: set[int]) -> None:
    assert found(body) == expected


def seen(program: Program, seed: int) -> list[bytes]:
    world = environment(Random(seed), 16)
    mask = environment(Random(seed + 1), 16).inputs["f"]
    result = run(program, world.inputs, world.uniforms, 16, mask, sampler)
    return [values.tobytes() for values in (*result.outputs.values(), result.alive)]


@given(st.integers(0, 2**64 - 1), st.sampled_from([random_build, random_program]))
@settings(max_examples=200)
def test_a_program_does_the_same_with_every_slot_masked(seed: int, make: object) -> None:
    assert callable(make)
    program = make(Random(seed))
    quick = seen(program, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "temporaries", lambda program: frozenset())
        assert seen(program, seed) == quick
