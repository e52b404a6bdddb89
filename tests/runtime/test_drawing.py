"""Patches of a device: the tokens they become, and what is refused before anything is sent."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.enums import Basis, Degree
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver import Driver
from dp2emu.errors import UsageError
from dp2emu.runtime import Device9, Refused
from dp2emu.runtime.objects import RectPatchInfo, TriPatchInfo
from tests.dp2.screen import CORNERS, DIFFUSE, WHITE, XYZRHW

from .rigs import ScriptedRig
from .sent import flushed, scripted

SQUARE = RectPatchInfo(0, 0, 2, 2, 2, Basis.BEZIER, Degree.LINEAR)
CORNER = TriPatchInfo(4, 10)
REFUSED = HResult.D3DERR_INVALIDCALL


def bound() -> tuple[Device9, ScriptedRig]:
    """A device with a vertex format and a stream."""
    device, rig = scripted()
    device.set_fvf(XYZRHW | DIFFUSE)
    device.set_stream_source(0, device.create_vertex_buffer(bytes(80)), 0, 20)
    flushed(device, rig)
    return device, rig


def sent(device: Device9, rig: ScriptedRig) -> bytes:
    device.session.flush()
    data = b"".join(call.commands or b"" for call in rig.calls)
    rig.calls.clear()
    return data


def test_patches_are_sent_with_what_they_have() -> None:
    device, rig = bound()
    device.draw_rect_patch(7, (1.0, 2.0, 3.0, 4.0), SQUARE)
    whole = struct.pack("<BBH2I4f7I", 61, 0, 1, 7, 3, 1, 2, 3, 4, 0, 0, 2, 2, 2, 0, 1)
    assert sent(device, rig) == whole
    device.draw_rect_patch(7, None)
    assert sent(device, rig) == struct.pack("<BBH2I", 61, 0, 1, 7, 0)
    device.draw_tri_patch(0, None, CORNER)
    assert sent(device, rig) == struct.pack("<BBH6I", 62, 0, 1, 0, 2, 4, 10, 0, 3)
    device.draw_tri_patch(7, (1.0, 2.0, 3.0))
    assert sent(device, rig) == struct.pack("<BBH2I3f", 62, 0, 1, 7, 1, 1, 2, 3)


def test_deleting_and_n_patches_are_render_states() -> None:
    device, rig = bound()
    device.draw_tri_patch(9, None, CORNER)
    flushed(device, rig)
    device.delete_patch(9)
    device.set_npatch_mode(4)
    assert flushed(device, rig) == [("RENDERSTATE", [(169, 9), (164, 0x40800000)])]


def test_unknown_handles_are_refused() -> None:
    device, rig = bound()
    device.draw_tri_patch(0, None, CORNER)
    device.draw_tri_patch(9, None, CORNER)
    device.delete_patch(9)
    flushed(device, rig)
    for handle in (0, 9):
        with pytest.raises(Refused) as raised:
            device.draw_rect_patch(handle, (1.0,) * 4)
        assert raised.value.hr == REFUSED
        with pytest.raises(Refused):
            device.delete_patch(handle)
    assert flushed(device, rig) == []


def test_patches_need_a_stream_unless_they_are_kept() -> None:
    device, _ = bound()
    device.draw_rect_patch(7, None, SQUARE)
    device.set_stream_source(0, None)
    device.draw_rect_patch(7, None)
    with pytest.raises(Refused):
        device.draw_rect_patch(7, None, SQUARE)
    device.set_vertex_declaration(None)
    with pytest.raises(Refused):
        device.draw_rect_patch(7, None)


def test_there_are_as_many_segments_as_edges() -> None:
    device, _ = bound()
    for count in (0, 3, 5):
        with pytest.raises(UsageError, match="DRAWRECTPATCH"):
            device.draw_rect_patch(0, (1.0,) * count, SQUARE)
    with pytest.raises(UsageError, match="DRAWTRIPATCH"):
        device.draw_tri_patch(0, (1.0,) * 4, CORNER)


def test_a_patch_is_on_the_screen() -> None:
    device = Device9(Driver(), 8, 8)
    device.set_fvf(XYZRHW | DIFFUSE)
    data = b"".join(struct.pack("<4fI", x, y, 0.5, 1, WHITE) for x, y in CORNERS)
    device.set_stream_source(0, device.create_vertex_buffer(data), 0, 20)
    device.clear(color=0xFF000000)
    device.draw_rect_patch(1, (3.0,) * 4, SQUARE)
    words = device.read_back()
    assert (words[:4, :4] == WHITE).all()
    assert (words == WHITE).sum() == 16
