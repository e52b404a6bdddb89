"""Playing a capture event by event: observers see the memory before and after each.

The emulated driver executes the packets of each token before the next token, instead of all
packets of a call at its end, and executes draws one by one.  Neither changes a result: packets are
executed in the same order at the same virtual times.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from msgspec.structs import replace

from dp2emu.argument_check import checked
from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.capture.values import Memory, Value
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts
from dp2emu.dp2.states.inspect import facts_of as context_facts
from dp2emu.dp2.table import Token
from dp2emu.errors import STOPPED, Absent, Dp2Error, Unsupported, UsageError
from dp2emu.explain.events import (
    Event,
    EventKind,
    Origin,
    kind_of,
    primitives_of,
    shaders_of,
    texels_written,
    written_surfaces,
)
from dp2emu.explain.host_events import bytes_written, host_event
from dp2emu.explain.idle_draws import DRAWING, idle_reason
from dp2emu.gpu.command.packets import BeginQuery, Draw, EndQuery, IndirectDraw, Packet, Predicated
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import Timing, instant
from dp2emu.gpu.input_assembler.indirect_arguments import direct_draw
from dp2emu.gpu.resource.heap import Surface
from dp2emu.places import working_at
from dp2emu.replay import Watcher
from dp2emu.replay.document import Document
from dp2emu.replay.player import Player, Recording, annotated_timing
from dp2emu.replay.tally import Tally

_LABEL = re.compile(
    f"({re.escape(records.LABEL)}|{re.escape(records.RESOURCE_LABEL)})([0-9]{{1,18}})"
)
"""Key of an annotation that names a surface or a resource."""


class Observer:
    """Callbacks of a playback; each does nothing by default.

    ``packet`` is what the GPU executes: an indirect draw as the draw it becomes, and without its
    predicate; None for an event of the host, such as a present, a marker or a write of a record.
    Memory that an observer changes has to be as before when it returns.
    """

    def performing(self, record: Record, stage: Stage) -> None:
        """A record is performed next."""

    def issued(self, origin: Origin, stage: Stage) -> None:
        """The front end is behind a token or call that has events, of which none is executed."""

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """An event is about to be executed; ``event.pixels`` is 0."""

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """An event was executed."""

    def performed(self, record: Record, stage: Stage) -> None:
        """A record was performed."""


class Stage:
    """The machine that plays a capture, for observers.  Mutable: records change it.

    ``records`` counts the records that were performed.
    """

    def __init__(self, driver: Driver, player: Player) -> None:
        self.driver = driver
        self.player = player
        self.records = 0
        self._seen: WeakValueDictionary[int, Surface] = WeakValueDictionary()
        self._kept: dict[int, Surface] = {}

    @property
    def gpu(self) -> Gpu:
        """The GPU, which all devices of a capture share."""
        return self.driver.gpu

    def handle(self, surface: Surface) -> int:
        """The handle by which a capture's verbs name a surface; see ``replay.facade.Facade``."""
        facade = self.player.facade
        if surface.handle or facade is None:
            return surface.handle or surface.serial
        handle = facade.handle(surface)
        self._seen[handle] = surface
        return handle

    def surface(self, handle: int) -> Surface:
        """The live surface of a handle.  Raises Absent if no event has named one."""
        kept = self._kept.get(handle)
        found = kept or self.gpu.heap.get(handle) or self._seen.get(handle)
        if found is None:
            raise Absent(f"no surface {handle} at this point")
        return found

    @contextmanager
    def keeping(self, surfaces: Mapping[int, Surface]) -> Iterator[None]:
        """Context manager in which handles mean these surfaces, which the host may have destroyed
        since the GPU was told to show them.
        """
        self._kept = dict(surfaces)
        try:
            yield
        finally:
            self._kept = {}

    def surfaces(self) -> dict[int, Surface]:
        """The live surfaces with memory of their own, by handle."""
        found = {each.handle: each for each in self.gpu.heap if each.parent is None}
        if self.player.facade is not None:
            resources = self.player.facade.resources().values()
            found |= {self.handle(each.surface): each.surface for each in resources}
        return found

    def labelled(self, record: records.Annotation) -> int | None:
        """The handle of the surface that a ``record`` names, None for another annotation."""
        found = _LABEL.fullmatch(record.key)
        if found is None:
            return None
        number = int(found[2])
        return number if found[1] == records.LABEL else self._resource_handle(number) or None

    def shown(self, record: records.Pictured) -> int:
        """The handle of the surface in a ``record`` of what a program showed or read, 0 if it does
        not exist.
        """
        if record.how not in records.OF_RESOURCES:
            return record.handle
        return self._resource_handle(record.handle)

    def presented(self, device: int) -> int:
        """The handle of the surface that a Direct3D 10/11 device presented last, 0 for none."""
        facade = self.player.facade
        found = None if facade is None else facade.device(device)
        surface = None if found is None else found.shown
        return 0 if surface is None else self.handle(surface)

    def resource_handle(self, argument: Value) -> int:
        """The handle of the surface of the resource in an argument of a call of the DDI, 0 for
        another argument.
        """
        return self._resource_handle(argument.number) if isinstance(argument, Memory) else 0

    def _resource_handle(self, number: int) -> int:
        facade = self.player.facade
        found = None if facade is None else facade.resource(number)
        return 0 if found is None else self.handle(found.surface)

    def facts(self, origin: Origin, *, queries: bool = True) -> Facts:
        """The bound state of the context or device of an origin, as a JSON object; {} if it does
        not exist.  The queries of a context are left out unless ``queries``.
        """
        if origin.token is not None:
            context = self.driver.context(origin.device)
            return {} if context is None else context_facts(context, queries=queries)
        facade = self.player.facade
        with suppress(UsageError):
            return {} if facade is None else facade.facts(origin.device)
        return {}


