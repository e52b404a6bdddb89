"""Views as an application describes them, translated to the structures of the DDI.

Source: the Direct3D 11 documentation of D3D11_SHADER_RESOURCE_VIEW_DESC,
D3D11_RENDER_TARGET_VIEW_DESC, D3D11_DEPTH_STENCIL_VIEW_DESC and D3D11_UNORDERED_ACCESS_VIEW_DESC,
whose unions are flat here.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

from dp2emu.ddi10.resources.resource import CreateResource, ResourceType
from dp2emu.ddi10.resources.unordered_access import CreateUnorderedAccessView
from dp2emu.ddi10.resources.views import ALL, CreateShaderResourceView, CreateTargetView
from dp2emu.gpu.resource.subresources import CUBE_FACES
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.signatures import texel_bytes

RAW = 1
"""Flag of a raw view: D3D11_BUFFEREX_SRV_FLAG_RAW and D3D11_BUFFER_UAV_FLAG_RAW."""
_RAW_BYTES = 4
_UNKNOWN = 0
"""DXGI_FORMAT_UNKNOWN, the format of views of structured buffers."""


class ViewDimension(IntEnum):
    """D3D11_SRV_DIMENSION.  D3D11_RTV_DIMENSION and D3D11_UAV_DIMENSION have the same numbers,
    D3D11_DSV_DIMENSION has those from TEXTURE1D on, less 1.
    """

    UNKNOWN = 0
    BUFFER = 1
    TEXTURE1D = 2
    TEXTURE1DARRAY = 3
    TEXTURE2D = 4
    TEXTURE2DARRAY = 5
    TEXTURE2DMS = 6
    TEXTURE2DMSARRAY = 7
    TEXTURE3D = 8
    TEXTURECUBE = 9
    TEXTURECUBEARRAY = 10
    BUFFEREX = 11


class Span(NamedTuple):
    """``number`` items from ``first`` on; None, or -1 as UINT, means all that follow."""

    first: int = 0
    number: int | None = None


class ViewDesc(NamedTuple):
    """The description of a view.

    ``format`` is a DXGI_FORMAT, None for the resource's own.  Without ``dimension`` it follows
    from the resource and from which of ``slices`` and ``cubes`` is given.  ``levels`` are those of
    a shader resource view; other views have the first one only.  ``slices`` are array slices,
    faces or depth slices, ``cubes`` (first face, number of cubes) apply to arrays of cubes,
    ``elements`` to buffers.  ``flags`` are of D3D11_BUFFEREX_SRV_FLAG, D3D11_BUFFER_UAV_FLAG or
    D3D11_DSV_FLAG.
    """

    format: int | None = None
    dimension: ViewDimension | None = None
    levels: Span = Span()
    slices: Span | None = None
    cubes: Span | None = None
    elements: Span = Span()
    flags: int = 0


_D = ViewDimension
_BUFFERS = _D.BUFFER, _D.BUFFEREX
_FLAT = _D.TEXTURE1D, _D.TEXTURE1DARRAY, _D.TEXTURE2D, _D.TEXTURE2DARRAY
_SAMPLED = _D.TEXTURE2DMS, _D.TEXTURE2DMSARRAY
_CUBES = _D.TEXTURECUBE, _D.TEXTURECUBEARRAY
_ARRAYS = _D.TEXTURE1DARRAY, _D.TEXTURE2DARRAY, _D.TEXTURE2DMSARRAY, _D.TEXTURE3D

VIEW_DIMENSIONS: dict[str, tuple[ViewDimension, ...]] = {
    "ShaderResourceView": (*_BUFFERS, *_FLAT, *_SAMPLED, _D.TEXTURE3D, *_CUBES),
    "RenderTargetView": (_D.BUFFER, *_FLAT, *_SAMPLED, _D.TEXTURE3D),
    "DepthStencilView": (*_FLAT, *_SAMPLED),
    "UnorderedAccessView": (_D.BUFFER, *_FLAT, _D.TEXTURE3D),
}
"""Dimensions that a kind of view can have, by its noun."""

_RESOURCES: dict[ViewDimension, ResourceType] = {
    **dict.fromkeys(_BUFFERS, ResourceType.BUFFER),
    **dict.fromkeys((_D.TEXTURE1D, _D.TEXTURE1DARRAY), ResourceType.TEXTURE1D),
    **dict.fromkeys((_D.TEXTURE2D, _D.TEXTURE2DARRAY, *_SAMPLED), ResourceType.TEXTURE2D),
    _D.TEXTURE3D: ResourceType.TEXTURE3D,
    **dict.fromkeys(_CUBES, ResourceType.TEXTURECUBE),
}
"""The DDI's resource type of a view, by its dimension."""


