"""Sizes of windows that later calls of the trace tell."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.capture.records import FrameMarker
from dp2emu.retrace.d3d11.window_sizes import MOST_BYTES, MOST_HELD, MOST_UNANSWERED
from dp2emu.runtime10.dxgi import SwapChain
from dp2emu.runtime10.objects import Texture2D
from tests.retrace.calls import Pointer, out, struct
from tests.retrace.d3d11.showing import (
    CHAIN,
    CONTEXT,
    DEVICE,
    FACTORY,
    RGBA8,
    Showing,
    chain_desc,
    chain_desc1,
)

BUFFER = 0x1400
UNKNOWN = "CreateSwapChain: a swap chain with the size of its window, which no call tells"
VIEWPORT = {"TopLeftX": 2.0, "TopLeftY": 1.0, "Width": 60.0, "Height": 39.5}
TEXTURE = {"Width": 62, "Height": 41, "ArraySize": 1, "BindFlags": 0x40}
FLAT = {"Width": 62, "Height": 41, "Format": RGBA8}

TELLING: list[tuple[int, str, dict[str, Any]]] = [
    (CHAIN, "IDXGISwapChain1::GetDesc", {"pDesc": (chain_desc((62, 41)),)}),
    (CHAIN, "IDXGISwapChain1::GetDesc1", {"pDesc": (chain_desc1((62, 41)),)}),
    (BUFFER, "ID3D11Texture2D::GetDesc", {"pDesc": (struct("DESC", **FLAT),)}),
    (BUFFER, "IDXGISurface1::GetDesc", {"pDesc": (struct("DESC", **FLAT),)}),
    (CONTEXT, "ID3D11DeviceContext::RSSetViewports", {"pViewports": (struct("VP", **VIEWPORT),)}),
]


def unsized() -> Showing:
    program = Showing()
    program.create(size=(0, 0))
    program.buffer()
    return program


def size(program: Showing, chain: int = CHAIN) -> tuple[int, int]:
    return program.at(chain, SwapChain).get_desc().BufferDesc[:2]


@pytest.mark.parametrize(("this", "name", "arguments"), TELLING)
def test_a_later_call_tells_the_size(this: int, name: str, arguments: dict[str, Any]) -> None:
    program = unsized()
    assert program.program.objects.get(CHAIN) is None
    program.of(this, name, **arguments)
    assert size(program) == (62, 41)
    assert program.at(BUFFER, Texture2D).desc[:2] == (62, 41)
    assert program.losses() == []


def test_a_depth_stencil_texture_tells_the_size() -> None:
    program = unsized()
    rest = {
        "MipLevels": 1, "Format": 45, "SampleDesc": struct("DXGI_SAMPLE_DESC", Count=1, Quality=0),
        "Usage": 0, "CPUAccessFlags": 0, "MiscFlags": 0,
    }  # fmt: skip
    name = "ID3D11Device::CreateTexture2D"
    for members, address in (
        ({"BindFlags": 8, "Width": 8, "Format": RGBA8}, 0x1500),
        ({}, 0x1600),
    ):
        desc = struct("D3D11_TEXTURE2D_DESC", **(TEXTURE | rest | members))
        program.of(DEVICE, name, pDesc=(desc,), pInitialData=None, ppTexture2D=out(address))
    assert size(program) == (62, 41)
    assert program.at(0x1500, Texture2D).desc.Width == 8
    assert program.losses() == []


def test_a_resize_tells_the_size() -> None:
    program = unsized()
    sides = {"BufferCount": 0, "Width": 62, "Height": 41, "NewFormat": 0, "SwapChainFlags": 0}
    program.of(BUFFER, "ID3D11Texture2D::Release", result=0)
    program.of(CHAIN, "IDXGISwapChain1::ResizeBuffers", **sides)
    assert size(program) == (62, 41)
    assert program.losses() == []


def test_a_device_waits_with_its_swap_chain() -> None:
    program = Showing()
    desc = {"pSwapChainDesc": (chain_desc((0, 0)),), "ppSwapChain": out(CHAIN)}
    program.play("D3D11CreateDeviceAndSwapChain", **desc, ppDevice=out(0x2000))
    assert program.program.objects.get(0x2000) is None
    program.of(CHAIN, "IDXGISwapChain::GetDesc", pDesc=(chain_desc((62, 41)),))
    assert size(program) == (62, 41)
    assert program.losses() == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("IDXGISwapChain1::GetDesc", {"this": Pointer(0x1290), "pDesc": (chain_desc((9, 9)),)}),
        ("ID3D11Texture2D::GetDesc", {"this": Pointer(0x1290), "pDesc": None}),
        ("ID3D11DeviceContext::RSSetViewports", {"this": Pointer(CONTEXT), "pViewports": None}),
        ("ID3D11DeviceContext::RSSetViewports", {"this": 0, "pViewports": (struct("VP"),)}),
        ("ID3D11Device::CreateTexture2D", {"this": Pointer(DEVICE), "pDesc": (struct("D"),)}),
    ],
)
def test_calls_of_other_objects_and_senseless_ones_tell_nothing(
    name: str, arguments: dict[str, Any]
) -> None:
    program = unsized()
    program.play(name, **arguments)
    assert program.program.objects.get(CHAIN) is None


def test_no_side_of_a_texture_is_longer_than_the_longest() -> None:
    program = unsized()
    for width in (0.0, 1e9, float("inf"), float("nan")):
        row = struct("VP", **(VIEWPORT | {"Width": width - 2}))
        program.of(CONTEXT, "ID3D11DeviceContext::RSSetViewports", pViewports=(row,))
    assert program.program.objects.get(CHAIN) is None


def test_present_without_a_size_is_a_loss_of_its_name() -> None:
    program = unsized()
    program.of(CHAIN, "IDXGISwapChain1::Present", SyncInterval=1, Flags=0)
    assert size(program) == (640, 480)
    assert program.losses() == [UNKNOWN]
    assert isinstance(program.records[-1], FrameMarker)


def test_the_end_without_a_size_is_a_loss_of_its_name() -> None:
    program = unsized()
    program.program.end()
    assert size(program) == (640, 480)
    assert program.losses() == [UNKNOWN]


def test_calls_that_are_held_back_are_bounded() -> None:
    program = unsized()
    program.create(chain=0x1800, size=(0, 0), window=7)
    for _ in range(MOST_HELD):
        program.of(CONTEXT, "ID3D11DeviceContext::Flush")
    assert size(program) == size(program, 0x1800) == (640, 480)
    assert program.losses() == [UNKNOWN, UNKNOWN]


def test_bytes_that_are_held_back_are_bounded() -> None:
    program = unsized()
    data = bytes(MOST_BYTES // 2)
    for _ in range(2):
        row = struct("D3D11_SUBRESOURCE_DATA", pSysMem=data)
        program.of(CONTEXT, "ID3D11DeviceContext::Flush", pData=(row,))
    assert program.losses() == [UNKNOWN]


def test_after_some_searches_without_an_answer_no_call_waits() -> None:
    program = Showing()
    for number in range(MOST_UNANSWERED + 1):
        program.create(size=(0, 0), window=number)
        program.of(CHAIN, "IDXGISwapChain1::Release", result=0)
        if number < MOST_UNANSWERED:
            program.of(CHAIN, "IDXGISwapChain1::Present", SyncInterval=1, Flags=0)
    assert program.losses().count(UNKNOWN) == MOST_UNANSWERED + 1


def test_each_swap_chain_waits_for_its_own_window() -> None:
    program = unsized()
    program.create(chain=0x1800, size=(0, 0), window=7)
    program.of(CHAIN, "IDXGISwapChain1::GetDesc", pDesc=(chain_desc((62, 41)),))
    assert size(program) == (62, 41)
    assert program.program.objects.get(0x1800) is None
    program.of(0x1800, "IDXGISwapChain1::GetDesc", pDesc=(chain_desc((5, 6)),))
    assert size(program, 0x1800) == (5, 6)
    assert program.losses() == []


def test_a_resize_to_the_window_waits_and_keeps_the_size_without_an_answer() -> None:
    program = Showing()
    program.create(size=(62, 41))
    sides = {"BufferCount": 3, "Width": 0, "Height": 0, "NewFormat": 0, "SwapChainFlags": 0}
    program.of(CHAIN, "IDXGISwapChain1::ResizeBuffers", **sides)
    program.of(CHAIN, "IDXGISwapChain1::GetDesc", pDesc=(chain_desc((30, 20)),))
    assert size(program) == (30, 20)
    program.of(CHAIN, "IDXGISwapChain1::ResizeBuffers", **sides)
    program.of(CHAIN, "IDXGISwapChain1::Present", SyncInterval=1, Flags=0)
    assert size(program) == (30, 20)
    assert program.losses() == []


def test_a_chain_for_composition_does_not_wait() -> None:
    program = Showing()
    program.play(
        "IDXGIFactory2::CreateSwapChainForComposition", this=Pointer(FACTORY),
        pDevice=Pointer(DEVICE), pDesc=(chain_desc1((0, 0)),), ppSwapChain=out(CHAIN),
    )  # fmt: skip
    assert program.losses() == [
        "CreateSwapChainForComposition: a swap chain for composition without a width"
    ]


def test_chains_in_one_window_share_its_size() -> None:
    program = unsized()
    program.of(CHAIN, "IDXGISwapChain1::GetDesc", pDesc=(chain_desc((62, 41)),))
    program.create(chain=0x1800, size=(30, 20))
    window = program.at(CHAIN, SwapChain).get_hwnd()
    assert window is program.at(0x1800, SwapChain).get_hwnd()
    assert (window.width, window.height) == (30, 20)
