"""Devices of Direct3D 10 and 11, and the objects that they create."""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.ddi10.resources.resource import SubresourceUP
from dp2emu.ddi10.states.state_objects import BlendDesc as OldBlendDesc
from dp2emu.retrace.arguments import Arguments, array, integer, structure
from dp2emu.retrace.d3d11.objects import (
    DEVICE,
    DEVICES,
    bind_new,
    device_of,
    record,
    rows_of,
    view_desc,
)
from dp2emu.retrace.d3d11.swap_chains import awaits_window, create_chain
from dp2emu.retrace.program import Program, add, method, said_by
from dp2emu.runtime10.class_linkage import ClassLinkage
from dp2emu.runtime10.codes import Api
from dp2emu.runtime10.descriptions import (
    BlendDesc,
    BufferDesc,
    DepthStencilDesc,
    InputElementDesc,
    QueryDesc,
    RasterizerDesc,
    SamplerDesc,
    Texture1DDesc,
    Texture2DDesc,
    Texture3DDesc,
)
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.objects import GeometryShader, InputLayout, Resource, Shader, View
from dp2emu.runtime10.streamout import StreamDeclaration
from dp2emu.runtime10.views import ViewDesc

_DEVICES = {
    "D3D10CreateDevice": Api.D3D10,
    "D3D10CreateDeviceAndSwapChain": Api.D3D10,
    "D3D10CreateDevice1": Api.D3D10_1,
    "D3D10CreateDeviceAndSwapChain1": Api.D3D10_1,
    "D3D11CreateDevice": Api.D3D11,
    "D3D11CreateDeviceAndSwapChain": Api.D3D11,
}
"""The version of the device that a function creates."""


@method("", " ".join(_DEVICES))
def create_device(program: Program, call: Arguments) -> None:
    """Creates a device with its immediate context, and a swap chain if there is one; nothing
    without a place for the device or context.
    """
    if not call.has("ppDevice") and not call.has("ppImmediateContext"):
        return
    chained = call.has("ppSwapChain")
    if chained and awaits_window(program, call):
        return
    device = Device(program.recorder, _DEVICES[call.call.name])
    program.devices.append(device)
    if call.has("ppDevice"):
        bind_new(call, "ppDevice", device)
    if call.has("ppImmediateContext"):
        bind_new(call, "ppImmediateContext", device.context)
    if chained:
        create_chain(program, call, device)


_Make = Callable[[Device, Arguments], object]


def _creates(interfaces: str, names: str, *, says: str = "") -> Callable[[_Make], _Make]:
    """Decorator that registers the function which makes the object of a creating method, with its
    docstring or ``says`` as description.  The method's last argument is the object's place; if it
    is NULL, the program only asks whether the other arguments are valid.
    """

    def register(make: _Make) -> _Make:
        def act(program: Program, call: Arguments) -> None:
            place = call.call.function.arguments[-1]
            if call.has(place):
                bind_new(call, place, make(device_of(call), call))

        add(interfaces, names, act, says or said_by(make))
        return make

    return register


_CONTEXTS = " ".join(f"CreateDeferredContext{version}" for version in ("", 1, 2, 3))


@_creates(DEVICE, _CONTEXTS)
def create_deferred_context(device: Device, call: Arguments) -> object:
    """Creates a context that records; nothing for the driver until a command list is executed."""
    return device.create_deferred_context()


# Resources


def _initial_data(call: Arguments) -> list[SubresourceUP] | None:
    """The argument pInitialData, None for NULL."""
    if not call.has("pInitialData"):
        return None
    return [_subresource(each) for each in array(call.value("pInitialData"))]


def _subresource(value: object) -> SubresourceUP:
    given = structure(value)
    data = given["pSysMem"]
    pitches = integer(given["SysMemPitch"]), integer(given["SysMemSlicePitch"])
    return SubresourceUP(data if isinstance(data, bytes) else b"", *pitches)


@_creates(DEVICES, "CreateBuffer")
def create_buffer(device: Device, call: Arguments) -> object:
    """Creates a buffer."""
    data = _initial_data(call)
    desc = record(call.value("pDesc"), BufferDesc)
    return device.create_buffer(desc, data[0] if data else None)


