"""Query types and issue rules: one documented answer for each case (wire format, "Query types" and
"Queries")."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS
from dp2emu.gpu.command.queries import Counters, QuerySlot, Report, snapshot
from dp2emu.gpu.device.timing import TICKS_PER_SECOND, by_work, fixed
from dp2emu.gpu.input_assembler.vertex_cache import VCACHE_SIZE
from tests.dp2.rigging import (
    BEGIN,
    END,
    Bench,
    clear,
    create,
    delete,
    dword,
    header,
    issue,
    rectangle,
    triangle_list,
)

QUAD = rectangle(0, 0, 10, 10)
DRAW_QUAD = triangle_list(0, 2)
LENGTHS = {4: 16, 5: 352, 6: 8, 8: 4, 9: 4, 10: 8, 11: 4, 12: 8, 13: 16, 14: 20, 15: 8, 16: 8,
           17: 20, 18: 8}  # fmt: skip
INTERVALS = [QueryType(n) for n in (9, 11, 13, 14, 15, 16, 17, 18)]
POINTS = [QueryType(n) for n in (4, 5, 6, 8, 10, 12)]


def around(kind: QueryType, commands: bytes = DRAW_QUAD) -> bytes:
    """Commands inside an interval of query 5."""
    return clear() + create(5, kind) + issue(5, BEGIN) + commands + issue(5, END)


def answer_of(kind: QueryType, commands: bytes = DRAW_QUAD, **driver: object) -> bytes:
    bench = Bench(**driver)
    found = bench.results(around(kind, commands), QUAD)
    bench.driver.finish()
    return (found or bench.results())[5]


@pytest.mark.parametrize("kind", LENGTHS)
def test_every_type_of_the_reference_answers_its_structure(kind: int) -> None:
    assert len(answer_of(QueryType(kind))) == LENGTHS[kind]


def test_the_types_are_those_of_the_reference() -> None:
    assert set(KINDS) == set(LENGTHS)
    assert Bench().driver.query_types() == tuple(LENGTHS)


@pytest.mark.parametrize("kind", [0, 7, 19, 0x40000000, 0xFFFFFFFF])
def test_an_unsupported_type_fails_the_call(kind: int) -> None:
    bench = Bench()
    commands = clear() + struct.pack("<BBHII", 84, 0, 1, 5, kind)
    answer = bench.call(commands)
    assert (answer.ddrval, answer.dwErrorOffset) == (HResult.DDERR_INVALIDPARAMS, len(clear()))


def test_types_can_be_withheld() -> None:
    bench = Bench(options=Options(query_types=(8,)))
    assert bench.driver.query_types() == (8,)
    assert bench.call(create(5, QueryType.OCCLUSION)).ddrval == HResult.DDERR_INVALIDPARAMS


@pytest.mark.parametrize("kind", INTERVALS)
def test_end_without_begin_is_an_interval_empty_from_that_point(kind: QueryType) -> None:
    bench = Bench()
    commands = create(5, kind) + DRAW_QUAD + issue(5, END) + DRAW_QUAD
    payload = bench.results(commands, QUAD)[5]
    idle = struct.pack("<4f", 0, 0, 0, 100)
    assert payload == (idle if kind == 13 else bytes(LENGTHS[kind]))


def test_begin_while_building_restarts() -> None:
    commands = DRAW_QUAD + issue(5, BEGIN) + DRAW_QUAD
    assert dword(answer_of(QueryType.OCCLUSION, commands)) == 100


def test_a_second_end_answers_an_empty_interval_and_drops_the_older_answer() -> None:
    bench = Bench()
    assert dword(bench.results(around(QueryType.OCCLUSION) + issue(5, END), QUAD)[5]) == 0
    assert bench.results() == {}


def test_both_flags_are_begin_then_end() -> None:
    bench = Bench()
    commands = create(5, QueryType.OCCLUSION) + DRAW_QUAD + issue(5, BEGIN | END)
    assert dword(bench.results(commands, QUAD)[5]) == 0


def test_no_flags_do_nothing_and_are_refused_when_strict() -> None:
    bench = Bench()
    assert (
        dword(bench.results(around(QueryType.OCCLUSION, DRAW_QUAD + issue(5, 0)), QUAD)[5]) == 100
    )
    strict = Bench(options=Options(strict=True))
    commands = create(5, QueryType.OCCLUSION) + issue(5, 0)
    assert strict.call(commands).ddrval == HResult.DDERR_INVALIDPARAMS


@pytest.mark.parametrize("kind", POINTS)
def test_begin_on_an_end_only_type_is_ignored_and_refused_when_strict(kind: QueryType) -> None:
    assert Bench().results(create(5, kind) + issue(5, BEGIN)) == {}
    strict = Bench(options=Options(strict=True))
    answer = strict.call(create(5, kind) + issue(5, BEGIN))
    assert answer.ddrval == HResult.DDERR_INVALIDPARAMS


def test_strict_lets_only_directx_9_create_queries() -> None:
    bench = Bench(options=Options(strict=True), context=False)
    bench.driver.create_context(1, interface=8)
    assert bench.call(create(5, QueryType.EVENT)).ddrval == HResult.DDERR_INVALIDPARAMS


@pytest.mark.parametrize("commands", [issue(6, END), delete(6)])
def test_an_unknown_id_fails_the_call(commands: bytes) -> None:
    bench = Bench()
    bench.ok(create(5, QueryType.EVENT))
    assert bench.call(commands).ddrval == HResult.DDERR_INVALIDPARAMS


def test_a_deleted_id_is_unknown() -> None:
    bench = Bench()
    bench.ok(create(5, QueryType.EVENT) + delete(5))
    assert bench.call(issue(5, END)).ddrval == HResult.DDERR_INVALIDPARAMS


def test_deleting_while_pending_discards_the_result() -> None:
    bench = Bench(timing=fixed(packet=100))
    bench.ok(create(5, QueryType.EVENT) + clear() + issue(5, END))
    bench.ok(delete(5))
    bench.driver.finish()
    assert bench.results() == {}


def test_a_reused_id_never_gets_the_old_querys_answer() -> None:
    bench = Bench(timing=fixed(call=1, packet=100))
    bench.ok(around(QueryType.OCCLUSION), QUAD)
    bench.ok(delete(5) + create(5, QueryType.EVENT))
    bench.driver.finish()
    assert bench.results() == {}
    assert bench.settle(issue(5, END)) == {5: b"\1\0\0\0"}


def test_creating_a_live_id_replaces_the_query() -> None:
    bench = Bench(timing=fixed(packet=100))
    bench.ok(around(QueryType.OCCLUSION), QUAD)
    assert len(bench.settle(create(5, QueryType.VCACHE) + issue(5, END))[5]) == 16


def test_begin_while_issued_drops_the_unsent_answer() -> None:
    bench = Bench(timing=fixed(packet=100))
    bench.ok(around(QueryType.OCCLUSION), QUAD)
    bench.ok(issue(5, BEGIN))
    bench.driver.finish()
    assert bench.results() == {}


def test_overlapping_occlusion_queries_count_each_their_own() -> None:
    bench = Bench()
    commands = clear() + b"".join(create(query, QueryType.OCCLUSION) for query in range(3))
    commands += issue(0, BEGIN) + DRAW_QUAD + issue(1, BEGIN) + DRAW_QUAD + issue(0, END)
    commands += issue(2, BEGIN) + DRAW_QUAD + issue(1, END) + issue(2, END)
    found = bench.results(commands, QUAD)
    assert [dword(found[query]) for query in range(3)] == [200, 200, 100]


@pytest.mark.parametrize(("samples", "wrapped"), [(1 << 32, 0), ((1 << 32) + 7, 7), (5, 5)])
def test_occlusion_beyond_32_bits_saturates_or_wraps(samples: int, wrapped: int) -> None:
    counters = Counters()
    begin = snapshot(counters, 0)
    counters.samples = samples
    report = Report(QuerySlot(9, None, 5), 0, begin, snapshot(counters, 0), 0)
    row = KINDS[QueryType.OCCLUSION]
    assert row.values(report, Options()) == (min(samples, 0xFFFFFFFF),)
    assert row.values(report, Options(wrap_occlusion=True)) == (wrapped,)


def test_a_timestamp_is_the_clock_when_the_gpu_got_there() -> None:
    bench = Bench(timing=fixed(call=1, packet=250))
    kind = QueryType.TIMESTAMP
    between = clear() + clear()
    found = bench.settle(
        create(1, kind) + create(2, kind) + issue(1, END) + between + issue(2, END)
    )
    stamps = {query: dword(data) for query, data in found.items()}
    assert stamps == {1: 0, 2: 500}


def test_a_timestamp_is_taken_when_the_work_is_finished_not_when_it_becomes_visible() -> None:
    bench = Bench(timing=fixed(call=1, packet=250, delivery=10_000))
    found = bench.settle(create(1, QueryType.TIMESTAMP) + clear() + issue(1, END))
    assert dword(found[1]) == 250
    assert bench.driver.time > 10_000


def test_the_timestamp_frequency_is_the_clocks() -> None:
    assert dword(answer_of(QueryType.TIMESTAMPFREQ)) == TICKS_PER_SECOND


def test_a_change_of_the_clock_does_not_change_the_frequency() -> None:
    bench = Bench()
    bench.ok(create(5, QueryType.TIMESTAMPFREQ))
    bench.driver.gpu.change_clock()
    assert dword(bench.results(issue(5, END))[5]) == TICKS_PER_SECOND


def test_a_disjoint_bracket_sees_a_change_of_the_clock() -> None:
    bench = Bench()
    bench.ok(create(5, QueryType.TIMESTAMPDISJOINT) + issue(5, BEGIN))
    bench.driver.gpu.change_clock()
    assert dword(bench.results(issue(5, END))[5]) == 1
    bench.ok(issue(5, BEGIN))
    assert dword(bench.results(issue(5, END))[5]) == 0


def test_vertexstats_counts_since_the_previous_end() -> None:
    bench = Bench()
    bench.ok(create(5, QueryType.VERTEXSTATS) + DRAW_QUAD + DRAW_QUAD, QUAD)
    assert struct.unpack("<2I", bench.results(issue(5, END))[5]) == (4, 0)
    found = bench.results(triangle_list(0, 1) + issue(5, END), QUAD)
    assert struct.unpack("<2I", found[5]) == (1, 0)


def test_resourcemanager_counts_what_the_heap_holds_by_type() -> None:
    data = answer_of(QueryType.RESOURCEMANAGER)
    rows = [struct.unpack_from("<11I", data, 44 * kind) for kind in range(8)]
    memory, surface = rows[0], rows[1]
    assert (surface[3], surface[5], surface[6], surface[7], surface[8]) == (2, 2, 2, 2, 2 * 16384)
    assert (memory[3], memory[8]) == (1, 4096)
    assert memory[1] > 0
    assert rows[2:] == [(0,) * 11] * 6


def test_pipeline_timings_add_up_to_the_interval() -> None:
    vertex, pixel, other, idle = struct.unpack(
        "<4f", answer_of(QueryType.PIPELINETIMINGS, timing=by_work())
    )
    assert vertex > 0
    assert pixel > 0
    assert other > 0
    assert vertex + pixel + other + idle == pytest.approx(100)


def test_stage_timings_split_the_pipeline_timings() -> None:
    vertex, pixel, _, _ = struct.unpack(
        "<4f", answer_of(QueryType.PIPELINETIMINGS, timing=by_work())
    )
    for kind, whole in ((QueryType.VERTEXTIMINGS, vertex), (QueryType.PIXELTIMINGS, pixel)):
        memory, compute = struct.unpack("<2f", answer_of(kind, timing=by_work()))
        assert memory + compute == pytest.approx(whole)
        assert memory > 0


def test_interface_timings_see_the_host_wait_for_a_resource() -> None:
    bench = Bench(timing=fixed(call=1, packet=1000))
    bench.ok(create(5, QueryType.INTERFACETIMINGS) + issue(5, BEGIN) + clear() + clear())
    bench.driver.lock(1)
    waits = struct.unpack("<5f", bench.settle(issue(5, END))[5])
    assert 90 < waits[0] <= 100
    assert waits[1:] == (0, 0, 0, 0)


def test_interface_timings_count_only_the_part_of_a_wait_inside_the_interval() -> None:
    """The host waits from tick 2 to 3,000; the GPU passes END at 1,000."""
    bench = Bench(timing=fixed(call=1, packet=1000))
    bench.ok(create(5, QueryType.INTERFACETIMINGS) + issue(5, BEGIN) + clear())
    bench.ok(issue(5, END) + clear() + clear())
    bench.driver.lock(1)
    waits = struct.unpack("<5f", bench.results()[5])
    assert waits[0] == pytest.approx(100 * 998 / 1000)


def uploaded(commands: bytes, vertices: bytes = b"") -> int:
    """Bytes the host hands over with a call."""
    bench = Bench()
    bench.ok(commands, vertices)
    return bench.driver.gpu.counters.upload_bytes


def test_vertices_in_the_commands_are_uploaded_once() -> None:
    fan = header(23, 1) + bytes(4) + rectangle(0, 0, 4, 4)[:60]
    assert uploaded(fan) == len(fan)


def test_user_memory_vertices_are_uploaded_with_the_commands() -> None:
    assert uploaded(DRAW_QUAD, QUAD) == len(DRAW_QUAD) + len(QUAD)


def test_vertices_that_no_draw_reads_are_not_uploaded() -> None:
    assert uploaded(DRAW_QUAD + clear(), QUAD) == len(DRAW_QUAD + clear() + QUAD)
    assert uploaded(clear(), QUAD) == len(clear())


def test_bytes_are_uploaded_when_the_packet_that_uses_them_is_executed() -> None:
    """The clear occupies the GPU until tick 100, when the draw begins."""
    bench = Bench(timing=fixed(call=1, packet=100))
    counters = bench.driver.gpu.counters
    bench.ok(clear() + DRAW_QUAD, QUAD)
    assert counters.upload_bytes == len(clear())
    bench.driver.gpu.advance(98)
    assert counters.upload_bytes == len(clear())
    bench.driver.gpu.advance(1)
    assert counters.upload_bytes == len(clear() + DRAW_QUAD + QUAD)


def upload_percent(commands: bytes, vertices: bytes) -> float:
    """The share of the upload bandwidth that BANDWIDTHTIMINGS of one call reports."""
    bench = Bench(timing=by_work())
    payload = bench.settle(create(5, QueryType.BANDWIDTHTIMINGS) + commands, vertices)[5]
    return float(struct.unpack("<5f", payload)[1])


def test_bandwidth_timings_see_vertices_uploaded_between_begin_and_end_of_one_call() -> None:
    vertices = QUAD + bytes(120_000)
    begin, end = issue(5, BEGIN), issue(5, END)
    assert upload_percent(begin + DRAW_QUAD + end, vertices) == 100
    assert upload_percent(DRAW_QUAD + begin + DRAW_QUAD + end, vertices) < 50
    assert upload_percent(begin + end + DRAW_QUAD, vertices) == 0


def test_bandwidth_timings_follow_what_was_done() -> None:
    values = struct.unpack("<5f", answer_of(QueryType.BANDWIDTHTIMINGS, timing=by_work()))
    assert all(0 < value <= 100 for value in values)


def test_cache_utilization_comes_from_the_vertex_cache_model() -> None:
    """Six indices over four vertices: two of six hit."""
    indexed = header(26, 2) + struct.pack("<7H", 0, 0, 1, 2, 1, 4, 2)
    texture, vertex = struct.unpack("<2f", answer_of(QueryType.CACHEUTILIZATION, indexed))
    assert texture == 0
    assert vertex == pytest.approx(100 * 2 / 6)


def test_vcache_reports_the_size_the_model_has() -> None:
    assert struct.unpack("<4I", answer_of(QueryType.VCACHE))[2] == VCACHE_SIZE
