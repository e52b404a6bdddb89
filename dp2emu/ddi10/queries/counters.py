"""Performance counters: one row per counter with its formula, and the limit of active counters.

Source: Direct3D 10/11 DDI, "Counters".  Fractions run from 0 to 1, computed in float64 and rounded
once to FLOAT32.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Annotated, NamedTuple

import msgspec

from dp2emu.d3d.enums10 import Counter as Counter
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.ddi10.queries.query_types import QueryRow
from dp2emu.errors import Fault
from dp2emu.gpu.command.queries import Observes, Report
from dp2emu.gpu.device.timing import RATES
from dp2emu.gpu.device.usage import (
    GEOMETRY,
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

SIMULTANEOUS = 4
"""NumSimultaneousCounters: the total cost of the counters that can be active at a time."""


class CounterType(SdkEnum, prefix="D3D10DDI_COUNTER_TYPE_"):
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
    """The outputs of CheckCounter other than its strings."""

    type: CounterType
    active_counters: int


class StringOut(msgspec.Struct):
    """An output string of CheckCounter: its memory, or None to query the length only.

    Mutable: ``length`` is the capacity of the memory on input and the size of the string on
    output, in bytes with the NUL.
    """

    memory: bytearray | None
    length: int = 0


class CounterRow(msgspec.Struct, frozen=True):
    """A performance counter; ``cost`` counts towards ``SIMULTANEOUS`` while it is active."""

    kind: QueryRow
    type: CounterType
    cost: int
    strings: tuple[str, str, str]
    """The strings of CheckCounter in this order: name, units and description."""


def _share(usage: Usage) -> float:
    """part / whole of ``usage``, a pair (part, whole), at most 1; 0 if the whole is 0."""
    part, whole = usage
    return min(1.0, part / whole) if whole > 0 else 0.0


def _busy(*counters: str) -> Callable[[Report], float]:
    """Return the formula: ticks in which the GPU counters ``counters`` were busy / all ticks."""
    return lambda report: _share(busy(report, *counters))


def _used(rate: tuple[int, int], *counters: str) -> Callable[[Report], float]:
    """Return the formula of a utilization: amount / (ticks of the interval * peak rate).

    The amount is the sum of the GPU counters ``counters``; ``rate`` is the peak rate as (amount,
    ticks).
    """
    return lambda report: _share(used(report, rate, *counters))


def _part(counter: str, *whole: str) -> Callable[[Report], float]:
    """Return the formula: growth of GPU counter ``counter`` / growth of those in ``whole``."""
    return lambda report: _share(part(report, counter, *whole))


def _idle(report: Report) -> float:
    """Formula of GPU_IDLE: 1 - ticks with a busy unit / ticks; 1 for an empty interval."""
    return _share(idle(report))


_FRACTIONS: tuple[tuple[Counter, int, Callable[[Report], float], str], ...] = (
    (Counter.GPU_IDLE, 1, _idle, "time no unit was busy"),
    (Counter.VERTEX_PROCESSING, 1, _busy(*VERTEX), "time in vertex processing"),
    (Counter.GEOMETRY_PROCESSING, 1, _busy(*GEOMETRY), "time in geometry shaders"),
    (Counter.PIXEL_PROCESSING, 1, _busy(*PIXEL), "time in pixel processing"),
    (Counter.OTHER_GPU_PROCESSING, 1, _busy("other_ticks"), "time busy with anything else"),
    (Counter.HOST_ADAPTER_BANDWIDTH_UTILIZATION, 1, _used(RATES.upload_bytes, "upload_bytes"),
     "bytes handed over, of the bus's maximum"),
    (Counter.LOCAL_VIDMEM_BANDWIDTH_UTILIZATION, 1, _used(RATES.memory_bytes, *TRAFFIC),
     "bytes read and written, of the memory's maximum"),
    (Counter.VERTEX_THROUGHPUT_UTILIZATION, 1, _used(RATES.vertices, "vertices"),
     "vertices, of the maximum"),
    (Counter.TRISETUP_THROUGHPUT_UTILIZATION, 1, _used(RATES.triangles, "triangles"),
     "triangles set up, of the maximum"),
    (Counter.FILLRATE_THROUGHPUT_UTILIZATION, 1, _used(RATES.pixels, "fragments"),
     "pixels shaded, of the maximum"),
    (Counter.VERTEXSHADER_MEMORY_LIMITED, 1, _part(VERTEX[0], *VERTEX),
     "vertex processing spent on memory"),
    (Counter.VERTEXSHADER_COMPUTATION_LIMITED, 1, _part(VERTEX[1], *VERTEX),
     "vertex processing spent on computing"),
    (Counter.GEOMETRYSHADER_MEMORY_LIMITED, 1, _part(GEOMETRY[0], *GEOMETRY),
     "geometry shaders waiting for memory"),
    (Counter.GEOMETRYSHADER_COMPUTATION_LIMITED, 1, _part(GEOMETRY[1], *GEOMETRY),
     "geometry shaders computing"),
    (Counter.PIXELSHADER_MEMORY_LIMITED, 1, _part(PIXEL[0], *PIXEL),
     "pixel processing spent on memory"),
    (Counter.PIXELSHADER_COMPUTATION_LIMITED, 1, _part(PIXEL[1], *PIXEL),
     "pixel processing spent on computing"),
    (Counter.POST_TRANSFORM_CACHE_HIT_RATE, 2, _part(VERTEX_CACHE[0], *VERTEX_CACHE),
     "vertices found transformed"),
    (Counter.TEXTURE_CACHE_HIT_RATE, 2, _part("texture_cache_hits", "texture_cache_lookups"),
     "texels found in the cache"),
    (Counter.WAITING_FOR_QUEUE, 1, _busy("wait_queue_ticks"),
     "time the host waited for room in the queue"),
)  # fmt: skip
"""Counter, cost, formula and description of each counter whose value is a FLOAT32 fraction."""

_TOTALS: tuple[tuple[Counter, CounterType, str, str, str], ...] = (
    (Counter.UPLOADED_BYTES, CounterType.UINT64, "upload_bytes", "bytes", "bytes handed over"),
    (Counter.CLOCK_DISTURBANCES, CounterType.UINT32, "clock_changes", "times",
     "times the clock was disturbed"),
)  # fmt: skip
"""(counter, C type, name of the GPU counter, units, description) of each integer counter."""

_LAYOUTS = {
    CounterType.FLOAT32: Struct("<f"),
    CounterType.UINT32: Struct("<I"),
    CounterType.UINT64: Struct("<Q"),
}

_CACHE_RATES = (Counter.POST_TRANSFORM_CACHE_HIT_RATE, Counter.TEXTURE_CACHE_HIT_RATE)
"""The cache hit rate counters; the GPU models its caches only while one of them is active."""


def _row(
    counter: Counter,
    type: CounterType,
    cost: int,
    values: Callable[[Report], tuple[float, ...]],
    strings: tuple[str, str],
) -> CounterRow:
    observes = Observes.VERTEX_CACHE if counter in _CACHE_RATES else Observes.NOTHING
    row = QueryRow(counter, Interface.D3D10_0, _LAYOUTS[type], True, values, observes)
    title = counter.name.replace("_", " ").capitalize().replace("Gpu", "GPU")
    return CounterRow(row, type, cost, (title, *strings))


def _fraction(
    counter: Counter, cost: int, formula: Callable[[Report], float], description: str
) -> CounterRow:
    strings = "fraction", description
    return _row(counter, CounterType.FLOAT32, cost, lambda report: (formula(report),), strings)


def _total(
    counter: Counter, type: CounterType, source: str, units: str, description: str
) -> CounterRow:
    """Row of an integer counter: the GPU's ``source``, which wraps at the size of ``type``."""
    limit = 1 << 8 * _LAYOUTS[type].size
    strings = units, description
    return _row(counter, type, 1, lambda report: (report.change(source) % limit,), strings)


