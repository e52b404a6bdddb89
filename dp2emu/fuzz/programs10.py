"""The target of programs: API calls of Direct3D 10 and 11 in any order, with any arguments.

An input is a head of two bytes and a call for each ``CALL`` bytes after it: two bytes choose the
method, the others are the seed of its arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from random import Random
from typing import Any

from dp2emu.capture.entry_values import RAISED
from dp2emu.capture.recorder import Recorder
from dp2emu.capture.records import EntryCalled, Record
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.maps import MappedSubresource
from dp2emu.errors import ContractError, Disagreement, Dp2Error, Exceeded, Fault
from dp2emu.fuzz import mutations
from dp2emu.fuzz.arguments10 import INSTANCE, USUAL, Arguments, Method, bytecode
from dp2emu.fuzz.cost import Bound
from dp2emu.fuzz.draws import LIMITS
from dp2emu.fuzz.functions10 import Functions
from dp2emu.fuzz.growth import doubled
from dp2emu.fuzz.target import Broken, Target
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.replay.facade import Facade, Reply, entry_differences
from dp2emu.runtime10 import descriptions as d
from dp2emu.runtime10.class_linkage import ClassLinkage
from dp2emu.runtime10.codes import Api
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.context_state import DeviceContextState
from dp2emu.runtime10.deferred import DeferredContext, ImmediateContext
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import (
    DxgiAdapter,
    DxgiDevice,
    DxgiResource,
    Factory,
    MappedRect,
    Output,
    Surface,
    SwapChain,
    SwapChainDesc1,
    Window,
)
from dp2emu.runtime10.dxgi.objects import DxgiObject
from dp2emu.runtime10.enums import FeatureLevel
from dp2emu.runtime10.objects import DeviceChild, Resource
from dp2emu.shader.engines import JIT, REFERENCE, engine

HEAD = 2
"""Bytes before the calls: a byte of choices (``_Head``), and a seed of the objects at first."""
CALL = 8
_MOST = HEAD + 48 * CALL
_LONGEST = HEAD + 256 * CALL
_PACE = 1 / 32
"""Few programs are grown, since a long one takes as long as hundreds of streams."""
_COST = Bound(8.0, 1.0, 256.0, 8.0)

# Methods


_KNOWS = "called by other classes of the runtime, which know the device's objects by it"
_SENDS = "makes calls of the driver for the methods of the API"
_DRIVER = "a function of the driver's adapter, which devices call"
LEFT_OUT: dict[type, dict[str, str]] = {
    Device: {
        **dict.fromkeys(("child", "bound", "unbound", "discard", "keep", "prioritize"), _KNOWS),
        "close": "ends every program",
        "create_back_buffer": "called by swap chains, for descriptions that they have checked",
    },
    Context: dict.fromkeys(("call", "do"), _SENDS),
    DeviceChild: {"drop": _KNOWS},
    DeviceContextState: dict.fromkeys(
        ("take", "give"), "called by the context that has the state"
    ),
    ClassLinkage: {"add": "called for each shader that is created with the linkage"},
    DxgiAdapter: dict.fromkeys(("create_device", "get_caps", "finish"), _DRIVER),
}
"""Public methods that programs do not call, and why, by class."""
_OFTEN = ("draw", "dispatch", "map", "unmap", "create_", "finish_", "execute_", "release")
"""Beginnings of names of methods that are called four times as often as others."""


def _methods_of(kind: type) -> Iterator[str]:
    """Names of the methods of a class that programs call."""
    left_out = set(
        chain.from_iterable(names for of, names in LEFT_OUT.items() if issubclass(kind, of))
    )
    for name, _member in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_") and name not in left_out:
            yield name


def _children(kind: type = DeviceChild) -> Iterator[type]:
    """The classes of objects of a device."""
    yield kind
    below: list[type] = kind.__subclasses__()
    for each in sorted(below, key=lambda one: one.__name__):
        yield from _children(each)


_DXGI = (Factory, DxgiAdapter, Output, SwapChain, DxgiDevice, DxgiResource, Surface)
"""The classes of objects of DXGI."""


@cache
def methods() -> tuple[Method, ...]:
    """Return all methods that programs call; those that are called often several times."""
    found = []
    for kind in (Functions, Device, ImmediateContext, DeferredContext, *_DXGI, *_children()):
        for name in _methods_of(kind):
            usual = issubclass(kind, (Functions, Device, Context))
            shares = 4 if name.startswith(_OFTEN) and usual else 1
            found += [Method.of(kind, name)] * shares
    return tuple(found)


# Programs


class _Cast:
    """The objects of a program.  Mutable: calls add objects."""

    def __init__(self, device: Device, others: Sequence[DeviceChild]) -> None:
        self.device = device
        self.strangers = others
        self.children: list[DeviceChild] = []
        self.contexts: list[Context] = [device.context]
        self.devices: list[Device] = []
        self.swap_chains: list[SwapChain] = []
        self.mapped: list[tuple[Any, int]] = []
        self._rest: list[Any] = [Functions(device), Window(16, 16), Window(8, 8)]
        self._ids: set[int] = {id(device)}

    def add(self, found: Any) -> None:
        """Add what a call returned: objects, and those in sequences."""
        if isinstance(found, (tuple, list)):
            for each in found:
                self.add(each)
        elif id(found) not in self._ids:
            self._place(found)

    def _place(self, found: Any) -> None:
        """Add an object that is new."""
        if isinstance(found, DeviceChild):
            if found.owner is not self.device:
                return
            self.children.append(found)
        elif isinstance(found, DxgiResource):
            self._rest.append(found)
            self.add(found.resource)
        else:
            kept = next((rows for kind, rows in self._rows() if isinstance(found, kind)), None)
            if kept is None:
                return
            kept.append(found)
        self._ids.add(id(found))

    def _rows(self) -> tuple[tuple[type, list[Any]], ...]:
        """The lists of objects by their kind."""
        return (
            (Context, self.contexts), (Device, self.devices), (SwapChain, self.swap_chains),
            (DxgiObject, self._rest),
        )  # fmt: skip

    def of(self, kind: type) -> Sequence[Any]:
        """The objects of a kind that are alive."""
        if issubclass(kind, Device):
            return [self.device]
        every: Sequence[Any] = [*self.children, *self.swap_chains, *self.contexts, *self._rest]
        return [each for each in every if isinstance(each, kind) and _is_alive(each)]

    def every(self) -> Sequence[Any]:
        """Objects of all kinds, released ones and objects of another device included."""
        return [*self.children, *self.strangers]


def _is_alive(thing: Any) -> bool:
    """Whether an object has references, or is of a kind that has none."""
    counted = thing.resource if isinstance(thing, DxgiResource) else thing
    return bool(getattr(counted, "references", True))


_LEVELS = (None, FeatureLevel.LEVEL_9_1, FeatureLevel.LEVEL_9_3, FeatureLevel.LEVEL_10_0)
"""Feature levels of programs of Direct3D 11 that begin without objects."""


class _Program:
    """A program that calls the API as an input says.  Mutable: its objects change."""

    def __init__(self, adapter: Any, data: bytes) -> None:
        head = data[:HEAD].ljust(HEAD, b"\0")
        self._rng = Random(head)
        self._calls = [data[at : at + CALL] for at in range(HEAD, len(data), CALL)]
        api = (Api.D3D11, Api.D3D11, Api.D3D10_1, Api.D3D10)[head[0] & 3]
        self._stranger = Device(adapter, api) if head[0] & 4 else None
        prepared = bool(head[0] & 0x38)
        leveled = api is Api.D3D11 and not prepared
        level = _LEVELS[head[0] >> 6] if leveled else None
        self._cast = _Cast(Device(adapter, api, level), self._foreign())
        self.seen: set[Hashable] = set()
        if prepared:
            self._prepare()

    def run(self) -> None:
        """Make all calls.  Raises Broken."""
        for number, call in enumerate(self._calls):
            self._call(call)
            if number % 8 == 0:
                self._check_counts()

    # Calls

    def _call(self, call: bytes) -> None:
        known = methods()
        method = known[int.from_bytes(call[:2], "little") % len(known)]
        rng = Random(call[2:])
        receivers = self._cast.of(method.kind)
        if not receivers:
            return
        receiver = receivers[-1 - int(len(receivers) * rng.random())]
        arguments = self._arguments(method, rng)
        with_state = isinstance(receiver, Context) and "_set_" in method.name
        check = _Bound(receiver, method.name, arguments) if with_state else None
        outcome, found = self._outcome(receiver, method, arguments)
        self.seen.add((method.kind.__name__, method.name, outcome))
        self._cast.add(found)
        if isinstance(found, (MappedSubresource, MappedRect)):
            _write(found, rng)
        if isinstance(found, MappedSubresource):
            self._cast.mapped.append((arguments[0], arguments[1]))
        if check is not None:
            check.after(outcome)

    def _arguments(self, method: Method, rng: Random) -> list[Any]:
        """Arguments of a call; for Map and Unmap mostly what can be mapped, and is mapped."""
        chosen = Arguments(rng, self._cast.of, self._cast.every)
        arguments = chosen.of(method)
        fitting, mapped = rng.random() < 0.8, self._cast.mapped
        if method.name == "map" and fitting and isinstance(arguments[0], Resource):
            arguments[:3] = chosen.map_of(arguments[0])
        if method.name == "unmap" and method.hints and fitting and mapped:
            return list(mapped.pop())
        return arguments

    def _outcome(self, receiver: Any, method: Method, arguments: list[Any]) -> tuple[Any, Any]:
        """The outcome of a call, as a feature, and what it returned."""
        name = f"{method.kind.__name__}.{method.name}"
        messages = len(receiver.messages) if isinstance(receiver, Context) else 0
        try:
            found = getattr(receiver, method.name)(*arguments)
        except ContractError as error:
            raise Broken(f"{name} breaks the driver's contract: {error.rule}") from error
        except Disagreement:
            raise
        except Fault as error:
            return f"refused {int(error.hr):#x}", None
        except Dp2Error as error:
            return type(error).__name__, None
        ignored = isinstance(receiver, Context) and len(receiver.messages) > messages
        return "ignored" if ignored else "returned", found

    # The beginning

    def _foreign(self) -> list[DeviceChild]:
        """Objects of another device."""
        stranger = self._stranger
        if stranger is None:
            return []
        buffer = stranger.create_buffer(USUAL[d.BufferDesc][0])
        texture = stranger.create_texture2d(USUAL[d.Texture2DDesc][0])
        view = stranger.create_render_target_view(texture)
        return [buffer, texture, view, stranger.create_rasterizer_state(d.RasterizerDesc())]

    def _prepare(self) -> None:
        """Create objects, and bind those that draws need."""
        device = self._cast.device
        self._bind_targets()
        self._bind_shaders()
        self._bind_vertices()
        self._cast.add(device.create_query(d.QueryDesc(self._rng.randrange(6))))
        self._add_resources()
        self._cast.add([
            device.create_predicate(d.QueryDesc(5)), device.create_blend_state(d.BlendDesc()),
            device.create_depth_stencil_state(d.DepthStencilDesc()),
            device.create_rasterizer_state(d.RasterizerDesc()),
            device.create_sampler_state(d.SamplerDesc()),
        ])  # fmt: skip
        if device.driver.api is Api.D3D11:
            self._add_objects_of_11()
        self._show()

    def _add_objects_of_11(self) -> None:
        """Create a deferred context and its list, shaders of each stage, a linkage, a counter."""
        device, linkage = self._cast.device, self._cast.device.create_class_linkage()
        deferred = device.create_deferred_context()
        deferred.draw(3, 0)
        code = bytecode("geometry", 0)
        self._cast.add([
            deferred, deferred.finish_command_list(False), linkage,
            device.create_compute_shader(bytecode("compute", 0)),
            device.create_compute_shader(bytecode("compute", 2), linkage),
            linkage.get_class_instance(INSTANCE), device.create_geometry_shader(code),
            device.create_hull_shader(bytecode("hull", 0)),
            device.create_domain_shader(bytecode("domain", 0)),
            device.create_counter(d.CounterDesc(0x40000000)),
            device.create_device_context_state(),
        ])  # fmt: skip

    def _show(self) -> None:
        """Create a swap chain, and objects of DXGI around the device."""
        functions: Functions = self._cast.of(Functions)[0]
        chain = functions.create_swap_chain(self._rng.choice(USUAL[SwapChainDesc1]))
        seen = functions.dxgi_device()
        adapter = seen.get_adapter()
        staging = self._cast.device.create_texture2d(USUAL[d.Texture2DDesc][8])
        surface = functions.surface(staging)
        self._cast.add([
            chain, seen, adapter, adapter.get_parent(), adapter.enum_outputs(0), surface, staging,
            functions.dxgi_resource(staging),
        ])  # fmt: skip

    def _bind_targets(self) -> None:
        device, context = self._cast.device, self._cast.device.context
        color, depth = map(device.create_texture2d, USUAL[d.Texture2DDesc][:2])
        target = device.create_render_target_view(color)
        view = device.create_depth_stencil_view(depth)
        context.om_set_render_targets([target], view)
        context.rs_set_viewports([d.Viewport(0.0, 0.0, 16.0, 16.0)])
        self._cast.add([color, depth, target, view, device.create_shader_resource_view(color)])

    def _bind_shaders(self) -> None:
        device, context = self._cast.device, self._cast.device.context
        code = bytecode("vertex", 0)
        vertex = device.create_vertex_shader(code)
        pixel = device.create_pixel_shader(bytecode("pixel", self._rng.randrange(2)))
        layout = device.create_input_layout(USUAL[d.InputElementDesc], code)
        context.vs_set_shader(vertex)
        context.ps_set_shader(pixel)
        context.ia_set_input_layout(layout)
        self._cast.add([vertex, pixel, layout])

    def _bind_vertices(self) -> None:
        device, context = self._cast.device, self._cast.device.context
        vertices = device.create_buffer(USUAL[d.BufferDesc][0], bytes(range(64)) * 4)
        indices = device.create_buffer(
            d.BufferDesc(96, BindFlags=2), bytes((0, 0, 1, 0, 2, 0)) * 16
        )
        context.ia_set_vertex_buffers(0, [vertices], [32], [0])
        context.ia_set_index_buffer(indices, DxgiFormat.R16_UINT.value, 0)
        context.ia_set_primitive_topology(4)
        self._cast.add([vertices, indices])

    def _add_resources(self) -> None:
        """Create buffers and textures of some descriptions, and their default views."""
        rng, device = self._rng, self._cast.device
        makers: dict[Any, Callable[..., Any]] = {
            d.BufferDesc: device.create_buffer,
            d.Texture1DDesc: device.create_texture1d,
            d.Texture2DDesc: device.create_texture2d,
            d.Texture3DDesc: device.create_texture3d,
        }
        descs = [desc for kind in makers for desc in USUAL[kind]]
        views = {
            8: device.create_shader_resource_view, 0x20: device.create_render_target_view,
            0x40: device.create_depth_stencil_view, 0x80: device.create_unordered_access_view,
        }  # fmt: skip
        for desc in rng.sample(descs, 8):
            with suppress(Fault):  # Direct3D 10 has not all of them, immutable ones need data
                made = makers[type(desc)](desc)
                self._cast.add(made)
                for flag, view in views.items():
                    if desc.BindFlags & flag:
                        self._cast.add(view(made))

    # The end

    def _check_counts(self) -> None:
        """Raise Broken for an object with less than no references or users."""
        for each in self._cast.children:
            if each.references < 0 or each.users < 0:
                raise Broken(f"a {type(each).__name__} has fewer than no references or users")

    def end(self) -> None:
        """Release everything; then nothing is used, and the driver has no objects left."""
        cast = self._cast
        self._check_counts()
        for context in cast.contexts:
            if isinstance(context, DeferredContext):
                context.finish_command_list(False).release()
            context.clear_state()
        for swap in cast.swap_chains:
            while swap.references:
                swap.release()
        for each in cast.children:
            while each.references:
                each.release()
        for each in cast.children:
            if each.users:
                raise Broken(f"a {type(each).__name__} is used after all objects were released")
        for device in (*cast.devices, cast.device, self._stranger):
            if device is not None:
                try:
                    device.close()
                except ContractError as error:
                    raise Broken(f"close breaks the driver's contract: {error.rule}") from error


def _write(mapped: MappedSubresource | MappedRect, rng: Random) -> None:
    """Write random bytes to mapped memory, if it can be written."""
    memory = mapped.pData if isinstance(mapped, MappedSubresource) else mapped.pBits
    if not memory.readonly:
        count = min(len(memory), 64)
        memory[:count] = rng.randbytes(count)


class _Bound:
    """What a context has bound before a call of a ``..._set_...`` method, and after it."""

    def __init__(self, context: Context, setter: str, arguments: list[Any]) -> None:
        self._context = context
        self._name = setter
        self._arguments = arguments
        self._before = self._read()

    def after(self, outcome: str) -> None:
        """Check what is bound after the call: what was set, None by a hazard, or as before if the
        call failed.  Raises Broken.
        """
        now = self._read()
        if now is None or self._before is None:
            return
        if outcome != "returned":
            if repr(now) != repr(self._before):
                raise Broken(f"{self._name} fails ({outcome}), but changes what is bound")
            return
        for given, got in zip(self._given(), _flat(now), strict=False):
            if got is not None and got is not given and isinstance(got, DeviceChild):
                raise Broken(f"{self._name}: another object is bound")
            if isinstance(given, (int, float)) and not isinstance(got, DeviceChild):
                self._compare(given, got)

    def _compare(self, given: float, got: Any) -> None:
        if repr(given) != repr(got) and given != got and self._name in _EXACT:
            raise Broken(f"{self._name} of {given!r} gives {got!r}")

    def _given(self) -> list[Any]:
        """The objects and numbers that are set, in the order of the getter's."""
        arrange = _ARRANGED.get(self._name)
        return list(_flat(arrange(*self._arguments) if arrange else self._arguments))

    def _read(self) -> Any:
        """What the getter returns, without references more; None if there is no getter."""
        getter = getattr(self._context, _GETTERS.get(self._name, self._name).replace(
            "_set_", "_get_"), None)  # fmt: skip
        if getter is None:
            return None
        arguments: list[Any] = []
        if self._name.endswith(_SLOTTED):
            start, given = self._arguments[:2]
            if not isinstance(start, int) or not isinstance(given, (tuple, list)):
                return None
            arguments = [start, len(given)]
        try:
            found = getter(*arguments)
        except Dp2Error:
            return None
        for each in _flat(found):
            if isinstance(each, DeviceChild):
                each.release()
        return found


