"""Devices, swap chains, frames and read-backs."""

from __future__ import annotations

from dp2emu.capture.records import ContextCreated, ContextDestroyed, FrameMarker, Pictured
from dp2emu.d3d.enums import Format, RenderState
from tests.retrace.calls import Pointer, out
from tests.retrace.d3d9.bench import DEVICE, Bench, parameters

RED, GREEN, BLUE = 0xFFFF0000, 0xFF00FF00, 0xFF0000FF
ALL = {"pSourceRect": None, "pDestRect": None}


def pictures(bench: Bench) -> list[tuple[int, int, int]]:
    return [(r.call, r.how, r.handle) for r in bench.records if isinstance(r, Pictured)]


def test_present_shows_the_first_target_and_ends_a_frame() -> None:
    bench = Bench()
    bench.fill(RED)
    number = bench.device("Present", **ALL)
    (desc,) = bench.app.device.targets.values()
    assert pictures(bench) == [(number, 1, desc.handle)]
    assert next(r for r in bench.records if isinstance(r, FrameMarker)).surface == desc.handle
    assert bench.words(bench.app.chains[0].front) == [[RED] * 8] * 4
    assert bench.losses() == []


def test_back_buffers_exchange_what_they_hold() -> None:
    bench = Bench(BackBufferCount=3)
    ring = [
        bench.make("GetBackBuffer", "ppBackBuffer", iSwapChain=0, iBackBuffer=n, Type=0)
        for n in range(3)
    ]
    for address, color in zip(ring, (RED, GREEN, BLUE), strict=True):
        bench.device("ColorFill", pSurface=Pointer(address), pRect=None, color=color)
    bench.device("Present", **ALL)
    seen = [bench.words(bench.resource(address))[0][0] for address in ring]
    assert seen == [GREEN, BLUE, RED]


def test_target_data_and_the_front_buffer_are_copied_and_pictured() -> None:
    bench = Bench()
    made = {"Width": 8, "Height": 4, "Format": int(Format.A8R8G8B8), "Pool": 2}
    system = bench.make("CreateOffscreenPlainSurface", "ppSurface", **made)
    target = bench.make("GetRenderTarget", "ppRenderTarget", RenderTargetIndex=0)
    bench.fill(RED)
    bench.device("Present", **ALL)
    bench.fill(GREEN)
    names = {"pRenderTarget": Pointer(target), "pDestSurface": Pointer(system)}
    first = bench.device("GetRenderTargetData", **names)
    assert bench.words(bench.resource(system)) == [[GREEN] * 8] * 4
    second = bench.device("GetFrontBufferData", iSwapChain=0, pDestSurface=Pointer(system))
    assert bench.words(bench.resource(system)) == [[RED] * 8] * 4
    assert [picture[:2] for picture in pictures(bench)[1:]] == [(first, 2), (second, 3)]


def test_a_reset_gives_new_chains_and_default_states() -> None:
    bench = Bench()
    bench.device("SetRenderState", State=int(RenderState.FOGENABLE), Value=1)
    before = bench.app.device.back_buffer
    bench.device(
        "Reset", pPresentationParameters=(parameters(BackBufferWidth=16, BackBufferCount=2),)
    )
    after = bench.app.device.back_buffer
    assert (after.width, after.handle != before.handle) == (16, True)
    assert bench.app.mirror.get("render", RenderState.FOGENABLE) == 0
    assert bench.app.device.render_state(RenderState.FOGENABLE) == 0
    assert len(bench.app.chains[0].back_buffers) == 2
    assert before.handle not in bench.app.resources
    assert bench.losses() == []


def test_a_device_goes_with_its_last_reference() -> None:
    bench = Bench()
    bench.device("Release", result=Pointer(1))
    bench.play("IDirect3DDevice9::Release", this=Pointer(DEVICE), result=Pointer(0))
    assert [r.context for r in bench.records if isinstance(r, ContextDestroyed)] == [1]
    assert bench.program.objects.get(DEVICE) is None


def test_devices_that_live_together_share_no_context_and_no_handle() -> None:
    bench = Bench()
    bench.play(
        "IDirect3D9::CreateDevice",
        pPresentationParameters=(parameters(),),
        ppReturnedDeviceInterface=out(DEVICE + 8),
    )
    made = [r for r in bench.records if isinstance(r, ContextCreated)]
    assert [r.context for r in made] == [1, 2]
    assert made[0].color != made[1].color


def test_chains_have_back_buffers_of_their_own() -> None:
    bench = Bench()
    chain = bench.make(
        "CreateAdditionalSwapChain", "pSwapChain", pPresentationParameters=(parameters(),)
    )
    buffer = bench.get(
        chain, "IDirect3DSwapChain9", "GetBackBuffer", "ppBackBuffer", iBackBuffer=0
    )
    bench.device("SetRenderTarget", RenderTargetIndex=0, pRenderTarget=Pointer(buffer))
    bench.fill(GREEN)
    bench.of(chain, "IDirect3DSwapChain9", "Present", **ALL)
    assert bench.words(bench.app.chains[1].front) == [[GREEN] * 8] * 4
    assert bench.words(bench.app.chains[0].back_buffers[0]) == [[0] * 8] * 4
    bench.device("GetSwapChain", iSwapChain=5, pSwapChain=out(0x77))
    assert bench.losses() == ["GetSwapChain: there are 2, not a number 5"]


def test_parameters_that_are_missing_are_a_loss() -> None:
    bench = Bench()
    bench.device("Reset", pPresentationParameters=None)
    assert bench.losses() == ["Reset: nothing instead of a structure"]


def test_more_back_buffers_than_there_can_be_are_a_loss() -> None:
    bench = Bench()
    bench.device("Reset", pPresentationParameters=(parameters(BackBufferCount=1 << 31),))
    assert bench.losses() == [f"Reset: {1 << 31} back buffers"]


def test_a_back_buffer_is_a_target_after_its_last_release_and_after_a_reset() -> None:
    bench = Bench()
    address = bench.make("GetBackBuffer", "ppBackBuffer", iSwapChain=0, iBackBuffer=0, Type=0)
    bench.of(address, "IDirect3DSurface9", "Release", result=Pointer(0))
    depth = bench.make("GetDepthStencilSurface", "ppZStencilSurface")
    bench.of(depth, "IDirect3DSurface9", "Release", result=Pointer(0))
    for width in (8, 16):
        if width != 8:
            bench.device("Reset", pPresentationParameters=(parameters(BackBufferWidth=width),))
        bench.device("SetRenderTarget", RenderTargetIndex=0, pRenderTarget=Pointer(address))
        bench.device("SetDepthStencilSurface", pNewZStencil=Pointer(depth))
        bench.fill(width)
        assert bench.words(bench.target) == [[width] * width] * 4
    assert bench.losses() == []
