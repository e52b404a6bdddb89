"""Unordered access views: resources that compute and pixel shaders read and write.

Source: d3d10umddi.h, D3D11DDIARG_CREATEUNORDEREDACCESSVIEW, whose union by resource type is flat
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from struct import pack
from typing import Annotated, Any, NamedTuple

import msgspec

from dp2emu.d3d.dxgi import DXGI, Support, castable
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.sdk import SdkFlag
from dp2emu.ddi10.codes import DdiCode, format_of
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32, is_uint
from dp2emu.ddi10.resources.resource import (
    BUFFER_TYPES,
    BindFlag,
    Resource,
    Resources,
    ResourceType,
)
from dp2emu.ddi10.resources.view_objects import ViewObjects
from dp2emu.ddi10.resources.views import subrange
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import ClearUnordered, CopyBytes, Unordered, WriteBytes
from dp2emu.gpu.resource.heap import Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.resource.resource_views import buffer_view, level_view, structured_view
from dp2emu.shader.resources import Dimension

SLOTS = 8
"""Number of slots for unordered access views (D3D11_PS_CS_UAV_REGISTER_COUNT)."""

KEEP = 0xFFFFFFFF
"""Initial count that leaves a view's hidden counter unchanged."""

COUNTER_BYTES = 4


class BufferFlag(SdkFlag, prefix="D3D11_DDI_BUFFER_UAV_FLAG_"):
    """D3D11_DDI_BUFFER_UAV_FLAG."""

    RAW = 1
    APPEND = 2
    COUNTER = 4


class CreateUnorderedAccessView(NamedTuple):
    """D3D11DDIARG_CREATEUNORDEREDACCESSVIEW.

    ``hDrvResource`` is the memory of the resource.  FirstElement and NumElements apply to buffers,
    in elements of the format, structures, or DWORDs of a raw view, the other members to textures;
    slices stand for ``FirstW`` and ``WSize`` of volumes.
    """

    hDrvResource: bytearray
    Format: Annotated[int, DxgiFormat]
    ResourceDimension: Annotated[int, ResourceType]
    MipSlice: int = 0
    FirstArraySlice: int = 0
    ArraySize: int = 1
    FirstElement: int = 0
    NumElements: int = 0
    Flags: Annotated[int, BufferFlag] = 0


class UnorderedView(msgspec.Struct, frozen=True, eq=False):
    """An unordered access view: elements of a buffer, or ``slices`` of level ``mip`` of a texture.

    If ``format`` is None, elements are structures or raw DWORDs, as ``dimension`` says.
    """

    resource: Resource
    format: DxgiFormat | None
    dimension: Dimension
    mip: int
    slices: range
    elements: range
    counter: Surface | None = None

    @property
    def stride(self) -> int:
        """Size of a structure of the buffer in bytes; 0 for views that are not structured."""
        structured = self.dimension is Dimension.STRUCTURED_BUFFER
        return self.resource.desc.ByteStride if structured else 0

    def bound(self) -> Unordered:
        """The view as the GPU binds it, with the current memory of the resource."""
        return Unordered(self._surface(), self.dimension, self.stride, self.counter)

    def _surface(self) -> Surface:
        whole, first, count = self.resource.surface, self.elements.start, len(self.elements)
        if self.stride:
            return structured_view(whole, self.stride, first, count)
        format = self.format or DxgiFormat.R32_UINT
        if self.resource.is_buffer:
            return buffer_view(whole, format, first, count)
        return level_view(whole, format, self.mip, (self.slices.start, self.slices.stop))


class UnorderedSlots(msgspec.Struct):
    """The bound unordered access views by slot.  Mutable: setters change it."""

    views: dict[int, UnorderedView] = msgspec.field(default_factory=dict)

    def bound(self) -> dict[int, Unordered]:
        """The bound views in the form that packets of the GPU have, by slot."""
        return {slot: view.bound() for slot, view in self.views.items()}


