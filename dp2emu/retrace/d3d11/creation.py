"""Devices of Direct3D 10 and 11, and the objects that they create."""

from __future__ import annotations

from dp2emu.capture.records import RESOURCE_LABEL, Annotation
from dp2emu.ddi10.resources.resource import SubresourceUP
from dp2emu.ddi10.states.state_objects import BlendDesc as OldBlendDesc
from dp2emu.retrace.arguments import Arguments, array, integer, structure
from dp2emu.retrace.d3d11 import lifetimes
from dp2emu.retrace.d3d11.objects import CHILDREN, DEVICES, device_of, number_of, record, view_desc
from dp2emu.retrace.d3d11.swap_chains import awaits_window, create_chain
from dp2emu.retrace.program import NO_EFFECT, Program, inert, method
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
from dp2emu.runtime10.objects import DeviceChild, Resource
from dp2emu.runtime10.streamout import StreamDeclaration

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
    """Creates a device with its immediate context, and a swap chain if there is one."""
    if not call.has("ppDevice") and not call.has("ppImmediateContext"):
        return
    chained = call.declares("ppSwapChain") and call.has("ppSwapChain")
    if chained and awaits_window(program, call):
        return
    device = Device(program.recorder, _DEVICES[call.call.name])
    program.devices.append(device)
    if call.has("ppDevice"):
        call.bind("ppDevice", device)
    if call.declares("ppImmediateContext") and call.has("ppImmediateContext"):
        call.bind("ppImmediateContext", device.context)
    if chained:
        create_chain(program, call, device)


