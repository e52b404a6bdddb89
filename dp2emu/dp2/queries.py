"""Asynchronous queries: their types and states, and the responses over the command buffer.

Each query type is one row, from GPU counters to payload bytes.  A payload is packed little-endian
in the member order of its structure.  dwErrorOffset is the size of the response buffer on success,
the offset of the first unhandled command on failure.  Sources: wire format, "Query types",
"Queries" and "Responses"; driver documentation, "Handling Asynchronous Queries".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from enum import Enum, auto
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from dp2emu.d3d.dp2structs import D3DHAL_DP2RESPONSE, D3DHAL_DP2RESPONSEQUERY
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import Options, check_memory
from dp2emu.dp2.parsers import parser_of
from dp2emu.dp2.walk import PAYLOAD_LAYOUTS, write_responses
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import BeginQuery, EndQuery
from dp2emu.gpu.command.queries import Observes, QuerySlot, Report
from dp2emu.gpu.device.timing import RATES, TICKS_PER_SECOND
from dp2emu.gpu.device.usage import (
    PIXEL,
    TRAFFIC,
    VERTEX,
    VERTEX_CACHE,
    Usage,
    busy,
    idle,
    part,
    used,
)
from dp2emu.gpu.input_assembler.vertex_cache import VCACHE_SIZE

if TYPE_CHECKING:
    # Applications import the query types, which need no GPU.
    from dp2emu.gpu.device.gpu import Gpu

_DWORD_MAX = 0xFFFFFFFF
_FOURCC_CACH = int.from_bytes(b"CACH", "little")
_VCACHE_BY_CACHE = 1
"""Value of D3DDEVINFO_VCACHE.OptMethod: optimise for a vertex cache, not for the longest
strips."""

# Plain numbers: operations of IntFlag members cost more than all else an issue does here.
_BEGIN, _END = int(Issue.BEGIN), int(Issue.END)

_Values = Callable[[Report, Options], tuple[int | float, ...]]


class Window(Enum):
    """The part of the command stream that the answer to a query counts or measures."""

    POINT = auto()
    """A single point, where the query's END is: of an event, or a timestamp."""
    INTERVAL = auto()
    """From BEGIN to END; END alone is an empty interval."""
    SINCE = auto()
    """From the previous END of the same query, or its creation."""


class Kind(msgspec.Struct, frozen=True):
    """A query type: which part of the stream it covers, its payload's layout, and the function
    that computes the payload's values in the layout's order.
    """

    type: QueryType
    window: Window
    layout: Struct
    values: _Values
    observes: Observes


def _percent(usage: Usage) -> float:
    """A (part, whole) usage in percent, at most 100; 0 if the whole is 0."""
    part, whole = usage
    return min(100.0, 100.0 * part / whole) if whole > 0 else 0.0


def _vcache(report: Report, options: Options) -> tuple[int, ...]:
    return _FOURCC_CACH, _VCACHE_BY_CACHE, VCACHE_SIZE, VCACHE_SIZE // 2


def _resources(report: Report, options: Options) -> tuple[int, ...]:
    """Eight D3DRESOURCESTATS, indexed by D3DRESOURCETYPE.

    Video memory has room for all resources, so every live one is in it and in the working set,
    and only explicit evictions count.
    """
    values: list[int] = []
    for row in report.heap:
        values += [0, row.written_bytes, row.evictions, row.created, 0]
        values += [row.live, row.live, row.live, row.live_bytes, row.managed, row.managed_bytes]
    return tuple(min(value, _DWORD_MAX) for value in values)


def _vertex_stats(report: Report, options: Options) -> tuple[int, ...]:
    counts = report.change("triangles"), report.change("clip_triangles")
    return tuple(min(count, _DWORD_MAX) for count in counts)


def _occlusion(report: Report, options: Options) -> tuple[int, ...]:
    pixels = report.pixels()
    return (pixels & _DWORD_MAX if options.wrap_occlusion else min(pixels, _DWORD_MAX),)


def _pipeline_timings(report: Report, options: Options) -> tuple[float, ...]:
    units = VERTEX, PIXEL, ("other_ticks",)
    vertex, pixel, other = (_percent(busy(report, *counters)) for counters in units)
    return vertex, pixel, other, _percent(idle(report))


