"""The response writer: origin, capacity, fit, overflow (reference section 8)."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.dp2.responses import BLOCK_RECORDS, Result, lay_out
from tests.dp2.rigging import records

EVENT, OCCLUSION, VCACHE = 8, 9, 4
CONTINUE = bytes.fromhex("57000000 08000000")


def event(query: int) -> Result:
    return Result(query, EVENT, b"\1\0\0\0")


def big(query: int, size: int = 352) -> Result:
    return Result(query, 5, bytes(size))


def test_nothing_to_say_writes_nothing() -> None:
    assert lay_out([], 4096) == (b"", [])


def test_the_reference_vector_fits_its_20_bytes_exactly() -> None:
    responses = lay_out([Result(5, OCCLUSION, struct.pack("<I", 42))], 20)
    assert responses.data == bytes.fromhex("58000100 14000000 05000000 04000000 2A000000")


@pytest.mark.parametrize("capacity", range(20))
def test_a_buffer_too_small_for_any_record_stays_untouched(capacity: int) -> None:
    assert lay_out([event(1)], capacity) == (b"", [])


@pytest.mark.parametrize("capacity", range(20, 28))
def test_a_record_needs_room_for_responsecontinue_if_another_waits(capacity: int) -> None:
    assert lay_out([event(1), event(2)], capacity) == (b"", [])


@pytest.mark.parametrize("capacity", range(28, 32))
def test_what_fits_is_followed_by_responsecontinue(capacity: int) -> None:
    responses = lay_out([event(1), event(2)], capacity)
    assert responses.sent == [0]
    assert responses.data[20:] == CONTINUE


def test_the_last_record_needs_no_room_for_responsecontinue() -> None:
    responses = lay_out([event(1), event(2)], 32)
    assert (responses.sent, len(responses.data)) == ([0, 1], 32)


def test_a_block_tells_its_records_and_its_size() -> None:
    data = lay_out([event(1), Result(2, VCACHE, bytes(16))], 4096).data
    assert struct.unpack_from("<BBHI", data) == (88, 0, 2, 8 + 12 + 24)


def test_a_record_too_large_holds_back_its_own_type_only() -> None:
    responses = lay_out([big(1), event(2), big(3, 4), event(4)], 64)
    assert responses.sent == [1, 3]
    assert responses.data[-8:] == CONTINUE


def test_a_record_too_large_alone_never_asks_for_another_call() -> None:
    assert lay_out([big(1)], 64) == (b"", [])
    assert lay_out([big(1), big(2)], 64) == (b"", [])


def test_completion_order_is_kept_once_something_is_written() -> None:
    """A later, smaller record does not slip past one that merely comes too late."""
    responses = lay_out([event(1), Result(2, VCACHE, bytes(16)), event(3)], 8 + 12 + 12 + 8)
    assert responses.sent == [0]


def test_a_new_block_opens_at_65535_records() -> None:
    count = BLOCK_RECORDS + 2
    data = lay_out([event(query) for query in range(count)], 1 << 24).data
    first = struct.unpack_from("<BBHI", data)
    second = struct.unpack_from("<BBHI", data, first[3])
    assert first == (88, 0, 65535, 8 + 65535 * 12)
    assert second == (88, 0, 2, 8 + 2 * 12)
    assert [query for query, _ in records(data)] == list(range(count))


def test_the_header_of_a_second_block_counts_against_the_capacity() -> None:
    results = [event(query) for query in range(BLOCK_RECORDS + 1)]
    exact = 8 + 65535 * 12 + 8 + 12
    assert len(lay_out(results, exact).sent) == BLOCK_RECORDS + 1
    short = lay_out(results, exact - 1)
    assert (len(short.sent), short.data[-8:]) == (BLOCK_RECORDS, CONTINUE)


SOME = st.lists(
    st.builds(
        Result,
        st.integers(0, 7),
        st.sampled_from([EVENT, OCCLUSION, VCACHE]),
        st.sampled_from([b"\1\0\0\0", bytes(8), bytes(16)]),
    ),
    max_size=12,
)


@given(SOME, st.integers(0, 200))
def test_what_is_written_parses_back_and_stays_inside(results: list[Result], size: int) -> None:
    data, sent = lay_out(results, size)
    assert len(data) <= size
    assert records(data) == [(results[i].query_id, results[i].payload) for i in sent]
    assert data.endswith(CONTINUE) == (0 < len(sent) < len(results))


@given(SOME, st.integers(0, 200))
def test_each_type_is_sent_in_order(results: list[Result], size: int) -> None:
    sent = set(lay_out(results, size).sent)
    for kind in (EVENT, OCCLUSION, VCACHE):
        flags = [index in sent for index, result in enumerate(results) if result.kind == kind]
        assert flags == sorted(flags, reverse=True)


@given(SOME)
def test_draining_a_buffer_of_40_bytes_delivers_everything(results: list[Result]) -> None:
    left = list(results)
    found: list[int] = []
    for _ in range(len(results) + 1):
        sent = lay_out(left, 40).sent
        found += [left[i].query_id for i in sent]
        left = [result for index, result in enumerate(left) if index not in set(sent)]
    assert left == []
    assert sorted(found) == sorted(result.query_id for result in results)
