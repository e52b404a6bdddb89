"""Direct3D 10 and 11 scenes: the player on the runtime's device, and the table of operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dp2emu.capture.recorder import Recorder
from dp2emu.capture.records import Annotation, Record
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import ResourceType, SubresourceUP
from dp2emu.ddi10.resources.transfers import ClearFlag
from dp2emu.ddi10.resources.unordered_access import KEEP
from dp2emu.ddi10.resources.views import CreateShaderResourceView, CreateTargetView
from dp2emu.ddi10.states.state_objects import (
    TARGETS,
    BlendDesc,
    BlendDesc1,
    DepthStencilDesc,
    RasterizerDesc,
    RenderTargetBlend,
    SamplerDesc,
    StencilOpDesc,
)
from dp2emu.errors import ContractError, Fault, SceneError, ShaderError, Unsupported, UsageError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.picture import encode_png
from dp2emu.runtime10 import (
    Api,
    Code,
    Data,
    Device,
    Handle,
    Query,
    Refused,
    Resource,
    Result,
    Shader,
    StreamDeclaration,
    VertexElement,
)
from dp2emu.runtime10.signatures import texel_bytes
from dp2emu.scene.document import Scene10, extent, read_json, sample_count
from dp2emu.scene.player import Action, Dialect, Missing, Player, Results, calling, hr_text, named
from dp2emu.scene.values import (
    DATA_BYTES,
    INT,
    UINT,
    Argument,
    Default,
    Fields,
    PlayerReader,
    file_name,
    floating,
    list_of,
    listing,
    optional,
    record,
    text,
    truth,
    whole,
)

_RENDER_TARGET = 0x20
"""D3D11_BIND_RENDER_TARGET."""
_RGBA8 = 28
"""DXGI_FORMAT_R8G8B8A8_UNORM, which has the byte order of a PNG."""

_DIALECT = Dialect(
    kind="op",
    name="name",
    operation="call",
    failed=("call", "op"),
    refused=Refused,
    problems=(Fault, Unsupported, ShaderError, ContractError),
    nouns={
        Handle: "an object",
        Query: "a query",
        Resource: "a buffer or texture",
        Shader: "a shader",
    },
)


class Player10(Player[Device]):
    """A Direct3D 10 or 11 device with the objects of a scene.  Mutable.

    ``shaders`` is the folder of compiled shaders, ``predicate`` the predicate and value of the
    last SetPredication.
    """

    def __init__(
        self,
        scene: Scene10,
        gpu: Gpu | None,
        shaders: Path | None,
        record: Callable[[Record], None] | None,
    ) -> None:
        adapter: Adapter | Recorder = Adapter(gpu)
        if record is not None:
            adapter = Recorder(Adapter(gpu), record)
            adapter.put(Annotation("title", f"{scene.category}/{scene.name}"))
        sections: dict[str, Any] = {
            "scene": scene.name,
            "queries": {},
            "buffers": {},
            "images": {},
            "steps": [],
            "create": {},
            "get_predication": [],
            "failed_calls": [],
        }
        super().__init__(_DIALECT, Device(adapter, scene.api), Results(scene.name, sections))
        self.shaders = shaders
        self.predicate: tuple[str | None, int] = None, 0

    def make(self, kind: str, name: str, fields: Fields, maker: Action) -> bool:
        """Create an object; True always, as a failure is raised only when the object is used."""
        try:
            self.resources[name] = maker(self, fields)
            fields.finish()
            self.document["create"][name] = hr_text(Result.S_OK)
        except Refused as refusal:
            self.resources[name] = Missing(refusal)
            self.document["create"][name] = hr_text(refusal.hr)
        except (Unsupported, ShaderError) as error:
            self.resources[name] = Missing(error)
        except UsageError as error:
            raise SceneError(f"{fields.where}: {error.what}") from None
        return True

    def finish(self) -> None:
        """Add a picture of each texture that can be a render target to the results."""
        self.device.call("SetPredication", None, 0)  # a predicate may suppress copies
        for name, resource in self.resources.items():
            if (
                isinstance(resource, Resource)
                and not resource.is_buffer
                and resource.desc.BindFlags & _RENDER_TARGET
            ):
                self._add_image(name, resource)
        self.device.finish()

    def _add_image(self, name: str, resource: Resource) -> None:
        data = self.device.read(resource)
        self.document["images"][name] = data.hex()
        if resource.desc.Format == _RGBA8:
            width, height, _ = resource.desc.pMipInfoList[0]
            pixels = np.frombuffer(data, np.uint8).reshape(height, width, 4)
            self.results.add_file(f".{file_name(name)}.png", encode_png(pixels))

    def handle(self, value: object) -> bytearray | None:
        """Convert an object's name to the driver's handle of the object, and null to None."""
        return None if value is None else self.find(Handle)(value).memory


# Arguments

_TARGETS = 8
_STREAM_TARGETS = 4
_SLOT = whole(0, 127)
_DATA_SIZE = whole(-1, 1 << 16)
_STAGES = {"VS": "Vs", "PS": "Ps", "GS": "Gs", "HS": "Hs", "DS": "Ds", "CS": "Cs"}
"""Prefix of a shader stage in names of DDI functions (``Vs``), by its prefix in names of the
application's functions (``VS``)."""

