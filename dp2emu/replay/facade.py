"""The Direct3D 10/11 interface in a replay: recorded calls repeated on the replay's GPU.

Results, codes passed to pfnSetErrorCb and bytes written to output buffers are compared with the
recorded ones.
"""

from __future__ import annotations

import inspect
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from dp2emu.argument_check import hints_of, plain_function
from dp2emu.capture import entry_values as entries
from dp2emu.capture.records import EntryCalled, Pictured, PictureKind
from dp2emu.capture.values import Memory, Structure, Value, json_of
from dp2emu.ddi10.adapter import Adapter, Cause
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.declarations import members
from dp2emu.ddi10.device import Device
from dp2emu.ddi10.inspect import Facts, facts_of
from dp2emu.ddi10.queries.query_types import QueryRow
from dp2emu.ddi10.resources.maps import MappedSubresource
from dp2emu.ddi10.resources.resource import Resource
from dp2emu.errors import CaptureError, Dp2Error, Fault, UsageError
from dp2emu.gpu.command.packets import Observe
from dp2emu.gpu.command.queries import QuerySlot
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.resource.heap import Surface, SurfaceDesc
from dp2emu.replay.compare import Difference

MEMORY_BYTES = 1 << 16
"""Maximum size in bytes of a block of the runtime's memory that a capture may ask for."""
DEVICES = 64
RECENT = 64
"""Maximum number of targets of a frame that are remembered; one more replaces the oldest."""
VIEWS = 1 << 24
"""Smallest handle of a level or slice of a texture, or of a part of a buffer, that does not begin
where the resource does; see ``Facade.handle``."""
PARTS = 1 << 16
"""More subresources than a resource has."""
_LONGEST = 60
"""Largest number of characters of a value in the text of a difference."""
PRESENT = f"{entries.DXGI}Present"

_IMPOSSIBLE = (TypeError, ValueError, LookupError, OverflowError, AttributeError)
"""Python exceptions that a driver function raises for arguments which no runtime would pass, as a
damaged capture may have."""
_LOWEST, _HIGHEST = -(1 << 31), (1 << 32) - 1
_HANDLE = "runtime"

Find = Callable[[Memory | bytes], bytearray]
"""Function that returns the runtime's memory for a ``Memory`` of a capture, or an output buffer
with the given bytes as content."""


class Reply(msgspec.Struct, frozen=True):
    """Outcome of a Direct3D 10/11 call: result, pfnSetErrorCb codes, bytes written, error."""

    result: Value = None
    codes: tuple[int, ...] = ()
    written: tuple[tuple[int, bytes], ...] = ()
    error: Dp2Error | None = None

    @classmethod
    def recorded(cls, record: EntryCalled) -> Reply:
        """The recorded outcome of a call."""
        return cls(record.result, record.codes, record.written)

    def failed_as(self, recorded: Reply) -> bool:
        """Whether this call raised an error, and the recorded call the same one."""
        return self.error is not None and self.result == recorded.result


class _Device(msgspec.Struct, eq=False):
    """A device of a replay.

    Mutable: it collects error codes, memory mapped for writing, and in ``recent`` the last
    surfaces that became targets, by handle.
    """

    device: Device
    codes: list[int]
    mapped: dict[tuple[int, int], memoryview] = msgspec.field(default_factory=dict)
    recent: dict[int, Surface] = msgspec.field(default_factory=dict)