_TEXTURES: dict[str, tuple[str, type[object], Callable[..., Resource]]] = {
    "CreateTexture1D": (DEVICES, Texture1DDesc, Device.create_texture1d),
    "CreateTexture2D": (DEVICES, Texture2DDesc, Device.create_texture2d),
    "CreateTexture2D1": (DEVICE, Texture2DDesc, Device.create_texture2d),
    "CreateTexture3D": (DEVICES, Texture3DDesc, Device.create_texture3d),
    "CreateTexture3D1": (DEVICE, Texture3DDesc, Device.create_texture3d),
}
"""Interfaces, description and function of the device by creating method."""


def _texture_row(
    interfaces: str, name: str, kind: type[object], create: Callable[..., Resource]
) -> None:
    @_creates(interfaces, name, says="Creates a texture.")
    def make(device: Device, call: Arguments) -> object:
        return create(device, record(call.value(call.placed(1)), kind), _initial_data(call))


for _name, (_interfaces, _kind, _create) in _TEXTURES.items():
    _texture_row(_interfaces, _name, _kind, _create)


# Views

_View = Callable[[Device, Resource, "ViewDesc | None"], View]
_VIEWS: dict[str, tuple[str, _View]] = {
    "CreateShaderResourceView": (DEVICES, Device.create_shader_resource_view),
    "CreateShaderResourceView1": (DEVICES, Device.create_shader_resource_view),
    "CreateRenderTargetView": (DEVICES, Device.create_render_target_view),
    "CreateRenderTargetView1": (DEVICE, Device.create_render_target_view),
    "CreateDepthStencilView": (DEVICES, Device.create_depth_stencil_view),
    "CreateUnorderedAccessView": (DEVICE, Device.create_unordered_access_view),
    "CreateUnorderedAccessView1": (DEVICE, Device.create_unordered_access_view),
}
"""Interfaces, and function of the device, by creating method."""


def _view_row(interfaces: str, name: str, create: _View) -> None:
    depth = name == "CreateDepthStencilView"

    @_creates(interfaces, name, says="Creates a view.")
    def make(device: Device, call: Arguments) -> object:
        resource = call.thing("pResource", Resource)
        return create(device, resource, view_desc(call, call.placed(2), depth=depth))


for _name, (_interfaces, _view) in _VIEWS.items():
    _view_row(_interfaces, _name, _view)


# Shaders and layouts

_Shader = Callable[[Device, bytes, "ClassLinkage | None"], Shader]
_SHADERS: dict[str, tuple[str, _Shader]] = {
    "CreateVertexShader": (DEVICES, Device.create_vertex_shader),
    "CreateGeometryShader": (DEVICES, Device.create_geometry_shader),
    "CreatePixelShader": (DEVICES, Device.create_pixel_shader),
    "CreateHullShader": (DEVICE, Device.create_hull_shader),
    "CreateDomainShader": (DEVICE, Device.create_domain_shader),
    "CreateComputeShader": (DEVICE, Device.create_compute_shader),
}
"""Interfaces, and function of the device, by creating method."""


def _shader_row(interfaces: str, name: str, create: _Shader) -> None:
    @_creates(interfaces, name, says="Creates a shader.")
    def make(device: Device, call: Arguments) -> object:
        return create(device, call.blob("pShaderBytecode"), _linkage(call))


def _linkage(call: Arguments) -> ClassLinkage | None:
    """The class linkage with which a shader is created, which Direct3D 10 does not have."""
    linked = call.declares("pClassLinkage")
    return call.optional("pClassLinkage", ClassLinkage) if linked else None


for _name, (_interfaces, _shader) in _SHADERS.items():
    _shader_row(_interfaces, _name, _shader)


