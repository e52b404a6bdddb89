"""The target of hostile draws and dispatches of Direct3D 10 and 11, through entries of the DDI."""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterator
from functools import cache, partial
from random import Random
from typing import Any

import msgspec

from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.hresult import HResult
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.resources.resource import (
    BindFlag,
    CreateResource,
    DxgiSampleDesc,
    MipInfo,
    ResourceType,
    SubresourceUP,
)
from dp2emu.ddi10.resources.unordered_access import CreateUnorderedAccessView
from dp2emu.ddi10.resources.views import CreateShaderResourceView, CreateTargetView
from dp2emu.ddi10.shaders.stream_output import StreamOutputEntry11, StreamOutputShader11
from dp2emu.ddi10.states.bindings import Scissor, Viewport
from dp2emu.ddi10.states.input_layout import CreateElementLayout, InputElement
from dp2emu.ddi10.states.state_objects import (
    BlendDesc1,
    DepthStencilDesc,
    RasterizerDesc,
    RenderTargetBlend,
    SamplerDesc,
)
from dp2emu.errors import Dp2Error, Fault
from dp2emu.fuzz import hostile, mutations
from dp2emu.fuzz.draws import LIMITS, VARIANTS
from dp2emu.fuzz.hostile import near, often, real
from dp2emu.fuzz.target import Target, cases_of
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import JIT, engine
from dp2emu.shader.sm4 import assemble