_HANDLE = PlayerReader(lambda player: player.handle)
_HANDLES = PlayerReader(lambda player: list_of(player.handle))
_QUERY = named(Query)
_RESOURCE = named(Resource)


def _initial_count(value: object) -> int:
    """Read the initial value of an append buffer's hidden counter; -1 means: do not change it."""
    return INT(value) & KEEP


def _target_and_offset(value: object) -> tuple[object, int]:
    name, offset = listing(value, 2)
    return name, UINT(offset)


# Operations


def _entry(entry: str, /, **arguments: Argument) -> Action:
    """An operation that calls the driver's function ``entry`` with the values of ``arguments``."""
    return calling(lambda device, *values: device.call(entry, *values), **arguments)


def _acting(entry: str, /, **arguments: Argument) -> Action:
    """An operation that calls DDI function ``entry``; Refused if an argument's value is null."""

    def act(device: Device, *values: Any) -> None:
        device.call(entry, *map(_given, values))

    return calling(act, **arguments)


def _given(handle: Any) -> Any:
    """Return ``handle``; raises Refused (E_INVALIDARG) for None, null in the scene file."""
    if handle is None:
        raise Refused(Result.E_INVALIDARG, "the object is null")
    return handle


def _unused(handles: list[Any], slots: int) -> int:
    """``slots`` less the number of ``handles``.  Raises Refused if that is negative."""
    if len(handles) > slots:
        raise Refused(Result.E_INVALIDARG, f"{len(handles)} targets, at most {slots} are possible")
    return slots - len(handles)


def _set_stream_targets(player: Player10, fields: Fields) -> None:
    pairs = fields.take("targets", list_of(_target_and_offset))
    buffers = [player.handle(name) for name, _ in pairs]
    offsets = [offset for _, offset in pairs]
    player.device.call("SoSetTargets", buffers, _unused(buffers, _STREAM_TARGETS), offsets)


def _set_vertex_buffer(device: Device, slot: int, buffer: Any, stride: int, offset: int) -> None:
    device.call("IaSetVertexBuffers", slot, (buffer,), (stride,), (offset,))


def _set_unordered_view(device: Device, view: Any, slot: int, count: int) -> None:
    device.call("CsSetUnorderedAccessViews", slot, (view,), (count,))


def _set_targets(device: Device, views: list[Any], depth: Any, *unordered: Any) -> None:
    device.call("SetRenderTargets", views, _unused(views, _TARGETS), depth, *unordered)


def _set_all_targets(
    device: Device, targets: list[Any], depth: Any, start: int, views: list[Any], counts: Any
) -> None:
    """OMSetRenderTargetsAndUnorderedAccessViews."""
    counts = [KEEP] * len(views) if counts is None else counts
    _set_targets(device, targets, depth, views, counts, start, start, len(views))


def _clear_target(device: Device, *values: Any) -> None:
    *rgba, view = values
    device.call("ClearRenderTargetView", _given(view), tuple(rgba))


