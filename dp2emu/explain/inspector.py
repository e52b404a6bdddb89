"""Time travel: the state of a capture's machine after any of its events."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from threading import Semaphore, Thread
from types import TracebackType
from typing import Any, Self

import msgspec
import zstandard

from dp2emu.argument_check import checked
from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts
from dp2emu.errors import Absent, Dp2Error, UsageError
from dp2emu.explain.accesses import root_of
from dp2emu.explain.address import Address, find, matches, parse_address
from dp2emu.explain.events import Event, Origin, written_surfaces
from dp2emu.explain.memory_log import MemoryLog, Trail, arrays_of
from dp2emu.explain.playback import Observer, Playback, Stage
from dp2emu.gpu.command.packets import Packet
from dp2emu.gpu.command.queries import COUNTER_NAMES
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.resource.heap import Surface
from dp2emu.places import working_at
from dp2emu.replay import Watcher
from dp2emu.replay.player import Recording
from dp2emu.replay.tally import Tally

MEMORY = 256 << 20
"""Default number of bytes that an inspector keeps to go back without playing again."""

START = -1
"""Position before the first event."""


class Moment(msgspec.Struct, frozen=True):
    """Clock and counters after an event: ``now`` is host time in ticks, ``counters`` are in the
    order of ``COUNTER_NAMES``; ``origin`` is the place of the last front end state.
    """

    now: int
    counters: tuple[int, ...]
    origin: Origin | None
    facts: bytes


def _read_first(capture: Recording) -> None:
    """Read a capture up to its first record of a driver, and load what describes that interface.

    The import of a trace loads the modules of its interface for it, which takes longer than a step
    may; an error comes again with the first step.
    """
    with suppress(Dp2Error):
        found = (each for each in capture.records() if not isinstance(each, records.Annotation))
        if isinstance(next(found, None), records.EntryCalled):
            # Captures of older interfaces should not import the Direct3D 10/11 driver.
            from dp2emu.ddi10.inspect import prepare

            prepare()


class _Abandoned(BaseException):
    """Ends the thread of a playback that is not wanted any more."""


class _Log(Observer):
    """Logs memory, counters and front end state of a playback, event by event.  Mutable."""

    def __init__(self, budget: int, pause: Callable[[], None]) -> None:
        self.memory = MemoryLog(budget)
        self.events: list[Event] = []
        self.moments: list[Moment] = []
        self._pause = pause
        self._facts: tuple[Origin | None, bytes] = (None, b"")
        self._compress = zstandard.ZstdCompressor(level=1).compress
        self._call: tuple[int, ...] = ()

    def performing(self, record: Record, stage: Stage) -> None:
        self._call = _host_memory(record)
        self.memory.watch(self._call)

    def performed(self, record: Record, stage: Stage) -> None:
        self.memory.note(len(self.events), executed=False)
        if _changes_surfaces(record):
            self.memory.update(stage.surfaces(), len(self.events))

    def issued(self, origin: Origin, stage: Stage) -> None:
        text = json.dumps(stage.facts(origin)).encode()
        self._facts = origin, self._compress(text)

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        self.memory.watch(_roots(event, packet, stage))

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        self.memory.note(event.number, executed=True, keep=self._call)
        gpu = stage.gpu
        counts = tuple(getattr(gpu.counters, name) for name in COUNTER_NAMES)
        self.moments.append(Moment(gpu.now, counts, *self._facts))
        self.events.append(event)
        self._pause()


def _roots(event: Event, packet: Packet | None, stage: Stage) -> set[int]:
    """Handles of the surfaces with memory of their own that an event may change."""
    if packet is not None:
        return {stage.handle(root_of(each)[0]) for each in written_surfaces(packet)}
    found = set()
    for handle in event.targets:
        surface = stage.gpu.heap.get(handle)
        found.add(handle if surface is None else root_of(surface)[0].handle)
    return found


def _host_memory(record: Record) -> tuple[int, ...]:
    """Handles of the surfaces that a call changes besides its events: its command buffer, into
    which commands and answers are written, and the memory of lpdwRStates.
    """
    if isinstance(record, records.Called):
        return record.call.lpDDCommands, record.call.lpdwRStates
    return ()


def _changes_surfaces(record: Record) -> bool:
    """Whether a record may create or destroy surfaces."""
    if isinstance(record, records.EntryCalled):
        # Maps that discard give a resource another surface.
        return any(part in record.entry for part in ("Resource", "Map", "DestroyDevice"))
    return isinstance(record, records.SurfaceCreated | records.SurfaceDestroyed)


@checked
class Inspector:
    """A capture whose machine can be moved to any event, forward and back.  Mutable: it moves.

    ``position`` is the number of the last executed event, ``START`` before the first.  Results are
    of the emulated driver after that event: ``read``, ``surface``, ``facts``, ``counters``.
    Going back needs the bytes that events replaced; ``memory`` bounds how many bytes of these are
    kept, and before the oldest of them the capture is played again from its start.  ``capture``
    has to be readable several times.  ``options``, ``timing`` and ``watcher`` are as in ``play``.

    An inspector has a thread; ``close``, the end of a ``with`` block or of the object ends it.
    Raises UsageError for a negative ``memory``.
    """

    def __init__(
        self,
        capture: Recording,
        *,
        options: Options | None = None,
        timing: Timing | None = None,
        watcher: Watcher | None = None,
        memory: int = MEMORY,
    ) -> None:
        if memory < 0:
            raise UsageError(f"memory={memory} bytes, expected 0 or more")
        self._capture = capture
        self._begin: dict[str, Any] = {"options": options, "timing": timing}
        self._watcher = watcher
        self._budget = memory
        self.position = START
        _read_first(capture)
        self._start(watcher)

    def _start(self, watcher: Watcher | None = None) -> None:
        """Make a machine before the first event.  Its thread must not outlive the inspector."""
        self._machine = _Machine(self._capture, self._budget, watcher=watcher, **self._begin)
        self._end = weakref.finalize(self, self._machine.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the inspector's thread; nothing can be read any more."""
        self._end()

    # Moving

    @property
    def event(self) -> Event | None:
        """The last executed event, None at the start."""
        return None if self.position == START else self._log.events[self.position]

    @property
    def events(self) -> tuple[Event, ...]:
        """The events that were executed at any time, from the first."""
        return tuple(self._log.events)

    def all_events(self) -> tuple[Event, ...]:
        """All events of the capture; the position stays.  Plays the capture to its end once."""
        self._machine.run(None)
        return self.events

    def seek(self, place: int | str | Event | Address) -> Event | None:
        """Move to the state after an event, and return it; None for ``START``.

        ``place`` is an event, its number, or an address such as ``E12`` or ``7:3``.  Raises
        UsageError if there is no such event.
        """
        if place == START:
            self.position = START
            return None
        number = self._number(place)
        if not self._machine.run(number + 1):
            raise UsageError(f"no event E{number}: the capture has {len(self._log.events)}")
        self._move(number)
        return self._log.events[number]

    def _number(self, place: int | str | Event | Address) -> int:
        if isinstance(place, Event):
            return place.number
        if isinstance(place, int):
            if place < 0:
                raise UsageError(f"no event E{place}: events count from 0")
            return place
        address = parse_address(place) if isinstance(place, str) else place
        if address.event is not None:
            return address.event
        known = None if address.frame is not None else self._known(address)
        return find(self.all_events(), address).number if known is None else known

    def _known(self, address: Address) -> int | None:
        """The number of the first event at an address among those that were executed."""
        found = (each.number for each in self._log.events if matches(each, address))
        return next(found, None)

    def _move(self, number: int) -> None:
        if number < self._log.memory.first:
            self._end()
            self._start()
            self._machine.run(number + 1)
        self.position = number

    def step(self) -> Event | None:
        """Execute the next event and return it; None, without a move, at the end."""
        if not self._machine.run(self.position + 2):
            return None
        self._move(self.position + 1)
        return self.event

    def back(self) -> Event | None:
        """Go back by one event and return the one before it; None at the start."""
        if self.position > START:
            self._move(self.position - 1) if self.position else self.seek(START)
        return self.event

    def run_to(self, condition: Callable[[Event], bool]) -> Event | None:
        """Move to the next event that meets a condition, and return it; None, without a move, if
        there is none.  What ``condition`` raises ends the search.
        """
        number = self.position + 1
        while self._machine.run(number + 1):
            if condition(self._log.events[number]):
                self._move(number)
                return self.event
            number += 1
        return None

    # State

    @property
    def tally(self) -> Tally:
        """Counts of the records that were played so far, at any time."""
        return self._machine.playback.tally

    @property
    def now(self) -> int:
        """Host time in ticks."""
        return 0 if self.position == START else self._moment.now

    @property
    def counters(self) -> dict[str, int]:
        """The counters of the GPU by name, as in ``gpu.command.queries.Counters``."""
        if self.position == START:
            return dict.fromkeys(COUNTER_NAMES, 0)
        return dict(zip(COUNTER_NAMES, self._moment.counters, strict=True))

    def facts(self) -> Facts:
        """The state that the front end had when it issued the last event of a token or of a call
        of the driver interface, as a JSON object; {} before.
        """
        if self.position == START or not self._moment.facts:
            return {}
        found: Facts = json.loads(zstandard.ZstdDecompressor().decompress(self._moment.facts))
        return found

    @property
    def handles(self) -> tuple[int, ...]:
        """Handles of the surfaces with memory of their own, as ``events`` names them."""
        return tuple(trail.handle for trail in self._trails())

    def read(self, handle: int, offset: int = 0, size: int | None = None) -> bytes:
        """``size`` bytes (default: all) of the memory of a surface, from byte ``offset`` on.

        Raises UsageError for a surface that does not exist at this point, or for bytes out of it.
        """
        data = self.surface(handle).data
        size = data.nbytes - offset if size is None else size
        if offset < 0 or size < 0 or offset + size > data.nbytes:
            raise UsageError(
                f"surface {handle} has {data.nbytes} bytes, not {offset} to {offset + size}"
            )
        return data[offset : offset + size].tobytes()

    def surface(self, handle: int) -> Surface:
        """A copy of the surface ``handle`` with the memory that it has after the event.

        Raises Absent, a UsageError, if it does not exist at this point.
        """
        trail = self._log.memory.find(handle, self.position)
        if trail is None:
            raise Absent(f"no surface {handle} at {self._where()}")
        arrays = self._log.memory.read(trail, self.position)
        found = Surface(trail.desc, trail.serial, trail.layout)
        for target, source in zip(arrays_of(found), arrays, strict=True):
            target[:] = source
        return found

    def hash(self) -> str:
        """SHA-256, as hexadecimal digits, of the whole state: all memory, clock, counters, and
        the front end's state.
        """
        memory = ((t.handle, self._log.memory.read(t, self.position)) for t in self._trails())
        return state_hash(memory, self.now, self.counters.values(), self.facts())

    def _trails(self) -> Iterable[Trail]:
        return self._log.memory.trails(self.position)

    @property
    def _log(self) -> _Log:
        return self._machine.log

    @property
    def _moment(self) -> Moment:
        return self._log.moments[self.position]

    def _where(self) -> str:
        return "the start" if self.position == START else f"E{self.position}"