_SLOTTED = (
    "constant_buffers", "constant_buffers1", "shader_resources", "samplers",
    "ia_set_vertex_buffers", "cs_set_unordered_access_views",
)  # fmt: skip
"""Ends of names of methods whose getters take a first slot and a number of slots."""
_GETTERS: dict[str, str] = {}
"""Methods by name whose getter has another name."""
_EXACT = (
    "ia_set_primitive_topology", "ia_set_index_buffer", "om_set_depth_stencil_state",
    "rs_set_scissor_rects", "rs_set_viewports",
)  # fmt: skip
"""Methods whose getters return the numbers that were set."""
_ARRANGED: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(
        [f"{stage}_set_{noun}" for stage in ("vs", "hs", "ds", "gs", "ps", "cs")
         for noun in ("constant_buffers", "shader_resources", "samplers")],
        lambda start, objects: objects,
    ),
    **{
        f"{stage}_set_constant_buffers1": lambda start, buffers, *ranges: [
            (each, None, None) for each in buffers
        ]
        for stage in ("vs", "hs", "ds", "gs", "ps", "cs")
    },
    "cs_set_unordered_access_views": lambda start, views, counts=None: views,
    "ia_set_vertex_buffers": lambda start, buffers, strides, offsets: list(
        zip(buffers, strides, offsets, strict=False)
    ),
    "om_set_render_targets": lambda targets, depth=None: [
        *targets, *[None] * (8 - len(targets)), depth
    ],
    "so_set_targets": lambda buffers, offsets=None: buffers,
    "om_set_blend_state": lambda state, factor=None, mask=None: [state],
}  # fmt: skip
"""The order in which a getter returns what a method sets, by the method's name."""


