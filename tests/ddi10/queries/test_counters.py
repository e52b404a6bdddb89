"""Counters: formulas, what may be watched at a time, and CheckCounter."""

from __future__ import annotations

from fractions import Fraction
from struct import unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.ddi10.adapter import Adapter, Cause
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.queries.counters import (
    COUNTERS,
    SIMULTANEOUS,
    ActiveCounters,
    Counter,
    CounterInfo,
    CounterType,
    StringOut,
)
from dp2emu.ddi10.queries.query_types import CreateQuery
from dp2emu.gpu.command.packets import BeginQuery, Clear, EndQuery
from dp2emu.gpu.command.queries import COUNTER_NAMES, Counters, QuerySlot, Report, snapshot
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import Cost, Overlap, instant
from tests.ddi10.driving import REMOVED, Driven

T = 1000
CHANGES = {
    "vertex_memory_ticks": 30, "vertex_compute_ticks": 90, "pixel_memory_ticks": 200,
    "pixel_compute_ticks": 50, "other_ticks": 130, "geometry_memory_ticks": 20,
    "geometry_compute_ticks": 60, "upload_bytes": 500, "vertex_bytes": 1500,
    "pixel_bytes": 2000, "unordered_bytes": 700, "stream_bytes": 300,
    "vertices": 25, "triangles": 10, "fragments": 1000,
    "vertex_cache_misses": 6, "vertex_cache_hits": 2, "texture_cache_lookups": 16,
    "texture_cache_hits": 15, "wait_queue_ticks": 250, "clock_changes": 3,
    "busy_ticks": 400,
}  # fmt: skip

EXPECTED = {
    Counter.GPU_IDLE: Fraction(T - 400, T),
    Counter.VERTEX_PROCESSING: Fraction(120, T),
    Counter.GEOMETRY_PROCESSING: Fraction(80, T),
    Counter.PIXEL_PROCESSING: Fraction(250, T),
    Counter.OTHER_GPU_PROCESSING: Fraction(130, T),
    Counter.HOST_ADAPTER_BANDWIDTH_UTILIZATION: Fraction(500, 2 * T),
    Counter.LOCAL_VIDMEM_BANDWIDTH_UTILIZATION: Fraction(5000, 16 * T),
    Counter.VERTEX_THROUGHPUT_UTILIZATION: Fraction(4 * 25, T),
    Counter.TRISETUP_THROUGHPUT_UTILIZATION: Fraction(8 * 10, T),
    Counter.FILLRATE_THROUGHPUT_UTILIZATION: Fraction(1000, 4 * T),
    Counter.VERTEXSHADER_MEMORY_LIMITED: Fraction(30, 120),
    Counter.VERTEXSHADER_COMPUTATION_LIMITED: Fraction(90, 120),
    Counter.GEOMETRYSHADER_MEMORY_LIMITED: Fraction(20, 80),
    Counter.GEOMETRYSHADER_COMPUTATION_LIMITED: Fraction(60, 80),
    Counter.PIXELSHADER_MEMORY_LIMITED: Fraction(200, 250),
    Counter.PIXELSHADER_COMPUTATION_LIMITED: Fraction(50, 250),
    Counter.POST_TRANSFORM_CACHE_HIT_RATE: Fraction(2, 8),
    Counter.TEXTURE_CACHE_HIT_RATE: Fraction(15, 16),
    Counter.WAITING_FOR_QUEUE: Fraction(250, T),
}


def report(changes: dict[str, int], ticks: int) -> Report:
    """An interval in which counters went on from 7 by ``changes``."""
    counters = Counters(**dict.fromkeys(COUNTER_NAMES, 7))
    begin = snapshot(counters, 5)
    for name, change in changes.items():
        setattr(counters, name, 7 + change)
    return Report(QuerySlot(1, None, 0), 0, begin, snapshot(counters, 5 + ticks), 0)


def value(counter: Counter, changes: dict[str, int], ticks: int) -> float:
    (found,) = unpack("<f", COUNTERS[counter].kind.payload(report(changes, ticks)))
    return float(found)


@pytest.mark.parametrize("counter", list(EXPECTED))
def test_fractions_follow_their_formula(counter: Counter) -> None:
    assert value(counter, CHANGES, T) == pytest.approx(float(EXPECTED[counter]), abs=1e-7)


@pytest.mark.parametrize("counter", list(EXPECTED))
def test_nothing_in_no_time_is_idle(counter: Counter) -> None:
    assert value(counter, {}, 0) == (counter is Counter.GPU_IDLE)


@pytest.mark.parametrize("counter", list(EXPECTED))
def test_fractions_are_never_above_1(counter: Counter) -> None:
    assert 0 <= value(counter, dict.fromkeys(CHANGES, 10**9), 1) <= 1