@method("ID3D11Device", "GetImmediateContext")
def get_immediate_context(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the immediate context."""
    call.bind("ppImmediateContext", device_of(call).context)


@method("ID3D11Device", "CreateDeferredContext")
def create_deferred_context(program: Program, call: Arguments) -> None:
    """Creates a context that records; nothing for the driver until a command list is executed."""
    call.bind("ppDeferredContext", device_of(call).create_deferred_context())


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


@method(DEVICES, "CreateBuffer")
def create_buffer(program: Program, call: Arguments) -> None:
    """Creates a buffer."""
    data = _initial_data(call)
    desc = record(call.value("pDesc"), BufferDesc)
    call.bind("ppBuffer", device_of(call).create_buffer(desc, data[0] if data else None))


@method(DEVICES, "CreateTexture1D")
def create_texture1d(program: Program, call: Arguments) -> None:
    """Creates a texture."""
    desc = record(call.value("pDesc"), Texture1DDesc)
    call.bind("ppTexture1D", device_of(call).create_texture1d(desc, _initial_data(call)))


@method(DEVICES, "CreateTexture2D")
def create_texture2d(program: Program, call: Arguments) -> None:
    """Creates a texture."""
    desc = record(call.value("pDesc"), Texture2DDesc)
    call.bind("ppTexture2D", device_of(call).create_texture2d(desc, _initial_data(call)))


@method(DEVICES, "CreateTexture3D")
def create_texture3d(program: Program, call: Arguments) -> None:
    """Creates a texture."""
    desc = record(call.value("pDesc"), Texture3DDesc)
    call.bind("ppTexture3D", device_of(call).create_texture3d(desc, _initial_data(call)))


_VIEWS = {
    "CreateShaderResourceView": ("create_shader_resource_view", "ShaderResourceView"),
    "CreateShaderResourceView1": ("create_shader_resource_view", "ShaderResourceView"),
    "CreateRenderTargetView": ("create_render_target_view", "RenderTargetView"),
    "CreateDepthStencilView": ("create_depth_stencil_view", "DepthStencilView"),
    "CreateUnorderedAccessView": ("create_unordered_access_view", "UnorderedAccessView"),
}
"""Method of the device, and the view's noun, by traced method."""


@method(DEVICES, " ".join(_VIEWS))
def create_view(program: Program, call: Arguments) -> None:
    """Creates a view."""
    name, noun = _VIEWS[call.call.name.partition("::")[2]]
    device, resource = device_of(call), call.thing("pResource", Resource)
    if call.has(call.placed(3)):
        call.bind(call.placed(3), getattr(device, name)(resource, view_desc(call, noun)))


_SHADERS = ["Vertex", "Hull", "Domain", "Geometry", "Pixel", "Compute"]


def _shader_method(stage: str) -> None:
    """Register the method that creates shaders of a stage."""

    @method(DEVICES, f"Create{stage}Shader")
    def create(program: Program, call: Arguments) -> None:
        """Creates a shader."""
        found = getattr(device_of(call), f"create_{stage.lower()}_shader")
        if call.has(f"pp{stage}Shader"):
            call.bind(f"pp{stage}Shader", found(call.blob("pShaderBytecode")))


for _stage in _SHADERS:
    _shader_method(_stage)


@method(DEVICES, "CreateGeometryShaderWithStreamOutput")
def create_streaming_shader(program: Program, call: Arguments) -> None:
    """Creates a geometry shader with stream output."""
    entries = [_declaration(each) for each in _rows(call, "pSODeclaration")]
    if call.declares("OutputStreamStride"):
        strides, rasterized = [call.integer("OutputStreamStride")], 0
    else:
        strides = call.integers("pBufferStrides") if call.has("pBufferStrides") else []
        rasterized = call.integer("RasterizedStream")
    made = device_of(call).create_geometry_shader_with_stream_output(
        call.blob("pShaderBytecode"), entries, strides, rasterized
    )
    call.bind("ppGeometryShader", made)


def _rows(call: Arguments, name: str) -> tuple[object, ...]:
    return array(call.value(name)) if call.has(name) else ()


def _declaration(value: object) -> StreamDeclaration:
    given = structure(value)
    stream = integer(given["Stream"]) if "Stream" in given.signature.members else 0
    name = given["SemanticName"]
    numbers = (integer(given[each]) for each in StreamDeclaration._fields[2:])
    return StreamDeclaration(stream, name if isinstance(name, str) else None, *numbers)


@method(DEVICES, "CreateInputLayout")
def create_input_layout(program: Program, call: Arguments) -> None:
    """Creates an input layout."""
    rows = [record(each, InputElementDesc) for each in _rows(call, "pInputElementDescs")]
    code = call.blob("pShaderBytecodeWithInputSignature")
    if call.has("ppInputLayout"):
        call.bind("ppInputLayout", device_of(call).create_input_layout(rows, code))


@method(DEVICES, "CreateBlendState CreateBlendState1")
def create_blend_state(program: Program, call: Arguments) -> None:
    """Creates a state object; equal descriptions have one."""
    given = call.struct("pBlendStateDesc" if call.declares("pBlendStateDesc") else "pDesc")
    found = blend_desc(given)
    call.bind("ppBlendState", device_of(call).create_blend_state(found))


def blend_desc(given: object) -> BlendDesc:
    """A D3D11_BLEND_DESC, D3D10_BLEND_DESC1 or D3D10_BLEND_DESC."""
    found = structure(given)
    if "RenderTarget" in found.signature.members:
        return record(found, BlendDesc)
    return record(found, OldBlendDesc).independent()


@method(DEVICES, "CreateDepthStencilState")
def create_depth_stencil_state(program: Program, call: Arguments) -> None:
    """Creates a state object; equal descriptions have one."""
    desc = record(call.value(call.placed(1)), DepthStencilDesc)
    call.bind("ppDepthStencilState", device_of(call).create_depth_stencil_state(desc))


@method(DEVICES, "CreateRasterizerState CreateRasterizerState1")
def create_rasterizer_state(program: Program, call: Arguments) -> None:
    """Creates a state object; equal descriptions have one."""
    desc = record(call.value(call.placed(1)), RasterizerDesc)
    call.bind("ppRasterizerState", device_of(call).create_rasterizer_state(desc))


@method(DEVICES, "CreateSamplerState")
def create_sampler_state(program: Program, call: Arguments) -> None:
    """Creates a state object; equal descriptions have one."""
    desc = record(call.value(call.placed(1)), SamplerDesc)
    call.bind("ppSamplerState", device_of(call).create_sampler_state(desc))


@method(DEVICES, "CreateQuery")
def create_query(program: Program, call: Arguments) -> None:
    """Creates a query."""
    desc = record(call.value("pQueryDesc"), QueryDesc)
    if call.has("ppQuery"):
        call.bind("ppQuery", device_of(call).create_query(desc))


@method(DEVICES, "CreatePredicate")
def create_predicate(program: Program, call: Arguments) -> None:
    """Creates a predicate."""
    desc = record(call.value("pPredicateDesc"), QueryDesc)
    if call.has("ppPredicate"):
        call.bind("ppPredicate", device_of(call).create_predicate(desc))


inert(
    DEVICES,
    "CheckFormatSupport CheckMultisampleQualityLevels CheckCounterInfo CheckCounter "
    "GetCreationFlags GetFeatureLevel GetDeviceRemovedReason SetExceptionMode GetExceptionMode "
    "SetPrivateData SetPrivateDataInterface GetPrivateData AddRef",
    NO_EFFECT,
)
inert("ID3D11Device", "CheckFeatureSupport", NO_EFFECT)
inert("ID3D10Device", "SetTextFilterSize GetTextFilterSize", NO_EFFECT)
inert(CHILDREN, "AddRef", "Adds a reference, which only the program counts.")
inert(CHILDREN, "GetPrivateData SetPrivateDataInterface", "The program's own data.")
inert(CHILDREN, "GetDesc GetDesc1 GetType GetDataSize GetEvictionPriority", NO_EFFECT)

_NAME = "WKPDID_D3DDebugObjectName", "429b8c22-9188-4b0c-8742-acb0bf85c200"


@method(CHILDREN, "SetPrivateData")
def set_private_data(program: Program, call: Arguments) -> None:
    """Labels the object, if the data is its name for tools."""
    thing = call.thing("this", DeviceChild)
    if not call.has("pData") or not any(name in str(call.value("guid")) for name in _NAME):
        return
    data = call.value("pData")
    text = data.decode("latin-1") if isinstance(data, bytes) else str(data)
    number = number_of(program, thing.memory)
    program.recorder.put(Annotation(f"{RESOURCE_LABEL}{number}", text.rstrip("\0")))


@method(CHILDREN, "GetDevice")
def get_device(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the device."""
    call.bind("ppDevice", call.thing("this", DeviceChild).owner)


@method(CHILDREN, "GetResource")
def get_resource(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the resource of the view."""
    call.bind("ppResource", call.thing("this", DeviceChild).uses[0])


@method(CHILDREN, "Release")
def release(program: Program, call: Arguments) -> None:
    """Destroys the object with the last reference, once it is not bound."""
    lifetimes.release_child(program, call)


@method(DEVICES, "Release")
def release_device(program: Program, call: Arguments) -> None:
    """Destroys the device with the last reference."""
    lifetimes.release_device(program, call)


@method(f"{CHILDREN} {DEVICES} ID3D11DeviceContext", "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the new address means the same object."""
    lifetimes.same_object(call)