def _flat(values: Any) -> Iterator[Any]:
    """Values, and those in sequences among them."""
    if isinstance(values, (tuple, list)):
        for each in values:
            yield from _flat(each)
    else:
        yield values


# The trial


def _played(
    data: bytes, adapter: Any, ending: Callable[[], None] = lambda: None
) -> frozenset[Hashable]:
    """Run the program of an input; ``ending`` is called before it releases its objects."""
    program = _Program(adapter, data)
    program.run()
    ending()
    program.end()
    return frozenset(program.seen)


def _gpu(name: str) -> Gpu:
    return Gpu(run=engine(name), threads=1, limits=LIMITS)


REPLAYED = 16
"""One input of this many is replayed by both engines, instead of checked by the driver."""


def trial(data: bytes) -> Hashable:
    """Run the program of an input; the features are methods and their outcomes.

    Raises Broken.
    """
    if not _is_replayed(data):
        return _played(data, Adapter(_gpu(REFERENCE), checking=True))
    made: list[Record] = []
    count = 0

    def ending() -> None:
        nonlocal count
        count = len(made)

    seen = _played(data, Recorder(Adapter(_gpu(REFERENCE)), made.append), ending)
    if _replayed(made[:count], REFERENCE) != _replayed(made[:count], JIT):
        raise Broken("the engines leave different bytes in memory")
    return seen


