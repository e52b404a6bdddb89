"""Units of lowered shaders meet the programs that answer them."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import CmpFunc, Format
from dp2emu.errors import Unsupported
from dp2emu.shader.ir import Lod, Stage, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.resources import Dimension, ReadOpcode, Unit
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.resource_reads import read_program
from dp2emu.shader.types import I32
from tests.shader.sm4.lower.running import execute, lowered, ps_text, words
from tests.shader.texture.test_fetches import Array

TYPES = "(float,float,float,float)"
KINDS = {
    "texture1d": (TextureKind.TEX2D, (8, 1), 1),
    "texture2d": (TextureKind.TEX2D, (8, 4), 1),
    "texture3d": (TextureKind.VOLUME, (8, 4, 2), 1),
    "texturecube": (TextureKind.CUBE, (4, 4), 6),
    "texture1darray": (TextureKind.TEX2D, (8, 1), 3),
    "texture2darray": (TextureKind.TEX2D, (8, 4), 3),
    "texturecubearray": (TextureKind.CUBE, (4, 4), 12),
}


def operands(*numbers: float) -> tuple[I32, ...]:
    """Integers as they are, floats by their bits."""
    return tuple(
        np.array([n], np.float32 if isinstance(n, float) else np.int32).view(np.int32)
        for n in numbers
    )


LINES = (
    "sample o0, r0, t5, s2",
    "sample_b o0, r0, t5, s2, l(1.0)",
    "sample_l o0, r0, t5, s2, l(1.0)",
    "sample_d o0, r0, t5, s2, r0, r0",
    "sample_c o0.x, r0, t5, s2, l(0.5)",
    "sample_c_lz o0.x, r0, t5, s2, l(0.5)",
    "gather4 o0, r0, t5, s2.x",
    "gather4_c o0, r0, t5, s2.x, l(0.5)",
    "gather4_po o0, r0, l(1, 1, 0, 0), t5, s2.x",
    "lod o0, r0, t5, s2",
    "ld o0, l(0, 0, 0, 0), t5",
    "resinfo o0, l(0), t5",
)
REFUSED = {
    "texture3d": ("sample_c", "gather4"),
    "texture1d": ("gather4",),
    "texture1darray": ("gather4",),
    "texturecube": ("ld ", "gather4_po"),
    "texturecubearray": ("ld ", "gather4_po"),
}


@pytest.mark.parametrize("dimension", KINDS)
@pytest.mark.parametrize("line", LINES)
def test_every_question_of_every_shape_has_an_answer(line: str, dimension: str) -> None:
    if line.startswith(REFUSED.get(dimension, ("nothing",))):
        return
    kind, sides, layers = KINDS[dimension]
    head = f"dcl_sampler s2, mode_default\ndcl_resource_{dimension} {TYPES} t5"
    shader = lowered(ps_text(f"mov r0, l(0.5, 0.5, 0.5, 0.5)\n{line}", head))
    (unit,) = shader.units
    compare = CmpFunc.ALWAYS if unit.comparison else None
    key = SamplerKey(kind, Format.A8R8G8B8, levels=True, layers="array" in dimension,
                     compare=compare)  # fmt: skip
    files = Array(1, sides, 2, layers).files

    class Around:
        def fetch(self, number, given, active):  # type: ignore[no-untyped-def]
            return read_program(unit, key, Stage.PIXEL).words(run, given, files)

        def sample(self, *given):  # type: ignore[no-untyped-def]
            return (np.full(1, 0.25, np.float32),) * 4

    assert any(words(execute(shader, lanes=4, around=Around()), "target0"))  # type: ignore[arg-type]


def test_a_texture_of_one_axis_is_a_texel_high() -> None:
    texture = Array(2, (8, 1), 1, 1)
    key = SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8)
    unit = Unit(ReadOpcode.LOAD, 0, None, Dimension.TEXTURE1D)
    found = read_program(unit, key, Stage.PIXEL).words(run, operands(3, 0), texture.files)
    blue = (texture.texels[0, 0, 3, 0, 0] & 255) / 255
    assert found[2].view(np.float32).tolist() == [np.float32(blue)]


def test_buffers_answer() -> None:
    files = {"texels": np.arange(10, 30, dtype=np.int32), "buffer": np.array([8, 10], np.int32)}
    key = SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8)
    raw = read_program(Unit(ReadOpcode.RAW, 0), key, Stage.PIXEL).words(run, operands(8), files)
    assert [each[0] for each in raw] == [12, 13, 14, 15]
    structured = read_program(Unit(ReadOpcode.STRUCTURED, 0), key, Stage.PIXEL)
    assert [each[0] for each in structured.words(run, operands(3, 4), files)] == [17, 0, 0, 0]


def test_slices_come_after_the_address_and_references_after_them() -> None:
    unit = Unit(
        ReadOpcode.SAMPLE, 0, 0, Dimension.TEXTURE2DARRAY, lod=Lod.EXPLICIT, comparison=True
    )
    key = SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8, layers=True, compare=CmpFunc.LESS)
    assert read_program(unit, key, Stage.VERTEX).ports == (
        "coordinate.x",
        "coordinate.y",
        "slice.x",
        "reference.x",
        "lod.x",
    )
    plain = replace(unit, comparison=False, lod=Lod.GRADIENT)
    assert read_program(plain, replace(key, compare=None), Stage.PIXEL).ports[3:] == (
        "ddx.x",
        "ddx.y",
        "ddy.x",
        "ddy.y",
    )


@pytest.mark.parametrize("ask", [ReadOpcode.SNAPPED, ReadOpcode.AT_SAMPLE])
def test_what_is_no_question_of_textures_is_named(ask: ReadOpcode) -> None:
    key = SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8)
    with pytest.raises(Unsupported, match=f"{ask.value} of textures"):
        read_program(Unit(ask), key, Stage.PIXEL)


def test_samples_are_asked_for_behind_the_address() -> None:
    key = SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8)
    unit = Unit(ReadOpcode.LOAD, 0, None, Dimension.TEXTURE2DMSARRAY)
    ports = ("number.x", "number.y", "layer.x", "sample.x")
    assert read_program(unit, key, Stage.PIXEL).ports == ports


@pytest.mark.parametrize("ask", [ReadOpcode.COUNT, ReadOpcode.SAMPLES])
def test_facts_are_told_as_they_are(ask: ReadOpcode) -> None:
    key = SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8)
    files = {"facts": np.array([5, 6, 7, 8], np.int32)}
    found = read_program(Unit(ask, 0), key, Stage.PIXEL).words(run, (), files, 3)
    assert [each.tolist() for each in found] == [[5] * 3, [6] * 3, [7] * 3, [8] * 3]


def test_places_of_samples_are_by_number_and_0_where_there_is_none() -> None:
    key = SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8)
    files = {"places": np.array([0.25, -0.5, 0.125, 0.375], np.float32).view(np.int32)}
    asked = read_program(Unit(ReadOpcode.SAMPLE_POSITION), key, Stage.PIXEL)
    numbers = np.array([1, 0, 2, -1, 1 << 30], np.int32)
    x, y, z, w = asked.words(run, (numbers,), files)
    assert x.view(np.float32).tolist() == [0.125, 0.25, 0, 0, 0]
    assert y.view(np.float32).tolist() == [0.375, -0.5, 0, 0, 0]
    assert not z.any() and not w.any()