def _interface_timings(report: Report, options: Options) -> tuple[float, ...]:
    """Percentages of D3DDEVINFO_D3D9INTERFACETIMINGS: host waits for resources and for FIFO space;
    the emulator has no other waits.
    """
    resource = _percent(busy(report, "wait_resource_ticks"))
    queue = _percent(busy(report, "wait_queue_ticks"))
    return resource, queue, 0.0, 0.0, 0.0


def _unit_timings(counters: tuple[str, ...]) -> _Values:
    return lambda report, options: tuple(_percent(busy(report, name)) for name in counters)


def _bandwidth_timings(report: Report, options: Options) -> tuple[float, ...]:
    return (
        _percent(used(report, RATES.memory_bytes, *TRAFFIC)),
        _percent(used(report, RATES.upload_bytes, "upload_bytes")),
        _percent(used(report, RATES.vertices, "vertices")),
        _percent(used(report, RATES.triangles, "triangles")),
        _percent(used(report, RATES.pixels, "fragments")),
    )


def _cache_utilization(report: Report, options: Options) -> tuple[float, ...]:
    texels = part(report, "texture_cache_hits", "texture_cache_lookups")
    return _percent(texels), _percent(part(report, VERTEX_CACHE[0], *VERTEX_CACHE))


_ROWS: tuple[tuple[QueryType, Window, _Values, Observes], ...] = (
    (QueryType.VCACHE, Window.POINT, _vcache, Observes.NOTHING),
    (QueryType.RESOURCEMANAGER, Window.POINT, _resources, Observes.HEAP),
    (QueryType.VERTEXSTATS, Window.SINCE, _vertex_stats, Observes.NOTHING),
    (QueryType.EVENT, Window.POINT, lambda report, options: (1,), Observes.NOTHING),
    (QueryType.OCCLUSION, Window.INTERVAL, _occlusion, Observes.NOTHING),
    (QueryType.TIMESTAMP, Window.POINT,
     lambda report, options: (report.end.time & 0xFFFFFFFFFFFFFFFF,), Observes.NOTHING),
    (QueryType.TIMESTAMPDISJOINT, Window.INTERVAL,
     lambda report, options: (int(report.change("clock_changes") > 0),), Observes.NOTHING),
    (QueryType.TIMESTAMPFREQ, Window.POINT,
     lambda report, options: (TICKS_PER_SECOND,), Observes.NOTHING),
    (QueryType.PIPELINETIMINGS, Window.INTERVAL, _pipeline_timings, Observes.NOTHING),
    (QueryType.INTERFACETIMINGS, Window.INTERVAL, _interface_timings, Observes.NOTHING),
    (QueryType.VERTEXTIMINGS, Window.INTERVAL, _unit_timings(VERTEX), Observes.NOTHING),
    (QueryType.PIXELTIMINGS, Window.INTERVAL, _unit_timings(PIXEL), Observes.NOTHING),
    (QueryType.BANDWIDTHTIMINGS, Window.INTERVAL, _bandwidth_timings, Observes.NOTHING),
    (QueryType.CACHEUTILIZATION, Window.INTERVAL, _cache_utilization, Observes.VERTEX_CACHE),
)  # fmt: skip

KINDS: dict[int, Kind] = {
    int(kind): Kind(kind, window, PAYLOAD_LAYOUTS[kind], values, observes)
    for kind, window, values, observes in _ROWS
}
"""D3DQUERYTYPE value -> query type, for all that this driver answers, in announcement order."""


def refused_type(kind: int, interface: int, options: Options) -> str | None:
    """Why CREATEQUERY fails for a D3DQUERYTYPE in a context of DirectX ``interface``, or None."""
    announced = options.query_types
    if kind not in KINDS or (announced is not None and kind not in announced):
        return f"query type {kind}"
    if options.strict and interface < 9:
        return f"queries belong to DirectX 9, this is a DirectX {interface} context"
    return None


def refused_issue(kind: int, flags: int, options: Options) -> str | None:
    """Why ISSUEQUERY fails for a live query of type ``kind``; None without ``Options.strict``."""
    if not options.strict:
        return None
    if flags & ~(_BEGIN | _END) or flags == 0:
        return f"issue flags {flags:#x}"
    if flags & _BEGIN and KINDS[kind].window is not Window.INTERVAL:
        return f"{KINDS[kind].type.sdk} has no BEGIN"
    return None


# Responses


