"""Devices of the runtime, and an object of each class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from dp2emu.ddi10.adapter import Adapter
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.runtime10 import (
    Api,
    BindFlag,
    BlendDesc,
    BlendState,
    Buffer,
    BufferDesc,
    ClassInstance,
    ClassLinkage,
    CommandList,
    ComputeShader,
    Context,
    Counter,
    CounterDesc,
    CpuAccess,
    DeferredContext,
    DepthStencilDesc,
    DepthStencilState,
    DepthStencilView,
    Device,
    DeviceChild,
    DomainShader,
    Format,
    GeometryShader,
    HullShader,
    ImmediateContext,
    InputElementDesc,
    InputLayout,
    PixelShader,
    Predicate,
    QueryDesc,
    QueryType,
    RasterizerDesc,
    RasterizerState,
    RenderTargetView,
    SamplerDesc,
    SamplerState,
    ShaderResourceView,
    Texture1D,
    Texture1DDesc,
    Texture2D,
    Texture2DDesc,
    Texture3D,
    Texture3DDesc,
    UnorderedAccessView,
    Usage,
    VertexShader,
    ViewDesc,
)
from dp2emu.runtime10.context_state import DeviceContextState
from dp2emu.runtime10.objects import Query, Resource
from dp2emu.shader.engines import engine
from dp2emu.shader.sm4 import assemble
from dp2emu.shader.sm4.interfaces import ClassInstance as Named
from dp2emu.shader.sm4.interfaces import ClassType, Interfaces

RGBA8 = Format.R8G8B8A8_UNORM
D24S8 = Format.D24_UNORM_S8_UINT

VERTEX = """vs_4_0
dcl_input v0.xy
dcl_output_siv o0.xyzw, position
mov o0.xy, v0.xyxx
mov o0.zw, l(0, 0, 0, 1.0)
ret"""
PIXEL = """ps_4_0
dcl_output o0.xyzw
mov o0.xyzw, l(1.0, 0, 0, 1.0)
ret"""
GEOMETRY = """gs_4_0
dcl_input_siv v[3][0].xyzw, position
dcl_inputprimitive triangle
dcl_outputtopology trianglestrip
dcl_output_siv o0.xyzw, position
dcl_maxout 3
mov o0.xyzw, v[0][0].xyzw
emit
ret"""
COMPUTE = """cs_5_0
dcl_uav_raw u0
dcl_thread_group 1, 1, 1
store_raw u0.x, l(0), l(7)
ret"""
HULL = """hs_5_0
hs_decls
dcl_input_control_point_count 3
dcl_output_control_point_count 3
dcl_tessellator_domain domain_tri
dcl_tessellator_partitioning partitioning_integer
dcl_tessellator_output_primitive output_triangle_cw
hs_fork_phase
dcl_output_siv o0.x, finalTriUeq0EdgeTessFactor
mov o0.x, l(1.0)
ret"""
DOMAIN = """ds_5_0
dcl_input_control_point_count 3
dcl_tessellator_domain domain_tri
dcl_output_siv o0.xyzw, position
mov o0.xyzw, l(0, 0, 0, 1.0)
ret"""


@cache
def code(text: str) -> bytes:
    """Tokens of a shader's text."""
    return assemble(text)


def device(
    api: Api = Api.D3D11, level: int | None = None, *, checking: bool = False, run: str = ""
) -> Device:
    """A device, by default of the reference engine."""
    gpu = Gpu(run=engine(run)) if run else Gpu()
    return Device(Adapter(gpu, checking=checking), api, level)


def buffer(
    made: Device, size: int = 64, bind: int = BindFlag.VERTEX_BUFFER, **more: int
) -> Buffer:
    """A buffer without data."""
    return made.create_buffer(BufferDesc(size, BindFlags=bind, **more))


def constants(made: Device, data: bytes = bytes(64)) -> Buffer:
    """A constant buffer."""
    return made.create_buffer(
        BufferDesc(len(data), BindFlags=BindFlag.CONSTANT_BUFFER), data
    )  # fmt: skip


def texture(
    made: Device, width: int = 4, bind: int = BindFlag.SHADER_RESOURCE, **more: Any
) -> Texture2D:
    """A square texture without data."""
    desc = Texture2DDesc(width, width, Format=RGBA8, BindFlags=int(bind))
    return made.create_texture2d(desc._replace(**more))


