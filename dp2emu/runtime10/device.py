"""ID3D10Device and ID3D11Device over the functions of a driver.

Only the parts that reach a driver: objects are created in memory of the size that the driver asks
for, its error codes become results, and read-backs use staging resources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from dp2emu.ddi10.queries.query_types import MiscFlag
from dp2emu.ddi10.resources.maps import Map, MappedSubresource
from dp2emu.ddi10.resources.resource import (
    BindFlag,
    CreateResource,
    DxgiSampleDesc,
    MipInfo,
    ResourceType,
    SubresourceUP,
    Usage,
)
from dp2emu.ddi10.resources.unordered_access import CreateUnorderedAccessView
from dp2emu.ddi10.states.bindings import VIEWPORTS, Scissor, Viewport
from dp2emu.ddi10.states.input_layout import CreateElementLayout
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import RESULTS, Api, Refused, Result
from dp2emu.runtime10.query import Query, kind_of
from dp2emu.runtime10.signatures import Code, VertexElement, input_elements, texel_bytes
from dp2emu.runtime10.streamout import StreamDeclaration, stream_output_desc

CORE_LAYER = 1
"""Handle of the core layer, which the driver passes to pfnSetErrorCb."""


class Functions(Protocol):
    """A device of a driver."""

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The entries by name."""


class Adapter(Protocol):
    """A driver's adapter."""

    def create_device(
        self, interface: int, set_error: Callable[[int, int], None], core_layer: int = 0
    ) -> Functions:
        """CreateDevice."""

    def finish(self) -> None:
        """Let time pass until the GPU is idle."""


class Handle(msgspec.Struct, frozen=True, eq=False):
    """An object: its memory."""

    memory: bytearray


class Resource(Handle, frozen=True, eq=False):
    """A buffer or texture."""

    desc: CreateResource

    @property
    def is_buffer(self) -> bool:
        """Whether it has bytes instead of texels."""
        return self.desc.ResourceDimension == ResourceType.BUFFER


class Shader(Handle, frozen=True, eq=False):
    """A shader with its signatures."""

    code: Code


