"""What is lowered for draws, compiled: shaders, samplers of every format, fixed functions."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format, TextureFilter
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from dp2emu.shader.fixed.output import TargetOutput, output_program
from dp2emu.shader.ir import Lod, Program, Stage, TextureKind
from dp2emu.shader.jit.engine import run
from dp2emu.shader.reference import run as run_reference
from dp2emu.shader.sampling import BoundProgram, ports
from dp2emu.shader.sm4.lower import lower as lower4
from dp2emu.shader.sm4.lower.doubles import DOUBLES
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.versions import V5_0, Version
from dp2emu.shader.sm4.versions import Stage as Stage4
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import sampler_program
from dp2emu.shader.types import F32, Lanes, Mask, Type
from dp2emu.testing.random_shaders import generate
from tests.shader.engines import bits_of
from tests.shader.jit.test_engine import Toy
from tests.shader.programs import lanes_of, sampler
from tests.shader.sm.lower.test_random import lower
from tests.shader.sm4.lower.running import Surroundings
from tests.shader.sm4.lower.test_random import BUILT, built
from tests.shader.texture.test_sampler import FORMATS_BY_KIND, keys
from tests.shader.texture.textures import Memory, memory

LANES = 20
seeds = st.integers(0, 2**32 - 1)


def anything(random: Random, program: Program) -> tuple[dict[str, Lanes], dict[str, Lanes]]:
    """Inputs near 0 and odd ones, and uniforms that may be short."""
    near = np.random.default_rng(random.getrandbits(32))
    inputs: dict[str, Lanes] = {}
    for port in program.inputs:
        lanes = lanes_of(random, port.type, LANES)
        plain = near.uniform(-2, 2, LANES).astype(port.type.dtype)
        inputs[port.name] = np.where(near.random(LANES) < 0.7, plain, lanes)
    sizes = {file.name: min(file.size, 600) for file in program.files if file.uniform}
    uniforms = {
        file.name: lanes_of(random, file.type, random.choice([sizes[file.name], 3]))
        for file in program.files
        if file.uniform
    }
    return inputs, uniforms


def assert_same(program: Program, seed: int, files: dict[str, Lanes] | None = None) -> None:
    inputs, uniforms = anything(Random(seed), program)
    given = (program, inputs, uniforms if files is None else files, LANES, None, sampler)
    with np.errstate(all="ignore"):
        assert bits_of(run(*given)) == bits_of(run_reference(*given))


@given(seeds)
@settings(max_examples=25)
def test_shaders(seed: int) -> None:
    assert_same(lower(generate(Random(seed))).program, seed)


@given(seeds, st.sampled_from(BUILT))
@settings(max_examples=15)
def test_shaders_of_models_4_and_5(seed: int, version: Version) -> None:
    program = lower4(built(seed, version)).program
    inputs, uniforms = anything(Random(seed), program)
    given = (program, inputs, uniforms, LANES, None, sampler)
    fetcher, memories = Surroundings().fetch, (Toy(LANES), Toy(LANES))
    compiled, plain = (
        each(*given, fetcher=fetcher, memory=words)
        for each, words in zip((run, run_reference), memories, strict=True)
    )
    assert bits_of(compiled) == bits_of(plain)
    assert (memories[0].words == memories[1].words).all()


BUT_DOUBLES = frozenset(Op) - DOUBLES
WITH_DOUBLES = [each for each in BUILT if each.level >= V5_0 and each.stage is not Stage4.GEOMETRY]


@given(seeds, st.sampled_from(WITH_DOUBLES))
@settings(max_examples=15)
def test_shaders_of_doubles(seed: int, version: Version) -> None:
    program = lower4(built(seed, version, BUT_DOUBLES)).program
    rng = np.random.default_rng(seed)
    inputs = {
        port.name: rng.integers(0, 1 << 32, LANES, np.uint32).view(port.type.dtype)
        for port in program.inputs
    }
    uniforms = {
        file.name: rng.integers(0, 1 << 32, 16, np.uint32).view(file.type.dtype)
        for file in program.files
        if file.uniform
    }
    given = (program, inputs, uniforms, LANES, None, sampler)
    assert bits_of(run(*given)) == bits_of(run_reference(*given))


@given(keys(), st.sampled_from(Lod), seeds)
@settings(max_examples=25)
def test_samplers(key: SamplerKey, lod: Lod, seed: int) -> None:
    sides = (8, 8, 8)[: key.kind.axes]
    files = memory(Random(seed), key.kind, sides, levels=3, bias=0.25).files
    assert_same(sampler_program(key, lod, Stage.PIXEL), seed, files)


FORMATS = [(kind, format) for kind, formats in FORMATS_BY_KIND.items()
           if kind in (TextureKind.TEX2D, TextureKind.SHADOW) for format in formats]  # fmt: skip


@pytest.mark.parametrize(("kind", "format"), FORMATS)
def test_texels_of_every_format(kind: TextureKind, format: Format) -> None:
    key = SamplerKey(kind, format, srgb=kind is TextureKind.TEX2D)
    files = memory(Random(1), kind, (8, 8)).files
    assert_same(sampler_program(key, Lod.IMPLICIT, Stage.PIXEL), 1, files)


BLENDED = BlendState(BlendEquation(), BlendEquation())


@pytest.mark.parametrize("srgb", [False, True])
@pytest.mark.parametrize("blend", [None, BLENDED])
def test_output_programs(blend: BlendState | None, srgb: bool) -> None:
    program = output_program(TargetOutput(blend=blend, srgb=srgb, dither=(31, 63, 31)))
    assert_same(program, 5)


class OneTexture:
    """Any sampler is of the same texture."""

    def __init__(self, files: Memory) -> None:
        self.files = files.files

    def bound(self, sampler: int, kind: TextureKind, lod: Lod) -> BoundProgram:
        return BoundProgram(sampler_program(KEY, lod, Stage.PIXEL), self.files)

    def __call__(
        self,
        sampler: int,
        kind: TextureKind,
        coordinates: tuple[F32, ...],
        lod: Lod,
        arguments: tuple[F32, ...],
        active: Mask | None,
    ) -> tuple[F32, F32, F32, F32]:
        bound = self.bound(sampler, kind, lod)
        inputs = dict(zip(ports(kind, lod), coordinates + arguments, strict=True))
        outputs = run_reference(bound.program, inputs, bound.uniforms, len(coordinates[0])).outputs
        red, green, blue, alpha = outputs.values()
        return red, green, blue, alpha


KEY = SamplerKey(
    TextureKind.TEX2D, Format.A8R8G8B8, mag=TextureFilter.LINEAR, min=TextureFilter.LINEAR,
    mip=TextureFilter.LINEAR, levels=True,
)  # fmt: skip


@pytest.mark.parametrize("lod", Lod)
def test_programs_sample_by_programs(lod: Lod) -> None:
    """Lanes that are off have coordinates too, and lend them to their neighbours."""
    b = Builder(Stage.PIXEL)
    x, y = b.input("x"), b.input("y")
    arguments = [x * 0.5] * lod.arguments(TextureKind.TEX2D)
    total = b.variable(Type.F32, 0.0)
    with b.if_(x < 0.5):
        for value in b.sample(TextureKind.TEX2D, 3, (x * y, y), lod, arguments):
            total.value = total.value * 2.0 + value
    with b.else_():
        total.value = b.sample(TextureKind.TEX2D, 1, (y, x), lod, arguments)[1]
    b.output("total", total.value)
    textured = OneTexture(memory(Random(2), TextureKind.TEX2D, (16, 16), levels=4))
    inputs = {
        name: np.random.default_rng(n).uniform(0, 1, LANES).astype(np.float32)
        for n, name in enumerate("xy")
    }
    given = (b.program(), inputs, {}, LANES, None, textured)
    assert bits_of(run(*given)) == bits_of(run_reference(*given))