def _clear_depth(device: Device, view: Any, depth: float, stencil: int) -> None:
    flags = int(ClearFlag.DEPTH | ClearFlag.STENCIL)
    device.call("ClearDepthStencilView", _given(view), flags, depth, stencil)


def _resolve(device: Device, target: Resource, source: Resource, format: int | None) -> None:
    format = target.desc.Format if format is None else format
    arguments = target.memory, 0, source.memory, 0, format
    device.call("ResourceResolveSubresource", *arguments)


def _read_buffer(player: Player10, fields: Fields) -> None:
    name = fields.take("buffer", text)
    data = player.device.read(player.find(Resource)(name))
    player.document["buffers"][name] = data.hex()


def _get_data(player: Player10, fields: Fields) -> None:
    """Poll a query until its result is available, and add it to the scene's results."""
    query = fields.take("query", player.find(Query))
    found = query.wait()
    value = query.value(found.data) if found.data is not None else None
    player.document["queries"][str(player.index)] = value
    _add_step(player, found, query.data_size, found.data or b"")


def _get_data_once(player: Player10, fields: Fields) -> None:
    query = fields.take("query", player.find(Query))
    size = fields.take("DataSize", _DATA_SIZE)
    size = query.data_size if size < 0 else size
    null = fields.take("NullData", truth, False)
    memory = None if null else bytearray(b"\xcc" * size)
    found = query.get_data(memory, size, fields.take("Flags", UINT, 0))
    _add_step(player, found, size, bytes(memory or b""))


def _add_step(player: Player10, found: Data, size: int, memory: bytes) -> None:
    """Add a GetData call to the list ``steps`` of the results: its HRESULT, and ``memory``, the
    application's buffer after it.  ``modified`` is 1 if the call returned data, else 0.
    """
    player.document["steps"].append(
        {
            "call": player.index,
            "hr": hr_text(found.hr),
            "size": size,
            "data": memory.hex(),
            "modified": int(found.data is not None),
        }
    )


def _set_predication(player: Player10, fields: Fields) -> None:
    name = fields.take("predicate", optional(text))
    value = fields.take("PredicateValue", whole(0, 1))
    query = None if name is None else player.find(Query)(name)
    player.device.call("SetPredication", query.memory if query else None, value)
    player.predicate = name, value


def _get_predication(player: Player10, fields: Fields) -> None:
    name, value = player.predicate
    found = {"call": player.index, "predicate": name or "-", "value": value}
    player.document["get_predication"].append(found)


def _binding(entry: str, argument: str) -> Action:
    """An operation that binds one object to a slot of a shader stage: JSON keys ``Slot`` and
    ``argument``, DDI function ``entry``.
    """

    def act(device: Device, slot: int, handle: Any) -> None:
        device.call(entry, slot, (handle,))

    return calling(act, Slot=_SLOT, **{argument: _HANDLE})