class UnorderedViews:
    """The unordered access views of a device.  Mutable: DDI functions create and destroy them.

    Methods raise ContractError for a broken rule, and Fault with the code to report.
    """

    def __init__(self, context: Context, resources: Resources) -> None:
        self._context = context
        self._contract = context.contract
        self._resources = resources
        self.objects: ViewObjects[UnorderedView] = ViewObjects(
            context, "UnorderedAccessView", b"UAVW", resources
        )

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        return {
            "CalcPrivateUnorderedAccessViewSize": self.objects.size,
            "CreateUnorderedAccessView": self.create,
            "DestroyUnorderedAccessView": self.objects.destroy,
            "ClearUnorderedAccessViewUint": self.clear_bits,
            "ClearUnorderedAccessViewFloat": self.clear_floats,
            "CopyStructureCount": self.copy_count,
        }

    def create(self, desc: CreateUnorderedAccessView, memory: bytearray, runtime: int = 0) -> None:
        """CreateUnorderedAccessView."""
        entry = "CreateUnorderedAccessView"
        self.objects.check(memory)
        resource = self._resources.objects.open(desc.hDrvResource, entry)
        make = _buffer_view if resource.is_buffer else _texture_view
        bindable = resource.desc.BindFlags & BindFlag.UNORDERED_ACCESS
        view = make(resource, desc, self._counter) if bindable else None
        self.objects.add(memory, self._contract.need(view, Rule.KNOWN_VIEW, entry))

    def set(
        self,
        slots: UnorderedSlots,
        start: int,
        views: Sequence[bytearray | None],
        counts: Sequence[int],
        entry: str,
    ) -> None:
        """Bind views, None to unbind, from slot ``start`` on; ``counts`` set hidden counters."""
        fits = 0 <= start <= SLOTS - len(views) and len(counts) in (0, len(views))
        self._contract.check(fits, Rule.SLOTS, entry)
        self._contract.check(all(map(is_uint, counts)), Rule.NUMBERS, entry)
        opened = [self.objects.maybe(memory, entry) for memory in views]
        for place, view in enumerate(opened):
            slots.views.pop(start + place, None)
            if view is None:
                continue
            slots.views[start + place] = view
            count = counts[place] if counts else KEEP
            if view.counter is not None and count != KEEP:
                self._resources.record(WriteBytes(view.counter, 0, pack("<I", count)))

    def clear_bits(self, memory: bytearray, values: Sequence[int]) -> None:
        """ClearUnorderedAccessViewUint: each channel gets the low bits of its number."""
        entry = "ClearUnorderedAccessViewUint"
        view = self.objects.open(memory, entry)
        fits = len(values) == 4 and all(map(is_uint, values))
        self._contract.check(fits, Rule.NUMBERS, entry)
        x, y, z, w = values
        self._resources.record(ClearUnordered(view.bound(), (x, y, z, w), True), view.resource)

    def clear_floats(self, memory: bytearray, values: Sequence[float]) -> None:
        """ClearUnorderedAccessViewFloat, of a view with a normalized or float format."""
        entry = "ClearUnorderedAccessViewFloat"
        view = self.objects.open(memory, entry)
        self._contract.check(len(values) == 4, Rule.NUMBERS, entry)
        fits = view.format is not None and not DXGI[view.format].integers
        self._contract.check(fits, Rule.FLOAT_CLEAR, entry)
        x, y, z, w = (int.from_bytes(pack("<f", each), "little") for each in float32(*values))
        self._resources.record(ClearUnordered(view.bound(), (x, y, z, w), False), view.resource)

    def copy_count(self, buffer: bytearray, offset: int, memory: bytearray) -> None:
        """CopyStructureCount: copy the hidden counter of a view into a buffer."""
        entry = "CopyStructureCount"
        target = self._resources.objects.open(buffer, entry)
        view = self.objects.open(memory, entry)
        there = target.is_buffer and 0 <= offset <= target.surface.width - COUNTER_BYTES
        self._contract.check(there, Rule.INSIDE, entry)
        counter = self._contract.need(view.counter, Rule.KNOWN_VIEW, entry)
        self._resources.record(
            CopyBytes(counter, 0, target.surface, offset, COUNTER_BYTES), target
        )

    def _counter(self) -> Surface:
        """Allocate memory for the hidden counter of a view.  Raises Fault (E_OUTOFMEMORY)."""
        try:
            return self._context.gpu.heap.make(SurfaceDesc(0, SurfaceKind.MEMORY, COUNTER_BYTES))
        except Fault as fault:
            what = f"CreateUnorderedAccessView: {fault.what}"
            raise Fault(DdiCode.E_OUTOFMEMORY, what) from fault