HEADER: int = D3DHAL_DP2RESPONSE.sizeof()
_RECORD: int = D3DHAL_DP2RESPONSEQUERY.sizeof()
BLOCK_RECORDS = 0xFFFF
"""Maximum number of answers in a block, whose wCount has 16 bits; one more opens a new block."""
_DROPPED_KEPT = 64
"""An ``Outbox`` queue is purged of dropped answers when it has more entries than this plus twice
the number of all unsent answers."""


class Result(NamedTuple):
    """A completed answer: the query's id, its type ``kind`` (a D3DQUERYTYPE), and the payload."""

    query_id: int
    kind: int
    payload: bytes


class Outbox:
    """Unsent answers in completion order, at most one per query.  Mutable: a queue.

    Each query type has its own queue, so that one type can be held back while others are sent.  A
    dropped answer stays in its queue and is skipped when it reaches the front, so the cost of
    an operation does not depend on the number of answers.
    """

    def __init__(self) -> None:
        self._queues: dict[int, deque[tuple[int, Result]]] = {}
        self._wanted: dict[int, int] = {}
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._wanted)

    def __contains__(self, query_id: int) -> bool:
        return query_id in self._wanted

    def add(self, result: Result) -> None:
        """Queue an answer; an older answer to the same query is dropped."""
        self._sequence += 1
        self._wanted[result.query_id] = self._sequence
        queue = self._queues.setdefault(result.kind, deque())
        queue.append((self._sequence, result))
        if len(queue) > 2 * len(self._wanted) + _DROPPED_KEPT:
            self._queues[result.kind] = deque(filter(self._is_wanted, queue))

    def drop(self, query_id: int) -> None:
        """Drop the unsent answer to a query, if there is one."""
        self._wanted.pop(query_id, None)

    def first(self, held_back: Container[int]) -> Result | None:
        """The earliest answer whose query type is not in ``held_back``, or None."""
        heads = [self._head(kind) for kind in self._queues if kind not in held_back]
        return min((head for head in heads if head), default=(0, None))[1]

    def _head(self, kind: int) -> tuple[int, Result] | None:
        queue = self._queues[kind]
        while queue and not self._is_wanted(queue[0]):
            queue.popleft()
        return queue[0] if queue else None

    def _is_wanted(self, entry: tuple[int, Result]) -> bool:
        return self._wanted.get(entry[1].query_id) == entry[0]


class _Layout(msgspec.Struct):
    """Response blocks for a buffer of ``capacity`` bytes, with ``size`` bytes so far.  Mutable."""

    capacity: int
    blocks: list[list[tuple[int, bytes]]] = msgspec.field(default_factory=list)
    size: int = 0

    def needs(self, payload: bytes) -> int:
        """Bytes that an answer with ``payload`` adds, with a block header if it opens a block."""
        opens = not self.blocks or len(self.blocks[-1]) == BLOCK_RECORDS
        return (HEADER if opens else 0) + _RECORD + len(payload)

    def fits(self, payload: bytes, more: bool) -> bool:
        """Whether an answer fits, together with an 8-byte RESPONSECONTINUE if ``more`` remain."""
        return self.size + self.needs(payload) <= self.capacity - (HEADER if more else 0)

    def add(self, result: Result) -> None:
        self.size += self.needs(result.payload)
        if not self.blocks or len(self.blocks[-1]) == BLOCK_RECORDS:
            self.blocks.append([])
        self.blocks[-1].append((result.query_id, result.payload))


_Write = Callable[[Sequence[Sequence[tuple[int, bytes]]], bool], bytes]


def lay_out(outbox: Outbox, capacity: int, write: _Write = write_responses) -> bytes:
    """The contents of a response buffer of ``capacity`` bytes; answers in it leave ``outbox``.

    ``write`` is ``write_responses`` of a parser.

    Answers go in completion order.  One too large for an empty buffer stays and holds back only
    its own type; otherwise the first that does not fit ends the buffer with RESPONSECONTINUE.
    """
    layout = _Layout(capacity)
    held_back: set[int] = set()
    while (result := outbox.first(held_back)) is not None:
        if layout.fits(result.payload, more=len(outbox) > 1):
            layout.add(result)
            outbox.drop(result.query_id)
        elif layout.blocks:
            break
        else:
            held_back.add(result.kind)
    # RESPONSECONTINUE without an answer would make the runtime call again forever.
    return write(layout.blocks, bool(layout.blocks) and len(outbox) > 0)


# Queries of one context


