"""State blocks of Direct3D 10 in traces."""

from __future__ import annotations

from typing import Any

from tests.retrace.calls import struct
from tests.retrace.d3d11.played import Played, at, to

BLOCK = "ID3D10StateBlock"


def with_block(**mask: Any) -> Played:
    """A program with a state block of a mask: bytes by member."""
    program = Played(10)
    given = {"pDevice": at("device"), "pStateBlockMask": (struct("MASK", **mask),)}
    assert program.play("D3D10CreateStateBlock", **given, ppStateBlock=to("block")) == []
    return program


def captured(**mask: Any) -> Played:
    """A program that captured a pixel shader and a sampler in slot 9, and cleared its state."""
    program = with_block(**mask)
    program.of("context", "ID3D10Device::PSSetShader", pShader=at("ps"))
    slots = {"StartSlot": 9, "NumSamplers": 1, "ppSamplers": to("sampler")}
    program.of("context", "ID3D10Device::PSSetSamplers", **slots)
    assert program.of("block", f"{BLOCK}::Capture") == []
    program.of("context", "ID3D10Device::ClearState")
    return program


def test_a_block_sets_the_masked_state_that_it_captured() -> None:
    program = captured(PS=1, PSSamplers=(0, 2), VS=1, GS=0)
    assert program.of("block", f"{BLOCK}::Apply") == [
        "PsSetShader(ps)", "PsSetSamplers(9, [sampler])", "VsSetShader(None)",
    ]  # fmt: skip
    assert program.losses() == []


def test_a_slot_that_is_not_masked_is_not_captured() -> None:
    program = captured(PS=0, PSSamplers=(2, 0), VS=0, GS=0)
    assert program.of("block", f"{BLOCK}::Apply") == ["PsSetSamplers(1, [None])"]


def test_captured_objects_live_until_the_block_lets_them_go() -> None:
    for name in ("ReleaseAllDeviceObjects", "Release"):
        program = captured(PS=1, PSSamplers=(0, 0))
        assert program.of("ps", "ID3D10PixelShader::Release", result=0) == []
        gone = program.of("block", f"{BLOCK}::{name}", result=0)
        assert [each.partition("(")[0] for each in gone] == ["DestroyShader"]
        assert program.losses() == []


def test_an_empty_block_sets_nothing() -> None:
    program = with_block(PS=1)
    assert program.of("block", f"{BLOCK}::Apply") == []
    assert program.losses() == []


def test_a_block_has_interfaces_and_a_device() -> None:
    program = with_block(PS=1)
    program.of("block", f"{BLOCK}::QueryInterface", riid=None, ppvObj=to("other"))
    assert program.thing("other") is program.thing("block")
    program.of("other", f"{BLOCK}::GetDevice", ppDevice=to("read"))
    assert program.thing("read") is program.thing("device")
    program.of("other", f"{BLOCK}::Release", result=0)
    assert (program.thing("block"), program.thing("other")) == (None, None)
    assert program.losses() == []