class Facade:
    """An adapter and its devices that repeat recorded calls.  Mutable: the calls change it."""

    def __init__(self, gpu: Gpu) -> None:
        self.adapter = Adapter(gpu)
        self._devices: dict[int, _Device] = {}
        self._memory: dict[int, bytearray] = {}
        self._made: dict[int, bytearray] = {}
        self._filled: list[bytearray] = []
        self._surfaces: dict[int, Surface] = {}

    def perform(self, record: EntryCalled) -> Reply:
        """Repeat a recorded call; an error is part of the reply, not raised."""
        self._made, self._filled = {}, []
        try:
            special = _SPECIAL.get(record.entry)
            if special is not None:
                special(self, record)
                return Reply()
            return self._call(record, self._device(record))
        except Dp2Error as error:
            return Reply(Structure(entries.RAISED, (type(error).__name__,)), error=error)

    def finish(self) -> None:
        """Flush all devices at the end of the capture, and wait for the GPU."""
        for each in self._live():
            each.device.functions["Flush"]()
        self.adapter.finish()

    def devices(self) -> list[int]:
        """Numbers of the devices that were not destroyed."""
        return [number for number, each in self._devices.items() if not each.device.destroyed]

    def facts(self, number: int) -> Facts:
        """The bound state of a device as a JSON object, objects numbered as in the capture.

        Raises UsageError if it does not exist.
        """
        at = self._devices.get(number)
        if at is None or at.device.destroyed:
            raise UsageError(f"device {number} does not exist")
        numbers = {id(memory): each for each, memory in self._memory.items()}
        return facts_of(at.device, lambda memory: numbers.get(id(memory)))

    def finished(self, number: int) -> Device:
        """A device, its commands executed.  Raises UsageError if it does not exist."""
        at = self._devices.get(number)
        if at is None or at.device.destroyed:
            raise UsageError(f"device {number} does not exist")
        self._wait(at)
        return at.device

    def device(self, number: int) -> Device | None:
        """The device of a number, None if there is none; it may be destroyed."""
        found = self._devices.get(number)
        return None if found is None else found.device

    def resource(self, number: int) -> Resource | None:
        """The live resource in memory ``number`` of the capture, None if there is none."""
        memory = self._memory.get(number, bytearray())
        found = (at.device.resource(memory) for at in self._live())
        return next((each for each in found if each is not None), None)

    def resources(self) -> dict[int, Resource]:
        """The live resources of all devices by the number of their memory in the capture."""
        numbers = {id(memory): number for number, memory in self._memory.items()}
        return {
            numbers[id(memory)]: resource
            for at in self._live()
            for memory, resource in at.device.parts.resources.objects.items()
            if id(memory) in numbers
        }

    # ``Observable``: contexts are devices, and handles serial numbers of surfaces

    def shown(self, number: int) -> int:
        """Handle of the surface that a device presented last, 0 for none."""
        return self._keep(self._devices[number].device.shown)

    def target(self, context: int) -> int:
        """Handle of render target 0 of a device, 0 for none."""
        at = self._devices.get(context)
        return self._keep(at.device.target) if at is not None else 0

    def recent_targets(self, context: int) -> tuple[int, ...]:
        """Handles of the targets and depth surfaces of a device since this method was last called.

        Those that were bound before that call come first, the others in the order in which they
        were bound last.
        """
        at = self._devices.get(context)
        if at is None:
            return ()
        recent, at.recent = at.recent, {}
        bound = [self._keep(surface) for surface in at.device.targets]
        self._surfaces |= recent
        return (*(handle for handle in bound if handle not in recent), *recent)

    def surface(self, handle: int) -> SurfaceDesc:
        """The description of a surface that was presented or drawn to.

        Raises CaptureError for another handle.
        """
        return self._known(handle).desc

    def observe(self, handle: int, sink: Callable[[Surface], None]) -> None:
        """Pass surface ``handle`` to ``sink`` once all work submitted before is done.

        Raises CaptureError for a handle of no surface that was presented or drawn to.
        """
        self.adapter.gpu.submit(Observe(self._known(handle), sink))

    def _known(self, handle: int) -> Surface:
        surface = self._surfaces.get(handle)
        if surface is None:
            raise CaptureError(f"surface {handle}, which was neither presented nor drawn to")
        return surface

    def _keep(self, surface: Surface | None) -> int:
        if surface is None:
            return 0
        handle = self.handle(surface)
        self._surfaces[handle] = surface
        return handle

    def handle(self, surface: Surface) -> int:
        """The handle of a surface, which does not depend on what was named before: its serial
        number, or ``VIEWS`` for each subresource before the first one of a view more; for a part
        of a buffer or slice of a volume ``VIEWS`` for each byte, behind these.
        """
        layout = surface.subresources
        offset = layout[0].offset if layout else 0
        if not offset:
            return surface.serial
        root = surface
        while root.parent is not None:
            root = root.parent
        parts = root.subresources
        number = bisect_left(parts, offset, key=attrgetter("offset"))
        if number == len(parts) or parts[number].offset != offset:
            number = PARTS + offset
        return surface.serial + VIEWS * number

    def _bind(self, at: _Device) -> None:
        """Remember the surfaces that are targets now, at most ``RECENT``."""
        for surface in at.device.targets[:RECENT]:
            handle = self.handle(surface)
            at.recent.pop(handle, None)
            at.recent[handle] = surface
        while len(at.recent) > RECENT:
            del at.recent[next(iter(at.recent))]

    # What the recorded program saw

    def read(self, record: Pictured, sink: Callable[[Surface], None]) -> None:
        """Pass the memory of the resource that a program showed or read to ``sink``.

        For a shown one this happens once all commands recorded by now are executed.  A mapped one
        is passed at once, since the host writes to it next; if it is not mapped here, after a
        wait.  Raises CaptureError for a resource or subresource that does not exist.
        """
        at, resource = self._resource(record)
        if record.how == PictureKind.BACK_BUFFER:
            at.device.observe(resource.surface, sink)
            return
        if record.index not in resource.mapped:
            self._wait(at)
        sink(resource.surface)

    def get_data(self, query: int, *, wait: bool) -> tuple[QueryRow, bytes | None]:
        """Type and data of the query in memory number ``query``; None for no data yet.

        With ``wait`` the GPU first finishes all commands, unless the data are there.  Raises
        CaptureError for an unknown query.
        """
        for at in self._live():
            found = at.device.queries.result(self._memory.get(query, bytearray()))
            if found is None:
                continue
            if wait and found[1] is None:
                self._wait(at)
                found = at.device.queries.result(self._memory[query]) or found
            return found
        raise CaptureError(f"GetData of the query in memory {query}, of which there is none")

    def query_number(self, device: int, slot: QuerySlot) -> int:
        """Number of the memory of a device's query in the capture, 0 for a query that was
        destroyed.
        """
        at = self._devices.get(device)
        memory = None if at is None else at.device.queries.handle(slot)
        known = (number for number, each in self._memory.items() if each is memory)
        return next(known, 0)

    def _resource(self, record: Pictured) -> tuple[_Device, Resource]:
        for at in self._live():
            resource = at.device.resource(self._memory.get(record.handle, bytearray()))
            if resource is None:
                continue
            if record.index >= resource.count:
                what = f"the resource in memory {record.handle} has {resource.count} subresources"
                raise CaptureError(f"{what}, not {record.index}")
            return at, resource
        raise CaptureError(f"picture of the resource in memory {record.handle}: there is none")

    def _live(self) -> Iterator[_Device]:
        return (each for each in self._devices.values() if not each.device.destroyed)

    def _wait(self, at: _Device) -> None:
        at.device.flush()
        self.adapter.finish()

    # Calls

    def _device(self, record: EntryCalled) -> _Device:
        found = self._devices.get(record.device)
        if found is None:
            raise CaptureError(f"{record.entry} of device {record.device}, of which there is none")
        return found

    def _call(self, record: EntryCalled, at: _Device) -> Reply:
        entry = record.entry
        is_dxgi = entry.startswith(entries.DXGI)
        table = at.device.dxgi_functions if is_dxgi else at.device.functions
        built = at.device.dxgi_entries if is_dxgi else at.device.entries
        name = entry.removeprefix(entries.DXGI)
        if name not in table:
            raise CaptureError(f"no function {entry} in version {int(at.device.interface)}")
        typed = record.arguments
        if name in built:
            typed = tuple(arguments_of(name, built[name], record.arguments, self._find))
        before = [bytes(memory) for memory in self._filled]
        at.codes.clear()
        try:
            found = table[name](*typed)
        except _IMPOSSIBLE as error:
            what = f"{entry} cannot be called like this: {type(error).__name__}"
            raise CaptureError(what) from error
        self._note(name, at, typed, found)
        changed = enumerate(zip(before, map(bytes, self._filled), strict=True))
        written = tuple((place, new) for place, (old, new) in changed if old != new)
        result = entries.result_of(name, found, entries.unnumbered)
        result = entries.filled(result, record.arguments, typed)
        return Reply(result, tuple(at.codes), written)

    def _note(self, name: str, at: _Device, typed: Any, found: Any) -> None:
        """After call ``name``, update what memory has objects, what subresources are mapped, and
        what surfaces were targets.
        """
        if name == "SetRenderTargets":
            self._bind(at)
        if entries.makes(name) and not at.codes:
            self._memory |= self._made
        if entries.ends(name):
            gone = {id(memory) for memory in entries.memories(list(typed))}
            self._memory = {n: m for n, m in self._memory.items() if id(m) not in gone}
        if isinstance(found, MappedSubresource) and not found.pData.readonly:
            at.mapped[id(typed[0]), typed[1]] = found.pData
        if entries.unmaps(name):
            at.mapped.pop((id(typed[0]), typed[1]), None)

    def _find(self, memory: Memory | bytes) -> bytearray:
        if isinstance(memory, bytes):
            self._filled.append(bytearray(memory))
            return self._filled[-1]
        known = self._memory.get(memory.number)
        if known is not None:
            return known
        if memory.size > MEMORY_BYTES:
            raise CaptureError(f"an object of {memory.size} bytes")
        return self._made.setdefault(memory.number, bytearray(memory.size))

    # Entries of the adapter and the host

    def _create_device(self, record: EntryCalled) -> None:
        (number,) = _numbers(record, 1)
        if number in self._devices or len(self._devices) >= DEVICES:
            raise CaptureError(f"device {number}: it exists, or there are too many")
        codes: list[int] = []
        device = self.adapter.create_device(
            record.interface, lambda layer, code: codes.append(int(code))
        )
        self._devices[number] = _Device(device, codes)

    def _disturb(self, record: EntryCalled) -> None:
        causes = {cause.value: cause for cause in Cause}
        words = [causes.get(str(each)) for each in record.arguments]
        if len(words) != 1 or words[0] is None:
            raise CaptureError("a disturbance has one cause")
        self.adapter.disturb(words[0])

    def _remove(self, record: EntryCalled) -> None:
        self.adapter.remove(*_numbers(record, 1))

    def _advance(self, record: EntryCalled) -> None:
        self.adapter.advance(*_numbers(record, 1))

    def _finish(self, record: EntryCalled) -> None:
        self.adapter.finish()

    def _write(self, record: EntryCalled) -> None:
        """Repeat a recorded write of host data to a mapped subresource."""
        at = self._device(record)
        match record.arguments:
            case (Memory() as memory, int(index), bytes(data)):
                pass
            case _:
                raise CaptureError(f"{entries.WRITE} takes a handle, a subresource and bytes")
        view = at.mapped.get((id(self._find(memory)), index))
        if view is None or len(view) < len(data):
            raise CaptureError(f"{entries.WRITE} where nothing is mapped, or more than is")
        view[: len(data)] = data


