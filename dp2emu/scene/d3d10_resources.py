"""The table of objects of Direct3D 10 and 11 scenes."""

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
from dp2emu.errors import SceneError
from dp2emu.runtime10 import (
    Api,
    Code,
    Device,
    Handle,
    Resource,
    Shader,
    StreamDeclaration,
    VertexElement,
)
from dp2emu.runtime10.signatures import texel_bytes
from dp2emu.scene.d3d10 import Player10
from dp2emu.scene.document import extent, read_json, sample_count
from dp2emu.scene.player import Action, calling, named
from dp2emu.scene.values import (
    DATA_BYTES,
    UINT,
    Default,
    Fields,
    PlayerReader,
    file_name,
    list_of,
    optional,
    record,
    text,
    whole,
)

_MAX_LOD = 1000.0

# Arguments


def _hex_of(player: Player10) -> Callable[[object], bytes | None]:
    """A reader of hexadecimal data or null."""
    return optional(lambda value: player.data({"hex": value}))


def _code_of(player: Player10) -> Callable[[object], Code]:
    """A reader of names of compiled shaders, each a JSON file in the player's folder."""

    def read(value: object) -> Code:
        name = file_name(value)
        path = player.shaders / f"{name}.json" if player.shaders is not None else None
        if path is None or not path.is_file():
            raise SceneError(f"no shader {name!r} in {player.shaders or 'any folder'}")
        found = read_json(path)
        try:
            data = bytes.fromhex(text(found.get("dxbc")))
        except ValueError:
            raise SceneError(f"{path.name}: expected hexadecimal digits as dxbc") from None
        return Code.of(data)

    return read


_UINT_0 = Default(UINT, 0)
_DATA = Default(PlayerReader(_hex_of), None)
_CODE = PlayerReader(_code_of)
_RESOURCE = named(Resource)

_DEPTH_STENCIL = (
    "DepthEnable", "DepthWriteMask", "DepthFunc", "StencilEnable", "StencilReadMask",
    "StencilWriteMask",
)  # fmt: skip
_RASTERIZER = (
    "FillMode", "CullMode", "FrontCounterClockwise", "DepthClipEnable", "ScissorEnable",
    "MultisampleEnable",
)  # fmt: skip

_DECLARATION = record(
    StreamDeclaration,
    Stream=_UINT_0,
    SemanticName=optional(text),
    **dict.fromkeys(StreamDeclaration._fields[2:], UINT),
)
_ELEMENT = record(
    VertexElement, SemanticName=text, **dict.fromkeys(VertexElement._fields[1:], UINT)
)

# Buffers, textures and views


def _buffer(
    device: Device, size: int, data: bytes | None, bind: int, stride: int, _misc: int
) -> Resource:
    """CreateBuffer.  MiscFlags have no effect: the driver allows all that they ask for."""
    filled = data and data.ljust(size, b"\0")
    return device.create_buffer(size, bind, filled, stride=stride)


def _texture(player: Player10, fields: Fields) -> Resource:
    size = fields.take("Width", extent), fields.take("Height", extent)
    samples = max(fields.take("SampleCount", sample_count, 1), 1)
    player.claim_pixels(size[0] * size[1] * samples)
    format = fields.take("Format", UINT)
    data = fields.take("hex", _hex_of(player), None)
    row = size[0] * texel_bytes(format)
    return player.device.create_texture2d(
        format,
        size,
        fields.take("BindFlags", UINT),
        samples=samples,
        data=None if data is None else SubresourceUP(data, row, row * size[1]),
    )


def _target_view(noun: str, device: Device, resource: Resource) -> Handle:
    desc = CreateTargetView(resource.memory, resource.desc.Format, ResourceType.TEXTURE2D)
    return device.make(noun, desc)


def _shader_view(device: Device, resource: Resource) -> Handle:
    desc = CreateShaderResourceView(
        resource.memory, resource.desc.Format, resource.desc.ResourceDimension, MipLevels=1,
        ArraySize=1,
    )  # fmt: skip
    return device.make("ShaderResourceView", desc)


def _unordered_view(
    device: Device, resource: Resource, format: int | None, flags: int, mip: int, *ranges: int
) -> Handle:
    first, count, first_slice, slices = ranges
    return device.create_unordered_view(
        resource,
        resource.desc.Format if format is None else format,
        elements=(first, count),
        flags=flags,
        mip=mip,
        slices=(first_slice, slices),
    )


# Shaders and states


