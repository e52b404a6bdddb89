"""The response writer: origin, capacity, fit, overflow (wire format, "Responses")."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.queries import BLOCK_RECORDS, Outbox, Result
from dp2emu.dp2.queries import lay_out as lay_out_box
from tests.dp2.rigging import END, Bench, create, delete, issue, records

EVENT, OCCLUSION, VCACHE = 8, 9, 4
CONTINUE = bytes.fromhex("57000000 08000000")


def lay_out(results: list[Result], capacity: int) -> bytes:
    """The response buffer for these results."""
    return lay_out_box(boxed(results), capacity)


def boxed(results: list[Result]) -> Outbox:
    box = Outbox()
    for result in results:
        box.add(result)
    return box


def sent(data: bytes) -> list[int]:
    return [query for query, _ in records(data)]


def event(query: int) -> Result:
    return Result(query, EVENT, b"\1\0\0\0")


def big(query: int, size: int = 352) -> Result:
    return Result(query, 5, bytes(size))


def test_nothing_to_say_writes_nothing() -> None:
    assert lay_out([], 4096) == b""


def test_the_reference_vector_fits_its_20_bytes_exactly() -> None:
    data = lay_out([Result(5, OCCLUSION, struct.pack("<I", 42))], 20)
    assert data == bytes.fromhex("58000100 14000000 05000000 04000000 2A000000")


@pytest.mark.parametrize("capacity", range(20))
def test_a_buffer_too_small_for_any_record_stays_untouched(capacity: int) -> None:
    assert lay_out([event(1)], capacity) == b""


@pytest.mark.parametrize("capacity", range(20, 28))
def test_a_record_needs_room_for_responsecontinue_if_another_waits(capacity: int) -> None:
    assert lay_out([event(1), event(2)], capacity) == b""


@pytest.mark.parametrize("capacity", range(28, 32))
def test_what_fits_is_followed_by_responsecontinue(capacity: int) -> None:
    data = lay_out([event(1), event(2)], capacity)
    assert sent(data) == [1]
    assert data[20:] == CONTINUE


def test_the_last_record_needs_no_room_for_responsecontinue() -> None:
    data = lay_out([event(1), event(2)], 32)
    assert (sent(data), len(data)) == ([1, 2], 32)


def test_a_block_tells_its_records_and_its_size() -> None:
    data = lay_out([event(1), Result(2, VCACHE, bytes(16))], 4096)
    assert struct.unpack_from("<BBHI", data) == (Op.RESPONSEQUERY, 0, 2, 8 + 12 + 24)


def test_a_record_too_large_holds_back_its_own_type_only() -> None:
    data = lay_out([big(1), event(2), big(3, 4), event(4)], 64)
    assert sent(data) == [2, 4]
    assert data[-8:] == CONTINUE


def test_a_record_too_large_alone_never_asks_for_another_call() -> None:
    assert lay_out([big(1)], 64) == b""
    assert lay_out([big(1), big(2)], 64) == b""


def test_completion_order_is_kept_once_something_is_written() -> None:
    """A later, smaller record does not slip past one that merely comes too late."""
    data = lay_out([event(1), Result(2, VCACHE, bytes(16)), event(3)], 8 + 12 + 12 + 8)
    assert sent(data) == [1]


def test_a_new_block_opens_at_65535_records() -> None:
    count = BLOCK_RECORDS + 2
    data = lay_out([event(query) for query in range(count)], 1 << 24)
    first = struct.unpack_from("<BBHI", data)
    second = struct.unpack_from("<BBHI", data, first[3])
    assert first == (88, 0, 65535, 8 + 65535 * 12)
    assert second == (88, 0, 2, 8 + 2 * 12)
    assert sent(data) == list(range(count))


def test_the_header_of_a_second_block_counts_against_the_capacity() -> None:
    results = [event(query) for query in range(BLOCK_RECORDS + 1)]
    exact = 8 + 65535 * 12 + 8 + 12
    assert len(sent(lay_out(results, exact))) == BLOCK_RECORDS + 1
    short = lay_out(results, exact - 1)
    assert (len(sent(short)), short[-8:]) == (BLOCK_RECORDS, CONTINUE)


def test_a_newer_answer_to_the_same_query_drops_the_older() -> None:
    newer = Result(1, OCCLUSION, b"\2\0\0\0")
    assert records(lay_out([event(1), event(2), newer], 4096)) == [
        (2, event(2).payload),
        (1, newer.payload),
    ]


def test_dropped_answers_do_not_pile_up() -> None:
    box = Outbox()
    for _ in range(10_000):
        box.add(event(1))
    assert sum(map(len, box._queues.values())) < 100
    assert sent(lay_out_box(box, 4096)) == [1]


def test_a_queue_is_cleared_of_dropped_answers_when_most_of_it_is_dropped() -> None:
    box = boxed([event(query) for query in range(10)])
    lengths = []
    for _ in range(200):
        box.add(event(0))
        lengths.append(len(box._queues[EVENT]))
    assert max(lengths) == 2 * 10 + 64
    assert lengths[lengths.index(84) + 1] == 10


def test_a_dropped_answer_is_not_sent() -> None:
    box = boxed([event(1), event(2), event(3)])
    box.drop(1)
    box.drop(9)
    assert len(box) == 2
    assert sent(lay_out_box(box, 4096)) == [2, 3]
    assert (len(box), box.first(())) == (0, None)


@pytest.mark.parametrize("again", [b"", create(2, QueryType.EVENT)])
def test_a_deleted_query_is_not_answered_although_its_answer_waits_to_be_sent(
    again: bytes,
) -> None:
    """28 bytes have room for one answer and RESPONSECONTINUE."""
    bench = Bench(buffer=28)
    bench.ok(create(1, QueryType.EVENT) + create(2, QueryType.EVENT))
    answer = bench.ok(issue(1, END) + issue(2, END))
    assert sent(answer.response) == [1]
    assert answer.response.endswith(CONTINUE)
    assert bench.ok(delete(2) + again).response == b""
    assert bench.ok().response == b""


def test_an_outbox_knows_what_waits() -> None:
    box = boxed([event(5)])
    assert 5 in box
    assert 6 not in box


PAYLOADS = {EVENT: b"\1\0\0\0", OCCLUSION: bytes(4), VCACHE: bytes(16)}


@st.composite
def results(draw: st.DrawFn) -> list[Result]:
    """Answers to different queries, in completion order."""
    kinds = draw(st.lists(st.sampled_from(list(PAYLOADS)), max_size=12))
    return [Result(query, kind, PAYLOADS[kind]) for query, kind in enumerate(kinds)]


@given(results(), st.integers(0, 200))
def test_what_is_written_parses_back_and_stays_inside(results: list[Result], size: int) -> None:
    data = lay_out(results, size)
    assert len(data) <= size
    assert all(payload == results[query].payload for query, payload in records(data))
    assert data.endswith(CONTINUE) == (0 < len(sent(data)) < len(results))


@given(results(), st.integers(0, 200))
def test_each_type_is_sent_in_order(results: list[Result], size: int) -> None:
    found = sent(lay_out(results, size))
    assert found == sorted(found)
    for kind in PAYLOADS:
        flags = [query in found for query, result in enumerate(results) if result.kind == kind]
        assert flags == sorted(flags, reverse=True)


@given(results())
def test_draining_a_buffer_of_40_bytes_delivers_everything(results: list[Result]) -> None:
    box = boxed(results)
    found = [query for _ in range(len(results) + 1) for query in sent(lay_out_box(box, 40))]
    assert len(box) == 0
    assert sorted(found) == list(range(len(results)))
