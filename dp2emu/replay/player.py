"""The replay itself: one record after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeGuard, cast

import msgspec
from msgspec.structs import asdict

from dp2emu.capture.records import (
    IMPORTED,
    TIMING,
    WAIT,
    Annotation,
    Answered,
    Blitted,
    Called,
    ColorKeyRemoved,
    ColorKeySet,
    ContextCreated,
    ContextDestroyed,
    EntryCalled,
    Flipped,
    FrameMarker,
    Locked,
    MemoryWritten,
    Observed,
    Pictured,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import sdk_name
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import CaptureError, Dp2Error, Unsupported, UsageError
from dp2emu.gpu.device.timing import Timing, instant, parse_timing
from dp2emu.readback import check_readback
from dp2emu.replay.calls import Performed, row_of, submit
from dp2emu.replay.compare import Difference, differences
from dp2emu.replay.document import Document
from dp2emu.replay.ledger import Outcome, QueryLedger
from dp2emu.replay.pictures import Judged, Observable, Photographer, Pictures, Task
from dp2emu.replay.tally import Tally
from dp2emu.replay.values import payload_value
from dp2emu.replay.witness import (
    is_compared,
    observation_differs,
    observation_row,
    pixels_differ,
    sight_of,
)
from dp2emu.rig.interface import Rig

if TYPE_CHECKING:
    from dp2emu.replay.facade import Facade, Reply


def _ignore(_: object) -> None:
    """Nobody wants to know."""


class Watcher(msgspec.Struct, frozen=True):
    """Who is told while it goes on: of faults, of differences, of each record performed, of each
    picture that was compared with a reference.
    """

    fault: Callable[[Dp2Error], None] = _ignore
    difference: Callable[[Difference], None] = _ignore
    record: Callable[[Record], None] = _ignore
    judgement: Callable[[Judged], None] = _ignore


class Recording(Protocol):
    """What can be replayed: a capture file of any form, or text read as one."""

    @property
    def name(self) -> str:
        """What errors call it."""

    @property
    def damage(self) -> CaptureError | None:
        """What ended the records early, if anything did."""

    def records(self) -> Iterator[Record]:
        """Every record, in order."""


def replay(
    capture: Recording,
    *,
    rig: Rig | None = None,
    timing: Timing | None = None,
    options: Options | None = None,
    document: TextIO | None = None,
    pictures: Pictures | None = None,
    watcher: Watcher | None = None,
) -> Tally:
    """Perform a capture on ``rig``, by default a fresh emulated driver.

    ``timing`` and ``options`` are that driver's; without ``timing`` an annotation "timing" before
    the first call counts, else everything is instant.  ``document`` receives replay JSON;
    ``pictures`` says which to take, at frame markers, when contexts go and at the end.  Faults do
    not end a replay, and neither does damage: what comes before it is replayed and the tally says
    so.  Raises UsageError for an annotated timing that cannot be meant or a rig that has no
    pictures, and OSError when something cannot be written.
    """
    options = options or Options()
    driver = Driver(timing or instant(), options)
    with Document(document) as page:
        player = Player(rig or driver, capture.name, page, watcher or Watcher(), options)
        if pictures is not None:
            player.photograph(pictures)
        for record in capture.records():
            if timing is None and player.tally.calls == 0 and _names_timing(record):
                driver.gpu.timing = _annotated(record, capture.name)
            player.perform(record)
        player.tally.timing = driver.gpu.timing.name if rig is None else type(rig).__name__
        return player.close(capture.damage)


def _names_timing(record: Record) -> TypeGuard[Annotation]:
    return isinstance(record, Annotation) and record.key == TIMING


def _annotated(record: Annotation, stream: str) -> Timing:
    if record.text.startswith("scripted"):
        # A capture from a stranger must not choose which of our files are read.
        raise UsageError("annotation timing names a script; pass it as --timing", stream=stream)
    try:
        return parse_timing(record.text)
    except UsageError as error:
        raise UsageError(f"annotation timing: {error.what}", stream=stream) from None


class Player:
    """Performs records on a rig and tells what comes of them.  Mutable: it is in the middle."""

    def __init__(
        self, rig: Rig, stream: str, document: Document, watcher: Watcher, options: Options
    ) -> None:
        self.tally = Tally()
        self._rig = rig
        self._stream = stream
        self._document = document
        self._watcher = watcher
        self._options = options
        self._ledgers: dict[int, QueryLedger] = {}
        self._pending: Performed | None = None
        self._photographer: Photographer | None = None
        self._wanted: Pictures | None = None
        self._facade: Facade | None = None
        self._imported = False
        self._buffers: dict[int, int] = {}

    def photograph(self, wanted: Pictures) -> None:
        """Take pictures from now on.  Raises UsageError if the rig has none."""
        if not hasattr(self._rig, "observe"):
            raise UsageError(f"{type(self._rig).__name__} cannot be photographed")
        self._wanted = wanted
        self._photographer = Photographer(cast(Observable, self._rig), wanted, self._picture)

    def perform(self, record: Record) -> None:
        """Do what a record says.  Faults are told to the watcher, never raised."""
        with self._telling():
            _PERFORM[type(record)](self, record)
        self._watcher.record(record)

    def close(self, damage: CaptureError | None) -> Tally:
        """The capture has ended: last pictures, all work finished, the document complete."""
        self._settle(None)
        self._leave()
        for context, ledger in self._ledgers.items():
            self._photograph(Photographer.context_goes, context)
            ledger.close()
        with self._telling():
            self._rig.finish()
        if self._photographer is not None:
            self._photographer.close()
        self.tally.time = int(getattr(self._rig, "time", 0))
        self.tally.damage = damage
        self._document.finish(
            {"summary": asdict(self.tally) | {"damage": str(damage) if damage else None}}
        )
        return self.tally

    def _leave(self) -> None:
        """The devices of the Direct3D 10/11 interface that are left when the capture ends."""
        if self._facade is None:
            return
        self._facade.finish()
        for device in self._facade.devices():
            self._photograph(Photographer.context_goes, device)
        for time, cause in self._facade.disturbances:
            self._document.disturbance({"time": time, "cause": cause.value})

    # Records

    def _create_context(self, record: ContextCreated) -> None:
        self._rig.create_context(
            record.context, interface=record.interface, color=record.color, depth=record.depth
        )
        ledger = QueryLedger(record.interface, self._outcome, self._options)
        self._ledgers[record.context] = ledger

    def _destroy_context(self, record: ContextDestroyed) -> None:
        self._settle(None)
        self._photograph(Photographer.context_goes, record.context)
        ledger = self._ledgers.pop(record.context, None)
        if ledger is not None:
            ledger.close()
        self._rig.destroy_context(record.context)

    def _create_surface(self, record: SurfaceCreated) -> None:
        self._rig.create_surface(record.desc)

    def _destroy_surface(self, record: SurfaceDestroyed) -> None:
        self._rig.destroy_surface(record.handle)

    def _set_color_key(self, record: ColorKeySet) -> None:
        self._rig.set_color_key(record.handle, (record.low, record.high))

    def _remove_color_key(self, record: ColorKeyRemoved) -> None:
        self._rig.set_color_key(record.handle, None)

    def _lock(self, record: Locked) -> None:
        self._rig.lock(record.handle)

    def _flip(self, record: Flipped) -> None:
        self._rig.flip(record.front, record.back)

    def _blit(self, record: Blitted) -> None:
        self._rig.blit(record.blt)

    def _write(self, record: MemoryWritten) -> None:
        self._rig.write(record.handle, record.offset, record.data)

    def _call(self, record: Called) -> None:
        self._settle(None)
        call = record.call
        ledger = self._ledgers.get(call.dwhContext)
        self._buffers[call.dwhContext] = call.lpDDCommands
        self._pending = submit(self._rig, self.tally.calls, call, ledger)
        self.tally.calls += 1
        if self._photographer is not None:
            self._photographer.called(call.dwhContext if ledger is not None else None)

    def _answer(self, record: Answered) -> None:
        if self._pending is None:
            raise CaptureError("an answer without its call")
        self._settle(record.answer)

    def _mark_frame(self, record: FrameMarker) -> None:
        self.tally.frames += 1
        self._photograph(Photographer.frame_ends, record.surface)

    def _annotate(self, record: Annotation) -> None:
        """Time passes where the host waited; other remarks change nothing that is performed."""
        if record.key == WAIT:
            self._rig.finish()
        elif record.key == IMPORTED:
            self._imported = True
            if self._photographer is not None:
                self._photographer.only_told = True

    def _picture_told(self, record: Pictured) -> None:
        self._photograph(Photographer.told, record)
        if record.data and hasattr(self._rig, "observe"):
            frame, rig = self.tally.frames, cast(Observable, self._rig)
            check_readback(rig.surface(record.handle), record.index)
            rig.observe(record.handle, lambda seen: self._note(pixels_differ(record, seen, frame)))

    def _observe(self, record: Observed) -> None:
        """A program's GetData: what it gives now, compared if it tells of the program alone."""
        ledger = self._ledgers.get(record.context)
        if ledger is None:
            raise CaptureError(f"GetData of context {record.context}, of which there is none")
        if record.hr == HResult.S_OK:
            self._await(record, ledger)
        frame, kind = self.tally.frames, ledger.type_of(record.query)
        sight, difference = sight_of(record.query, ledger), None
        if kind is not None and is_compared(record, ledger):
            difference = observation_differs(record, sight, kind, frame)
            self._note(difference)
        self._document.query(observation_row(record, sight, kind, frame, difference))

    def _await(self, record: Observed, ledger: QueryLedger) -> None:
        """Where the program waited for an answer: time and empty calls, as long as they bring
        some.  They have no numbers; what the recording waited with is in it already.
        """
        buffer = self._buffers.get(record.context)
        if buffer is None or not ledger.is_due(record.query):
            return
        call = Call(record.context, buffer, commands=b"")
        self._rig.finish()
        brought = True
        while brought and ledger.is_due(record.query):
            performed = submit(self._rig, max(self.tally.calls - 1, 0), call, ledger)
            brought = performed.responses.more and bool(performed.responses.records)

    def _enter(self, record: EntryCalled) -> None:
        """A function of the Direct3D 10/11 interface: what comes of it now."""
        # Other captures have no need of all that is behind it.
        from dp2emu.replay.facade import PRESENT, Reply, entry_row

        facade, number = self._entered(), self.tally.entries
        self.tally.entries += 1
        if record.entry == "DestroyDevice":
            self._photograph(Photographer.context_goes, record.device)
        recorded, replayed = Reply.recorded(record), facade.perform(record)
        if self._photographer is not None:
            self._photographer.called(record.device or None)
        if recorded != Reply() or replayed != Reply():
            self._document.entry(entry_row(number, record, replayed, facade.adapter.gpu.now))
            self._settle_entry(number, record.entry, recorded, replayed)
        if record.entry == PRESENT and replayed.error is None:
            self.tally.frames += 1
            self._photograph(Photographer.frame_ends, facade.shown(record.device))

    def _entered(self) -> Facade:
        """The Direct3D 10/11 interface of the GPU; pictures are its from its first call on, unless
        there were D3dDrawPrimitives2 calls before.
        """
        from dp2emu.replay.facade import Facade

        if self._facade is None:
            if not isinstance(self._rig, Driver):
                raise Unsupported(f"Direct3D 10/11 interface of {type(self._rig).__name__}")
            self._facade = Facade(self._rig.gpu)
            if self._wanted is not None and self.tally.calls == 0:
                self._photographer = Photographer(self._facade, self._wanted, self._picture)
        return self._facade

    def _settle_entry(self, number: int, entry: str, recorded: Reply, replayed: Reply) -> None:
        from dp2emu.replay.facade import entry_differences

        if replayed.failed_as(recorded):
            self.tally.known_faults += 1
        elif replayed.error is not None:
            self._tell(replayed.error.at(call=number))
        found = list(entry_differences(number, entry, recorded, replayed))
        for difference in found:
            self._watcher.difference(difference)
        self.tally.compared += 1
        self.tally.different += bool(found)

    # What comes of them

    def _settle(self, recorded: Answer | None) -> None:
        """The call under way is over: its recorded answer is here, or will not come."""
        performed, self._pending = self._pending, None
        if performed is None:
            return
        self._document.call(row_of(performed, recorded))
        if performed.failed_as(recorded):
            self.tally.known_faults += 1
        elif performed.error is not None:
            self._tell(performed.error.at(call=performed.number))
        if recorded is not None:
            self._compare(performed, recorded)

    def _compare(self, performed: Performed, recorded: Answer) -> None:
        found = False
        for difference in differences(
            performed.number, recorded, performed.answer, performed.size_of
        ):
            self._watcher.difference(difference)
            found = True
        self.tally.compared += 1
        self.tally.different += found

    def _note(self, difference: Difference | None) -> None:
        """Something the program saw has been compared."""
        self.tally.observed += 1
        if difference is not None:
            self.tally.observed_different += 1
            self._watcher.difference(difference)

    def _outcome(self, outcome: Outcome) -> None:
        """A query's fate; of an import only what the program saw of it is told, by its calls."""
        delivered = outcome.data is not None
        self.tally.issued += 1
        self.tally.answered += delivered
        if self._imported:
            return
        hr = HResult.S_OK if delivered else HResult.S_FALSE
        self._document.query(
            {
                "call": outcome.call,
                "query": outcome.query,
                "type": sdk_name(QueryType, outcome.type),
                "type_raw": outcome.type,
                "hr": f"0x{hr:08x}",
                "value": payload_value(outcome.type, outcome.data or b""),
            }
        )

    def _photograph(
        self, event: Callable[[Photographer, Any], Iterator[Task]], subject: int | Pictured
    ) -> None:
        """Take the pictures that something which has just happened asks for."""
        if self._photographer is None:
            return
        tasks = event(self._photographer, subject)
        while True:
            with self._telling():
                task = next(tasks, None)
                if task is None:
                    break
                task()

    def _picture(self, row: dict[str, Any] | None, judged: Judged | None) -> None:
        self.tally.pictures += 1
        if row is not None:
            self._document.picture(row)
        if judged is not None:
            self.tally.judged += 1
            self.tally.unlike += not judged.judgement.within
            self._watcher.judgement(judged)
            if not judged.judgement.within:
                self._watcher.difference(judged.difference())

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What fails outside of any call is told with the call that follows it."""
        try:
            yield
        except Dp2Error as error:
            error.what = f"before call {self.tally.calls}: {error.what}"
            self._tell(error)

    def _tell(self, error: Dp2Error) -> None:
        self.tally.faults += 1
        self.tally.unsupported += isinstance(error, Unsupported)
        self._watcher.fault(error.at(stream=self._stream))


_PERFORM: dict[type[Any], Callable[[Player, Any], None]] = {
    ContextCreated: Player._create_context,
    ContextDestroyed: Player._destroy_context,
    SurfaceCreated: Player._create_surface,
    SurfaceDestroyed: Player._destroy_surface,
    ColorKeySet: Player._set_color_key,
    ColorKeyRemoved: Player._remove_color_key,
    Locked: Player._lock,
    Flipped: Player._flip,
    Blitted: Player._blit,
    MemoryWritten: Player._write,
    Called: Player._call,
    Answered: Player._answer,
    FrameMarker: Player._mark_frame,
    Annotation: Player._annotate,
    Pictured: Player._picture_told,
    Observed: Player._observe,
    EntryCalled: Player._enter,
}