OPERATIONS: dict[str, Action] = {
    "Draw": _entry("Draw", VertexCount=UINT, StartVertexLocation=UINT),
    "DrawIndexed": _entry(
        "DrawIndexed", IndexCount=UINT, StartIndexLocation=UINT, BaseVertexLocation=INT,
    ),
    "DrawInstanced": _entry(
        "DrawInstanced", VertexCountPerInstance=UINT, InstanceCount=UINT, StartVertexLocation=UINT,
        StartInstanceLocation=UINT,
    ),
    "DrawIndexedInstanced": _entry(
        "DrawIndexedInstanced", IndexCountPerInstance=UINT, InstanceCount=UINT,
        StartIndexLocation=UINT, BaseVertexLocation=INT, StartInstanceLocation=UINT,
    ),
    "DrawAuto": _entry("DrawAuto"),
    "Dispatch": _entry("Dispatch", X=UINT, Y=UINT, Z=UINT),
    **{
        name: _acting(name, buffer=_HANDLE, Offset=UINT)
        for name in ("DispatchIndirect", "DrawInstancedIndirect", "DrawIndexedInstancedIndirect")
    },
    "Flush": _entry("Flush"),
    # State
    "IASetPrimitiveTopology": _entry("IaSetTopology", Topology=UINT),
    "IASetInputLayout": _entry("IaSetInputLayout", layout=_HANDLE),
    "IASetIndexBuffer": _entry("IaSetIndexBuffer", buffer=_HANDLE, Format=UINT, Offset=UINT),
    "IASetVertexBuffer": calling(
        _set_vertex_buffer, Slot=_SLOT, buffer=_HANDLE, Stride=UINT, Offset=UINT,
    ),
    "RSSetState": _entry("SetRasterizerState", state=_HANDLE),
    "RSSetViewport": calling(
        lambda device, *viewport: device.set_viewports([viewport]), TopLeftX=floating,
        TopLeftY=floating, Width=floating, Height=floating, MinDepth=floating, MaxDepth=floating,
    ),
    "RSSetScissorRect": calling(
        lambda device, *rect: device.set_scissor_rects([rect]), left=INT, top=INT, right=INT,
        bottom=INT,
    ),
    "OMSetDepthStencilState": _entry("SetDepthStencilState", state=_HANDLE, StencilRef=UINT),
    "OMSetBlendState": calling(
        lambda device, state, mask: device.call("SetBlendState", state, (1.0,) * 4, mask),
        state=_HANDLE, SampleMask=UINT,
    ),
    "OMSetRenderTargets": calling(_set_targets, rtvs=_HANDLES, dsv=_HANDLE),
    "OMSetRenderTargetsAndUnorderedAccessViews": calling(
        _set_all_targets, rtvs=_HANDLES, dsv=_HANDLE, UAVStartSlot=_SLOT, uavs=_HANDLES,
        InitialCounts=Default(list_of(_initial_count), None),
    ),
    "SOSetTargets": _set_stream_targets,
    "CSSetUnorderedAccessView": calling(
        _set_unordered_view, view=_HANDLE, Slot=Default(_SLOT, 0),
        InitialCount=Default(_initial_count, KEEP),
    ),
    **{
        f"{api}SetShader": _entry(f"{ddi}SetShader", shader=_HANDLE)
        for api, ddi in _STAGES.items()
    },
    **{
        f"{api}Set{noun}": _binding(f"{ddi}Set{noun}s", argument)
        for api, ddi in _STAGES.items()
        for noun, argument in (
            ("ConstantBuffer", "buffer"),
            ("ShaderResource", "view"),
            ("Sampler", "sampler"),
        )
    },
    # Clearing and copying
    "ClearRenderTargetView": calling(
        _clear_target, r=floating, g=floating, b=floating, a=floating, view=_HANDLE,
    ),
    "ClearDepthStencilView": calling(
        _clear_depth, view=_HANDLE, Depth=floating, Stencil=whole(0, 255),
    ),
    "ClearUnorderedAccessViewUint": _acting(
        "ClearUnorderedAccessViewUint", view=_HANDLE, Values=list_of(UINT),
    ),
    "ClearUnorderedAccessViewFloat": _acting(
        "ClearUnorderedAccessViewFloat", view=_HANDLE, Values=list_of(floating),
    ),
    "GenerateMips": _acting("GenMips", view=_HANDLE),
    "CopyResource": _acting("ResourceCopy", dst=_HANDLE, src=_HANDLE),
    "CopyStructureCount": _acting("CopyStructureCount", buffer=_HANDLE, Offset=UINT, view=_HANDLE),
    "ResolveSubresource": calling(
        _resolve, dst=_RESOURCE, src=_RESOURCE, Format=Default(UINT, None),
    ),
    "ReadBuffer": _read_buffer,
    # Queries
    "Begin": calling(lambda device, query: query.begin(), query=_QUERY),
    "End": calling(lambda device, query: query.end(), query=_QUERY),
    "GetData": _get_data,
    "GetDataOnce": _get_data_once,
    "SetPredication": _set_predication,
    "GetPredication": _get_predication,
}  # fmt: skip
"""Functions that perform the operations of Direct3D 10 and 11 scenes, by the value of ``op``."""


# Objects

