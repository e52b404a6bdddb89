"""Every rule of Microsoft's page "Handling Asynchronous Queries".

Each test is named after the rule it checks; numbers are the document's steps.
"""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS
from dp2emu.gpu.command.queries import Counters, QuerySlot, Report, snapshot
from dp2emu.gpu.device.timing import fixed, instant
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import (
    BEGIN,
    BUFFER,
    COLOR,
    END,
    VERTICES,
    Bench,
    clear,
    create,
    delete,
    dword,
    issue,
    payloads,
    rectangle,
    triangle_list,
)

EVENT, OCCLUSION, VCACHE = QueryType.EVENT, QueryType.OCCLUSION, QueryType.VCACHE
DRAW_QUAD = triangle_list(0, 2)


def test_step_1_the_driver_creates_resources_for_a_query_after_createquery() -> None:
    bench = Bench()
    assert bench.call(issue(5, END)).ddrval == HResult.DDERR_INVALIDPARAMS
    bench.ok(create(5, EVENT))
    assert bench.results(issue(5, END)) == {5: b"\1\0\0\0"}


def test_step_2_the_driver_starts_to_process_a_query_after_issuequery() -> None:
    bench = Bench()
    assert bench.results(create(5, EVENT)) == {}
    assert bench.results() == {}
    assert bench.results(issue(5, END)) != {}


def test_step_3_dwerroroffset_is_the_size_of_the_response_buffer_and_ddrval_d3d_ok() -> None:
    bench = Bench()
    answer = bench.call(create(5, EVENT) + issue(5, END))
    assert (answer.ddrval, answer.dwErrorOffset) == (HResult.D3D_OK, 8 + 8 + 4)


def test_step_3_the_driver_overwrites_the_command_buffer_with_the_response_buffer() -> None:
    bench = Bench()
    commands = create(5, EVENT) + issue(5, END) + clear(0x00FF00FF)
    answer = bench.ok(commands)
    size = answer.dwErrorOffset
    assert bench.memory(size) == answer.response != commands[:size]
    assert bench.memory(len(commands) - size, size) == commands[size:]


def test_step_3_bcommand_is_responsequery() -> None:
    response = Bench().ok(create(5, EVENT) + issue(5, END)).response
    assert struct.unpack_from("<BBHI", response) == (88, 0, 1, 20)


def test_step_3_responses_are_to_previously_submitted_queries_that_completed() -> None:
    bench = Bench(timing=fixed(call=10, packet=25))
    assert bench.results(create(5, EVENT) + clear() + issue(5, END)) == {}
    assert bench.results() == {}
    assert bench.results() == {5: b"\1\0\0\0"}


def test_step_3_event_is_a_bool() -> None:
    assert Bench().results(create(5, EVENT) + issue(5, END)) == {5: struct.pack("<I", 1)}


def test_step_3_event_waits_until_the_gpu_is_finished_with_all_earlier_operations() -> None:
    bench = Bench(timing=fixed(call=1, packet=40))
    draws = clear() + DRAW_QUAD * 3
    found = bench.results(create(5, EVENT) + draws + issue(5, END), rectangle(0, 0, 8, 8))
    calls = 1
    while not found:
        found, calls = bench.results(), calls + 1
    assert bench.driver.time == calls == 4 * 40


def test_step_3_event_is_answered_only_after_its_issue_end() -> None:
    bench = Bench()
    bench.ok(create(5, EVENT) + clear())
    for _ in range(3):
        assert bench.ok().dwErrorOffset == 0
    assert bench.ok(issue(5, END)).dwErrorOffset == 20


def test_step_3_event_true_means_the_pixels_are_in_memory() -> None:
    bench = Bench(timing=fixed(call=1, packet=10))
    white = b"\xff\xff\xff\xff"
    found = bench.results(
        clear() + DRAW_QUAD + create(5, EVENT) + issue(5, END), rectangle(0, 0, 1, 1)
    )
    while not found:
        found = bench.results()
    assert bench.driver.read(COLOR, 0, 4) == white