@_creates(DEVICES, "CreateGeometryShaderWithStreamOutput")
def create_streaming_shader(device: Device, call: Arguments) -> GeometryShader:
    """Creates a geometry shader with stream output."""
    entries = None
    if call.has("pSODeclaration"):
        entries = [_declaration(each) for each in rows_of(call, "pSODeclaration")]
    if call.declares("OutputStreamStride"):
        strides, rasterized = [call.integer("OutputStreamStride")], 0
    else:
        strides = call.integers("pBufferStrides") if call.has("pBufferStrides") else []
        rasterized = call.integer("RasterizedStream")
    code = call.blob("pShaderBytecode")
    return device.create_geometry_shader_with_stream_output(code, entries, strides, rasterized)


def _declaration(value: object) -> StreamDeclaration:
    given = structure(value)
    stream = integer(given["Stream"]) if "Stream" in given.signature.members else 0
    name = given["SemanticName"]
    numbers = (integer(given[each]) for each in StreamDeclaration._fields[2:])
    return StreamDeclaration(stream, name if isinstance(name, str) else None, *numbers)


@_creates(DEVICES, "CreateInputLayout")
def create_input_layout(device: Device, call: Arguments) -> InputLayout:
    """Creates an input layout."""
    rows = [record(each, InputElementDesc) for each in rows_of(call, "pInputElementDescs")]
    return device.create_input_layout(rows, call.blob("pShaderBytecodeWithInputSignature"))


# Class linkage


@_creates(DEVICE, "CreateClassLinkage")
def create_class_linkage(device: Device, call: Arguments) -> ClassLinkage:
    """Nothing for the driver: shaders that are created with it give it their classes."""
    return device.create_class_linkage()


@method("ID3D11ClassLinkage", "GetClassInstance")
def get_class_instance(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the instance that a shader names."""
    linkage = call.thing("this", ClassLinkage)
    found = linkage.get_class_instance(
        str(call.value(call.placed(1))), call.integer(call.placed(2))
    )
    bind_new(call, call.placed(3), found)


@method("ID3D11ClassLinkage", "CreateClassInstance")
def create_class_instance(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means a new instance."""
    linkage = call.thing("this", ClassLinkage)
    places = (call.integer(call.placed(place)) for place in range(2, 6))
    made = linkage.create_class_instance(str(call.value(call.placed(1))), *places)
    bind_new(call, call.placed(6), made)


# States

_STATE = "Creates a state object; equal descriptions have one."


@_creates(DEVICES, "CreateBlendState CreateBlendState1", says=_STATE)
def create_blend_state(device: Device, call: Arguments) -> object:
    """A blend state."""
    return device.create_blend_state(_blend_desc(call.struct(call.placed(1))))


def _blend_desc(given: object) -> BlendDesc:
    """A D3D11_BLEND_DESC, D3D10_BLEND_DESC1 or D3D10_BLEND_DESC."""
    found = structure(given)
    if "RenderTarget" in found.signature.members:
        return record(found, BlendDesc)
    return record(found, OldBlendDesc).independent()


@_creates(DEVICES, "CreateDepthStencilState", says=_STATE)
def create_depth_stencil_state(device: Device, call: Arguments) -> object:
    """A depth-stencil state."""
    return device.create_depth_stencil_state(record(call.value(call.placed(1)), DepthStencilDesc))


@_creates(
    DEVICES, "CreateRasterizerState CreateRasterizerState1 CreateRasterizerState2", says=_STATE
)
def create_rasterizer_state(device: Device, call: Arguments) -> object:
    """A rasterizer state."""
    return device.create_rasterizer_state(record(call.value(call.placed(1)), RasterizerDesc))


@_creates(DEVICES, "CreateSamplerState", says=_STATE)
def create_sampler_state(device: Device, call: Arguments) -> object:
    """A sampler state."""
    return device.create_sampler_state(record(call.value(call.placed(1)), SamplerDesc))


# Queries


@_creates(DEVICES, "CreateQuery CreateQuery1")
def create_query(device: Device, call: Arguments) -> object:
    """Creates a query."""
    return device.create_query(record(call.value(call.placed(1)), QueryDesc))


@_creates(DEVICES, "CreatePredicate")
def create_predicate(device: Device, call: Arguments) -> object:
    """Creates a predicate."""
    return device.create_predicate(record(call.value("pPredicateDesc"), QueryDesc))
