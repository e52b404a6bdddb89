"""Counters: one row per counter with its formula, and who may watch which at a time.

Source: Direct3D 10/11 DDI, "Counters".  Fractions are of 1, computed in
float64 and rounded once to FLOAT32.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.ddi10.queries.query_types import Kind
from dp2emu.errors import Fault
from dp2emu.gpu.command.queries import Observes, Report
from dp2emu.gpu.device.timing import RATES
from dp2emu.gpu.device.usage import GEOMETRY, PIXEL, TRAFFIC, VERTEX, Usage, busy, idle, part, used
from dp2emu.records import dataclass

SIMULTANEOUS = 4
"""NumSimultaneousCounters: what the counters that are watched at a time may cost together."""


class Counter(IntEnum):
    """D3D10DDI_COUNTER values of D3D10DDI_QUERY, and those of this device."""

    GPU_IDLE = 0x1000
    VERTEX_PROCESSING = 0x1001
    GEOMETRY_PROCESSING = 0x1002
    PIXEL_PROCESSING = 0x1003
    OTHER_GPU_PROCESSING = 0x1004
    HOST_ADAPTER_BANDWIDTH_UTILIZATION = 0x1005
    LOCAL_VIDMEM_BANDWIDTH_UTILIZATION = 0x1006
    VERTEX_THROUGHPUT_UTILIZATION = 0x1007
    TRISETUP_THROUGHPUT_UTILIZATION = 0x1008
    FILLRATE_THROUGHPUT_UTILIZATION = 0x1009
    VERTEXSHADER_MEMORY_LIMITED = 0x100A
    VERTEXSHADER_COMPUTATION_LIMITED = 0x100B
    GEOMETRYSHADER_MEMORY_LIMITED = 0x100C
    GEOMETRYSHADER_COMPUTATION_LIMITED = 0x100D
    PIXELSHADER_MEMORY_LIMITED = 0x100E
    PIXELSHADER_COMPUTATION_LIMITED = 0x100F
    POST_TRANSFORM_CACHE_HIT_RATE = 0x1010
    TEXTURE_CACHE_HIT_RATE = 0x1011
    UPLOADED_BYTES = 0x40000000
    CLOCK_DISTURBANCES = 0x40000001
    WAITING_FOR_QUEUE = 0x40000002


class CounterType(IntEnum):
    """D3D10DDI_COUNTER_TYPE."""

    FLOAT32 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3


class CounterInfo(NamedTuple):
    """D3D10DDI_COUNTER_INFO."""

    LastDeviceDependentCounter: int
    NumSimultaneousCounters: int
    NumDetectableParallelUnits: int


class CounterAnswer(NamedTuple):
    """What CheckCounter puts out beside the strings."""

    type: CounterType
    active_counters: int


@dataclass(slots=True)
class StringOut:
    """One of CheckCounter's strings: memory for it or None, and ``length``, in and out.

    Mutable: ``length`` goes in as what the memory holds and comes out as what the string needs,
    both with the NUL.
    """

    memory: bytearray | None
    length: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A counter: its query type, its C type, what watching it costs, and its strings."""

    kind: Kind
    type: CounterType
    cost: int
    strings: tuple[str, str, str]
    """Name, units and description."""


def _share(usage: Usage) -> float:
    """part / whole, from 0 to 1; 0 of nothing."""
    part, whole = usage
    return min(1.0, part / whole) if whole > 0 else 0.0


def _busy(*counters: str) -> Callable[[Report], float]:
    """Busy ticks / ticks of the interval."""
    return lambda report: _share(busy(report, *counters))


def _used(rate: tuple[int, int], *counters: str) -> Callable[[Report], float]:
    """Amount / (ticks of the interval * peak rate); ``rate`` is (amount, ticks)."""
    return lambda report: _share(used(report, rate, *counters))


def _part(counter: str, *whole: str) -> Callable[[Report], float]:
    """One counter / the sum of several."""
    return lambda report: _share(part(report, counter, *whole))


def _idle(report: Report) -> float:
    """1 - ticks in which any unit was busy / ticks; an interval of no length is idle."""
    return _share(idle(report))


