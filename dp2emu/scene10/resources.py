"""What a scene of Direct3D 10 or 11 makes: one function per ``op``, found through a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dp2emu.ddi10.resources.resource import ResourceType, SubresourceUP
from dp2emu.ddi10.resources.views import CreateShaderResourceView, CreateTargetView
from dp2emu.ddi10.states.state_objects import (
    TARGETS,
    BlendDesc,
    BlendDesc1,
    DepthStencilDesc,
    RasterizerDesc,
    RenderTargetBlend,
    SamplerDesc,
    StencilOpDesc,
)
from dp2emu.runtime10 import (
    Api,
    Handle,
    Query,
    Resource,
    Shader,
    StreamDeclaration,
    VertexElement,
)
from dp2emu.runtime10.signatures import texel_bytes
from dp2emu.scene.document import extent, sample_count
from dp2emu.scene.fields import Fields
from dp2emu.scene.values import DATA_BYTES, listing, optional, text, whole
from dp2emu.scene10.document import count
from dp2emu.scene10.player import Player

Create = Callable[[Player, Fields], Handle | Query]

MAKERS: dict[str, Create] = {}
"""Every object that can be made, by its ``op``."""

_MAX_LOD = 1000.0


def maker(name: str) -> Callable[[Create], Create]:
    """Register the decorated function."""

    def register(create: Create) -> Create:
        MAKERS[name] = create
        return create

    return register


def _data(player: Player) -> Callable[[object], bytes | None]:
    """A reader of hexadecimal data; null is none."""
    return optional(lambda value: player.data({"hex": value}))


@maker("CreateBuffer")
def _buffer(player: Player, fields: Fields) -> Resource:
    size = fields.take("ByteWidth", whole(1, DATA_BYTES))
    data = fields.take("hex", _data(player), None)
    bind, stride = fields.take("BindFlags", count), fields.take("StructureByteStride", count, 0)
    # Structures, raw views and arguments of draws need no more than the buffer has anyway.
    fields.take("MiscFlags", count, 0)
    filled = data and data.ljust(size, b"\0")
    return player.device.create_buffer(size, bind, filled, stride=stride)


@maker("CreateTexture2D")
def _texture(player: Player, fields: Fields) -> Resource:
    size = fields.take("Width", extent), fields.take("Height", extent)
    samples = max(fields.take("SampleCount", sample_count, 1), 1)
    player.claim_pixels(size[0] * size[1] * samples)
    format = fields.take("Format", count)
    data = fields.take("hex", _data(player), None)
    row = size[0] * texel_bytes(format)
    return player.device.create_texture2d(
        format,
        size,
        fields.take("BindFlags", count),
        samples=samples,
        data=None if data is None else SubresourceUP(data, row, row * size[1]),
    )


# Views


def _target_view(noun: str, player: Player, fields: Fields) -> Handle:
    resource = fields.take("resource", player.find(Resource))
    desc = CreateTargetView(resource.memory, resource.desc.Format, ResourceType.TEXTURE2D)
    return player.device.make(noun, desc)


for _noun in ("RenderTargetView", "DepthStencilView"):
    MAKERS[f"Create{_noun}"] = partial(_target_view, _noun)


@maker("CreateShaderResourceView")
def _shader_view(player: Player, fields: Fields) -> Handle:
    resource = fields.take("resource", player.find(Resource))
    desc = CreateShaderResourceView(
        resource.memory, resource.desc.Format, resource.desc.ResourceDimension, MipLevels=1,
        ArraySize=1,
    )  # fmt: skip
    return player.device.make("ShaderResourceView", desc)


@maker("CreateUnorderedAccessView")
def _unordered_view(player: Player, fields: Fields) -> Handle:
    resource = fields.take("resource", player.find(Resource))
    return player.device.create_unordered_view(
        resource,
        fields.take("Format", count, resource.desc.Format),
        elements=(fields.take("FirstElement", count, 0), fields.take("NumElements", count, 0)),
        flags=fields.take("Flags", count, 0),
        mip=fields.take("MipSlice", count, 0),
        slices=(fields.take("FirstArraySlice", count, 0), fields.take("ArraySize", count, 1)),
    )


# Shaders


def _shader(stage: str, player: Player, fields: Fields) -> Shader:
    return player.device.create_shader(stage, fields.take("shader", player.shaders.read))


for _stage in ("Vertex", "Pixel", "Geometry", "Hull", "Domain", "Compute"):
    MAKERS[f"Create{_stage}Shader"] = partial(_shader, _stage)


@maker("CreateGeometryShaderWithStreamOutput")
def _streaming_shader(player: Player, fields: Fields) -> Shader:
    code = fields.take("shader", player.shaders.read)
    declared = [_declared(value) for value in fields.take("entries", listing)]
    strides = [count(value) for value in fields.take("BufferStrides", listing)]
    rasterized = fields.take("RasterizedStream", whole(-1, 0xFFFFFFFF), 0)
    return player.device.create_streaming_shader(code, declared, strides, rasterized & 0xFFFFFFFF)


def _declared(value: object) -> StreamDeclaration:
    fields = Fields(value, "entry")
    declared = StreamDeclaration(
        Stream=fields.take("Stream", count, 0),
        SemanticName=fields.take("SemanticName", optional(text)),
        **{name: fields.take(name, count) for name in StreamDeclaration._fields[2:]},
    )
    fields.finish()
    return declared


@maker("CreateInputLayout")
def _input_layout(player: Player, fields: Fields) -> Handle:
    shader = fields.take("shader", _shader_name(player))
    elements = [_element(value) for value in fields.take("elements", listing)]
    return player.device.create_input_layout(elements, shader)


def _shader_name(player: Player) -> Callable[[object], Any]:
    """A reader of the name of a compiled shader, whose signature a layout is checked against."""
    return lambda value: Shader(bytearray(), player.shaders.read(value))


def _element(value: object) -> VertexElement:
    fields = Fields(value, "element")
    element = VertexElement(
        fields.take("SemanticName", text),
        *(fields.take(name, count) for name in VertexElement._fields[1:]),
    )
    fields.finish()
    return element


# States


@maker("CreateBlendState")
def _blend_state(player: Player, fields: Fields) -> Handle:
    enable = fields.take("BlendEnable", count)
    terms = {name: fields.take(name, count) for name in ("SrcBlend", "DestBlend", "BlendOp")}
    mask = fields.take("WriteMask", whole(0, 15))
    coverage = fields.take("AlphaToCoverageEnable", count)
    if player.device.api is Api.D3D10:
        masks, enables = (mask,) * TARGETS, (enable,) * TARGETS
        old = BlendDesc(coverage, enables, **terms, RenderTargetWriteMask=masks)
        return player.device.make("BlendState", old)
    target = RenderTargetBlend(enable, **terms, RenderTargetWriteMask=mask)
    return player.device.make("BlendState", BlendDesc1(coverage, 0, (target,) * TARGETS))


@maker("CreateDepthStencilState")
def _depth_stencil_state(player: Player, fields: Fields) -> Handle:
    face = StencilOpDesc(*(fields.take(name, count) for name in StencilOpDesc._fields))
    desc = DepthStencilDesc(
        DepthEnable=fields.take("DepthEnable", count),
        DepthWriteMask=fields.take("DepthWriteMask", count),
        DepthFunc=fields.take("DepthFunc", count),
        StencilEnable=fields.take("StencilEnable", count),
        StencilReadMask=fields.take("StencilReadMask", count),
        StencilWriteMask=fields.take("StencilWriteMask", count),
        FrontFace=face,
        BackFace=face,
    )
    return player.device.make("DepthStencilState", desc)


@maker("CreateRasterizerState")
def _rasterizer_state(player: Player, fields: Fields) -> Handle:
    names = (
        "FillMode", "CullMode", "FrontCounterClockwise", "DepthClipEnable", "ScissorEnable",
        "MultisampleEnable",
    )  # fmt: skip
    desc = RasterizerDesc(**{name: fields.take(name, count) for name in names})
    return player.device.make("RasterizerState", desc)


@maker("CreateSamplerState")
def _sampler_state(player: Player, fields: Fields) -> Handle:
    address = fields.take("Address", count)
    desc = SamplerDesc(
        fields.take("Filter", count), address, address, address, MaxAnisotropy=1, MaxLOD=_MAX_LOD
    )
    return player.device.make("Sampler", desc)


# Queries


@maker("CreateQuery")
def _query(player: Player, fields: Fields) -> Query:
    number, flags = fields.take("Query", count), fields.take("MiscFlags", count, 0)
    return player.device.create_query(number, flags)


@maker("CreatePredicate")
def _predicate(player: Player, fields: Fields) -> Query:
    number, flags = fields.take("Query", count), fields.take("MiscFlags", count, 0)
    return player.device.create_predicate(number, flags)