def _streaming_shader(
    device: Device, code: Code, declared: list[Any], strides: list[int], rasterized: int
) -> Shader:
    return device.create_streaming_shader(code, declared, strides, rasterized & 0xFFFFFFFF)


def _input_layout(device: Device, code: Code, elements: list[VertexElement]) -> Handle:
    return device.create_input_layout(elements, Shader(bytearray(), code))


def _blend_state(
    device: Device, enable: int, source: int, target: int, operation: int, mask: int, coverage: int
) -> Handle:
    """The same state for all targets; Direct3D 10.0 has a description of its own."""
    terms = source, target, operation
    if device.api is Api.D3D10:
        old = BlendDesc(
            coverage, (enable,) * TARGETS, *terms, RenderTargetWriteMask=(mask,) * TARGETS
        )
        return device.make("BlendState", old)
    row = RenderTargetBlend(enable, *terms, RenderTargetWriteMask=mask)
    return device.make("BlendState", BlendDesc1(coverage, 0, (row,) * TARGETS))


def _depth_stencil_state(device: Device, *values: int) -> Handle:
    """The same stencil operations for both faces."""
    faces = len(StencilOpDesc._fields)
    face = StencilOpDesc(*values[:faces])
    rest = dict(zip(_DEPTH_STENCIL, values[faces:], strict=True))
    return device.make(
        "DepthStencilState", DepthStencilDesc(**rest, FrontFace=face, BackFace=face)
    )


def _rasterizer_state(device: Device, *values: int) -> Handle:
    desc = RasterizerDesc(**dict(zip(_RASTERIZER, values, strict=True)))
    return device.make("RasterizerState", desc)


def _sampler_state(device: Device, address: int, filter: int) -> Handle:
    desc = SamplerDesc(filter, address, address, address, MaxAnisotropy=1, MaxLOD=_MAX_LOD)
    return device.make("Sampler", desc)


MAKERS: dict[str, Action] = {
    "CreateBuffer": calling(
        _buffer, ByteWidth=whole(1, DATA_BYTES), hex=_DATA, BindFlags=UINT,
        StructureByteStride=_UINT_0, MiscFlags=_UINT_0,
    ),
    "CreateTexture2D": _texture,
    **{
        f"Create{noun}": calling(partial(_target_view, noun), resource=_RESOURCE)
        for noun in ("RenderTargetView", "DepthStencilView")
    },
    "CreateShaderResourceView": calling(_shader_view, resource=_RESOURCE),
    "CreateUnorderedAccessView": calling(
        _unordered_view, resource=_RESOURCE, Format=Default(UINT, None), Flags=_UINT_0,
        MipSlice=_UINT_0, FirstElement=_UINT_0, NumElements=_UINT_0, FirstArraySlice=_UINT_0,
        ArraySize=Default(UINT, 1),
    ),
    **{
        f"Create{stage}Shader": calling(
            lambda device, code, stage=stage: device.create_shader(stage, code), shader=_CODE
        )
        for stage in ("Vertex", "Pixel", "Geometry", "Hull", "Domain", "Compute")
    },
    "CreateGeometryShaderWithStreamOutput": calling(
        _streaming_shader, shader=_CODE, entries=list_of(_DECLARATION),
        BufferStrides=list_of(UINT), RasterizedStream=Default(whole(-1, 0xFFFFFFFF), 0),
    ),
    "CreateInputLayout": calling(_input_layout, shader=_CODE, elements=list_of(_ELEMENT)),
    "CreateBlendState": calling(
        _blend_state, BlendEnable=UINT, SrcBlend=UINT, DestBlend=UINT, BlendOp=UINT,
        WriteMask=whole(0, 15), AlphaToCoverageEnable=UINT,
    ),
    "CreateDepthStencilState": calling(
        _depth_stencil_state, **dict.fromkeys((*StencilOpDesc._fields, *_DEPTH_STENCIL), UINT),
    ),
    "CreateRasterizerState": calling(_rasterizer_state, **dict.fromkeys(_RASTERIZER, UINT)),
    "CreateSamplerState": calling(_sampler_state, Address=UINT, Filter=UINT),
    "CreateQuery": calling(Device.create_query, Query=UINT, MiscFlags=_UINT_0),
    "CreatePredicate": calling(Device.create_predicate, Query=UINT, MiscFlags=_UINT_0),
}  # fmt: skip
"""The objects of Direct3D 10 and 11 scenes by ``op``."""