def view_structure(
    api: Api, noun: str, resource: CreateResource, memory: bytearray, desc: ViewDesc
) -> Any:
    """The DDI structure that creates a view of a resource; ``noun`` is a key of
    ``VIEW_DIMENSIONS``, ``memory`` the resource's.

    Raises Refused (E_INVALIDARG) for a description that does not fit the resource.
    """
    dimension = _dimension(api, noun, resource, desc)
    if dimension in _BUFFERS:
        return _buffer_structure(api, noun, resource, memory, desc, dimension)
    single = noun != "ShaderResourceView"
    levels = _levels(resource, desc, single)
    slices = _slices(resource, desc, dimension, levels[0], single)
    format = resource.Format if desc.format is None else desc.format
    kind = _RESOURCES[dimension]
    if noun == "ShaderResourceView":
        return CreateShaderResourceView(memory, format, kind, *levels, *slices)
    if noun == "UnorderedAccessView":
        return CreateUnorderedAccessView(memory, format, kind, levels[0], *slices)
    return CreateTargetView(memory, format, kind, levels[0], *slices, desc.flags)


def _dimension(api: Api, noun: str, resource: CreateResource, desc: ViewDesc) -> ViewDimension:
    """The dimension of a view.  Raises Refused if the resource cannot be viewed like this."""
    dimension = desc.dimension
    if dimension is None:
        dimension = _natural(noun, resource, desc)
    if dimension not in VIEW_DIMENSIONS[noun]:
        raise Refused(Result.E_INVALIDARG, f"{noun} of dimension {dimension}")
    _check_members(noun, dimension, desc)
    own = ResourceType(resource.ResourceDimension)
    of_cube = own is ResourceType.TEXTURECUBE and dimension in _FLAT[2:]
    fits = _RESOURCES[dimension] is own or of_cube
    # Textures of one sample have views of both sorts.
    unsampled = resource.SampleDesc.Count > 1 and dimension not in _SAMPLED
    old = api is Api.D3D10 and dimension is _D.TEXTURECUBEARRAY
    if not fits or unsampled or old:
        raise Refused(Result.E_INVALIDARG, f"{noun} of dimension {dimension.name}")
    return dimension


def _check_members(noun: str, dimension: ViewDimension, desc: ViewDesc) -> None:
    """Raise Refused for members that the union does not have for a dimension."""
    buffer, cube = dimension in _BUFFERS, dimension in _CUBES
    whole = noun == "ShaderResourceView" and dimension is _D.TEXTURE3D
    wrong = (
        buffer and desc.levels != Span(),
        (buffer or cube or whole) and desc.slices is not None,
        not cube and desc.cubes is not None,
        not buffer and desc.elements != Span(),
    )
    if any(wrong):
        raise Refused(Result.E_INVALIDARG, f"members of a {noun} of another dimension")