def _is_replayed(data: bytes) -> bool:
    return sum(data[:CALL]) % REPLAYED == 0


def _replayed(made: Sequence[Record], name: str) -> list[bytes]:
    """Replay the calls of a program on an engine; the bytes of all resources after them.

    Raises Broken for a call with another result.
    """
    facade = Facade(_gpu(name))
    for number, record in enumerate(made):
        if not isinstance(record, EntryCalled):
            continue
        reply, recorded = facade.perform(record), Reply.recorded(record)
        if reply.error is not None and getattr(recorded.result, "name", "") == RAISED:
            continue  # arguments that no capture has raise another error in a replay
        for each in entry_differences(number, record.entry, recorded, reply):
            raise Broken(f"replay on {name}: {each}")
    with suppress(Exceeded):  # of a draw that the program did not wait for
        facade.finish()
    return [each.surface.data.tobytes() for each in facade.resources().values()]


def records(data: bytes) -> list[Record]:
    """Return the driver's calls of a program, up to the one that fails if one does."""
    made: list[Record] = []
    try:
        _played(data, Recorder(Adapter(_gpu(REFERENCE)), made.append))
    except Exception:
        return made
    return made


# Inputs


def seed(rng: Random) -> bytes:
    """Return a random program."""
    return rng.randbytes(HEAD + CALL * rng.choice((8, 16, 24, 48)))


