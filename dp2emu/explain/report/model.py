"""The model of a report: everything that its page shows, as one JSON object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

from dp2emu.argument_check import checked
from dp2emu.capture.records import Annotation, EntryCalled, Pictured, Record
from dp2emu.diff.images import EXACT, Allowance
from dp2emu.diff.judging import References
from dp2emu.dp2.call import Call
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts
from dp2emu.dp2.table import Token
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.escaping import plain
from dp2emu.explain.creations import made_by
from dp2emu.explain.events import Event, EventKind, Origin, written_surfaces
from dp2emu.explain.pass_graph import PassGraph
from dp2emu.explain.playback import Observer, Playback, Stage
from dp2emu.explain.query_account import QueryAccounts
from dp2emu.explain.report.arguments import Arguments
from dp2emu.explain.report.copies import Copied, copied_by
from dp2emu.explain.report.differences import KeepingJudge
from dp2emu.explain.report.histories import Histories, Spot, affordable, histories
from dp2emu.explain.report.meshes import Meshes
from dp2emu.explain.report.passes import pass_rows
from dp2emu.explain.report.queries import query_rows
from dp2emu.explain.report.setting_steps import SettingSteps
from dp2emu.explain.report.shaders import ShaderTexts, assemblies_of
from dp2emu.explain.report.states import Changes, StateSteps
from dp2emu.explain.report.targets import TargetPictures, format_name
from dp2emu.explain.report.textures import TextureContents
from dp2emu.explain.setters import Setter
from dp2emu.gpu.command.packets import Draw, Packet
from dp2emu.gpu.command.queries import COUNTER_NAMES
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.operation_costs import operations_of
from dp2emu.gpu.resource.heap import Surface
from dp2emu.replay import Pictures, Recording, Tally, Watcher
from dp2emu.replay.frames import EVERY, Frames

SCHEMA = 1
"""Version of the model; within a version keys may be added, never removed."""
EVENTS = 10_000
"""Maximum number of events on a page."""
FAULTS = 1_000
"""Maximum number of faults on a page."""
COPIES = 2_000
"""Maximum number of copies that are kept to follow pixels through them."""
THROUGH = 4
"""Maximum number of copies through which a page follows one pixel."""
LABEL_CHARACTERS = 200
"""Maximum number of characters of the name of a surface."""

_counters = attrgetter(*COUNTER_NAMES)
_SURFACE = re.compile(r"_surface([0-9]{1,18})\.png$")


EVENT_BYTES, OPERATION_BYTES, FACT_BYTES = 10_000_000, 25_000, 100_000
"""Bytes that an event of the page, each of its operations, and each object of the state behind a
token or call count as: an event takes 2 ms, and five times as long as the GPU takes for it."""


class _Issued(NamedTuple):
    """What was so when the front end was behind a token or call."""

    changes: Changes
    assemblies: dict[str, str]
    arguments: list[str]


class Collector(Observer):
    """Collects what a page shows of the events of a playback.  Mutable: it grows.

    ``wanted`` are the numbers of the events to show.
    """

    def __init__(self, wanted: Frames = EVERY) -> None:
        self.last: int | None = None
        self.left_out = 0
        self.events: list[dict[str, Any]] = []
        self.surfaces: dict[int, dict[str, Any]] = {}
        self.faults: list[dict[str, Any]] = []
        self.targets = TargetPictures()
        self.states = StateSteps()
        self.settings = SettingSteps(self.states)
        self.shaders = ShaderTexts()
        self.textures = TextureContents()
        self.meshes = Meshes()
        self.arguments = Arguments()
        self.shown_by: dict[int, int] = {}
        self.labels: dict[int, str] = {}
        self.created: dict[int, str] = {}
        self._wanted = wanted
        self._issued: dict[Origin, _Issued] = {}
        self._frame = 0
        self._before: tuple[int, ...] = ()
        self._mesh: int | None = None
        self._draws = 0
        self._drawn_to: int | None = None
        self.unexamined = 0
        self.uncompared = 0
        self._times: dict[Origin, int] = {}
        self._copies: list[Copied] = []
        self._over = False

    def fault(self, error: Dp2Error) -> None:
        """Note an error of the capture at the last event."""
        if len(self.faults) < FAULTS:
            self.faults.append({"event": self.last, "text": plain(str(error))})

    @property
    def draws(self) -> int:
        """The number of draws so far, shown or not."""
        return self._draws

    def spots(self, pixels: Iterable[tuple[int, int]]) -> list[Spot]:
        """Pixels of the target that was drawn to last.  Raises UsageError if there is no draw."""
        target, wanted = self._drawn_to, list(pixels)
        if target is None and wanted:
            raise UsageError("no event draws to a surface: there are no pixels to follow")
        return [] if target is None else [Spot(target, x, y) for x, y in wanted]

    def sources(self, spots: Iterable[Spot]) -> list[Spot]:
        """The pixels that were last copied to pixels, and those that were copied to them."""
        return [source for spot in spots for source in islice(self._followed(spot), THROUGH)]

    def _followed(self, spot: Spot) -> Iterator[Spot]:
        """Yield where a pixel came from, the latest copy first."""
        for copied in reversed(self._copies):
            source = copied.source_of(spot)
            if source is not None:
                spot = source
                yield spot

    def close(self) -> None:
        """Store the last pictures; put the names of surfaces where they are shown."""
        if self.last is not None:
            self.targets.frame_ends(self.last)
        for row in [*self.surfaces.values(), *self.textures.rows]:
            name = self.labels.get(row["surface"])
            row["label"] += f" {name}" if name else ""

    def shows(self, event: Event) -> bool:
        """Whether an event is on the page."""
        return event.number in self._wanted and not self._is_full

    def issued(self, origin: Origin, stage: Stage) -> None:
        """Keep what changed in the state, and the bound shaders, until the events execute."""
        self._times[origin] = stage.gpu.now
        if self._complete:
            return
        facts = stage.facts(origin, queries=False)  # the page has them elsewhere
        self._over = not stage.gpu.budget.observes(FACT_BYTES * _facts_in(facts))
        context = str(origin.device)
        setter = self.settings.setter_in(context)
        last = self.states.changes(context, facts, setter) if facts else {}
        changes = self.settings.issued(origin, last)
        wanted = self._wanted == EVERY or self._next_is_shown()
        arguments = self.arguments.lines(origin) if wanted else []
        self._issued[origin] = _Issued(changes, assemblies_of(facts), arguments)

    def issued_at(self, origin: Origin) -> int | None:
        """The host's tick when the front end was behind a token or call; None if unknown."""
        return self._times.get(origin)

    def performing(self, record: Record, stage: Stage) -> None:
        """Note which surface a picture of the program shows, and the names of surfaces; and what
        the last call set.
        """
        self.settings.performing(record, stage, wanted=self._next_is_shown())
        self.arguments.performing(record)
        if isinstance(record, Pictured):
            self.shown_by[record.call] = stage.shown(record)
        elif isinstance(record, EntryCalled):
            creator = Setter(str(stage.player.tally.entries), record.entry)
            self.created |= dict.fromkeys(made_by(record), str(creator))
        elif isinstance(record, Annotation):
            handle = stage.labelled(record)
            if handle is not None:
                self.labels[handle] = plain(record.text)[:LABEL_CHARACTERS]

    def token(self, call: Call, token: Token, stage: Stage) -> None:
        """Note what the last token set; ``token`` executes next."""
        self.settings.token(call, token, stage, wanted=self._next_is_shown())

    def _next_is_shown(self) -> bool:
        """Whether the next event is on the page."""
        return self.left_out + len(self.events) in self._wanted and not self._is_full

    @property
    def _complete(self) -> bool:
        """Whether no later event is on the page."""
        last = self._wanted.last
        past = last is not None and self.left_out + len(self.events) > last
        return past or self._is_full

    @property
    def _is_full(self) -> bool:
        """Whether the page has as many events as it may have."""
        return self._over or len(self.events) >= EVENTS

    def handle(self, name: str, call: int | None) -> int | None:
        """The surface of a picture of the replay, by the API call that took it or its name."""
        if call is not None:
            return self.shown_by.get(call)
        found = _SURFACE.search(name)
        return None if found is None else int(found[1])

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Keep the contents that the event is about to change, and the counters."""
        if self.shows(event) and packet is not None:
            self._over = not stage.gpu.budget.observes(_shown_bytes(packet))
        if not self.shows(event):
            return
        if event.frame != self._frame:
            self._frame = event.frame
            self.targets.frame_ends(event.number - 1)
        for handle, surface in _surfaces(event, packet, stage):
            self.surfaces.setdefault(handle, _described(handle, surface))
            if event.kind is not EventKind.WRITE:
                self.targets.watch(event.number, handle, surface, stage.gpu.budget.observes)
        self._mesh = self.meshes.number(packet) if isinstance(packet, Draw) else None
        self._before = _counters(stage.gpu.counters)

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Add the event's row."""
        shown = self.shows(event)
        if event.kind is EventKind.DRAW:
            self._draws += 1
            self._drawn_to = next(iter(event.targets), self._drawn_to)
        issued = self._issued.get(event.origin) or _Issued({}, {}, [])
        if event.item == 0:
            context = str(event.origin.device)
            self.states.add(event.number, context, issued.changes, wanted=shown)
        if not shown:
            self.left_out += 1
            return
        self.last = event.number
        self.targets.changed(event.number, event.targets)
        copied = None if packet is None else copied_by(packet, stage)
        if copied is not None and len(self._copies) < COPIES:
            self._copies.append(copied)
        now = _counters(stage.gpu.counters)
        moved = [after - before for after, before in zip(now, self._before, strict=True)]
        self.events.append(
            _row(event) | {
                "arguments": issued.arguments,
                "shaders": self.shaders.numbers(packet, issued.assemblies),
                "textures": self.textures.numbers(packet, stage),
                "mesh": self._mesh,
                "counters": moved,
            }
            | ({} if copied is None else {"source": copied.row()})
        )  # fmt: skip


