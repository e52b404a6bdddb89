"""Render states of DirectX 5 as states of texture stage 0."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dp2emu.d3d.enums import TextureArgument, TextureOp
from dp2emu.d3d.legacy import RenderState7, TextureBlend7, TextureFilter7, TextureStageState7
from dp2emu.dp2.states.stage7 import blended_stage, stage_states, wrapped
from dp2emu.errors import Fault
from dp2emu.shader.fixed.pixel import FixedPixel
from dp2emu.shader.ir import TextureKind
from tests.shader.fixed.stages import World, drawn, modelled

FLAT = TextureKind.TEX2D


@pytest.mark.parametrize(
    ("state", "number"),
    [
        (RenderState7.TEXTUREHANDLE, 0), (RenderState7.TEXTUREADDRESS, 12),
        (RenderState7.TEXTUREADDRESSU, 13), (RenderState7.TEXTUREADDRESSV, 14),
        (RenderState7.BORDERCOLOR, 15), (RenderState7.MIPMAPLODBIAS, 19),
        (RenderState7.ANISOTROPY, 21),
    ],
)  # fmt: skip
def test_state_is_that_of_stage_0(state: RenderState7, number: int) -> None:
    assert stage_states(state, 0x1234) == ((number, 0x1234),)


def test_other_states_say_nothing_of_the_stage() -> None:
    named = {1, 3, 17, 18, 43, 44, 45, 46, 49}
    assert [s for s in range(256) if stage_states(s, 2)] == sorted(named)


@pytest.mark.parametrize(
    ("filter", "within", "between"),
    [("NEAREST", 1, 1), ("LINEAR", 2, 1), ("MIPNEAREST", 1, 2), ("MIPLINEAR", 2, 2),
     ("LINEARMIPNEAREST", 1, 3), ("LINEARMIPLINEAR", 2, 3)],
)  # fmt: skip
def test_filter_is_one_in_a_level_and_one_between(filter: str, within: int, between: int) -> None:
    value = TextureFilter7[filter]
    low, mip = TextureStageState7.MINFILTER, TextureStageState7.MIPFILTER
    assert stage_states(RenderState7.TEXTUREMIN, value) == ((low, within), (mip, between))
    mag = TextureStageState7.MAGFILTER
    assert stage_states(RenderState7.TEXTUREMAG, value) == ((mag, within),)


def test_what_is_no_filter_stays_none() -> None:
    for state in (RenderState7.TEXTUREMAG, RenderState7.TEXTUREMIN):
        assert stage_states(state, 9)[0][1] == 9


def test_wrap_states_are_bits_of_set_0() -> None:
    assert [wrapped(RenderState7.WRAPU, value, 6) for value in (0, 1, 5)] == [6, 7, 7]
    assert [wrapped(RenderState7.WRAPV, value, 6) for value in (0, 1)] == [4, 6]


@pytest.mark.parametrize(
    ("mode", "opaque", "color", "alpha"),
    [
        ("DECAL", False, "t", "t"), ("DECAL", True, "t", "t"),
        ("COPY", False, "t", "t"),
        ("MODULATE", False, "t * v", "t"), ("MODULATE", True, "t * v", "v"),
        ("DECALALPHA", False, "t * a + v * (1 - a)", "v"),
        ("MODULATEALPHA", False, "t * v", "t * v"),
        ("ADD", False, "min(t + v, 1)", "v"),
    ],
)  # fmt: skip
def test_blend_follows_its_formula(mode: str, opaque: bool, color: str, alpha: str) -> None:
    """t is the texture, a its alpha, v the colour of the vertices."""
    stage = blended_stage(TextureBlend7[mode], FLAT, None, 0 if opaque else 255)
    assert stage is not None
    world = World()
    texel, vertex = world.textures[0], world.diffuse
    wanted = [
        eval(alpha if i == 3 else color, {"t": texel[i], "v": vertex[i], "a": texel[3]})
        for i in range(4)
    ]
    assert modelled((stage,), world) == wanted


@pytest.mark.parametrize("mode", ["DECALMASK", "MODULATEMASK"])
def test_modes_that_mask_keep_the_colour_where_alpha_is_even(mode: str) -> None:
    stage = blended_stage(TextureBlend7[mode], FLAT, None, 3)
    assert stage is not None
    for alpha in range(4):
        world = World(textures=[[Fraction(3, 4), Fraction(1, 4), Fraction(1), Fraction(alpha, 3)]])
        found, _ = drawn(FixedPixel((stage,)), world)
        texel, vertex = world.textures[0], world.diffuse
        made = (
            texel if mode == "DECALMASK" else [t * v for t, v in zip(texel, vertex, strict=True)]
        )
        assert found == [*(made if alpha & 1 else vertex)[:3], vertex[3]]


def test_modes_that_mask_see_no_mask_without_an_alpha() -> None:
    stage = blended_stage(TextureBlend7.DECALMASK, FLAT, None, 0)
    assert stage is not None and stage.mask == 0


def test_what_is_no_mode_is_a_fault() -> None:
    with pytest.raises(Fault, match="TEXTUREMAPBLEND is 9"):
        blended_stage(9, FLAT, None, 255)


def test_without_a_texture_there_is_no_stage() -> None:
    assert blended_stage(TextureBlend7.MODULATE, None, None, 255) is None
    stage = blended_stage(TextureBlend7.COPY, TextureKind.CUBE, 2, 255)
    assert stage is not None
    assert (stage.texture, stage.projection, stage.temp) == (TextureKind.CUBE, 2, False)
    assert stage.color.op is TextureOp.SELECTARG1
    assert stage.color.arguments[1].source is TextureArgument.TEXTURE
