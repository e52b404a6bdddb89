"""Queries as an application of Direct3D 10 or 11 sees them."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.queries.query_types import Query as Ddi
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import fixed
from dp2emu.runtime10 import Api, DriverDevice, Query, Refused, Result
from dp2emu.runtime10.query import QUERIES, kind_of

EVENT, OCCLUSION, TIMESTAMP, DISJOINT, STATISTICS, PREDICATE, STREAM = range(7)
DO_NOT_FLUSH = 1


def device(api: Api = Api.D3D11, *, slow: bool = False) -> DriverDevice:
    timing = fixed(call=10, packet=100, delivery=100) if slow else None
    return DriverDevice(Adapter(Gpu(timing), checking=True), api)


@pytest.mark.parametrize(
    ("api", "number", "ddi"),
    [
        *((api, number, number) for api in Api for number in (0, 1, 2, 3, 5, 6, 7)),
        (Api.D3D10, 4, Ddi.PIPELINESTATS),
        (Api.D3D11, 4, Ddi.D3D11_PIPELINESTATS),
        (Api.D3D11, 8, Ddi.STREAMOUTPUTSTATS_STREAM0),
        (Api.D3D11, 9, Ddi.STREAMOVERFLOWPREDICATE_STREAM0),
        (Api.D3D11, 10, Ddi.STREAMOUTPUTSTATS_STREAM1),
        (Api.D3D11, 11, Ddi.STREAMOVERFLOWPREDICATE_STREAM1),
        (Api.D3D11, 12, Ddi.STREAMOUTPUTSTATS_STREAM2),
        (Api.D3D11, 13, Ddi.STREAMOVERFLOWPREDICATE_STREAM2),
        (Api.D3D11, 14, Ddi.STREAMOUTPUTSTATS_STREAM3),
        (Api.D3D11, 15, Ddi.STREAMOVERFLOWPREDICATE_STREAM3),
    ],
)
def test_numbers_of_the_application_are_those_of_the_driver(
    api: Api, number: int, ddi: int
) -> None:
    assert kind_of(api, number).query == ddi
    assert device(api).create_query(number).kind.query == ddi


@pytest.mark.parametrize(("api", "number"), [(Api.D3D10, 8), (Api.D3D11, 16), (Api.D3D11, 4096)])
def test_a_type_that_there_is_not_is_refused(api: Api, number: int) -> None:
    with pytest.raises(Refused) as caught:
        device(api).create_query(number)
    assert caught.value.hr == Result.E_INVALIDARG


@pytest.mark.parametrize("number", sorted(QUERIES[Api.D3D11]))
def test_two_types_are_created_as_predicates(number: int) -> None:
    if number in (5, 7):
        assert device().create_predicate(number).kind.predicate
        return
    with pytest.raises(Refused) as caught:
        device().create_predicate(number)
    assert caught.value.hr == Result.E_INVALIDARG


def test_a_hint_is_only_taken_for_what_can_be_one() -> None:
    assert device().create_predicate(PREDICATE, 1).hint
    assert not device().create_query(OCCLUSION, 1).hint
    with pytest.raises(Refused):
        device().create_query(OCCLUSION, 2)


def ask(query: Query, size: int | None = None, *, null: bool = False, flags: int = 0) -> Result:
    size = query.data_size if size is None else size
    return query.get_data(None if null else bytearray(size), size, flags).hr


@pytest.mark.parametrize("number", [OCCLUSION, DISJOINT, STATISTICS, PREDICATE, STREAM])
def test_there_is_no_data_before_the_end(number: int) -> None:
    query = device().create_query(number)
    assert ask(query) == ask(query, 0, null=True) == Result.DXGI_ERROR_INVALID_CALL
    query.begin()
    assert ask(query) == ask(query, 0, null=True) == Result.DXGI_ERROR_INVALID_CALL
    query.end()
    assert ask(query) == ask(query, 0) == ask(query, 0, null=True) == Result.S_OK
    query.begin()
    assert ask(query) == Result.DXGI_ERROR_INVALID_CALL


@pytest.mark.parametrize("number", range(8))
def test_the_size_is_exact(number: int) -> None:
    query = device().create_query(number)
    query.end()
    for size in (1, query.data_size - 1, query.data_size + 1):
        assert ask(query, size) == Result.E_INVALIDARG
    assert ask(query, null=True) == Result.E_INVALIDARG


@pytest.mark.parametrize("number", [EVENT, TIMESTAMP])
def test_begin_means_nothing_for_moments(number: int) -> None:
    query = device().create_query(number)
    query.begin()
    assert ask(query) == Result.DXGI_ERROR_INVALID_CALL
    query.end()
    query.begin()
    assert ask(query) == Result.S_OK


def test_a_result_that_is_not_there_yet_leaves_the_memory_alone() -> None:
    query = device(slow=True).create_query(EVENT)
    query.end()
    memory = bytearray(b"\xcc" * 4)
    assert query.get_data(memory, 4).hr == Result.S_FALSE
    assert memory == b"\xcc" * 4
    assert query.wait().data == b"\1\0\0\0"


def test_nothing_starts_while_polls_do_not_flush() -> None:
    query = device(slow=True).create_query(EVENT)
    query.end()
    assert {ask(query, flags=DO_NOT_FLUSH) for _ in range(100)} == {Result.S_FALSE}
    assert query.wait().hr == Result.S_OK


def test_a_gpu_that_polls_give_no_time_is_waited_for() -> None:
    made = DriverDevice(Adapter(Gpu(fixed(call=0, delivery=10))))
    query = made.create_query(EVENT)
    query.end()
    assert ask(query) == ask(query) == Result.S_FALSE
    assert query.wait().hr == Result.S_OK


def test_a_second_end_leaves_the_result_of_the_first() -> None:
    made = device()
    query, moment = made.create_query(DISJOINT), made.create_query(TIMESTAMP)
    query.begin()
    query.end()
    first = query.wait().data
    query.end()
    assert query.wait().data == first
    moment.end()
    early = moment.wait().data
    moment.end()
    assert moment.wait().hr == Result.S_OK and early is not None


def test_of_a_hint_there_is_never_data() -> None:
    query = device().create_predicate(PREDICATE, 1)
    query.begin()
    query.end()
    assert query.wait().hr == Result.DXGI_ERROR_INVALID_CALL


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (EVENT, 1),
        (OCCLUSION, 0),
        (PREDICATE, 0),
        (DISJOINT, {"Frequency": 1_000_000_000, "Disjoint": 0}),
        (STREAM, {"NumPrimitivesWritten": 0, "PrimitivesStorageNeeded": 0}),
    ],
)
def test_data_has_the_names_of_its_members(number: int, value: object) -> None:
    query = device().create_query(number)
    query.end()
    data = query.wait().data
    assert data is not None and query.value(data) == value


@pytest.mark.parametrize(("api", "count"), [(Api.D3D10, 8), (Api.D3D11, 11)])
def test_statistics_have_those_of_their_interface(api: Api, count: int) -> None:
    query = device(api).create_query(STATISTICS)
    query.end()
    data = query.wait().data
    assert data is not None
    value = query.value(data)
    assert isinstance(value, dict) and len(value) == count
    assert query.data_size == 8 * count


def test_a_removed_device_is_told() -> None:
    adapter = Adapter()
    query = DriverDevice(adapter).create_query(OCCLUSION)
    query.end()
    adapter.remove()
    assert ask(query) == Result.DXGI_ERROR_DEVICE_REMOVED
    with pytest.raises(Refused) as caught:
        query.begin()
    assert caught.value.hr == Result.DXGI_ERROR_DEVICE_REMOVED
    query.release()