class Device:
    """A device for an application.  Mutable: calls change its bindings.

    Methods raise Refused with a ``Result``, and the errors of the driver: Unsupported for features
    that are not implemented, ContractError for rules that the runtime does not enforce.
    """

    def __init__(self, adapter: Adapter, api: Api = Api.D3D11) -> None:
        self.api = api
        self._adapter = adapter
        self._codes: list[int] = []
        self._hazards = HazardTracker()
        driver = adapter.create_device(int(api), self._report, CORE_LAYER)
        self._functions = driver.functions

    def _report(self, core_layer: int, code: int) -> None:
        """pfnSetErrorCb."""
        self._codes.append(code)

    def call(self, entry: str, *arguments: Any) -> Any:
        """Call the DDI function ``entry``, after unbinding what conflicts with it.

        Raises Refused with the driver's error, Unsupported for a function of Direct3D 11 only.
        """
        self._codes.clear()
        found = None
        for name, given in self._hazards.resolved(entry, arguments):
            if name not in self._functions:
                raise Unsupported(f"{name} before Direct3D 11")
            found = self._functions[name](*given)
        if self._codes:
            raise Refused(RESULTS.get(self._codes[0], Result.E_FAIL), entry)
        return found

    def finish(self) -> None:
        """Let time pass until the GPU is idle."""
        self._adapter.finish()

    # Objects

    def make(self, noun: str, description: Any) -> Handle:
        """Create an object; ``noun`` is its name in the DDI, ``description`` its structure."""
        memory = bytearray(self.call(f"CalcPrivate{noun}Size", description))
        self.call(f"Create{noun}", description, memory, 0)
        return Handle(memory)

    def create_buffer(
        self,
        size: int,
        bind: int,
        data: bytes | None,
        usage: Usage = Usage.DEFAULT,
        stride: int = 0,
    ) -> Resource:
        """CreateBuffer of ``size`` bytes; ``bind`` is D3D11_BIND_*.  Without data it is zeroed.  A
        ``stride``, in bytes, makes it a structured buffer.
        """
        given = None if data is None else (SubresourceUP(data, size, size),)
        return self._create(
            CreateResource(
                (MipInfo(size),), given, ResourceType.BUFFER, usage, bind_flags(bind),
                ByteStride=stride,
            )
        )  # fmt: skip

    def create_texture2d(
        self,
        format: int,
        size: tuple[int, int],
        bind: int,
        *,
        samples: int = 1,
        usage: Usage = Usage.DEFAULT,
        data: SubresourceUP | None = None,
    ) -> Resource:
        """CreateTexture2D of one level and one slice.

        ``format`` is a DXGI_FORMAT, ``size`` width and height in pixels, ``bind`` D3D11_BIND_*;
        ``samples`` a pixel.
        """
        return self._create(
            CreateResource(
                (MipInfo(*size),),
                None if data is None else (data,),
                ResourceType.TEXTURE2D,
                usage,
                bind_flags(bind),
                Format=format,
                SampleDesc=DxgiSampleDesc(samples),
            )
        )

    def create_unordered_view(
        self,
        resource: Resource,
        format: int,
        *,
        elements: tuple[int, int] = (0, 0),
        flags: int = 0,
        mip: int = 0,
        slices: tuple[int, int] = (0, 1),
    ) -> Handle:
        """CreateUnorderedAccessView of ``elements`` (first, count) of a buffer, or ``slices``
        (first, count) of level ``mip`` of a texture.

        ``format`` is a DXGI_FORMAT, ``flags`` are D3D11_BUFFER_UAV_FLAG_*.
        """
        desc = CreateUnorderedAccessView(
            resource.memory, format, resource.desc.ResourceDimension, mip, *slices, *elements,
            flags,
        )  # fmt: skip
        return self.make("UnorderedAccessView", desc)

    def _create(self, desc: CreateResource) -> Resource:
        return Resource(self.make("Resource", desc).memory, desc)

    def create_shader(self, stage: str, code: Code) -> Shader:
        """Create...Shader; ``stage`` is the stage's name, such as Vertex."""
        tessellates = stage in ("Hull", "Domain")
        signatures = code.tessellation_signatures if tessellates else code.signatures
        size = f"CalcPrivate{'Tessellation' if tessellates else ''}ShaderSize"
        memory = bytearray(self.call(size, code.program, signatures))
        self.call(f"Create{stage}Shader", code.program, memory, 0, signatures)
        return Shader(memory, code)

    def create_streaming_shader(
        self,
        code: Code,
        declared: Sequence[StreamDeclaration],
        strides: Sequence[int],
        rasterized: int = 0,
    ) -> Shader:
        """CreateGeometryShaderWithStreamOutput, of a geometry shader or of the stage before it.

        The ``declared`` components go to buffers with ``strides`` in bytes, by slot;
        ``rasterized`` is the number of the rasterized stream, 0xFFFFFFFF for none.
        """
        desc = stream_output_desc(self.api, code, declared, strides, rasterized)
        signatures = code.signatures
        size = self.call("CalcPrivateGeometryShaderWithStreamOutput", desc, signatures)
        memory = bytearray(size)
        self.call("CreateGeometryShaderWithStreamOutput", desc, memory, 0, signatures)
        return Shader(memory, code)

    def create_input_layout(self, elements: Sequence[VertexElement], shader: Shader) -> Handle:
        """CreateInputLayout of ``elements`` for a vertex shader."""
        found = input_elements(elements, shader.code.inputs)
        return self.make("ElementLayout", CreateElementLayout(found))

    def create_query(self, number: int, flags: int = 0) -> Query:
        """CreateQuery, by the ``number`` the interface gives the type; ``flags`` are
        D3D11_QUERY_MISC_*.
        """
        return Query(self, kind_of(self.api, number), self._checked(flags))

    def create_predicate(self, number: int, flags: int = 0) -> Query:
        """CreatePredicate: as ``create_query``, ``number`` and ``flags`` alike."""
        return Query(self, kind_of(self.api, number, predicate=True), self._checked(flags))

    def _checked(self, flags: int) -> int:
        if flags & ~int(MiscFlag.PREDICATEHINT):
            raise Refused(Result.E_INVALIDARG, f"MiscFlags {flags:#x}")
        return flags

    # Commands

    def set_viewports(self, viewports: Sequence[tuple[float, ...]]) -> None:
        """RSSetViewports: x, y, width, height, minimum and maximum depth of ``viewports``."""
        rows = [Viewport(*viewport) for viewport in viewports]
        self.call("SetViewports", VIEWPORTS - len(rows), rows)

    def set_scissor_rects(self, rects: Sequence[tuple[int, ...]]) -> None:
        """RSSetScissorRects: left, top, right and bottom of each of ``rects``, in pixels."""
        rows = [Scissor(*rect) for rect in rects]
        self.call("SetScissorRects", VIEWPORTS - len(rows), rows)

    def resolve(self, resource: Resource) -> Resource:
        """Resolve a multisampled texture into a new texture of one sample."""
        desc = resource.desc
        target = self.create_texture2d(
            desc.Format, desc.pMipInfoList[0][:2], int(BindFlag.RENDER_TARGET)
        )
        arguments = (target.memory, 0, resource.memory, 0, desc.Format)
        self.call("ResourceResolveSubresource", *arguments)
        return target

    def read(self, resource: Resource) -> bytes:
        """The bytes of a buffer, or of a texture's top level with packed rows."""
        desc = resource.desc
        if desc.SampleDesc.Count > 1:
            resolved = self.resolve(resource)
            data = self.read(resolved)
            self.release(resolved)
            return data
        top = desc.pMipInfoList[0]
        staging = self._create(
            CreateResource(
                (top,), None, desc.ResourceDimension, Usage.STAGING, MapFlags=int(Map.READ),
                Format=desc.Format,
            )
        )  # fmt: skip
        self.call("ResourceCopy", staging.memory, resource.memory)
        mapped = self.call("StagingResourceMap", staging.memory, 0, int(Map.READ), 0)
        data = _packed(mapped, self._row_bytes(resource), top.TexelHeight)
        self.call("StagingResourceUnmap", staging.memory, 0)
        self.release(staging)
        return data

    def release(self, resource: Resource) -> None:
        """Release: destroy a resource."""
        self.call("DestroyResource", resource.memory)

    def _row_bytes(self, resource: Resource) -> int:
        width = resource.desc.pMipInfoList[0].TexelWidth
        return width if resource.is_buffer else width * texel_bytes(resource.desc.Format)