class _ObservedGpu(Gpu):
    """A GPU that tells a recorder of submitted packets and of the end of execution.

    ``submitted`` counts the packets that were submitted.
    """

    recorder: Recorder | None = None
    submitted = 0

    def submit(self, packet: Packet, context: Counters | None = None) -> None:
        if self.recorder is not None:
            self.recorder.submitted(packet)
        super().submit(packet, context)
        self.submitted += 1

    @property
    def started(self) -> int:
        """The number of packets that left the FIFO, the one that is being executed included."""
        return self.submitted - len(self._fifo)

    @property
    def busy_until(self) -> int:
        """The tick at which the packets that left the FIFO are executed."""
        return self._free

    def is_done(self, count: int) -> bool:
        """Whether the first ``count`` packets are executed, and their time is over."""
        return self.started >= count and self._free <= self.now

    def run(self) -> None:
        if self.recorder is None:
            super().run()
        else:
            self.recorder.run(super().run)


class _ObservedDriver(Driver):
    """A driver with an observed GPU."""

    gpu_type = _ObservedGpu


class _Show(NamedTuple):
    """A present, or a draw without a packet, that waits for the first ``packets`` packets: an
    event without number.
    """

    packets: int
    origin: Origin
    time: int
    surfaces: dict[int, Surface]
    targets: tuple[int, ...]
    kind: EventKind = EventKind.PRESENT
    text: str = ""


