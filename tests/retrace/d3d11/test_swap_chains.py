"""Swap chains of traced programs."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.capture.records import FrameMarker, Pictured, PictureKind
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import SwapChain
from dp2emu.runtime10.objects import Texture2D
from tests.retrace.calls import Pointer, out, struct
from tests.retrace.d3d11.showing import (
    BGRA8,
    BLUE,
    CHAIN,
    CONTEXT,
    DEVICE,
    FACTORY,
    GREEN,
    RED,
    RGBA8,
    SIDES,
    WINDOW,
    Showing,
    chain_desc,
    chain_desc1,
)

PRESENT, RESIZE = "IDXGISwapChain1::Present", "IDXGISwapChain1::ResizeBuffers"
SHOW = {"SyncInterval": 1, "Flags": 0}


def shown(**members: Any) -> Showing:
    program = Showing()
    program.create(**members)
    return program


def pictures(program: Showing) -> list[tuple[int, int]]:
    return [(each.call, each.how) for each in program.records if isinstance(each, Pictured)]


@pytest.mark.parametrize(
    "name", ["D3D10CreateDeviceAndSwapChain", "D3D11CreateDeviceAndSwapChain"]
)
def test_a_device_is_created_with_a_swap_chain(name: str) -> None:
    program = Showing()
    desc = {"pSwapChainDesc": (chain_desc(),), "ppSwapChain": out(CHAIN)}
    program.play(name, **desc, ppDevice=out(0x2000))
    chain = program.at(CHAIN, SwapChain)
    assert chain.device is program.at(0x2000, Device)
    assert chain.get_desc().BufferDesc[:2] == SIDES
    assert program.losses() == []


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("IDXGIFactory2::CreateSwapChainForHwnd", {"hWnd": Pointer(WINDOW)}),
        ("IDXGIFactory2::CreateSwapChainForCoreWindow", {"pWindow": Pointer(WINDOW)}),
        ("IDXGIFactory2::CreateSwapChainForComposition", {}),
        ("IDXGIFactoryMedia::CreateSwapChainForCompositionSurfaceHandle", {}),
    ],
)
def test_later_methods_create_swap_chains(method: str, arguments: dict[str, Any]) -> None:
    program = Showing()
    program.play(
        method, this=Pointer(FACTORY), pDevice=Pointer(DEVICE), **arguments,
        pDesc=(chain_desc1(),), ppSwapChain=out(CHAIN),
    )  # fmt: skip
    chain = program.at(CHAIN, SwapChain)
    assert (len(chain.buffers), chain.window is None) == (2, not arguments)
    assert program.losses() == []


def test_full_screen_chains_are_made_for_the_window() -> None:
    program = shown(Windowed=False)
    assert len(program.at(CHAIN, SwapChain).buffers) == 1
    program.of(CHAIN, "IDXGISwapChain1::SetFullscreenState", Fullscreen=True, pTarget=None)
    program.of(CHAIN, "IDXGISwapChain1::SetFullscreenState", Fullscreen=False, pTarget=None)
    full = struct("DXGI_SWAP_CHAIN_FULLSCREEN_DESC", Windowed=False)
    program.play(
        "IDXGIFactory2::CreateSwapChainForHwnd", this=Pointer(FACTORY), pDevice=Pointer(DEVICE),
        hWnd=Pointer(7), pDesc=(chain_desc1(),), pFullscreenDesc=(full,), ppSwapChain=out(0x1208),
    )  # fmt: skip
    assert program.losses() == []
    assert program.at(0x1208, SwapChain).get_fullscreen_state() == (False, None)


def test_a_description_that_dxgi_rejects_is_a_loss() -> None:
    assert shown(BufferCount=0).losses() == ["CreateSwapChain: 0 buffers"]


def test_present_is_a_picture_a_presentation_and_a_frame() -> None:
    program = shown()
    program.fill(RED)
    number = program.of(CHAIN, PRESENT, **SHOW)
    assert pictures(program) == [(number, PictureKind.BACK_BUFFER)]
    assert program.entries()[-1] == "DXGI.Present"
    assert isinstance(program.records[-1], FrameMarker)
    assert program.losses() == []


def test_a_test_is_no_frame() -> None:
    program = shown()
    count = len(program.records)
    program.of(CHAIN, PRESENT, SyncInterval=0, Flags=1)
    assert len(program.records) == count


def test_buffers_exchange_what_they_hold() -> None:
    program = shown(BufferCount=3, SwapEffect=1)
    for index, color in enumerate((RED, GREEN, BLUE)):
        program.fill(color, index)
    program.of(CHAIN, PRESENT, **SHOW)
    assert program.colors() == [{GREEN}, {BLUE}, {RED}]


def test_a_presented_part_leaves_the_frame_before() -> None:
    program = shown(BufferCount=2, SwapEffect=3)
    program.fill(RED)
    program.of(CHAIN, PRESENT, **SHOW)
    program.fill(BLUE)
    rect = struct("RECT", left=0, top=0, right=2, bottom=2)
    given = struct(
        "DXGI_PRESENT_PARAMETERS", DirtyRectsCount=1, pDirtyRects=(rect,), pScrollRect=(rect,),
        pScrollOffset=(struct("POINT", x=0, y=0),),
    )  # fmt: skip
    arguments = {"SyncInterval": 0, "PresentFlags": 0, "pPresentParameters": (given,)}
    program.of(CHAIN, "IDXGISwapChain1::Present1", **arguments)
    assert program.colors() == [{RED}, {RED, BLUE}]
    assert program.losses() == []


def test_present1_without_rectangles_shows_all() -> None:
    program = shown(BufferCount=2, SwapEffect=3)
    nothing = {"pDirtyRects": None, "pScrollRect": None, "pScrollOffset": None}
    given = struct("DXGI_PRESENT_PARAMETERS", DirtyRectsCount=0, **nothing)
    for parameters in ((given,), None):
        arguments = {"SyncInterval": 0, "Flags": 8, "pPresentParameters": parameters}
        program.of(CHAIN, "IDXGISwapChain4::Present1", **arguments)
    assert program.at(CHAIN, SwapChain).get_last_present_count() == 2
    assert program.losses() == []


@pytest.mark.parametrize("method", [RESIZE, "IDXGISwapChain3::ResizeBuffers1"])
def test_buffers_are_resized(method: str) -> None:
    program = shown()
    buffer = program.buffer()
    program.of(buffer, "ID3D11Texture2D::Release", result=0)
    format = {"NewFormat" if method == RESIZE else "Format": BGRA8}
    sides = {"BufferCount": 2, "Width": 8, "Height": 6}
    program.of(CHAIN, method, **sides, **format, SwapChainFlags=2)
    desc = program.at(CHAIN, SwapChain).get_desc1()
    assert (desc[:3], desc.BufferCount, desc.Flags) == ((8, 6, BGRA8), 2, 2)
    assert program.losses() == []


def test_a_resize_that_succeeded_had_no_references() -> None:
    program = shown()
    program.buffer()
    sides = {"BufferCount": 0, "Width": 8, "Height": 6, "NewFormat": 0, "SwapChainFlags": 0}
    program.of(CHAIN, RESIZE, **sides)
    desc = program.at(CHAIN, SwapChain).get_desc1()
    assert (desc[:3], desc.BufferCount) == ((8, 6, RGBA8), 1)
    assert program.losses() == []


def test_a_resized_target_is_a_window_of_another_size() -> None:
    program = shown()
    mode = chain_desc((9, 5))["BufferDesc"]
    program.of(CHAIN, "IDXGISwapChain1::ResizeTarget", pNewTargetParameters=(mode,))
    window = program.at(CHAIN, SwapChain).get_hwnd()
    assert (window.width, window.height) == (9, 5)


def test_a_swap_chain_lives_until_its_last_reference_is_released() -> None:
    program = shown()
    program.of(CHAIN, "IDXGISwapChain1::Release", result=1)
    chain = program.at(CHAIN, SwapChain)
    program.of(CHAIN, "IDXGISwapChain1::QueryInterface", ppvObj=out(0x1280))
    assert program.at(0x1280, SwapChain) is chain
    program.of(0x1280, "IDXGISwapChain1::Release", result=0)
    assert program.program.objects.addresses(chain) == []
    assert program.entries()[-1] == "DestroyResource"
    program.of(CHAIN, PRESENT, **SHOW)
    assert program.losses() == [f"Present: {CHAIN:#x} is nothing known, not a SwapChain"]


def test_an_address_of_a_swap_chain_comes_again() -> None:
    program = shown()
    first = program.at(CHAIN, SwapChain)
    program.of(CHAIN, "IDXGISwapChain1::Release", result=0)
    program.create(size=(8, 6))
    assert program.at(CHAIN, SwapChain) is not first
    assert program.at(program.buffer(), Texture2D).desc[:2] == (8, 6)
    assert program.losses() == []


def test_the_device_of_a_swap_chain() -> None:
    program = shown()
    program.of(CHAIN, "IDXGISwapChain1::GetDevice", riid=None, ppDevice=out(0x1700))
    assert program.at(0x1700, Device) is program.at(DEVICE, Device)


def test_a_buffer_without_one_is_a_loss() -> None:
    program = shown()
    program.buffer(3)
    assert program.losses() == ["GetBuffer: buffer 3"]


def test_video_swap_chains_are_named() -> None:
    program = Showing()
    name = "CreateDecodeSwapChainForCompositionSurfaceHandle"
    program.of(FACTORY, f"IDXGIFactoryMedia::{name}", ppSwapChain=out(CHAIN))
    assert program.losses() == [f"{name}: swap chains of video decoders"]


def test_present_of_the_flip_model_unbinds_the_target() -> None:
    program = shown(BufferCount=2, SwapEffect=4)
    view = {"pResource": Pointer(program.buffer()), "pDesc": None, "ppRTView": out(0x1F10)}
    program.of(DEVICE, "ID3D11Device2::CreateRenderTargetView", **view)
    targets = {"NumViews": 1, "ppRenderTargetViews": out(0x1F10), "pDepthStencilView": None}
    program.of(CONTEXT, "ID3D11DeviceContext1::OMSetRenderTargets", **targets)
    program.of(CHAIN, PRESENT, **SHOW)
    context = program.at(DEVICE, Device).context
    assert context.om_get_render_targets(1) == ([None], None)
    assert program.losses() == []
