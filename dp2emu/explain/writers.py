"""The last writers and the readers of a range of bytes of a resource.

A byte's last writer is the last event that changed it, found by comparison of the memory before
and after each event, or that is declared to store it whatever was there (``accesses``).  A draw or
dispatch that stored the value that was there is no writer.  Bytes that change between events, by a
lock or by the driver, are written by the host.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.argument_check import checked
from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.dp2.options import Options
from dp2emu.errors import Absent, Dp2Error, Exceeded, UsageError
from dp2emu.explain.accesses import Access, Span, accesses_of, overlaps, root_of
from dp2emu.explain.address import Address, find, matches
from dp2emu.explain.events import Event, Origin, written_surfaces
from dp2emu.explain.playback import Observer, Stage, play
from dp2emu.gpu.command.packets import Packet
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.resource.heap import Surface
from dp2emu.replay import Watcher
from dp2emu.replay.player import Recording

_RESOURCE = re.compile(r"(object:|resource )?([0-9]{1,18})")
_RANGE = re.compile(r"(0x[0-9a-fA-F]{1,16}|[0-9]{1,18})(?:-(0x[0-9a-fA-F]{1,16}|[0-9]{1,18})?)?")

NO_WRITER = -1

_OPEN = 1 << 62
"""The end of a range that ends with the resource."""

RUNS = 1 << 20
"""Maximum number of ranges of bytes in an answer."""

_PIECE = 1 << 20
"""Number of bytes that are compared at once."""


class Resource(msgspec.Struct, frozen=True):
    """A resource by the handle that ``events`` lists among targets, or with ``is_object`` by the
    number of its object in a capture of Direct3D 10/11.
    """

    number: int
    is_object: bool = False

    def __str__(self) -> str:
        return f"{'object' if self.is_object else 'surface'} {self.number}"


@checked
def parse_resource(text: str) -> Resource:
    """The resource that a text such as ``3``, ``object:12`` or ``resource 12`` means, the last two
    the same.  Raises UsageError for another text.
    """
    found = _RESOURCE.fullmatch(text)
    if found is None:
        raise UsageError(f"expected a handle such as 3, or object:12, got {text!r:.60}")
    return Resource(int(found[2]), found[1] is not None)


@checked
def parse_range(text: str) -> Span:
    """The bytes that a text such as ``64-127``, ``64-`` or ``64`` means, the last one included.

    Raises UsageError for another text, and for a range without bytes.
    """
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UsageError(f"expected a range of bytes such as 64-127, 64- or 64, got {text!r:.60}")
    first = int(found[1], 0)
    if "-" not in text:
        return first, first + 1
    end = _OPEN if found[2] is None else int(found[2], 0) + 1
    if end <= first:
        raise UsageError(f"{text} is no range: its end is before its begin")
    return first, end


class Writer(msgspec.Struct, frozen=True):
    """An event that was the last to write bytes; ``event`` is None for the host between events.

    ``runs`` are the ranges of these bytes in order, ``count`` their number of bytes.
    """

    event: Event | None
    runs: tuple[Span, ...]

    @property
    def count(self) -> int:
        """The number of bytes."""
        return sum(end - start for start, end in self.runs)


class Reader(msgspec.Struct, frozen=True):
    """An event that may read bytes of the range, with the binding and the spans that it declares;
    or with ``event`` None a read by the program in ``api_call``.
    """

    event: Event | None
    use: str
    spans: tuple[Span, ...]
    api_call: int | None = None


class Answer(msgspec.Struct, frozen=True):
    """The writers and readers of ``span`` of a resource of ``size`` bytes.

    ``unwritten`` are the bytes that nothing wrote since the resource was created.  ``bound`` are
    the events that may have written it, although it has no byte of theirs now.
    """

    resource: Resource
    size: int
    span: Span
    writers: tuple[Writer, ...]
    readers: tuple[Reader, ...]
    unwritten: tuple[Span, ...]
    bound: tuple[Event, ...]


class _Memory:
    """The bytes of a surface, and which event wrote each.  Mutable.

    ``observe`` counts the bytes that are compared, and raises Exceeded for too many.
    """

    def __init__(self, surface: Surface, observe: Callable[[int], None]) -> None:
        observe(surface.data.nbytes)
        self.surface = surface
        self.seen: NDArray[np.uint8] = surface.data.copy()
        self.owner: NDArray[np.int32] = np.full(surface.data.nbytes, NO_WRITER, np.int32)
        self._observe = observe

    def compare(self, span: Span | None, number: Callable[[], int]) -> None:
        """Give the bytes of a span (None: all) that changed since the last comparison to the
        writer that ``number`` returns.
        """
        start, stop = span or (0, self.surface.data.nbytes)
        self._observe(stop - start)
        for first in range(start, stop, _PIECE):
            last = min(first + _PIECE, stop)
            data, seen = self.surface.data[first:last], self.seen[first:last]
            if not np.array_equal(data, seen):
                self.owner[first:last][data != seen] = number()
                np.copyto(seen, data)

    def store(self, span: Span, number: int) -> None:
        """Give all bytes of a span to writer ``number``."""
        start, stop = span
        self._observe(stop - start)
        self.owner[start:stop] = number
        np.copyto(self.seen[start:stop], self.surface.data[start:stop])


class _Frozen(msgspec.Struct, frozen=True):
    """What was known at an event: the owners of bytes, and the numbers of writers and readers."""

    memory: _Memory | None
    owner: NDArray[np.int32] | None
    readers: int


class AccessLog(Observer):
    """Follows the writers and readers of a resource, up to the event ``at``.  Mutable."""

    def __init__(self, resource: Resource, at: Address | None = None) -> None:
        self.events: list[Event] = []
        self._resource = resource
        self._at = at
        self._memory: _Memory | None = None
        self._largest = 0
        self._writers: list[Event | None] = [None]
        self._bound: list[Event] = []
        self._readers: list[Reader] = []
        self._accesses: list[Access] = []
        self._host: Event | None = None
        self._is_fresh = False
        self._exceeded: Exceeded | None = None
        self._frozen: _Frozen | None = None
        self._has_objects = False

    # Memory

    def _found(self, stage: Stage) -> Surface | None:
        """The surface of the resource now, None if it does not exist."""
        if not self._resource.is_object:
            try:
                return root_of(stage.surface(self._resource.number))[0]
            except UsageError:
                return None
        facade = stage.player.facade
        if self._memory is not None:
            return self._memory.surface
        found = None if facade is None else facade.resources().get(self._resource.number)
        return None if found is None else root_of(found.surface)[0]

    def _look(self, stage: Stage) -> _Memory | None:
        """The memory of the resource with what the host changed since the last event."""
        surface = self._found(stage)
        if surface is not None and (self._memory is None or surface is not self._memory.surface):
            self._memory = _Memory(surface, stage.gpu.budget.observe)
            self._largest = max(self._largest, surface.data.nbytes)
            self._readers.clear()
            self._bound.clear()
        elif self._memory is not None and surface is not None and not self._is_fresh:
            self._memory.compare(None, lambda: 0)
        self._is_fresh = True
        return self._memory

    # Events

    def issued(self, origin: Origin, stage: Stage) -> None:
        """The front end may have written memory."""
        self._is_fresh = False

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Note what the event declares to read."""
        self._follow(self._before, event, packet, stage)

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Note what the event wrote."""
        self._follow(self._after, event, packet, stage)

    def _follow(
        self,
        note: Callable[[Event, Packet | None, Stage], None],
        event: Event,
        packet: Packet | None,
        stage: Stage,
    ) -> None:
        """Note an event, until a limit ends the log; the answer raises it."""
        if self._exceeded is None:
            try:
                note(event, packet, stage)
            except Exceeded as error:
                self._exceeded = error.at(call=event.call, token=event.name)

    def _before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        self._has_objects |= stage.player.facade is not None
        self._accesses = [] if packet is None else accesses_of(packet)
        for access in self._accesses:
            stage.handle(access.surface)
        if packet is not None and not any(
            self._is_resource(each, stage) for each in self._accesses
        ):
            return
        memory = self._look(stage)
        for access in self._accesses:
            if memory is not None and access.surface is memory.surface and not access.writes:
                self._readers.append(Reader(event, access.use, access.spans))

    def _is_resource(self, access: Access, stage: Stage) -> bool:
        return (
            self._memory is None
            or access.surface is self._memory.surface
            or (
                not self._resource.is_object
                and stage.handle(access.surface) == self._resource.number
            )
        )

    def _after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        self.events.append(event)
        written = [root_of(surface)[0] for surface in written_surfaces(packet)] if packet else []
        memory = self._memory if packet is not None else self._look_after_host(event, stage)
        if memory is not None and any(each is memory.surface for each in written):
            self._wrote(memory, event)
        if self._at is not None and matches(event, self._at):
            self._freeze()

    def _wrote(self, memory: _Memory, event: Event) -> None:
        number = self._number(event)
        self._bound.append(event)
        written = [a for a in self._accesses if a.writes and a.surface is memory.surface]
        if not written:
            memory.compare(None, lambda: number)
        for access in written:
            for span in access.spans:
                if access.exact:
                    memory.store(span, number)
                else:
                    memory.compare(span, lambda: number)

    def _look_after_host(self, event: Event, stage: Stage) -> _Memory | None:
        """Give what an event of the host changed to it."""
        self._host = event
        surface = self._found(stage)
        memory = self._memory
        if memory is not None and surface is memory.surface:
            memory.compare(None, lambda: self._number(event))
            return memory
        return self._look(stage)

    def _number(self, event: Event) -> int:
        if self._writers[-1] is not event:
            self._writers.append(event)
        return len(self._writers) - 1

    def performed(self, record: Record, stage: Stage) -> None:
        """Note the range of a host write, and reads of the program."""
        memory = self._memory
        self._is_fresh = False
        if memory is None or self._exceeded is not None:
            return
        if isinstance(record, records.MemoryWritten) and self._host is not None:
            written = stage.gpu.heap.get(record.handle)
            if written is not None and root_of(written)[0] is memory.surface:
                start = root_of(written)[1] + record.offset
                if written.system is None:
                    memory.owner[start : start + len(record.data)] = self._number(self._host)
                    self._bound.append(self._host)
        elif isinstance(record, records.Pictured) and self._is_pictured(record, stage):
            whole = ((0, memory.surface.data.nbytes),)
            self._readers.append(Reader(None, "the program", whole, record.call))

    def _is_pictured(self, record: records.Pictured, stage: Stage) -> bool:
        if record.how in records.OF_RESOURCES and self._resource.is_object:
            return record.handle == self._resource.number
        return stage.shown(record) == self._resource.number and not self._resource.is_object

    # The answer

    def _freeze(self) -> None:
        if self._frozen is not None and self._at is not None and self._at.frame is None:
            return
        memory = self._memory
        owner = None if memory is None else memory.owner
        if owner is not None and self._at is not None:
            owner = owner.copy()  # later events are written to the other
        self._frozen = _Frozen(memory, owner, len(self._readers))

    def answer(self, span: Span | None = None) -> Answer:
        """The writers and readers of a range, by default of the whole resource.

        Raises Absent for a resource that no event accessed, a range that begins outside of it or
        ends where it never had a byte, and an address without event; Exceeded if too many bytes
        had to be compared; UsageError for more than ``RUNS`` ranges.
        """
        if self._exceeded is not None:
            raise self._exceeded
        if self._at is not None:
            find(self.events, self._at)
        else:
            self._freeze()
        frozen = self._frozen
        if frozen is None or frozen.memory is None or frozen.owner is None:
            raise Absent(f"no event accesses {self._resource} up to there{self._hint()}")
        size = frozen.memory.surface.data.nbytes
        first, end = span or (0, size)
        if first >= size:
            raise Absent(f"{self._resource} has {size} bytes, no byte {first}")
        if self._largest < end < _OPEN:
            size = self._largest
            raise Absent(f"{self._resource} has at most {size} bytes, no byte {end - 1}")
        return self._answer(frozen, frozen.owner, (first, min(end, size)), size)

    def _hint(self) -> str:
        """What a number may mean instead, in a capture of Direct3D 10/11."""
        if self._resource.is_object or not self._has_objects:
            return ""
        number = self._resource.number
        return f"; the resource {number} of the driver interface is object:{number}"

    def _answer(self, frozen: _Frozen, owner: NDArray[np.int32], span: Span, size: int) -> Answer:
        runs = dict(_runs(owner[span[0] : span[1]], span[0]))
        unwritten = tuple(runs.pop(NO_WRITER, ()))
        found = [Writer(self._writers[each], tuple(runs[each])) for each in sorted(runs)]
        last = None if self._at is None else find(self.events, self._at).number
        readers = [each for each in self._readers[: frozen.readers] if overlaps(each.spans, span)]
        kept = {id(each.event) for each in found}
        bound = [
            each
            for each in self._bound
            if id(each) not in kept and (last is None or each.number <= last)
        ]
        return Answer(
            self._resource, size, span, tuple(found), tuple(readers), unwritten, tuple(bound)
        )


def _runs(owner: NDArray[np.int32], start: int) -> dict[int, list[Span]]:
    """The ranges of each owner among the bytes from ``start`` on, in order."""
    ends: list[int] = []
    for first in range(0, len(owner), _PIECE):
        ends += (np.flatnonzero(np.diff(owner[first : first + _PIECE + 1])) + first + 1).tolist()
        if len(ends) >= RUNS:
            raise UsageError(f"the answer has more than {RUNS:,} ranges: give a smaller range")
    ends.append(len(owner))
    found: dict[int, list[Span]] = {}
    first = 0
    for end in ends:
        found.setdefault(int(owner[first]), []).append((start + first, start + end))
        first = end
    return found


@checked
def accesses_to(
    capture: Recording,
    resource: Resource,
    span: Span | None = None,
    *,
    at: Address | None = None,
    options: Options | None = None,
    timing: Timing | None = None,
    fault: Callable[[Dp2Error], None] = lambda error: None,
) -> Answer:
    """Play a capture; returns the last writers, and the readers, of a range of bytes of a resource
    up to the event at an address, by default to the end.

    ``fault`` is called with the errors of the replay.  Raises UsageError for a resource, range or
    address that the capture does not have, and for an answer of more than ``RUNS`` ranges;
    Exceeded beyond the limit ``observed_bytes``.
    """
    log = AccessLog(resource, at)
    play(capture, [log], options=options, timing=timing, watcher=Watcher(fault=fault))
    return log.answer(span)