def _numbers(record: EntryCalled, count: int) -> list[int]:
    found = [each for each in record.arguments if isinstance(each, int) and 0 <= each < 1 << 63]
    if not len(found) == len(record.arguments) == count:
        raise CaptureError(f"{record.entry} takes {count} numbers")
    return found


_SPECIAL: dict[str, Callable[[Facade, EntryCalled], None]] = {
    entries.CREATE_DEVICE: Facade._create_device,
    entries.DISTURB: Facade._disturb,
    entries.REMOVE: Facade._remove,
    entries.ADVANCE: Facade._advance,
    entries.FINISH: Facade._finish,
    entries.WRITE: Facade._write,
}


def check_codes(record: EntryCalled, replayed: Reply) -> None:
    """Check the codes that a function reported in the replay of an import.

    An import skips draws and waits for nothing, so its results are no standard.  Raises Fault for
    a code that it did not get, except WASSTILLDRAWING.
    """
    for code in replayed.codes:
        if code not in (*record.codes, DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING):
            where = "" if record.call is None else f" of API call {record.call}"
            raise Fault(
                code, f"{record.entry} reported {code:#010x}, but not in the import{where}"
            )


def entry_differences(
    number: int, entry: str, recorded: Reply, replayed: Reply
) -> Iterator[Difference]:
    """Differences between the recorded and the replayed outcome of a function."""
    if recorded.result != replayed.result:
        path, old, new = _first_difference(recorded.result, replayed.result)
        what = f"{entry} returned{path}"
        yield Difference(number, what, _short(repr(old)), _short(repr(new)))
    for what, show in _SHOWN.items():
        old, new = show(recorded), show(replayed)
        if old != new:
            yield Difference(number, f"{entry} {what}", _short(old), _short(new))


