"""D3DCAPS9: complete, buildable, and in step with what the emulator does."""

from __future__ import annotations

import pytest

from dp2emu.d3d.caps import D3DCAPS9
from dp2emu.dp2.capabilities import CAPABILITIES, capabilities


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
