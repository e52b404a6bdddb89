"""The Direct3D 10/11 interface in a replay: its calls performed again, on the replay's GPU.

What differs from what was recorded are results, codes given to pfnSetErrorCb, and bytes the driver
put into memory of the runtime's.  A number that a driver does not read is as good as any, so that
what another build takes for an object may need more or less memory; a replay asks its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from dp2emu.capture.entry_values import (
    ADVANCE,
    CREATE_DEVICE,
    DISTURB,
    DXGI,
    FINISH,
    RAISED,
    REMOVE,
    WRITE,
    ends,
    filled,
    makes,
    memories,
    result_of,
    unmaps,
)
from dp2emu.capture.records import EntryCalled
from dp2emu.capture.values import Memory, Structure, Value, json_of
from dp2emu.ddi10.adapter import Adapter, Cause, Disturbance
from dp2emu.ddi10.device import Device
from dp2emu.ddi10.resources.maps import MappedSubresource
from dp2emu.errors import CaptureError, Dp2Error
from dp2emu.gpu.command.packets import Observe
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.resource.heap import Surface, SurfaceDesc
from dp2emu.replay.compare import Difference
from dp2emu.replay.typed import arguments_of

MEMORY_BYTES = 1 << 16
"""Memory of the runtime's that a capture may make an object in."""
DEVICES = 64
_LONGEST = 60
"""Characters of a difference."""
PRESENT = f"{DXGI}Present"

_IMPOSSIBLE = (TypeError, ValueError, LookupError, OverflowError, AttributeError)
"""What a function fails with that is given what no runtime gives it."""


class Reply(msgspec.Struct, frozen=True):
    """What came of a call: what the capture has of one, and what it failed with."""

    result: Value = None
    codes: tuple[int, ...] = ()
    written: tuple[tuple[int, bytes], ...] = ()
    error: Dp2Error | None = None

    @classmethod
    def recorded(cls, record: EntryCalled) -> Reply:
        """That in a capture."""
        return cls(record.result, record.codes, record.written)

    def failed_as(self, recorded: Reply) -> bool:
        """Whether it failed for the reason it was recorded with."""
        return self.error is not None and self.result == recorded.result


class _Device(msgspec.Struct, eq=False):
    """A device of a replay.  Mutable: it collects codes, and what is mapped to be written."""

    device: Device
    codes: list[int]
    mapped: dict[tuple[int, int], memoryview] = msgspec.field(default_factory=dict)


