"""A recorder of calls of the Direct3D 10/11 interface.

``Recorder`` is a proxy for an adapter, whose devices record every function that returns or fails.
A block of the runtime's memory has a number from the creation of an object in it until the object
is destroyed.  Other memory is an output buffer, recorded as its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from dp2emu.capture import entry_values as entries
from dp2emu.capture.records import TIMING, Annotation, EntryCalled, Record
from dp2emu.capture.values import Memory, Structure, Value
from dp2emu.ddi10.adapter import Adapter, Cause
from dp2emu.ddi10.device import Device
from dp2emu.ddi10.resources.maps import MappedSubresource
from dp2emu.ddi10.resources.residency import QueryResidencyCb
from dp2emu.errors import Dp2Error


class Recorder:
    """A proxy of an adapter that passes a record of each of its calls to ``record``.

    The first record is an annotation with the name of the adapter's timing model.  ``call`` may be
    set to the number of the program's API call that the next calls carry out; ``gpu`` is the
    adapter's, whose time records have.  Without
    ``contents``, for a GPU that skips drawing, maps for reading are recorded without the mapped
    bytes.  Mutable: it counts devices and blocks of memory.
    """

    def __init__(
        self, adapter: Adapter, record: Callable[[Record], None], *, contents: bool = True
    ) -> None:
        self._adapter = adapter
        self.record = record
        self._devices = 0
        self.call: int | None = None
        self.contents = contents
        self.memories = Memories()
        self.gpu = adapter.gpu
        self.put(Annotation(TIMING, adapter.gpu.timing.name))

    def create_device(
        self,
        interface: int,
        set_error: Callable[[int, int], None],
        core_layer: int = 0,
        query_residency: QueryResidencyCb | None = None,
    ) -> RecordedDevice:
        """CreateDevice.

        Answers of pfnQueryResidencyCb are not recorded: a replay asks its GPU's memory manager.
        """
        codes: list[int] = []

        def report(layer: int, code: int) -> None:
            codes.append(int(code))
            set_error(layer, code)

        device = self._adapter.create_device(interface, report, core_layer, query_residency)
        self._devices += 1
        self._own(entries.CREATE_DEVICE, self._devices, interface=int(interface))
        return RecordedDevice(self, device, self._devices, codes)

    def get_caps(self, type: int, data: bytearray) -> int:
        """GetCaps, which is not recorded: it changes nothing."""
        return self._adapter.get_caps(type, data)

    def disturb(self, cause: Cause) -> None:
        """Disturb the clock now, as ``Adapter.disturb`` does, and record that."""
        self._adapter.disturb(cause)
        self._own(entries.DISTURB, cause.value)

    def remove(self, after: int = 0) -> None:
        """Remove the adapter ``after`` that many more DDI calls, and record that."""
        self._adapter.remove(after)
        self._own(entries.REMOVE, after)

    def advance(self, ticks: int) -> None:
        """Advance host time by ``ticks`` of 1 ns, and record that."""
        self._adapter.advance(ticks)
        self._own(entries.ADVANCE, ticks)

    def finish(self) -> None:
        """Advance time until the GPU has executed and reported all work, and record that."""
        self._adapter.finish()
        self._own(entries.FINISH)

    def _own(self, entry: str, *arguments: Value, interface: int = 0) -> None:
        """Record a function of the adapter itself."""
        self.put(EntryCalled(0, interface, entry, arguments, call=self.call))

    def put(self, record: Record) -> None:
        """Pass a record of any type to the callback, between the records of calls."""
        self.record(record)


class RecordedDevice:
    """A proxy of a device that records all calls.  Mutable: it tracks mapped memory."""

    def __init__(self, recorder: Recorder, device: Device, number: int, codes: list[int]) -> None:
        self.device = device
        self._recorder = recorder
        self._memories = recorder.memories
        self._number = number
        self._interface = int(device.interface)
        self._codes = codes
        self._mapped: dict[tuple[int, int], memoryview] = {}
        self.functions = self._wrapped(device.functions, "")
        self.dxgi_functions = self._wrapped(device.dxgi_functions, entries.DXGI)

    def kernel_handle(self, resource: bytearray) -> int:
        """The kernel handle of a shared resource, 0 if it is not shared."""
        return self.device.kernel_handle(resource)

    def _wrapped(
        self, functions: Mapping[str, Callable[..., Any]], table: str
    ) -> Mapping[str, Callable[..., Any]]:
        return MappingProxyType(
            {
                name: partial(self._call, _Function(table + name), call)
                for name, call in functions.items()
            }
        )

    def _call(self, of: _Function, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``function``; record that under its name even if it raises.  Returns its result."""
        name = of.name
        if of.unmaps:
            self._record_writes(*arguments)
        fresh: Sequence[bytearray] = ()
        before: Sequence[bytes] = ()
        given = self._memories.values(arguments)
        if given is None:
            known = self._memories.known
            fresh = [each for each in entries.memories(arguments) if id(each) not in known]
            before = [] if of.makes else [bytes(each) for each in fresh]
            given = self._value(arguments, of.makes)
        self._codes.clear()
        found, result = None, None
        try:
            found = function(*arguments)
            if found is not None:
                number, contents = self._memories.number, self._recorder.contents
                result = entries.result_of(name, found, number, contents=contents)
            if not entries.FIXED.issuperset(map(type, arguments)):
                result = entries.filled(result, given, arguments)
        except Dp2Error as error:
            result = Structure(entries.RAISED, (type(error).__name__,))
            raise
        finally:
            self._put(name, given, result, _written(before, fresh) if before else ())
            if of.tracked or found is not None:
                self._track(of, arguments, fresh, found)
        return found

    def _put(
        self,
        name: str,
        given: tuple[Value, ...],
        result: Value = None,
        written: tuple[tuple[int, bytes], ...] = (),
    ) -> None:
        recorder = self._recorder
        recorder.record(
            EntryCalled(
                self._number, self._interface, name, given, result, tuple(self._codes), written,
                recorder.gpu.now, recorder.call,
            )
        )  # fmt: skip

    def _track(
        self, of: _Function, arguments: Any, fresh: Sequence[bytearray], found: Any
    ) -> None:
        """Update which memory is numbered and which is mapped, after a call."""
        if of.makes and self._codes:
            self._memories.forget(fresh)
        if of.ends:
            self._memories.forget(entries.memories(arguments))
        if found is not None and isinstance(found, MappedSubresource) and not found.pData.readonly:
            self._mapped[id(arguments[0]), arguments[1]] = found.pData

    def _record_writes(self, memory: bytearray, subresource: int) -> None:
        """Record the bytes that the host wrote to a mapped subresource, just before Unmap."""
        view = self._mapped.pop((id(memory), subresource), None)
        if view is not None:
            self._codes.clear()
            self._put(entries.WRITE, self._value((memory, subresource, bytes(view)), making=False))

    def _value(self, arguments: tuple[Any, ...], making: bool) -> tuple[Value, ...]:
        number = self._memories.claim if making else self._memories.number
        return tuple([entries.value_of(each, number) for each in arguments])


