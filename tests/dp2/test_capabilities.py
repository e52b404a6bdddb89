"""D3DCAPS9: complete, buildable, and in step with what the emulator does."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dp2emu.conform import run_case
from dp2emu.conform.case import Shown
from dp2emu.conform.script import BOX, TEXTURE, Script, box, stage_state
from dp2emu.conform.target import TARGET
from dp2emu.d3d.capflags import FormatOp
from dp2emu.d3d.caps import D3DCAPS9
from dp2emu.d3d.enums import Format, TextureArgument, TextureStageState
from dp2emu.d3d.formats import FORMATS
from dp2emu.dp2.capabilities import CAPABILITIES, capabilities
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.raw_state import SRGB_TEXTURE
from dp2emu.dp2.table import Since


def test_every_member_has_a_value_that_fits() -> None:
    found = capabilities()
    parsed = D3DCAPS9.parse(D3DCAPS9.build(found))
    assert [name for name in found if name.startswith("_")] == []
    assert CAPABILITIES.keys() <= found.keys()
    assert parsed.MaxPrimitiveCount == 0xFFFFF
    assert parsed.PS20Caps.NumInstructionSlots == 512


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ZCmpCaps", 0xFF),
        ("AlphaCmpCaps", 0xFF),
        ("StencilCaps", 0x1FF),
        ("TextureOpCaps", 0x03FFFFFF),
        ("TextureFilterCaps", 0x1F071F00),
        ("VertexTextureFilterCaps", 0x03030300),
        ("StretchRectFilterCaps", 0x03000300),
        ("TextureAddressCaps", 0x3F),
        ("NumSimultaneousRTs", 4),
        ("MaxAnisotropy", 16),
    ],
)
def test_words_have_a_bit_for_each_thing_there_is(name: str, value: int) -> None:
    assert CAPABILITIES[name] == value


def drawn(format: Format, states: bytes) -> bytes:
    """Pixels of a box that samples a texture of half-bright codes."""
    script = Script(Since.DX9)
    row = FORMATS[format]
    wide, high = row.block
    script.texture(TEXTURE, format, b"\x55" * (row.size * 8 // wide * 8 // high), 8)
    script.background(stage_state(0, TEXTURE))
    script.call(
        stage_state(TextureStageState.COLORARG1, TextureArgument.TEXTURE), states, box(),
        corners=BOX,
    )  # fmt: skip
    driver, seen = Driver(options=Options(engine="reference")), []
    case = replace(script.case("one", "", ""), shown=(Shown(TARGET, 0, bytes(16)),))
    run_case(case, driver, lambda call, answer: seen.append(driver.read(TARGET, 0, 16)))
    return seen[-1]


@pytest.mark.parametrize(
    "format",
    [
        Format.A8R8G8B8, Format.R5G6B5, Format.L8, Format.A8, Format.L16, Format.G16R16F,
        Format.DXT1, Format.YUY2, Format.V8U8, Format.R8G8_B8G8, Format.ATI2N, Format.A2R10G10B10,
    ],
)  # fmt: skip
def test_srgb_reads_are_announced_of_the_formats_whose_colours_they_convert(
    format: Format,
) -> None:
    linear = drawn(format, stage_state(SRGB_TEXTURE, 1))
    announced = bool((Driver().capabilities().operations(format) or 0) & FormatOp.SRGBREAD)
    assert (drawn(format, b"") != linear) is announced


def test_srgb_writes_are_announced_of_targets_with_8_bits_of_each_colour() -> None:
    told = [each for each, operations in Driver().capabilities().formats
            if operations & FormatOp.SRGBWRITE]  # fmt: skip
    assert told == [Format.A8R8G8B8, Format.X8R8G8B8, Format.A8B8G8R8, Format.X8B8G8R8]
