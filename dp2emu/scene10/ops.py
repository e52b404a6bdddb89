"""What a scene of Direct3D 10 or 11 calls: one row, or one function, per ``op``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dp2emu.ddi10.resources.transfers import ClearFlag
from dp2emu.ddi10.resources.unordered_access import KEEP
from dp2emu.runtime10 import Data, Query, Refused, Resource, Result
from dp2emu.scene.fields import Fields
from dp2emu.scene.player import hr_text
from dp2emu.scene.values import floating, listing, optional, text, truth, whole
from dp2emu.scene10.document import count
from dp2emu.scene10.player import Action, Player

OPS: dict[str, Action] = {}
"""Every call that can be played, by its ``op``."""

_TARGETS = 8
_STREAM_TARGETS = 4
_SLOTS = 128
_STAGES = {"VS": "Vs", "PS": "Ps", "GS": "Gs", "HS": "Hs", "DS": "Ds", "CS": "Cs"}
_BYTES = whole(-1, 1 << 16)
"""A DataSize."""

signed = whole(-(1 << 31), (1 << 31) - 1)
slot = whole(0, _SLOTS - 1)


def op(name: str) -> Callable[[Action], Action]:
    """Register the decorated function as a call."""

    def register(action: Action) -> Action:
        OPS[name] = action
        return action

    return register


# Calls that are functions of the driver

_Read = Callable[[object], Any]
_HANDLE: None = None
"""In the place of a reader: the name of an object, or null."""

_DIRECT: dict[str, tuple[str, tuple[tuple[str, _Read | None], ...]]] = {
    "Draw": ("Draw", (("VertexCount", count), ("StartVertexLocation", count))),
    "DrawIndexed": (
        "DrawIndexed",
        (("IndexCount", count), ("StartIndexLocation", count), ("BaseVertexLocation", signed)),
    ),
    "DrawInstanced": (
        "DrawInstanced",
        (
            ("VertexCountPerInstance", count),
            ("InstanceCount", count),
            ("StartVertexLocation", count),
            ("StartInstanceLocation", count),
        ),
    ),
    "DrawIndexedInstanced": (
        "DrawIndexedInstanced",
        (
            ("IndexCountPerInstance", count),
            ("InstanceCount", count),
            ("StartIndexLocation", count),
            ("BaseVertexLocation", signed),
            ("StartInstanceLocation", count),
        ),
    ),
    "DrawAuto": ("DrawAuto", ()),
    "Dispatch": ("Dispatch", (("X", count), ("Y", count), ("Z", count))),
    "DispatchIndirect": ("DispatchIndirect", (("buffer", _HANDLE), ("Offset", count))),
    "DrawInstancedIndirect": ("DrawInstancedIndirect", (("buffer", _HANDLE), ("Offset", count))),
    "DrawIndexedInstancedIndirect": (
        "DrawIndexedInstancedIndirect",
        (("buffer", _HANDLE), ("Offset", count)),
    ),
    "CopyStructureCount": (
        "CopyStructureCount",
        (("buffer", _HANDLE), ("Offset", count), ("view", _HANDLE)),
    ),
    "Flush": ("Flush", ()),
    "IASetPrimitiveTopology": ("IaSetTopology", (("Topology", count),)),
    "IASetInputLayout": ("IaSetInputLayout", (("layout", _HANDLE),)),
    "IASetIndexBuffer": (
        "IaSetIndexBuffer",
        (("buffer", _HANDLE), ("Format", count), ("Offset", count)),
    ),
    "RSSetState": ("SetRasterizerState", (("state", _HANDLE),)),
    "OMSetDepthStencilState": (
        "SetDepthStencilState",
        (("state", _HANDLE), ("StencilRef", count)),
    ),
    "GenerateMips": ("GenMips", (("view", _HANDLE),)),
    "CopyResource": ("ResourceCopy", (("dst", _HANDLE), ("src", _HANDLE))),
    **{f"{api}SetShader": (f"{ddi}SetShader", (("shader", _HANDLE),))
       for api, ddi in _STAGES.items()},
}  # fmt: skip
"""Function of the driver, and its arguments as they stand in the scene."""


_NEEDS = (
    "GenMips",
    "ResourceCopy",
    "DispatchIndirect",
    "DrawInstancedIndirect",
    "DrawIndexedInstancedIndirect",
    "CopyStructureCount",
)
"""Functions of the driver that act on objects, which there must be."""


def _direct(entry: str, arguments: tuple[tuple[str, _Read | None], ...]) -> Action:
    def act(player: Player, fields: Fields) -> None:
        values = [fields.take(name, read or player.handle) for name, read in arguments]
        if entry in _NEEDS:
            _check_given(*values)
        player.device.call(entry, *values)

    return act


def _check_given(*handles: object) -> None:
    """Raises Refused (E_INVALIDARG) for null where a driver is never given it."""
    if None in handles:
        raise Refused(Result.E_INVALIDARG, "no object")


OPS |= {name: _direct(*row) for name, row in _DIRECT.items()}

_BOUND = {
    "ConstantBuffer": ("ConstantBuffers", "buffer"),
    "ShaderResource": ("ShaderResources", "view"),
    "Sampler": ("Samplers", "sampler"),
}
"""What is bound to a slot of a stage: the word in the driver's function, and the argument."""


