"""A device that draws: objects made through the entries, in memory of the sizes they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.resources.maps import Map, MappedSubresource
from dp2emu.ddi10.resources.resource import (
    BindFlag,
    CreateResource,
    DxgiSampleDesc,
    MipInfo,
    ResourceType,
    SubresourceUP,
    Usage,
)
from dp2emu.ddi10.resources.views import CreateTargetView
from dp2emu.ddi10.states.bindings import Scissor, Viewport
from dp2emu.ddi10.states.input_layout import CreateElementLayout, InputElement
from dp2emu.ddi10.states.state_objects import BlendDesc1, DepthStencilDesc, RasterizerDesc
from dp2emu.gpu.device.timing import Timing
from tests.ddi10.drawing import SIZE, strip, tokens
from tests.ddi10.driving import Driven

RGBA8 = DxgiFormat.R8G8B8A8_UNORM
D24S8 = DxgiFormat.D24_UNORM_S8_UINT
FLOAT4 = DxgiFormat.R32G32B32A32_FLOAT
NO_DEPTH = DepthStencilDesc(DepthEnable=0)
NO_CULL = RasterizerDesc(CullMode=1)
STRIP, LIST = 5, 4

Handle = bytearray


class Rendering(Driven):
    """A device with helpers that make objects and read memory back."""

    def memory_of(self, noun: str, *description: object) -> Handle:
        """Memory for an object of a kind, of the size it takes."""
        size = {"VertexShader": "Shader", "PixelShader": "Shader"}.get(noun, noun)
        return bytearray(self.device.functions[f"CalcPrivate{size}Size"](*description))

    def make(self, noun: str, *description: object) -> Handle:
        """An object of a kind."""
        memory = self.memory_of(noun, *description)
        assert self.call(f"Create{noun}", *description, memory) == []
        return memory

    def buffer(
        self, data: bytes, bind: int = BindFlag.VERTEX_BUFFER, usage: int = Usage.DEFAULT
    ) -> Handle:
        up = None if usage == Usage.STAGING else [SubresourceUP(data)]
        info = [MipInfo(len(data))]
        return self.make("Resource", CreateResource(info, up, ResourceType.BUFFER, usage, bind))

    def texture(
        self,
        format: DxgiFormat = RGBA8,
        width: int = SIZE,
        height: int = SIZE,
        *,
        bind: int = BindFlag.RENDER_TARGET,
        usage: int = Usage.DEFAULT,
        levels: int = 1,
        slices: int = 1,
        samples: int = 1,
        kind: int = ResourceType.TEXTURE2D,
        depth: int = 1,
        data: Sequence[SubresourceUP] | None = None,
    ) -> Handle:
        return self.make("Resource", CreateResource(
            infos(levels, width, height, depth), data, kind, usage, bind,
            Format=format.value, SampleDesc=DxgiSampleDesc(samples), MipLevels=levels,
            ArraySize=slices,
        ))  # fmt: skip

    def target(self, resource: Handle, format: DxgiFormat = RGBA8, *part: int) -> Handle:
        desc = CreateTargetView(resource, format.value, ResourceType.TEXTURE2D, *part)
        return self.make("RenderTargetView", desc)

    def depth(self, resource: Handle, format: DxgiFormat = D24S8, *part: int) -> Handle:
        desc = CreateTargetView(resource, format.value, ResourceType.TEXTURE2D, *part)
        return self.make("DepthStencilView", desc)

    def shaders(self, vs: str = "vs_pass", ps: str | None = "ps_color") -> None:
        """Set recorded shaders."""
        self.call("VsSetShader", self.make("VertexShader", tokens(vs)))
        pixel = None if ps is None else self.make("PixelShader", tokens(ps))
        self.call("PsSetShader", pixel)

    def layout(self, *elements: InputElement) -> None:
        self.call("IaSetInputLayout", self.make("ElementLayout", CreateElementLayout(elements)))

    def vertices(self, rows: Any, slot: int = 0, stride: int = 32) -> None:
        data = np.array(rows, "<f4").tobytes()
        self.call("IaSetVertexBuffers", slot, [self.buffer(data)], [stride], [0])

    def prepare(
        self,
        *,
        size: int = SIZE,
        depth: DepthStencilDesc = NO_DEPTH,
        raster: RasterizerDesc = NO_CULL,
        blend: BlendDesc1 | None = None,
        sample_mask: int = 0xFFFFFFFF,
    ) -> None:
        """Vertices of a position and a colour, states, and a viewport."""
        self.layout(
            InputElement(0, 0, FLOAT4.value, InputRegister=0),
            InputElement(0, 16, FLOAT4.value, InputRegister=1),
        )
        self.call("IaSetTopology", STRIP)
        self.call("SetDepthStencilState", self.make("DepthStencilState", depth), 0)
        self.call("SetRasterizerState", self.make("RasterizerState", raster))
        state = None if blend is None else self.make("BlendState", blend)
        self.call("SetBlendState", state, (1, 1, 1, 1), sample_mask)
        self.call("SetViewports", 15, [Viewport(0, 0, size, size)])
        self.call("SetScissorRects", 15, [Scissor(0, 0, size, size)])

    def read(self, resource: Handle, index: int = 0) -> bytes:
        """A subresource as it is when all is done."""
        mapped: MappedSubresource = self.device.functions["ResourceMap"](
            resource, index, Map.READ, 0
        )
        found = bytes(mapped.pData)
        assert self.call("ResourceUnmap", resource, index) == []
        return found

    def pixels(self, resource: Handle, index: int = 0, size: int = SIZE) -> NDArray[np.uint32]:
        """The words of a square subresource of 32-bit texels."""
        return np.frombuffer(self.read(resource, index), "<u4").reshape(size, -1)


RED, GREEN, BLUE, WHITE = (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (1, 1, 1, 1)
WORDS = {RED: 0xFF0000FF, GREEN: 0xFF00FF00, BLUE: 0xFFFF0000, WHITE: 0xFFFFFFFF}


class Drawing(Rendering):
    """A device with a target, a depth buffer if wanted, and a strip over all of it."""

    def __init__(
        self,
        interface: Interface = Interface.D3D11_0,
        *,
        vs: str = "vs_pass",
        ps: str | None = "ps_color",
        depth: DepthStencilDesc = NO_DEPTH,
        samples: int = 1,
        timing: Timing | None = None,
        adapter: Adapter | None = None,
        **states: Any,
    ) -> None:
        super().__init__(timing, interface=interface, adapter=adapter)
        self.color = self.texture(samples=samples)
        self.view: bytearray | None = self.target(self.color)
        self.deep = self.texture(D24S8, bind=BindFlag.DEPTH_STENCIL, samples=samples)
        self.deep_view = self.depth(self.deep)
        self.prepare(depth=depth, **states)
        self.shaders(vs, ps)
        self.vertices(strip(RED))
        tested = depth.DepthEnable or depth.StencilEnable
        self.call("SetRenderTargets", [self.view], 7, self.deep_view if tested else None)
        self.call("ClearDepthStencilView", self.deep_view, 3, 1.0, 0)

    def drawn(self, color: Sequence[float] = RED) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Where the target is of a colour."""
        found: np.ndarray[Any, np.dtype[np.bool_]]
        found = self.pixels(self.color) == WORDS[tuple(color)]
        return found

    @property
    def filled(self) -> int:
        return int(self.drawn().sum())


def infos(levels: int, width: int, height: int = 1, depth: int = 1) -> list[MipInfo]:
    """Levels that halve."""
    sides = (width, height, depth)
    return [MipInfo(*(max(side >> level, 1) for side in sides)) for level in range(levels)]