_COUNTED = BufferFlag.APPEND | BufferFlag.COUNTER
"""An unordered access view of a buffer has a hidden counter if its flags include one of these."""
_UNORDERED: dict[int, tuple[Dimension, Dimension]] = {
    ResourceType.TEXTURE1D: (Dimension.TEXTURE1D, Dimension.TEXTURE1DARRAY),
    ResourceType.TEXTURE2D: (Dimension.TEXTURE2D, Dimension.TEXTURE2DARRAY),
    ResourceType.TEXTURE3D: (Dimension.TEXTURE3D, Dimension.TEXTURE3D),
}
"""Dimensions of a view of a single texture and of an array, by D3D10DDIRESOURCE_TYPE."""


def _buffer_view(
    resource: Resource, desc: CreateUnorderedAccessView, counter: Callable[[], Surface]
) -> UnorderedView | None:
    format, raw = format_of(desc.Format), bool(desc.Flags & BufferFlag.RAW)
    if desc.ResourceDimension not in BUFFER_TYPES or format is None:
        return None
    structured = format is DxgiFormat.UNKNOWN and not raw
    dimension, size = Dimension.RAW_BUFFER, 4
    if structured:
        dimension, size = Dimension.STRUCTURED_BUFFER, resource.desc.ByteStride
    elif not raw:
        row = DXGI.get(format)
        if row is None or Support.BUFFER not in row.support or not _storable(format):
            return None
        dimension, size = Dimension.BUFFER, row.texels.size
    there, counted = resource.surface.width // size if size else 0, desc.Flags & _COUNTED
    elements = subrange(desc.FirstElement, desc.NumElements, there)
    if not elements or (counted and not structured) or (size % 4 and structured):
        return None
    typed, hidden = None if raw or structured else format, counter() if counted else None
    return UnorderedView(resource, typed, dimension, 0, range(1), elements, hidden)


def _storable(format: DxgiFormat) -> bool:
    """Whether shaders can write single texels of a format."""
    row = DXGI.get(format)
    return row is not None and Support.UNORDERED in row.support


def _texture_view(
    resource: Resource, desc: CreateUnorderedAccessView, counter: Callable[[], Surface]
) -> UnorderedView | None:
    own, kind = DxgiFormat(resource.desc.Format), resource.desc.ResourceDimension
    format = own if desc.Format == DxgiFormat.UNKNOWN.value else format_of(desc.Format)
    flat = ResourceType.TEXTURE2D if kind == ResourceType.TEXTURECUBE else kind
    if format is None or desc.ResourceDimension != flat or flat not in _UNORDERED:
        return None
    infos, single = resource.desc.pMipInfoList, resource.desc.SampleDesc.Count == 1
    if not (_storable(format) and _castable(own, format) and single):
        return None
    if not 0 <= desc.MipSlice < len(infos):
        return None
    volume = flat == ResourceType.TEXTURE3D
    there = infos[desc.MipSlice].TexelDepth if volume else resource.desc.ArraySize
    slices = subrange(desc.FirstArraySlice, desc.ArraySize, there)
    dimension = _UNORDERED[flat][resource.desc.ArraySize > 1]
    if not slices:
        return None
    return UnorderedView(resource, format, dimension, desc.MipSlice, slices, range(0))


def _castable(own: DxgiFormat, format: DxgiFormat) -> bool:
    """Whether ``own`` can be viewed as ``format``: of its family, or 32-bit colours as a word."""
    return castable(own, format) or (own in _COLORS and format in _SINGLE_WORDS)


_SINGLE_WORDS = (DxgiFormat.R32_UINT, DxgiFormat.R32_SINT, DxgiFormat.R32_FLOAT)
_COLORS = (
    DxgiFormat.R10G10B10A2_TYPELESS,
    DxgiFormat.R8G8B8A8_TYPELESS,
    DxgiFormat.B8G8R8A8_TYPELESS,
    DxgiFormat.B8G8R8X8_TYPELESS,
    DxgiFormat.R16G16_TYPELESS,
)
