"""ID3D11Device: creates the objects of an application, and knows them by their driver objects.

Source: the Direct3D 11 documentation of ID3D11Device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from dp2emu.argument_check import checked, unchecked
from dp2emu.ddi10.adapter import Adapter as DdiAdapter
from dp2emu.ddi10.resources.resource import CreateResource, ResourceType
from dp2emu.errors import ContractError
from dp2emu.runtime10.buffers import buffer_resource
from dp2emu.runtime10.class_linkage import ClassLinkage
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.context_state import DeviceContextState, check_state
from dp2emu.runtime10.counters import CounterText
from dp2emu.runtime10.deferred import DeferredContext, ImmediateContext
from dp2emu.runtime10.descriptions import (
    BlendDesc,
    BufferDesc,
    CounterDesc,
    CounterInfo,
    DepthStencilDesc,
    InputElementDesc,
    QueryDesc,
    RasterizerDesc,
    SamplerDesc,
    SubresourceData,
    Texture1DDesc,
    Texture2DDesc,
    Texture3DDesc,
)
from dp2emu.runtime10.driver_device import Adapter, DriverDevice
from dp2emu.runtime10.driver_device import Resource as DriverResource
from dp2emu.runtime10.driver_device import Shader as DriverShader
from dp2emu.runtime10.enums import FeatureLevel, FormatSupport, Residency
from dp2emu.runtime10.feature_levels import (
    check_blend,
    check_buffer,
    check_elements,
    check_from_10,
    check_query,
    check_rasterizer,
    check_sampler,
    check_shader,
    level_of,
    support_at,
)
from dp2emu.runtime10.feature_levels import check_texture as check_texture_level
from dp2emu.runtime10.features import Feature, FeatureData, format_data
from dp2emu.runtime10.ignored_members import blend_members, depth_stencil_members, sampler_members
from dp2emu.runtime10.objects import (
    BlendState,
    Buffer,
    ComputeShader,
    Counter,
    DepthStencilState,
    DepthStencilView,
    DeviceChild,
    DomainShader,
    GeometryShader,
    HullShader,
    InputLayout,
    PixelShader,
    Predicate,
    Query,
    RasterizerState,
    RenderTargetView,
    Resource,
    SamplerState,
    Shader,
    ShaderResourceView,
    State,
    Texture1D,
    Texture2D,
    Texture3D,
    UnorderedAccessView,
    VertexShader,
    View,
)
from dp2emu.runtime10.sharing import described
from dp2emu.runtime10.signatures import Code
from dp2emu.runtime10.streamout import StreamDeclaration, check_declaration
from dp2emu.runtime10.textures import MiscFlag, TextureDesc, parts_of, texture_resource
from dp2emu.runtime10.validation import check_texture, check_viewed, misc_flags
from dp2emu.runtime10.views import ViewDesc
from dp2emu.shader.sm4.container import MAGIC
from dp2emu.shader.sm4.interfaces import interfaces_in

_Child = TypeVar("_Child", bound=DeviceChild)
_Shader = TypeVar("_Shader", bound=Shader)
_State = TypeVar("_State", bound=State)
_View = TypeVar("_View", bound=View)


PATTERNS = (0xFFFFFFFF, 0xFFFFFFFE)
"""D3D11_STANDARD_MULTISAMPLE_PATTERN and D3D11_CENTER_MULTISAMPLE_PATTERN, quality levels."""


@checked
class Device:
    """ID3D11Device over a driver's adapter.  Mutable: it knows its objects.

    ``context`` is the immediate context, ``feature_level`` what the device accepts, ``interfaces``
    are other interfaces of the device, such as IDXGIDevice, made when they are asked for.
    Methods raise Refused with the HRESULT of a failed call, and Unsupported for features that are
    not implemented; the ``desc`` of a method is the SDK's description, ``bytecode`` a DXBC
    container or tokens, ``declaration`` has an entry for each streamed output,
    ``rasterized_stream`` is 0xFFFFFFFF for none.  ``format`` is a DXGI_FORMAT, ``sample_count`` a
    number of samples of a pixel, ``memory`` a driver's object.
    """

    def __init__(
        self, adapter: Adapter, api: Api = Api.D3D11, feature_level: int | None = None
    ) -> None:
        """``feature_level`` is a D3D_FEATURE_LEVEL, by default the highest of the interface.

        Raises Refused (E_INVALIDARG) for a level that its devices do not have.
        """
        self.feature_level = level_of(api, feature_level)
        self.driver = DriverDevice(adapter, api)
        self._children: dict[int, DeviceChild] = {}
        self._states: dict[tuple[type[State], Any], State] = {}
        self.context = ImmediateContext(self.driver, self.driver.hazards, self)
        self.interfaces: dict[type, Any] = {}

    @property
    def api(self) -> Api:
        """The version of the interface."""
        return self.driver.api

    # Objects

    def child(self, memory: bytearray) -> Any:
        """The application's object of a driver's object.

        Raises Refused (E_INVALIDARG) for memory of no object of the device.
        """
        return self._child(memory)

    def _child(self, memory: bytearray) -> DeviceChild:
        found = self._children.get(id(memory))
        if found is None:
            raise Refused(Result.E_INVALIDARG, "no object of this device")
        return found

    @unchecked
    def bound(self, memory: bytearray) -> None:
        """Count a slot in which an object is bound.  Raises as ``child`` does."""
        self._child(memory).users += 1

    @unchecked
    def unbound(self, memory: bytearray) -> None:
        """Count a slot less in which an object is bound.  Raises as ``child`` does."""
        self._child(memory).drop()

    def keep(self, child: DeviceChild) -> None:
        """Know a new object by its memory."""
        self._children[id(child.memory)] = child

    def discard(self, child: DeviceChild) -> None:
        """Destroy an object that is not used any more."""
        known = self._children.pop(id(child.memory), None)
        if known is not None and child.noun:
            self.driver.call(f"Destroy{child.noun}", child.memory)
        if isinstance(child, State):
            self._states.pop((type(child), child.desc), None)
        for used in child.uses:
            used.drop()

    def close(self) -> None:
        """Destroy the device with all its objects, as the last Release does."""
        self.context.clear_state()
        newest = [child for child in reversed(self._children.values()) if child.noun]
        for child in sorted(newest, key=lambda each: not isinstance(each, View)):
            self.driver.call(f"Destroy{child.noun}", child.memory)
        self._children.clear()
        self.driver.call("DestroyDevice")

    def _kept(self, made: _Child) -> _Child:
        self.keep(made)
        return made

    # Resources

    def create_buffer(
        self, desc: BufferDesc, initial_data: bytes | SubresourceData | None = None
    ) -> Buffer:
        """CreateBuffer; without ``initial_data`` it is zeroed."""
        given = initial_data
        if isinstance(given, bytes):
            given = SubresourceData(given, desc.ByteWidth, desc.ByteWidth)
        check_buffer(self.feature_level, desc)
        found = buffer_resource(self.driver.api, desc, given)
        return self._kept(Buffer(self, self._driver_resource(found), desc))

    def create_texture1d(
        self, desc: Texture1DDesc, initial_data: Sequence[SubresourceData] | None = None
    ) -> Texture1D:
        """CreateTexture1D; ``initial_data`` has an element per subresource."""
        described = TextureDesc(
            ResourceType.TEXTURE1D, desc.Format, desc.Width, 1, 1, desc.MipLevels, desc.ArraySize,
            1, 0, desc.BindFlags, desc.Usage, desc.CPUAccessFlags, desc.MiscFlags,
        )  # fmt: skip
        return self._kept(Texture1D(self, *self._texture(described, desc, initial_data)))

    def create_texture2d(
        self, desc: Texture2DDesc, initial_data: Sequence[SubresourceData] | None = None
    ) -> Texture2D:
        """CreateTexture2D; ``initial_data`` has an element per subresource."""
        cube = misc_flags(self.driver.api, desc.MiscFlags) & MiscFlag.TEXTURECUBE
        described = TextureDesc(
            ResourceType.TEXTURECUBE if cube else ResourceType.TEXTURE2D,
            desc.Format, desc.Width, desc.Height, 1, desc.MipLevels, desc.ArraySize,
            *desc.SampleDesc, desc.BindFlags, desc.Usage, desc.CPUAccessFlags, desc.MiscFlags,
        )  # fmt: skip
        return self._kept(Texture2D(self, *self._texture(described, desc, initial_data)))

    def create_texture3d(
        self, desc: Texture3DDesc, initial_data: Sequence[SubresourceData] | None = None
    ) -> Texture3D:
        """CreateTexture3D; ``initial_data`` has an element per subresource."""
        described = TextureDesc(
            ResourceType.TEXTURE3D, desc.Format, desc.Width, desc.Height, desc.Depth,
            desc.MipLevels, 1, 1, 0, desc.BindFlags, desc.Usage, desc.CPUAccessFlags,
            desc.MiscFlags,
        )  # fmt: skip
        return self._kept(Texture3D(self, *self._texture(described, desc, initial_data)))

    def create_back_buffer(self, desc: Texture2DDesc) -> Texture2D:
        """A texture of a swap chain, whose views may have any format of its family."""
        described = TextureDesc(
            ResourceType.TEXTURE2D, desc.Format, desc.Width, desc.Height, bind=desc.BindFlags,
            samples=desc.SampleDesc.Count,
        )  # fmt: skip
        shown = texture_resource(self.driver.api, described, shown=True)
        return self._kept(Texture2D(self, self._driver_resource(shown), desc))

    def _texture(
        self, described: TextureDesc, desc: Any, data: Sequence[SubresourceData] | None
    ) -> tuple[DriverResource, Any]:
        """The driver's resource and the description with its number of levels."""
        api = self.driver.api
        described = described._replace(misc=misc_flags(api, described.misc))
        if described.quality in PATTERNS and api > Api.D3D10:
            described = described._replace(quality=0)
        found = _checked_texture(api, self.feature_level, data is not None, *described)
        if data is not None:
            if len(data) != len(parts_of(found)):
                raise Refused(Result.E_INVALIDARG, f"initial data of {len(data)} subresources")
            found = found._replace(pInitialDataUP=tuple(data))
        made = self._driver_resource(found)
        return made, desc._replace(MipLevels=found.MipLevels)

    def open_shared_resource(self, handle: int) -> Resource:
        """OpenSharedResource: a new object of a resource that a device of the adapter shares;
        ``handle`` is from ``DxgiResource.get_shared_handle``.

        Raises Refused (E_INVALIDARG) for a handle of no resource that is alive.
        """
        kind, desc, ddi = described(self.driver, handle)
        memory = self.driver.open_resource(handle)
        return self._kept(kind(self, DriverResource(memory, ddi), desc))

    def _driver_resource(self, desc: CreateResource) -> DriverResource:
        return DriverResource(self.driver.make("Resource", desc).memory, desc)

    # Views

    def create_shader_resource_view(
        self, resource: Resource, desc: ViewDesc | None = None
    ) -> ShaderResourceView:
        """CreateShaderResourceView; without ``desc`` of all of the resource."""
        return self._view(ShaderResourceView, resource, desc)

    def create_unordered_access_view(
        self, resource: Resource, desc: ViewDesc | None = None
    ) -> UnorderedAccessView:
        """CreateUnorderedAccessView; without ``desc`` of the top level."""
        return self._view(UnorderedAccessView, resource, desc)

    def create_render_target_view(
        self, resource: Resource, desc: ViewDesc | None = None
    ) -> RenderTargetView:
        """CreateRenderTargetView; without ``desc`` of the top level."""
        return self._view(RenderTargetView, resource, desc)

    def create_depth_stencil_view(
        self, resource: Resource, desc: ViewDesc | None = None
    ) -> DepthStencilView:
        """CreateDepthStencilView; without ``desc`` of the top level."""
        return self._view(DepthStencilView, resource, desc)

    def _view(self, kind: type[_View], resource: Resource, desc: ViewDesc | None) -> _View:
        check_viewed(kind.noun, resource.ddi)
        if resource.read_only and kind is not ShaderResourceView:
            raise Refused(Result.E_INVALIDARG, f"{kind.noun} of a back buffer behind the first")
        made = self.driver.create_view(kind.noun, resource.driver, desc)
        return self._kept(kind(resource, made.memory, desc))

    # Shaders and layouts

    def create_input_layout(
        self, elements: Sequence[InputElementDesc], bytecode: bytes
    ) -> InputLayout:
        """CreateInputLayout for vertex shaders with the input signature of ``bytecode``, a DXBC
        container.  Tokens have none: their elements are named ``v``, with the register's number.
        """
        shader = DriverShader(bytearray(), _code(bytecode))
        check_elements(self.feature_level, elements)
        made = self.driver.create_input_layout(elements, shader)
        return self._kept(InputLayout(self, made.memory))

    def create_vertex_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> VertexShader:
        """CreateVertexShader from a DXBC container, or from tokens."""
        return self._shader(VertexShader, bytecode, linkage)

    def create_hull_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> HullShader:
        """CreateHullShader from a DXBC container, or from tokens."""
        return self._shader(HullShader, bytecode, linkage)

    def create_domain_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> DomainShader:
        """CreateDomainShader from a DXBC container, or from tokens."""
        return self._shader(DomainShader, bytecode, linkage)

    def create_geometry_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> GeometryShader:
        """CreateGeometryShader from a DXBC container, or from tokens."""
        return self._shader(GeometryShader, bytecode, linkage)

    def create_geometry_shader_with_stream_output(
        self,
        bytecode: bytes,
        declaration: Sequence[StreamDeclaration] | None,
        strides: Sequence[int],
        rasterized_stream: int = 0,
    ) -> GeometryShader:
        """CreateGeometryShaderWithStreamOutput from a DXBC container or tokens; ``strides`` are in
        bytes, by slot.  Without a declaration nothing is streamed.
        """
        code, rows = _code(bytecode), declaration or ()
        check_shader(self.feature_level, "Geometry", b"", code.level_9)
        check_declaration(self.driver.api, declaration, strides)
        made = self.driver.create_streaming_shader(code, rows, strides, rasterized_stream)
        return self._kept(GeometryShader(self, made.memory, code))

    def create_pixel_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> PixelShader:
        """CreatePixelShader from a DXBC container, or from tokens."""
        return self._shader(PixelShader, bytecode, linkage)

    def create_compute_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> ComputeShader:
        """CreateComputeShader from a DXBC container, or from tokens."""
        return self._shader(ComputeShader, bytecode, linkage)

    def _shader(
        self, kind: type[_Shader], bytecode: bytes, linkage: ClassLinkage | None
    ) -> _Shader:
        code = _code(bytecode)
        check_shader(self.feature_level, kind.stage, code.program, code.level_9)
        interfaces = None
        if linkage is not None and code.interfaces is not None:
            interfaces = interfaces_in(code.interfaces)
        made = self.driver.create_shader(kind.stage, code)
        if linkage is not None and interfaces is not None:
            linkage.add(interfaces)
        return self._kept(kind(self, made.memory, code, interfaces))

    def create_class_linkage(self) -> ClassLinkage:
        """CreateClassLinkage: shaders that are created with it give it their classes."""
        return ClassLinkage(self)

    # States

    def create_blend_state(self, desc: BlendDesc) -> BlendState:
        """CreateBlendState; equal descriptions have one object, whose ``desc`` has default values
        of targets that are not blended.
        """
        check_blend(self.feature_level, desc)
        used = blend_members(desc)
        return self._state(BlendState, used, lambda: used)

    def create_depth_stencil_state(self, desc: DepthStencilDesc) -> DepthStencilState:
        """CreateDepthStencilState; equal descriptions have one object, whose ``desc`` has default
        values where a test is off.
        """
        used = depth_stencil_members(desc)
        return self._state(DepthStencilState, used, used.structure)

    def create_rasterizer_state(self, desc: RasterizerDesc) -> RasterizerState:
        """CreateRasterizerState; equal descriptions have one object."""
        check_rasterizer(self.feature_level, desc)
        return self._state(RasterizerState, desc, lambda: desc)

    def create_sampler_state(self, desc: SamplerDesc) -> SamplerState:
        """CreateSamplerState; equal descriptions have one object, whose ``desc`` has default
        values of what filter and address modes do not use.
        """
        check_sampler(self.feature_level, desc)
        used = sampler_members(desc)
        return self._state(SamplerState, used, lambda: used)

    def _state(self, kind: type[_State], desc: Any, structure: Callable[[], Any]) -> _State:
        """The state object of a description, with a reference more if it exists already.

        Raises Refused (E_INVALIDARG) for numbers of more than 32 bits.
        """
        if not _fits(desc):
            raise Refused(Result.E_INVALIDARG, f"a {kind.noun} with numbers of more than 32 bits")
        found = self._states.get((kind, desc))
        if isinstance(found, kind):
            found.add_ref()
            return found
        made = self._kept(kind(self, self.driver.make(kind.noun, structure()).memory, desc))
        self._states[kind, desc] = made
        return made

    # Queries

    def create_query(self, desc: QueryDesc) -> Query:
        """CreateQuery."""
        check_query(self.feature_level, desc.Query)
        return self._kept(Query(self, self.driver.create_query(*desc), desc))

    def create_predicate(self, desc: QueryDesc) -> Predicate:
        """CreatePredicate."""
        check_from_10(self.feature_level, "a predicate")
        return self._kept(Predicate(self, self.driver.create_predicate(*desc), desc))

    def create_counter(self, desc: CounterDesc) -> Counter:
        """CreateCounter.

        Raises Refused: E_INVALIDARG, and DXGI_ERROR_UNSUPPORTED or DXGI_ERROR_NONEXCLUSIVE for a
        counter that the driver lacks or that cannot be active beside the others.
        """
        check_from_10(self.feature_level, "a counter")
        return self._kept(Counter(self, self.driver.create_counter(desc.Counter), desc))

    # Contexts and capabilities

    def create_deferred_context(self) -> DeferredContext:
        """CreateDeferredContext."""
        return DeferredContext(self, self.driver.hazards)

    def create_device_context_state(
        self, flags: int = 0, feature_levels: Sequence[int] | None = None
    ) -> tuple[DeviceContextState, int]:
        """CreateDeviceContextState: a default state, and its level of ``feature_levels``, by
        default the device's.

        Raises Refused (E_INVALIDARG) for ``flags`` other than 1 (SINGLETHREADED) or without a
        level that the device has, and Unsupported for a level below the device's.
        """
        own = int(self.feature_level)
        chosen = check_state(flags, (own,) if feature_levels is None else feature_levels, own)
        return self._kept(DeviceContextState(self)), chosen

    def get_immediate_context(self) -> ImmediateContext:
        """GetImmediateContext: ``context``."""
        return self.context

    def check_feature_support(self, feature: int, format: int = 0) -> FeatureData:
        """CheckFeatureSupport: the structure of ``feature``, a ``Feature``; FORMAT_SUPPORT and
        FORMAT_SUPPORT2 are about a DXGI_FORMAT.  Raises Unsupported for other features.
        """
        if feature in (Feature.FORMAT_SUPPORT, Feature.FORMAT_SUPPORT2):
            return format_data(feature, format, self.check_format_support(format))
        return self.driver.check_feature_support(feature)

    def check_format_support(self, format: int) -> FormatSupport:
        """CheckFormatSupport of a DXGI_FORMAT.

        Raises Refused (E_FAIL) for a format that the feature level does not have.
        """
        found = support_at(self.feature_level, self.driver.api, format)
        if not found:
            raise Refused(Result.E_FAIL, f"DXGI_FORMAT {format}")
        return found

    def check_multisample_quality_levels(self, format: int, sample_count: int) -> int:
        """CheckMultisampleQualityLevels: 0 if targets of a DXGI_FORMAT cannot have this number of
        samples.  Raises Refused (E_FAIL) for no samples and for more than 32.
        """
        if not 1 <= sample_count <= _SAMPLES:
            raise Refused(Result.E_FAIL, f"{sample_count} samples")
        if not support_at(self.feature_level, self.driver.api, format):
            return 0
        found: int = self.driver.call("CheckMultisampleQualityLevels", format, sample_count)
        return found

    def check_counter_info(self) -> CounterInfo:
        """CheckCounterInfo."""
        return CounterInfo(*self.driver.call("CheckCounterInfo"))

    def check_counter(self, desc: CounterDesc) -> CounterText:
        """CheckCounter: type, cost, name, units and description of a counter.

        Raises Refused: E_INVALIDARG, and DXGI_ERROR_UNSUPPORTED for one that the driver lacks.
        """
        return self.driver.check_counter(desc.Counter)

    def get_device_removed_reason(self) -> Result:
        """GetDeviceRemovedReason: S_OK while the adapter is present."""
        removed = self.driver.removed
        return Result.DXGI_ERROR_DEVICE_REMOVED if removed else Result.S_OK

    # Memory

    def query_resource_residency(self, resources: Sequence[Resource]) -> list[Residency]:
        """QueryResourceResidency of IDXGIDevice: each resource's DXGI_RESIDENCY.

        Raises Refused (E_INVALIDARG) for staging resources.
        """
        status = [0] * len(resources)
        handles = [each.memory for each in resources]
        try:
            self.driver.dxgi("QueryResourceResidency", handles, status)
        except ContractError as error:
            raise Refused(Result.E_INVALIDARG, error.what) from None
        return [*map(Residency, status)]

    def prioritize(self, resource: Resource, priority: int) -> None:
        """Tell the driver the eviction priority of a resource, a DXGI_RESOURCE_PRIORITY."""
        self.driver.dxgi("SetResourcePriority", resource.memory, priority)