def _first_difference(old: Value, new: Value) -> tuple[str, Value, Value]:
    """Where two different values differ first, such as " RowPitch", and the values there."""
    if isinstance(old, bytes) and isinstance(new, bytes) and len(old) == len(new):
        at = next(at for at, pair in enumerate(zip(old, new, strict=True)) if len({*pair}) > 1)
        return f" byte {at}", old[at], new[at]
    pairs = list(zip(_parts(old), _parts(new), strict=False))
    if not pairs or type(old) is not type(new) or len(_parts(old)) != len(_parts(new)):
        return "", old, new
    (name, one), (_, other) = next(pair for pair in pairs if pair[0] != pair[1])
    path, one, other = _first_difference(one, other)
    return f" {name}{path}", one, other


def _parts(value: Value) -> list[tuple[str, Value]]:
    """(name, value) of the elements of a list, and of the members of a structure."""
    if isinstance(value, Structure):
        declared = list(members(value.name))
        known = len(value.members) <= len(declared)
        names = declared if known else list(map(str, range(len(value.members))))
        return [(f"{value.name}.{n}", each) for n, each in zip(names, value.members, strict=False)]
    elements = value if isinstance(value, tuple) else ()
    return [(str(number), each) for number, each in enumerate(elements)]


_SHOWN: dict[str, Callable[[Reply], str]] = {
    "reported": lambda reply: " ".join(f"{code:#010x}" for code in reply.codes),
    "filled in": lambda reply: ", ".join(f"{data.hex(' ')}" for _, data in reply.written),
}
"""Functions that format a member of a ``Reply`` as text, by the verb that a difference is reported
with."""


