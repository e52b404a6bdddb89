"""A program made by hand: calls of DXGI on a driver that draws."""

from __future__ import annotations

from typing import Any, TypeVar

from dp2emu.capture.records import EntryCalled, Record
from dp2emu.dp2.driver import Driver
from dp2emu.retrace import importing  # noqa: F401  (registers the methods)
from dp2emu.retrace.program import Program
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import SwapChain
from dp2emu.runtime10.objects import Texture2D
from tests.retrace.calls import Pointer, call, out, struct

DEVICE, CONTEXT, CHAIN, FACTORY, WINDOW = 0x1000, 0x1100, 0x1200, 0x1300, 0x42
RGBA8, BGRA8 = 28, 87
SIDES = 4, 2
Color = tuple[int, int, int, int]
RED, GREEN, BLUE = (255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 255, 255)
_VIEW = 0x1F00
_T = TypeVar("_T")


class Showing:
    """A program with a device at ``DEVICE``.  Mutable: calls are counted."""

    def __init__(self, version: int = 11) -> None:
        self.records: list[Record] = []
        self.program = Program(Driver(), self.records.append)
        self.program.recorder._adapter.gpu.skipped = frozenset()
        self.number = 0
        self.version = version
        context = {"ppImmediateContext": out(CONTEXT)} if version == 11 else {}
        self.play(f"D3D{version}CreateDevice", ppDevice=out(DEVICE), **context)

    def play(self, name: str, *, result: Any = 0, **arguments: Any) -> int:
        """Any call; returns its number."""
        self.number += 1
        self.program.play(call(name, number=self.number, result=result, **arguments))
        return self.number

    def of(self, address: int, method: str, **arguments: Any) -> int:
        """A method of an object, by its interface and name."""
        return self.play(method, this=Pointer(address), **arguments)

    def create(self, chain: int = CHAIN, **members: Any) -> int:
        """CreateSwapChain."""
        pointers = {"this": Pointer(FACTORY), "pDevice": Pointer(DEVICE)}
        return self.play(
            "IDXGIFactory7::CreateSwapChain", **pointers, pDesc=(chain_desc(**members),),
            ppSwapChain=out(chain),
        )  # fmt: skip

    def buffer(self, index: int = 0, address: int = 0x1400, chain: int = CHAIN) -> int:
        """GetBuffer; returns the buffer's address."""
        self.of(chain, "IDXGISwapChain1::GetBuffer", Buffer=index, ppSurface=out(address + index))
        return address + index

    def fill(self, color: Color, index: int = 0) -> None:
        """Fill a back buffer with a color."""
        view = {"pRenderTargetView": Pointer(_VIEW)}
        target = {"pResource": Pointer(self.buffer(index)), "pDesc": None, "ppRTView": out(_VIEW)}
        self.of(DEVICE, "ID3D11Device2::CreateRenderTargetView", **target)
        channels = tuple(each / 255 for each in color)
        clear = "ID3D11DeviceContext1::ClearRenderTargetView"
        self.of(CONTEXT, clear, **view, ColorRGBA=channels)
        self.of(_VIEW, "ID3D11RenderTargetView::Release", result=0)

    def colors(self) -> list[set[Color]]:
        """The colors of each back buffer."""
        return [self.pixels(each) for each in self.at(CHAIN, SwapChain).buffers]

    def pixels(self, texture: Texture2D) -> set[Color]:
        """The colors of a texture."""
        data = self.at(DEVICE, Device).driver.read(texture.driver)
        return {(*data[at : at + 4],) for at in range(0, len(data), 4)}  # type: ignore[misc]

    def at(self, address: int, kind: type[_T]) -> _T:
        """The object at an address."""
        return self.program.objects.find(address, kind)

    def entries(self) -> list[str]:
        """The DDI functions that were called."""
        return [each.entry for each in self.records if isinstance(each, EntryCalled)]

    def losses(self) -> list[str]:
        """What was lost, without the calls' numbers."""
        return [f"{loss.name.partition('::')[2]}: {loss.reason}" for loss in self.program.losses]


def chain_desc(
    size: tuple[int, int] = SIDES, format: int = RGBA8, window: int = WINDOW, **members: Any
) -> Any:
    """DXGI_SWAP_CHAIN_DESC."""
    mode = {"Width": size[0], "Height": size[1], "RefreshRate": rate(), "Format": format}
    rest = {
        "SampleDesc": struct("DXGI_SAMPLE_DESC", Count=1, Quality=0), "BufferUsage": 0x20,
        "BufferCount": 1, "OutputWindow": Pointer(window), "Windowed": True, "SwapEffect": 0,
        "Flags": 0,
    }  # fmt: skip
    described = struct("DXGI_MODE_DESC", **mode, ScanlineOrdering=0, Scaling=0)
    return struct("DXGI_SWAP_CHAIN_DESC", BufferDesc=described, **(rest | members))


def chain_desc1(size: tuple[int, int] = SIDES, **members: Any) -> Any:
    """DXGI_SWAP_CHAIN_DESC1 of the flip model."""
    rest = {
        "SampleDesc": struct("DXGI_SAMPLE_DESC", Count=1, Quality=0), "BufferUsage": 0x20,
        "BufferCount": 2, "Scaling": 0, "SwapEffect": 3, "AlphaMode": 0, "Flags": 0,
    }  # fmt: skip
    return struct(
        "DXGI_SWAP_CHAIN_DESC1", Width=size[0], Height=size[1], Format=RGBA8, Stereo=False,
        **(rest | members),
    )  # fmt: skip


def rate() -> Any:
    """DXGI_RATIONAL of 60 Hz."""
    return struct("DXGI_RATIONAL", Numerator=60, Denominator=1)
