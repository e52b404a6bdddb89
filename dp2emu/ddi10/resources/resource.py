"""Resources: buffers and textures, their validation, creation, sharing and memory.

Source: Direct3D 10/11 DDI, "Device functions"; d3d10umddi.h; the resource limits of Direct3D 11.
A discarded resource gets new memory while queued packets keep the old, so no discard ever waits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.dxgi import DXGI, DxgiRow, FormatSupport, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.sdk import SdkEnum, SdkFlag
from dp2emu.ddi10.codes import DdiCode, format_of
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32, is_uint
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.resources.residency import Allocation, Memory, Purpose
from dp2emu.errors import ContractError, Fault, Unsupported
from dp2emu.gpu.command.packets import Observe, Packet, PageIn
from dp2emu.gpu.command.stream_targets import Filled
from dp2emu.gpu.resource.heap import SAMPLE_COUNTS, Surface, SurfaceDesc, SurfaceKind, layout_of
from dp2emu.gpu.resource.subresources import CUBE_FACES, full_chain
from dp2emu.gpu.resource.texels import blocks
from dp2emu.shader.texture.bindings import MAX_LAYERS


class ResourceType(
    SdkEnum, prefix="D3D10DDIRESOURCE_", irregular={"BUFFEREX": "D3D11DDIRESOURCE_BUFFEREX"}
):
    """D3D10DDIRESOURCE_TYPE, with BUFFEREX of D3D11DDI."""

    BUFFER = 1
    TEXTURE1D = 2
    TEXTURE2D = 3
    TEXTURE3D = 4
    TEXTURECUBE = 5
    BUFFEREX = 6


class Usage(SdkEnum, prefix="D3D10_DDI_USAGE_"):
    """D3D10_DDI_RESOURCE_USAGE: whether host and GPU read and write."""

    DEFAULT = 0
    IMMUTABLE = 1
    DYNAMIC = 2
    STAGING = 3


class BindFlag(
    SdkFlag,
    prefix="D3D10_DDI_BIND_",
    irregular={"UNORDERED_ACCESS": "D3D11_DDI_BIND_UNORDERED_ACCESS"},
):
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


class ResourceMisc(
    SdkFlag,
    prefix="D3D10_DDI_RESOURCE_MISC_",
    irregular={"AUTO_GEN_MIP_MAP": "D3D10_DDI_RESOURCE_AUTO_GEN_MIP_MAP"},
):
    """The members of D3D10_DDI_RESOURCE_MISC_FLAG that this driver uses."""

    AUTO_GEN_MIP_MAP = 0x1
    SHARED = 0x2
    DISCARD_ON_PRESENT = 0x8


class MipInfo(NamedTuple):
    """D3D10DDI_MIPINFO, without the physical sizes, which drivers may ignore."""

    TexelWidth: int
    TexelHeight: int = 1
    TexelDepth: int = 1


class SubresourceUP(NamedTuple):
    """D3D10_DDIARG_SUBRESOURCE_UP: initial data of a subresource in application memory."""

    pSysMem: bytes
    SysMemPitch: int = 0
    SysMemSlicePitch: int = 0


class DxgiSampleDesc(NamedTuple):
    """DXGI_SAMPLE_DESC."""

    Count: int = 1
    Quality: int = 0


class CreateResource(NamedTuple):
    """D3D11DDIARG_CREATERESOURCE; the structure of Direct3D 10 lacks ByteStride.

    ``pMipInfoList`` has an element per level; a buffer has one, whose width is its size in bytes.
    ``pInitialDataUP`` has an element per subresource, or is None.  ArraySize of a cube counts
    faces.
    """

    pMipInfoList: Sequence[MipInfo]
    pInitialDataUP: Sequence[SubresourceUP] | None
    ResourceDimension: Annotated[int, ResourceType]
    Usage: Annotated[int, Usage] = 0
    BindFlags: Annotated[int, BindFlag] = 0
    MapFlags: int = 0
    MiscFlags: Annotated[int, ResourceMisc] = 0
    Format: Annotated[int, DxgiFormat] = 0
    SampleDesc: DxgiSampleDesc = DxgiSampleDesc()
    MipLevels: int = 1
    ArraySize: int = 1
    pPrimaryDesc: object = None
    ByteStride: int = 0


class OpenResource(NamedTuple):
    """D3D10DDIARG_OPENRESOURCE: the kernel handle of a shared resource."""

    hKMResource: int


BUFFER_TYPES = (ResourceType.BUFFER, ResourceType.BUFFEREX)

_KINDS = {
    ResourceType.TEXTURE1D: SurfaceKind.TEXTURE,
    ResourceType.TEXTURE2D: SurfaceKind.TEXTURE,
    ResourceType.TEXTURE3D: SurfaceKind.VOLUMETEXTURE,
    ResourceType.TEXTURECUBE: SurfaceKind.CUBETEXTURE,
}


def surface_desc(desc: CreateResource) -> SurfaceDesc:
    """The description of a resource's memory, without a handle."""
    top = desc.pMipInfoList[0]
    if desc.ResourceDimension in BUFFER_TYPES:
        return SurfaceDesc(0, SurfaceKind.MEMORY, top.TexelWidth)
    kind, layers = _KINDS[ResourceType(desc.ResourceDimension)], desc.ArraySize
    if kind is SurfaceKind.CUBETEXTURE:
        # Views of cubes are possible in an array with faces behind the last whole cube, too.
        kind = SurfaceKind.TEXTURE if layers % CUBE_FACES else kind
        layers = layers if layers % CUBE_FACES else layers // CUBE_FACES
    return SurfaceDesc(
        0,
        kind,
        top.TexelWidth,
        top.TexelHeight,
        samples=desc.SampleDesc.Count,
        depth=top.TexelDepth,
        levels=desc.MipLevels,
        layers=layers,
        dxgi=DxgiFormat(desc.Format),
    )