class Facade:
    """An adapter with its devices, driven by records.  Mutable: they act on it."""

    def __init__(self, gpu: Gpu) -> None:
        self.adapter = Adapter(gpu)
        self._devices: dict[int, _Device] = {}
        self._memory: dict[int, bytearray] = {}
        self._made: dict[int, bytearray] = {}
        self._filled: list[bytearray] = []
        self._surfaces: dict[int, Surface] = {}

    @property
    def disturbances(self) -> list[Disturbance]:
        """What happened to the clock, in order."""
        return self.adapter.disturbances

    def perform(self, record: EntryCalled) -> Reply:
        """Call what a record says.  Nothing is raised: a failure is part of the answer."""
        self._made, self._filled = {}, []
        try:
            special = _SPECIAL.get(record.entry)
            if special is not None:
                special(self, record)
                return Reply()
            return self._call(record, self._device(record))
        except Dp2Error as error:
            return Reply(Structure(RAISED, (type(error).__name__,)), error=error)

    def finish(self) -> None:
        """The capture has ended: what was recorded is flushed, and the GPU done with it."""
        for each in self._devices.values():
            if not each.device.destroyed:
                each.device.functions["Flush"]()
        self.adapter.finish()

    def devices(self) -> list[int]:
        """Numbers of the devices there are."""
        return [number for number, each in self._devices.items() if not each.device.destroyed]

    # Pictures, as ``Observable``: a device is a context, and a surface's handle its serial number

    def shown(self, number: int) -> int:
        """What a device has on the screen, 0 for nothing."""
        return self._keep(self._devices[number].device.shown)

    def target(self, context: int) -> int:
        """What a device draws to first, 0 for nothing."""
        at = self._devices.get(context)
        return self._keep(at.device.target) if at is not None else 0

    def recent_targets(self, context: int) -> tuple[int, ...]:
        """The same; others are not followed."""
        return tuple(filter(None, [self.target(context)]))

    def surface(self, handle: int) -> SurfaceDesc:
        """The description of a surface that was shown or drawn to."""
        return self._surfaces[handle].desc

    def observe(self, handle: int, sink: Callable[[Surface], None]) -> None:
        """Show a surface to ``sink`` when all work submitted so far is done."""
        self.adapter.gpu.submit(Observe(self._surfaces[handle], sink))

    def _keep(self, surface: Surface | None) -> int:
        if surface is None:
            return 0
        self._surfaces[surface.serial] = surface
        return surface.serial

    # Calls

    def _device(self, record: EntryCalled) -> _Device:
        found = self._devices.get(record.device)
        if found is None:
            raise CaptureError(f"{record.entry} of device {record.device}, of which there is none")
        return found

    def _call(self, record: EntryCalled, at: _Device) -> Reply:
        entry = record.entry
        table = at.device.dxgi_functions if entry.startswith(DXGI) else at.device.functions
        built = at.device.dxgi_entries if entry.startswith(DXGI) else at.device.entries
        name = entry.removeprefix(DXGI)
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
        result = filled(result_of(name, found, _unnumbered), record.arguments, typed)
        return Reply(result, tuple(at.codes), written)

    def _note(self, name: str, at: _Device, typed: Any, found: Any) -> None:
        """Objects that came or went, and memory that is mapped."""
        if makes(name) and not at.codes:
            self._memory |= self._made
        if ends(name):
            gone = {id(memory) for memory in memories(list(typed))}
            self._memory = {n: m for n, m in self._memory.items() if id(m) not in gone}
        if isinstance(found, MappedSubresource) and not found.pData.readonly:
            at.mapped[id(typed[0]), typed[1]] = found.pData
        if unmaps(name):
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

    # What is no function of a device

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
        """The host stores into what it has mapped."""
        at, given = self._device(record), record.arguments
        kinds = [type(each) for each in given]
        if kinds != [Memory, int, bytes]:
            raise CaptureError(f"{WRITE} takes a handle, a subresource and bytes")
        memory, index, data = given
        assert isinstance(memory, Memory)
        assert isinstance(index, int)
        assert isinstance(data, bytes)
        view = at.mapped.get((id(self._find(memory)), index))
        if view is None or len(view) < len(data):
            raise CaptureError(f"{WRITE} where nothing is mapped, or more than is")
        view[: len(data)] = data


def _unnumbered(memory: bytearray) -> None:
    """Functions return no memory of the runtime's that has a number."""


def _numbers(record: EntryCalled, count: int) -> list[int]:
    found = [each for each in record.arguments if isinstance(each, int) and 0 <= each < 1 << 63]
    if not len(found) == len(record.arguments) == count:
        raise CaptureError(f"{record.entry} takes {count} numbers")
    return found


_SPECIAL: dict[str, Callable[[Facade, EntryCalled], None]] = {
    CREATE_DEVICE: Facade._create_device,
    DISTURB: Facade._disturb,
    REMOVE: Facade._remove,
    ADVANCE: Facade._advance,
    FINISH: Facade._finish,
    WRITE: Facade._write,
}


def entry_differences(
    number: int, entry: str, recorded: Reply, replayed: Reply
) -> Iterator[Difference]:
    """What differs between two answers of a function."""
    for what, show in _SHOWN.items():
        old, new = show(recorded), show(replayed)
        if old != new:
            yield Difference(number, f"{entry} {what}", _short(old), _short(new))


_SHOWN: dict[str, Callable[[Reply], str]] = {
    "returned": lambda reply: repr(reply.result),
    "reported": lambda reply: " ".join(f"{code:#010x}" for code in reply.codes),
    "filled in": lambda reply: ", ".join(f"{data.hex(' ')}" for _, data in reply.written),
}
"""What an answer has, for reading."""


def _short(text: str) -> str:
    return (text if len(text) <= _LONGEST else text[:_LONGEST] + " ...") or "nothing"


def entry_row(number: int, record: EntryCalled, replayed: Reply, time: int) -> dict[str, Any]:
    """The row of ``entries`` in the document."""
    return {
        "entry": number,
        "device": record.device,
        "function": record.entry,
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
