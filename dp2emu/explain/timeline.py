"""A timeline of a capture on the virtual clock, as a Perfetto trace.

Tracks: calls of the host, events of the GPU for as long as it is busy with them, responses, each
query from its issue to its delivery, and the counters.  A tick is a nanosecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dp2emu.argument_check import checked
from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.perfetto import TraceWriter
from dp2emu.explain.playback import Observer, Stage, play
from dp2emu.explain.query_account import Account, QueryAccounts
from dp2emu.explain.query_counts import SAMPLES, Change, Reading, change, read
from dp2emu.gpu.command.packets import Packet
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Watcher
from dp2emu.replay.calls import Performed
from dp2emu.replay.player import Recording

_TICKS = "busy_ticks"


class Timeline(Observer):
    """Writes calls, events, responses and counters to ``trace``.  Mutable: it grows.

    ``answered`` is to be called by the playback's watcher.
    """

    def __init__(self, name: str) -> None:
        self.trace = TraceWriter(name)
        self._calls = self.trace.track("calls")
        self._events = self.trace.track("GPU")
        self._responses = self.trace.track("responses")
        self.queries = self.trace.track("queries")
        self._counters = self.trace.track("counters")
        self._counter_tracks: dict[str, int] = {}
        self._totals: dict[str, int] = {}
        self._now = 0
        self._entered: dict[int, int] = {}
        self._last: Reading | None = None
        self._busy_until = 0

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Read the counters."""
        self._last = read(stage.gpu.counters)

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Add the event to the GPU's track, or a marker or write to the track of calls."""
        if packet is None:
            track = self._events if event.kind is EventKind.PRESENT else self._calls
            self.trace.instant(track, event.text or event.name, event.time, _notes(event))
            return
        assert self._last is not None
        found = change(self._last, read(stage.gpu.counters))
        start = max(event.time, self._busy_until)
        end = start + found.count(_TICKS)
        self._busy_until = end
        self.trace.slice(self._events, event.name, start, end, _notes(event), event.kind.value)
        self._count(found, end)

    def _count(self, found: Change, time: int) -> None:
        names = [*found.counts, *([SAMPLES] if found.passed else [])]
        for name in dict.fromkeys(names):
            if name not in self._counter_tracks:
                self._counter_tracks[name] = self.trace.counter(name, self._counters)
                self.trace.count(self._counter_tracks[name], 0, 0)
            self._totals[name] = self._totals.get(name, 0) + found.count(name)
            self.trace.count(self._counter_tracks[name], time, self._totals[name])

    def answered(self, performed: Performed) -> None:
        """Add a call of D3dDrawPrimitives2 with its responses."""
        time, number = performed.answer.time, performed.number
        start = min(self._now, time)
        self._entered.setdefault(number, start)
        notes = {"call": number, "context": performed.call.dwhContext}
        self.trace.slice(self._calls, f"D3dDrawPrimitives2 {number}", start, time, notes)
        self._now = time
        for response in performed.responses.records:
            notes = {"call": number, "query": response.query, "offset": response.offset}
            self.trace.instant(self._responses, f"query {response.query}", time, notes)

    def performed(self, record: Record, stage: Stage) -> None:
        """Add a call of the Direct3D 10/11 interface."""
        now = stage.gpu.now
        if isinstance(record, records.EntryCalled):
            number = stage.player.tally.entries - 1
            self._entered.setdefault(number, min(self._now, now))
            notes = {"call": number, "device": record.device}
            if record.call is not None:
                notes["api_call"] = record.call
            self.trace.slice(self._calls, record.entry, min(self._now, now), now, notes)
        self._now = now

    # Queries

    def add_queries(self, accounts: list[Account]) -> None:
        """Add a track for each query, with the phases of its answers."""
        tracks: dict[str, int] = {}
        ends: dict[str, int] = {}
        for account in accounts:
            name = f"{account.name} ({account.type})"
            if name not in tracks:
                tracks[name] = self.trace.track(name, self.queries)
            at = ends.get(name, 0)
            notes = {"answer": account.number, "state": account.state.value}
            for phase, start, end in self._phases(account):
                start, end = max(start, at), max(start, end, at)
                self.trace.slice(tracks[name], phase, start, end, notes)
                at = end
            ends[name] = at

    def _phases(self, account: Account) -> Iterator[tuple[str, int, int]]:
        """(phase, begin, end) of an answer: from the call that issued the query to the call
        that delivered the answer.
        """
        report, first = account.report, account.begin or account.end
        if report is None or first is None:
            return
        issued = self._entered.get(first.call or 0, report.begin.time)
        yield "issued", min(issued, report.begin.time), report.begin.time
        yield "executing", report.begin.time, report.end.time
        yield "signaling", report.end.time, report.visible
        if account.delivery is not None:
            yield "signaled", report.visible, account.delivery.time
            time = account.delivery.time
            yield "delivered", time, time


def _notes(event: Event) -> dict[str, int | str]:
    """The properties of an event that a timeline shows."""
    notes: dict[str, int | str] = {
        "event": event.address, "place": event.place, "frame": event.frame,
    }  # fmt: skip
    more: dict[str, int | str | None] = {
        "api_call": event.api_call,
        "primitives": event.primitives or None,
        "pixels": event.pixels or None,
        "targets": " ".join(map(str, event.targets)) or None,
        "markers": " > ".join(event.markers) or None,
        "query": event.query,
    }
    return notes | {name: value for name, value in more.items() if value is not None}


@checked
def timeline_of(
    capture: Recording,
    *,
    options: Options | None = None,
    timing: Timing | None = None,
    fault: Callable[[Dp2Error], None] = lambda error: None,
) -> TraceWriter:
    """Play a capture; returns its timeline, whose ``packets`` are a Perfetto trace.

    Raises Disagreement if an answer does not follow from its events.
    """
    options = options or Options()
    timeline, queries = Timeline(capture.name), QueryAccounts(options)

    def answered(performed: Performed) -> None:
        timeline.answered(performed)
        queries.answered(performed)

    watcher = Watcher(fault=fault, answered=answered)
    play(capture, [timeline, queries], options=options, timing=timing, watcher=watcher)
    timeline.add_queries(queries.close())
    return timeline.trace