def mutate(rng: Random, data: bytes, other: bytes) -> bytes:
    """Return a program with calls that are repeated, removed, moved or taken from another
    program, or with other bytes.
    """
    if rng.random() < 0.25:
        return mutations.mutate(rng, data, other)
    calls = _split(data)
    at = rng.randrange(len(calls) + 1)
    count = 1 + int(8 * rng.random() ** 2)
    run = calls[at : at + count]
    kind = rng.randrange(5)
    if kind == 0:
        calls[at:at] = run
    elif kind == 1:
        calls[at:at] = [rng.randbytes(CALL) for _ in range(count)]
    elif kind == 2:
        rest = _split(other)
        calls[at:] = rest[rng.randrange(len(rest) + 1) :]
    else:
        del calls[at : at + count]
        place = rng.randrange(len(calls) + 1)
        calls[place:place] = run if kind == 3 else []
    return data[:HEAD] + b"".join(calls)


def _split(data: bytes) -> list[bytes]:
    return [data[at : at + CALL] for at in range(HEAD, len(data), CALL)]


TARGETS = (
    Target(
        "programs10", "programs of any API calls of Direct3D 10 and 11 end", lambda: trial, seed,
        mutate, _MOST, ("dp2emu.runtime10", "dp2emu.ddi10"), records,
        cost=_COST, grow=doubled, longest=_LONGEST, pace=_PACE,
    ),
)  # fmt: skip
"""Fuzzing targets: each makes inputs, mutates them and tries them."""