def _surfaces(event: Event, packet: Packet | None, stage: Stage) -> Iterable[tuple[int, Surface]]:
    """Pairs of handle and surface that an event writes or shows."""
    if packet is not None:
        return [(stage.handle(surface), surface) for surface in written_surfaces(packet)]
    with suppress(UsageError):
        return [(handle, stage.surface(handle)) for handle in event.targets]
    return []


def _described(handle: int, surface: Surface) -> dict[str, Any]:
    return {
        "surface": handle,
        "label": f"surface {handle}",
        "width": surface.width,
        "height": surface.height,
        "format": format_name(surface),
        "samples": surface.samples,
    }


def _row(event: Event) -> dict[str, Any]:
    marks = event.kind is EventKind.MARKER
    return {
        "number": event.number,
        "frame": event.frame,
        "kind": event.kind.value,
        "name": plain(event.text if marks else event.name),
        "reason": "" if marks else plain(event.text),
        "call": event.call,
        "token": event.token,
        "item": event.item,
        "api_call": event.api_call,
        "time": event.time,
        "context": str(event.origin.device),
        "markers": [plain(each) for each in event.markers],
        "primitives": event.primitives,
        "topology": event.topology,
        "targets": list(event.targets),
        "pixels": event.pixels,
        "query": event.query,
    }