F = DxgiFormat
_COLORS = [format for format, row in DXGI.items() if Support.BLEND in row.support]
_DEPTHS = [format for format, row in DXGI.items() if Support.DEPTH in row.support]
_TEXTURES = (
    F.R8G8B8A8_UNORM, F.R8_UNORM, F.R16G16_SNORM, F.R32G32B32A32_FLOAT, F.R32G32B32_FLOAT,
    F.R11G11B10_FLOAT, F.BC1_UNORM, F.BC2_UNORM, F.BC3_UNORM, F.BC4_UNORM, F.BC5_SNORM,
    F.R8G8_B8G8_UNORM, F.B5G6R5_UNORM, F.R10G10B10A2_UNORM,
)  # fmt: skip
_VERTEX_FORMATS = (
    F.R32G32B32A32_FLOAT, F.R32G32B32_FLOAT, F.R16G16B16A16_FLOAT, F.R8G8B8A8_UNORM,
    F.R16G16_SNORM, F.R8_UINT, F.R10G10B10A2_UNORM,
)  # fmt: skip
_DIMENSIONS = {
    "texture1d": ResourceType.TEXTURE1D,
    "texture2d": ResourceType.TEXTURE2D,
    "texture2darray": ResourceType.TEXTURE2D,
    "texture3d": ResourceType.TEXTURE3D,
    "texturecube": ResourceType.TEXTURECUBE,
}
_FLOAT4 = "(float,float,float,float)"
_VERTEX_HEAD = """dcl_input v0.xyzw
dcl_input v1.xyzw
dcl_output_siv o0.xyzw, position
dcl_output o1.xyzw
dcl_temps 3"""
_VERTEX_SHADERS = (
    f"vs_4_0\n{_VERTEX_HEAD}\nmov o0, v0\nmov o1, v1\nret",
    f"vs_4_0\ndcl_constantbuffer cb0[4], dynamicIndexed\n{_VERTEX_HEAD}\nftoi r0.x, v1.x\n"
    "add o0, v0, cb0[r0.x + 1]\nmul o1, v1, cb0[r0.x + 0]\nret",
    f"vs_4_0\ndcl_indexableTemp x0[3], 4\n{_VERTEX_HEAD}\nftoi r0.x, v1.x\nmov x0[0], v0\n"
    "mov x0[r0.x + 1], v1\nmov o0, v0\nmov o1, x0[r0.x]\nret",
    f"vs_4_0\ndcl_resource_texture2d {_FLOAT4} t0\n{_VERTEX_HEAD}\nftoi r0, v1\n"
    "ld r1, r0, t0\nmov o0, v0\nadd o1, v1, r1\nret",
)
_PIXEL_HEAD = "dcl_input_ps linear v1.xyzw\ndcl_output o0.xyzw\ndcl_temps 4"
_SAMPLED = "dcl_sampler s0, mode_default\ndcl_resource_{kind} " + _FLOAT4 + " t0\n"
_CONSTANTS = "dcl_constantbuffer cb0[4], dynamicIndexed\n"
_HUGE = "mul r0, v1, cb0[0]\n"
_PIXEL_SHADERS = (
    f"ps_4_0\n{_PIXEL_HEAD}\nmov o0, v1\nret",
    f"ps_4_0\n{_SAMPLED}{_PIXEL_HEAD}\nsample o0, v1, t0, s0\nret",
    f"ps_4_0\n{_CONSTANTS}{_SAMPLED}{_PIXEL_HEAD}\n{_HUGE}sample_b o0, r0, t0, s0, v1.x\nret",
    f"ps_4_0\n{_CONSTANTS}{_SAMPLED}{_PIXEL_HEAD}\n{_HUGE}sample_d o0, r0, t0, s0, cb0[1], cb0[2]"
    "\nret",
    f"ps_4_0\n{_CONSTANTS}{_SAMPLED}{_PIXEL_HEAD}\n{_HUGE}sample_l o0, r0, t0, s0, r0.w\nret",
    f"ps_4_0\n{_CONSTANTS}{_SAMPLED}{_PIXEL_HEAD}\n{_HUGE}ftoi r1, r0\nld o0, r1, t0\nret",
    f"ps_4_0\n{_CONSTANTS}{_PIXEL_HEAD}\nftoi r0, v1\nmov o0, cb0[r0.x + 2]\nret",
    f"ps_5_0\ndcl_uav_raw u1\n{_CONSTANTS}{_PIXEL_HEAD}\n{_HUGE}ftoi r0, r0\n"
    "store_raw u1.xyzw, r0.x, v1\nmov o0, v1\nret",
)
_COMPUTE_HEAD = """dcl_input vThreadID.xyz
dcl_input vThreadIDInGroupFlattened
dcl_temps 4
dcl_thread_group 4, 2, 1
ld_raw r0.xyzw, vThreadIDInGroupFlattened, t0.xyzw
iadd r0.x, r0.x, vThreadID.x
"""
_COMPUTE_SHADERS = tuple(
    f"cs_5_0\ndcl_resource_raw t0\n{declared}\n{_COMPUTE_HEAD}{body}\nret"
    for declared, body in (
        ("dcl_uav_raw u0", "store_raw u0.xyz, r0.x, r0.yzwx\nld_raw r1.x, r0.y, u0.x\n"
                           "atomic_iadd u0, r0.z, r1.x"),
        ("dcl_uav_structured u0, 12",
         "store_structured u0.xy, r0.x, r0.y, r0.zwxy\n"
         "ld_structured r1.xyz, r0.z, r0.w, u0.xyzx\nstore_structured u0.x, r0.w, l(8), r1.y"),
        ("dcl_uav_typed_buffer (uint,uint,uint,uint) u0",
         "store_uav_typed u0.xyzw, r0.xxxx, r0.yzwx\nimm_atomic_umax r1.x, u0, r0.y, r0.z"),
        ("dcl_uav_raw u0\ndcl_tgsm_raw g0, 40",
         "store_raw g0.xy, r0.x, r0.yzwx\nsync_g_t\nld_raw r1.xyzw, r0.y, g0.xyzw\n"
         "atomic_iadd g0, r0.z, r0.w\nstore_raw u0.xyzw, l(0), r1"),
        ("dcl_uav_raw u0\ndcl_tgsm_structured g0, 12, 5",
         "store_structured g0.xyz, r0.x, r0.y, r0.zwxy\nsync_g_t\n"
         "ld_structured r1.xy, r0.z, r0.w, g0.xyxx\nstore_raw u0.xy, r0.w, r1"),
    )
)  # fmt: skip
_POINT, _LINES, _TRIANGLES, _STRIP = 1, 2, 4, 5
_KEEP = 0xFFFFFFFF
_DRAWS_OF_BUFFERS = 1, 4, 16
"""Numbers of draws of a vertex and an index buffer, or of dispatches of a view."""
_EDGES = (32767.0, 0.5, 1e-3, 300.0, 0.0)
"""Numbers of viewports, which must be in the range of the rasterizer."""