def test_step_3_event_waits_for_pending_fills() -> None:
    """Clears are the blits of this stream: an event behind one is not signalled before it."""
    bench = Bench(timing=fixed(call=1, packet=5))
    assert bench.results(clear(0xFF123456) + create(5, EVENT) + issue(5, END)) == {}
    assert 5 in bench.poll()
    assert bench.driver.read(COLOR, 0, 4) == bytes.fromhex("563412ff")


@pytest.mark.parametrize(("waits", "seen"), [(True, b"\xff\xff\xff\xff"), (False, b"\0\0\0\xff")])
def test_step_3_event_true_means_resources_are_no_longer_used(waits: bool, seen: bytes) -> None:
    """Vertices overwritten before the event change the picture, after it they do not."""
    bench = Bench(timing=fixed(call=10, packet=100))
    quad = rectangle(0, 0, 8, 8)
    bench.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, len(quad)))
    bench.driver.write(VERTICES, 0, quad)
    commands = clear() + DRAW_QUAD + create(5, EVENT) + issue(5, END)
    bench.ok(commands, lpDDVertex=VERTICES, dwVertexLength=6)
    if waits:
        bench.poll()
    bench.driver.write(VERTICES, 0, bytes(len(quad)))
    bench.driver.finish()
    assert bench.driver.read(COLOR, 0, 4) == seen


def test_step_3_event_is_always_true_when_answered() -> None:
    bench = Bench(timing=fixed(call=7, packet=100, delivery=13))
    bench.ok(create(5, EVENT))
    for _ in range(5):
        bench.ok(clear() + issue(5, END))
        assert bench.poll() == {5: struct.pack("<I", 1)}


def test_step_3_occlusion_is_a_dword_of_pixels_whose_z_test_passed() -> None:
    bench = Bench()
    commands = clear() + create(5, OCCLUSION) + issue(5, BEGIN) + DRAW_QUAD + issue(5, END)
    payload = bench.results(commands, rectangle(3, 4, 10, 7))[5]
    assert (len(payload), dword(payload)) == (4, 70)


def test_step_3_occlusion_counts_all_primitives_between_begin_and_end_and_no_others() -> None:
    bench = Bench()
    vertices = rectangle(0, 0, 4, 4, 0.9) + rectangle(0, 0, 8, 8, 0.5) + rectangle(0, 0, 2, 2, 0.7)
    inside = triangle_list(6, 2) + triangle_list(12, 2)
    commands = clear() + create(5, OCCLUSION) + DRAW_QUAD
    commands += issue(5, BEGIN) + inside + issue(5, END) + DRAW_QUAD
    assert dword(bench.results(commands, vertices)[5]) == 64


def occlusion_of(samples: dict[tuple[int, int], int], single: int = 0) -> int:
    """What OCCLUSION answers for that many samples per (target, samples per pixel)."""
    counters = Counters()
    begin = snapshot(counters, 0)
    counters.samples += single
    counters.multisamples.passed.update(samples)
    report = Report(QuerySlot(9, None, 5), 0, begin, snapshot(counters, 0), 0)
    (count,) = KINDS[OCCLUSION].values(report, Options())
    return int(count)


@pytest.mark.parametrize(("samples", "pixels"), [(0, 0), (1, 1), (3, 1), (4, 1), (5, 2), (8, 2)])
def test_step_3_multisampled_counts_become_pixels_rounded_up(samples: int, pixels: int) -> None:
    assert occlusion_of({(1, 4): samples}) == pixels


def test_step_3_a_result_of_0_means_fully_occluded() -> None:
    assert occlusion_of({(1, 8): 1}) == 1
    assert occlusion_of({(1, 8): 0}) == 0


def test_step_3_changes_of_target_multisampling_inside_the_interval_are_detected() -> None:
    """Sum of ceil(samples / n) per target, not of the lot."""
    assert occlusion_of({(1, 2): 3, (2, 4): 5, (3, 4): 1}, single=7) == 7 + 2 + 2 + 1


def test_step_3_vcache_is_a_d3ddevinfo_vcache() -> None:
    payload = Bench().results(create(5, VCACHE) + issue(5, END))[5]
    assert len(payload) == 16
    assert payload[:4] == b"CACH"
    method, size, magic = struct.unpack_from("<3I", payload, 4)
    assert method in (0, 1)
    assert size > 0
    assert magic > 0