@checked
def report_model(
    capture: Recording,
    *,
    file: str = "FILE",
    wanted: Frames = EVERY,
    options: Options | None = None,
    timing: Timing | None = None,
    against: References | None = None,
    allowance: Allowance = EXACT,
    pixels: Sequence[tuple[int, int]] = (),
) -> dict[str, Any]:
    """Play a capture and return the model of its page, as a JSON object.

    ``file`` is the capture's name in commands on the page, ``wanted`` the numbers of the events to
    show.  The pictures that the replay takes are compared with ``against``.  The page has
    the histories of ``pixels`` of the target that was drawn to last, and of those that differ, as
    far as they can be afforded; these need another pass over the capture.  Raises UsageError for
    an invalid annotated timing or a range without an event, for ``pixels`` outside of the target,
    and for references that are no pictures.
    """
    options = options or Options()
    found, accounts, graph = Collector(wanted), QueryAccounts(options), PassGraph()
    watcher = Watcher(fault=found.fault, answered=accounts.answered)
    observers = [found, accounts, graph]
    playback = Playback(capture, observers, options=options, timing=timing, watcher=watcher)
    judge, stage = None, playback.stage
    stage.driver.command_taps.append(lambda call, _, token, count: found.token(call, token, stage))
    with closing(playback):
        if against is not None:
            judge = KeepingJudge(against, allowance, lambda: found.last, found.handle)
            playback.stage.player.photograph(Pictures(judge=judge))
        while playback.step():
            pass
    if not found.events and wanted != EVERY:
        raise UsageError(f"no event from E{wanted.first} on: {_there(found)}")
    found.close()
    asked = found.spots(pixels)
    chosen: list[Spot] = []
    if judge:
        chosen = affordable(judge.spots, found.draws)
        found.unexamined = len(set(judge.spots)) - len(chosen) + judge.unlisted
        found.uncompared = judge.without
    past: Histories = {}
    if asked or chosen:
        chosen += found.sources([*asked, *chosen])
        past = histories(capture, chosen, asked=asked, options=options, timing=timing)
    return _model(found, playback.tally, plain(capture.name)) | {
        "file": plain(file),
        "graph": pass_rows(graph),
        "queries": query_rows(accounts.close(), found.issued_at),
        "differences": [] if judge is None else judge.sorted_rows(),
        "histories": _by_series(past, found.targets.rows()),
    }


