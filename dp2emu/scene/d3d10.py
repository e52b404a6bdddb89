"""Direct3D 10 and 11 scenes: the player on the runtime's device, and the table of operations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dp2emu.capture.recorder import Recorder
from dp2emu.capture.records import Annotation, Record
from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.transfers import ClearFlag
from dp2emu.ddi10.resources.unordered_access import KEEP
from dp2emu.ddi10.states.bindings import Scissor, Viewport
from dp2emu.errors import ContractError, Fault, SceneError, ShaderError, Unsupported, UsageError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.picture import encode_png
from dp2emu.readback import tight_image
from dp2emu.runtime10 import Data, DriverDevice, Handle, Query, Refused, Resource, Result, Shader
from dp2emu.runtime10.textures import Part, box_part, parts_of
from dp2emu.scene.document import PICTURE_PIXELS, Scene10
from dp2emu.scene.player import Action, Dialect, Missing, Player, Results, calling, hr_text, named
from dp2emu.scene.spelling10 import FORMAT, SPELLINGS
from dp2emu.scene.textures10 import BYTES, box, subresource, subresources
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
    record,
    rect,
    spelled_record,
    text,
    truth,
    whole,
)

_RENDER_TARGET = 0x20
"""D3D11_BIND_RENDER_TARGET."""

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
    spellings=SPELLINGS,
)


class Player10(Player[DriverDevice]):
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
            "textures": {},
            "steps": [],
            "create": {},
            "get_predication": [],
            "failed_calls": [],
        }
        super().__init__(_DIALECT, DriverDevice(adapter, scene.api), Results(scene.name, sections))
        self.shaders = shaders
        self.predicate: tuple[str | None, int] = None, 0
        self._read = 0

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
        except (UsageError, ContractError) as error:
            raise SceneError(f"{fields.where}: {error.what}") from None
        return True

    def finish(self) -> None:
        """Add the content of each texture that can be a render target to the results."""
        self.device.call("SetPredication", None, 0)
        self.predicate = None, 0
        for name, resource in self.resources.items():
            if (
                isinstance(resource, Resource)
                and not resource.is_buffer
                and resource.desc.BindFlags & _RENDER_TARGET
            ):
                self._add_images(file_name(name), resource)
        self.device.finish()

    def _add_images(self, name: str, resource: Resource) -> None:
        """Add the subresources of a render target; multisampled ones if they can be resolved."""
        if resource.desc.SampleDesc.Count > 1 and not _resolves(resource):
            return
        for index in range(len(parts_of(resource.desc))):
            part, data = self.read_part(resource, index)
            self.document["images"][_part_name(name, part)] = data.hex()
            self.add_picture(name, resource, part, data)

    def read_part(self, resource: Resource, index: int) -> tuple[Part, bytes]:
        """Subresource ``index`` of a texture, and its bytes in rows without padding.

        Raises SceneError if the scene reads more than ``PICTURE_PIXELS`` pixels of at most four
        bytes, and Refused for a subresource that does not exist.
        """
        part = self.device.part(resource, index)
        self._read += max(part.size // 4, part.width * part.height * part.depth)
        if self._read > PICTURE_PIXELS:
            raise SceneError(f"the scene reads more than {PICTURE_PIXELS} pixels")
        return part, self.read(resource, index)

    def read(self, resource: Resource, index: int = 0) -> bytes:
        """The bytes of a subresource, read without the predicate, which may suppress copies."""
        name, value = self.predicate
        if name is None:
            return self.device.read(resource, index)
        self.device.call("SetPredication", None, 0)
        data = self.device.read(resource, index)
        self.device.call("SetPredication", self.find(Query)(name).memory, value)
        return data

    def add_picture(self, stem: str, resource: Resource, part: Part, data: bytes) -> None:
        """Add the picture of a subresource, whose content is ``data``, to the results.

        Formats without a picture have none.  Raises SceneError for a second picture of the name.
        """
        size = part.width, part.height, part.depth
        image = tight_image(DxgiFormat(resource.desc.Format), data, size)
        if image is None:
            return
        name = f".{_part_name(stem, part)}.png"
        if self.results.name + name in self.results.files:
            raise SceneError(f"two pictures have the name {name[1:]!r}")
        self.results.add_file(name, encode_png(image))

    def handle(self, value: object) -> bytearray | None:
        """Convert an object's name to the driver's handle of the object, and null to None."""
        return None if value is None else self.find(Handle)(value).memory


def _part_name(stem: str, part: Part) -> str:
    """The name of a subresource in results: slice and level follow unless they are 0."""
    slice = f".slice{part.slice}" if part.slice else ""
    return stem + slice + (f".mip{part.level}" if part.level else "")


def _resolves(resource: Resource) -> bool:
    """Whether the samples of a resource's format can be resolved."""
    row = DXGI.get(DxgiFormat(resource.desc.Format))
    return row is not None and Support.RESOLVE in row.support


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
_VIEWPORT = spelled_record(
    Viewport,
    {"TopLeftX": Default(floating, 0.0), "TopLeftY": Default(floating, 0.0), "Width": floating,
     "Height": floating, "MinDepth": Default(floating, 0.0), "MaxDepth": Default(floating, 1.0)},
    SPELLINGS,
)  # fmt: skip
_SCISSOR = record(Scissor, left=INT, top=INT, right=INT, bottom=INT)


def _viewport(value: object) -> Viewport:
    """Read D3D11_VIEWPORT: an object, or a list of its members."""
    if isinstance(value, list):
        return Viewport(*list_of(floating, len(Viewport._fields))(value))
    return _VIEWPORT(value)


def _scissor(value: object) -> Scissor:
    """Read D3D11_RECT: an object, or a list of its members."""
    return Scissor(*rect(value)) if isinstance(value, list) else _SCISSOR(value)


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

    def act(device: DriverDevice, *values: Any) -> None:
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