class Recorder:
    """Makes events of packets and records, and passes them to observers.  Mutable: it counts.

    ``place`` is the origin of what the front end does now.
    """

    def __init__(
        self, stage: Stage, gpu: _ObservedGpu, observers: Sequence[Observer]
    ) -> None:  # fmt: skip
        self._stage = stage
        self._gpu = gpu
        self._observers = observers
        self._imported = False
        self.place = Origin("")
        self._count = 0
        self._items: Counter[Origin] = Counter()
        self._issued: list[Origin] = []
        self._drew: Origin | None = None
        self._stamped: dict[int, tuple[Packet, Origin]] = {}
        self._submitted: dict[int, tuple[Packet, Origin]] = {}
        self._stamped_in: tuple[list[Any], int] = ([], 0)
        self._open: tuple[Event, Packet, int] | None = None
        self._error: Dp2Error | None = None
        self._markers: tuple[str, ...] = ()
        self._unmarked = 0
        self._pictured: tuple[int, int, dict[int, Surface]] | None = None
        self._shows: deque[_Show] = deque()
        self._frame = 0
        self._tokens = 0
        self._running = False

    # Where packets come from

    def submitted(self, packet: Packet) -> None:
        """Note the origin of a packet that is about to be submitted."""
        inner = packet.packet if isinstance(packet, Predicated) else packet
        if kind_of(inner) is None:
            return
        stamped = self._stamped.pop(id(inner), None)
        if stamped is None:
            stamped = inner, self.place
            self._issue(self.place)
        self._submitted[id(inner)] = stamped

    def _stamp(self, device: int) -> None:
        """Note the origin of the packets that the last call of a device recorded."""
        facade = self._stage.player.facade
        found = None if facade is None else facade.device(device)
        if found is None:
            return
        recorded, (last, seen) = found.commands.recorded, self._stamped_in
        fresh = recorded[seen:] if recorded is last else recorded
        for packet, _ in fresh:
            inner = packet.packet if isinstance(packet, Predicated) else packet
            if kind_of(inner) is not None and id(inner) not in self._stamped:
                self._stamped[id(inner)] = inner, self.place
                self._issue(self.place)
        self._stamped_in = recorded, len(recorded)

    def _issue(self, origin: Origin) -> None:
        self._drew = origin
        if not self._issued or self._issued[-1] is not origin:
            self._issued.append(origin)

    def _tell_issued(self) -> None:
        issued, self._issued = self._issued, []
        for origin in issued:
            for observer in self._observers:
                observer.issued(origin, self._stage)

    # Execution

    def run(self, execute: Callable[[], None]) -> None:
        """Execute the packets that are due, each as an event."""
        if self._running:
            # An observer reads memory through the driver.
            return
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        self._tell_issued()
        try:
            execute()
        finally:
            self._end_packet()
            self._show_due()
            if self._stage.gpu.idle:
                self._submitted.clear()

    def packet(self, packet: Packet, start: int) -> None:
        """Begin the event of a packet that the GPU executes next."""
        self._end_packet()
        self._show(self._gpu.started - 1)
        known = self._submitted.pop(id(packet), None)
        kind = kind_of(packet)
        if kind is None:
            return
        origin = self.place if known is None else known[1]
        if isinstance(packet, IndirectDraw):
            # The execution reports arguments that are too large.
            with suppress(Unsupported):
                packet = direct_draw(packet) or packet
        event = self._event(kind, origin, packet, start)
        self._open = event, packet, _passed(self._stage.gpu.counters)
        self._before(event, packet)

    def _event(self, kind: EventKind, origin: Origin, packet: Packet | None, time: int) -> Event:
        number, item = self._count, self._items[origin]
        self._count += 1
        self._items[origin] += 1
        event = Event(number, kind, origin, item, time)
        if packet is None:
            return event
        primitives, topology = primitives_of(packet)
        handle, targets = self._stage.handle, written_surfaces(packet)
        query = packet.slot.key if isinstance(packet, BeginQuery | EndQuery) else None
        return replace(
            event, primitives=primitives, topology=topology, shaders=shaders_of(packet),
            targets=tuple(map(handle, targets)), query=query,
        )  # fmt: skip

    def _end_packet(self) -> None:
        """End the event of the packet that was executed last."""
        if self._open is None:
            return
        (event, packet, passed), self._open = self._open, None
        counters = self._stage.gpu.counters
        drawn = isinstance(packet, Draw | IndirectDraw)
        pixels = _passed(counters) - passed if drawn else texels_written(packet)
        self._after(replace(event, pixels=pixels), packet)

    def _before(self, event: Event, packet: Packet | None) -> None:
        with self._looking():
            for observer in self._observers:
                observer.before(event, packet, self._stage)

    def _after(self, event: Event, packet: Packet | None) -> None:
        with self._looking():
            for observer in self._observers:
                observer.after(event, packet, self._stage)

    def _looking(self) -> ExitStack:
        """Context manager of observers' calls, during which the GPU executes nothing."""
        stack = ExitStack()
        before, self._running = self._running, True
        stack.callback(setattr, self, "_running", before)
        return stack

    # The front end

    def token(self, call: Call, offset: int, token: Token, count: int) -> None:
        """Execute what the last token of the call submitted; ``token`` comes next."""
        if self._error is None:
            try:
                self._stage.gpu.run()
            except STOPPED:
                raise
            except Dp2Error as error:
                # Reported at the end of the call, before which nothing more is executed.
                self._error = error
        player = self._stage.player
        api_call = player.api_calls.at(offset - call.dwCommandOffset)
        self._at(token.name, player.tally.calls, self._tokens, call.dwhContext, api_call)
        self._tokens += 1

    def _at(
        self, name: str, call: int | None, token: int | None = None, device: int = 0,
        api_call: int | None = None,
    ) -> None:  # fmt: skip
        self.place = Origin(name, self._frame, call, token, api_call, device, self._markers)

    def perform(self, record: Record, perform: Callable[[Record], None]) -> None:
        """Perform a record by ``perform``, as an event if it is one of the host."""
        self._show_due()
        self._enter(record)
        kind, text = host_event(record, imported=self._imported)
        shows = kind is EventKind.PRESENT
        event = None if kind is None or shows else self._begin_host(kind, text, record)
        refused = self._refused()
        perform(record)
        if isinstance(record, records.EntryCalled):
            self._stamp(record.device)
            if self._drew is not self.place and self._refused() == refused:
                self._idle(record)
        self._tell_issued()
        if event is not None:
            self._after(event, None)
        if shows:
            # The driver presents after the commands that it flushes for that.
            self._present(record)
        self._leave(record)

    def _enter(self, record: Record) -> None:
        tally = self._stage.player.tally
        self._tokens = 0
        if isinstance(record, records.EntryCalled):
            self._at(record.entry, tally.entries, None, record.device, record.call)
            return
        number = tally.entries or tally.calls
        api_call = self._stage.player.api_calls.host
        self._at(type(record).__name__, number, api_call=api_call)

    def _leave(self, record: Record) -> None:
        self._frame = self._stage.player.tally.frames
        if isinstance(record, records.FrameMarker):
            self._pictured = None
        elif isinstance(record, records.Pictured) and record.how in _SHOWING:
            # Behind the picture the buffers of a swap chain may exchange their memory.
            handle = self._stage.shown(record)
            self._pictured = record.call, handle, self._surfaces(handle)
        elif isinstance(record, records.Annotation):
            self._imported |= record.key == records.IMPORTED
            self._mark(record)

    def _mark(self, record: records.Annotation) -> None:
        """Begin or end a mark; of those beyond ``MARKERS`` only the number is kept."""
        if record.key == records.MARKER_BEGIN:
            if len(self._markers) < MARKERS:
                self._markers = (*self._markers, record.text)
            else:
                self._unmarked += 1
        elif record.key == records.MARKER_END:
            if self._unmarked:
                self._unmarked -= 1
            else:
                self._markers = self._markers[:-1]

    def _begin_host(self, kind: EventKind, text: str, record: Record) -> Event:
        handle = self._written(record)
        made = self._event(kind, self.place, None, self._stage.gpu.now)
        event = replace(
            made, text=text, targets=(handle,) if handle else (),
            pixels=bytes_written(record),
        )  # fmt: skip
        self._before(event, None)
        return event

    def _written(self, record: Record) -> int:
        """The handle of the surface that a record writes, 0 for none."""
        if isinstance(record, records.EntryCalled):
            return self._stage.resource_handle(record.arguments[0] if record.arguments else None)
        return getattr(record, "handle", 0)

    def _refused(self) -> int:
        tally = self._stage.player.tally
        return tally.faults + tally.known_faults

    def _idle(self, call: records.EntryCalled) -> None:
        """Note a draw or dispatch that recorded no packet, behind those that its device recorded
        before.
        """
        facade = self._stage.player.facade
        device = None if facade is None else facade.device(call.device)
        if call.entry not in DRAWING or device is None:
            return
        self._issue(self.place)
        waits = self._gpu.submitted + len(device.commands.recorded)
        kind, text = DRAWING[call.entry], idle_reason(device, call)
        bound = device.parts.draws.bound_surfaces() if kind is EventKind.DRAW else ()
        targets = tuple(map(self._stage.handle, bound))
        self._shows.append(_Show(waits, self.place, self._gpu.now, {}, targets, kind, text))

    # What is shown

    def _present(self, record: Record) -> None:
        """Show a surface after what the GPU was told until now."""
        place = self.place
        if isinstance(record, records.EntryCalled):
            handle = self._stage.presented(record.device)
            surfaces = self._surfaces(handle)
        else:
            handle = getattr(record, "surface", 0)
            surfaces = self._surfaces(handle)
            if self._pictured is not None:
                # An import has the number of the API call and the surface in the picture before.
                call, pictured, seen = self._pictured
                place = replace(place, api_call=call)
                if not handle:
                    handle, surfaces = pictured, seen
        targets = (handle,) if handle else ()
        now = self._gpu.now
        self._shows.append(_Show(self._gpu.submitted, place, now, surfaces, targets))
        self._show_due()

    def _surfaces(self, handle: int) -> dict[int, Surface]:
        """The surface of a handle, which stays alive as long as the result does; {} for none."""
        with suppress(Absent):
            return {handle: self._stage.surface(handle)}
        return {}

    def _show_due(self) -> None:
        """Make events of what waits for no packet more."""
        while self._shows and self._gpu.is_done(self._shows[0].packets):
            self._show(self._shows[0].packets)

    def _show(self, started: int) -> None:
        """Make events of what waits for ``started`` packets at most."""
        while self._shows and self._shows[0].packets <= started:
            show = self._shows.popleft()
            time = max(show.time, self._gpu.busy_until)
            made = self._event(show.kind, show.origin, None, time)
            event = replace(made, targets=show.targets, text=show.text)
            with self._stage.keeping(show.surfaces):
                self._before(event, None)
                self._after(event, None)

    def finish(self) -> None:
        """End the last event."""
        self._end_packet()
        self._show(self._gpu.submitted)