class Variant(msgspec.Struct, frozen=True):
    """What compiled code depends on: formats, shaders (a compute shader: dispatches), states."""

    color: DxgiFormat
    depth: DxgiFormat | None
    samples: int
    vertex: str
    pixel: str
    compute: str
    kind: str
    texture: DxgiFormat
    topology: int
    streams: bool
    elements: tuple[DxgiFormat, DxgiFormat]
    filter: int
    addresses: tuple[int, int, int]
    raster: RasterizerDesc
    test: DepthStencilDesc
    blend: BlendDesc1

    @classmethod
    def of(cls, rng: Random) -> Variant:
        """Choose a variant."""
        kind = rng.choice(tuple(_DIMENSIONS))
        return cls(
            color=often(rng, F.R8G8B8A8_UNORM, _COLORS, 0.6),
            depth=rng.choice((None, F.D24_UNORM_S8_UINT, rng.choice(_DEPTHS))),
            samples=often(rng, 1, (2, 4, 8), 0.15),
            vertex=rng.choice(_VERTEX_SHADERS),
            pixel=rng.choice(_PIXEL_SHADERS).replace("{kind}", kind),
            compute=often(rng, "", _COMPUTE_SHADERS, 0.25),
            kind=kind,
            texture=rng.choice(_TEXTURES),
            topology=often(rng, _TRIANGLES, (_POINT, _LINES, 3, _STRIP, 10, 11, 12, 13), 0.5),
            streams=rng.random() < 0.25,
            elements=(often(rng, _VERTEX_FORMATS[0], _VERTEX_FORMATS),
                      often(rng, _VERTEX_FORMATS[0], _VERTEX_FORMATS, 0.5)),
            filter=rng.choice((0, 1, 4, 5, 16, 17, 20, 21, 85)),
            addresses=(rng.randint(1, 5), rng.randint(1, 5), rng.randint(1, 5)),
            raster=RasterizerDesc(
                FillMode=often(rng, 3, (2,)), CullMode=rng.choice((1, 1, 2)),
                DepthClipEnable=rng.choice((0, 1)), ScissorEnable=rng.choice((0, 1)),
                MultisampleEnable=rng.choice((0, 1)),
            ),
            test=DepthStencilDesc(
                DepthEnable=rng.choice((0, 1)), DepthFunc=often(rng, 8, range(1, 8)),
                StencilEnable=rng.choice((0, 1)),
            ),
            blend=BlendDesc1(0, 0, (_blend(rng),) * 8),
        )  # fmt: skip


def _blend(rng: Random) -> RenderTargetBlend:
    factors = [rng.randint(1, 11) for _ in range(4)]
    operations = [rng.randint(1, 5) for _ in range(2)]
    color, alpha = zip(factors[::2], factors[1::2], strict=True)
    return RenderTargetBlend(
        rng.choice((0, 1)), *color, operations[0], *alpha, operations[1], often(rng, 15, (7, 2))
    )


_assembled = cache(assemble)


