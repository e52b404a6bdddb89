"""Colours as blocks of formats that no GPU renders to."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import COLOR, FORMATS, Use
from dp2emu.errors import Unsupported
from dp2emu.runtime.resources import block_of
from dp2emu.shader.texture.texels import decode

COLORS = (0xFF000000, 0x00FFFFFF, 0x80FF4010, 0xC01020E0, 0xFFFFFFFF)
COARSE = {Format.DXT2: 8, Format.DXT3: 8}
"""Formats of which alphas are sixteenths."""
COLORED = (
    Format.DXT2, Format.DXT3, Format.DXT4, Format.DXT5, Format.R8G8_B8G8, Format.G8R8_G8B8,
    Format.YUY2, Format.UYVY, Format.YV12, Format.NV12,
)  # fmt: skip
PAIRS = COLORED[4:]


def texels(format: Format, color: int) -> list[tuple[int, ...]]:
    width, height = FORMATS[format].block
    return [tuple(texel) for row in decode(format, block_of(format, color), width, height).tolist()
            for texel in row]  # fmt: skip


@pytest.mark.parametrize("format", COLORED)
@pytest.mark.parametrize("color", COLORS)
def test_all_texels_of_a_block_have_the_colour(format: Format, color: int) -> None:
    found = texels(format, color)
    assert len(set(found)) == 1
    wanted = [color >> shift & 0xFF for shift in (16, 8, 0)]
    assert all(abs(a - b) <= 4 for a, b in zip(found[0], wanted, strict=False))
    alpha = 255 if format in PAIRS else color >> 24
    assert abs(found[0][3] - alpha) <= COARSE.get(format, 0)


@pytest.mark.parametrize(("color", "texel"), [
    (0xFFFF0000, (255, 0, 0, 255)), (0x80FF0000, (255, 0, 0, 255)), (0x7FFF0000, (0, 0, 0, 0)),
])  # fmt: skip
def test_dxt1_has_one_bit_of_alpha(color: int, texel: tuple[int, ...]) -> None:
    assert set(texels(Format.DXT1, color)) == {texel}


def test_ramps_and_bits_are_of_their_channels() -> None:
    assert set(texels(Format.ATI1N, 0xFF123456)) == {(0x12,) * 4}
    assert set(texels(Format.ATI2N, 0xFF123456)) == {(0x12, 0x34, 255, 255)}
    assert block_of(Format.A1, 0x80000000) == b"\xff"
    assert block_of(Format.A1, 0x7FFFFFFF) == b"\0"


@pytest.mark.parametrize(("format", "data"), [
    (Format.R8G8B8, "104080"), (Format.A4L4, "f8"), (Format.V8U8, "4020"),
    (Format.L6V5U5, "8880"), (Format.X8L8V8U8, "402080ff"), (Format.Q8W8V8U8, "4020087f"),
    (Format.V16U16, "4040 2020"), (Format.CxV8U8, "4020"),
])  # fmt: skip
def test_pixels_without_targets_are_stored_by_channels(format: Format, data: str) -> None:
    assert block_of(format, 0xFF804010) == bytes.fromhex(data)


def test_every_format_of_colours_is_filled_by_one_of_both() -> None:
    for format, row in FORMATS.items():
        if format in COLOR or not isinstance(format, Format):
            continue
        if row.uses & Use.DEPTH:
            with pytest.raises(Unsupported, match="ColorFill"):
                block_of(format, 0)
        else:
            assert len(block_of(format, 0x12345678)) == row.size
