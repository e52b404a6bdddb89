"""The rules of translations of Microsoft's page "Handling Asynchronous Queries".

A machine translation says the same in six steps and departs in two places, where the English text
wins: it drops "only" from the rule on a dwErrorOffset that is not 0, and half of the sentence on
multisampling.  The steps are run here on a clock that takes time, the English ones mostly at once.
"""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.device.timing import by_work, fixed, seeded
from tests.dp2.rigging import (
    BEGIN,
    END,
    Bench,
    clear,
    create,
    dword,
    issue,
    payloads,
    rectangle,
    triangle_list,
)
from tests.dp2.test_query_document import occlusion_of

CLOCKS = (fixed(call=10, packet=30), by_work(), seeded(7))


@pytest.fixture(params=CLOCKS, ids=lambda timing: timing.name)
def bench(request: pytest.FixtureRequest) -> Bench:
    return Bench(timing=request.param)


def test_step_1_createquery_creates_the_query(bench: Bench) -> None:
    assert bench.call(issue(9, END)).ddrval == HResult.DDERR_INVALIDPARAMS
    assert bench.ok(create(9, QueryType.EVENT)).dwErrorOffset == 0
    assert bench.ok(issue(9, END)).ddrval == HResult.D3D_OK


def test_step_2_issuequery_starts_it(bench: Bench) -> None:
    bench.ok(create(9, QueryType.EVENT))
    bench.driver.finish()
    assert bench.results() == {}
    bench.ok(clear() + issue(9, END))
    assert bench.poll() == {9: b"\1\0\0\0"}


def test_step_3_completed_queries_are_answered_over_the_command_buffer(bench: Bench) -> None:
    bench.ok(create(9, QueryType.EVENT) + clear() + issue(9, END))
    bench.driver.finish()
    answer = bench.ok(clear())
    assert (answer.dwErrorOffset, bench.memory(20)) == (20, answer.response)


def test_step_3_an_event_is_answered_after_its_issue_end_and_is_true(bench: Bench) -> None:
    bench.ok(create(9, QueryType.EVENT) + clear())
    bench.driver.finish()
    assert bench.results() == {}
    bench.ok(clear() + issue(9, END))
    assert bench.poll() == {9: b"\1\0\0\0"}


def test_step_3_an_occlusion_result_counts_between_begin_and_end(bench: Bench) -> None:
    commands = clear() + create(9, QueryType.OCCLUSION) + issue(9, BEGIN)
    found = bench.results(commands + triangle_list(0, 2) + issue(9, END), rectangle(1, 2, 5, 6))
    found = found or bench.poll()
    assert dword(found[9]) == 30


def test_step_3_the_cut_multisample_sentence_holds_as_the_english_text_has_it() -> None:
    """The translation ends in the middle: "... should detect render target multisampling"."""
    assert occlusion_of({(1, 4): 2, (2, 2): 2}) == 1 + 1


def test_step_3_vcache_answers_its_structure(bench: Bench) -> None:
    found = bench.settle(create(9, QueryType.VCACHE) + issue(9, END))
    assert found[9][:4] == b"CACH"


def test_step_3_a_small_buffer_is_continued() -> None:
    bench = Bench(timing=fixed(call=1, packet=0, delivery=500), buffer=48)
    for query in range(4):
        bench.ok(create(query, QueryType.EVENT))
        bench.ok(issue(query, END))
    bench.driver.finish()
    response = bench.ok().response
    assert (list(payloads(response)), response[-8]) == ([0, 1], 87)


def test_step_4_dwerroroffset_tells_whether_there_are_responses(bench: Bench) -> None:
    bench.ok(create(9, QueryType.EVENT))
    seen = [bench.ok(clear() + issue(9, END))] + [bench.ok() for _ in range(200)]
    assert sum(answer.dwErrorOffset for answer in seen) == 20
    assert all(bool(answer.dwErrorOffset) == bool(answer.response) for answer in seen)


def test_step_4_the_dropped_word_only_counts() -> None:
    """On success dwErrorOffset is nonzero *only* when responses are there."""
    bench = Bench(timing=fixed(call=1, packet=1_000_000))
    for _ in range(20):
        assert bench.ok(clear()).dwErrorOffset == 0


def test_step_5_the_runtime_can_parse_what_comes_back(bench: Bench) -> None:
    kinds = list(QueryType)
    supported = [kind for kind in kinds if int(kind) in bench.driver.query_types()]
    bench.ok(b"".join(create(int(kind), kind) for kind in supported))
    found = bench.settle(b"".join(issue(int(kind), END) for kind in supported))
    assert sorted(found) == [int(kind) for kind in supported]


def test_step_6_empty_buffers_bring_the_rest_and_are_always_legal() -> None:
    bench = Bench(timing=fixed(call=1, packet=0, delivery=500), buffer=48)
    for query in range(7):
        bench.ok(create(query, QueryType.EVENT))
        bench.ok(issue(query, END))
    bench.driver.finish()
    found: list[int] = []
    more = True
    while more:
        response = bench.ok(b"").response
        found += payloads(response)
        more = response[-8] == 87
    assert found == list(range(7))
    assert bench.ok(b"").dwErrorOffset == 0
