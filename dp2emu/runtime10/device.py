"""ID3D11Device: creates the objects of an application, and knows them by their driver objects.

Source: the Direct3D 11 documentation of ID3D11Device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dp2emu.argument_check import checked
from dp2emu.ddi10.resources.resource import BindFlag, CreateResource, ResourceType
from dp2emu.runtime10.buffers import buffer_resource
from dp2emu.runtime10.class_linkage import ClassLinkage
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.deferred import DeferredContext, ImmediateContext
from dp2emu.runtime10.descriptions import (
    BlendDesc,
    BufferDesc,
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
from dp2emu.runtime10.features import FeatureData
from dp2emu.runtime10.objects import (
    BlendState,
    Buffer,
    ComputeShader,
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
from dp2emu.runtime10.signatures import Code
from dp2emu.runtime10.streamout import StreamDeclaration
from dp2emu.runtime10.textures import MiscFlag, TextureDesc, parts_of, texture_resource
from dp2emu.runtime10.views import ViewDesc
from dp2emu.shader.sm4.interfaces import interfaces_in

_Child = TypeVar("_Child", bound=DeviceChild)
_Shader = TypeVar("_Shader", bound=Shader)
_State = TypeVar("_State", bound=State)
_View = TypeVar("_View", bound=View)


STANDARD_MULTISAMPLE_PATTERN = 0xFFFFFFFF
"""D3D11_STANDARD_MULTISAMPLE_PATTERN, a quality level: the places of samples are those of the
documentation."""


@checked
class Device:
    """ID3D11Device over a driver's adapter.  Mutable: it knows its objects.

    ``context`` is the immediate context.  Methods raise Refused with the HRESULT of a failed call,
    and Unsupported for features that are not implemented; the ``desc`` of a method is the SDK's
    description.
    """

    def __init__(self, adapter: Adapter, api: Api = Api.D3D11) -> None:
        self.driver = DriverDevice(adapter, api)
        self._children: dict[int, DeviceChild] = {}
        self._states: dict[tuple[type[State], Any], State] = {}
        self.context = ImmediateContext(self.driver, self.driver.hazards, self)

    # Objects

    def child(self, memory: bytearray) -> Any:
        """The application's object of a driver's object.

        Raises Refused (E_INVALIDARG) for memory of no object of the device.
        """
        found = self._children.get(id(memory))
        if found is None:
            raise Refused(Result.E_INVALIDARG, "no object of this device")
        return found

    def bound(self, memory: bytearray) -> None:
        """Count a slot in which an object is bound.  Raises as ``child`` does."""
        self.child(memory).users += 1

    def unbound(self, memory: bytearray) -> None:
        """Count a slot less in which an object is bound.  Raises as ``child`` does."""
        self.child(memory).drop()

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
        cube = desc.MiscFlags & MiscFlag.TEXTURECUBE
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
        found = texture_resource(self.driver.api, described)
        shown = found._replace(BindFlags=found.BindFlags | BindFlag.PRESENT)
        return self._kept(Texture2D(self, self._driver_resource(shown), desc))

    def _texture(
        self, described: TextureDesc, desc: Any, data: Sequence[SubresourceData] | None
    ) -> tuple[DriverResource, Any]:
        """The driver's resource and the description with its number of levels."""
        if described.quality == STANDARD_MULTISAMPLE_PATTERN and self.driver.api > Api.D3D10:
            described = described._replace(quality=0)
        found = texture_resource(self.driver.api, described)
        if data is not None:
            if len(data) != len(parts_of(found)):
                raise Refused(Result.E_INVALIDARG, f"initial data of {len(data)} subresources")
            found = found._replace(pInitialDataUP=tuple(data))
        made = self._driver_resource(found)
        return made, desc._replace(MipLevels=found.MipLevels)

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
        made = self.driver.create_view(kind.noun, resource.driver, desc)
        return self._kept(kind(resource, made.memory, desc))

    # Shaders and layouts

    def create_input_layout(
        self, elements: Sequence[InputElementDesc], bytecode: bytes
    ) -> InputLayout:
        """CreateInputLayout for vertex shaders with the input signature of ``bytecode``, a DXBC
        container.
        """
        shader = DriverShader(bytearray(), Code.of(bytecode))
        made = self.driver.create_input_layout(elements, shader)
        return self._kept(InputLayout(self, made.memory))

    def create_vertex_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> VertexShader:
        """CreateVertexShader from a DXBC container."""
        return self._shader(VertexShader, bytecode, linkage)

    def create_hull_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> HullShader:
        """CreateHullShader from a DXBC container."""
        return self._shader(HullShader, bytecode, linkage)

    def create_domain_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> DomainShader:
        """CreateDomainShader from a DXBC container."""
        return self._shader(DomainShader, bytecode, linkage)

    def create_geometry_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> GeometryShader:
        """CreateGeometryShader from a DXBC container."""
        return self._shader(GeometryShader, bytecode, linkage)

    def create_geometry_shader_with_stream_output(
        self,
        bytecode: bytes,
        declaration: Sequence[StreamDeclaration],
        strides: Sequence[int],
        rasterized_stream: int = 0,
    ) -> GeometryShader:
        """CreateGeometryShaderWithStreamOutput from a DXBC container; ``strides`` are in bytes,
        by slot.
        """
        code = Code.of(bytecode)
        made = self.driver.create_streaming_shader(code, declaration, strides, rasterized_stream)
        return self._kept(GeometryShader(self, made.memory, code))

    def create_pixel_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> PixelShader:
        """CreatePixelShader from a DXBC container."""
        return self._shader(PixelShader, bytecode, linkage)

    def create_compute_shader(
        self, bytecode: bytes, linkage: ClassLinkage | None = None
    ) -> ComputeShader:
        """CreateComputeShader from a DXBC container."""
        return self._shader(ComputeShader, bytecode, linkage)

    def _shader(
        self, kind: type[_Shader], bytecode: bytes, linkage: ClassLinkage | None
    ) -> _Shader:
        code = Code.of(bytecode)
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
        """CreateBlendState; equal descriptions have one object."""
        return self._state(BlendState, desc, lambda: desc)

    def create_depth_stencil_state(self, desc: DepthStencilDesc) -> DepthStencilState:
        """CreateDepthStencilState; equal descriptions have one object."""
        return self._state(DepthStencilState, desc, desc.structure)

    def create_rasterizer_state(self, desc: RasterizerDesc) -> RasterizerState:
        """CreateRasterizerState; equal descriptions have one object."""
        return self._state(RasterizerState, desc, lambda: desc)

    def create_sampler_state(self, desc: SamplerDesc) -> SamplerState:
        """CreateSamplerState; equal descriptions have one object."""
        return self._state(SamplerState, desc, lambda: desc)

    def _state(self, kind: type[_State], desc: Any, structure: Callable[[], Any]) -> _State:
        """The state object of a description, with a reference more if it exists already."""
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
        return self._kept(Query(self, self.driver.create_query(*desc), desc))

    def create_predicate(self, desc: QueryDesc) -> Predicate:
        """CreatePredicate."""
        return self._kept(Predicate(self, self.driver.create_predicate(*desc), desc))

    # Contexts and capabilities

    def create_deferred_context(self) -> DeferredContext:
        """CreateDeferredContext."""
        return DeferredContext(self, self.driver.hazards)

    def get_immediate_context(self) -> ImmediateContext:
        """GetImmediateContext: ``context``."""
        return self.context

    def check_feature_support(self, feature: int) -> FeatureData:
        """CheckFeatureSupport: the structure of ``feature``, a ``Feature``; raises Unsupported for
        other features.
        """
        return self.driver.check_feature_support(feature)