def _written(before: Sequence[bytes], now: Sequence[bytearray]) -> tuple[tuple[int, bytes], ...]:
    """The index and the new bytes of each block that changed."""
    changed = enumerate(zip(before, map(bytes, now), strict=True))
    return tuple((place, new) for place, (old, new) in changed if old != new)


class _Function:
    """What a function does with memory, by its ``name`` in captures."""

    __slots__ = ("ends", "makes", "name", "tracked", "unmaps")

    def __init__(self, name: str) -> None:
        self.name = name
        self.makes, self.ends = entries.makes(name), entries.ends(name)
        self.unmaps = entries.unmaps(name)
        self.tracked = self.makes or self.ends


class Memories:
    """Numbers of the memory blocks of driver objects, by which a capture refers to them.

    Mutable: a block has a number from the creation of an object in it to its destruction;
    ``known`` has the blocks and their numbers, by identity.
    """

    def __init__(self) -> None:
        self.known: dict[int, tuple[bytearray, Memory]] = {}
        self._count = 0

    def values(self, arguments: Sequence[Any]) -> tuple[Value, ...] | None:
        """The values of arguments that are numbers, bytes, blocks with a number, and tuples of
        these; None if there are others.
        """
        found: list[Value] = []
        known, unchanged = self.known, entries.UNCHANGED
        for each in arguments:
            kind = type(each)
            if kind in unchanged:
                found.append(each)
            elif kind is bytearray:
                block = known.get(id(each))
                if block is None:
                    return None
                found.append(block[1])
            elif kind is tuple and (inner := self.values(each)) is not None:
                found.append(inner)
            else:
                return None
        return tuple(found)

    def number(self, memory: bytearray) -> int | None:
        """The number of a block, None if it has none."""
        found = self.known.get(id(memory))
        return None if found is None else found[1].number

    def claim(self, memory: bytearray) -> int:
        """The number of a block, a new one if it has none."""
        if id(memory) not in self.known:
            self._count += 1
            self.known[id(memory)] = memory, Memory(self._count, len(memory))
        return self.known[id(memory)][1].number

    def forget(self, gone: Iterable[bytearray]) -> None:
        """Remove the numbers of blocks whose objects were destroyed."""
        for memory in gone:
            self.known.pop(id(memory), None)