def byte_size(desc: SurfaceDesc) -> int:
    """Size of a resource's memory, in bytes."""
    if desc.kind is SurfaceKind.MEMORY:
        return desc.width
    return sum(part.size for part in layout_of(desc))


# Validation


class _Bounds(NamedTuple):
    """Limits of a type of resource: width, height and depth in texels, and number of array slices.

    There are at least ``faces`` slices, 6 for cubes.
    """

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
"""Size limits of Direct3D 11 for each type of texture, by D3D10DDIRESOURCE_TYPE."""


def is_valid(desc: CreateResource) -> bool:
    """Whether a description is valid.  Raises Unsupported for formats not implemented here."""
    levels, infos = desc.MipLevels, desc.pMipInfoList
    if len(infos) != levels or desc.Usage not in tuple(Usage):
        return False
    if desc.ResourceDimension in BUFFER_TYPES:
        return levels == desc.ArraySize == desc.SampleDesc.Count == 1 <= infos[0].TexelWidth
    bounds = _BOUNDS.get(desc.ResourceDimension)
    if bounds is None or not bounds.faces <= desc.ArraySize <= bounds.slices:
        return False
    return _sides_fit(infos, bounds) and _texels_fit(desc) and _data_fits(desc)


def _sides_fit(infos: Sequence[MipInfo], bounds: _Bounds) -> bool:
    """Whether the top level is within the bounds and each level halves the one before."""
    top = infos[0]
    if not all(1 <= side <= most for side, most in zip(top, bounds[:3], strict=True)):
        return False
    if bounds.faces == CUBE_FACES and top.TexelWidth != top.TexelHeight:
        return False
    chain = (tuple(max(side >> level, 1) for side in top) for level in range(len(infos)))
    return [*map(tuple, infos)] == [*chain] and len(infos) <= full_chain(*top)


def _texels_fit(desc: CreateResource) -> bool:
    format = format_of(desc.Format)
    if format is None or format is DxgiFormat.UNKNOWN:
        return False
    row = DXGI.get(format)
    if row is None:
        raise Unsupported(f"resources of DXGI_FORMAT_{format.name}")
    count, quality = desc.SampleDesc
    flat = desc.ResourceDimension == ResourceType.TEXTURE2D and desc.MipLevels == 1
    return quality == 0 and (count == 1 or (flat and count in SAMPLE_COUNTS))


def format_allows(desc: CreateResource) -> bool:
    """Whether the format of a valid texture allows its type, levels, samples and bind flags.

    A buffer is no texture, so no format allows it.  The top level must be whole blocks.  Typeless
    formats, and back buffers, allow all bind flags, since their views may be in another format.
    """
    if desc.ResourceDimension in BUFFER_TYPES:
        return False
    row = DXGI[DxgiFormat(desc.Format)]
    top, block = desc.pMipInfoList[0], row.texels.block
    shape = _SHAPES[ResourceType(desc.ResourceDimension)]
    levels = FormatSupport.MIP if desc.MipLevels > 1 else shape
    if any(side % unit for side, unit in zip(top, block, strict=False)):
        return False
    if shape | levels not in row.format_support:
        return False
    return row.typeless or bool(desc.BindFlags & BindFlag.PRESENT) or _binds(row, desc)


def _binds(row: DxgiRow, desc: CreateResource) -> bool:
    """Whether a format supports all uses that the bind flags and samples of a texture name."""
    needed = (support for flag, support in _BINDINGS.items() if desc.BindFlags & flag)
    several = Support.MULTISAMPLE | Support.LOAD
    sampled = desc.SampleDesc.Count == 1 or row.support & several
    return bool(sampled) and all(_texture_support(row) & each for each in needed)