MARKERS = 64
"""Maximum depth of nested marks; deeper ones are not kept."""

_SHOWING = {records.PictureKind.PRESENT, records.PictureKind.BACK_BUFFER}


def _passed(counters: Counters) -> int:
    """The number of samples that passed since the last snapshot of multisampled targets."""
    return counters.samples + sum(counters.multisamples.passed.values())


class Playback:
    """A capture that is played record by record.  Mutable: ``step`` performs records.

    ``tally`` has the counts so far.
    """

    def __init__(
        self,
        capture: Recording,
        observers: Iterable[Observer] = (),
        *,
        options: Options | None = None,
        timing: Timing | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        options = options or Options()
        self._capture = capture
        self._timing = timing
        self._observers = tuple(observers)
        self._resources = ExitStack()
        driver = _ObservedDriver(timing or instant(), options)
        page = self._resources.enter_context(Document(None))
        player = Player(driver, capture, page, watcher or Watcher(), options)
        self.stage = Stage(driver, player)
        assert isinstance(driver.gpu, _ObservedGpu)
        self._recorder = Recorder(self.stage, driver.gpu, self._observers)
        driver.command_taps.append(self._recorder.token)
        driver.gpu.packet_taps.append(self._recorder.packet)
        driver.gpu.recorder = self._recorder
        self._records = iter(capture.records())
        self._ended = False

    @property
    def tally(self) -> Tally:
        """Counts of the records that were performed."""
        return self.stage.player.tally

    @property
    def ended(self) -> bool:
        """Whether the whole capture was played."""
        return self._ended

    def close(self) -> None:
        """Release the playback's temporary files."""
        self._resources.close()

    def step(self) -> bool:
        """Perform the next record; returns False, after the last pictures and all GPU work, if
        there is none.

        Raises CaptureError for a damaged record behind which nothing can be read.
        """
        with working_at(self.stage.player.place):
            return self._step()

    def run(self) -> None:
        """Perform all records that are left, as ``step`` does."""
        with working_at(self.stage.player.place):
            while self._step():
                pass

    def _step(self) -> bool:
        if self._ended:
            return False
        player, gpu = self.stage.player, self.stage.gpu
        record = next(self._records, None)
        if record is None:
            self._ended = True
            player.close(self._capture.damage)
            self._recorder.finish()
            self.close()
            return False
        if self._timing is None and player.tally.calls == 0:
            gpu.timing = annotated_timing(record, self._capture.name) or gpu.timing
        for observer in self._observers:
            observer.performing(record, self.stage)
        self._recorder.perform(record, player.perform)
        self.stage.records += 1
        for observer in self._observers:
            observer.performed(record, self.stage)
        return True


@checked
def play(
    capture: Recording,
    observers: Iterable[Observer] = (),
    *,
    options: Options | None = None,
    timing: Timing | None = None,
    watcher: Watcher | None = None,
) -> Tally:
    """Play a whole capture on a new emulated driver and show its events to ``observers``.

    ``timing`` and ``watcher`` are as in ``replay.replay``, which has the same results and returns
    the same counts.  Raises UsageError for an invalid annotated timing.
    """
    playback = Playback(capture, observers, options=options, timing=timing, watcher=watcher)
    playback.run()
    return playback.tally


class EventList(Observer):
    """Collects the events of a playback, in order, in ``events``.  Mutable: it grows."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Append the event."""
        self.events.append(event)


def events_of(
    capture: Recording,
    *,
    options: Options | None = None,
    timing: Timing | None = None,
    watcher: Watcher | None = None,
) -> list[Event]:
    """Play a capture and return its events, in the order of their execution."""
    found = EventList()
    play(capture, [found], options=options, timing=timing, watcher=watcher)
    return found.events