def _short(text: str) -> str:
    return (text if len(text) <= _LONGEST else text[:_LONGEST] + " ...") or "nothing"


def entry_row(number: int, record: EntryCalled, replayed: Reply, time: int) -> dict[str, Any]:
    """The row of a call in the list ``entries`` of replay JSON."""
    return {
        "entry": number,
        "device": record.device,
        "function": record.entry,
        **({} if record.call is None else {"api_call": record.call}),
        "time": time,
        **_row(replayed),
        "fault": replayed.error.what if replayed.error is not None else None,
        "recorded": _row(Reply.recorded(record)),
    }


def _row(answer: Reply) -> dict[str, Any]:
    return {
        "result": json_of(answer.result),
        "codes": [f"0x{code:08x}" for code in answer.codes],
        "written": [data.hex() for _, data in answer.written],
    }


# Typed arguments


def arguments_of(
    entry: str, function: Callable[..., Any], values: Sequence[Value], find: Find
) -> list[Any]:
    """Recorded values as arguments of the types that a function's annotations name.

    Raises CaptureError for values that do not fit: 32 bits for integers, 64 for runtime handles.
    """
    hints, least, most = _parameters(entry, function)
    if not least <= len(values) <= most:
        raise CaptureError(f"{entry} with {len(values)} arguments")
    hints = hints + hints[-1:] * (len(values) - len(hints))
    named = zip(hints, values, strict=False)
    return [_typed(name, hint, value, find) for (name, hint), value in named]


