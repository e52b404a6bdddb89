"""A program that shows frames of one color in a window."""

from __future__ import annotations

from typing import Any

from dp2emu.ddi10.adapter import Adapter
from dp2emu.runtime10.codes import Api
from dp2emu.runtime10.descriptions import SampleDesc
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import (
    BufferUsage,
    ModeDesc,
    SwapChain,
    SwapChainDesc,
    SwapEffect,
    Window,
    create_dxgi_factory,
)
from dp2emu.runtime10.objects import Texture2D

RGBA8, BGRA8, SRGB8, FLOAT16, RGB10 = 28, 87, 29, 10, 24
SIDES = 4, 2
TARGET = int(BufferUsage.RENDER_TARGET_OUTPUT)

Color = tuple[int, int, int, int]
RED, GREEN, BLUE, WHITE = (255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 255, 255), (255,) * 4


class Program:
    """A device with a swap chain; ``members`` are members of its description."""

    def __init__(self, api: Api = Api.D3D11, **members: Any) -> None:
        self.factory = create_dxgi_factory(Adapter(checking=True))
        self.device = Device(self.factory.enum_adapters(0), api)
        self.window = Window(*SIDES)
        self.chain = self.create(**members)

    def create(self, format: int = RGBA8, samples: int = 1, **members: Any) -> SwapChain:
        """Another swap chain."""
        desc = SwapChainDesc(
            ModeDesc(Format=format), SampleDesc(samples), OutputWindow=self.window
        )
        return self.factory.create_swap_chain(self.device, desc._replace(**members))

    def fill(self, color: Color) -> None:
        """Fill the first back buffer with a color."""
        buffer = self.chain.get_buffer(0)
        view = self.device.create_render_target_view(buffer)
        channels = [each / 255 for each in color]
        self.device.context.clear_render_target_view(view, channels)
        view.release()
        buffer.release()

    def show(self, *colors: Color) -> None:
        """Present a frame of each color."""
        for color in colors:
            self.fill(color)
            self.chain.present()

    def pixels(self, buffer: Texture2D) -> list[Color]:
        """The pixels of a buffer, row by row."""
        data = self.device.driver.read(buffer.driver)
        return [(*data[at : at + 4],) for at in range(0, len(data), 4)]  # type: ignore[misc]

    def colors(self) -> list[Color]:
        """The color of each back buffer that is of one color."""
        found = [set(self.pixels(each)) for each in self.chain.buffers]
        return [next(iter(each)) for each in found if len(each) == 1]


def flipping(count: int = 2, **members: Any) -> Program:
    """A program with a swap chain of DXGI_SWAP_EFFECT_FLIP_SEQUENTIAL."""
    effect = int(SwapEffect.FLIP_SEQUENTIAL)
    return Program(**{"SwapEffect": effect, "BufferCount": count, **members})