def _natural(noun: str, resource: CreateResource, desc: ViewDesc) -> ViewDimension:
    """The dimension of a view whose description does not tell it."""
    several = resource.ArraySize > 1 or desc.slices is not None
    kind = ResourceType(resource.ResourceDimension)
    if kind is ResourceType.BUFFER:
        raw = noun == "ShaderResourceView" and desc.flags & RAW
        return _D.BUFFEREX if raw else _D.BUFFER
    if kind is ResourceType.TEXTURE3D:
        return _D.TEXTURE3D
    if kind is ResourceType.TEXTURE1D:
        return _D.TEXTURE1DARRAY if several else _D.TEXTURE1D
    if kind is ResourceType.TEXTURECUBE and noun == "ShaderResourceView" and desc.slices is None:
        more = resource.ArraySize > CUBE_FACES or desc.cubes is not None
        return _D.TEXTURECUBEARRAY if more else _D.TEXTURECUBE
    if resource.SampleDesc.Count > 1:
        return _D.TEXTURE2DMSARRAY if several else _D.TEXTURE2DMS
    return _D.TEXTURE2DARRAY if several else _D.TEXTURE2D


def _levels(resource: CreateResource, desc: ViewDesc, single: bool) -> tuple[int, int]:
    levels = desc.levels._replace(number=1) if single else desc.levels
    return _within(levels, resource.MipLevels, "levels")


def _slices(
    resource: CreateResource, desc: ViewDesc, dimension: ViewDimension, level: int, single: bool
) -> tuple[int, int]:
    """First slice and number of slices of a view of a texture; slices of cubes are faces."""
    slices, cubes = desc.slices or Span(), desc.cubes or Span()
    if dimension is _D.TEXTURECUBEARRAY:
        count = None if cubes.number in (None, ALL) else cubes.number * CUBE_FACES
        found = _within(Span(cubes.first, count), resource.ArraySize, "faces")
        return found[0], found[1] // CUBE_FACES * CUBE_FACES
    if dimension is _D.TEXTURECUBE:
        return _within(Span(cubes.first, CUBE_FACES), resource.ArraySize, "faces")
    if dimension is _D.TEXTURE3D:
        depth = resource.pMipInfoList[level].TexelDepth
        return _within(slices, depth, "depth slices") if single else (0, 1)
    if dimension not in _ARRAYS and slices.number in (None, ALL):
        slices = slices._replace(number=1)
    found = _within(slices, resource.ArraySize, "slices")
    if dimension not in _ARRAYS and found[1] > 1:
        raise Refused(Result.E_INVALIDARG, f"several slices of a view of one {dimension.name}")
    return found


def _within(span: Span, there: int, what: str) -> tuple[int, int]:
    """(first, count) of a span within ``there`` items.  Raises Refused unless it lies in them."""
    count = there - span.first if span.number in (None, ALL) else span.number
    assert count is not None
    if not 0 <= span.first < span.first + count <= there:
        raise Refused(Result.E_INVALIDARG, f"{what} from {span.first} on, of {there}")
    return span.first, count


def _buffer_structure(
    api: Api,
    noun: str,
    resource: CreateResource,
    memory: bytearray,
    desc: ViewDesc,
    dimension: ViewDimension,
) -> Any:
    raw = bool(desc.flags & RAW) and noun != "RenderTargetView"
    if raw:
        format, size = desc.format if desc.format is not None else _RAW_FORMAT, _RAW_BYTES
    else:
        format = _UNKNOWN if desc.format is None else desc.format
        size = texel_bytes(format) if format else resource.ByteStride
    if not size or (api < Api.D3D11 and (raw or not format)):
        raise Refused(Result.E_INVALIDARG, f"{noun} of a buffer in DXGI_FORMAT {format}")
    elements = _within(desc.elements, resource.pMipInfoList[0].TexelWidth // size, "elements")
    kind = ResourceType.BUFFEREX if dimension is _D.BUFFEREX else ResourceType.BUFFER
    if noun == "ShaderResourceView":
        return CreateShaderResourceView(memory, format, kind, 0, 1, 0, 1, *elements, desc.flags)
    if noun == "UnorderedAccessView":
        return CreateUnorderedAccessView(memory, format, kind, 0, 0, 1, *elements, desc.flags)
    return CreateTargetView(memory, format, kind, 0, *elements, desc.flags)


_RAW_FORMAT = 39
"""DXGI_FORMAT_R32_TYPELESS."""