def _facts_in(facts: Facts) -> int:
    """The number of JSON objects in a state, those in lists left out."""
    return 1 + sum(_facts_in(each) for each in facts.values() if isinstance(each, dict))


def _shown_bytes(packet: Packet) -> int:
    """The bytes that an event on the page counts as among those that the verb observes."""
    return EVENT_BYTES + OPERATION_BYTES * operations_of(packet)


def _by_series(past: Histories, series: list[dict[str, Any]]) -> dict[str, Any]:
    """Histories by series of pictures (``SURFACE/color``), for those that the page has."""
    known = {f"{row['surface']}/{row['shows']}": past.get(row["surface"]) for row in series}
    return {key: rows for key, rows in known.items() if rows}


def _there(collector: Collector) -> str:
    last = collector.left_out - 1
    return "there is none" if last < 0 else f"there are E0 to E{last}"


def _model(found: Collector, tally: Tally, title: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "title": title,
        "events": _without_still_counters(found.events),
        "frames": _frames(found.events),
        "surfaces": found.surfaces,
        "series": found.targets.rows(),
        "blobs": found.targets.blobs.texts,
        "state": found.states.row() | {"created": found.created},
        "shaders": found.shaders.rows,
        "textures": found.textures.rows,
        "meshes": found.meshes.rows,
        "counters": {"names": _counter_names(found.events)},
        "statistics": _statistics(found, tally),
        "faults": found.faults,
        "notes": list(_notes(found)),
    }


def _frames(events: list[dict[str, Any]]) -> list[dict[str, int]]:
    frames: dict[int, dict[str, int]] = {}
    for event in events:
        number = event["frame"]
        start = {"number": number, "first": event["number"]}
        frames.setdefault(number, start)["last"] = event["number"]
    return list(frames.values())


def _moving(events: list[dict[str, Any]]) -> list[int]:
    """The indices of the counters that any event moved."""
    every = range(len(COUNTER_NAMES))
    return [at for at in every if any(event["counters"][at] for event in events)]


def _counter_names(events: list[dict[str, Any]]) -> list[str]:
    return [COUNTER_NAMES[at].replace("_", " ") for at in _moving(events)]


def _without_still_counters(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    moving = _moving(events)
    return [event | {"counters": [event["counters"][at] for at in moving]} for event in events]


def _statistics(found: Collector, tally: Tally) -> list[tuple[str, int]]:
    draws = [event for event in found.events if event["kind"] == EventKind.DRAW]
    return [
        ("Events", len(found.events)),
        ("Draws", len(draws)),
        ("Frames", len(_frames(found.events))),
        ("Faults", len(found.faults)),
        ("Primitives", sum(event["primitives"] for event in draws)),
        ("Samples passed", sum(event["pixels"] for event in draws)),
        ("Shaders", len(found.shaders.rows)),
        ("Textures", len(found.textures.rows)),
        ("Calls", tally.calls + tally.entries),
        ("Ticks", tally.time),
    ]


def _notes(found: Collector) -> Iterable[str]:
    if found.left_out:
        yield f"{found.left_out} events are not on this page; --events A-B selects others."
    if found.targets.complete is not None:
        yield (
            f"After E{found.targets.complete} the page has pictures at the end of frames only, "
            "so that it stays small; --events A-B shows others."
        )
    if found.targets.dropped:
        yield f"{found.targets.dropped} more surfaces that events wrote have no picture here."
    if found.meshes.without:
        yield f"{found.meshes.without} draws have no vertices here; dp2emu mesh shows them."
    if found.shaders.without:
        yield f"{found.shaders.without} shaders have no text here."
    if found.settings.exhausted:
        yield "Of some changes of the state the page does not know the setter; dp2emu state does."
    if found.unexamined:
        yield f"{found.unexamined} more pixels differ; dp2emu pixel shows their histories."
    if found.uncompared:
        yield (
            f"{found.uncompared} compared pictures are not here: those that differ least; "
            "dp2emu replay --png writes all."
        )
    if found.arguments.without:
        yield f"{found.arguments.without} events have no arguments here; dp2emu dump shows them."
    if found.textures.without:
        yield f"{found.textures.without} textures have no picture here."
