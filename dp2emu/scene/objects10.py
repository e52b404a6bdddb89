"""The objects of Direct3D 10 and 11 scenes: shaders, states, queries, and all makers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dp2emu.ddi10.states.state_objects import (
    TARGETS,
    BlendDesc,
    BlendDesc1,
    DepthStencilDesc,
    RasterizerDesc,
    RenderTargetBlend,
    SamplerDesc,
    StencilOpDesc,
    TextureAddress,
)
from dp2emu.errors import SceneError
from dp2emu.runtime10 import (
    Api,
    Code,
    DriverDevice,
    Handle,
    Shader,
    StreamDeclaration,
    VertexElement,
)
from dp2emu.scene import textures10
from dp2emu.scene.d3d10 import Player10
from dp2emu.scene.document import read_json
from dp2emu.scene.player import Action, calling
from dp2emu.scene.spelling10 import ADDRESS, COMPARISON, FILTER, FORMAT
from dp2emu.scene.values import (
    UINT,
    Default,
    Fields,
    PlayerReader,
    file_name,
    floating,
    floats,
    list_of,
    optional,
    record,
    text,
    whole,
)

_DEFAULTS = SamplerDesc()
_MAX_LOD = 1000.0


def _code_of(player: Player10) -> Callable[[object], Code]:
    """A function that reads the shader of a name from its JSON file in ``player.shaders``."""

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
_CODE = PlayerReader(_code_of)

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
    VertexElement,
    SemanticName=text,
    SemanticIndex=UINT,
    Format=FORMAT,
    **dict.fromkeys(VertexElement._fields[3:], UINT),
)

# Shaders and states


def _streaming_shader(
    device: DriverDevice, code: Code, declared: list[Any], strides: list[int], rasterized: int
) -> Shader:
    return device.create_streaming_shader(code, declared, strides, rasterized & 0xFFFFFFFF)


def _input_layout(device: DriverDevice, code: Code, elements: list[VertexElement]) -> Handle:
    return device.create_input_layout(elements, Shader(bytearray(), code))


def _blend_state(
    device: DriverDevice,
    enable: int,
    source: int,
    target: int,
    operation: int,
    mask: int,
    coverage: int,
) -> Handle:
    """Create a blend state with the same blending for all targets.

    Direct3D 10.0 has another description structure than later versions.
    """
    terms = source, target, operation
    if device.api is Api.D3D10:
        old = BlendDesc(
            coverage, (enable,) * TARGETS, *terms, RenderTargetWriteMask=(mask,) * TARGETS
        )
        return device.make("BlendState", old)
    row = RenderTargetBlend(enable, *terms, RenderTargetWriteMask=mask)
    return device.make("BlendState", BlendDesc1(coverage, 0, (row,) * TARGETS))


def _depth_stencil_state(device: DriverDevice, *values: int) -> Handle:
    """Create a depth-stencil state with the same stencil operations for both faces."""
    faces = len(StencilOpDesc._fields)
    face = StencilOpDesc(*values[:faces])
    rest = dict(zip(_DEPTH_STENCIL, values[faces:], strict=True))
    return device.make(
        "DepthStencilState", DepthStencilDesc(**rest, FrontFace=face, BackFace=face)
    )


def _rasterizer_state(device: DriverDevice, *values: int) -> Handle:
    desc = RasterizerDesc(**dict(zip(_RASTERIZER, values, strict=True)))
    return device.make("RasterizerState", desc)


def _sampler_state(player: Player10, fields: Fields) -> Handle:
    """Create a sampler state, with one address mode or a mode for each of U, V and W."""
    shared = fields.take("Address", ADDRESS, None)
    u, v, w = (fields.take(f"Address{axis}", ADDRESS, shared) for axis in "UVW")
    if u is None or v is None:
        raise SceneError(f"{fields.where}: missing key 'Address'")
    desc = SamplerDesc(
        fields.take("Filter", FILTER),
        u,
        v,
        int(TextureAddress.CLAMP) if w is None else w,
        fields.take("MipLODBias", floating, 0.0),
        fields.take("MaxAnisotropy", whole(0, 16), 1),
        fields.take("ComparisonFunc", COMPARISON, _DEFAULTS.ComparisonFunc),
        fields.take("BorderColor", floats(4), (0.0,) * 4),
        fields.take("MinLOD", floating, _DEFAULTS.MinLOD),
        fields.take("MaxLOD", floating, _MAX_LOD),
    )
    return player.device.make("Sampler", desc)


MAKERS: dict[str, Action] = {
    **textures10.MAKERS,
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
    "CreateSamplerState": _sampler_state,
    "CreateQuery": calling(DriverDevice.create_query, Query=UINT, MiscFlags=_UINT_0),
    "CreatePredicate": calling(DriverDevice.create_predicate, Query=UINT, MiscFlags=_UINT_0),
}  # fmt: skip
"""Functions that create the objects of Direct3D 10 and 11 scenes, by the resource's ``op``."""
