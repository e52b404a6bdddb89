"""Replay of a capture, record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TextIO, cast

import msgspec
from msgspec.structs import asdict

from dp2emu.argument_check import checked
from dp2emu.capture import records
from dp2emu.capture.api_calls import ApiCalls
from dp2emu.capture.records import Record
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import sdk_name
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.parsers import parser_name
from dp2emu.errors import CaptureError, Dp2Error, Unsupported, UsageError
from dp2emu.gpu.device.timing import Timing, instant, parse_timing
from dp2emu.gpu.work_budget import PICTURED
from dp2emu.places import Place, working_at
from dp2emu.readback import check_readback
from dp2emu.replay import compare
from dp2emu.replay.calls import Performed, row_of, submit
from dp2emu.replay.compare import Compared, Difference
from dp2emu.replay.document import Document
from dp2emu.replay.ledger import Outcome, QueryLedger
from dp2emu.replay.locating import Journal, Restartable, locate
from dp2emu.replay.pictures import Judged, Observable, Photographer, Pictures, Task
from dp2emu.replay.tally import Tally
from dp2emu.replay.values import payload_value
from dp2emu.rig.failure import RigFailure
from dp2emu.rig.interface import Rig

if TYPE_CHECKING:
    from dp2emu.replay.facade import Facade, Reply


def _ignore(_: object) -> None:
    """Do nothing: the default of a callback."""


class Watcher(msgspec.Struct, frozen=True):
    """Callbacks of a replay; each does nothing by default.

    ``fault`` receives errors, ``difference`` differences from the recording, ``record`` each
    record performed, ``judgement`` each picture that was compared with a reference, ``compared``
    each answer, result or observation that was compared with the recording, ``answered`` each call
    of D3dDrawPrimitives2 when it returns, also those that a replay adds to wait for answers.
    """

    fault: Callable[[Dp2Error], None] = _ignore
    difference: Callable[[Difference], None] = _ignore
    record: Callable[[Record], None] = _ignore
    judgement: Callable[[Judged], None] = _ignore
    compared: Callable[[Compared], None] = _ignore
    answered: Callable[[Performed], None] = _ignore


class Recording(Protocol):
    """A source of records to replay: a capture file of any form, or text read as one.

    A source may have ``bytes_read``, the size of its file, or of a pipe what was read so far:
    draws raise the limits of a capture only as far as that allows (``limits.raising_draws``).
    """

    @property
    def name(self) -> str:
        """Name of the capture, for errors."""

    @property
    def damage(self) -> CaptureError | None:
        """The error that ended the records early, None if they are complete."""

    def records(self) -> Iterator[Record]:
        """Every record, in order."""


@checked
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
    """Perform a capture on ``rig``, by default a new emulated driver; returns the counts.

    ``timing`` and ``options`` are for that driver; without ``timing`` an annotation "timing"
    before the first call selects it, else work is instant.  ``document`` receives replay JSON.
    ``pictures`` are taken at frame markers, before contexts are destroyed, and at the end.
    Faults do not end a replay.  Damage ends it early, and the tally has it; so does the failure of
    a driver's process, which is one fault and names the token.  Raises UsageError for an invalid
    annotated timing, a rig without pictures, or frames behind the end of the capture, and OSError
    for failed output.
    """
    options = options or Options()
    driver = Driver(timing or instant(), options)
    with Document(document) as page:
        player = Player(rig or driver, capture, page, watcher or Watcher(), options)
        if pictures is not None:
            player.photograph(pictures)
        journal = Journal() if hasattr(rig, "restart") else None
        with working_at(player.place), closing(journal) if journal else nullcontext():
            for record in capture.records():
                if timing is None and player.tally.calls == 0:
                    driver.gpu.timing = annotated_timing(record, capture.name) or driver.gpu.timing
                if journal is not None:
                    journal.add(record)
                player.perform(record)
                if player.failure is not None:
                    break
            if journal is not None:
                player.locate(journal)
            player.tally.timing = driver.gpu.timing.name if rig is None else type(rig).__name__
            return player.close(capture.damage)


def annotated_timing(record: Record, stream: str) -> Timing | None:
    """The timing model that a record of capture ``stream`` selects; None for other records.

    Raises UsageError for a model that does not exist, or that reads a file.
    """
    if not isinstance(record, records.Annotation) or record.key != records.TIMING:
        return None
    if record.text.startswith("scripted"):
        # An untrusted capture must not choose which files of this machine are read.
        raise UsageError("annotation timing names a script; pass it as --timing", stream=stream)
    try:
        return parse_timing(record.text)
    except UsageError as error:
        raise UsageError(f"annotation timing: {error.what}", stream=stream) from None


class Player:
    """Performs records on a rig and reports results.  Mutable: records change it."""

    def __init__(
        self,
        rig: Rig,
        capture: Recording | None,
        document: Document,
        watcher: Watcher,
        options: Options,
    ) -> None:
        self.tally = Tally()
        self._rig = rig
        self._stream = "" if capture is None else capture.name
        self._document = document
        self._watcher = watcher
        self._options = options
        self._parser = parser_name(options)
        self._ledgers: dict[int, QueryLedger] = {}
        self._pending: Performed | None = None
        self._photographer: Photographer | None = None
        self._wanted: Pictures | None = None
        self._facade: Facade | None = None
        self._entry = ""
        self._begun = False
        self._imported = False
        self._buffers: dict[int, int] = {}
        self.api_calls = ApiCalls()
        self.failure: RigFailure | None = None
        if isinstance(rig, Driver):
            rig.gpu.play_from(lambda: getattr(capture, "bytes_read", None))

    def photograph(self, wanted: Pictures) -> None:
        """Take pictures from here on.  Raises UsageError if the rig cannot show surfaces."""
        if not hasattr(self._rig, "observe"):
            raise UsageError(f"{type(self._rig).__name__} cannot be photographed")
        self._wanted = wanted
        self._photographer = self._photographer_of(cast(Observable, self._rig), wanted)

    def _photographer_of(self, rig: Observable, wanted: Pictures) -> Photographer:
        made = Photographer(rig, wanted, self._picture, self._data, self._take)
        made.only_recorded = self._imported
        return made

    def _take(self, pixels: int) -> None:
        """Count pixels of a picture.  Raises Exceeded for too many."""
        if isinstance(self._rig, Driver):
            self._rig.gpu.budget.observe(PICTURED * pixels)

    def place(self) -> Place:
        """The call that is being performed, or otherwise the next one.

        A call of the Direct3D 10/11 interface is named by its function, as a token.
        """
        if not self._begun:
            return {"stream": self._stream}
        if self._facade is not None and self.tally.entries:
            return {"stream": self._stream, "call": self.tally.entries - 1, "token": self._entry}
        pending = self._pending
        call = self.tally.calls if pending is None else pending.number
        return {"stream": self._stream, "call": call}

    def perform(self, record: Record) -> None:
        """Perform a record on the rig.  Errors are reported to the watcher, never raised."""
        self._begun = True
        try:  # as _reporting does, which takes longer than most records
            _PERFORM[type(record)](self, record)
        except Dp2Error as error:
            self._report_before_call(error)
        self._watcher.record(record)

    def close(self, damage: CaptureError | None) -> Tally:
        """Finish the replay: last pictures, all GPU work, the document; returns the counts."""
        self._settle(None)
        self._leave()
        for context, ledger in self._ledgers.items():
            self._photograph(Photographer.context_goes, context)
            ledger.close()
        if self.failure is None:
            with self._reporting():
                self._rig.finish()
        if self._photographer is not None:
            self._photographer.close()
            self._check_pictures(self._photographer, whole=damage is None)
        self.tally.time = int(getattr(self._rig, "time", 0))
        self.tally.damage = damage
        summary = asdict(self.tally) | {"damage": str(damage) if damage else None}
        self._document.finish({"summary": summary})
        return self.tally

    @property
    def facade(self) -> Facade | None:
        """The Direct3D 10/11 interface of the replay, None before its first call."""
        return self._facade

    def locate(self, journal: Journal) -> None:
        """Find the token of the call in which the driver failed, and name it in the failure.

        Does nothing unless it failed in the last call of ``journal``.  The rig is restarted.
        """
        failed = self._pending
        if failed is None or self.failure is None or failed.error is not self.failure:
            return
        interface = failed.ledger.interface if failed.ledger else _NEWEST
        rig = cast(Restartable, self._rig)
        commands = failed.commands
        place = locate(self.failure, journal, commands, interface, partial(_failure_of, rig))
        if place is not None:
            self.failure.at(offset=place.offset, token=place.token)

    def _check_pictures(self, taken: Photographer, *, whole: bool) -> None:
        """Count pictures without a reference; refuse frames that a ``whole`` capture lacks."""
        assert self._wanted is not None
        if self._wanted.judge is not None:
            self.tally.unreferenced = len(self._wanted.judge.unreferenced)
        if whole:
            self._wanted.frames.check(taken.frames)

    def _leave(self) -> None:
        """Finish and picture the Direct3D 10/11 devices that the capture did not destroy."""
        if self._facade is None:
            return
        with self._reporting():
            self._facade.finish()
        for device in self._facade.devices():
            self._photograph(Photographer.context_goes, device)
        for time, cause in self._facade.adapter.disturbances:
            self._document.add("disturbances", {"time": time, "cause": cause.value})

    # Records

    def _create_context(self, record: records.ContextCreated) -> None:
        self._rig.create_context(
            record.context, interface=record.interface, color=record.color, depth=record.depth
        )
        ledger = QueryLedger(record.interface, self._outcome, self._options)
        self._ledgers[record.context] = ledger

    def _destroy_context(self, record: records.ContextDestroyed) -> None:
        self._settle(None)
        self._photograph(Photographer.context_goes, record.context)
        ledger = self._ledgers.pop(record.context, None)
        if ledger is not None:
            ledger.close()
        self._rig.destroy_context(record.context)

    def _create_surface(self, record: records.SurfaceCreated) -> None:
        self._rig.create_surface(record.desc)

    def _destroy_surface(self, record: records.SurfaceDestroyed) -> None:
        self._rig.destroy_surface(record.handle)

    def _set_color_key(self, record: records.ColorKeySet) -> None:
        self._rig.set_color_key(record.handle, (record.low, record.high))

    def _remove_color_key(self, record: records.ColorKeyRemoved) -> None:
        self._rig.set_color_key(record.handle, None)

    def _lock(self, record: records.Locked) -> None:
        self._rig.lock(record.handle)

    def _flip(self, record: records.Flipped) -> None:
        self._rig.flip(record.front, record.back)

    def _blit(self, record: records.Blitted) -> None:
        self._rig.blit(record.blt)

    def _write(self, record: records.MemoryWritten) -> None:
        self._rig.write(record.handle, record.offset, record.data)

    def _call(self, record: records.Called) -> None:
        self._settle(None)
        self.api_calls.see(record)
        call = record.call
        ledger = self._ledgers.get(call.dwhContext)
        self._buffers[call.dwhContext] = call.lpDDCommands
        self._pending = submit(self._rig, self.tally.calls, call, ledger, self._parser)
        self._watcher.answered(self._pending)
        if isinstance(self._pending.error, RigFailure):
            self.failure = self._pending.error
        self.tally.calls += 1
        if self._photographer is not None:
            self._photographer.called(call.dwhContext if ledger is not None else None)

    def _answer(self, record: records.Answered) -> None:
        if self._pending is None:
            raise CaptureError("an answer without its call")
        self._settle(record.answer)

    def _mark_frame(self, record: records.FrameMarker) -> None:
        self.tally.frames += 1
        self._photograph(Photographer.frame_ends, record.surface)

    def _annotate(self, record: records.Annotation) -> None:
        """Perform an annotation: wait for the GPU or note an import; other keys do nothing."""
        self.api_calls.see(record)
        if record.key == records.WAIT:
            self._rig.finish()
        elif record.key == records.IMPORTED:
            self._imported = True
            if self._photographer is not None:
                self._photographer.only_recorded = True

    def _show_recorded(self, record: records.Pictured) -> None:
        if record.how in records.OF_RESOURCES:
            self._show_resource(record)
            return
        self._photograph(Photographer.recorded, record)
        if record.data and hasattr(self._rig, "observe"):
            frame, rig = self.tally.frames, cast(Observable, self._rig)
            check_readback(rig.surface(record.handle), record.index)
            rig.observe(
                record.handle,
                lambda seen: self._note(record, frame, compare.pixels_differ(record, seen, frame)),
            )

    def _show_resource(self, record: records.Pictured) -> None:
        if self._facade is None:
            what = f"picture of the resource in memory {record.handle}"
            raise CaptureError(f"{what} before any device of Direct3D 10 or 11")
        frame, facade = self.tally.frames, self._facade
        self._photograph(partial(Photographer.recorded, source=facade), record)
        if record.data:
            facade.read(
                record,
                lambda seen: self._note(record, frame, compare.pixels_differ(record, seen, frame)),
            )

    def _observe(self, record: records.Observed) -> None:
        """Repeat a program's GetData and compare the result, unless it depends on time."""
        ledger = self._ledgers.get(record.context)
        if ledger is None and record.context == 0:
            self._observe_entry(record)
            return
        if ledger is None:
            raise CaptureError(f"GetData of context {record.context}, of which there is none")
        if record.hr == HResult.S_OK:
            self._await(record, ledger)
        frame, kind = self.tally.frames, ledger.type_of(record.query)
        result, difference = compare.get_data(record.query, ledger), None
        if kind is not None and compare.is_compared(record, ledger):
            difference = compare.observation_differs(record, result, kind, frame)
            self._note(record, frame, difference)
        row = compare.observation_row(record, result, kind, frame, difference)
        self._document.add("queries", row)
        name, same = sdk_name(QueryType, kind or 0), difference is None
        row = compare.answer_row(record, result, name, frame, same)
        self._document.add("get_data", row)

    def _observe_entry(self, record: records.Observed) -> None:
        """Repeat GetData of a Direct3D 10/11 query as ``_observe`` does.

        What the runtime answered without a driver, it answers again.
        """
        # Captures of older interfaces should not import the Direct3D 10/11 driver.
        from dp2emu.replay import compare10

        frame, difference, name = self.tally.frames, None, None
        if record.query == 0:
            result = compare.GetDataResult(record.hr, b"")
        elif self._facade is None:
            raise CaptureError(f"GetData of query {record.query} of context 0: there is none")
        else:
            waits = record.hr == HResult.S_OK
            kind, data = self._facade.get_data(record.query, wait=waits)
            name, result = kind.query.name, compare10.answer(record, data)
            if compare10.is_compared(record, kind):
                difference = compare10.observation_differs(record, result, kind, frame)
                self._note(record, frame, difference)
        row = compare.answer_row(record, result, name, frame, difference is None)
        self._document.add("get_data", row)

    def _await(self, record: records.Observed, ledger: QueryLedger) -> None:
        """Wait for a query's answer as the program did: finish the GPU, then submit empty calls.

        These calls are not counted, since the capture has the calls of the recorded wait already.
        """
        buffer = self._buffers.get(record.context)
        if buffer is None or not ledger.is_due(record.query):
            return
        call = Call(record.context, buffer, commands=b"")
        self._rig.finish()
        brought = True
        while brought and ledger.is_due(record.query):
            number = max(self.tally.calls - 1, 0)
            performed = submit(self._rig, number, call, ledger, self._parser)
            self._watcher.answered(performed)
            brought = performed.responses.more and bool(performed.responses.records)

    def _enter(self, record: records.EntryCalled) -> None:
        # Captures of older interfaces should not import the Direct3D 10/11 driver.
        from dp2emu.replay.facade import PRESENT, Reply, entry_row

        facade, number = self._entered(), self.tally.entries
        self.tally.entries += 1
        self._entry = record.entry
        if record.entry == "DestroyDevice":
            self._photograph(Photographer.context_goes, record.device)
        recorded, replayed = Reply.recorded(record), facade.perform(record)
        if self._photographer is not None:
            self._photographer.called(record.device or None)
        unlike = recorded != Reply() or replayed != Reply()
        if unlike and (replayed.error is not None or not self._imported):
            row = entry_row(number, record, replayed, facade.adapter.gpu.now)
            self._document.add("entries", row)
        if unlike:
            self._settle_entry(number, record, recorded, replayed)
        if record.entry == PRESENT and replayed.error is None and not self._imported:
            self.tally.frames += 1
            self._photograph(Photographer.frame_ends, facade.shown(record.device))

    def _entered(self) -> Facade:
        """The Direct3D 10/11 interface of the rig's GPU, created on first use.

        Later pictures are of the surfaces of this interface, unless the capture had a
        D3dDrawPrimitives2 call before.  Raises Unsupported for a rig without the interface.
        """
        if self._facade is None:
            from dp2emu.replay.facade import Facade

            if not isinstance(self._rig, Driver):
                raise Unsupported(f"Direct3D 10/11 interface of {type(self._rig).__name__}")
            self._facade = Facade(self._rig.gpu)
            if self._wanted is not None and self.tally.calls == 0:
                self._photographer = self._photographer_of(self._facade, self._wanted)
        return self._facade

    def _settle_entry(
        self, number: int, record: records.EntryCalled, recorded: Reply, replayed: Reply
    ) -> None:
        from dp2emu.replay.facade import check_codes, entry_differences

        if replayed.failed_as(recorded):
            self.tally.known_faults += 1
        elif replayed.error is not None:
            error = replayed.error
            error.what += _in_api_call(record.call)
            self._report(error.at(call=number))
        if self._imported:
            check_codes(record, replayed)
        else:
            found = entry_differences(number, record.entry, recorded, replayed)
            self._count(f"call {number}: {record.entry}", found)

    # Results

    def _settle(self, recorded: Answer | None) -> None:
        """Report the call submitted last; compare its answer with the ``recorded`` one, if any."""
        performed, self._pending = self._pending, None
        if performed is None:
            return
        self._document.call(row_of(performed, recorded))
        if performed.failed_as(recorded):
            self.tally.known_faults += 1
        elif performed.error is not None:
            error = performed.error
            if error.offset is not None:
                start = performed.call.dwCommandOffset
                error.what += _in_api_call(self.api_calls.at(error.offset - start))
            self._report(error.at(call=performed.number))
        if recorded is not None:
            self._compare(performed, recorded)

    def _compare(self, performed: Performed, recorded: Answer) -> None:
        number, answer = performed.number, performed.answer
        found = compare.differences(number, recorded, answer, performed.size_of)
        self._count(f"call {number}: answer", found)

    def _count(self, name: str, differences: Iterator[Difference]) -> None:
        """Count and report an answer or result, ``name``, that was compared."""
        found = tuple(differences)
        for difference in found:
            self._watcher.difference(difference)
        self.tally.compared += 1
        self.tally.different += bool(found)
        self._watcher.compared(Compared(name, found))

    def _note(
        self, record: records.Pictured | records.Observed, frame: int, found: Difference | None
    ) -> None:
        """Count an observation that was compared; report the difference found unless it is
        None.
        """
        self.tally.observed += 1
        if found is not None:
            self.tally.observed_different += 1
            self._watcher.difference(found)
        differences = () if found is None else (found,)
        self._watcher.compared(Compared(compare.observation_name(record, frame), differences))

    def _outcome(self, outcome: Outcome) -> None:
        """Count the outcome of a query END; add it to the document, except in an import."""
        delivered = outcome.data is not None
        self.tally.issued += 1
        self.tally.answered += delivered
        if self._imported:
            return
        hr = HResult.S_OK if delivered else HResult.S_FALSE
        row = {
            "call": outcome.call,
            "query": outcome.query,
            "type": sdk_name(QueryType, outcome.type),
            "type_raw": outcome.type,
            "hr": f"0x{hr:08x}",
            "value": payload_value(outcome.type, outcome.data or b""),
        }
        self._document.add("queries", row)

    def _photograph(
        self, event: Callable[[Photographer, Any], Iterator[Task]], subject: int | records.Pictured
    ) -> None:
        """Take the pictures due at an event; an error in one does not prevent the others."""
        if self._photographer is None:
            return
        tasks = event(self._photographer, subject)
        while True:
            with self._reporting():
                task = next(tasks, None)
                if task is None:
                    break
                task()

    def _picture(self, row: dict[str, Any] | None, judged: Judged | None) -> None:
        self.tally.pictures += 1
        if row is not None:
            self._document.add("pictures", row)
        if judged is not None:
            self.tally.judged += 1
            self.tally.unlike += not judged.judgement.within
            self._watcher.judgement(judged)
            if not judged.judgement.within:
                self._watcher.difference(judged.difference())

    def _data(self, row: dict[str, Any]) -> None:
        self.tally.data += 1
        self._document.add("data", row)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Context manager that catches and reports an error, with the number of the next call."""
        try:
            yield
        except Dp2Error as error:
            self._report_before_call(error)

    def _report_before_call(self, error: Dp2Error) -> None:
        number = self.tally.entries if self._facade is not None else self.tally.calls
        error.what = f"before call {number}: {error.what}"
        self._report(error)

    def _report(self, error: Dp2Error) -> None:
        self.tally.faults += 1
        self.tally.unsupported += isinstance(error, Unsupported)
        if isinstance(error, RigFailure):
            self.failure = error
            error.what += "; the replay ends here"
        self._watcher.fault(error.at(stream=self._stream))


def _in_api_call(number: int | None) -> str:
    """The API call that led to an error, as the end of its message; empty if unknown."""
    return "" if number is None else f" (in API call {number})"


_NEWEST = 9
"""DirectX version by which the commands of a call with an unknown context are read."""


def _failure_of(rig: Restartable, records: Iterable[Record]) -> RigFailure | None:
    """Perform records on a fresh driver of ``rig``; returns its failure, if any."""
    rig.restart()
    with Document(None) as page:
        player = Player(rig, None, page, Watcher(), Options())
        for record in records:
            player.perform(record)
            if player.failure is not None:
                break
        return player.failure


_PERFORM: dict[type[Any], Callable[[Player, Any], None]] = {
    records.ContextCreated: Player._create_context,
    records.ContextDestroyed: Player._destroy_context,
    records.SurfaceCreated: Player._create_surface,
    records.SurfaceDestroyed: Player._destroy_surface,
    records.ColorKeySet: Player._set_color_key,
    records.ColorKeyRemoved: Player._remove_color_key,
    records.Locked: Player._lock,
    records.Flipped: Player._flip,
    records.Blitted: Player._blit,
    records.MemoryWritten: Player._write,
    records.Called: Player._call,
    records.Answered: Player._answer,
    records.FrameMarker: Player._mark_frame,
    records.Annotation: Player._annotate,
    records.Pictured: Player._show_recorded,
    records.Observed: Player._observe,
    records.EntryCalled: Player._enter,
}
