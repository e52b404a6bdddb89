"""Calls as text, and traces counted."""

from __future__ import annotations

import io
import math

import pytest

from dp2emu.capture.apitrace import (
    MISSING,
    TraceCall,
    call_line,
    dump_trace,
    open_trace,
    summarize,
)
from dp2emu.capture.apitrace.guids import GUID_NAMES
from dp2emu.capture.apitrace.text import value_text
from dp2emu.capture.apitrace.values import (
    Bitmask,
    BitmaskSignature,
    Double,
    Pointer,
    Struct,
    StructSignature,
)
from tests.capture.apitrace.encoder import Encoder, header, snappy
from tests.capture.apitrace.samples import REAL, VALUES, call, opened

GUID = StructSignature("GUID", ("Data1", "Data2", "Data3", "Data4"))


@pytest.mark.parametrize("name", VALUES)
def test_value_is_shown(name: str) -> None:
    value, text = VALUES[name]
    assert value_text(value) == text


def test_digits_follow_the_size_of_the_number() -> None:
    assert value_text(1 / 3) == "0.3333333"
    assert value_text(Double(1 / 3)) == "0.3333333333333333"
    assert value_text(1e10) == "1e+10"
    assert value_text(math.copysign(math.nan, -1)) == "-nan"


def test_known_guid_has_its_name() -> None:
    tail = (0xB9, 0x2F, 0, 0x60, 0x97, 0x97, 0xEA, 0x5B)
    known = Struct(GUID, (0x15E65EC0, 0x3B9C, 0x11D2, tail))
    assert value_text(known) == "IID_IDirectDraw7"
    other = Struct(GUID, (1, 2, 3, tail))
    assert value_text(other) == "uuid(00000001-0002-0003-b92f-00609797ea5b)"
    assert value_text(Struct(GUID, (1, 2, 3, None))).startswith("{Data1 = 1")
    assert value_text(Struct(GUID, (1, 2, -3, tail))).startswith("{Data1 = 1")
    short = StructSignature("GUID", ("Data1", "Data2", "Data3"))
    assert value_text(Struct(short, (1, 2, tail))).startswith("{Data1 = 1")


@pytest.mark.parametrize(
    ("guid", "name"),
    [
        ((0x9B7E4C04, 0x342C, 0x4106, *bytes.fromhex("a19f4f2704f689f0")), "IID_ID3D10Texture2D"),
        ((0x9B7E4C8F, 0x342C, 0x4106, *bytes.fromhex("a19f4f2704f689f0")), "IID_ID3D10Device1"),
        ((0x6F15AAF2, 0xD208, 0x4E89, *bytes.fromhex("9ab4489535d34f9c")), "IID_ID3D11Texture2D"),
        ((0x54EC77FA, 0x1377, 0x44E6, *bytes.fromhex("8c3288fd5f44c84c")), "IID_IDXGIDevice"),
        ((0x429B8C22, 0x9188, 0x4B0C, *bytes.fromhex("8742acb0bf85c200")),
         "WKPDID_D3DDebugObjectName"),
    ],
)  # fmt: skip
def test_guids_of_direct3d_10_and_later_have_their_names(guid: tuple[int, ...], name: str) -> None:
    assert value_text(Struct(GUID, (*guid[:3], guid[3:]))) == name


def test_every_version_of_an_interface_has_a_name() -> None:
    newest = {
        "IDXGIFactory": 7, "IDXGIAdapter": 4, "IDXGIOutput": 6, "IDXGIDevice": 4,
        "IDXGISwapChain": 4, "IDXGISurface": 2, "IDXGIResource": 1, "ID3D10Device": 1,
        "ID3D11Device": 5, "ID3D11DeviceContext": 4, "ID3D11Texture2D": 1,
    }  # fmt: skip
    wanted = {
        f"IID_{name}{version or ''}"
        for name, last in newest.items() for version in range(last + 1)
    }  # fmt: skip
    assert wanted <= set(GUID_NAMES.values())
    assert len(set(GUID_NAMES.values())) == len(GUID_NAMES)


def test_a_nameless_member_that_is_no_structure_is_left_out() -> None:
    assert value_text(Struct(StructSignature("S", ("a", "")), (1, None))) == "{a = 1}"


def test_members_of_a_nameless_structure_stand_among_the_others() -> None:
    inner = Struct(StructSignature("", ("x", "y")), (1, 2))
    outer = Struct(StructSignature("S", ("", "z")), (inner, 3))
    assert value_text(outer) == "{x = 1, y = 2, z = 3}"