def target(made: Device, width: int = 4, **more: Any) -> RenderTargetView:
    """A view of a new render target."""
    both = int(BindFlag.RENDER_TARGET | BindFlag.SHADER_RESOURCE)
    return made.create_render_target_view(texture(made, width, both, **more))


def depth(made: Device, width: int = 4) -> DepthStencilView:
    """A view of a new depth buffer."""
    resource = texture(made, width, BindFlag.DEPTH_STENCIL, Format=D24S8)
    return made.create_depth_stencil_view(resource)


def unordered(made: Device, size: int = 64) -> UnorderedAccessView:
    """A view of words of a new buffer."""
    words = buffer(made, size, BindFlag.UNORDERED_ACCESS)
    return made.create_unordered_access_view(words, ViewDesc(Format.R32_UINT))


def viewed(made: Device) -> ShaderResourceView:
    """A shader resource view of a new texture."""
    return made.create_shader_resource_view(texture(made))


def data_of(made: Device, resource: Resource) -> bytes:
    """The bytes of a buffer, or of the first subresource of a texture without padding."""
    return made.driver.read(resource.driver)


def staging(made: Device, size: int = 64, access: int = CpuAccess.READ) -> Buffer:
    """A staging buffer."""
    return made.create_buffer(BufferDesc(size, Usage.STAGING, CPUAccessFlags=int(access)))


def dynamic(made: Device, size: int = 64, bind: int = BindFlag.VERTEX_BUFFER) -> Buffer:
    """A dynamic buffer."""
    return made.create_buffer(
        BufferDesc(size, Usage.DYNAMIC, int(bind), int(CpuAccess.WRITE))
    )  # fmt: skip


def linkage(made: Device) -> ClassLinkage:
    """A class linkage with the class cRed and its instance g_red."""
    found = made.create_class_linkage()
    named = Named("g_red", 0, 2, 3, None, None)
    found.add(Interfaces((ClassType("cRed", 0, 16, 0, 0),), (named,), ()))
    return found


MAKERS: Mapping[type, Callable[[Device], Any]] = {
    BlendState: lambda made: made.create_blend_state(BlendDesc()),
    Buffer: buffer,
    ClassInstance: lambda made: linkage(made).get_class_instance("g_red"),
    ClassLinkage: linkage,
    CommandList: lambda made: made.create_deferred_context().finish_command_list(False),
    ComputeShader: lambda made: made.create_compute_shader(code(COMPUTE)),
    Context: lambda made: made.context,
    Counter: lambda made: made.create_counter(CounterDesc(0x40000000)),
    DeferredContext: lambda made: made.create_deferred_context(),
    DeviceContextState: lambda made: made.create_device_context_state()[0],
    DepthStencilState: lambda made: made.create_depth_stencil_state(DepthStencilDesc()),
    DepthStencilView: depth,
    Device: lambda made: made,
    DeviceChild: buffer,
    DomainShader: lambda made: made.create_domain_shader(code(DOMAIN)),
    GeometryShader: lambda made: made.create_geometry_shader(code(GEOMETRY)),
    HullShader: lambda made: made.create_hull_shader(code(HULL)),
    ImmediateContext: lambda made: made.context,
    InputLayout: lambda made: made.create_input_layout(
        [InputElementDesc("v", 0, Format.R32G32_FLOAT)], code(VERTEX)
    ),
    PixelShader: lambda made: made.create_pixel_shader(code(PIXEL)),
    Predicate: lambda made: made.create_predicate(QueryDesc(QueryType.OCCLUSION_PREDICATE)),
    Query: lambda made: made.create_query(QueryDesc(QueryType.EVENT)),
    RasterizerState: lambda made: made.create_rasterizer_state(RasterizerDesc()),
    RenderTargetView: target,
    Resource: buffer,
    SamplerState: lambda made: made.create_sampler_state(SamplerDesc()),
    ShaderResourceView: viewed,
    Texture1D: lambda made: made.create_texture1d(
        Texture1DDesc(4, Format=RGBA8, BindFlags=BindFlag.SHADER_RESOURCE)
    ),
    Texture2D: texture,
    Texture3D: lambda made: made.create_texture3d(
        Texture3DDesc(4, 4, 4, Format=RGBA8, BindFlags=BindFlag.SHADER_RESOURCE)
    ),
    UnorderedAccessView: unordered,
    VertexShader: lambda made: made.create_vertex_shader(code(VERTEX)),
}
"""A function that makes an object, by class of the object."""