_FRACTIONS: tuple[tuple[Counter, int, Callable[[Report], float], str], ...] = (
    (Counter.GPU_IDLE, 1, _idle, "time no unit was busy"),
    (Counter.VERTEX_PROCESSING, 1, _busy(*VERTEX), "time in vertex processing"),
    (Counter.GEOMETRY_PROCESSING, 1, _busy(*GEOMETRY), "time in geometry shaders"),
    (Counter.PIXEL_PROCESSING, 1, _busy(*PIXEL), "time in pixel processing"),
    (Counter.OTHER_GPU_PROCESSING, 1, _busy("other_ticks"), "time busy with anything else"),
    (
        Counter.HOST_ADAPTER_BANDWIDTH_UTILIZATION,
        1,
        _used(RATES.upload_bytes, "upload_bytes"),
        "bytes handed over, of the bus's maximum",
    ),
    (
        Counter.LOCAL_VIDMEM_BANDWIDTH_UTILIZATION,
        1,
        _used(RATES.memory_bytes, *TRAFFIC),
        "bytes read and written, of the memory's maximum",
    ),
    (
        Counter.VERTEX_THROUGHPUT_UTILIZATION,
        1,
        _used(RATES.vertices, "vertices"),
        "vertices, of the maximum",
    ),
    (
        Counter.TRISETUP_THROUGHPUT_UTILIZATION,
        1,
        _used(RATES.triangles, "triangles"),
        "triangles set up, of the maximum",
    ),
    (
        Counter.FILLRATE_THROUGHPUT_UTILIZATION,
        1,
        _used(RATES.pixels, "fragments"),
        "pixels shaded, of the maximum",
    ),
    (
        Counter.VERTEXSHADER_MEMORY_LIMITED,
        1,
        _part(VERTEX[0], *VERTEX),
        "vertex processing spent on memory",
    ),
    (
        Counter.VERTEXSHADER_COMPUTATION_LIMITED,
        1,
        _part(VERTEX[1], *VERTEX),
        "vertex processing spent on computing",
    ),
    (
        Counter.GEOMETRYSHADER_MEMORY_LIMITED,
        1,
        _part(GEOMETRY[0], *GEOMETRY),
        "geometry shaders waiting for memory",
    ),
    (
        Counter.GEOMETRYSHADER_COMPUTATION_LIMITED,
        1,
        _part(GEOMETRY[1], *GEOMETRY),
        "geometry shaders computing",
    ),
    (
        Counter.PIXELSHADER_MEMORY_LIMITED,
        1,
        _part(PIXEL[0], *PIXEL),
        "pixel processing spent on memory",
    ),
    (
        Counter.PIXELSHADER_COMPUTATION_LIMITED,
        1,
        _part(PIXEL[1], *PIXEL),
        "pixel processing spent on computing",
    ),
    (
        Counter.POST_TRANSFORM_CACHE_HIT_RATE,
        2,
        _part("vertex_cache_hits", "vertex_cache_lookups"),
        "vertices found transformed",
    ),
    (
        Counter.TEXTURE_CACHE_HIT_RATE,
        2,
        _part("texture_cache_hits", "texture_cache_lookups"),
        "texels found in the cache",
    ),
    (
        Counter.WAITING_FOR_QUEUE,
        1,
        _busy("wait_queue_ticks"),
        "time the host waited for room in the queue",
    ),
)

_WHOLE: tuple[tuple[Counter, CounterType, str, str, str], ...] = (
    (Counter.UPLOADED_BYTES, CounterType.UINT64, "upload_bytes", "bytes", "bytes handed over"),
    (
        Counter.CLOCK_DISTURBANCES,
        CounterType.UINT32,
        "clock_changes",
        "times",
        "times the clock was disturbed",
    ),
)

_LAYOUTS = {
    CounterType.FLOAT32: Struct("<f"),
    CounterType.UINT32: Struct("<I"),
    CounterType.UINT64: Struct("<Q"),
}


def _title(counter: Counter) -> str:
    return counter.name.replace("_", " ").capitalize().replace("Gpu", "GPU")


_OF_CACHES = (Counter.POST_TRANSFORM_CACHE_HIT_RATE, Counter.TEXTURE_CACHE_HIT_RATE)
"""Counters of models that only run while somebody asks for them."""