def _texture_support(row: DxgiRow) -> Support:
    """The uses of textures of a format: an sRGB one may be bound for unordered access as the
    format without sRGB, but has no such views.
    """
    if not row.format.name.endswith(_SRGB):
        return row.support
    linear = DXGI[DxgiFormat[row.format.name.removesuffix(_SRGB)]]
    return row.support | linear.support & Support.UNORDERED


_SRGB = "_SRGB"


_SHAPES = {
    ResourceType.TEXTURE1D: FormatSupport.TEXTURE1D,
    ResourceType.TEXTURE2D: FormatSupport.TEXTURE2D,
    ResourceType.TEXTURE3D: FormatSupport.TEXTURE3D,
    ResourceType.TEXTURECUBE: FormatSupport.TEXTURECUBE,
}
_BINDINGS = {
    BindFlag.SHADER_RESOURCE: Support.TEXTURE,
    BindFlag.RENDER_TARGET: Support.TARGET,
    BindFlag.DEPTH_STENCIL: Support.DEPTH,
    BindFlag.UNORDERED_ACCESS: Support.UNORDERED,
}
"""Bind flag of a texture -> the support that its format must have."""


def _data_fits(desc: CreateResource) -> bool:
    """Whether initial data is present for all subresources or for none."""
    data, count = desc.pInitialDataUP, desc.MipLevels * desc.ArraySize
    return data is None or (len(data) == count and desc.SampleDesc.Count == 1)


# Resources


class StreamOutputProgress(msgspec.Struct, eq=False):
    """The stream output position of a buffer, shared by the devices that opened it.

    Mutable: SoSetTargets with an offset replaces it, while recorded draws advance the old one.
    """

    filled: Filled = msgspec.field(default_factory=Filled)


class Resource(msgspec.Struct, eq=False, weakref=True):
    """A resource and its current memory.  Mutable: a discard or a rotation replaces the memory.

    ``allocations`` are the handles of its memory in ``Gpu.residency``.  ``mapped`` has the mapped
    subresources, ``pending`` counts unfinished commands that use a staging resource.  ``shared``
    is the kernel handle, 0 if it is not shared.  ``progress`` is the stream output position of a
    buffer, ``min_lod`` the minimum level of detail read from a texture.
    """

    desc: CreateResource
    surface: Surface
    allocations: tuple[Allocation, ...]
    mapped: set[int]
    pending: int = 0
    shared: int = 0
    progress: StreamOutputProgress = msgspec.field(default_factory=StreamOutputProgress)
    min_lod: float = 0.0

    @property
    def filled(self) -> Filled:
        """The resource's current stream output position."""
        return self.progress.filled

    @property
    def is_buffer(self) -> bool:
        """Whether the resource is a buffer, which has bytes instead of texels."""
        return self.desc.ResourceDimension in BUFFER_TYPES

    @property
    def is_staging(self) -> bool:
        """Whether the resource's usage is STAGING."""
        return self.desc.Usage == Usage.STAGING

    @property
    def count(self) -> int:
        """Number of subresources."""
        return 1 if self.is_buffer else len(self.surface.subresources)

    @property
    def memory(self) -> Memory:
        """The resource's memory for residency queries; staging resources are system memory."""
        return Memory(self.allocations, system_memory=self.is_staging)