def _binding(entry: str, argument: str) -> Action:
    def act(player: Player, fields: Fields) -> None:
        number = fields.take("Slot", slot)
        player.device.call(entry, number, (fields.take(argument, player.handle),))

    return act


OPS |= {
    f"{api}Set{noun}": _binding(f"{ddi}Set{plural}", argument)
    for api, ddi in _STAGES.items()
    for noun, (plural, argument) in _BOUND.items()
}


# Others


@op("IASetVertexBuffer")
def _set_vertex_buffer(player: Player, fields: Fields) -> None:
    number = fields.take("Slot", slot)
    buffers = (fields.take("buffer", player.handle),)
    stride, offset = fields.take("Stride", count), fields.take("Offset", count)
    player.device.call("IaSetVertexBuffers", number, buffers, (stride,), (offset,))


@op("RSSetViewport")
def _set_viewport(player: Player, fields: Fields) -> None:
    names = ("TopLeftX", "TopLeftY", "Width", "Height", "MinDepth", "MaxDepth")
    viewport = tuple(fields.take(name, floating) for name in names)
    player.device.set_viewports([viewport])


@op("RSSetScissorRect")
def _set_scissor(player: Player, fields: Fields) -> None:
    rect = tuple(fields.take(name, signed) for name in ("left", "top", "right", "bottom"))
    player.device.set_scissor_rects([rect])


@op("OMSetBlendState")
def _set_blend_state(player: Player, fields: Fields) -> None:
    state = fields.take("state", player.handle)
    player.device.call("SetBlendState", state, (1.0,) * 4, fields.take("SampleMask", count))


@op("OMSetRenderTargets")
def _set_targets(player: Player, fields: Fields) -> None:
    views = [player.handle(value) for value in fields.take("rtvs", listing)]
    depth = fields.take("dsv", player.handle)
    if len(views) > _TARGETS:
        raise Refused(Result.E_INVALIDARG, "too many targets")
    player.device.call("SetRenderTargets", views, _TARGETS - len(views), depth)


@op("SOSetTargets")
def _set_stream_targets(player: Player, fields: Fields) -> None:
    pairs = [_pair(value) for value in fields.take("targets", listing)]
    handles = [player.handle(name) for name, _ in pairs]
    if len(handles) > _STREAM_TARGETS:
        raise Refused(Result.E_INVALIDARG, "too many targets")
    clear = _STREAM_TARGETS - len(handles)
    player.device.call("SoSetTargets", handles, clear, [offset for _, offset in pairs])


def _pair(value: object) -> tuple[object, int]:
    """[buffer, offset]."""
    name, offset = listing(value, 2)
    return name, count(offset)


@op("CSSetUnorderedAccessView")
def _set_unordered(player: Player, fields: Fields) -> None:
    views = (fields.take("view", player.handle),)
    number, initial = fields.take("Slot", slot, 0), fields.take("InitialCount", signed, -1)
    arguments = (number, views, (initial & KEEP,))
    player.device.call("CsSetUnorderedAccessViews", *arguments)


