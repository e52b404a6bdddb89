"""The traced program, and the table of methods: the action for each function of the interfaces."""

from __future__ import annotations

import re
import struct
from collections import deque
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from dp2emu.capture.api_calls import HOST_EVENTS
from dp2emu.capture.apitrace import TraceCall
from dp2emu.capture.entry_values import RAISED
from dp2emu.capture.records import API_CALL, Annotation, EntryCalled, Record
from dp2emu.capture.values import Structure
from dp2emu.errors import Dp2Error
from dp2emu.gpu.device.gpu import DRAWING, Gpu
from dp2emu.retrace.arguments import Arguments, Objects
from dp2emu.retrace.locks import Locks
from dp2emu.retrace.losses import Inexpressible, Losses
from dp2emu.retrace.open_maps import OpenMaps
from dp2emu.rig.interface import Rig
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.session import Numbers

if TYPE_CHECKING:
    from dp2emu.capture.recorder import Recorder
    from dp2emu.runtime10.device import Device

Action = Callable[["Program", Arguments], None]
Reader = tuple[Callable[[Arguments, str], Any], str]
"""A pair: a function that takes a traced call and an argument's name and returns the argument's
value, and that name."""


class Method(msgspec.Struct, frozen=True):
    """A function of the traced interfaces: its name, the action that imports a call of it (None if
    it sends nothing to the driver), and a description.

    Calls that failed in the program are skipped, since they had no effect, unless the method is
    ``failing``.
    """

    name: str
    act: Action | None
    says: str
    failing: bool = False


METHODS: dict[str, Method] = {}
"""The functions of traces that the imported tables know, by ``Interface::Method`` for methods and
by name for others."""
_LATER = "dp2emu.retrace.d3d11"
"""The tables of Direct3D 10 and 11.  They are imported when a trace has a function that the others
do not know, because they need the other half of the package."""

NO_EFFECT = "Has no effect on the driver."
UNCHANGED = "Changes nothing that is drawn."


def add(interfaces: str, names: str, act: Action | None, says: str, failing: bool = False) -> None:
    """Add a ``Method`` to ``METHODS`` for each pair of interface and name, both separated by
    spaces; ``interfaces`` is empty for plain functions.
    """
    for name in names.split():
        for full in [f"{interface}::{name}" for interface in interfaces.split()] or [name]:
            assert full not in METHODS, f"{full} has two rows"
            METHODS[full] = Method(full, act, says, failing)


def method(interfaces: str, names: str, *, failing: bool = False) -> Callable[[Action], Action]:
    """Decorator that registers the action of methods; its docstring is their description.  With
    ``failing`` it is performed for calls that failed, too.
    """

    def register(act: Action) -> Action:
        add(interfaces, names, act, said_by(act), failing)
        return act

    return register


def said_by(act: Callable[..., object]) -> str:
    """An action's docstring in one line."""
    return " ".join((act.__doc__ or "").split())


def forward(
    interfaces: str,
    names: str,
    says: str,
    find: Callable[[Arguments], Callable[..., object]],
    *readers: Reader,
) -> None:
    """Register methods whose action calls the function that ``find`` returns with the arguments
    that ``readers`` read.
    """

    def act(program: Program, call: Arguments) -> None:
        find(call)(*[read(call, name) for read, name in readers])

    add(interfaces, names, act, says)


def method_of(
    find: Callable[[Arguments], object], name: str
) -> Callable[[Arguments], Callable[..., object]]:
    """A function that takes a traced call, and returns the method ``name`` of the object that
    ``find(call)`` returns; for use with ``forward``.
    """

    def bound(call: Arguments) -> Callable[..., object]:
        found: Callable[..., object] = getattr(find(call), name)
        return found

    return bound


def inert(interfaces: str, names: str, says: str) -> None:
    """Register methods that send nothing to the driver; ``says`` tells why."""
    add(interfaces, names, None, says)


def lost(interfaces: str, names: str, reason: str) -> None:
    """Register methods that cannot be expressed: every call is a loss."""

    def lose(program: Program, call: Arguments) -> None:
        raise Inexpressible(reason)

    add(interfaces, names, lose, f"A loss: {reason}.")


_TOOLS = "Passes a remark to tools; nothing for the driver."

inert("", "malloc free realloc", "Manages memory of the program.")
inert("", "D3DPERF_BeginEvent D3DPERF_EndEvent D3DPERF_SetMarker D3DPERF_SetRegion", _TOOLS)
inert("", "D3DPERF_QueryRepeatFrame D3DPERF_SetOptions D3DPERF_GetStatus", _TOOLS)
inert("", "DebugSetMute DebugSetLevel", _TOOLS)


@method("", "memcpy")
def store(program: Program, call: Arguments) -> None:
    """Keeps the bytes that the program stored in locked memory, until Unlock writes them."""
    address, data = call.address("dest"), call.blob("src")
    if not program.locks.store(address, data) and not program.maps.store(address, data):
        raise Inexpressible("memory that is not locked")


_VERSIONED = re.compile(r"(ID3D1[01]\w*?[a-zDV]|IDXGI\w*?)\d*::")
"""Interfaces of Direct3D 10, 11 and DXGI, whose later versions end in a number."""