def _set_vertex_buffer(
    device: DriverDevice, slot: int, buffer: Any, stride: int, offset: int
) -> None:
    device.call("IaSetVertexBuffers", slot, (buffer,), (stride,), (offset,))


def _set_unordered_view(device: DriverDevice, view: Any, slot: int, count: int) -> None:
    device.call("CsSetUnorderedAccessViews", slot, (view,), (count,))


def _set_targets(device: DriverDevice, views: list[Any], depth: Any, *unordered: Any) -> None:
    device.call("SetRenderTargets", views, _unused(views, _TARGETS), depth, *unordered)


def _set_all_targets(
    device: DriverDevice, targets: list[Any], depth: Any, start: int, views: list[Any], counts: Any
) -> None:
    """OMSetRenderTargetsAndUnorderedAccessViews."""
    counts = [KEEP] * len(views) if counts is None else counts
    _set_targets(device, targets, depth, views, counts, start, start, len(views))


def _clear_target(device: DriverDevice, *values: Any) -> None:
    *rgba, view = values
    device.call("ClearRenderTargetView", _given(view), tuple(rgba))


def _clear_depth(device: DriverDevice, view: Any, depth: float, stencil: int) -> None:
    flags = int(ClearFlag.DEPTH | ClearFlag.STENCIL)
    device.call("ClearDepthStencilView", _given(view), flags, depth, stencil)


def _resolve(player: Player10, fields: Fields) -> None:
    target, source = (fields.take(key, player.find(Resource)) for key in ("dst", "src"))
    format = fields.take("Format", FORMAT, target.desc.Format)
    to, at = subresource(fields, target, "Dst"), subresource(fields, source, "Src")
    arguments = target.memory, to, source.memory, at, format
    player.device.call("ResourceResolveSubresource", *arguments)


def _update(player: Player10, fields: Fields) -> None:
    """UpdateSubresource, of all of a subresource or a box of it."""
    resource = fields.take("dst", player.find(Resource))
    index = subresource(fields, resource)
    within = fields.take("Box", optional(box), None)
    player.device.update(resource, index, _given(fields.take("hex", BYTES.of(player))), within)


def _copy_region(player: Player10, fields: Fields) -> None:
    """CopySubresourceRegion, of all of a subresource or a box of it."""
    target, source = (fields.take(key, player.find(Resource)) for key in ("dst", "src"))
    to, at = subresource(fields, target, "Dst"), subresource(fields, source, "Src")
    place = [fields.take(f"Dst{axis}", UINT, 0) for axis in "XYZ"]
    within = fields.take("SrcBox", optional(box), None)
    if within is not None:
        box_part(source.desc, player.device.part(source, at), within)
    arguments = target.memory, to, *place, source.memory, at, within
    player.device.call("ResourceCopyRegion", *arguments)


def _read_buffer(player: Player10, fields: Fields) -> None:
    name = fields.take("buffer", text)
    data = player.read(player.find(Resource)(name))
    player.document["buffers"][fields.take("label", text, name)] = data.hex()


def _read_texture(player: Player10, fields: Fields) -> None:
    """Add subresources of a texture to the results, as bytes and as pictures."""
    name = fields.take("texture", text)
    resource = player.find(Resource)(name)
    if resource.is_buffer:
        raise SceneError(f"{fields.where}: texture: {name!r} is a buffer")
    label = fields.take("label", file_name, None)
    stem = label or f"{file_name(name)}.call{player.index}"
    rows = []
    for index in subresources(fields, resource):
        part, data = player.read_part(resource, index)
        rows.append(_texture_row(part, data))
        player.add_picture(stem, resource, part, data)
    found = {"format": resource.desc.Format, "subresources": rows}
    player.document["textures"][label or name] = found


def _texture_row(part: Part, data: bytes) -> dict[str, Any]:
    sizes = {"width": part.width, "height": part.height, "depth": part.depth}
    return {"mip": part.level, "slice": part.slice, **sizes, "hex": data.hex()}


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

    def act(device: DriverDevice, slot: int, handle: Any) -> None:
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
    "IASetIndexBuffer": _entry("IaSetIndexBuffer", buffer=_HANDLE, Format=FORMAT, Offset=UINT),
    "IASetVertexBuffer": calling(
        _set_vertex_buffer, Slot=_SLOT, buffer=_HANDLE, Stride=UINT, Offset=UINT,
    ),
    "RSSetState": _entry("SetRasterizerState", state=_HANDLE),
    "RSSetViewport": calling(
        lambda device, *viewport: device.set_viewports([viewport]), TopLeftX=floating,
        TopLeftY=floating, Width=floating, Height=floating, MinDepth=floating, MaxDepth=floating,
    ),
    "RSSetViewports": calling(DriverDevice.set_viewports, viewports=list_of(_viewport)),
    "RSSetScissorRects": calling(DriverDevice.set_scissor_rects, rects=list_of(_scissor)),
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
    "CopySubresourceRegion": _copy_region,
    "UpdateSubresource": _update,
    "ResolveSubresource": _resolve,
    "SetResourceMinLOD": _acting("SetResourceMinLOD", resource=_HANDLE, MinLOD=floating),
    "ReadBuffer": _read_buffer,
    "ReadTexture": _read_texture,
    # Queries
    "Begin": calling(lambda device, query: query.begin(), query=_QUERY),
    "End": calling(lambda device, query: query.end(), query=_QUERY),
    "GetData": _get_data,
    "GetDataOnce": _get_data_once,
    "SetPredication": _set_predication,
    "GetPredication": _get_predication,
}  # fmt: skip
"""Functions that perform the operations of Direct3D 10 and 11 scenes, by the value of ``op``."""
