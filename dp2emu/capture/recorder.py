"""Recording what is called of the Direct3D 10/11 interface.

``Recorder`` stands in for an adapter: whoever uses it calls what it hands out, and every function
that came back, or failed, becomes a record.  Memory of the runtime's gets a number when an object
is made in it, which it has until the object is destroyed.  Other memory is there to be filled, and
is told by the bytes in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

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
    value_of,
)
from dp2emu.capture.records import TIMING, Annotation, EntryCalled, Record
from dp2emu.capture.values import Structure, Value
from dp2emu.ddi10.adapter import Adapter, Cause
from dp2emu.ddi10.device import Device
from dp2emu.ddi10.resources.maps import MappedSubresource
from dp2emu.ddi10.resources.residency import QueryResidencyCb
from dp2emu.errors import Dp2Error


class Recorder:
    """An adapter whose calls go to ``record``, behind the name of its timing model.

    Mutable: it counts devices and memory.
    """

    def __init__(self, adapter: Adapter, record: Callable[[Record], None]) -> None:
        self._adapter = adapter
        self._record = record
        self._devices = 0
        self.memories = Memories()
        self.put(Annotation(TIMING, adapter.gpu.timing.name))

    def create_device(
        self,
        interface: int,
        set_error: Callable[[int, int], None],
        core_layer: int = 0,
        query_residency: QueryResidencyCb | None = None,
    ) -> RecordedDevice:
        """CreateDevice.

        What pfnQueryResidencyCb answers is not recorded: a replay has the GPU's own bookkeeping.
        """
        codes: list[int] = []

        def report(layer: int, code: int) -> None:
            codes.append(int(code))
            set_error(layer, code)

        device = self._adapter.create_device(interface, report, core_layer, query_residency)
        self._devices += 1
        self.put(EntryCalled(0, int(interface), CREATE_DEVICE, (self._devices,)))
        return RecordedDevice(self, device, self._devices, codes)

    def disturb(self, cause: Cause) -> None:
        """``Adapter.disturb``."""
        self._adapter.disturb(cause)
        self.put(EntryCalled(0, 0, DISTURB, (cause.value,)))

    def remove(self, after: int = 0) -> None:
        """``Adapter.remove``."""
        self._adapter.remove(after)
        self.put(EntryCalled(0, 0, REMOVE, (after,)))

    def advance(self, ticks: int) -> None:
        """``Adapter.advance``."""
        self._adapter.advance(ticks)
        self.put(EntryCalled(0, 0, ADVANCE, (ticks,)))

    def finish(self) -> None:
        """``Adapter.finish``."""
        self._adapter.finish()
        self.put(EntryCalled(0, 0, FINISH))

    def put(self, record: Record) -> None:
        """Record something else, in its place among the calls."""
        self._record(record)

    @property
    def time(self) -> int:
        """Now, in ticks."""
        return self._adapter.gpu.now


class RecordedDevice:
    """A device whose functions are recorded.  Mutable: it remembers what is mapped."""

    def __init__(self, recorder: Recorder, device: Device, number: int, codes: list[int]) -> None:
        self.device = device
        self._recorder = recorder
        self._memories = recorder.memories
        self._number = number
        self._codes = codes
        self._mapped: dict[tuple[int, int], memoryview] = {}
        self.functions = self._wrapped(device.functions, "")
        self.dxgi_functions = self._wrapped(device.dxgi_functions, DXGI)

    def _wrapped(
        self, functions: Mapping[str, Callable[..., Any]], table: str
    ) -> Mapping[str, Callable[..., Any]]:
        return MappingProxyType(
            {name: partial(self._call, table + name, call) for name, call in functions.items()}
        )

    def _call(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function and record it, whatever it raises."""
        if unmaps(name):
            self._tell_writes(*arguments)
        making = makes(name)
        fresh = [each for each in memories(arguments) if not self._memories.has(each)]
        before = [] if making else [bytes(each) for each in fresh]
        given = self._value(arguments, making)
        self._codes.clear()
        found, result = None, None
        try:
            found = function(*arguments)
            result = filled(result_of(name, found, self._memories.number), given, arguments)
        except Dp2Error as error:
            result = Structure(RAISED, (type(error).__name__,))
            raise
        finally:
            changed = enumerate(zip(before, map(bytes, fresh), strict=False))
            written = tuple((place, new) for place, (old, new) in changed if old != new)
            self._put(name, given, result, written)
            self._keep(name, arguments, fresh, found)
        return found

    def _put(
        self,
        name: str,
        given: tuple[Value, ...],
        result: Value = None,
        written: tuple[tuple[int, bytes], ...] = (),
    ) -> None:
        interface, codes = int(self.device.interface), tuple(self._codes)
        self._recorder.put(
            EntryCalled(
                self._number, interface, name, given, result, codes, written, self._recorder.time
            )
        )

    def _keep(self, name: str, arguments: Any, fresh: list[bytearray], found: Any) -> None:
        """Which memory has its number from now on, and what is mapped."""
        if makes(name) and self._codes:
            self._memories.forget(fresh)
        if ends(name):
            self._memories.forget(memories(arguments))
        if isinstance(found, MappedSubresource) and not found.pData.readonly:
            self._mapped[id(arguments[0]), arguments[1]] = found.pData

    def _tell_writes(self, memory: bytearray, subresource: int) -> None:
        """Before something is unmapped: what the host left there."""
        view = self._mapped.pop((id(memory), subresource), None)
        if view is not None:
            self._codes.clear()
            self._put(WRITE, self._value((memory, subresource, bytes(view)), making=False))

    def _value(self, arguments: tuple[Any, ...], making: bool) -> tuple[Value, ...]:
        number = self._memories.claim if making else self._memories.number
        return tuple(value_of(each, number) for each in arguments)


class Memories:
    """Memory of the runtime's by number.  Mutable: objects come and go."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[bytearray, int]] = {}
        self._count = 0

    def has(self, memory: bytearray) -> bool:
        """Whether it has a number."""
        return id(memory) in self._known

    def number(self, memory: bytearray) -> int | None:
        """Its number, None if it has none."""
        return self._known[id(memory)][1] if self.has(memory) else None

    def claim(self, memory: bytearray) -> int:
        """Its number; memory that has none gets one."""
        if not self.has(memory):
            self._count += 1
            self._known[id(memory)] = memory, self._count
        return self._known[id(memory)][1]

    def forget(self, gone: Iterable[bytearray]) -> None:
        """Some memory is something else from now on."""
        for memory in gone:
            self._known.pop(id(memory), None)
