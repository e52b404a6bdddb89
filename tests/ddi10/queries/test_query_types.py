"""Query types: numbers, sizes and payloads."""

from __future__ import annotations

import pytest

from dp2emu.d3d import ddi
from dp2emu.ddi10.adapter import Adapter, Cause
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.queries.query_types import QUERY_TYPES, Query
from dp2emu.dp2.driver import Driver
from dp2emu.gpu.command.packets import Clear
from dp2emu.gpu.device.timing import fixed
from tests.ddi10.driving import Driven

SIZES = [4, 8, 8, 16, 64, 4, 16, 4, 88, 16, 16, 16, 16, 4, 4, 4, 4]
"""Direct3D 10/11 DDI, "Query types", from type 0 on."""


@pytest.mark.parametrize(("query", "size"), list(enumerate(SIZES)))
def test_payloads_have_the_documented_size(query: int, size: int) -> None:
    assert QUERY_TYPES[query].layout.size == size


@pytest.mark.parametrize("query", list(Query))
def test_all_but_events_and_timestamps_begin(query: Query) -> None:
    assert QUERY_TYPES[query].begins is (query not in (Query.EVENT, Query.TIMESTAMP))


@pytest.mark.parametrize("query", list(Query))
def test_types_from_8_on_came_with_direct3d_11(query: Query) -> None:
    assert QUERY_TYPES[query].since is (Interface.D3D10_0 if query < 8 else Interface.D3D11_0)


def test_the_disjoint_structure_is_the_declared_one() -> None:
    declared = ddi.D3D10_DDI_QUERY_DATA_TIMESTAMP_DISJOINT
    fields = declared.parse(QUERY_TYPES[Query.TIMESTAMPDISJOINT].layout.pack(5, 1))
    assert (declared.sizeof(), fields.Frequency, fields.Disjoint) == (16, 5, 1)


def test_an_event_is_true() -> None:
    driven = Driven()
    assert driven.data(driven.issue(Query.EVENT), Query.EVENT) == b"\x01\0\0\0"


def interval(driven: Driven, query: Query, before: int, samples: int) -> bytes | None:
    driven.device.counters.samples = before
    memory = driven.create(query)
    driven.call("QueryBegin", memory)
    driven.call("Flush")
    driven.device.counters.samples += samples
    driven.device.counters.multisamples.add(1, 4, 3)
    driven.call("QueryEnd", memory)
    return driven.data(memory, query)


@pytest.mark.parametrize(
    ("before", "samples", "counted"),
    [(0, 0, 3), (7, 5, 8), ((1 << 64) - 2, 9, 12), (0, (1 << 64) - 3, 0), (0, (1 << 64), 3)],
)
def test_occlusion_counts_samples_modulo_64_bits(before: int, samples: int, counted: int) -> None:
    assert interval(Driven(), Query.OCCLUSION, before, samples) == counted.to_bytes(8, "little")


@pytest.mark.parametrize(("samples", "visible"), [(0, 1), (1, 1), ((1 << 64) - 3, 0)])
def test_the_predicate_is_whether_occlusion_is_not_0(samples: int, visible: int) -> None:
    data = interval(Driven(), Query.OCCLUSIONPREDICATE, 0, samples)
    assert data == visible.to_bytes(4, "little")


def test_the_predicate_of_an_empty_interval_is_false() -> None:
    driven = Driven()
    memory = driven.create(Query.OCCLUSIONPREDICATE)
    driven.call("QueryEnd", memory)
    assert driven.data(memory, Query.OCCLUSIONPREDICATE) == bytes(4)


@pytest.mark.parametrize("query", [q for q in Query if "STREAM" in q.name])
def test_nothing_streams_out_and_nothing_overflows(query: Query) -> None:
    driven = Driven()
    assert driven.data(driven.issue(query), query) == bytes(QUERY_TYPES[query].layout.size)


WRITTEN, NEEDED = (3, 5, 4, 0), (3, 6, 4, 12)
STATISTICS = {Query.STREAMOUTPUTSTATS: 0, **{Query(9 + stream): stream for stream in range(4)}}
OVERFLOWS = {
    Query.STREAMOVERFLOWPREDICATE: 1,
    **{Query(13 + stream): int(NEEDED[stream] > WRITTEN[stream]) for stream in range(4)},
}


