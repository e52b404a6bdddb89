"""The graph of passes and resources: which pass reads what other passes wrote.

A pass is a run of events of one frame that write the same surfaces; queries and markers belong to
the pass around them.  Edges are the accesses that packets declare (``accesses``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from dp2emu.argument_check import checked
from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.escaping import plain
from dp2emu.explain.accesses import accesses_of
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.playback import Observer, Stage, play
from dp2emu.gpu.command.packets import Packet
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.resource.heap import Surface
from dp2emu.replay import Watcher
from dp2emu.replay.player import Recording

_OUTSIDE = {EventKind.QUERY_BEGIN, EventKind.QUERY_END, EventKind.MARKER}
_LONGEST = 60
"""Maximum number of characters of a label."""


class Pass(msgspec.Struct):
    """A pass: its first and last event, the number of its events by kind, and the handles of the
    resources that it reads and writes, with their uses.  Mutable: it grows.
    """

    number: int
    frame: int
    first: Event
    last: Event
    kinds: dict[str, int] = msgspec.field(default_factory=dict)
    reads: dict[int, list[str]] = msgspec.field(default_factory=dict)
    writes: dict[int, list[str]] = msgspec.field(default_factory=dict)

    @property
    def name(self) -> str:
        """The addresses of the pass's events, and their kinds."""
        span = self.first.address
        if self.last is not self.first:
            span += f"-{self.last.address}"
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        return f"{span}: {kinds}"


class PassGraph(Observer):
    """Collects the ``passes`` of a playback, and the names of ``resources`` by handle.

    Mutable: it grows.
    """

    def __init__(self) -> None:
        self.passes: list[Pass] = []
        self.resources: dict[int, str] = {}
        self._labels: dict[int, str] = {}
        self._key: tuple[int, tuple[int, ...]] | None = None

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Add the event to its pass."""
        if event.kind in _OUTSIDE:
            return
        reads: dict[int, str] = {}
        writes: dict[int, str] = {}
        for access in () if packet is None else accesses_of(packet):
            handle = self._resource(access.surface, stage)
            (writes if access.writes else reads).setdefault(handle, access.use)
        if packet is None:
            self._host(event, stage, reads, writes)
        self._add(event, reads, writes)

    def _host(
        self, event: Event, stage: Stage, reads: dict[int, str], writes: dict[int, str]
    ) -> None:
        """The resources of an event of the host: a present reads, a write writes."""
        found = reads if event.kind is EventKind.PRESENT else writes
        for handle in event.targets:
            with suppress(UsageError):
                handle = self._resource(stage.surface(handle), stage)
            self.resources.setdefault(handle, f"surface {handle}")
            found[handle] = event.kind.value

    def _add(self, event: Event, reads: dict[int, str], writes: dict[int, str]) -> None:
        key = event.frame, tuple(sorted(writes))
        if key != self._key or not writes or event.kind is EventKind.PRESENT:
            self.passes.append(Pass(len(self.passes), event.frame, event, event))
        self._key = None if event.kind is EventKind.PRESENT else key
        into = self.passes[-1]
        into.last = event
        into.kinds[event.kind.value] = into.kinds.get(event.kind.value, 0) + 1
        for found, uses in ((into.reads, reads), (into.writes, writes)):
            for handle, use in uses.items():
                if use not in found.setdefault(handle, []):
                    found[handle].append(use)

    def _resource(self, surface: Surface, stage: Stage) -> int:
        handle = stage.handle(surface)
        if handle not in self.resources:
            desc = surface.desc
            size = f"{desc.width}x{desc.height}" if desc.height > 1 else f"{desc.width}"
            self.resources[handle] = f"{desc.kind.name.lower()} {handle}, {size}"
        return handle

    def performed(self, record: Record, stage: Stage) -> None:
        """Note the names of surfaces."""
        if isinstance(record, records.Annotation):
            handle = stage.labelled(record)
            if handle is not None:
                self._labels[handle] = record.text

    def name(self, handle: int) -> str:
        """The name of a resource: its kind, handle and size, and its label."""
        label = self._labels.get(handle)
        return self.resources[handle] + (f"\n{label}" if label else "")


def dot(graph: PassGraph) -> Iterator[str]:
    """The lines of the graph in DOT: passes are boxes, by frame, and resources ellipses."""
    yield "digraph passes {"
    yield "  rankdir=LR; node [fontname=sans, fontsize=10];"
    for handle in graph.resources:
        yield f"  r{handle} [label={_quoted(graph.name(handle))}];"
    frames: dict[int, list[Pass]] = {}
    for each in graph.passes:
        frames.setdefault(each.frame, []).append(each)
    for frame, passes in frames.items():
        yield f'  subgraph cluster_{frame} {{ label="frame {frame}";'
        for each in passes:
            yield f"    p{each.number} [shape=box, label={_quoted(each.name)}];"
        yield "  }"
    for each in graph.passes:
        for handle, uses in each.reads.items():
            yield f"  r{handle} -> p{each.number} [label={_quoted(', '.join(uses))}];"
        for handle, uses in each.writes.items():
            yield f"  p{each.number} -> r{handle} [label={_quoted(', '.join(uses))}];"
    yield "}"


def _quoted(text: str) -> str:
    """A text as a quoted DOT string; line ends become line breaks of the label."""
    lines = (plain(line)[:_LONGEST] for line in text.split("\n"))
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'


@checked
def graph_of(
    capture: Recording,
    *,
    options: Options | None = None,
    timing: Timing | None = None,
    fault: Callable[[Dp2Error], None] = lambda error: None,
) -> PassGraph:
    """Play a capture; returns its passes and resources.

    ``fault`` is called with the errors of the replay.
    """
    graph = PassGraph()
    play(capture, [graph], options=options, timing=timing, watcher=Watcher(fault=fault))
    return graph
