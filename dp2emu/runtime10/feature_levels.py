"""Feature levels: what a device of each level accepts.

Source: the Direct3D 11 documentation of D3D_FEATURE_LEVEL, of hardware support for formats at
levels 9_x, of "10Level9 ID3D11Device Methods", and of D3D11CreateDevice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dp2emu.d3d.dxgi import FormatSupport, format_support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums10 import Blend10
from dp2emu.ddi10.codes import format_of
from dp2emu.ddi10.resources.resource import ResourceType, Usage
from dp2emu.ddi10.states.state_objects import RasterizerDesc, SamplerDesc, TextureAddress
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.descriptions import BlendDesc, BufferDesc
from dp2emu.runtime10.enums import BindFlag, FeatureLevel
from dp2emu.runtime10.signatures import VertexElement
from dp2emu.runtime10.textures import TextureDesc


class Limits(NamedTuple):
    """What a feature level accepts: sizes in texels, numbers of slices, targets and vertex
    buffers, and the highest shader model as (major, minor).
    """

    flat: int
    cube: int
    volume: int
    slices: int
    targets: int
    vertex_buffers: int
    model: tuple[int, int]


_L = FeatureLevel
LIMITS: dict[FeatureLevel, Limits] = {
    _L.LEVEL_9_1: Limits(2048, 512, 256, 1, 1, 16, (4, 0)),
    _L.LEVEL_9_2: Limits(2048, 512, 256, 1, 1, 16, (4, 0)),
    _L.LEVEL_9_3: Limits(4096, 4096, 256, 1, 4, 16, (4, 0)),
    _L.LEVEL_10_0: Limits(8192, 8192, 2048, 512, 8, 16, (4, 0)),
    _L.LEVEL_10_1: Limits(8192, 8192, 2048, 512, 8, 32, (4, 1)),
    _L.LEVEL_11_0: Limits(16384, 16384, 2048, 2048, 8, 32, (5, 0)),
}
"""The limits of each feature level."""

DEFAULT_LEVELS = {Api.D3D10: _L.LEVEL_10_0, Api.D3D10_1: _L.LEVEL_10_1, Api.D3D11: _L.LEVEL_11_0}
"""The feature level of a device that is not told any, and the highest that it can have."""

_NAMES = """
R32G32B32A32_FLOAT R16G16B16A16_FLOAT R16G16B16A16_UNORM R16G16B16A16_SNORM R8G8B8A8_UNORM
R8G8B8A8_UNORM_SRGB R8G8B8A8_TYPELESS R8G8B8A8_SNORM R16G16_FLOAT R16G16_UNORM R16G16_SNORM
R32_FLOAT R8G8_UNORM R8G8_SNORM R16_UNORM R16_FLOAT R16_SNORM R8_UNORM R8_SNORM A8_UNORM
B8G8R8A8_UNORM B8G8R8A8_UNORM_SRGB B8G8R8A8_TYPELESS B8G8R8X8_UNORM B8G8R8X8_UNORM_SRGB
B8G8R8X8_TYPELESS B5G6R5_UNORM B5G5R5A1_UNORM BC1_UNORM BC1_UNORM_SRGB BC1_TYPELESS BC2_UNORM
BC2_UNORM_SRGB BC2_TYPELESS BC3_UNORM BC3_UNORM_SRGB BC3_TYPELESS D24_UNORM_S8_UINT
R24G8_TYPELESS D16_UNORM R16_TYPELESS
"""
_LEVEL_9 = frozenset(_NAMES.split())
"""Names of the formats of textures at the levels 9_x."""
_NAMES = """
R32G32B32A32_FLOAT R32G32B32_FLOAT R32G32_FLOAT R32_FLOAT R8G8B8A8_UINT R8G8B8A8_UNORM
B8G8R8A8_UNORM R16G16_SINT R16G16B16A16_SINT R16G16_SNORM R16G16B16A16_SNORM R16G16_UNORM
R16G16B16A16_UNORM R16G16_FLOAT R16G16B16A16_FLOAT
"""
_VERTICES_9 = frozenset(_NAMES.split())
"""Names of the formats of vertices at the levels 9_x: those that a D3DDECLTYPE has."""
_INDICES_9 = {"R16_UINT": _L.LEVEL_9_1, "R32_UINT": _L.LEVEL_9_2}
"""The formats of indices at the levels 9_x, and the first level that has them."""
_SHOWN_9 = frozenset(
    {"R8G8B8A8_UNORM", "R8G8B8A8_UNORM_SRGB", "B8G8R8A8_UNORM", "B8G8R8A8_UNORM_SRGB"}
)
"""Names of the formats of back buffers at the levels 9_x."""
_INPUT = FormatSupport.IA_VERTEX_BUFFER | FormatSupport.IA_INDEX_BUFFER
"""The uses that formats of vertices and indices have at the levels 9_x."""
_LEVEL_11 = ("BC6H", "BC7")
"""Beginnings of the names of formats that only level 11_0 has."""


def level_of(api: Api, level: int | None) -> FeatureLevel:
    """The feature level of a device.

    Raises Refused (E_INVALIDARG) for a level that devices of the interface do not have; devices
    of Direct3D 10.0 have level 10_0 alone.
    """
    if level is None:
        return DEFAULT_LEVELS[api]
    known = level in tuple(FeatureLevel) and level <= DEFAULT_LEVELS[api]
    if not known or (api is Api.D3D10 and level != _L.LEVEL_10_0):
        raise Refused(Result.E_INVALIDARG, f"feature level {level:#x} of {api.name}")
    return FeatureLevel(level)


def support_at(level: FeatureLevel, api: Api, format: int) -> FormatSupport:
    """The bits that CheckFormatSupport returns at a level, 0 for an unsupported format."""
    known = format_of(format)
    if known is None or not _has_format(level, known):
        return FormatSupport(0)
    found = _found(level, known)
    if level < _L.LEVEL_10_0 and known.name not in _LEVEL_9:
        return found & _INPUT
    later = FormatSupport(0)
    if level < _L.LEVEL_11_0:
        later |= FormatSupport.SHADER_GATHER_COMPARISON | FormatSupport.TYPED_UNORDERED_ACCESS_VIEW
    if level < _L.LEVEL_10_1 or api < Api.D3D10_1:
        later |= FormatSupport.SHADER_GATHER | FormatSupport.MULTISAMPLE_LOAD
    if level < _L.LEVEL_10_0:
        later |= FormatSupport.SO_BUFFER | FormatSupport.TEXTURE1D | FormatSupport.BUFFER
    if api < Api.D3D11:
        later |= FormatSupport.BACK_BUFFER_CAST
    return found & ~later


def _found(level: FeatureLevel, format: DxgiFormat) -> FormatSupport:
    """The bits of a format, without uses for input and display that a level 9_x lacks."""
    found = format_support(format)
    if level >= _L.LEVEL_10_0:
        return found
    lacks = FormatSupport(0)
    if format.name not in _VERTICES_9:
        lacks |= FormatSupport.IA_VERTEX_BUFFER
    if level < _INDICES_9.get(format.name, _L.LEVEL_10_0):
        lacks |= FormatSupport.IA_INDEX_BUFFER
    if format.name not in _SHOWN_9:
        lacks |= FormatSupport.DISPLAY
    return found & ~lacks


def can_show(level: FeatureLevel, format: int) -> bool:
    """Whether a level has back buffers of a DXGI_FORMAT, one of those that outputs show."""
    known = format_of(format)
    return level >= _L.LEVEL_10_0 or (known is not None and known.name in _SHOWN_9)


def _has_format(level: FeatureLevel, format: DxgiFormat) -> bool:
    if level < _L.LEVEL_10_0:
        return format.name in _LEVEL_9 or bool(_found(level, format) & _INPUT)
    return level >= _L.LEVEL_11_0 or not format.name.startswith(_LEVEL_11)


_SHAPES = {
    ResourceType.TEXTURE1D: "flat",
    ResourceType.TEXTURE2D: "flat",
    ResourceType.TEXTURECUBE: "cube",
    ResourceType.TEXTURE3D: "volume",
}
"""The member of Limits with the largest side of a texture."""


def check_texture(level: FeatureLevel, desc: TextureDesc) -> None:
    """Raise Refused (E_INVALIDARG) for a texture that a level does not have."""
    limits, format = LIMITS[level], format_of(desc.format)
    most = getattr(limits, _SHAPES[desc.kind])
    faces = 6 if desc.kind is ResourceType.TEXTURECUBE else 1
    old = level < _L.LEVEL_10_0
    whole = all(side & (side - 1) == 0 for side in desc.sides)
    flat = desc.kind is ResourceType.TEXTURE2D and desc.levels == 1
    wrong = (
        max(desc.sides) > most,
        desc.slices > max(limits.slices, faces),
        format is None or not _has_format(level, format),
        old and desc.kind is ResourceType.TEXTURE1D,
        old and format is not None and format.name not in _LEVEL_9,
        old and not whole and not flat,
        level < _L.LEVEL_11_0 and desc.bind & BindFlag.UNORDERED_ACCESS,
        level < _L.LEVEL_10_1 and faces > 1 and desc.slices > faces,
    )
    if any(wrong):
        raise Refused(Result.E_INVALIDARG, f"a texture at feature level {level.name}")


def check_buffer(level: FeatureLevel, desc: BufferDesc) -> None:
    """Raise Refused (E_INVALIDARG) for a buffer that a level does not have: those of the levels
    9_x have a single use, and below 11_0 none of usage DEFAULT is mapped.
    """
    mapped = desc.Usage == Usage.DEFAULT and desc.CPUAccessFlags
    _refuse(level < _L.LEVEL_11_0 and mapped, level, "a buffer")
    newer = BindFlag.SHADER_RESOURCE | BindFlag.STREAM_OUTPUT | BindFlag.RENDER_TARGET
    newer |= BindFlag.UNORDERED_ACCESS
    several = int(desc.BindFlags).bit_count() > 1
    _refuse(level < _L.LEVEL_10_0 and (desc.BindFlags & newer or several), level, "a buffer")


def check_blend(level: FeatureLevel, desc: BlendDesc) -> None:
    """Raise Refused (E_INVALIDARG) for a blend state that a level does not have."""
    old = level < _L.LEVEL_10_0
    rows = {tuple(row) for row in desc.RenderTarget}
    separate = desc.IndependentBlendEnable and (old or level < _L.LEVEL_10_1) and len(rows) > 1
    several = separate and (old or len({row[1:7] for row in rows}) > 1)
    factors = {each for row in rows if row[0] for each in (*row[1:3], *row[4:6])}
    lacks = desc.AlphaToCoverageEnable or factors & _LATER_BLENDS
    _refuse(several or (old and lacks), level, "a blend state")


_LATER_BLENDS = frozenset(
    {Blend10.SRC_ALPHA_SAT, Blend10.SRC1_COLOR, Blend10.INV_SRC1_COLOR, Blend10.SRC1_ALPHA,
     Blend10.INV_SRC1_ALPHA}
)  # fmt: skip
"""Blend factors that the levels 9_x lack."""


def _refuse(wrong: object, level: FeatureLevel, what: str) -> None:
    if wrong:
        raise Refused(Result.E_INVALIDARG, f"{what} at feature level {level.name}")


def check_rasterizer(level: FeatureLevel, desc: RasterizerDesc) -> None:
    """Raise Refused (E_INVALIDARG) for a rasterizer state that a level does not have."""
    lacks = not desc.DepthClipEnable or desc.DepthBiasClamp != 0
    _refuse(level < _L.LEVEL_10_0 and lacks, level, "a rasterizer state")


_COMPARISON = 0x80
"""The bit of D3D11_FILTER that comparison filters have."""
_ANISOTROPIC = 0x55
_FLT_MAX = 3.402823466e38


def check_sampler(level: FeatureLevel, desc: SamplerDesc) -> None:
    """Raise Refused (E_INVALIDARG) for a sampler that a level does not have.

    The levels 9_x have no comparison filters, whole levels of detail without an upper limit, and
    border colours of 0 to 1; level 9_1 has an anisotropy of 2 at most and no MIRROR_ONCE.
    """
    first = level < _L.LEVEL_9_2
    addresses = desc.AddressU, desc.AddressV, desc.AddressW
    anisotropic = desc.Filter & ~_COMPARISON == _ANISOTROPIC
    lacks = (
        desc.Filter & _COMPARISON,
        not all(0 <= channel <= 1 for channel in desc.BorderColor),
        desc.MinLOD % 1 != 0,
        desc.MaxLOD < _FLT_MAX,
        first and anisotropic and desc.MaxAnisotropy > _ANISOTROPY_9_1,
        first and TextureAddress.MIRROR_ONCE in addresses,
    )
    _refuse(level < _L.LEVEL_10_0 and any(lacks), level, "a sampler")


_ANISOTROPY_9_1 = 2
_EVENT, _OCCLUSION, _TIMESTAMPS = 0, 1, (2, 3)
"""Numbers of D3D11_QUERY, which D3D10_QUERY has too."""


def check_query(level: FeatureLevel, number: int) -> None:
    """Raise Refused (E_INVALIDARG) for a query that a level does not have: the levels 9_x have
    events, occlusion from 9_2 on, and timestamps.
    """
    known = {_EVENT, *_TIMESTAMPS} | ({_OCCLUSION} if level >= _L.LEVEL_9_2 else set())
    _refuse(level < _L.LEVEL_10_0 and number not in known, level, f"query {number}")


def check_from_10(level: FeatureLevel, what: str) -> None:
    """Raise Refused (E_INVALIDARG) for an object, ``what``, that the levels 9_x do not have."""
    _refuse(level < _L.LEVEL_10_0, level, what)


_PER_INSTANCE = 1
"""D3D11_INPUT_PER_INSTANCE_DATA."""


def check_elements(level: FeatureLevel, elements: Sequence[VertexElement]) -> None:
    """Raise Refused (E_INVALIDARG) for elements of vertices that a level does not have: in other
    slots, at the levels 9_x of other formats than Direct3D 9 has, and of instances before level
    9_3, which has none of instances in slot 0 alone.
    """
    slots = any(each.InputSlot >= LIMITS[level].vertex_buffers for each in elements)
    instanced = {each.InputSlot for each in elements if each.InputSlotClass == _PER_INSTANCE}
    vertices = {each.InputSlot for each in elements} - instanced
    wrong = level < _L.LEVEL_10_0 and (0 in instanced and vertices)
    formats = [format_of(each.Format) for each in elements] if level < _L.LEVEL_10_0 else []
    foreign = any(each is None or each.name not in _VERTICES_9 for each in formats)
    lacks = slots or wrong or foreign or (level < _L.LEVEL_9_3 and instanced)
    _refuse(lacks, level, "an input layout")


_STAGES = {"Hull": _L.LEVEL_11_0, "Domain": _L.LEVEL_11_0, "Geometry": _L.LEVEL_10_0,
           "Compute": _L.LEVEL_10_0}  # fmt: skip
"""The lowest level that has shaders of a stage, for stages that some levels lack."""


def check_shader(level: FeatureLevel, stage: str, program: bytes, level_9: bool) -> None:
    """Raise Refused (E_INVALIDARG) for a shader of a stage or model that a level does not have.

    ``level_9`` tells whether the shader was compiled for the levels 9_x too, which accept no
    others.
    """
    version = program[0] if program else 0
    model = version >> 4, version & 0xF
    fits = model <= LIMITS[level].model or (stage == "Compute" and model <= (4, 1))
    known = level >= _STAGES.get(stage, _L.LEVEL_9_1) and (level >= _L.LEVEL_10_0 or level_9)
    if not fits or not known:
        what = f"a {stage.lower()} shader of model {model[0]}.{model[1]}"
        raise Refused(Result.E_INVALIDARG, f"{what} at feature level {level.name}")