@checked
def create_device(
    adapter: Adapter | None = None, feature_level: int | None = None, api: Api = Api.D3D11
) -> tuple[Device, ImmediateContext]:
    """D3D11CreateDevice: a device on an adapter, by default a new one, and its immediate context.

    ``feature_level`` is a D3D_FEATURE_LEVEL.  Raises as ``Device`` does.
    """
    device = Device(DdiAdapter() if adapter is None else adapter, api, feature_level)
    return device, device.context


@lru_cache(maxsize=1024, typed=True)
def _checked_texture(api: Api, level: FeatureLevel, data: bool, *members: Any) -> CreateResource:
    """The DDI structure that creates the texture whose TextureDesc has these members; ``data``
    tells whether there is initial data.  Programs create many textures of one description.

    Raises Refused (E_INVALIDARG) for what Direct3D rejects, and Unsupported.
    """
    desc = TextureDesc(*members)
    check_texture_level(level, desc)
    check_texture(desc, data)
    return texture_resource(api, desc)


def _code(bytecode: bytes) -> Code:
    """The shader in a DXBC container, or of tokens without one.  Raises ShaderError."""
    return Code.of(bytecode) if bytecode[:4] == MAGIC else Code(bytes(bytecode), level_9=True)


def _fits(desc: tuple[Any, ...]) -> bool:
    """Whether all integers of a description are INT or UINT."""
    return all(
        _fits(each) if isinstance(each, tuple) else type(each) is not int or _INT <= each <= _UINT
        for each in desc
    )


_INT, _UINT = -(1 << 31), (1 << 32) - 1
"""The least INT, and the largest UINT."""
_SAMPLES = 32
"""D3D11_MAX_MULTISAMPLE_SAMPLE_COUNT."""