def all_methods() -> dict[str, Method]:
    """``METHODS`` with all tables."""
    import_module(_LATER)
    return METHODS


def row_of(name: str) -> Method | None:
    """The row of a traced function, None if it is not known; a method of Direct3D 10, 11 and DXGI
    has the row of the interface's first version.
    """
    return METHODS.get(name) or _row_of_version(name)


@lru_cache(maxsize=4096)
def _row_of_version(name: str) -> Method | None:
    methods = all_methods()
    return methods.get(name) or methods.get(_VERSIONED.sub(r"\1::", name, count=1))


class Waiter(Protocol):
    """Calls that are held back until one of them tells what the first one needs."""

    def take(self, call: TraceCall) -> list[TraceCall]:
        """Hold a call back; returns the calls to make now, in order."""

    def end(self) -> list[TraceCall]:
        """The calls to make at the end of the trace."""


_SENSELESS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error)
"""Exceptions by which a method's import fails on senseless values of a damaged trace; the call
then counts as a loss."""


class Program:
    """The traced program: its objects by address, and the rig on which its calls are made again.
    Mutable.

    ``record`` is called with all events.  All sessions share the counters ``numbers``, so that
    devices do not share handles or contexts.  The functions ``endings`` submit the devices'
    remaining commands at the end of the trace.  ``handles`` has objects that the program names by
    a number, by (kind, number).  While there is a ``waiter``, it holds calls back.
    """

    def __init__(self, rig: Rig, record: Callable[[Record], None]) -> None:
        self.rig = rig
        self._write = record
        self._noted: int | None = None
        self.objects = Objects()
        self.locks = Locks()
        self.losses = Losses()
        self.numbers = Numbers()
        self.numbers.api_call = 0
        self.endings: list[Callable[[], object]] = []
        self._last = 0
        self.handles: dict[tuple[str, int], object] = {}
        self.maps = OpenMaps()
        self.devices: list[Device] = []
        self._recorder: Recorder | None = None
        self._frames = 0
        self.waiter: Waiter | None = None

    @property
    def recorder(self) -> Recorder:
        """The adapter of Direct3D 10/11 devices, whose calls become records.  Its GPU skips
        drawing.
        """
        if self._recorder is None:
            from dp2emu.capture.recorder import Recorder
            from dp2emu.ddi10.adapter import Adapter

            adapter = Adapter(Gpu())
            adapter.gpu.skipped = DRAWING
            self._recorder = Recorder(adapter, self._record_entry, contents=False)
            self._recorder.call = self._last
        return self._recorder

    def _record_entry(self, record: Record) -> None:
        """Pass on a record, unless it is a call that the driver refused, which has no effect."""
        if type(record) is not EntryCalled:
            self.record(record)
        elif type(record.result) is not Structure or record.result.name != RAISED:
            self._write(record)

    def record(self, record: Record) -> None:
        """Pass on a record, after an annotation with the number of the API call that led to it if
        it has none of its own.
        """
        if type(record) in HOST_EVENTS and self._noted != self._last:
            self._noted = self._last
            time: int = record.time  # type: ignore[union-attr]  # each host event has one
            self._write(Annotation(API_CALL, str(self._last), time))
        self._write(record)

    def next_frame(self) -> int:
        """The number of the frame that ends now, counted from 0."""
        self._frames += 1
        return self._frames - 1

    @cached_property
    def ddraw(self) -> DirectDraw:
        """The DirectDraw runtime, a single one for all DirectDraw objects of the program."""
        made = DirectDraw(self.rig, record=self.record, numbers=self.numbers, answers=False)
        self.endings.append(made.settle)
        return made

    def play(self, call: TraceCall) -> None:
        """Perform the action that imports a call; without one, or if it fails, record a loss."""
        if self.waiter is None:
            self._perform(call)
        else:
            self._perform_all([call])

    def _perform_all(self, calls: Iterable[TraceCall]) -> None:
        """Import calls, less those that are held back."""
        rest = deque(calls)
        while rest:
            call = rest.popleft()
            if self.waiter is None:
                self._perform(call)
            else:
                rest.extendleft(reversed(self.waiter.take(call)))

    def _perform(self, call: TraceCall) -> None:
        self._last = self.numbers.api_call = call.number
        row = row_of(call.function.name)
        if row is None:
            self.losses.add(call.number, call.name, "not a function that is known")
            return
        if row.act is None:
            return
        arguments = Arguments(call, self.objects)
        if self._recorder is not None:
            self._recorder.call = call.number
        if not row.failing and arguments.failed:
            return
        if not call.finished:
            self.losses.add(call.number, call.name, "the trace does not tell how it ended")
            return
        try:
            row.act(self, arguments)
        except Dp2Error as error:
            self.losses.add(call.number, call.name, str(error))
        except _SENSELESS as error:
            reason = f"values that make no sense there: {type(error).__name__}: {error}"
            self.losses.add(call.number, call.name, reason)

    def end(self) -> None:
        """Submit the remaining commands at the end of the trace."""
        while self.waiter is not None:
            self._perform_all(self.waiter.end())
        for ending in self.endings:
            try:
                ending()
            except Dp2Error as error:
                self.losses.add(self._last, "the end of the trace", str(error))
