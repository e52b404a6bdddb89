"""Render target, depth-stencil and shader resource views.

Source: d3d10umddi.h, the D3D10DDIARG_CREATE...VIEW structures; their unions by resource type are
flat here.  A view looks up the memory of its resource when it is used, since a discard replaces
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

import msgspec

from dp2emu.d3d.dxgi import DXGI, Support, castable
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.sdk import SdkFlag
from dp2emu.ddi10.codes import format_of
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.resources.resource import (
    BUFFER_TYPES,
    BindFlag,
    Resource,
    Resources,
    ResourceType,
)
from dp2emu.ddi10.resources.view_objects import ViewObjects
from dp2emu.gpu.resource.heap import Surface, SurfaceKind
from dp2emu.gpu.resource.resource_views import (
    buffer_view,
    structured_view,
    target_view,
    texture_view,
)
from dp2emu.gpu.resource.subresources import CUBE_FACES

ALL = 0xFFFFFFFF
"""Number of levels or slices that means: all from the first one of the view on."""


class BufferExFlag(SdkFlag, prefix="D3D11_DDI_BUFFEREX_SRV_FLAG_"):
    """D3D11_DDI_BUFFEREX_SRV_FLAG."""

    RAW = 1


class DepthStencilFlag(SdkFlag, prefix="D3D11_DDI_CREATE_DSV_"):
    """D3D11_DDI_DSV_FLAG: aspects that are read-only."""

    READ_ONLY_DEPTH = 1
    READ_ONLY_STENCIL = 2


class CreateTargetView(NamedTuple):
    """D3D10DDIARG_CREATERENDERTARGETVIEW or D3D11DDIARG_CREATEDEPTHSTENCILVIEW.

    ``hDrvResource`` is the memory of the resource.  FirstArraySlice and ArraySize stand for
    ``FirstW`` and ``WSize`` of volumes, and ``ElementOffset`` and ``ElementWidth`` of buffers.
    """

    hDrvResource: bytearray
    Format: Annotated[int, DxgiFormat]
    ResourceDimension: Annotated[int, ResourceType]
    MipSlice: int = 0
    FirstArraySlice: int = 0
    ArraySize: int = 1
    Flags: Annotated[int, DepthStencilFlag] = 0


class CreateShaderResourceView(NamedTuple):
    """D3D11DDIARG_CREATESHADERRESOURCEVIEW.

    FirstElement and NumElements apply to buffers, in elements of the format or structures, the
    level and slice members to textures; slices of cubes are faces.
    """

    hDrvResource: bytearray
    Format: Annotated[int, DxgiFormat]
    ResourceDimension: Annotated[int, ResourceType]
    MostDetailedMip: int = 0
    MipLevels: int = ALL
    FirstArraySlice: int = 0
    ArraySize: int = ALL
    FirstElement: int = 0
    NumElements: int = 0
    Flags: Annotated[int, BufferExFlag] = 0


class TargetView(msgspec.Struct, frozen=True, eq=False):
    """A render target or depth-stencil view: slices from ``first`` on of a level of a texture, or
    ``elements`` of a buffer from ``first`` on.
    """

    resource: Resource
    format: DxgiFormat
    mip: int
    first: int
    slices: int
    flags: int = 0
    elements: int = 0

    def surface(self, number: int = 0) -> Surface:
        """The surface of a slice, in the view's format."""
        whole, at = self.resource.surface, self.first + number
        if self.resource.is_buffer:
            return buffer_view(whole, self.format, self.first, self.elements)
        if self.resource.desc.ResourceDimension == ResourceType.TEXTURE3D:
            return target_view(whole, self.format, self.mip, at)
        return target_view(whole, self.format, at * whole.desc.levels + self.mip)

    def surfaces(self) -> tuple[Surface, ...]:
        """The surfaces of all slices."""
        return tuple(self.surface(number) for number in range(self.slices))