def _fraction(
    counter: Counter, cost: int, formula: Callable[[Report], float], description: str
) -> Row:
    watched = counter in _OF_CACHES
    observes = Observes.VERTEX_CACHE if watched else Observes.NOTHING
    layout = _LAYOUTS[CounterType.FLOAT32]
    kind = Kind(
        counter, Interface.D3D10_0, layout, True, lambda report: (formula(report),), observes
    )
    return Row(kind, CounterType.FLOAT32, cost, (_title(counter), "fraction", description))


def _number(counter: Counter, kind: CounterType, source: str, units: str, description: str) -> Row:
    """A counter of whole things, modulo what its type holds."""
    layout = _LAYOUTS[kind]
    limit = 1 << 8 * layout.size
    row = Kind(
        counter, Interface.D3D10_0, layout, True, lambda report: (report.change(source) % limit,)
    )
    return Row(row, kind, 1, (_title(counter), units, description))


COUNTERS: dict[int, Row] = {
    int(row.kind.query): row
    for row in (*(_fraction(*each) for each in _FRACTIONS), *(_number(*each) for each in _WHOLE))
}
"""Every counter by its D3D10DDI_QUERY value."""

LAST_DEVICE_DEPENDENT = max(COUNTERS)


class Watched:
    """Which counters of an adapter are watched, and for whom.  Mutable: it is a register.

    A counter that somebody watches is not available to others; for the same owner any number of
    queries share it, and its cost.
    """

    def __init__(self) -> None:
        self._users: dict[int, tuple[object, int]] = {}

    @property
    def cost(self) -> int:
        """What is watched now costs this much of ``SIMULTANEOUS``."""
        return sum(COUNTERS[counter].cost for counter in self._users)

    def take(self, counter: int, owner: object) -> bool:
        """Watch a counter once more; False if it cannot be had."""
        holder, users = self._users.get(counter, (owner, 0))
        fits = users > 0 or self.cost + COUNTERS[counter].cost <= SIMULTANEOUS
        if holder is not owner or not fits:
            return False
        self._users[counter] = owner, users + 1
        return True

    def release(self, counter: int) -> None:
        """One query less watches a counter."""
        owner, users = self._users.pop(counter)
        if users > 1:
            self._users[counter] = owner, users - 1


def check_counter_info(units: int) -> CounterInfo:
    """CheckCounterInfo of a GPU with ``units`` that may be busy at the same time."""
    return CounterInfo(LAST_DEVICE_DEPENDENT, SIMULTANEOUS, units)


def check_counter(
    contract: Contract,
    query: int,
    name: StringOut | None = None,
    units: StringOut | None = None,
    description: StringOut | None = None,
) -> CounterAnswer:
    """CheckCounter, whose strings are each optional, and without memory only ask for the length.

    Raises Fault: UNSUPPORTED for what is no counter, E_INVALIDARG for one beyond the device's
    own or if a string does not fit (all lengths are set then, and no string).
    """
    row = COUNTERS.get(query)
    if row is None:
        vendor = query >= Counter.UPLOADED_BYTES
        code = DdiCode.E_INVALIDARG if vendor else DdiCode.DXGI_DDI_ERR_UNSUPPORTED
        raise Fault(code, f"CheckCounter: no counter {query:#x}")
    wanted = [
        (out, text.encode("ascii") + b"\0")
        for out, text in zip((name, units, description), row.strings, strict=True)
        if out is not None
    ]
    fits = [_measure(contract, out, len(text)) for out, text in wanted]
    if not all(fits):
        raise Fault(DdiCode.E_INVALIDARG, "CheckCounter: a string does not fit")
    for out, text in wanted:
        if out.memory is not None:
            out.memory[: len(text)] = text
    return CounterAnswer(row.type, row.cost)


def _measure(contract: Contract, out: StringOut, needed: int) -> bool:
    """Put out the length a string needs; whether its memory, if any, has that."""
    capacity, out.length = out.length, needed
    if out.memory is None:
        return True
    contract.hold(capacity <= len(out.memory), Rule.DATA_MEMORY, "CheckCounter")
    return capacity >= needed
