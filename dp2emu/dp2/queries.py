"""Query types of the DP2 stream: one row per type, from counters to payload bytes.

Source: wire format, "Query types".  A payload is packed little-endian in the member order of its
structure.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from struct import Struct

from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.flags import Issue
from dp2emu.dp2.options import Options
from dp2emu.gpu.command.queries import Observes, Report
from dp2emu.gpu.device.timing import RATES, TICKS_PER_SECOND
from dp2emu.gpu.device.usage import PIXEL, TRAFFIC, VERTEX, Usage, busy, idle, part, used
from dp2emu.gpu.input_assembler.vertex_cache import VCACHE_SIZE
from dp2emu.layout import dtype_of, packer_of
from dp2emu.records import dataclass

_DWORD_MAX = 0xFFFFFFFF
_FOURCC_CACH = int.from_bytes(b"CACH", "little")
_VCACHE_BY_CACHE = 1
"""D3DDEVINFO_VCACHE.OptMethod: optimise for a cache, rather than for the longest strips."""

_ISSUE_FLAGS = int(Issue.BEGIN | Issue.END)

_Values = Callable[[Report, Options], tuple[int | float, ...]]


class Window(Enum):
    """Which stretch of the stream an answer speaks of."""

    POINT = auto()
    """The moment of END."""
    INTERVAL = auto()
    """From BEGIN to END; END alone is an empty interval."""
    SINCE = auto()
    """From the previous END of the same query, or its creation."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A query type: its window, payload layout, and how the values come about, in its order."""

    type: QueryType
    window: Window
    layout: Struct
    values: _Values
    observes: Observes

    def payload(self, report: Report, options: Options) -> bytes:
        """The bytes that follow D3DHAL_DP2RESPONSEQUERY."""
        return self.layout.pack(*self.values(report, options))


def _percent(usage: Usage) -> float:
    """100 * part / whole, at most 100; 0 of nothing."""
    part, whole = usage
    return min(100.0, 100.0 * part / whole) if whole > 0 else 0.0


def _vcache(report: Report, options: Options) -> tuple[int, ...]:
    return _FOURCC_CACH, _VCACHE_BY_CACHE, VCACHE_SIZE, VCACHE_SIZE // 2


def _resources(report: Report, options: Options) -> tuple[int, ...]:
    """Eight D3DRESOURCESTATS, indexed by D3DRESOURCETYPE.

    There is room for everything, so what is live is in video memory and is the working set, and
    evictions are those that were asked for.
    """
    values: list[int] = []
    for row in report.heap:
        values += [0, row.written_bytes, row.evictions, row.created, 0]
        values += [row.live, row.live, row.live, row.live_bytes, row.managed, row.managed_bytes]
    return tuple(min(value, _DWORD_MAX) for value in values)


def _vertex_stats(report: Report, options: Options) -> tuple[int, ...]:
    counts = report.change("triangles"), report.change("clip_triangles")
    return tuple(min(count, _DWORD_MAX) for count in counts)


def _event(report: Report, options: Options) -> tuple[int, ...]:
    return (1,)


def _occlusion(report: Report, options: Options) -> tuple[int, ...]:
    pixels = report.pixels()
    return (pixels & _DWORD_MAX if options.wrap_occlusion else min(pixels, _DWORD_MAX),)


def _timestamp(report: Report, options: Options) -> tuple[int, ...]:
    return (report.end.time & 0xFFFFFFFFFFFFFFFF,)


def _disjoint(report: Report, options: Options) -> tuple[int, ...]:
    return (int(report.change("clock_changes") > 0),)


def _frequency(report: Report, options: Options) -> tuple[int, ...]:
    return (TICKS_PER_SECOND,)


def _pipeline_timings(report: Report, options: Options) -> tuple[float, ...]:
    units = VERTEX, PIXEL, ("other_ticks",)
    vertex, pixel, other = (_percent(busy(report, *counters)) for counters in units)
    return vertex, pixel, other, _percent(idle(report))


