"""Descriptions of objects: the structures of d3d11.h that an application passes, by its member
names.

Source: the Direct3D 11 documentation of each structure.  Structures of Direct3D 10 have the same
members, or fewer.  Descriptions that a driver gets unchanged are the structures of the DDI.
"""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.d3d.enums import CmpFunc
from dp2emu.ddi10.resources.resource import DxgiSampleDesc as SampleDesc
from dp2emu.ddi10.resources.resource import SubresourceUP as SubresourceData
from dp2emu.ddi10.resources.resource import Usage
from dp2emu.ddi10.resources.transfers import DdiBox as Box
from dp2emu.ddi10.states import state_objects as ddi
from dp2emu.ddi10.states.bindings import Scissor as Rect
from dp2emu.ddi10.states.bindings import Viewport
from dp2emu.ddi10.states.state_objects import BlendDesc1 as BlendDesc
from dp2emu.ddi10.states.state_objects import (
    RasterizerDesc,
    RenderTargetBlend,
    SamplerDesc,
    StencilOpDesc,
)
from dp2emu.runtime10.signatures import VertexElement as InputElementDesc

__all__ = [
    "BlendDesc",
    "Box",
    "BufferDesc",
    "CounterDesc",
    "CounterInfo",
    "DepthStencilDesc",
    "InputElementDesc",
    "QueryDesc",
    "RasterizerDesc",
    "Rect",
    "RenderTargetBlend",
    "SampleDesc",
    "SamplerDesc",
    "StencilOpDesc",
    "SubresourceData",
    "Texture1DDesc",
    "Texture2DDesc",
    "Texture3DDesc",
    "Viewport",
]

_DEFAULT = int(Usage.DEFAULT)
_SINGLE = SampleDesc()


class BufferDesc(NamedTuple):
    """D3D11_BUFFER_DESC: sizes in bytes; D3D11_BIND_*, D3D11_CPU_ACCESS_*, D3D11_RESOURCE_MISC_*
    flags.
    """

    ByteWidth: int
    Usage: int = _DEFAULT
    BindFlags: int = 0
    CPUAccessFlags: int = 0
    MiscFlags: int = 0
    StructureByteStride: int = 0


class Texture1DDesc(NamedTuple):
    """D3D11_TEXTURE1D_DESC; MipLevels 0 means all levels."""

    Width: int
    MipLevels: int = 1
    ArraySize: int = 1
    Format: int = 0
    Usage: int = _DEFAULT
    BindFlags: int = 0
    CPUAccessFlags: int = 0
    MiscFlags: int = 0


class Texture2DDesc(NamedTuple):
    """D3D11_TEXTURE2D_DESC; MipLevels 0 means all levels, ArraySize of a cube counts faces."""

    Width: int
    Height: int
    MipLevels: int = 1
    ArraySize: int = 1
    Format: int = 0
    SampleDesc: SampleDesc = _SINGLE
    Usage: int = _DEFAULT
    BindFlags: int = 0
    CPUAccessFlags: int = 0
    MiscFlags: int = 0


class Texture3DDesc(NamedTuple):
    """D3D11_TEXTURE3D_DESC; MipLevels 0 means all levels."""

    Width: int
    Height: int
    Depth: int
    MipLevels: int = 1
    Format: int = 0
    Usage: int = _DEFAULT
    BindFlags: int = 0
    CPUAccessFlags: int = 0
    MiscFlags: int = 0


class QueryDesc(NamedTuple):
    """D3D11_QUERY_DESC: a D3D11_QUERY, and D3D11_QUERY_MISC_* flags."""

    Query: int
    MiscFlags: int = 0


class CounterDesc(NamedTuple):
    """D3D11_COUNTER_DESC: a D3D10_COUNTER or D3D11_COUNTER, and flags, which are 0."""

    Counter: int
    MiscFlags: int = 0


class CounterInfo(NamedTuple):
    """D3D11_COUNTER_INFO."""

    LastDeviceDependentCounter: int
    NumSimultaneousCounters: int
    NumDetectableParallelUnits: int


class DepthStencilDesc(NamedTuple):
    """D3D11_DEPTH_STENCIL_DESC."""

    DepthEnable: int = 1
    DepthWriteMask: int = 1
    DepthFunc: int = CmpFunc.LESS
    StencilEnable: int = 0
    StencilReadMask: int = 0xFF
    StencilWriteMask: int = 0xFF
    FrontFace: StencilOpDesc = StencilOpDesc()
    BackFace: StencilOpDesc = StencilOpDesc()

    def structure(self) -> ddi.DepthStencilDesc:
        """The structure of the DDI, in which each face can be enabled by itself."""
        return ddi.DepthStencilDesc(*self[:4], 1, 1, *self[4:])