_UNORDERED_ACCESS = 0x80
"""D3D11_BIND_UNORDERED_ACCESS, which has another bit in the DDI."""


def bind_flags(bind: int) -> int:
    """The DDI's bind flags for D3D11_BIND_FLAG."""
    unordered = BindFlag.UNORDERED_ACCESS if bind & _UNORDERED_ACCESS else 0
    return bind & ~_UNORDERED_ACCESS | unordered


def _packed(mapped: MappedSubresource, row: int, height: int) -> bytes:
    starts = range(0, mapped.RowPitch * height, mapped.RowPitch or 1)
    return b"".join(bytes(mapped.pData[start : start + row]) for start in starts)


# Hazards: memory bound for reading and writing at the same time.
#
# Binding an output unbinds it as an input, and an input that is bound as an output becomes null
# (Direct3D 11 documentation, SOSetTargets, IASetVertexBuffers, OMSetRenderTargets,
# CSSetUnorderedAccessViews and PSSetShaderResources).

Call = tuple[str, tuple[Any, ...]]
"""A function of the driver and its arguments."""

_Handle = bytearray | None

_ALL = 0xFFFFFFFF

_STAGES = ("Vs", "Hs", "Ds", "Gs", "Ps", "Cs")


class _Range(msgspec.Struct, frozen=True, eq=False):
    """Half-open ranges of levels and slices of a resource; the defaults cover all of it."""

    resource: bytearray
    levels: tuple[int, int] = (0, _ALL)
    slices: tuple[int, int] = (0, _ALL)

    def overlaps(self, other: _Range) -> bool:
        """Whether two ranges share a subresource."""
        pairs = (self.levels, other.levels), (self.slices, other.slices)
        return self.resource is other.resource and all(
            a[0] < b[1] and b[0] < a[1] for a, b in pairs
        )