PROCESSING = [Counter(n) for n in range(Counter.VERTEX_PROCESSING, 0x1005)]
costs = st.lists(st.builds(Cost, *[st.integers(0, 1000)] * 7), max_size=5)


def measure(overlap: Overlap, packets: list[Cost], idle: int) -> tuple[list[float], float]:
    """The fraction of each unit, and of idleness, over clears that cost this."""
    timing = replace(instant(), cost=lambda number, work: packets[number])
    driven = Driven(adapter=Adapter(Gpu(timing, overlap=overlap), checking=True))
    gpu = driven.adapter.gpu
    slot = QuerySlot(1, None, 0)
    found: list[Report] = []
    gpu.report_taps.append(found.append)
    gpu.submit(BeginQuery(slot, 0))
    for _ in packets:
        gpu.submit(Clear((), (), None, None, None, None))
    gpu.finish()
    gpu.advance(idle)
    gpu.submit(EndQuery(slot, 0))
    gpu.finish()
    (made,) = found
    fractions = [unpack("<f", COUNTERS[unit].kind.payload(made))[0] for unit in PROCESSING]
    return fractions, unpack("<f", COUNTERS[Counter.GPU_IDLE].kind.payload(made))[0]


@given(costs, st.integers(0, 1000))
def test_busy_units_and_idle_make_1_with_one_unit(packets: list[Cost], idle: int) -> None:
    busy, idleness = measure(Overlap(), packets, idle)
    assert sum(busy) == pytest.approx(1 - idleness, abs=1e-6)


@given(costs, st.integers(0, 1000), st.integers(2, 4), st.integers(0, 100))
def test_idle_is_in_a_range_with_several_units(
    packets: list[Cost], idle: int, units: int, percent: int
) -> None:
    busy, idleness = measure(Overlap(units, percent), packets, idle)
    assert max(0, 1 - sum(busy)) - 1e-6 <= idleness <= 1 - max(busy) + 1e-6
    assert sum(busy) <= units + 1e-6


@pytest.mark.parametrize(("percent", "idle"), [(0, 0.5), (50, 0.625), (100, 0.75)])
def test_a_quarter_of_vertices_and_pixels_leaves_a_half_to_three_quarters_idle(
    percent: int, idle: float
) -> None:
    overlap = Overlap(4, percent)
    packet = Cost(vertex_compute=250, pixel_memory=250)
    busy, idleness = measure(overlap, [packet], 1000 - overlap.length(packet))
    assert (busy, idleness) == ([0.25, 0, 0.25, 0], idle)


def test_whole_numbers_wrap_at_their_type() -> None:
    changes = {"upload_bytes": (1 << 64) + 5, "clock_changes": (1 << 32) + 6}
    made = report(changes, 1)
    assert COUNTERS[Counter.UPLOADED_BYTES].kind.payload(made) == (5).to_bytes(8, "little")
    assert COUNTERS[Counter.CLOCK_DISTURBANCES].kind.payload(made) == (6).to_bytes(4, "little")


def test_a_counter_is_a_query() -> None:
    driven = Driven()
    memory = create(driven, Counter.CLOCK_DISTURBANCES)
    driven.call("QueryBegin", memory)
    driven.call("Flush")
    driven.adapter.disturb(Cause.HEAT)
    driven.call("QueryEnd", memory)
    data = bytearray(4)
    assert driven.call("QueryGetData", memory, data, 4) == []
    assert data == b"\x01\0\0\0"


# What may be watched at a time


def create(driven: Driven, counter: int) -> bytearray:
    memory = driven.memory(counter)
    assert driven.call("CreateQuery", CreateQuery(counter), memory) == []
    return memory


NONEXCLUSIVE = [DdiCode.DXGI_DDI_ERR_NONEXCLUSIVE]


def test_counters_beyond_the_simultaneous_cost_are_nonexclusive() -> None:
    driven = Driven()
    watched = [create(driven, Counter.GPU_IDLE + n) for n in range(SIMULTANEOUS)]
    wanted = CreateQuery(Counter.OTHER_GPU_PROCESSING)
    memory = driven.memory(wanted.Query)
    assert driven.call("CreateQuery", wanted, memory) == NONEXCLUSIVE
    driven.call("DestroyQuery", watched[0])
    assert driven.call("CreateQuery", wanted, memory) == []


def test_queries_of_one_counter_share_its_cost() -> None:
    driven = Driven()
    queries = [create(driven, Counter.TEXTURE_CACHE_HIT_RATE) for _ in range(3)]
    assert driven.adapter.active_counters.cost == 2
    for memory in queries[:2]:
        driven.call("DestroyQuery", memory)
    assert driven.adapter.active_counters.cost == 2
    driven.call("DestroyQuery", queries[2])
    assert driven.adapter.active_counters.cost == 0