@op("OMSetRenderTargetsAndUnorderedAccessViews")
def _set_all_targets(player: Player, fields: Fields) -> None:
    targets = [player.handle(value) for value in fields.take("rtvs", listing)]
    depth = fields.take("dsv", player.handle)
    start = fields.take("UAVStartSlot", slot)
    views = [player.handle(value) for value in fields.take("uavs", listing)]
    given = fields.take("InitialCounts", listing, [-1] * len(views))
    counts = [signed(value) & KEEP for value in given]
    if len(targets) > _TARGETS:
        raise Refused(Result.E_INVALIDARG, "too many targets")
    arguments = (targets, _TARGETS - len(targets), depth, views, counts, start, start, len(views))
    player.device.call("SetRenderTargets", *arguments)


def _clear_unordered(entry: str, value: _Read, player: Player, fields: Fields) -> None:
    view = fields.take("view", player.handle)
    values = [value(each) for each in fields.take("Values", listing)]
    _check_given(view)
    player.device.call(entry, view, values)


for _entry, _value in (
    ("ClearUnorderedAccessViewUint", count),
    ("ClearUnorderedAccessViewFloat", floating),
):
    op(_entry)(partial(_clear_unordered, _entry, _value))


@op("ClearRenderTargetView")
def _clear_target(player: Player, fields: Fields) -> None:
    color = tuple(fields.take(name, floating) for name in "rgba")
    view = fields.take("view", player.handle)
    _check_given(view)
    player.device.call("ClearRenderTargetView", view, color)


@op("ClearDepthStencilView")
def _clear_depth(player: Player, fields: Fields) -> None:
    view = fields.take("view", player.handle)
    depth, stencil = fields.take("Depth", floating), fields.take("Stencil", whole(0, 255))
    flags = ClearFlag.DEPTH | ClearFlag.STENCIL
    _check_given(view)
    player.device.call("ClearDepthStencilView", view, int(flags), depth, stencil)


@op("ResolveSubresource")
def _resolve(player: Player, fields: Fields) -> None:
    target, source = (fields.take(name, player.find(Resource)) for name in ("dst", "src"))
    format = fields.take("Format", count, target.desc.Format)
    arguments = (target.memory, 0, source.memory, 0, format)
    player.device.call("ResourceResolveSubresource", *arguments)


@op("ReadBuffer")
def _read_buffer(player: Player, fields: Fields) -> None:
    name = fields.take("buffer", text)
    data = player.device.read(player.find(Resource)(name))
    player.results.buffers[name] = data.hex()


# Queries


@op("Begin")
def _begin(player: Player, fields: Fields) -> None:
    fields.take("query", player.query).begin()


@op("End")
def _end(player: Player, fields: Fields) -> None:
    fields.take("query", player.query).end()


@op("GetData")
def _get_data(player: Player, fields: Fields) -> None:
    """Poll until there is data; what is refused has none."""
    query = fields.take("query", player.query)
    found = query.wait()
    label = str(player.index)
    value = query.value(found.data) if found.data is not None else None
    player.results.queries[label] = value
    _step(player, query, found, query.data_size, touched=found.data)


@op("GetDataOnce")
def _get_data_once(player: Player, fields: Fields) -> None:
    query = fields.take("query", player.query)
    size = fields.take("DataSize", _BYTES)
    size = query.data_size if size < 0 else size
    null = fields.take("NullData", truth, False)
    memory = None if null else bytearray(b"\xcc" * size)
    found = query.get_data(memory, size, fields.take("Flags", count, 0))
    _step(player, query, found, size, touched=bytes(memory or b""))


def _step(player: Player, query: Query, found: Data, size: int, touched: bytes | None) -> None:
    """What a single GetData gave; ``modified`` is whether it put something into memory."""
    player.results.steps.append(
        {
            "call": player.index,
            "hr": hr_text(found.hr),
            "size": size,
            "data": (touched or b"").hex(),
            "modified": int(found.data is not None),
        }
    )


@op("SetPredication")
def _set_predication(player: Player, fields: Fields) -> None:
    name = fields.take("predicate", optional(text))
    value = fields.take("PredicateValue", whole(0, 1))
    query = None if name is None else player.query(name)
    player.device.call("SetPredication", query.memory if query else None, value)
    player.predicate = name, value


@op("GetPredication")
def _get_predication(player: Player, fields: Fields) -> None:
    name, value = player.predicate
    found = {"call": player.index, "predicate": name or "-", "value": value}
    player.results.get_predication.append(found)