class Queries:
    """Query objects by the runtime's ids, and their unsent answers.  Mutable: tokens act on it.

    Each sequence of issues has one answer (wire format, "Queries"): BEGIN restarts; END without
    BEGIN, or a second END, is an interval empty from that point; an issue that supersedes an
    unsent answer drops it.  Methods raise Fault (DDERR_INVALIDPARAMS) for an unknown id or type.
    """

    def __init__(self, gpu: Gpu, options: Options, interface: int) -> None:
        self._gpu = gpu
        self._options = options
        self._interface = interface
        self._parser = parser_of(options)
        self._live: dict[int, QuerySlot] = {}
        self._building: set[int] = set()
        self._due: set[int] = set()
        self._outbox = Outbox()

    def destroy(self) -> None:
        """Delete all queries and their unsent answers, as their context is destroyed."""
        for query_id in list(self._live):
            self.delete(query_id)

    def create(self, query_id: int, kind: int) -> None:
        """CREATEQUERY: create a query; a live id is replaced, and its unsent answer dropped."""
        why = refused_type(kind, self._interface, self._options)
        if why is not None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, why)
        if query_id in self._live:
            self.delete(query_id)
        limits, number = self._gpu.heap.limits, len(self._live) + 1
        check_memory(limits, "queries", number, f"query {query_id} is too many")
        slot = QuerySlot(kind, self, query_id, KINDS[kind].observes)
        self._live[query_id] = slot
        if KINDS[kind].window is Window.SINCE:
            self._gpu.submit(BeginQuery(slot, 1))

    def delete(self, query_id: int) -> None:
        """DELETEQUERY: delete a query; its pending answer is discarded."""
        slot = self._query(query_id)
        del self._live[query_id]
        self._building.discard(query_id)
        self._supersede(slot)
        self._gpu.forget(slot)

    def issue(self, query_id: int, flags: int) -> None:
        """ISSUEQUERY: both flags are BEGIN then END, none does nothing (wire format,
        "Queries")."""
        slot = self._query(query_id)
        why = refused_issue(slot.kind, flags, self._options)
        if why is not None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"query {query_id}: {why}")
        if flags & _BEGIN:
            self._begin(slot)
        if flags & _END:
            self._end(slot)

    def _begin(self, slot: QuerySlot) -> None:
        """BEGIN: restart a query's interval and drop its answer; no effect on END-only types."""
        if KINDS[slot.kind].window is not Window.INTERVAL:
            return
        self._supersede(slot)
        self._building.add(slot.key)
        self._gpu.submit(BeginQuery(slot, slot.generation))

    def _end(self, slot: QuerySlot) -> None:
        """END: request an answer; its interval is empty if the type needs a BEGIN and had none."""
        if slot.key in self._building:
            self._building.discard(slot.key)
        else:
            self._supersede(slot)
        self._due.add(slot.key)
        self._gpu.submit(EndQuery(slot, slot.generation))
        if KINDS[slot.kind].window is Window.SINCE:
            self._gpu.submit(BeginQuery(slot, slot.generation + 1))

    def states(self) -> Iterator[tuple[int, int, str]]:
        """Id, D3DQUERYTYPE and state of each query: idle, building (between BEGIN and END),
        issued, or signaled (its answer is not sent yet).
        """
        for query_id, slot in sorted(self._live.items()):
            if query_id in self._building:
                state = "building"
            elif query_id in self._outbox:
                state = "signaled"
            else:
                state = "issued" if query_id in self._due else "idle"
            yield query_id, slot.kind, state

    def receive(self, report: Report) -> None:
        """Queue the answer of a finished query, unless a later issue superseded it."""
        slot = report.slot
        if self._live.get(slot.key) is slot and slot.generation == report.generation:
            self._due.discard(slot.key)
            values = KINDS[slot.kind].values(report, self._options)
            payload = self._parser.write_payload(slot.kind, values)
            self._outbox.add(Result(slot.key, slot.kind, payload))

    def respond(self, capacity: int) -> bytes:
        """Return a response buffer of at most ``capacity`` bytes with the answers that fit."""
        return lay_out(self._outbox, capacity, self._parser.write_responses)

    def _supersede(self, slot: QuerySlot) -> None:
        """Drop the unsent and the pending answer of a query."""
        slot.generation += 1
        self._due.discard(slot.key)
        self._outbox.drop(slot.key)

    def _query(self, query_id: int) -> QuerySlot:
        slot = self._live.get(query_id)
        if slot is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no query {query_id}")
        return slot