class ShaderView(msgspec.Struct, frozen=True, eq=False):
    """A shader resource view: ``levels`` and ``slices`` of a texture, or elements of a buffer.

    ``first`` is the number of the first buffer element, ``count`` the number of elements.
    """

    resource: Resource
    format: DxgiFormat | None
    dimension: ResourceType
    levels: range
    slices: range
    first: int = 0
    count: int = 0
    flags: int = 0

    @property
    def stride(self) -> int:
        """Size of a structure of the buffer in bytes; 0 for a typed view."""
        return 0 if self.format else self.resource.desc.ByteStride

    def surface(self) -> Surface:
        """The surface of the view's levels and slices, or of its buffer elements."""
        whole = self.resource.surface
        if self.format is None:
            return structured_view(whole, self.stride, self.first, self.count)
        if self.resource.is_buffer:
            return buffer_view(whole, self.format, self.first, self.count)
        kind = whole.desc.kind
        if kind is not SurfaceKind.VOLUMETEXTURE:
            cube = self.dimension is ResourceType.TEXTURECUBE
            kind = SurfaceKind.CUBETEXTURE if cube else SurfaceKind.TEXTURE
        levels = self.levels.start, self.levels.stop
        slices = self.slices.start, self.slices.stop
        return texture_view(whole, self.format, kind, levels, slices)


class Views:
    """The views of a device.  Mutable: DDI functions create and destroy them.

    Methods raise ContractError for a broken rule, and Fault with the code to report.
    """

    def __init__(self, context: Context, resources: Resources) -> None:
        self._contract = context.contract
        self._resources = resources
        self.targets: ViewObjects[TargetView] = ViewObjects(
            context, "RenderTargetView", b"RTVW", resources
        )
        self.depths: ViewObjects[TargetView] = ViewObjects(
            context, "DepthStencilView", b"DSVW", resources
        )
        self.shaders: ViewObjects[ShaderView] = ViewObjects(
            context, "ShaderResourceView", b"SRVW", resources
        )

    def all(self) -> tuple[ViewObjects[Any], ...]:
        """The tables of live objects: render target, depth-stencil and shader resource views."""
        return self.targets, self.depths, self.shaders

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        kinds: tuple[tuple[str, Objects[Any], Callable[..., None]], ...] = (
            ("RenderTargetView", self.targets, self.create_target),
            ("DepthStencilView", self.depths, self.create_depth),
            ("ShaderResourceView", self.shaders, self.create_shader),
        )
        found: dict[str, Callable[..., Any]] = {}
        for noun, objects, create in kinds:
            found[f"CalcPrivate{noun}Size"] = objects.size
            found[f"Create{noun}"] = create
            found[f"Destroy{noun}"] = objects.destroy
        return found

    def create_target(self, desc: CreateTargetView, memory: bytearray, runtime: int = 0) -> None:
        """CreateRenderTargetView."""
        entry = "CreateRenderTargetView"
        view = self._target(desc, entry, BindFlag.RENDER_TARGET, Support.TARGET)
        self.targets.add(memory, view)

    def create_depth(self, desc: CreateTargetView, memory: bytearray, runtime: int = 0) -> None:
        """CreateDepthStencilView."""
        view = self._target(desc, "CreateDepthStencilView", BindFlag.DEPTH_STENCIL, Support.DEPTH)
        self.depths.add(memory, view)

    def create_shader(
        self, desc: CreateShaderResourceView, memory: bytearray, runtime: int = 0
    ) -> None:
        """CreateShaderResourceView."""
        entry = "CreateShaderResourceView"
        resource = self._resources.objects.open(desc.hDrvResource, entry)
        make = _buffer_view if resource.is_buffer else _texture_view
        view = self._contract.need(make(resource, desc), Rule.KNOWN_VIEW, entry)
        self.shaders.add(memory, view)

    def _target(
        self, desc: CreateTargetView, entry: str, bound: BindFlag, needed: Support
    ) -> TargetView:
        resource = self._resources.objects.open(desc.hDrvResource, entry)
        make = _buffer_target if resource.is_buffer else _texture_target
        view = make(resource, desc, needed) if resource.desc.BindFlags & bound else None
        return self._contract.need(view, Rule.KNOWN_VIEW, entry)