def test_call_is_a_line() -> None:
    assert call_line(call(7, "F", 1, MISSING, result=None)) == "7 F(a0 = 1, a1 = ?) = NULL"
    assert call_line(call(7, "F", flags=1, finished=False)) == "7 F() // fake incomplete"


def test_dump_has_properties_calls_and_an_empty_line_after_a_frame() -> None:
    encoder, out = Encoder(), io.StringIO()
    events = [encoder.both(call(n, "IDirect3DDevice9::Present")) for n in range(2)]
    events.append(encoder.both(call(2, "IDirect3DDevice9::Clear")))
    events.append(encoder.both(call(3, "IDirect3DDevice9::GetRenderTargetData")))
    dump_trace(opened(snappy(header(b='"', a="x") + b"".join(events))), out)
    assert out.getvalue().splitlines() == [
        '// a = "x"',
        '// b = "\\""',
        "0 IDirect3DDevice9::Present()",
        "",
        "1 IDirect3DDevice9::Present()",
        "",
        "2 IDirect3DDevice9::Clear()",
        "3 IDirect3DDevice9::GetRenderTargetData()",
        "",
    ]


def present(number: int, method: str, flags: int) -> TraceCall:
    """A call of a Present method of DXGI, whose third argument are its flags."""
    mask = Bitmask(BitmaskSignature((("DXGI_PRESENT_TEST", 1),)), flags)
    return call(number, method, Pointer(16), 0, mask)


def test_a_dxgi_present_ends_a_frame_unless_it_is_a_test() -> None:
    encoder, out = Encoder(), io.StringIO()
    calls = [
        present(0, "IDXGISwapChain::Present", 0),
        present(1, "IDXGISwapChain4::Present1", 8),
        present(2, "IDXGISwapChain1::Present", 1),
        call(3, "IDXGISwapChain1::Present"),
    ]
    trace = opened(snappy(header() + b"".join(map(encoder.both, calls))))
    assert summarize(trace).frames == 3
    dump_trace(trace, out)
    assert out.getvalue().count("\n\n") == 4, "the dump parts tested frames too"


@pytest.mark.parametrize(
    ("function", "api"),
    [
        ("D3D10CreateDevice", "Direct3D 10"),
        ("D3D10CreateDeviceAndSwapChain", "Direct3D 10"),
        ("D3D10CreateDevice1", "Direct3D 10.1"),
        ("D3D10CreateDeviceAndSwapChain1", "Direct3D 10.1"),
        ("D3D11CreateDevice", "Direct3D 11"),
        ("D3D11CreateDeviceAndSwapChain", "Direct3D 11"),
    ],
)
def test_the_function_that_creates_a_device_names_the_api(function: str, api: str) -> None:
    encoder = Encoder()
    calls = [call(0, function), call(1, "ID3D10Device1::Draw"), call(2, "IDXGIFactory7::Release")]
    events = b"".join(map(encoder.both, calls))
    assert summarize(opened(snappy(header() + events))).apis == (api,)


def test_calls_are_counted() -> None:
    encoder = Encoder()
    calls = [
        call(0, "Direct3DCreate8"),
        call(1, "IDirect3DDevice9Ex::PresentEx", thread=3),
        call(2, "memcpy", flags=1),
        call(3, "memcpy", flags=1),
    ]
    events = [*map(encoder.both, calls), encoder.enter(call(4, "Other"))]
    found = summarize(opened(snappy(header() + b"".join(events))))
    assert (found.calls, found.unfinished, found.fake, found.frames) == (5, 1, 2, 1)
    assert found.apis == ("Direct3D 8", "Direct3D 9")
    assert found.threads == {0: 4, 3: 1}
    assert next(iter(found.functions.items())) == ("memcpy", 2)


def test_real_traces_are_counted() -> None:
    found = {}
    for path in REAL:
        with open_trace(path) as trace:
            summary = summarize(trace)
            found[path.stem] = (summary.calls, summary.frames, summary.apis)
            assert trace.damage is None
    assert found == {
        "d3d10_1_tri": (37, 1, ("Direct3D 10.1",)),
        "d3d7_tri": (22, 0, ("Direct3D 7", "DirectDraw")),
        "d3d9_tri": (17, 1, ("Direct3D 9",)),
        "sdl_testgeometry": (142, 7, ("Direct3D 9",)),
        "sokol_texcube": (340, 4, ("Direct3D 11",)),
    }