class _Device:
    """A device of an adapter.  Mutable."""

    def __init__(self, adapter: Adapter) -> None:
        self._codes: list[int] = []
        self._driver = adapter.create_device(Interface.D3D11_0, self._report)
        self.counters = self._driver.counters

    def _report(self, core_layer: int, code: int) -> None:
        self._codes.append(code)

    def call(self, entry: str, *arguments: Any) -> Any:
        """Call an entry.  Raises Fault with the code that it reports."""
        self._codes.clear()
        found = self._driver.functions[entry](*arguments)
        if self._codes:
            raise Fault(HResult.DDERR_GENERIC, f"{entry}: {self._codes[0]:#x}")
        return found


class _Scene:
    """The objects of an input, and its draws.  Mutable."""

    def __init__(self, device: _Device, variant: Variant, rng: Random) -> None:
        self._device, self._variant, self._rng = device, variant, rng
        self._made: list[bytearray] = []
        self._vertices = self._indices = bytearray(), 0
        self._index_format = F.R16_UINT

    def play(self) -> Iterator[Hashable]:
        """Draw or dispatch -> the error of each, None without one."""
        steps: list[Callable[[], None]] = [self._output, self._shade, self._read]
        if self._variant.compute:
            steps = [self._compute]
        for _ in range(hostile.CALLS):
            made, drawn = (
                (self._bind_unordered, self._dispatch)
                if self._variant.compute
                else (self._buffers, self._draw)
            )
            steps += [made] + [drawn] * self._rng.choice(_DRAWS_OF_BUFFERS)
            steps.append(partial(self._device.call, "Flush"))
        for step in steps:
            try:
                step()
                yield None
            except Dp2Error as error:
                yield type(error).__name__

    # Objects

    def _make(self, noun: str, description: Any, size: str = "") -> bytearray:
        call = self._device.call
        memory = bytearray(call(f"CalcPrivate{size or noun}Size", description))
        call(f"Create{noun}", description, memory)
        self._made.append(memory)
        return memory

    def _buffer(self, data: bytes, bind: int, stride: int = 0) -> bytearray:
        return self._make("Resource", CreateResource(
            [MipInfo(len(data))], [SubresourceUP(data)], ResourceType.BUFFER, 0, bind,
            ByteStride=stride,
        ))  # fmt: skip

    def _shader(self, noun: str, text: str) -> bytearray:
        return self._make(noun, _assembled(text), "Shader")

    def _surface(self, format: DxgiFormat, size: tuple[int, int], bind: int) -> bytearray:
        return self._make("Resource", CreateResource(
            [MipInfo(*size, 1)], None, ResourceType.TEXTURE2D, 0, bind, Format=format.value,
            SampleDesc=DxgiSampleDesc(self._variant.samples), MipLevels=1, ArraySize=1,
        ))  # fmt: skip

    # State

    def _output(self) -> None:
        variant, rng, call = self._variant, self._rng, self._device.call
        size, views = hostile.sides(rng), []
        color = self._surface(variant.color, size, BindFlag.RENDER_TARGET)
        desc = CreateTargetView(color, variant.color.value, ResourceType.TEXTURE2D)
        views = [self._make("RenderTargetView", desc)]
        depth = None
        if variant.depth is not None:
            surface = self._surface(variant.depth, size, BindFlag.DEPTH_STENCIL)
            desc = CreateTargetView(surface, variant.depth.value, ResourceType.TEXTURE2D)
            depth = self._make("DepthStencilView", desc)
        unordered = [self._unordered(4, 0, 1)] if "u1" in variant.pixel else []
        call("SetRenderTargets", views, 7, depth, unordered, [_KEEP] * len(unordered), 1)
        call("SetRasterizerState", self._make("RasterizerState", variant.raster))
        test = variant.test if depth is not None else DepthStencilDesc(DepthEnable=0)
        call("SetDepthStencilState", self._make("DepthStencilState", test), 3)
        blend = self._make("BlendState", variant.blend)
        call("SetBlendState", blend, (0.5, 2.0, 0.25, 1.0), often(rng, _KEEP, (5, 2)))

    def _shade(self) -> None:
        variant, call = self._variant, self._device.call
        call("VsSetShader", self._shader("VertexShader", variant.vertex))
        call("PsSetShader", self._shader("PixelShader", variant.pixel))
        if variant.streams:
            self._stream()
        located = zip((0, 16), variant.elements, strict=True)
        elements = [
            InputElement(0, offset, format.value, InputRegister=register)
            for register, (offset, format) in enumerate(located)
        ]
        call("IaSetInputLayout", self._make("ElementLayout", CreateElementLayout(elements)))
        call("IaSetTopology", variant.topology)

    def _stream(self) -> None:
        rng, call = self._rng, self._device.call
        entries = tuple(StreamOutputEntry11(0, slot, slot, 15) for slot in range(2))
        desc = StreamOutputShader11(None, entries)
        size = call("CalcPrivateGeometryShaderWithStreamOutput", desc, None)
        memory = bytearray(size)
        call("CreateGeometryShaderWithStreamOutput", desc, memory)
        self._made.append(memory)
        call("GsSetShader", memory)
        bind = BindFlag.STREAM_OUTPUT | BindFlag.VERTEX_BUFFER
        rooms = [self._buffer(bytes(rng.choice((4, 20, 52, 160, 1024))), bind) for _ in range(2)]
        call("SoSetTargets", rooms, 2, [often(rng, 0, (4, 16, 48, 400)) for _ in rooms])

    def _read(self) -> None:
        """Bind a texture, a sampler and constants."""
        variant, rng, call = self._variant, self._rng, self._device.call
        view = self._texture()
        kind = "VsSetShaderResources", "PsSetShaderResources"
        for entry in kind[variant.kind != "texture2d" :]:
            call(entry, 0, [view])
        addresses, anisotropy = variant.addresses, rng.choice((1, 2, 16))
        border = tuple(real(rng, 0.0, 1.0) for _ in range(4))
        u, v, w = addresses
        sampler = SamplerDesc(variant.filter, u, v, w, real(rng, -20.0, 20.0, 0.4), anisotropy,
                              1, border, real(rng, -2.0, 4.0), real(rng, -2.0, 9.0))  # fmt: skip
        call("PsSetSamplers", 0, [self._make("Sampler", sampler)])
        self._constants()

    def _constants(self) -> None:
        rng, call = self._rng, self._device.call
        rows = often(rng, 4, (1, 2, 3))
        share = rng.choice((0.0, 0.1, 0.4))
        data = hostile.words([real(rng, -1.5, 1.5, share) for _ in range(4 * rows)])
        buffer = self._buffer(data, BindFlag.CONSTANT_BUFFER)
        for entry in ("VsSetConstantBuffers", "PsSetConstantBuffers"):
            call(entry, 0, [buffer])

    def _texture(self) -> bytearray:
        variant, rng = self._variant, self._rng
        dimension, slices, depth = _DIMENSIONS[variant.kind], 1, 1
        width, height = (min(side, 64) for side in hostile.sides(rng))
        block = 4 if variant.texture.name.startswith("BC") else 2
        width, height = -(-width // block) * block, -(-height // block) * block
        if dimension is ResourceType.TEXTURE1D:
            height = 1
        elif dimension is ResourceType.TEXTURE3D:
            depth = rng.choice((1, 2, 3, 5))
        elif dimension is ResourceType.TEXTURECUBE:
            height, slices = width, 6
        elif variant.kind.endswith("array"):
            slices = rng.choice((1, 2, 3))
        chain = max(width, height, depth).bit_length()
        levels = rng.choice((1, chain, rng.randint(1, chain)))
        infos = [
            MipInfo(*(max(side >> level, 1) for side in (width, height, depth)))
            for level in range(levels)
        ]
        made = self._make("Resource", CreateResource(
            infos, None, dimension, 0, BindFlag.SHADER_RESOURCE, Format=variant.texture.value,
            SampleDesc=DxgiSampleDesc(1), MipLevels=levels, ArraySize=slices,
        ))  # fmt: skip
        first = rng.randrange(levels)
        desc = CreateShaderResourceView(
            made, variant.texture.value, dimension, first, levels - first, 0, slices
        )
        return self._make("ShaderResourceView", desc)

    # Draws

    def _draw(self) -> None:
        rng, call = self._rng, self._device.call
        self._bind_buffers()
        x, y, width, height = (often(rng, each, _EDGES, 0.2) for each in (0.0, 2.5, 31.0, 16.25))
        depths = often(rng, (0.0, 1.0), ((0.5, 0.5), (0.25, 0.75)))
        call("SetViewports", 15, [Viewport(x, y, width, height, *depths)])
        corners = [often(rng, each, (-7, 3, 1 << 20), 0.1) for each in (0, 0, 40, 40)]
        call("SetScissorRects", 15, [Scissor(*corners)])
        start, count = often(rng, rng.randrange(6), (39, 41, 0x7FFFFFFF, 0xFFFFFFF0), 0.2), 3
        count = rng.choice((1, 3, 6, 17, 40))
        kind = rng.randrange(5)
        instances = rng.choice((0, 1, 2, 5)), often(rng, 0, (1, 9, 0xFFFFFFFF))
        base = often(rng, rng.randrange(-3, 9), (-(1 << 31), (1 << 31) - 1), 0.1)
        if kind == 0:
            call("Draw", count, start)
        elif kind == 1:
            call("DrawInstanced", count, instances[0], start, instances[1])
        elif kind == 2:
            call("DrawIndexed", count, start, base)
        elif kind == 3:
            call("DrawIndexedInstanced", count, instances[0], start, base, instances[1])
        else:
            words = (count, instances[0], start & 0xFF, *instances)
            data = struct.pack("<5I", *(each & 0xFFFFFFFF for each in words))
            arguments = self._buffer(data, BindFlag.VERTEX_BUFFER)
            call("DrawInstancedIndirect", arguments, rng.choice((0, 4)))

    def _buffers(self) -> None:
        """Make a vertex and an index buffer, and bind other constants now and then."""
        rng = self._rng
        size = often(rng, 32 * 40, (4, 12, 17, 32, 100, 333), 0.3)
        data = hostile.vertices(rng, size, 32, 1.0)
        self._vertices = self._buffer(data, BindFlag.VERTEX_BUFFER), size
        count = rng.choice((1, 3, 7, 40))
        self._index_format = rng.choice((F.R16_UINT, F.R32_UINT))
        most = 0xFFFF if self._index_format is F.R16_UINT else 0xFFFFFFFF
        numbers = [often(rng, rng.randrange(12), (39, 40, 41, most, most - 1), 0.2)
                   for _ in range(count)]  # fmt: skip
        data = struct.pack(f"<{count}{'H' if self._index_format is F.R16_UINT else 'I'}", *numbers)
        self._indices = self._buffer(data, BindFlag.INDEX_BUFFER), len(data)
        if rng.random() < 0.3:
            self._constants()

    def _bind_buffers(self) -> None:
        """Bind the vertex and the index buffer with another stride and other offsets."""
        rng, call = self._rng, self._device.call
        vertices, size = self._vertices
        stride = often(rng, 32, (0, 1, 3, 12, 31, 2048), 0.25)
        offset = often(rng, 0, (1, 4, 31, size - 1, size, size + 64, 0xFFFFFFFF), 0.25)
        call("IaSetVertexBuffers", 0, [vertices], [stride], [offset])
        indices, size = self._indices
        call("IaSetIndexBuffer", indices, self._index_format.value, often(rng, 0, (2, 4, 6, size)))

    # Dispatches

    def _compute(self) -> None:
        text, call = self._variant.compute, self._device.call
        call("CsSetShader", self._shader("ComputeShader", text))

    def _bind_unordered(self) -> None:
        rng, call, text = self._rng, self._device.call, self._variant.compute
        stride = 12 if "dcl_uav_structured" in text else 0
        flags = 1 if "dcl_uav_raw" in text else 0
        view = self._unordered(rng.choice((3, 6, 12, 30)), stride, flags)
        call("CsSetUnorderedAccessViews", 0, [view], [_KEEP])

    def _dispatch(self) -> None:
        rng, call = self._rng, self._device.call
        call("CsSetShaderResources", 0, [self._addresses()])
        call("Dispatch", *(rng.choice((0, 1, 1, 2)) for _ in "xyz"))

    def _unordered(self, words: int, stride: int, flags: int) -> bytearray:
        rng = self._rng
        buffer = self._make("Resource", CreateResource(
            [MipInfo(4 * words)], None, ResourceType.BUFFER, 0,
            BindFlags=BindFlag.UNORDERED_ACCESS, ByteStride=stride,
        ))  # fmt: skip
        whole = 4 * words // stride if stride else words
        first = rng.choice((0, 0, whole - 1)) if not flags else 0
        format = F.UNKNOWN if stride else F.R32_TYPELESS if flags else F.R32_UINT
        return self._make("UnorderedAccessView", CreateUnorderedAccessView(
            buffer, format.value, ResourceType.BUFFER, FirstElement=first,
            NumElements=whole - first, Flags=flags,
        ))  # fmt: skip

    def _addresses(self) -> bytearray:
        """A view of the addresses that threads access."""
        rng = self._rng
        numbers = [often(rng, near(rng, 12), hostile.WORDS, 0.4) for _ in range(20)]
        size = rng.choice((4, 16, 36, 80))
        data = struct.pack("<20I", *numbers)[:size]
        buffer = self._make("Resource", CreateResource(
            [MipInfo(size)], [SubresourceUP(data)], ResourceType.BUFFER, 0,
            BindFlag.SHADER_RESOURCE,
        ))  # fmt: skip
        return self._make("ShaderResourceView", CreateShaderResourceView(
            buffer, F.R32_TYPELESS.value, ResourceType.BUFFEREX, FirstElement=0,
            NumElements=size // 4, Flags=1,
        ))  # fmt: skip


# The trial


_WORK = "vertices", "fragments", "threads", "stream_bytes", "unordered_bytes"
"""Names of the counters whose values are features of an input."""


class _Played:
    """An adapter whose devices play inputs one after the other.  Mutable.

    ``cases`` is the number of draws and dispatches that the GPU has executed.
    """

    def __init__(self, variants: int, scenes: int) -> None:
        self._variants, self._scenes = variants, scenes
        self._gpu = Gpu(run=engine(JIT), threads=1, limits=LIMITS)
        self._adapter = Adapter(self._gpu, checking=True)

    @property
    def cases(self) -> int:
        """Return the number of draws and dispatches executed."""
        return self._gpu.executed_draws

    def __call__(self, data: bytes) -> Hashable:
        """Draw what an input says; the features are results and the amounts of work."""
        chosen, rng = hostile.parts(data, self._variants)
        variant, seen = Variant.of(chosen), set[Hashable]()
        for _ in range(self._scenes):
            device = _Device(self._adapter)
            seen.update(_Scene(device, variant, rng).play())
            self._adapter.finish()
            done = ((name, int(getattr(device.counters, name))) for name in _WORK)
            seen.update((name, amount.bit_length()) for name, amount in done)
        return frozenset(seen)


def target(name: str, variants: int = VARIANTS, scenes: int = hostile.SCENES) -> Target:
    """Return the target of hostile draws of a number of variants, in so many scenes an input."""
    return Target(
        name, "hostile draws of Direct3D 10 and 11 end", lambda: _Played(variants, scenes),
        hostile.seed, mutations.mutate, 64, ("dp2emu.gpu", "dp2emu.ddi10"),
        cost=hostile.COST, cases=cases_of,
    )  # fmt: skip


TARGETS = (target("draws10"),)
