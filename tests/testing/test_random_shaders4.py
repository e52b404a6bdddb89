"""Programs by chance: valid, repeatable, complete, and the same tokens after a trip to text."""

from __future__ import annotations

import struct
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.errors import ShaderError
from dp2emu.shader.assembly import WORDS
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4 import Instruction, assemble, decode, disassemble
from dp2emu.shader.sm4.assemble import instruction_of
from dp2emu.shader.sm4.disassemble import text_of
from dp2emu.shader.sm4.encode import instruction_words
from dp2emu.shader.sm4.enums import Precision, Sizes
from dp2emu.shader.sm4.lower.doubles import DOUBLES, TO_DOUBLES, check_doubles
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Selection
from dp2emu.shader.sm4.registers import BANKS, File
from dp2emu.shader.sm4.versions import V5_0, VERSIONS, Version
from dp2emu.testing.random_shaders4 import generate
from tests.shader.damaging import flipped, shuffled, survives

SEEDS = st.integers(0, 2**32)
ANY_VERSION = st.sampled_from(VERSIONS)


@settings(max_examples=75)
@given(SEEDS, ANY_VERSION)
def test_text_of_a_program_is_the_same_program(seed: int, version: Version) -> None:
    code = generate(Random(seed), version, length=8)
    text = disassemble(code)
    assert assemble(text) == code
    assert WORDS not in text


@given(SEEDS, ANY_VERSION)
def test_instructions_survive_text_and_tokens(seed: int, version: Version) -> None:
    for instruction in decode(generate(Random(seed), version)).instructions:
        assert instruction_words(instruction) == instruction.words
        assert instruction_of(text_of(instruction)) == instruction


@given(SEEDS)
def test_same_seed_makes_the_same_program(seed: int) -> None:
    assert generate(Random(seed)) == generate(Random(seed))


def generated(version: Version) -> list[Instruction]:
    """The instructions of sixty programs."""
    programs = (decode(generate(Random(seed), version)) for seed in range(60))
    return [each for program in programs for each in program.instructions]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_everything_a_version_has_comes_out(version: Version) -> None:
    found = generated(version)
    assert {each.op for each in found} == {op for op in Op if op.row.exists(version)}
    operands = [operand for each in found for operand in each.operands]
    known = {bank.file for bank in BANKS if bank.exists(version)}
    unused = {File.FUNCTION_BODY, File.FUNCTION_TABLE}
    assert {operand.file for operand in operands} == known - unused
    assert {operand.selection for operand in operands} == set(Selection)
    assert {each.saturate for each in found} == {each.nonzero for each in found} == {False, True}
    assert {each.sizes for each in found} == set(Sizes)
    newest = version.level >= V5_0
    assert {operand.precision for operand in operands} == (
        set(Precision) if newest else {Precision.DEFAULT}
    )
    dimensions = {each.view.dimension for each in found if each.view}
    assert dimensions == (set(Dimension) if newest else set())
    relative = {o.file for o in operands if any(index.relative for index in o.indices)}
    indexed = {bank.file for bank in BANKS if bank.relative} & known
    assert relative | {File.INTERFACE} == indexed | {File.INTERFACE}


def test_what_is_avoided_does_not_come_out() -> None:
    avoid = frozenset({Op.ADD, Op.SAMPLE, Op.LD_RAW})
    for seed in range(40):
        found = decode(generate(Random(seed), avoid=avoid)).instructions
        assert not avoid & {each.op for each in found}


def test_doubles_come_out_with_their_flags_and_masks() -> None:
    masks: dict[bool, set[tuple[int, ...]]] = {False: set(), True: set()}
    for seed in range(60):
        program = decode(generate(Random(seed), VERSIONS[-1], avoid=frozenset(Op) - DOUBLES))
        check_doubles(program)
        for each in program.instructions:
            if each.op in DOUBLES:
                masks[each.op in TO_DOUBLES].add(each.destinations[0].written)
    assert masks[True] == {(0, 1), (2, 3), (0, 1, 2, 3)}
    assert masks[False] == {*combinations(range(4), 1), *combinations(range(4), 2)}


def _survives(code: bytes) -> None:
    survives(code, disassemble, assemble)


@settings(max_examples=50)
@given(SEEDS, ANY_VERSION, st.data())
def test_damaged_code_is_refused_or_read(seed: int, version: Version, data: st.DataObject) -> None:
    _survives(flipped(generate(Random(seed), version, length=6), data))


@given(SEEDS, ANY_VERSION, st.data())
def test_cut_code_is_refused(seed: int, version: Version, data: st.DataObject) -> None:
    code = generate(Random(seed), version, length=6)
    size = data.draw(st.integers(0, len(code) - 1))
    with pytest.raises(ShaderError) as raised:
        decode(code[:size])
    assert raised.value.offset is not None and raised.value.offset <= max(size, 4)


@settings(max_examples=40)
@given(SEEDS, ANY_VERSION, st.randoms(use_true_random=False))
def test_shuffled_instructions_are_refused_or_read(
    seed: int, version: Version, rng: Random
) -> None:
    parts = [each.words for each in decode(generate(Random(seed), version)).instructions]
    words = shuffled(parts, rng)
    _survives(struct.pack(f"<{len(words) + 2}I", version.token, len(words) + 2, *words))


@given(st.lists(st.integers(0, 2**32 - 1), max_size=12), ANY_VERSION)
def test_any_words_are_refused_or_read(words: list[int], version: Version) -> None:
    _survives(struct.pack(f"<{len(words) + 2}I", version.token, len(words) + 2, *words))


@given(st.text(max_size=80), ANY_VERSION)
def test_any_text_is_refused_or_assembled(text: str, version: Version) -> None:
    try:
        code = assemble(f"{version.name}\n{text}")
    except ShaderError as error:
        assert str(error).startswith("line ")
    else:
        assert decode(code).version == version


@settings(max_examples=40)
@given(SEEDS, ANY_VERSION, st.randoms(use_true_random=False))
def test_damaged_text_is_refused_or_assembled(seed: int, version: Version, rng: Random) -> None:
    text = list(disassemble(generate(Random(seed), version, length=6)))
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(text))
        text[place] = rng.choice(("", rng.choice(text), rng.choice("()[]{}|,.-+0 x_")))
    try:
        code = assemble("".join(text))
    except ShaderError as error:
        assert str(error).startswith("line ")
    else:
        decode(code)