_Parameters = tuple[list[tuple[str, Any]], int, int]
"""(name, type) of each parameter, least number of arguments, largest number of arguments."""

_PARAMETERS: dict[tuple[str, Any], _Parameters] = {}
"""Parameters of DDI functions by name and code, read at the first call of any replay."""

_hints_of_class = cache(hints_of)


def _parameters(entry: str, function: Callable[..., Any]) -> _Parameters:
    key = entry, plain_function(function).__code__
    found = _PARAMETERS.get(key)
    if found is None:
        found = _PARAMETERS[key] = _read_parameters(function)
    return found


def _read_parameters(function: Callable[..., Any]) -> _Parameters:
    parameters = list(inspect.signature(function).parameters.values())
    hints, variadic = hints_of(function), inspect.Parameter.VAR_POSITIONAL
    open_ended = any(each.kind is variadic for each in parameters)
    required = sum(each.default is each.empty and each.kind is not variadic for each in parameters)
    found = [(each.name, hints.get(each.name, Any)) for each in parameters]
    return found, required, 1 << 10 if open_ended else len(found)


def _typed(name: str, hint: Any, value: Value, find: Find) -> Any:
    """Convert the recorded argument ``name`` to type ``hint``; CaptureError if it does not fit."""
    if hint in (Any, object) or isinstance(hint, TypeVar):
        return value
    if hint is int:
        return _integer(name, value)
    if hint is float and isinstance(value, (int, float)):
        return float(value)
    if hint is bytearray and isinstance(value, (Memory, bytes)):
        return find(value)
    if hint in (bytes, str) and isinstance(value, hint):
        return value
    if get_origin(hint) in (Union, UnionType):
        return _one_of(name, get_args(hint), value, find)
    if isinstance(value, tuple) and get_origin(hint) in (Sequence, tuple, list):
        elements = [_typed(name, get_args(hint)[0], each, find) for each in value]
        return elements if get_origin(hint) is list else tuple(elements)
    if isinstance(value, Structure) and inspect.isclass(hint):
        return _structure(hint, value, find)
    raise CaptureError(f"{name} cannot be {value!r:.60}")


def _integer(name: str, value: Value) -> int:
    highest = (1 << 64) - 1 if name == _HANDLE else _HIGHEST
    if not isinstance(value, int) or not _LOWEST <= value <= highest:
        raise CaptureError(f"{name} cannot be {value!r:.60}")
    return value


def _one_of(name: str, choices: tuple[Any, ...], value: Value, find: Find) -> Any:
    if value is None and NoneType in choices:
        return None
    kinds = [each for each in choices if each is not NoneType]
    if isinstance(value, Structure):
        kinds = [each for each in kinds if getattr(each, "__name__", "") == value.name]
    if len(kinds) != 1:
        raise CaptureError(f"{name} cannot be {value!r:.60}")
    return _typed(name, kinds[0], value, find)


def _structure(kind: Any, value: Structure, find: Find) -> Any:
    """Convert a recorded structure to type ``kind``; members with a default may be missing."""
    names = _members(kind)
    if value.name != kind.__name__ or not names:
        raise CaptureError(f"{value.name} in the place of {kind.__name__}")
    required = sum(not default for default in names.values())
    if not required <= len(value.members) <= len(names):
        raise CaptureError(f"{value.name} with {len(value.members)} members")
    hints = _hints_of_class(kind)
    pairs = zip(names, value.members, strict=False)
    return kind(*(_typed(name, hints[name], member, find) for name, member in pairs))


@cache
def _members(kind: Any) -> dict[str, bool]:
    """Whether a member has a default, by name, for the members of structure ``kind`` in order."""
    names = getattr(kind, "__match_args__", ())
    if issubclass(kind, msgspec.Struct):
        required = len(names) - len(kind.__struct_defaults__)
        return {name: at >= required for at, name in enumerate(names)}
    return {name: name in kind._field_defaults for name in names}