_MAX_LOD = 1000.0


def _hex_of(player: Player10) -> Callable[[object], bytes | None]:
    """A function that reads a string of hexadecimal digits as bytes, and null as None."""
    return optional(lambda value: player.data({"hex": value}))


def _code_of(player: Player10) -> Callable[[object], Code]:
    """A function that reads the shader of a name from its JSON file in ``player.shaders``."""

    def read(value: object) -> Code:
        name = file_name(value)
        path = player.shaders / f"{name}.json" if player.shaders is not None else None
        if path is None or not path.is_file():
            raise SceneError(f"no shader {name!r} in {player.shaders or 'any folder'}")
        found = read_json(path)
        try:
            data = bytes.fromhex(text(found.get("dxbc")))
        except ValueError:
            raise SceneError(f"{path.name}: expected hexadecimal digits as dxbc") from None
        return Code.of(data)

    return read


_UINT_0 = Default(UINT, 0)
_DATA = Default(PlayerReader(_hex_of), None)
_CODE = PlayerReader(_code_of)

_DEPTH_STENCIL = (
    "DepthEnable", "DepthWriteMask", "DepthFunc", "StencilEnable", "StencilReadMask",
    "StencilWriteMask",
)  # fmt: skip
_RASTERIZER = (
    "FillMode", "CullMode", "FrontCounterClockwise", "DepthClipEnable", "ScissorEnable",
    "MultisampleEnable",
)  # fmt: skip

_DECLARATION = record(
    StreamDeclaration,
    Stream=_UINT_0,
    SemanticName=optional(text),
    **dict.fromkeys(StreamDeclaration._fields[2:], UINT),
)
_ELEMENT = record(
    VertexElement, SemanticName=text, **dict.fromkeys(VertexElement._fields[1:], UINT)
)

# Buffers, textures and views


def _buffer(
    device: Device, size: int, data: bytes | None, bind: int, stride: int, _misc: int
) -> Resource:
    """CreateBuffer.  MiscFlags have no effect: the driver allows all that they ask for."""
    filled = data and data.ljust(size, b"\0")
    return device.create_buffer(size, bind, filled, stride=stride)


def _texture(player: Player10, fields: Fields) -> Resource:
    size = fields.take("Width", extent), fields.take("Height", extent)
    samples = max(fields.take("SampleCount", sample_count, 1), 1)
    player.claim_pixels(size[0] * size[1] * samples)
    format = fields.take("Format", UINT)
    data = fields.take("hex", _hex_of(player), None)
    row = size[0] * texel_bytes(format)
    return player.device.create_texture2d(
        format,
        size,
        fields.take("BindFlags", UINT),
        samples=samples,
        data=None if data is None else SubresourceUP(data, row, row * size[1]),
    )


def _target_view(noun: str, device: Device, resource: Resource) -> Handle:
    desc = CreateTargetView(resource.memory, resource.desc.Format, ResourceType.TEXTURE2D)
    return device.make(noun, desc)


def _shader_view(device: Device, resource: Resource) -> Handle:
    desc = CreateShaderResourceView(
        resource.memory, resource.desc.Format, resource.desc.ResourceDimension, MipLevels=1,
        ArraySize=1,
    )  # fmt: skip
    return device.make("ShaderResourceView", desc)


def _unordered_view(
    device: Device, resource: Resource, format: int | None, flags: int, mip: int, *ranges: int
) -> Handle:
    first, count, first_slice, slices = ranges
    return device.create_unordered_view(
        resource,
        resource.desc.Format if format is None else format,
        elements=(first, count),
        flags=flags,
        mip=mip,
        slices=(first_slice, slices),
    )


# Shaders and states


def _streaming_shader(
    device: Device, code: Code, declared: list[Any], strides: list[int], rasterized: int
) -> Shader:
    return device.create_streaming_shader(code, declared, strides, rasterized & 0xFFFFFFFF)


def _input_layout(device: Device, code: Code, elements: list[VertexElement]) -> Handle:
    return device.create_input_layout(elements, Shader(bytearray(), code))