def test_what_is_watched_can_be_watched_again_when_nothing_is_left() -> None:
    driven = Driven()
    for n in range(SIMULTANEOUS):
        create(driven, Counter.GPU_IDLE + n)
    create(driven, Counter.GPU_IDLE)
    assert driven.adapter.active_counters.cost == SIMULTANEOUS


def test_a_counter_that_another_device_watches_is_nonexclusive() -> None:
    adapter = Adapter(checking=True)
    one, other = Driven(adapter=adapter), Driven(adapter=adapter)
    memory = create(one, Counter.GPU_IDLE)
    wanted = CreateQuery(Counter.GPU_IDLE)
    assert other.call("CreateQuery", wanted, other.memory(wanted.Query)) == NONEXCLUSIVE
    one.call("DestroyQuery", memory)
    create(other, Counter.GPU_IDLE)


def test_a_dying_device_watches_nothing() -> None:
    driven = Driven(checking=False)
    create(driven, Counter.GPU_IDLE)
    driven.call("DestroyDevice")
    assert driven.adapter.active_counters.cost == 0


counters = st.sampled_from([int(counter) for counter in Counter])


@given(st.lists(st.tuples(st.integers(0, 1), counters, st.booleans()), max_size=30))
def test_what_is_watched_never_costs_more_than_the_limit(
    steps: list[tuple[int, int, bool]],
) -> None:
    watched = ActiveCounters()
    held: list[tuple[int, int]] = []
    for owner, counter, releases in steps:
        if releases and held:
            watched.release(held.pop()[1])
            continue
        others = {c for o, c in held if o != owner}
        cost = sum(COUNTERS[c].cost for c in {c for _, c in held} | {counter})
        fits = counter not in others and cost <= SIMULTANEOUS
        assert watched.acquire(counter, owner) is fits
        held += [(owner, counter)] * fits
        assert watched.cost <= SIMULTANEOUS


# CheckCounterInfo and CheckCounter


def check(driven: Driven, *arguments: object) -> tuple[object, list[int]]:
    driven.codes.clear()
    answer = driven.device.functions["CheckCounter"](*arguments)
    return answer, list(driven.codes)


@pytest.mark.parametrize("units", [1, 2, 3, 4])
def test_the_counter_info_tells_the_parallel_units(units: int) -> None:
    driven = Driven(adapter=Adapter(Gpu(overlap=Overlap(units))))
    info = driven.device.functions["CheckCounterInfo"]()
    assert info == CounterInfo(0x40000002, 4, units)


@pytest.mark.parametrize("counter", list(Counter))
def test_every_counter_has_type_cost_and_strings(counter: Counter) -> None:
    driven = Driven()
    strings = [StringOut(None) for _ in range(3)]
    answer, codes = check(driven, counter, *strings)
    row = COUNTERS[counter]
    assert (answer, codes) == ((row.type, row.cost), [])
    lengths = [out.length for out in strings]
    strings = [StringOut(bytearray(length), length) for length in lengths]
    assert check(driven, counter, *strings) == (answer, [])
    for out, text in zip(strings, row.strings, strict=True):
        assert out.memory == text.encode() + b"\0"
        assert out.length == len(text) + 1


def test_well_known_counters_are_float32() -> None:
    for number in range(0x1000, 0x1012):
        assert COUNTERS[number].type is CounterType.FLOAT32


def test_strings_are_optional_one_by_one() -> None:
    units = StringOut(bytearray(20), 20)
    _, codes = check(Driven(), Counter.UPLOADED_BYTES, None, units)
    assert (codes, units.length) == ([], 6)
    assert units.memory is not None
    assert units.memory.startswith(b"bytes\0\0")


def test_a_string_that_does_not_fit_is_an_invalid_argument_and_none_is_written() -> None:
    name, units = StringOut(bytearray(99), 99), StringOut(bytearray(5), 5)
    answer, codes = check(Driven(), Counter.UPLOADED_BYTES, name, units)
    assert (answer, codes, units.length) == (None, [DdiCode.E_INVALIDARG], 6)
    assert (name.memory, units.memory) == (bytearray(99), bytearray(5))


@pytest.mark.parametrize("number", [0, 1, 16, 0xFFF, 0x1012, 0x3FFFFFFF])
def test_what_is_no_counter_is_unsupported(number: int) -> None:
    assert check(Driven(), number) == (None, [DdiCode.DXGI_DDI_ERR_UNSUPPORTED])


@pytest.mark.parametrize("number", [0x40000003, 0xFFFFFFFF])
def test_counters_beyond_the_last_of_the_device_are_invalid(number: int) -> None:
    assert check(Driven(), number) == (None, [DdiCode.E_INVALIDARG])


def test_checks_of_counters_never_report_removal() -> None:
    driven = Driven()
    driven.adapter.remove()
    assert driven.device.functions["CheckCounterInfo"]() is not None
    answer, codes = check(driven, Counter.GPU_IDLE)
    assert (answer is not None, codes, driven.call("Flush")) == (True, [], REMOVED)