def streamed(query: Query, before: int = 0) -> bytes | None:
    """What a query says of an interval with ``WRITTEN`` and ``NEEDED``."""
    driven = Driven()
    counters = driven.device.counters
    names = [f"stream{n}_{what}" for what in ("written", "needed") for n in range(4)]
    for name in names:
        setattr(counters, name, before)
    memory = driven.create(query)
    driven.call("QueryBegin", memory)
    driven.call("Flush")
    for name, count in zip(names, WRITTEN + NEEDED, strict=True):
        setattr(counters, name, before + count)
    driven.call("QueryEnd", memory)
    return driven.data(memory, query)


@pytest.mark.parametrize(("query", "stream"), STATISTICS.items())
@pytest.mark.parametrize("before", [0, 7, (1 << 64) - 2])
def test_stream_output_statistics_are_of_their_stream_and_plain_of_the_first(
    query: Query, stream: int, before: int
) -> None:
    counts = WRITTEN[stream], NEEDED[stream]
    assert streamed(query, before) == b"".join(n.to_bytes(8, "little") for n in counts)


@pytest.mark.parametrize(("query", "overflowed"), OVERFLOWS.items())
def test_overflow_predicates_are_of_their_stream_and_plain_of_any(
    query: Query, overflowed: int
) -> None:
    assert streamed(query) == overflowed.to_bytes(4, "little")


def stamp(driven: Driven) -> int:
    memory = driven.issue(Query.TIMESTAMP)
    driven.call("Flush")
    driven.adapter.finish()
    data = driven.data(memory, Query.TIMESTAMP)
    assert data is not None
    return int.from_bytes(data, "little")


def test_timestamps_of_all_devices_and_front_ends_are_of_one_clock() -> None:
    driver = Driver(fixed(call=1000, packet=0))
    adapter = Adapter(driver.gpu, checking=True)
    one, other = Driven(adapter=adapter), Driven(adapter=adapter)
    first = stamp(one)
    driver.gpu.advance(5000)
    second = stamp(other)
    assert second - first >= 5000
    assert second <= driver.time


def test_timestamps_are_in_ticks_of_the_frequency_disjoint_gives() -> None:
    driven = Driven()
    data = driven.data(driven.issue(Query.TIMESTAMPDISJOINT), Query.TIMESTAMPDISJOINT)
    assert data is not None
    frequency, disjoint = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")
    assert (frequency, disjoint) == (1_000_000_000, 0)
    assert frequency > 10_000_000
    first = stamp(driven)
    driven.adapter.advance(frequency)
    assert stamp(driven) - first == frequency


def test_a_timestamp_is_taken_when_the_work_is_finished_not_when_it_becomes_visible() -> None:
    driven = Driven(fixed(call=0, packet=250, delivery=10_000))
    first = driven.issue(Query.TIMESTAMP)
    driven.call("Flush")
    driven.submit(Clear((), (), None, None, None, None))
    second = driven.issue(Query.TIMESTAMP)
    driven.call("Flush")
    driven.adapter.finish()
    stamps = [driven.data(memory, Query.TIMESTAMP) for memory in (first, second)]
    assert [int.from_bytes(data or b"", "little") for data in stamps] == [0, 250]
    assert driven.adapter.gpu.now >= 10_000


@pytest.mark.parametrize("cause", list(Cause))
def test_a_disturbance_does_not_change_the_frequency(cause: Cause) -> None:
    driven = Driven()
    memory = driven.create(Query.TIMESTAMPDISJOINT)
    driven.call("QueryBegin", memory)
    driven.call("Flush")
    driven.adapter.disturb(cause)
    driven.call("QueryEnd", memory)
    data = driven.data(memory, Query.TIMESTAMPDISJOINT)
    assert data == (1_000_000_000).to_bytes(8, "little") + b"\1" + bytes(7)


@pytest.mark.parametrize("cause", list(Cause))
def test_a_disturbance_makes_the_intervals_around_it_disjoint(cause: Cause) -> None:
    driven = Driven()
    before, around, after = (driven.create(Query.TIMESTAMPDISJOINT) for _ in range(3))
    for entry, memory in (("QueryBegin", before), ("QueryEnd", before), ("QueryBegin", around)):
        driven.call(entry, memory)
    driven.call("Flush")
    driven.adapter.disturb(cause)
    for entry, memory in (("QueryBegin", after), ("QueryEnd", after), ("QueryEnd", around)):
        driven.call(entry, memory)
    data = [driven.data(memory, Query.TIMESTAMPDISJOINT) for memory in (before, around, after)]
    assert [d and d[8] for d in data] == [0, 1, 0]
    assert [(d.time, d.cause) for d in driven.adapter.disturbances] == [(0, cause)]
