"""Shaders by chance: valid, repeatable, complete, and the same bytes after a trip through text."""

from __future__ import annotations

import struct
from collections import Counter
from functools import reduce
from itertools import product
from operator import or_
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.errors import ShaderError
from dp2emu.shader.assembly import WORDS
from dp2emu.shader.sm.assemble import assemble, instruction_of
from dp2emu.shader.sm.decode import decode, index_files
from dp2emu.shader.sm.disassemble import disassemble, text_of
from dp2emu.shader.sm.encode import instruction_words
from dp2emu.shader.sm.modifiers import (
    MODIFIERS,
    SHIFT_SUFFIXES,
    Comparison,
    ResultModifier,
    Sampling,
    SourceModifier,
)
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction
from dp2emu.shader.sm.registers import File
from dp2emu.shader.sm.versions import BY_NAME, V3_0, VERSIONS, Stage, Version
from dp2emu.testing.random_shaders import generate
from tests.shader.damaging import flipped, shuffled, survives

SEEDS = st.integers(0, 2**32)
ANY_VERSION = st.sampled_from(VERSIONS)


@settings(max_examples=max(150, settings().max_examples))
@given(SEEDS, ANY_VERSION, st.booleans())
def test_text_of_a_shader_is_the_same_shader(seed: int, version: Version, odd: bool) -> None:
    code = generate(Random(seed), version, odd=odd, length=8)
    text = disassemble(code)
    assert assemble(text) == code
    assert odd or WORDS not in text


@given(SEEDS, ANY_VERSION)
def test_instructions_survive_text_and_tokens(seed: int, version: Version) -> None:
    for instruction in decode(generate(Random(seed), version)).instructions:
        assert instruction_words(instruction, version) == instruction.words
        assert instruction_of(text_of(instruction, version), version) == instruction


@given(SEEDS)
def test_same_seed_makes_the_same_shader(seed: int) -> None:
    assert generate(Random(seed), odd=True) == generate(Random(seed), odd=True)


def generated(version: Version) -> list[Instruction]:
    """The instructions of a hundred shaders."""
    shaders = (decode(generate(Random(seed), version)) for seed in range(100))
    return [each for shader in shaders for each in shader.instructions]


def allowed_modifiers(version: Version) -> set[SourceModifier]:
    return {modifier for modifier, row in MODIFIERS.items() if row.exists(version)}


def indexed(version: Version) -> set[tuple[File, File]]:
    """Files that can be indexed, with what they are indexed by."""
    ways = product(File, (True, False))
    return {(f, by) for f, written in ways for by in index_files(version, f, written=written)}


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_everything_a_version_has_comes_out(version: Version) -> None:
    found = generated(version)
    assert {each.op for each in found} == {op for op in Op if op.row.form(version)}
    operands = [o for each in found for o in (each.destination, *each.sources) if o is not None]
    relative = {(o.register.file, o.relative.register.file) for o in operands if o.relative}
    assert relative == indexed(version)
    modifiers = {source.modifier for each in found for source in each.sources}
    assert modifiers == allowed_modifiers(version)
    shifts = {each.destination.shift for each in found if each.destination}
    assert shifts == {0, *(SHIFT_SUFFIXES.values() if version.is_ps_1_x else ())}
    pixel, sized = version.stage is Stage.PIXEL, version.has_lengths
    flags = reduce(or_, (each.destination.modifiers for each in found if each.destination))
    assert (ResultModifier.SATURATE in flags) == (pixel or version.level >= V3_0)
    assert (ResultModifier.PARTIALPRECISION in flags) == (pixel and sized)
    assert (ResultModifier.MSAMPCENTROID in flags) == (pixel and sized)
    samplings = {each.sampling for each in found}
    assert samplings == {Sampling.PLAIN, *(Sampling if pixel and sized else ())}
    assert any(each.coissue for each in found) == version.is_ps_1_x


def test_every_comparison_comes_out() -> None:
    seeds = range(250)
    shaders = (decode(generate(Random(seed), BY_NAME["ps_3_0"])) for seed in seeds)
    found = {(each.op, each.comparison) for shader in shaders for each in shader.instructions}
    assert found >= set(product((Op.IFC, Op.BREAKC, Op.SETP), Comparison))


def test_loops_run_a_few_times_by_constants_of_the_shader() -> None:
    loops: Counter[str] = Counter()
    for seed in range(200):
        shader = decode(generate(Random(seed)))
        counts = {
            each.target.register: each.constant[0]
            for each in shader.instructions
            if each.op is Op.DEFI
        }
        for each in shader.instructions:
            if each.op in (Op.LOOP, Op.REP):
                loops[each.op.name] += 1
                assert each.sources[-1].register.file is File.CONSTINT
                assert counts[each.sources[-1].register] <= 3
    assert min(loops["LOOP"], loops["REP"]) > 10


def _survives(code: bytes) -> None:
    survives(code, disassemble, assemble)


@settings(max_examples=150)
@given(SEEDS, ANY_VERSION, st.data())
def test_damaged_code_is_refused_or_read(seed: int, version: Version, data: st.DataObject) -> None:
    _survives(flipped(generate(Random(seed), version, length=6), data))


@given(SEEDS, ANY_VERSION, st.data())
def test_cut_code_is_refused(seed: int, version: Version, data: st.DataObject) -> None:
    code = generate(Random(seed), version, length=6)
    _survives(code[: data.draw(st.integers(0, len(code) - 1))])


@settings(max_examples=100)
@given(SEEDS, ANY_VERSION, st.randoms(use_true_random=False))
def test_shuffled_instructions_are_refused_or_read(
    seed: int, version: Version, rng: Random
) -> None:
    parts = [each.words for each in decode(generate(Random(seed), version)).instructions]
    words = [version.token, *shuffled(parts, rng), 0xFFFF]
    _survives(struct.pack(f"<{len(words)}I", *words))


@given(st.lists(st.integers(0, 2**32 - 1), max_size=12), ANY_VERSION)
def test_any_words_are_refused_or_read(words: list[int], version: Version) -> None:
    _survives(struct.pack(f"<{len(words) + 2}I", version.token, *words, 0xFFFF))


@given(st.text(max_size=80), ANY_VERSION)
def test_any_text_is_refused_or_assembled(text: str, version: Version) -> None:
    try:
        code = assemble(f"{version.name}\n{text}")
    except ShaderError as error:
        assert str(error).startswith("line ")
    else:
        assert decode(code).version == version
