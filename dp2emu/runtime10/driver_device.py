"""ID3D10Device and ID3D11Device over the functions of a driver.

Only the parts that reach a driver: objects are created in memory of the size that the driver asks
for, its error codes become results, and read-backs use staging resources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from dp2emu.argument_check import checked, checked_on_failure, unchecked
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.device import SINCE
from dp2emu.ddi10.queries.counters import StringOut
from dp2emu.ddi10.queries.query_types import MiscFlag
from dp2emu.ddi10.resources.maps import Map, MappedSubresource
from dp2emu.ddi10.resources.resource import (
    BindFlag,
    CreateResource,
    MipInfo,
    OpenResource,
    ResourceType,
    SubresourceUP,
    Usage,
)
from dp2emu.ddi10.resources.transfers import DdiBox
from dp2emu.ddi10.states.bindings import VIEWPORTS, Scissor, Viewport
from dp2emu.ddi10.states.input_layout import CreateElementLayout
from dp2emu.errors import ArgumentError, ContractError, Dp2Error, Unsupported
from dp2emu.runtime10.codes import RESULTS, Api, Refused, Result
from dp2emu.runtime10.counters import CounterText, counter_row
from dp2emu.runtime10.features import FeatureData, feature_data
from dp2emu.runtime10.hazards import HazardTracker
from dp2emu.runtime10.query import Query, kind_of
from dp2emu.runtime10.signatures import Code, VertexElement, input_elements
from dp2emu.runtime10.streamout import StreamDeclaration, stream_output_desc
from dp2emu.runtime10.textures import (
    Part,
    TextureDesc,
    bind_flags,
    box_part,
    map_flags,
    parts_of,
    texture_resource,
)
from dp2emu.runtime10.views import VIEW_DIMENSIONS, Span, ViewDesc, view_structure

_FAILED = 0x80000000
"""The bit of an HRESULT that errors have."""
CORE_LAYER = 1
"""The runtime's handle of itself ("core layer"), which the driver passes to pfnSetErrorCb."""


class Functions(Protocol):
    """Interface of the device that a driver creates: its DDI functions, by name."""

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The device's DDI functions by name."""

    @property
    def dxgi_functions(self) -> Mapping[str, Callable[..., int]]:
        """The device's DXGI functions by name."""


class Adapter(Protocol):
    """A driver's adapter, as the runtime uses it: it creates devices."""

    def create_device(
        self, interface: int, set_error: Callable[[int, int], None], core_layer: int = 0
    ) -> Functions:
        """CreateDevice; the driver reports errors by ``set_error(core_layer, code)``."""

    def get_caps(self, type: int, data: bytearray) -> int:
        """GetCaps: write the capability structure of ``type`` to ``data``; returns an HRESULT."""

    def finish(self) -> None:
        """Let time pass until the GPU is idle."""


class Handle(msgspec.Struct, frozen=True, eq=False):
    """A driver's object; ``memory``, allocated by the runtime, holds the driver's data of it."""

    memory: bytearray


class Resource(Handle, frozen=True, eq=False):
    """A buffer or texture of the driver; ``desc`` is the DDI structure that created it."""

    desc: CreateResource

    @property
    def is_buffer(self) -> bool:
        """Whether it is a buffer, not a texture."""
        return self.desc.ResourceDimension == ResourceType.BUFFER


class Shader(Handle, frozen=True, eq=False):
    """A driver's shader object, and the compiled ``code`` that it was created from."""

    code: Code