def _texture_target(
    resource: Resource, desc: CreateTargetView, needed: Support
) -> TargetView | None:
    format = _format(resource, desc.Format, needed)
    slices = subrange(desc.FirstArraySlice, desc.ArraySize, _slices(resource, desc.MipSlice))
    if format is None or not slices or not 0 <= desc.MipSlice < resource.desc.MipLevels:
        return None
    return TargetView(resource, format, desc.MipSlice, slices.start, len(slices), desc.Flags)


def _buffer_target(
    resource: Resource, desc: CreateTargetView, needed: Support
) -> TargetView | None:
    """A render target view of buffer elements, None if the description is invalid."""
    format = format_of(desc.Format)
    row = None if format is None or needed is Support.DEPTH else DXGI.get(format)
    if row is None or Support.TARGET | Support.BUFFER not in row.support:
        return None
    there = resource.surface.width // row.texels.size
    found = subrange(desc.FirstArraySlice, desc.ArraySize, there)
    if not found:
        return None
    return TargetView(resource, row.format, 0, found.start, 1, desc.Flags, elements=len(found))


def _format(resource: Resource, number: int, needed: Support) -> DxgiFormat | None:
    """The format of a view, None if the resource cannot be cast to it; 0 is the resource's own."""
    own = DxgiFormat(resource.desc.Format)
    format = format_of(number) if number else own
    row = None if format is None else DXGI.get(format)
    back = bool(resource.desc.BindFlags & BindFlag.PRESENT)
    fits = row is not None and row.support & needed and castable(own, row.format, back=back)
    return format if fits else None


def _slices(resource: Resource, level: int) -> int:
    """Number of slices of an array texture, or of ``level`` of a volume texture."""
    if resource.desc.ResourceDimension != ResourceType.TEXTURE3D:
        return resource.desc.ArraySize
    return max(resource.desc.pMipInfoList[0].TexelDepth >> max(level, 0), 1)


def _texture_view(resource: Resource, desc: CreateShaderResourceView) -> ShaderView | None:
    format = _format(resource, desc.Format, Support.TEXTURE)
    levels = subrange(desc.MostDetailedMip, desc.MipLevels, resource.desc.MipLevels)
    slices = subrange(desc.FirstArraySlice, desc.ArraySize, resource.desc.ArraySize)
    if not (format and levels and slices) or not _viewed_as(resource, desc, len(slices)):
        return None
    return ShaderView(resource, format, ResourceType(desc.ResourceDimension), levels, slices)


def _viewed_as(resource: Resource, desc: CreateShaderResourceView, slices: int) -> bool:
    """Whether a texture's bind flags and type allow a shader resource view of the described type.

    That is the texture's own type, or 2D for the faces of a cube.
    """
    own, wanted = resource.desc.ResourceDimension, desc.ResourceDimension
    if not resource.desc.BindFlags & BindFlag.SHADER_RESOURCE:
        return False
    if wanted == ResourceType.TEXTURECUBE and slices % CUBE_FACES:
        return False
    return wanted == own or (own, wanted) == (ResourceType.TEXTURECUBE, ResourceType.TEXTURE2D)


def subrange(first: int, count: int, there: int) -> range:
    """The range of ``count`` items from ``first`` on; ``ALL`` means up to the end.

    Empty unless it lies within ``there`` items.
    """
    last = there if count == ALL else first + count
    return range(first, last) if 0 <= first < last <= there else range(0)


def _buffer_view(resource: Resource, desc: CreateShaderResourceView) -> ShaderView | None:
    format = format_of(desc.Format)
    if desc.ResourceDimension not in BUFFER_TYPES or format is None:
        return None
    row, raw = DXGI.get(format), desc.Flags & BufferExFlag.RAW
    size = 4 if raw else resource.desc.ByteStride if row is None else row.texels.size
    fits = row is None or raw or Support.BUFFER in row.support
    there = resource.surface.width // max(size, 1)
    if not (fits and size and subrange(desc.FirstElement, desc.NumElements, there)):
        return None
    typed, kind = None if row is None else format, ResourceType(desc.ResourceDimension)
    elements = desc.FirstElement, desc.NumElements
    return ShaderView(resource, typed, kind, range(1), range(1), *elements, desc.Flags)
