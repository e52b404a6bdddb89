"""DXGI swap chains: back buffers of a device and their presentation, in a window.

Source: the DXGI documentation of IDXGISwapChain and DXGI_SWAP_EFFECT.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import NamedTuple

from dp2emu.argument_check import checked
from dp2emu.ddi10.dxgi import PresentArguments, PresentFlag
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.descriptions import SampleDesc, Texture2DDesc
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.objects import Texture2D


class SwapEffect(IntEnum):
    """DXGI_SWAP_EFFECT."""

    DISCARD = 0
    SEQUENTIAL = 1
    FLIP_SEQUENTIAL = 3
    FLIP_DISCARD = 4


class BufferUsage(IntFlag):
    """DXGI_USAGE."""

    SHADER_INPUT = 0x10
    RENDER_TARGET_OUTPUT = 0x20
    UNORDERED_ACCESS = 0x400


PRESENT_TEST = 1
"""DXGI_PRESENT_TEST."""
_BINDS = {
    BufferUsage.SHADER_INPUT: int(BindFlag.SHADER_RESOURCE),
    BufferUsage.RENDER_TARGET_OUTPUT: int(BindFlag.RENDER_TARGET),
    BufferUsage.UNORDERED_ACCESS: 0x80,
}
"""D3D11_BIND_* by DXGI_USAGE."""


_SINGLE = SampleDesc()
_TARGET = int(BufferUsage.RENDER_TARGET_OUTPUT)
_DISCARD = int(SwapEffect.DISCARD)


class SwapChainDesc(NamedTuple):
    """DXGI_SWAP_CHAIN_DESC1, the part that back buffers have."""

    Width: int
    Height: int
    Format: int
    SampleDesc: SampleDesc = _SINGLE
    BufferUsage: int = _TARGET
    BufferCount: int = 1
    SwapEffect: int = _DISCARD


@checked
class SwapChain:
    """IDXGISwapChain in a window.  Mutable: buffers exchange their contents."""

    def __init__(self, device: Device, desc: SwapChainDesc) -> None:
        self.device = device
        self.desc = desc
        self.buffers = self._made()

    def _made(self) -> list[Texture2D]:
        """The back buffers; the swap chain keeps them alive."""
        desc = self.desc
        bind = sum(flag for usage, flag in _BINDS.items() if desc.BufferUsage & usage)
        described = Texture2DDesc(
            desc.Width, desc.Height, 1, 1, desc.Format, desc.SampleDesc, BindFlags=bind
        )
        buffers = [self.device.create_back_buffer(described) for _ in range(desc.BufferCount)]
        for each in buffers:
            each.users += 1
            each.release()
        return buffers

    def get_buffer(self, index: int) -> Texture2D:
        """GetBuffer: a back buffer, with a reference more.

        Raises Refused (DXGI_ERROR_INVALID_CALL) for a buffer that does not exist.
        """
        if not 0 <= index < len(self.buffers):
            raise Refused(Result.DXGI_ERROR_INVALID_CALL, f"buffer {index}")
        self.buffers[index].add_ref()
        return self.buffers[index]

    def present(self, sync_interval: int = 0, flags: int = 0) -> None:
        """Present: show the first buffer; other swap effects than DISCARD rotate the buffers."""
        if flags & PRESENT_TEST:
            return
        buffer, device = self.buffers[0], self.device
        arguments = PresentArguments(buffer.memory, Flags=PresentFlag.FLIP)
        device.driver.dxgi("Present", arguments._replace(FlipInterval=sync_interval))
        if self.desc.SwapEffect != SwapEffect.DISCARD and len(self.buffers) > 1:
            handles = tuple(each.memory for each in self.buffers)
            device.driver.dxgi("RotateResourceIdentities", handles)

    def resize_buffers(
        self, count: int = 0, width: int = 0, height: int = 0, format: int = 0
    ) -> None:
        """ResizeBuffers: new buffers; 0 keeps a number, a size or a format.

        Raises Refused (DXGI_ERROR_INVALID_CALL) while the application has references to buffers.
        """
        if any(each.references for each in self.buffers):
            raise Refused(Result.DXGI_ERROR_INVALID_CALL, "a buffer has references")
        self.release()
        self.desc = self.desc._replace(
            BufferCount=count or self.desc.BufferCount,
            Width=width or self.desc.Width,
            Height=height or self.desc.Height,
            Format=format or self.desc.Format,
        )
        self.buffers = self._made()

    def release(self) -> None:
        """Release: the buffers live on only where they are used."""
        for each in self.buffers:
            each.drop()
        self.buffers = []
