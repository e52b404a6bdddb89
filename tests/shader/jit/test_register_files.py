"""Two scalars that lie side by side are loaded as one word, and all others as ever."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format, TextureAddress, TextureFilter
from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Lod, Program, Stage, TextureKind
from dp2emu.shader.jit.engine import run_for
from dp2emu.shader.jit.register_files import load_pairs
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import sampler_program
from dp2emu.shader.types import Type

WORDS = 50
TARGETS = [Target(4), Target(8), Target(16), Target(8, fused=False)]


def _program(type: Type, step: int = 4, second: int = 4, scale: int = 2) -> Program:
    """Scalars at (base + number * step) >> scale of two numbers."""
    b = Builder(Stage.PIXEL)
    file = b.uniform("words", type, WORDS)
    base, one, other = (b.input(name, Type.I32) for name in ("base", "one", "other"))
    steps = one * step, other * second
    for name, each in zip("xy", steps, strict=True):
        b.output(f"found.{name}", b.load(file, 1, (base + each) >> scale), type)
    return b.program()


numbers = st.one_of(st.integers(-3, WORDS + 3), st.sampled_from([2**29, -(2**29), 2**31 - 1]))


@given(st.data(), st.sampled_from([Type.F32, Type.I32]), st.booleans(), st.integers(0, WORDS))
@settings(max_examples=60)
def test_any_two_places_are_read_as_one_by_one(
    data: st.DataObject, type: Type, beside: bool, size: int
) -> None:
    lanes = 19
    one = np.array(data.draw(st.lists(numbers, min_size=lanes, max_size=lanes)), np.int32)
    if beside:
        one %= np.int32(size + 1)
    many = data.draw(st.lists(numbers, min_size=lanes, max_size=lanes))
    other = one + np.int32(1) if beside else np.array(many, np.int32)
    if beside and data.draw(st.booleans()):
        other[data.draw(st.integers(0, lanes - 1))] = data.draw(st.integers(-1, WORDS))
    inputs = {"base": np.full(lanes, -4, np.int32), "one": one, "other": other}
    words = np.arange(1, size + 1).astype(type.dtype)
    program = _program(type)
    assert len(load_pairs(program)) == 1
    wanted = reference.run(program, inputs, {"words": words}, lanes)
    for target in TARGETS:
        found = run_for(target, program, inputs, {"words": words}, lanes)
        for name, lane in wanted.outputs.items():
            assert (found.outputs[name] == lane).all(), target


@pytest.mark.parametrize(
    "program", [_program(Type.I32, 2), _program(Type.I32, second=8), _program(Type.I32, scale=1)]
)
def test_places_that_are_no_words_apart_are_no_pair(program: Program) -> None:
    assert not load_pairs(program)


@pytest.mark.parametrize(
    ("format", "filter", "count"),
    [
        (Format.A8R8G8B8, TextureFilter.LINEAR, 2),
        (Format.A8R8G8B8, TextureFilter.POINT, 0),
        (Format.R5G6B5, TextureFilter.LINEAR, 0),
        (Format.G16R16, TextureFilter.LINEAR, 2),
    ],
)
def test_a_linear_filter_reads_a_pair_of_each_row(
    format: Format, filter: TextureFilter, count: int
) -> None:
    address = (TextureAddress.WRAP,) * 3
    key = SamplerKey(TextureKind.TEX2D, format, address, mag=filter, min=filter)
    assert len(load_pairs(sampler_program(key, Lod.IMPLICIT, Stage.PIXEL))) == count