class HazardTracker:
    """The inputs and outputs bound to a device.  Mutable: calls change them.

    Outputs are keyed by the function that binds them.
    """

    def __init__(self) -> None:
        self._vertices: dict[int, bytearray] = {}
        self._indices: _Handle = None
        self._read: dict[tuple[str, int], _Range] = {}
        self._outputs: dict[str, list[_Range]] = {}
        self._slots: dict[int, _Range] = {}
        self._views: dict[int, tuple[bytearray, _Range]] = {}

    def resolved(self, entry: str, arguments: tuple[Any, ...]) -> Iterator[Call]:
        """The calls to make instead of a call: unbinding of inputs, then the call itself."""
        rule = _RULES.get(entry)
        if rule is None:
            yield entry, arguments
        else:
            yield from rule(self, entry, *arguments)

    # Views

    def _create_read(self, entry: str, desc: Any, memory: bytearray, *rest: Any) -> Iterator[Call]:
        levels = _counted(desc.MostDetailedMip, desc.MipLevels)
        slices = _counted(desc.FirstArraySlice, desc.ArraySize)
        self._views[id(memory)] = memory, _Range(desc.hDrvResource, levels, slices)
        yield entry, (desc, memory, *rest)

    def _create_written(
        self, entry: str, desc: Any, memory: bytearray, *rest: Any
    ) -> Iterator[Call]:
        level = desc.MipSlice, desc.MipSlice + 1
        slices = _counted(desc.FirstArraySlice, desc.ArraySize)
        self._views[id(memory)] = memory, _Range(desc.hDrvResource, level, slices)
        yield entry, (desc, memory, *rest)

    def _create_depth(
        self, entry: str, desc: Any, memory: bytearray, *rest: Any
    ) -> Iterator[Call]:
        """CreateDepthStencilView; a read-only view counts as no output."""
        if desc.Flags:
            yield entry, (desc, memory, *rest)
        else:
            yield from self._create_written(entry, desc, memory, *rest)

    def _parts(self, views: Iterable[_Handle]) -> Iterator[_Range | None]:
        for view in views:
            memory, part = self._views.get(id(view), (None, None))
            yield part if memory is view else None

    # Outputs

    def _set_streams(self, entry: str, targets: Any, *rest: Any) -> Iterator[Call]:
        written = [_Range(each) for each in targets if each is not None]
        yield from self._written_by(entry, written)
        yield entry, (targets, *rest)

    def _set_targets(
        self, entry: str, targets: Any, clear: int, depth: _Handle, *rest: Any
    ) -> Iterator[Call]:
        unordered: Sequence[_Handle] = rest[0] if rest else ()
        found = self._parts((*targets, depth, *unordered))
        yield from self._written_by(entry, [part for part in found if part is not None])
        yield entry, (targets, clear, depth, *rest)

    def _set_unordered(self, entry: str, start: int, views: Any, *rest: Any) -> Iterator[Call]:
        for slot, part in enumerate(self._parts(views), start):
            self._slots.pop(slot, None)
            if part is not None:
                self._slots[slot] = part
        yield from self._written_by(entry, list(self._slots.values()))
        yield entry, (start, views, *rest)

    def _written_by(self, setter: str, parts: list[_Range]) -> Iterator[Call]:
        """Record the outputs that a function binds, and unbind inputs that overlap them."""
        self._outputs[setter] = parts
        for slot in [slot for slot, each in self._vertices.items() if self._written(each)]:
            del self._vertices[slot]
            yield "IaSetVertexBuffers", (slot, (None,), (0,), (0,))
        if self._written(self._indices):
            self._indices = None
            yield "IaSetIndexBuffer", (None, 0, 0)
        for entry, slot in [at for at, part in self._read.items() if self._meets(part)]:
            del self._read[entry, slot]
            yield entry, (slot, (None,))

    def _written(self, buffer: _Handle) -> bool:
        return buffer is not None and self._meets(_Range(buffer))

    def _meets(self, part: _Range) -> bool:
        return any(part.overlaps(each) for parts in self._outputs.values() for each in parts)

    # Inputs

    def _set_vertices(self, entry: str, start: int, buffers: Any, *rest: Any) -> Iterator[Call]:
        bound = tuple(None if self._written(each) else each for each in buffers)
        for slot, each in enumerate(bound, start):
            self._vertices.pop(slot, None)
            if each is not None:
                self._vertices[slot] = each
        yield entry, (start, bound, *rest)

    def _set_indices(self, entry: str, buffer: _Handle, *rest: Any) -> Iterator[Call]:
        self._indices = None if self._written(buffer) else buffer
        yield entry, (self._indices, *rest)

    def _set_resources(self, entry: str, start: int, views: Any) -> Iterator[Call]:
        bound: list[_Handle] = []
        for slot, (view, part) in enumerate(zip(views, self._parts(views), strict=True), start):
            self._read.pop((entry, slot), None)
            written = part is not None and self._meets(part)
            bound.append(None if written else view)
            if part is not None and not written:
                self._read[entry, slot] = part
        yield entry, (start, tuple(bound))


def _counted(first: int, count: int) -> tuple[int, int]:
    return first, _ALL if count == _ALL else first + count


_RULES: dict[str, Callable[..., Iterator[Call]]] = {
    "CreateShaderResourceView": HazardTracker._create_read,
    "CreateRenderTargetView": HazardTracker._create_written,
    "CreateUnorderedAccessView": HazardTracker._create_written,
    "CreateDepthStencilView": HazardTracker._create_depth,
    "SoSetTargets": HazardTracker._set_streams,
    "SetRenderTargets": HazardTracker._set_targets,
    "CsSetUnorderedAccessViews": HazardTracker._set_unordered,
    "IaSetVertexBuffers": HazardTracker._set_vertices,
    "IaSetIndexBuffer": HazardTracker._set_indices,
    **dict.fromkeys(
        (f"{stage}SetShaderResources" for stage in _STAGES), HazardTracker._set_resources
    ),
}