@checked
class DriverDevice:
    """A device for an application.  Mutable: calls change its bindings, and ``removed``, whether
    the driver reported that the adapter was removed.

    Methods raise Refused with a ``Result``, and the errors of the driver: Unsupported for features
    that are not implemented, ContractError for rules that the runtime does not enforce.
    """

    def __init__(self, adapter: Adapter, api: Api = Api.D3D11) -> None:
        self.api = api
        self._adapter = adapter
        self._codes: list[int] = []
        self.removed = False
        self.hazards = HazardTracker()
        driver = adapter.create_device(int(api), self._report, CORE_LAYER)
        self._kernel_handle = getattr(driver, "kernel_handle", None)
        self._functions = driver.functions
        self._dxgi_functions = driver.dxgi_functions

    def _report(self, core_layer: int, code: int) -> None:
        """pfnSetErrorCb: receive the error ``code`` that the driver reports."""
        self._codes.append(code)
        self.removed = self.removed or code == DdiCode.D3DDDIERR_DEVICEREMOVED

    @checked_on_failure
    def call(self, entry: str, *arguments: Any) -> Any:
        """Call the DDI function ``entry``, after unbinding inputs that would also be outputs.

        Raises Refused with the driver's error, Unsupported for a function of Direct3D 11 only,
        ArgumentError for an unknown one and for arguments that it does not take.
        """
        found = None
        for name, given in self.hazards.resolved(entry, arguments):
            found = self.send(name, *given)
        return found

    @unchecked
    def send(self, entry: str, *arguments: Any) -> Any:
        """Call the DDI function ``entry`` as it is; raises as ``call`` does."""
        self._codes.clear()
        function = self._functions.get(entry) if type(entry) is str else None
        if function is None:
            raise _missing(entry)
        found = function(*arguments)
        if self._codes:
            raise Refused(RESULTS.get(self._codes[0], Result.E_FAIL), entry)
        return found

    @property
    def adapter(self) -> Adapter:
        """The adapter that created the device."""
        return self._adapter

    def dxgi(self, entry: str, *arguments: Any) -> int:
        """Call the DXGI function ``entry``; returns its success code.  Raises Refused with the
        driver's error.
        """
        code = self._dxgi_functions[entry](*arguments)
        if code & _FAILED:
            raise Refused(RESULTS.get(code, Result.E_FAIL), entry)
        return code

    def check_feature_support(self, feature: int) -> FeatureData:
        """CheckFeatureSupport: the structure of ``feature``, a ``Feature``.

        Raises Unsupported for other features, and for Direct3D 10, which has no such method.
        """
        if self.api < Api.D3D11:
            raise Unsupported("CheckFeatureSupport before Direct3D 11")
        return feature_data(feature, self._adapter.get_caps)

    def finish(self) -> None:
        """Let time pass until the GPU is idle."""
        self._adapter.finish()

    # Objects

    def make(self, noun: str, description: Any) -> Handle:
        """Create an object by the DDI functions CalcPrivate``noun``Size and Create``noun``, which
        take the structure ``description``.

        Raises Refused (E_INVALIDARG) for a description that no driver accepts.
        """
        try:
            memory = bytearray(self.call(f"CalcPrivate{noun}Size", description))
            self.call(f"Create{noun}", description, memory, 0)
        except ContractError as error:
            raise Refused(Result.E_INVALIDARG, error.what) from None
        return Handle(memory)

    def kernel_handle(self, resource: bytearray) -> int:
        """The kernel's handle of a shared resource, 0 if it is not shared.

        Raises Unsupported for an adapter whose kernel part is not known.
        """
        if self._kernel_handle is None:
            raise Unsupported("shared resources of this adapter")
        found: int = self._kernel_handle(resource)
        return found

    def open_resource(self, handle: int) -> bytearray:
        """Open a shared resource by the kernel's ``handle``; returns the new object's memory.

        Raises Refused (E_INVALIDARG) for a resource that no device has any more.
        """
        description = OpenResource(handle)
        try:
            memory = bytearray(self.call("CalcPrivateOpenedResourceSize", description))
            self.call("OpenResource", description, memory, 0)
        except ContractError as error:
            raise Refused(Result.E_INVALIDARG, error.what) from None
        return memory

    def create_buffer(
        self,
        size: int,
        bind: int,
        data: bytes | None,
        usage: int = Usage.DEFAULT,
        stride: int = 0,
        access: int = 0,
    ) -> Resource:
        """CreateBuffer of ``size`` bytes; without data it is zeroed.

        ``bind`` is D3D11_BIND_*, ``usage`` D3D11_USAGE_*, ``access`` D3D11_CPU_ACCESS_*.  A
        ``stride``, in bytes, makes it a structured buffer.
        """
        given = None if data is None else (SubresourceUP(data, size, size),)
        return self._create(
            CreateResource(
                (MipInfo(size),), given, ResourceType.BUFFER, usage, bind_flags(bind),
                map_flags(access), ByteStride=stride,
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

        ``format`` is a DXGI_FORMAT, ``size`` width and height in pixels, ``bind`` D3D11_BIND_*,
        ``samples`` the number of samples of a pixel.
        """
        desc = TextureDesc(
            ResourceType.TEXTURE2D, format, *size, samples=samples, bind=bind, usage=usage
        )
        found = texture_resource(self.api, desc)
        return self._create(found if data is None else found._replace(pInitialDataUP=(data,)))

    def create_texture(self, desc: TextureDesc, data: Sequence[bytes] | None = None) -> Resource:
        """CreateTexture1D, CreateTexture2D or CreateTexture3D.

        ``data`` has the rows of each subresource without padding, the levels of slice 0 first.
        Raises Refused (E_INVALIDARG) for an invalid description, and Unsupported.
        """
        return self._create(texture_resource(self.api, desc, data))

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

        ``format`` is a DXGI_FORMAT, ``flags`` are D3D11_BUFFER_UAV_FLAG_*.  Raises as
        ``create_view`` does.
        """
        if resource.is_buffer:
            desc = ViewDesc(format, elements=Span(*elements), flags=flags)
        else:
            desc = ViewDesc(format, levels=Span(mip), slices=Span(*slices), flags=flags)
        return self.create_view("UnorderedAccessView", resource, desc)

    def create_view(self, noun: str, resource: Resource, desc: ViewDesc | None = None) -> Handle:
        """Create a view by its ``noun``, such as ShaderResourceView; without ``desc`` a view of
        all of the resource, and for outputs of its top level.

        Raises Refused (E_INVALIDARG) for a description that does not fit the resource, and
        ArgumentError for an unknown noun.
        """
        if noun not in VIEW_DIMENSIONS:
            known = ", ".join(VIEW_DIMENSIONS)
            raise ArgumentError(f"no view is called {noun!r:.60}; expected {known}")
        given = resource.desc, resource.memory, desc or ViewDesc()
        structure = view_structure(self.api, noun, *given)
        return self.make(noun, structure)

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
        """CreateInputLayout of ``elements`` for a vertex shader.

        Code without an input signature names its registers: ``VertexElement("v", 2, ...)`` is v2.
        Raises Refused for an input without an element.
        """
        found = input_elements(elements, shader.code.named_inputs)
        return self.make("ElementLayout", CreateElementLayout(found))

    def create_query(self, number: int, flags: int = 0) -> Query:
        """CreateQuery; ``number`` is a D3D10_QUERY or D3D11_QUERY, ``flags`` are
        D3D11_QUERY_MISC_*.
        """
        return Query(self, kind_of(self.api, number), self._checked(flags))

    def create_counter(self, number: int) -> Query:
        """CreateCounter; ``number`` is a D3D10_COUNTER or D3D11_COUNTER.  Raises Refused."""
        return Query(self, counter_row(self.api, number).kind)

    def check_counter(self, number: int) -> CounterText:
        """CheckCounter: type, cost and strings of a counter; ``number`` is a D3D10_COUNTER or
        D3D11_COUNTER.  Raises Refused.
        """
        query = int(counter_row(self.api, number).kind.query)
        strings = [StringOut(None) for _ in range(3)]
        self.call("CheckCounter", query, *strings)
        strings = [StringOut(bytearray(each.length), each.length) for each in strings]
        found = self.call("CheckCounter", query, *strings)
        texts = (bytes(each.memory or b"").rstrip(b"\0").decode("ascii") for each in strings)
        return CounterText(found.type, found.active_counters, *texts)

    def create_predicate(self, number: int, flags: int = 0) -> Query:
        """CreatePredicate; ``number`` is a D3D10_QUERY or D3D11_QUERY, ``flags`` are
        D3D11_QUERY_MISC_*.
        """
        return Query(self, kind_of(self.api, number, predicate=True), self._checked(flags))

    def _checked(self, flags: int) -> int:
        if flags & ~int(MiscFlag.PREDICATEHINT):
            raise Refused(Result.E_INVALIDARG, f"MiscFlags {flags:#x}")
        return flags

    # Commands

    def set_viewports(self, viewports: Sequence[tuple[float, ...]]) -> None:
        """RSSetViewports: x, y, width, height, minimum and maximum depth of ``viewports``."""
        rows = [Viewport(*viewport) for viewport in viewports]
        self.call("SetViewports", _free(rows), rows)

    def set_scissor_rects(self, rects: Sequence[tuple[int, ...]]) -> None:
        """RSSetScissorRects: left, top, right and bottom of each of ``rects``, in pixels."""
        rows = [Scissor(*rect) for rect in rects]
        self.call("SetScissorRects", _free(rows), rows)

    def update(
        self, resource: Resource, index: int, data: bytes, box: DdiBox | None = None
    ) -> None:
        """UpdateSubresource of subresource ``index``, or of a ``box`` of it in texels.

        ``data`` has rows without padding.  Raises Refused for another size, and for a box that
        does not lie in the subresource.
        """
        part = self.part(resource, index)
        if box is not None:
            part = box_part(resource.desc, part, box)
        if len(data) != part.size:
            raise Refused(Result.E_INVALIDARG, f"{len(data)} bytes for {part.size}")
        pitches = part.row_bytes, part.slice_bytes
        self.call("ResourceUpdateSubresourceUP", resource.memory, index, box, data, *pitches)

    def part(self, resource: Resource, index: int) -> Part:
        """Subresource ``index`` of a resource.  Raises Refused (E_INVALIDARG) if it has fewer."""
        parts = parts_of(resource.desc)
        if not 0 <= index < len(parts):
            raise Refused(Result.E_INVALIDARG, f"subresource {index} of {len(parts)}")
        return parts[index]

    def resolve(self, resource: Resource, index: int = 0) -> Resource:
        """Resolve slice ``index`` of a multisampled texture into a new texture of one sample."""
        desc = resource.desc
        target = self.create_texture2d(
            desc.Format, desc.pMipInfoList[0][:2], int(BindFlag.RENDER_TARGET)
        )
        arguments = (target.memory, 0, resource.memory, index, desc.Format)
        self.call("ResourceResolveSubresource", *arguments)
        return target

    def read(self, resource: Resource, index: int = 0) -> bytes:
        """The bytes of a buffer, or of subresource ``index`` of a texture in rows without padding.

        Slices of a volume follow each other; a multisampled texture is resolved.  Raises Refused
        (E_INVALIDARG) for a subresource that does not exist.
        """
        desc, part = resource.desc, self.part(resource, index)
        if desc.SampleDesc.Count > 1:
            resolved = self.resolve(resource, index)
            data = self.read(resolved)
            self.release(resolved)
            return data
        cube = desc.ResourceDimension == ResourceType.TEXTURECUBE
        staging = self._create(
            CreateResource(
                (MipInfo(part.width, part.height, part.depth),), None,
                ResourceType.TEXTURE2D if cube else desc.ResourceDimension, Usage.STAGING,
                MapFlags=int(Map.READ), Format=desc.Format,
            )
        )  # fmt: skip
        source = (resource.memory, index, None)
        self.call("ResourceCopyRegion", staging.memory, 0, 0, 0, 0, *source)
        mapped = self.call("StagingResourceMap", staging.memory, 0, int(Map.READ), 0)
        data = _packed(mapped, part)
        self.call("StagingResourceUnmap", staging.memory, 0)
        self.release(staging)
        return data

    def release(self, resource: Resource) -> None:
        """Release: destroy a resource."""
        self.call("DestroyResource", resource.memory)


def _free(rows: Sequence[object]) -> int:
    """The number of viewport slots that ``rows`` leave.  Raises Refused if it is negative."""
    if len(rows) > VIEWPORTS:
        raise Refused(Result.E_INVALIDARG, f"{len(rows)} viewports or scissor rectangles")
    return VIEWPORTS - len(rows)


def _missing(entry: str) -> Dp2Error:
    """The error about a function that a driver's device lacks."""
    if type(entry) is str and entry in SINCE:
        return Unsupported(f"{entry} before Direct3D 11")
    return ArgumentError(f"the Direct3D 10/11 interface has no function {entry!r:.60}")


def _packed(mapped: MappedSubresource, part: Part) -> bytes:
    """The rows of a mapped subresource without padding."""
    starts = (
        slice * mapped.DepthPitch + row * mapped.RowPitch
        for slice in range(part.depth)
        for row in range(part.rows)
    )
    return b"".join(bytes(mapped.pData[start : start + part.row_bytes]) for start in starts)