def _blend_state(
    device: Device, enable: int, source: int, target: int, operation: int, mask: int, coverage: int
) -> Handle:
    """Create a blend state with the same blending for all targets.

    Direct3D 10.0 has another description structure than later versions.
    """
    terms = source, target, operation
    if device.api is Api.D3D10:
        old = BlendDesc(
            coverage, (enable,) * TARGETS, *terms, RenderTargetWriteMask=(mask,) * TARGETS
        )
        return device.make("BlendState", old)
    row = RenderTargetBlend(enable, *terms, RenderTargetWriteMask=mask)
    return device.make("BlendState", BlendDesc1(coverage, 0, (row,) * TARGETS))


def _depth_stencil_state(device: Device, *values: int) -> Handle:
    """Create a depth-stencil state with the same stencil operations for both faces."""
    faces = len(StencilOpDesc._fields)
    face = StencilOpDesc(*values[:faces])
    rest = dict(zip(_DEPTH_STENCIL, values[faces:], strict=True))
    return device.make(
        "DepthStencilState", DepthStencilDesc(**rest, FrontFace=face, BackFace=face)
    )


def _rasterizer_state(device: Device, *values: int) -> Handle:
    desc = RasterizerDesc(**dict(zip(_RASTERIZER, values, strict=True)))
    return device.make("RasterizerState", desc)


def _sampler_state(device: Device, address: int, filter: int) -> Handle:
    desc = SamplerDesc(filter, address, address, address, MaxAnisotropy=1, MaxLOD=_MAX_LOD)
    return device.make("Sampler", desc)


MAKERS: dict[str, Action] = {
    "CreateBuffer": calling(
        _buffer, ByteWidth=whole(1, DATA_BYTES), hex=_DATA, BindFlags=UINT,
        StructureByteStride=_UINT_0, MiscFlags=_UINT_0,
    ),
    "CreateTexture2D": _texture,
    **{
        f"Create{noun}": calling(partial(_target_view, noun), resource=_RESOURCE)
        for noun in ("RenderTargetView", "DepthStencilView")
    },
    "CreateShaderResourceView": calling(_shader_view, resource=_RESOURCE),
    "CreateUnorderedAccessView": calling(
        _unordered_view, resource=_RESOURCE, Format=Default(UINT, None), Flags=_UINT_0,
        MipSlice=_UINT_0, FirstElement=_UINT_0, NumElements=_UINT_0, FirstArraySlice=_UINT_0,
        ArraySize=Default(UINT, 1),
    ),
    **{
        f"Create{stage}Shader": calling(
            lambda device, code, stage=stage: device.create_shader(stage, code), shader=_CODE
        )
        for stage in ("Vertex", "Pixel", "Geometry", "Hull", "Domain", "Compute")
    },
    "CreateGeometryShaderWithStreamOutput": calling(
        _streaming_shader, shader=_CODE, entries=list_of(_DECLARATION),
        BufferStrides=list_of(UINT), RasterizedStream=Default(whole(-1, 0xFFFFFFFF), 0),
    ),
    "CreateInputLayout": calling(_input_layout, shader=_CODE, elements=list_of(_ELEMENT)),
    "CreateBlendState": calling(
        _blend_state, BlendEnable=UINT, SrcBlend=UINT, DestBlend=UINT, BlendOp=UINT,
        WriteMask=whole(0, 15), AlphaToCoverageEnable=UINT,
    ),
    "CreateDepthStencilState": calling(
        _depth_stencil_state, **dict.fromkeys((*StencilOpDesc._fields, *_DEPTH_STENCIL), UINT),
    ),
    "CreateRasterizerState": calling(_rasterizer_state, **dict.fromkeys(_RASTERIZER, UINT)),
    "CreateSamplerState": calling(_sampler_state, Address=UINT, Filter=UINT),
    "CreateQuery": calling(Device.create_query, Query=UINT, MiscFlags=_UINT_0),
    "CreatePredicate": calling(Device.create_predicate, Query=UINT, MiscFlags=_UINT_0),
}  # fmt: skip
"""Functions that create the objects of Direct3D 10 and 11 scenes, by the resource's ``op``."""