def state_hash(
    memory: Iterable[tuple[int, tuple[Any, ...]]], now: int, counts: Iterable[int], facts: Facts
) -> str:
    """SHA-256 of a machine's state: (handle, arrays) of its surfaces by handle, time in ticks,
    counters and front end state.
    """
    found = sha256(json.dumps([now, list(counts), facts]).encode())
    for handle, arrays in memory:
        found.update(handle.to_bytes(8, "little"))
        for array in arrays:
            found.update(array)
    return found.hexdigest()


class _Machine:
    """A playback in a thread of its own that stops after any event.  Mutable: it is played on.

    The thread and its caller never run at the same time.
    """

    def __init__(
        self,
        capture: Recording,
        memory: int,
        *,
        options: Options | None,
        timing: Timing | None,
        watcher: Watcher | None = None,
    ) -> None:
        self.log = _Log(memory, self._pause)
        self.playback = Playback(
            capture, [self.log], options=options, timing=timing, watcher=watcher
        )
        self._wanted: int | None = 0
        self._go, self._stopped = Semaphore(0), Semaphore(0)
        self._thread: Thread | None = None
        self._error: BaseException | None = None
        self._ended = self._abandoned = False

    def run(self, count: int | None) -> bool:
        """Play until ``count`` events are executed, or with None to the end; returns whether there
        are that many.
        """
        events = self.log.events
        with working_at(self.playback.stage.player.place):
            while not self._ended and (count is None or len(events) < count):
                self._wanted = count
                self._continue()
                self._stopped.acquire()
        there = count is not None and len(events) >= count
        if self._error is not None and not there:
            raise self._error
        return count is None or there

    def _continue(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._play, name="dp2emu-inspector", daemon=True)
            self._thread.start()
        else:
            self._go.release()

    def _play(self) -> None:
        try:
            while self.playback.step():
                pass
        except _Abandoned:
            return
        except BaseException as error:
            # Raised again by the thread that waits.
            self._error = error
        self._ended = True
        self._stopped.release()

    def _pause(self) -> None:
        if self._abandoned:
            raise _Abandoned
        if self._wanted is None or len(self.log.events) < self._wanted:
            return
        self._stopped.release()
        self._go.acquire()
        if self._abandoned:
            raise _Abandoned

    def close(self) -> None:
        """End the thread."""
        thread = self._thread
        if thread is not None and thread.is_alive():
            self._abandoned = True
            self._go.release()
            thread.join()
        self._ended = True
        self.playback.close()
