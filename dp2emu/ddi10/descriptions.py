"""Descriptions of resources: which of them there can be, and what memory that takes.

Source: d3d10umddi.h, and the resource limits of Direct3D 11.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, IntFlag
from typing import NamedTuple

from dp2emu.d3d.dxgi import DXGI
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.errors import Unsupported
from dp2emu.gpu.memory import SAMPLE_COUNTS, SurfaceDesc, SurfaceKind, layout_of
from dp2emu.gpu.subresources import CUBE_FACES, full_chain
from dp2emu.shader.texture.bindings import MAX_LAYERS


class ResourceType(IntEnum):
    """D3D10DDIRESOURCE_TYPE, with the one that D3D11DDI adds."""

    BUFFER = 1
    TEXTURE1D = 2
    TEXTURE2D = 3
    TEXTURE3D = 4
    TEXTURECUBE = 5
    BUFFEREX = 6


class Usage(IntEnum):
    """D3D10_DDI_RESOURCE_USAGE: who reads and writes."""

    DEFAULT = 0
    IMMUTABLE = 1
    DYNAMIC = 2
    STAGING = 3


class BindFlag(IntFlag):
    """D3D10_DDI_RESOURCE_BIND_FLAG."""

    VERTEX_BUFFER = 0x1
    INDEX_BUFFER = 0x2
    CONSTANT_BUFFER = 0x4
    SHADER_RESOURCE = 0x8
    STREAM_OUTPUT = 0x10
    RENDER_TARGET = 0x20
    DEPTH_STENCIL = 0x40
    PRESENT = 0x80
    UNORDERED_ACCESS = 0x100


class ResourceMisc(IntFlag):
    """D3D10_DDI_RESOURCE_MISC_FLAG, as far as it says something to this driver."""

    AUTO_GEN_MIP_MAP = 0x1
    SHARED = 0x2
    DISCARD_ON_PRESENT = 0x8


class MipInfo(NamedTuple):
    """D3D10DDI_MIPINFO, without what drivers make of the sizes."""

    TexelWidth: int
    TexelHeight: int = 1
    TexelDepth: int = 1


class SubresourceUP(NamedTuple):
    """D3D10_DDIARG_SUBRESOURCE_UP: data of a subresource in memory of the application."""

    pSysMem: bytes
    SysMemPitch: int = 0
    SysMemSlicePitch: int = 0


class DxgiSampleDesc(NamedTuple):
    """DXGI_SAMPLE_DESC."""

    Count: int = 1
    Quality: int = 0


class CreateResource(NamedTuple):
    """D3D11DDIARG_CREATERESOURCE, of which that of Direct3D 10 lacks ByteStride.

    ``pMipInfoList`` has an element for each level; buffers have one, as wide as they have bytes.
    ``pInitialDataUP`` has an element for each subresource, or is None.  Of cubes ArraySize counts
    the faces.
    """

    pMipInfoList: Sequence[MipInfo]
    pInitialDataUP: Sequence[SubresourceUP] | None
    ResourceDimension: int
    Usage: int = 0
    BindFlags: int = 0
    MapFlags: int = 0
    MiscFlags: int = 0
    Format: int = 0
    SampleDesc: DxgiSampleDesc = DxgiSampleDesc()
    MipLevels: int = 1
    ArraySize: int = 1
    pPrimaryDesc: object = None
    ByteStride: int = 0


class OpenResource(NamedTuple):
    """D3D10DDIARG_OPENRESOURCE; the kernel knows the rest of a shared resource by its handle."""

    hKMResource: int


BUFFER_TYPES = (ResourceType.BUFFER, ResourceType.BUFFEREX)

_KINDS = {
    ResourceType.TEXTURE1D: SurfaceKind.TEXTURE,
    ResourceType.TEXTURE2D: SurfaceKind.TEXTURE,
    ResourceType.TEXTURE3D: SurfaceKind.VOLUMETEXTURE,
    ResourceType.TEXTURECUBE: SurfaceKind.CUBETEXTURE,
}


def surface_desc(desc: CreateResource) -> SurfaceDesc:
    """What memory is made as, without a handle."""
    top = desc.pMipInfoList[0]
    if desc.ResourceDimension in BUFFER_TYPES:
        return SurfaceDesc(0, SurfaceKind.MEMORY, top.TexelWidth)
    kind = _KINDS[ResourceType(desc.ResourceDimension)]
    return SurfaceDesc(
        0,
        kind,
        top.TexelWidth,
        top.TexelHeight,
        samples=desc.SampleDesc.Count,
        depth=top.TexelDepth,
        levels=desc.MipLevels,
        layers=desc.ArraySize // (CUBE_FACES if kind is SurfaceKind.CUBETEXTURE else 1),
        dxgi=DxgiFormat(desc.Format),
    )


def bytes_of(desc: SurfaceDesc) -> int:
    """Bytes of all of it."""
    if desc.kind is SurfaceKind.MEMORY:
        return desc.width
    return sum(part.size for part in layout_of(desc))


# What there can be


class _Bounds(NamedTuple):
    """Most texels each way, and slices of an array, which come in ``faces``."""

    width: int
    height: int = 1
    depth: int = 1
    slices: int = 1
    faces: int = 1


_BOUNDS: dict[int, _Bounds] = {
    ResourceType.TEXTURE1D: _Bounds(16384, slices=MAX_LAYERS),
    ResourceType.TEXTURE2D: _Bounds(16384, 16384, slices=MAX_LAYERS),
    ResourceType.TEXTURE3D: _Bounds(2048, 2048, 2048),
    ResourceType.TEXTURECUBE: _Bounds(16384, 16384, slices=MAX_LAYERS, faces=CUBE_FACES),
}
"""The limits of Direct3D 11."""


def possible(desc: CreateResource) -> bool:
    """Whether there can be such a resource.  Raises Unsupported for formats that are not built."""
    levels, infos = desc.MipLevels, desc.pMipInfoList
    if len(infos) != levels or desc.Usage not in tuple(Usage):
        return False
    if desc.ResourceDimension in BUFFER_TYPES:
        return levels == desc.ArraySize == desc.SampleDesc.Count == 1 <= infos[0].TexelWidth
    bounds = _BOUNDS.get(desc.ResourceDimension)
    if bounds is None or not 1 <= desc.ArraySize <= bounds.slices or desc.ArraySize % bounds.faces:
        return False
    return _sides_fit(infos, bounds) and _texels_fit(desc) and _data_fits(desc)


def _sides_fit(infos: Sequence[MipInfo], bounds: _Bounds) -> bool:
    """Whether levels halve from a top level on that is not too large."""
    if not all(1 <= side <= most for side, most in zip(infos[0], bounds[:3], strict=True)):
        return False
    if bounds.faces == CUBE_FACES and infos[0].TexelWidth != infos[0].TexelHeight:
        return False
    halved = all(
        info == tuple(max(side >> level, 1) for side in infos[0])
        for level, info in enumerate(infos)
    )
    return halved and len(infos) <= full_chain(*infos[0])


def _texels_fit(desc: CreateResource) -> bool:
    known = desc.Format in DxgiFormat._value2member_map_
    row = DXGI.get(DxgiFormat(desc.Format)) if known else None
    if row is None or not (row.support or row.typeless):
        name = DxgiFormat(desc.Format).name if known else ""
        if not name or desc.Format == DxgiFormat.UNKNOWN.value:
            return False
        raise Unsupported(f"resources of DXGI_FORMAT_{name}")
    count, quality = desc.SampleDesc
    if count == 1:
        return quality == 0
    flat = desc.ResourceDimension == ResourceType.TEXTURE2D and desc.MipLevels == 1
    return flat and quality == 0 and count in SAMPLE_COUNTS


def _data_fits(desc: CreateResource) -> bool:
    """Whether there is data for all subresources or none."""
    data = desc.pInitialDataUP
    if data is None:
        return True
    return len(data) == desc.MipLevels * desc.ArraySize and desc.SampleDesc.Count == 1
