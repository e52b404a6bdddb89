"""Direct3D 10 and 11 scenes: the player on the runtime's device, and the table of operations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dp2emu.capture.recorder import Recorder
from dp2emu.capture.records import Annotation, Record
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.transfers import ClearFlag
from dp2emu.ddi10.resources.unordered_access import KEEP
from dp2emu.errors import ContractError, Fault, SceneError, ShaderError, Unsupported, UsageError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.picture import encode_png
from dp2emu.runtime10 import Data, Device, Handle, Query, Refused, Resource, Result, Shader
from dp2emu.scene.document import Scene10
from dp2emu.scene.player import Action, Dialect, Missing, Player, calling, named
from dp2emu.scene.results import Results, hr_text
from dp2emu.scene.values import (
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

    ``shaders`` is the folder of compiled shaders; ``predicate`` the last arguments of
    SetPredication.
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
        """Make an object.  A failure has no effect until the object is used."""
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
        """Read all render targets."""
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
        """A reader of object names or null: the memory by which the driver knows the object."""
        return None if value is None else self.find(Handle)(value).memory


# Arguments

_TARGETS = 8
_STREAM_TARGETS = 4
_SLOT = whole(0, 127)
_DATA_SIZE = whole(-1, 1 << 16)
_STAGES = {"VS": "Vs", "PS": "Ps", "GS": "Gs", "HS": "Hs", "DS": "Ds", "CS": "Cs"}
"""Shader stages, as the interface and the driver's functions begin with them."""

_HANDLE = PlayerReader(lambda player: player.handle)
_HANDLES = PlayerReader(lambda player: list_of(player.handle))
_QUERY = named(Query)
_RESOURCE = named(Resource)


def _initial_count(value: object) -> int:
    """The initial value of a view's hidden counter; -1 keeps the counter."""
    return INT(value) & KEEP


def _target_and_offset(value: object) -> tuple[object, int]:
    name, offset = listing(value, 2)
    return name, UINT(offset)


# Operations


def _entry(entry: str, /, **arguments: Argument) -> Action:
    """Call a function of the driver."""
    return calling(lambda device, *values: device.call(entry, *values), **arguments)


def _acting(entry: str, /, **arguments: Argument) -> Action:
    """Call a function of the driver that accepts no null handles."""

    def act(device: Device, *values: Any) -> None:
        device.call(entry, *map(_given, values))

    return calling(act, **arguments)


def _given(handle: Any) -> Any:
    """Raises Refused (E_INVALIDARG) for null."""
    if handle is None:
        raise Refused(Result.E_INVALIDARG, "the object is null")
    return handle


def _unused(handles: list[Any], slots: int) -> int:
    """The number of slots after the last handle.  Raises Refused for too many handles."""
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
    """Poll until the result is there."""
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
    """Add the outcome of a GetData; ``modified`` is whether it wrote to memory."""
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
    """Bind one object to a slot of a stage."""

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
"""The operations of Direct3D 10 and 11 scenes by ``op``."""