def _interface_timings(report: Report, options: Options) -> tuple[float, ...]:
    """The host waits for two things only: a resource in use, and room in the FIFO."""
    resource = _percent(busy(report, "wait_resource_ticks"))
    queue = _percent(busy(report, "wait_queue_ticks"))
    return resource, queue, 0.0, 0.0, 0.0


def _vertex_timings(report: Report, options: Options) -> tuple[float, ...]:
    return tuple(_percent(busy(report, counter)) for counter in VERTEX)


def _pixel_timings(report: Report, options: Options) -> tuple[float, ...]:
    return tuple(_percent(busy(report, counter)) for counter in PIXEL)


def _bandwidth_timings(report: Report, options: Options) -> tuple[float, ...]:
    return (
        _percent(used(report, RATES.memory_bytes, *TRAFFIC)),
        _percent(used(report, RATES.upload_bytes, "upload_bytes")),
        _percent(used(report, RATES.vertices, "vertices")),
        _percent(used(report, RATES.triangles, "triangles")),
        _percent(used(report, RATES.pixels, "fragments")),
    )


def _cache_utilization(report: Report, options: Options) -> tuple[float, ...]:
    caches = "texture_cache", "vertex_cache"
    return tuple(_percent(part(report, f"{c}_hits", f"{c}_lookups")) for c in caches)


_ROWS: tuple[tuple[QueryType, Window, _Values, Observes], ...] = (
    (QueryType.VCACHE, Window.POINT, _vcache, Observes.NOTHING),
    (QueryType.RESOURCEMANAGER, Window.POINT, _resources, Observes.HEAP),
    (QueryType.VERTEXSTATS, Window.SINCE, _vertex_stats, Observes.NOTHING),
    (QueryType.EVENT, Window.POINT, _event, Observes.NOTHING),
    (QueryType.OCCLUSION, Window.INTERVAL, _occlusion, Observes.NOTHING),
    (QueryType.TIMESTAMP, Window.POINT, _timestamp, Observes.NOTHING),
    (QueryType.TIMESTAMPDISJOINT, Window.INTERVAL, _disjoint, Observes.NOTHING),
    (QueryType.TIMESTAMPFREQ, Window.POINT, _frequency, Observes.NOTHING),
    (QueryType.PIPELINETIMINGS, Window.INTERVAL, _pipeline_timings, Observes.NOTHING),
    (QueryType.INTERFACETIMINGS, Window.INTERVAL, _interface_timings, Observes.NOTHING),
    (QueryType.VERTEXTIMINGS, Window.INTERVAL, _vertex_timings, Observes.NOTHING),
    (QueryType.PIXELTIMINGS, Window.INTERVAL, _pixel_timings, Observes.NOTHING),
    (QueryType.BANDWIDTHTIMINGS, Window.INTERVAL, _bandwidth_timings, Observes.NOTHING),
    (QueryType.CACHEUTILIZATION, Window.INTERVAL, _cache_utilization, Observes.VERTEX_CACHE),
)

KINDS: dict[int, Kind] = {
    int(kind): Kind(kind, window, packer_of(dtype_of(PAYLOADS[kind])), values, observes)
    for kind, window, values, observes in _ROWS
}
"""Every query type this driver answers, by D3DQUERYTYPE value, in announcement order."""


def refused_type(kind: int, interface: int, options: Options) -> str | None:
    """Why CREATEQUERY fails for a D3DQUERYTYPE in a context of DirectX ``interface``, or None."""
    announced = options.query_types
    if kind not in KINDS or (announced is not None and kind not in announced):
        return f"query type {kind}"
    if options.strict and interface < 9:
        return f"queries belong to DirectX 9, this is a DirectX {interface} context"
    return None


def refused_issue(kind: int, flags: int, options: Options) -> str | None:
    """Why ISSUEQUERY fails for a live query of type ``kind``, or None; only strictness refuses."""
    if not options.strict:
        return None
    if flags & ~_ISSUE_FLAGS or flags == 0:
        return f"issue flags {flags:#x}"
    if flags & Issue.BEGIN and KINDS[kind].window is not Window.INTERVAL:
        return f"{KINDS[kind].type.sdk} has no BEGIN"
    return None
