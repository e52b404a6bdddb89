"""Textures from the application's call to the pixel, on the emulated driver."""

from __future__ import annotations

import struct
from typing import Any

from dp2emu.d3d import fvf
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Cull,
    Format,
    PrimitiveType,
    RenderState,
    SamplerState,
    TextureFilter,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.flags import Usage
from dp2emu.dp2.driver import Driver
from dp2emu.runtime import Device9, Texture

TARGET = int(Usage.RENDERTARGET)
D3DTA_TEXTURE = 2
VERTEX = fvf.XYZRHW | 1 << 8


def device() -> Device9:
    """A black 8 x 8 target that shows the texture of stage 0, level by level."""
    made = Device9(Driver(), 8, 8)
    made.clear(color=0xFF000000)
    made.set_render_state(RenderState.CULLMODE, Cull.NONE)
    made.set_texture_stage_state(0, TextureStageState.COLOROP, TextureOp.SELECTARG1)
    made.set_texture_stage_state(0, TextureStageState.COLORARG1, D3DTA_TEXTURE)
    made.set_sampler_state(0, SamplerState.MIPFILTER, TextureFilter.POINT)
    made.set_fvf(VERTEX)
    return made


def show(made: Device9, texture: Texture, size: int = 8) -> list[list[str]]:
    """Draw the whole texture into size x size pixels; those, in hexadecimal."""
    made.set_texture(0, texture)
    corners = [(x, y) for y in (0, 1) for x in (0, 1)]
    vertices = b"".join(
        struct.pack("<6f", x * size - 0.5, y * size - 0.5, 0.5, 1, x, y) for x, y in corners
    )
    made.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, vertices, 24)
    pixels: Any = made.read_back()[:size, :size] & 0xFFFFFF
    return [[f"{pixel:06x}" for pixel in row] for row in pixels.tolist()]


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def test_levels_are_those_that_were_written() -> None:
    made = device()
    data = [words(*[0xFF000010 + level] * 4**count) for level, count in ((0, 2), (1, 1), (2, 0))]
    texture = made.create_texture(4, 4, Format.A8R8G8B8, data, levels=0)
    for size, blue in ((4, "000010"), (2, "000011"), (1, "000012")):
        assert show(made, texture, size) == [[blue] * size] * size


def test_the_most_detailed_level_can_be_taken_away() -> None:
    made = device()
    data = [words(*[0xFF0000FF] * 4), words(0xFF00FF00)]
    texture = made.create_texture(2, 2, Format.A8R8G8B8, data, levels=2)
    assert show(made, texture, 2) == [["0000ff"] * 2] * 2
    made.session.emit(Op.SETTEXLOD, [(texture.desc.handle, 1)])
    assert show(made, texture, 2) == [["00ff00"] * 2] * 2


def test_palettes_can_be_changed_and_exchanged_between_draws() -> None:
    made = device()
    texture = made.create_texture(2, 1, Format.P8, [bytes((1, 2))])
    grey = [(i, i, i, 255) for i in range(256)]
    red = [(i, 0, 0, 255) for i in range(256)]
    made.textures.set_palette(0, grey)
    assert show(made, texture, 2)[0] == ["010101", "020202"]
    made.textures.set_palette(5, red)
    made.textures.choose_palette(5)
    assert show(made, texture, 2)[0] == ["010000", "020000"]
    made.textures.set_palette(5, [(0, 255 - i, 0, 255) for i in range(256)])
    assert show(made, texture, 2)[0] == ["00fe00", "00fd00"]


def test_what_was_rendered_is_sampled_with_generated_levels() -> None:
    made = device()
    usage = TARGET | int(Usage.AUTOGENMIPMAP)
    texture = made.create_texture(4, 4, Format.X8R8G8B8, levels=0, usage=usage)
    top = made.textures.surface(texture, 0)
    for color, mean in ((0xFFFFFF, "808080"), (0x00FF00, "008000")):
        made.set_texture(0, None)
        made.set_depth_stencil(None)
        made.set_render_target(0, top)
        made.clear(color=0xFF000000)
        made.clear(color=0xFF000000 | color, rects=[(0, 0, 2, 4)])
        made.set_render_target(0, made.back_buffer)
        assert show(made, texture, 1) == [[mean]]
        assert show(made, texture, 2) == [[f"{color:06x}", "000000"]] * 2


def test_a_stretched_picture_can_be_sampled() -> None:
    made = device()
    texture = made.create_texture(2, 2, Format.R5G6B5, usage=TARGET)
    made.color_fill(made.back_buffer, (0, 0, 4, 8), 0xFFFF0000)
    made.color_fill(made.back_buffer, (4, 0, 8, 8), 0xFF0000FF)
    made.stretch_rect(made.back_buffer, made.textures.surface(texture, 0))
    assert show(made, texture, 2) == [["ff0000", "0000ff"]] * 2
