"""GetData as recorded for IDirect3DQuery9, whatever the driver does."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.queries import KINDS
from dp2emu.errors import UsageError
from dp2emu.gpu.device.timing import fixed
from dp2emu.runtime import Device9, Query, QueryData, QueryState, Refused, Session
from dp2emu.runtime.query import MOST_DATA

from .rigs import MORE, ScriptedRig, answer, block

NOT_YET = QueryData(HResult.S_FALSE, None)


def occlusion(rig: ScriptedRig) -> Query:
    return Query(Session(rig), QueryType.OCCLUSION)


def done(value: int) -> Query:
    """An occlusion query that has been answered."""
    query = occlusion(ScriptedRig([answer(block((1, struct.pack("<I", value))))]))
    query.begin()
    query.end()
    assert query.wait().value == value
    return query


def test_a_query_never_issued_answers_ok_and_a_fill() -> None:
    query = occlusion(ScriptedRig())
    assert query.get_data(8) == (HResult.S_OK, b"\xdd\xdd\xdd\xdd\0\0\0\0")


def test_a_building_query_is_not_done_with_or_without_flush() -> None:
    rig = ScriptedRig()
    query = occlusion(rig)
    query.begin()
    assert query.get_data() == NOT_YET
    assert rig.calls == []
    assert query.get_data(flush=True) == NOT_YET
    assert len(rig.calls) == 1


def test_get_data_without_flush_submits_nothing() -> None:
    rig = ScriptedRig()
    query = occlusion(rig)
    query.end()
    assert query.get_data() == NOT_YET
    assert rig.calls == []


def test_get_data_with_flush_takes_the_answer_of_its_own_call() -> None:
    query = occlusion(ScriptedRig([answer(block((1, b"\x2a\0\0\0")))]))
    query.end()
    assert query.get_data(flush=True) == (HResult.S_OK, b"\x2a\0\0\0")


def test_a_done_query_answers_again_and_again() -> None:
    query = done(5000)
    assert [query.get_data().value for _ in range(3)] == [5000] * 3


@pytest.mark.parametrize(
    ("size", "data"), [(0, ""), (1, "88"), (2, "8813"), (4, "88130000"), (8, "8813000000000000")]
)
def test_short_reads_are_cut_and_long_reads_filled_with_zeros(size: int, data: str) -> None:
    assert done(5000).get_data(size) == (HResult.S_OK, bytes.fromhex(data))


def test_size_zero_only_tells_whether_the_answer_is_there() -> None:
    query = occlusion(ScriptedRig())
    query.end()
    assert query.get_data(0) == NOT_YET
    assert done(1).get_data(0).value is None


def test_a_new_begin_takes_the_old_answer_away() -> None:
    query = done(7)
    query.begin()
    assert query.get_data() == NOT_YET


def test_an_answer_to_an_issue_taken_back_is_dropped() -> None:
    rig = ScriptedRig([answer(), answer(block((1, b"\1\0\0\0"))), answer(block((1, b"\2\0\0\0")))])
    query = occlusion(rig)
    query.end()
    query.get_data(flush=True)
    query.begin()
    assert query.get_data(flush=True) == NOT_YET
    query.end()
    assert query.get_data(flush=True).value == 2


def test_draining_goes_on_behind_an_answer_taken_back() -> None:
    """A driver that answers one query a call: the answer nobody wants any more is the first."""
    taken_back, wanted = answer(block((1, b"\1\0\0\0")) + MORE), answer(block((2, b"\2\0\0\0")))
    session = Session(ScriptedRig([answer(), taken_back, wanted]))
    first, second = (Query(session, QueryType.OCCLUSION) for _ in range(2))
    first.end()
    second.end()
    session.poll()
    first.begin()
    assert second.get_data(flush=True).value == 2
    assert first.get_data() == NOT_YET


def test_a_driver_that_repeats_an_answer_for_ever_does_not_make_a_loop() -> None:
    rig = ScriptedRig([answer(block((1, b"\1\0\0\0")) + MORE)] * 100)
    query = occlusion(rig)
    query.end()
    query.end()
    assert query.get_data(flush=True).value == 1
    assert len(rig.calls) == 3


def test_an_answer_without_data_reads_as_zeros() -> None:
    query = occlusion(ScriptedRig([answer(block((1, b"")))]))
    query.end()
    assert query.get_data(flush=True) == (HResult.S_OK, bytes(4))


def test_wait_gives_up_after_its_polls() -> None:
    rig = ScriptedRig()
    query = occlusion(rig)
    query.end()
    assert query.wait(polls=5) == NOT_YET
    assert len(rig.calls) == 6


@pytest.mark.parametrize("call", [0, 1])
def test_wait_lets_time_pass_when_polling_takes_too_little_of_it(call: int) -> None:
    device = Device9(Driver(fixed(call=call, packet=1_000_000)), 8, 8)
    query = device.create_query(QueryType.EVENT)
    device.clear()
    query.end()
    assert query.wait(polls=5).value == 1


def test_wait_on_a_building_query_does_not_poll_for_ever() -> None:
    rig = ScriptedRig()
    query = occlusion(rig)
    query.begin()
    assert query.wait() == NOT_YET
    assert len(rig.calls) == 1


def test_both_flags_are_begin_then_end() -> None:
    query = Device9(Driver(), 8, 8).create_query(QueryType.OCCLUSION)
    query.issue(Issue.BEGIN | Issue.END)
    assert query.state is QueryState.ISSUED
    assert query.wait().value == 0


def test_flags_zero_change_nothing() -> None:
    query = done(3)
    query.issue(0)
    assert query.get_data().value == 3


def test_a_size_beyond_that_of_any_query_allocates_nothing() -> None:
    query = done(3)
    assert len(query.get_data(MOST_DATA).data or b"") == MOST_DATA
    with pytest.raises(UsageError, match="65537 bytes, expected 0 to 65536"):
        query.get_data(MOST_DATA + 1)


def test_unknown_flags_and_negative_sizes_are_refused() -> None:
    query = occlusion(ScriptedRig())
    with pytest.raises(Refused):
        query.issue(4)
    with pytest.raises(UsageError):
        query.get_data(-1)


def test_a_released_query_is_deleted_and_its_answer_never_comes() -> None:
    driver = Driver(fixed(call=10, packet=1000))
    device = Device9(driver, 8, 8)
    query = device.create_query(QueryType.EVENT)
    query.end()
    query.release()
    other = device.create_query(QueryType.EVENT)
    other.end()
    assert other.id != query.id
    assert other.wait().value == 1


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_type_of_the_driver_can_be_asked(kind: int) -> None:
    query = Device9(Driver(), 8, 8).create_query(QueryType(kind))
    query.begin()
    query.end()
    result = query.wait()
    assert result.hr == HResult.S_OK
    assert result.data is not None
    assert len(result.data) == query.data_size == KINDS[kind].layout.size


def test_an_answer_that_takes_long_is_polled_for() -> None:
    driver = Driver(fixed(call=100, packet=5000, delivery=5000))
    device = Device9(driver, 8, 8)
    device.clear()
    query = device.create_query(QueryType.EVENT)
    query.end()
    assert query.get_data(flush=True) == NOT_YET
    assert query.wait().value == 1


@given(st.lists(st.sampled_from(["begin", "end", "flush", "look"]), max_size=30))
def test_get_data_agrees_with_a_plain_model(steps: list[str]) -> None:
    """With a driver that answers at once, only the last issue and the last flush matter."""
    query = Device9(Driver(), 8, 8).create_query(QueryType.OCCLUSION)
    expected = HResult.S_OK
    waiting = False
    for step in steps:
        if step in ("begin", "end"):
            query.issue(Issue.BEGIN if step == "begin" else Issue.END)
            expected, waiting = HResult.S_FALSE, step == "end"
        elif step == "flush" and waiting:
            expected, waiting = HResult.S_OK, False
        assert query.get_data(flush=step == "flush").hr == expected