COUNTERS: dict[int, CounterRow] = {
    int(row.kind.query): row
    for row in (*(_fraction(*each) for each in _FRACTIONS), *(_total(*each) for each in _TOTALS))
}
"""The CounterRow of every performance counter, by its D3D10DDI_QUERY value."""

LAST_DEVICE_DEPENDENT = max(COUNTERS)


class ActiveCounters:
    """The active counters of an adapter and the devices that own them.

    Mutable: queries acquire and release counters.  A counter belongs to one device at a time; the
    queries of that device share it and its cost.
    """

    def __init__(self) -> None:
        self._users: dict[int, tuple[object, int]] = {}

    @property
    def cost(self) -> int:
        """Total cost of the active counters; it never exceeds ``SIMULTANEOUS``."""
        return sum(COUNTERS[counter].cost for counter in self._users)

    def acquire(self, counter: int, owner: object) -> bool:
        """Count one more query that uses ``counter``.

        Returns False, without counting it, if another device owns the counter or the total cost
        would exceed ``SIMULTANEOUS``.
        """
        holder, users = self._users.get(counter, (owner, 0))
        fits = users > 0 or self.cost + COUNTERS[counter].cost <= SIMULTANEOUS
        if holder is not owner or not fits:
            return False
        self._users[counter] = owner, users + 1
        return True

    def release(self, counter: int) -> None:
        """Count one query less that uses a counter."""
        owner, users = self._users.pop(counter)
        if users > 1:
            self._users[counter] = owner, users - 1


def check_counter_info(units: int) -> CounterInfo:
    """CheckCounterInfo of a GPU with ``units`` parallel units."""
    return CounterInfo(LAST_DEVICE_DEPENDENT, SIMULTANEOUS, units)


def check_counter(
    contract: Contract,
    query: Annotated[int, Counter],
    title: StringOut | None = None,
    units: StringOut | None = None,
    description: StringOut | None = None,
) -> CounterAnswer:
    """CheckCounter; each string is optional, and without memory only its length is returned.

    Raises Fault: UNSUPPORTED for an unknown counter, E_INVALIDARG for a device counter beyond the
    last one, and for a string that does not fit: all lengths are set then, no string is written.
    """
    row = COUNTERS.get(query)
    if row is None:
        vendor = query >= Counter.UPLOADED_BYTES
        code = DdiCode.E_INVALIDARG if vendor else DdiCode.DXGI_DDI_ERR_UNSUPPORTED
        raise Fault(code, f"CheckCounter: unknown counter {query:#x}")
    outputs = [
        (out, text.encode("ascii") + b"\0")
        for out, text in zip((title, units, description), row.strings, strict=True)
        if out is not None
    ]
    # Every length is set before the first string is written, so that a failure changes no memory.
    fits = [_measure(contract, out, len(text)) for out, text in outputs]
    if not all(fits):
        raise Fault(DdiCode.E_INVALIDARG, "CheckCounter: string buffer too small, see its length")
    for out, text in outputs:
        if out.memory is not None:
            out.memory[: len(text)] = text
    return CounterAnswer(row.type, row.cost)


def _measure(contract: Contract, out: StringOut, needed: int) -> bool:
    """Set the length in bytes of a string; returns whether its memory, if any, is that long."""
    capacity, out.length = out.length, needed
    if out.memory is None:
        return True
    contract.check(capacity <= len(out.memory), Rule.DATA_MEMORY, "CheckCounter")
    return capacity >= needed