def test_step_3_responsecontinue_follows_when_the_buffer_is_too_small() -> None:
    bench = Bench(buffer=52)
    for query in range(4):
        bench.ok(create(query, EVENT))
    answer = bench.ok(b"".join(issue(query, END) for query in range(4)))
    response = answer.response
    assert sorted(payloads(response)) == [0, 1, 2]
    assert struct.unpack_from("<BBHI", response, 8 + 3 * 12) == (87, 0, 0, 8)
    assert answer.dwErrorOffset == len(response) == 8 + 3 * 12 + 8


@pytest.mark.parametrize("size", [20, 27])
def test_step_3_no_answer_is_sent_without_room_for_the_responsecontinue_after_it(
    size: int,
) -> None:
    """docs/departures.rst, "Answers without room for RESPONSECONTINUE"."""
    bench = Bench(buffer=size, timing=fixed(call=1, packet=0, delivery=10))
    for query in (1, 2):
        bench.ok(create(query, EVENT))
        bench.ok(issue(query, END))
    bench.driver.finish()
    for _ in range(3):
        answer = bench.ok()
        assert (answer.dwErrorOffset, answer.response) == (0, b"")
    # The second answer needs no RESPONSECONTINUE once it is the only one.
    assert bench.results(delete(1)) == {2: b"\1\0\0\0"}


def test_step_4_dwerroroffset_is_zero_if_no_responses_are_available() -> None:
    bench = Bench(timing=fixed(packet=1_000_000))
    for commands in (b"", clear(), create(5, EVENT), clear() + issue(5, END)):
        assert bench.ok(commands).dwErrorOffset == 0


def test_step_4_dwerroroffset_is_nonzero_only_when_responses_are_available() -> None:
    """The sentence the translation weakens: *only* then."""
    bench = Bench(timing=fixed(call=10, packet=35))
    commands = create(5, EVENT) + clear() + issue(5, END)
    for _ in range(12):
        answer = bench.ok(commands)
        assert (answer.dwErrorOffset != 0) == bool(answer.response)
        assert (answer.dwErrorOffset != 0) == bool(payloads(answer.response))
        commands = b""


def test_step_4_on_failure_dwerroroffset_locates_the_command_and_no_response_is_sent() -> None:
    bench = Bench()
    good = create(5, EVENT) + issue(5, END)
    answer = bench.call(good + b"\xff\0\0\0")
    assert answer.ddrval == HResult.D3DERR_COMMAND_UNPARSED
    assert (answer.dwErrorOffset, answer.response) == (len(good), b"")
    assert bench.results() == {5: b"\1\0\0\0"}


def test_step_5_the_response_buffer_parses_back_to_what_was_issued() -> None:
    bench = Bench()
    kinds = [EVENT, OCCLUSION, VCACHE, QueryType.TIMESTAMP]
    bench.ok(b"".join(create(query, kind) for query, kind in enumerate(kinds)))
    found = bench.results(b"".join(issue(query, END) for query in range(len(kinds))))
    assert [len(found[query]) for query in range(4)] == [4, 4, 16, 8]


def test_step_6_after_responsecontinue_an_empty_buffer_brings_the_rest() -> None:
    bench = Bench(buffer=52)
    for query in range(4):
        bench.ok(create(query, EVENT))
    first = bench.ok(b"".join(issue(query, END) for query in range(4)))
    assert list(payloads(first.response)) == [0, 1, 2]
    rest = bench.ok(b"")
    assert rest.response == bytes.fromhex("58000100 14000000 03000000 04000000 01000000")
    assert bench.ok(b"").dwErrorOffset == 0


def test_step_6_the_driver_can_process_empty_command_buffers() -> None:
    bench = Bench(timing=instant())
    for _ in range(3):
        answer = bench.ok(b"")
        assert (answer.ddrval, answer.dwErrorOffset) == (HResult.D3D_OK, 0)
    assert bench.memory() == bytes(BUFFER)
