"""Descriptions of objects: the structures of d3d11.h that an application passes, by its member
names.

Source: the Direct3D 11 documentation of each structure.  Structures of Direct3D 10 have the same
members, or fewer.  Only the member of a union that its dimension selects is given.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dp2emu.ddi10.resources.resource import Usage
from dp2emu.ddi10.states.state_objects import TARGETS, CullMode, TextureAddress
from dp2emu.d3d.enums import BlendOp, CmpFunc, FillMode, StencilOp
from dp2emu.d3d.enums10 import Blend10

_LOWEST, _HIGHEST = -3.402823466e38, 3.402823466e38


class SampleDesc(msgspec.Struct, frozen=True):
    """DXGI_SAMPLE_DESC: number of samples of a pixel, and quality level."""

    Count: int = 1
    Quality: int = 0


class SubresourceData(msgspec.Struct, frozen=True):
    """D3D11_SUBRESOURCE_DATA; pitches are the bytes from row to row and from slice to slice."""

    pSysMem: bytes
    SysMemPitch: int = 0
    SysMemSlicePitch: int = 0


class BufferDesc(msgspec.Struct, frozen=True):
    """D3D11_BUFFER_DESC: sizes in bytes; D3D11_BIND_*, D3D11_CPU_ACCESS_*, D3D11_RESOURCE_MISC_*
    flags.
    """

    ByteWidth: int
    Usage: int = Usage.DEFAULT
    BindFlags: int = 0
    CPUAccessFlags: int = 0
    MiscFlags: int = 0
    StructureByteStride: int = 0


class Texture1DDesc(msgspec.Struct, frozen=True):
    """D3D11_TEXTURE1D_DESC; MipLevels 0 means all levels."""

    Width: int
    MipLevels: int = 1
    ArraySize: int = 1
    Format: int = 0
    Usage: int = Usage.DEFAULT
    BindFlags: int = 0
    CPUAccessFlags: int = 0
    MiscFlags: int = 0


class Texture2DDesc(msgspec.Struct, frozen=True):
    """D3D11_TEXTURE2D_DESC; MipLevels 0 means all levels, ArraySize of a cube counts faces."""

    Width: int
    Height: int
    MipLevels: int = 1
    ArraySize: int = 1
    Format: int = 0
    SampleDesc: SampleDesc = SampleDesc()
    Usage: int = Usage.DEFAULT
    BindFlags: int = 0
    CPUAccessFlags: int = 0
    MiscFlags: int = 0


class Texture3DDesc(msgspec.Struct, frozen=True):
    """D3D11_TEXTURE3D_DESC; MipLevels 0 means all levels."""

    Width: int
    Height: int
    Depth: int
    MipLevels: int = 1
    Format: int = 0
    Usage: int = Usage.DEFAULT
    BindFlags: int = 0
    CPUAccessFlags: int = 0
    MiscFlags: int = 0


class Elements(msgspec.Struct, frozen=True):
    """The part of a buffer that a view has: D3D11_BUFFER_SRV, D3D11_BUFFEREX_SRV,
    D3D11_BUFFER_RTV and D3D11_BUFFER_UAV.
    """

    FirstElement: int = 0
    NumElements: int = -1
    Flags: int = 0


class Subresources(msgspec.Struct, frozen=True):
    """The part of a texture that a view has: the structures D3D11_TEX... of all views in one.

    -1 as a number means all that follow.  A shader resource view has MostDetailedMip and
    MipLevels, other views have MipSlice; W and its size are depth slices of a volume.
    """

    MostDetailedMip: int = 0
    MipLevels: int = -1
    MipSlice: int = 0
    FirstArraySlice: int = 0
    ArraySize: int = -1
    First2DArrayFace: int = 0
    NumCubes: int = -1
    FirstWSlice: int = 0
    WSize: int = -1


class ViewDescription(msgspec.Struct, frozen=True):
    """D3D11_SHADER_RESOURCE_VIEW_DESC, D3D11_RENDER_TARGET_VIEW_DESC,
    D3D11_DEPTH_STENCIL_VIEW_DESC and D3D11_UNORDERED_ACCESS_VIEW_DESC.

    ``ViewDimension`` is the number of the view's own enumeration, ``part`` the union's member;
    Flags are of a depth-stencil view.
    """

    Format: int = 0
    ViewDimension: int = 0
    part: Elements | Subresources = Subresources()
    Flags: int = 0


class RenderTargetBlendDesc(msgspec.Struct, frozen=True):
    """D3D11_RENDER_TARGET_BLEND_DESC."""

    BlendEnable: int = 0
    SrcBlend: int = Blend10.ONE
    DestBlend: int = Blend10.ZERO
    BlendOp: int = BlendOp.ADD
    SrcBlendAlpha: int = Blend10.ONE
    DestBlendAlpha: int = Blend10.ZERO
    BlendOpAlpha: int = BlendOp.ADD
    RenderTargetWriteMask: int = 15


class BlendDesc(msgspec.Struct, frozen=True):
    """D3D11_BLEND_DESC, and D3D10_BLEND_DESC1; without IndependentBlendEnable the first target's
    description applies to all.
    """

    AlphaToCoverageEnable: int = 0
    IndependentBlendEnable: int = 0
    RenderTarget: Sequence[RenderTargetBlendDesc] = (RenderTargetBlendDesc(),) * TARGETS


class DepthStencilOpDesc(msgspec.Struct, frozen=True):
    """D3D11_DEPTH_STENCILOP_DESC."""

    StencilFailOp: int = StencilOp.KEEP
    StencilDepthFailOp: int = StencilOp.KEEP
    StencilPassOp: int = StencilOp.KEEP
    StencilFunc: int = CmpFunc.ALWAYS


class DepthStencilDesc(msgspec.Struct, frozen=True):
    """D3D11_DEPTH_STENCIL_DESC."""

    DepthEnable: int = 1
    DepthWriteMask: int = 1
    DepthFunc: int = CmpFunc.LESS
    StencilEnable: int = 0
    StencilReadMask: int = 0xFF
    StencilWriteMask: int = 0xFF
    FrontFace: DepthStencilOpDesc = DepthStencilOpDesc()
    BackFace: DepthStencilOpDesc = DepthStencilOpDesc()


class RasterizerDesc(msgspec.Struct, frozen=True):
    """D3D11_RASTERIZER_DESC."""

    FillMode: int = FillMode.SOLID
    CullMode: int = CullMode.BACK
    FrontCounterClockwise: int = 0
    DepthBias: int = 0
    DepthBiasClamp: float = 0.0
    SlopeScaledDepthBias: float = 0.0
    DepthClipEnable: int = 1
    ScissorEnable: int = 0
    MultisampleEnable: int = 0
    AntialiasedLineEnable: int = 0


class SamplerDesc(msgspec.Struct, frozen=True):
    """D3D11_SAMPLER_DESC."""

    Filter: int = 0x15
    AddressU: int = TextureAddress.CLAMP
    AddressV: int = TextureAddress.CLAMP
    AddressW: int = TextureAddress.CLAMP
    MipLODBias: float = 0.0
    MaxAnisotropy: int = 1
    ComparisonFunc: int = CmpFunc.NEVER
    BorderColor: Sequence[float] = (1.0, 1.0, 1.0, 1.0)
    MinLOD: float = _LOWEST
    MaxLOD: float = _HIGHEST
