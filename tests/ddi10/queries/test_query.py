"""Query objects: memory, states, FIFO and flushing ("Querying for Information from the GPU")."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.queries.query import State
from dp2emu.ddi10.queries.query_types import QUERY_TYPES, CreateQuery, Query
from dp2emu.errors import ContractError
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import FIFO_BASE, Timing, fixed, instant, parse_timing, seeded
from dp2emu.limits import Limits
from tests.ddi10.driving import DO_NOT_FLUSH, STILL, Driven

BUILT = [kind.query for kind in QUERY_TYPES.values() if kind.values is not None]
WITH_BEGIN = [query for query in BUILT if QUERY_TYPES[query].begins]
MOMENTS = [Query.EVENT, Query.TIMESTAMP]

slow = fixed(call=10, packet=0, delivery=1000)


@pytest.mark.parametrize("query", BUILT)
def test_the_object_lives_in_memory_of_the_size_that_was_asked_for(query: Query) -> None:
    driven = Driven()
    memory = driven.create(query)
    assert driven.device.queries.state(memory) is State.CREATED
    assert driven.call("DestroyQuery", memory) == []


@pytest.mark.parametrize("size", [0, 1, 24])
def test_memory_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(ContractError, match="size"):
        Driven(checking=False).call("CreateQuery", CreateQuery(Query.EVENT), bytearray(size))


@pytest.mark.parametrize("query", BUILT)
def test_destroyed_memory_is_not_written_when_a_result_arrives(query: Query) -> None:
    driven = Driven(slow)
    memory = driven.issue(query)
    driven.call("Flush")
    driven.call("DestroyQuery", memory)
    memory[:] = poison = b"\xdd" * len(memory)
    driven.adapter.finish()
    assert memory == poison


@pytest.mark.parametrize("entry", ["QueryBegin", "QueryEnd", "DestroyQuery"])
@pytest.mark.parametrize("checking", [False, True])
def test_a_destroyed_query_is_no_query(entry: str, checking: bool) -> None:
    driven = Driven(checking=checking)
    memory = driven.create(Query.OCCLUSION)
    driven.call("DestroyQuery", memory)
    with pytest.raises(ContractError, match="holds no query"):
        driven.call(entry, memory)


def test_data_of_a_destroyed_query_cannot_be_asked_for() -> None:
    driven = Driven(checking=False)
    memory = driven.issue(Query.EVENT)
    driven.call("DestroyQuery", memory)
    with pytest.raises(ContractError, match="holds no query"):
        driven.poll(memory)


def test_a_copy_of_the_memory_is_no_query() -> None:
    driven = Driven()
    with pytest.raises(ContractError, match="holds no query"):
        driven.call("QueryEnd", bytearray(driven.create(Query.EVENT)))


@given(at=st.integers(0, 23), flip=st.integers(1, 255))
def test_memory_somebody_wrote_over_is_no_query_or_has_another_state(at: int, flip: int) -> None:
    driven = Driven()
    memory = driven.issue(Query.EVENT)
    memory[at] ^= flip
    if at == 12 and memory[at] <= State.SIGNALED:
        driven.device.queries.state(memory)
    else:
        with pytest.raises(ContractError, match="holds no query"):
            driven.call("QueryEnd", memory)


def test_a_result_for_memory_somebody_wrote_over_is_dropped() -> None:
    driven = Driven()
    memory = driven.issue(Query.EVENT)
    memory[:] = bytes(len(memory))
    driven.call("Flush")
    assert memory == bytes(len(memory))


def test_memory_with_a_live_query_takes_no_other() -> None:
    driven = Driven(checking=False)
    memory = driven.create(Query.EVENT)
    with pytest.raises(ContractError, match="already"):
        driven.call("CreateQuery", CreateQuery(Query.EVENT), memory)


def test_more_queries_than_there_is_room_for_are_out_of_memory() -> None:
    driven = Driven(adapter=Adapter(Gpu(limits=Limits(queries=1))))
    first = driven.create(Query.EVENT)
    memory = driven.memory(Query.EVENT)
    before = bytes(memory)
    codes = driven.call("CreateQuery", CreateQuery(Query.EVENT), memory)
    assert (codes, memory) == ([DdiCode.E_OUTOFMEMORY], before)
    driven.call("DestroyQuery", first)
    assert driven.call("CreateQuery", CreateQuery(Query.EVENT), memory) == []


@pytest.mark.parametrize("query", [q for q in Query if q >= Query.D3D11_PIPELINESTATS])
@pytest.mark.parametrize("interface", [Interface.D3D10_0, Interface.D3D10_1])
def test_types_of_direct3d_11_are_unknown_before(query: Query, interface: Interface) -> None:
    driven = Driven(interface=interface, checking=False)
    for entry, rest in (("CalcPrivateQuerySize", ()), ("CreateQuery", (bytearray(28),))):
        with pytest.raises(ContractError, match="no such query type"):
            driven.call(entry, CreateQuery(query), *rest)


@pytest.mark.parametrize("query", [17, 0xFFF, 0x1012, 0x40000003, 0xFFFFFFFF, -1])
def test_numbers_that_are_no_type_are_refused(query: int) -> None:
    with pytest.raises(ContractError, match="no such query type"):
        Driven(checking=False).memory(query)


@pytest.mark.parametrize("checking", [True, False])
@pytest.mark.parametrize("query", list(Query))
def test_only_the_occlusion_predicate_may_be_a_hint(query: Query, checking: bool) -> None:
    driven = Driven(checking=checking)
    if query is Query.OCCLUSIONPREDICATE:
        driven.create(query, 1)
        return
    with pytest.raises(ContractError) as broken:
        driven.memory(query, 1)
    assert broken.value.rule == "HINT_ONLY_OF_OCCLUSION"


def test_misc_flags_without_a_meaning_break_the_contract() -> None:
    with pytest.raises(ContractError) as broken:
        Driven().memory(Query.OCCLUSIONPREDICATE, 2)
    assert broken.value.rule == "MISC_FLAGS"


# States


@pytest.mark.parametrize("query", WITH_BEGIN)
def test_begin_builds_end_issues_and_the_gpu_signals(query: Query) -> None:
    driven = Driven(slow)
    memory = driven.create(query)
    states = [driven.device.queries.state(memory)]
    for entry in ("QueryBegin", "QueryEnd", "Flush"):
        assert driven.call(entry, *() if entry == "Flush" else (memory,)) == []
        states.append(driven.device.queries.state(memory))
    assert states == [State.CREATED, State.BUILDING, State.ISSUED, State.ISSUED]
    driven.adapter.finish()
    assert driven.device.queries.state(memory) is State.SIGNALED


@pytest.mark.parametrize("start", list(State))
def test_begin_is_possible_in_every_state_and_builds(start: State) -> None:
    driven = Driven(slow)
    memory = in_state(driven, start)
    assert driven.call("QueryBegin", memory) == []
    assert driven.device.queries.state(memory) is State.BUILDING


@pytest.mark.parametrize("start", list(State))
def test_end_is_possible_in_every_state_and_issues(start: State) -> None:
    driven = Driven(slow)
    memory = in_state(driven, start)
    assert driven.call("QueryEnd", memory) == []
    assert driven.device.queries.state(memory) is State.ISSUED


def in_state(driven: Driven, state: State) -> bytearray:
    memory = driven.create(Query.OCCLUSION)
    if state >= State.BUILDING:
        driven.call("QueryBegin", memory)
    if state >= State.ISSUED:
        driven.call("QueryEnd", memory)
    if state >= State.SIGNALED:
        driven.call("Flush")
        driven.adapter.finish()
    assert driven.device.queries.state(memory) is state
    return memory


@pytest.mark.parametrize("query", MOMENTS)
def test_events_and_timestamps_have_no_begin(query: Query) -> None:
    driven = Driven()
    with pytest.raises(ContractError) as broken:
        driven.call("QueryBegin", driven.create(query))
    assert broken.value.rule == "BEGIN_OF_A_MOMENT"


@pytest.mark.parametrize("query", MOMENTS)
def test_unchecked_begin_of_a_moment_does_nothing(query: Query) -> None:
    driven = Driven(checking=False)
    memory = driven.issue(query)
    driven.call("Flush")
    assert driven.call("QueryBegin", memory) == []
    assert driven.device.queries.state(memory) is State.SIGNALED


def count(driven: Driven, samples: int) -> None:
    """Let samples pass once everything before has been executed."""
    driven.call("Flush")
    driven.device.counters.samples += samples


def occlusion(driven: Driven, memory: bytearray) -> int:
    data = driven.data(memory, Query.OCCLUSION)
    assert data is not None
    return int.from_bytes(data, "little")


def test_end_without_begin_is_an_empty_interval() -> None:
    driven = Driven()
    memory = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", memory)
    count(driven, 5)
    driven.call("QueryEnd", memory)
    count(driven, 7)
    assert occlusion(driven, memory) == 5
    driven.call("QueryEnd", memory)
    assert occlusion(driven, memory) == 0


def test_begin_again_starts_over() -> None:
    driven = Driven()
    memory = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", memory)
    count(driven, 5)
    driven.call("QueryBegin", memory)
    count(driven, 7)
    driven.call("QueryEnd", memory)
    assert occlusion(driven, memory) == 7


def test_intervals_of_one_type_overlap_freely() -> None:
    driven = Driven()
    outer, inner, late = (driven.create(Query.OCCLUSION) for _ in range(3))
    steps = (
        ("QueryBegin", outer, 1),
        ("QueryBegin", inner, 2),
        ("QueryBegin", late, 4),
        ("QueryEnd", inner, 8),
        ("QueryEnd", outer, 16),
        ("QueryEnd", late, 32),
    )
    for entry, memory, samples in steps:
        driven.call(entry, memory)
        count(driven, samples)
    assert [occlusion(driven, memory) for memory in (outer, inner, late)] == [15, 6, 28]


def test_a_query_issued_again_loses_its_older_result() -> None:
    driven = Driven(slow)
    memory = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", memory)
    count(driven, 5)
    driven.call("QueryEnd", memory)
    driven.call("Flush")
    driven.call("QueryEnd", memory)
    driven.adapter.finish()
    assert driven.device.queries.state(memory) is State.ISSUED
    driven.call("Flush")
    driven.adapter.finish()
    assert occlusion(driven, memory) == 0


def test_signaled_data_can_be_read_repeatedly() -> None:
    driven = Driven()
    memory = driven.issue(Query.TIMESTAMP)
    first = driven.data(memory, Query.TIMESTAMP)
    driven.adapter.advance(1000)
    assert first is not None
    assert driven.data(memory, Query.TIMESTAMP) == first


# QueryGetData


@pytest.mark.parametrize("query", WITH_BEGIN)
def test_a_query_that_is_building_is_still_drawing(query: Query) -> None:
    driven = Driven()
    memory = driven.create(query)
    driven.call("QueryBegin", memory)
    assert driven.data(memory, query) is None
    assert driven.poll(memory) == STILL


@pytest.mark.parametrize("query", BUILT)
def test_data_is_untouched_until_it_is_signaled_and_exact_then(query: Query) -> None:
    driven = Driven(slow)
    memory = driven.issue(query)
    assert driven.data(memory, query) is None
    driven.adapter.finish()
    data = driven.data(memory, query)
    assert data is not None
    assert len(data) == QUERY_TYPES[query].layout.size


def test_polling_alone_finishes_a_query() -> None:
    driven = Driven(slow)
    memory = driven.issue(Query.EVENT)
    polls = 0
    while driven.poll(memory) == STILL:
        polls += 1
    assert polls == 99


def test_do_not_flush_submits_nothing() -> None:
    driven = Driven(fixed(call=10, packet=0, delivery=0))
    memory = driven.issue(Query.EVENT)
    assert [driven.poll(memory, DO_NOT_FLUSH) for _ in range(20)] == [STILL] * 20
    assert driven.call("Flush") == []
    assert driven.poll(memory, DO_NOT_FLUSH) == []


def test_a_full_buffer_is_submitted_by_itself() -> None:
    driven = Driven()
    first = driven.issue(Query.EVENT)
    other = driven.create(Query.EVENT)
    while driven.poll(first, DO_NOT_FLUSH) == STILL:
        driven.call("QueryEnd", other)
    assert driven.device.queries.state(other) is State.ISSUED


@pytest.mark.parametrize("size", [0, 3, 5, 8])
def test_a_size_that_is_not_exact_breaks_the_contract(size: int) -> None:
    driven = Driven()
    memory = driven.issue(Query.EVENT)
    with pytest.raises(ContractError) as broken:
        driven.call("QueryGetData", memory, bytearray(8), size, 0)
    assert broken.value.rule == "DATA_SIZE"


def test_unchecked_a_size_that_is_not_exact_gets_what_fits() -> None:
    driven = Driven(checking=False)
    memory = driven.issue(Query.EVENT)
    found = []
    for size in (0, 3, 8):
        data = bytearray(b"\xee" * 8)
        assert driven.call("QueryGetData", memory, data, size) == []
        found.append(data.hex())
    assert found == ["ee" * 8, "010000" + "ee" * 5, "01000000" + "ee" * 4]


@pytest.mark.parametrize(("data", "size"), [(None, 4), (bytearray(3), 4), (bytearray(4), -1)])
def test_data_never_goes_beyond_its_memory(data: bytearray | None, size: int) -> None:
    driven = Driven(checking=False)
    memory = driven.issue(Query.EVENT)
    with pytest.raises(ContractError, match="shorter than DataSize"):
        driven.call("QueryGetData", memory, data, size)


def test_data_flags_without_a_meaning_break_the_contract() -> None:
    driven = Driven()
    with pytest.raises(ContractError) as broken:
        driven.poll(driven.issue(Query.EVENT), 2)
    assert broken.value.rule == "DATA_FLAGS"


def test_data_of_a_hint_is_never_asked_for() -> None:
    driven = Driven()
    memory = driven.create(Query.OCCLUSIONPREDICATE, 1)
    driven.call("QueryEnd", memory)
    with pytest.raises(ContractError) as broken:
        driven.poll(memory)
    assert broken.value.rule == "DATA_OF_A_HINT"


@pytest.mark.parametrize("hint", [0, 1])
def test_the_result_of_a_hint_never_leaves_the_gpu(hint: int) -> None:
    driven = Driven(checking=False)
    memory = driven.create(Query.OCCLUSIONPREDICATE, hint)
    driven.call("QueryBegin", memory)
    driven.call("Flush")
    driven.device.counters.samples += 5
    driven.call("QueryEnd", memory)
    # A result of 1 would replace the byte 0xCD that the memory had at first.
    found = driven.data(memory, Query.OCCLUSIONPREDICATE)
    assert found == (None if hint else b"\1\0\0\0")
    assert driven.poll(memory) == (STILL if hint else [])
    assert memory[-4:] == (b"\xcd" * 4 if hint else b"\1\0\0\0")


def test_data_is_not_asked_for_before_the_first_end() -> None:
    driven = Driven()
    with pytest.raises(ContractError) as broken:
        driven.poll(driven.create(Query.EVENT))
    assert broken.value.rule == "DATA_BEFORE_END"


def test_unchecked_a_query_that_was_never_ended_is_still_drawing() -> None:
    driven = Driven(checking=False)
    assert driven.poll(driven.create(Query.EVENT)) == STILL


# Order


@given(seed=st.integers(0, 1000), queries=st.lists(st.sampled_from(BUILT), max_size=12))
def test_queries_of_a_type_signal_in_the_order_they_were_issued(
    seed: int, queries: list[Query]
) -> None:
    driven = Driven(seeded(seed))
    issued = [(query, driven.issue(query)) for query in queries]
    driven.call("Flush")
    signaled = [False]
    while not all(signaled):
        driven.adapter.advance(500)
        states = [(query, driven.device.queries.state(memory)) for query, memory in issued]
        for query in set(queries):
            of_type = [state for other, state in states if other is query]
            assert of_type == sorted(of_type, reverse=True)
        signaled = [state is State.SIGNALED for _, state in states]


def test_an_event_overtakes_an_occlusion_query() -> None:
    occluded = FIFO_BASE + Query.OCCLUSION
    base = instant()
    timing = Timing("t", base.call, base.cost, lambda kind, n: 100 * (kind == occluded))
    driven = Driven(timing)
    first, second = driven.issue(Query.OCCLUSION), driven.issue(Query.EVENT)
    assert (driven.poll(first), driven.poll(second)) == (STILL, [])


@pytest.mark.parametrize("query", [Query.OCCLUSIONPREDICATE, Query.D3D11_PIPELINESTATS])
def test_a_timing_script_delays_the_answers_of_a_type(query: Query, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(f'{{"delivery": {{"{query.name}": [40]}}}}')
    driven = Driven(parse_timing(f"scripted:{script}"))
    late, other = driven.issue(query), driven.issue(Query.EVENT)
    assert (driven.poll(late), driven.poll(other)) == (STILL, [])
    driven.adapter.advance(39)
    assert driven.poll(late) == STILL
    driven.adapter.advance(1)
    assert driven.poll(late) == []


def test_an_event_follows_the_work_before_it() -> None:
    driven = Driven(Timing("t", lambda n, size: 0, fixed().cost, lambda kind, n: 0))
    driven.adapter.gpu._charge(Work(primitives=1))
    memory = driven.issue(Query.EVENT)
    assert driven.poll(memory) == STILL
    driven.adapter.advance(999)
    assert driven.poll(memory) == STILL
    driven.adapter.advance(1)
    assert driven.poll(memory) == []