class Resources:
    """The resources of a device.  Mutable: DDI functions create and destroy them.

    ``views_of`` has the number of views of each resource that has any, by its identity.  Methods
    raise ContractError for a broken rule, and Fault with the code to report.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.objects: Objects[Resource] = Objects(context, "Resource", b"RSRC")
        self.views_of: dict[int, int] = {}

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        return {
            "CalcPrivateResourceSize": self.objects.size,
            "CreateResource": self.create,
            "CalcPrivateOpenedResourceSize": self.objects.size,
            "OpenResource": self.open,
            "SetResourceMinLOD": self.set_min_lod,
        }

    def create(self, desc: CreateResource, memory: bytearray, runtime: int = 0) -> None:
        """CreateResource in ``memory``; ``runtime`` is the runtime's handle, which is not used."""
        entry = "CreateResource"
        self.objects.check(memory)
        self._context.contract.check(is_valid(desc), Rule.KNOWN_RESOURCE, entry)
        resource = Resource(desc, *self._allocate(desc), set())
        try:
            for index, given in enumerate(desc.pInitialDataUP or ()):
                self._fill(resource, index, given)
        except ContractError:
            self._free(resource)
            raise
        self.objects.add(memory, resource)
        if desc.MiscFlags & ResourceMisc.SHARED:
            resource.shared = resource.allocations[0].handle
            self._context.shared.add(resource.shared, resource)

    def open(self, desc: OpenResource, memory: bytearray, runtime: int = 0) -> None:
        """OpenResource in ``memory``, of a resource that another device shares."""
        self.objects.check(memory)
        shared = self._context.shared.open(desc.hKMResource)
        found = self._context.contract.need(shared, Rule.SHARED_RESOURCE, "OpenResource")
        self.objects.add(memory, replace(found, mapped=set(), pending=0))

    def set_min_lod(self, memory: bytearray, lod: float) -> None:
        """SetResourceMinLOD: clamp the level of detail of all views of the resource."""
        resource = self.objects.open(memory, "SetResourceMinLOD")
        (least,) = float32(lod)
        if not self._context.commands.skips():
            resource.min_lod = least if least > 0 else 0.0

    def destroy(self, memory: bytearray) -> None:
        """DestroyResource; recorded packets keep the memory until they are executed."""
        self._free(self.objects.remove(memory))

    def destroy_all(self) -> None:
        """Free the resources of a device that is being destroyed."""
        for resource in self.objects.values():
            self._free(resource)

    def rename(self, resource: Resource) -> None:
        """Replace the memory of a resource by new, zeroed memory.

        Raises Fault (E_OUTOFMEMORY) and keeps the old memory then.
        """
        fresh = self._allocate(resource.desc)
        self._free(resource)
        resource.surface, resource.allocations = fresh

    def record(self, packet: Packet, *used: Resource) -> None:
        """Record a packet, after a PageIn of the resources ``used``, which may not be mapped."""
        commands, contract = self._context.commands, self._context.contract
        if any(resource.mapped for resource in used):
            contract.check(False, Rule.USED_MAPPED, type(packet).__name__)
        wanted = dict.fromkeys([each for resource in used for each in resource.memory.rendering])
        if wanted:
            commands.add(PageIn(tuple(wanted)))
        commands.add(packet)
        for resource in used:
            if resource.is_staging:
                resource.pending += 1
                commands.add(Observe(resource.surface, partial(_done, resource)))

    def packed(
        self, data: bytes, shape: tuple[int, int, int], pitches: tuple[int, int], entry: str
    ) -> bytes:
        """Copy rows of host memory without the gaps between them.

        ``shape`` is (slices, rows, bytes of a row), ``pitches`` are the distances in bytes (of
        rows, of slices).
        """
        slices, rows, size = shape
        row_pitch, slice_pitch = pitches
        needed = (slices - 1) * slice_pitch + (rows - 1) * row_pitch + size
        readable = all(map(is_uint, pitches)) and len(data) >= needed
        self._context.contract.check(readable, Rule.SOURCE_MEMORY, entry)
        given = np.ndarray(shape, np.uint8, bytes(data), 0, (slice_pitch, row_pitch, 1))
        return given.tobytes()

    def _fill(self, resource: Resource, index: int, given: SubresourceUP) -> None:
        pitches = given.SysMemPitch, given.SysMemSlicePitch
        if resource.is_buffer:
            stored: Any = resource.surface.data
            shape = (1, 1, stored.size)
        else:
            stored = blocks(resource.surface, index)
            shape = (stored.shape[0], stored.shape[1], math.prod(stored.shape[2:]))
        data = self.packed(given.pSysMem, shape, pitches, "CreateResource")
        stored[...] = np.frombuffer(data, np.uint8).reshape(stored.shape)

    def _allocate(self, desc: CreateResource) -> tuple[Surface, tuple[Allocation, ...]]:
        """Allocate memory and its handles.  Raises Fault (E_OUTOFMEMORY)."""
        heap, residency = self._context.gpu.heap, self._context.gpu.residency
        allocations: tuple[Allocation, ...] = ()
        surface = surface_desc(desc)
        size = byte_size(surface)
        try:
            for purpose in _purposes(desc):
                allocations += (Allocation(residency.add(size), purpose),)
            return heap.make(surface), allocations
        except Fault as fault:
            for each in allocations:
                residency.remove(each.handle)
            raise Fault(DdiCode.E_OUTOFMEMORY, f"CreateResource: {fault.what}") from fault

    def _free(self, resource: Resource) -> None:
        """Free the allocations of a resource, unless other devices share it.

        Recorded packets keep the bytes alive.
        """
        if resource.shared and not self._context.shared.release(resource.shared):
            return
        for each in resource.allocations:
            self._context.gpu.residency.remove(each.handle)


def _done(resource: Resource, surface: Surface) -> None:
    resource.pending -= 1


def _purposes(desc: CreateResource) -> tuple[Purpose, ...]:
    """The purposes of a resource's allocations, one allocation for each.

    A dynamic texture has a second, linear allocation that the host writes; a staging resource has
    the linear one only.
    """
    if desc.Usage == Usage.STAGING:
        return (Purpose.LOCK,)
    locked = desc.Usage == Usage.DYNAMIC and desc.ResourceDimension not in BUFFER_TYPES
    return (Purpose.RENDERING, Purpose.LOCK) if locked else (Purpose.RENDERING,)
