"""Replay of whole captures, through the emulator and through prepared rigs."""

from __future__ import annotations

import pytest

from dp2emu.capture.records import (
    Annotation,
    ColorKeyRemoved,
    ColorKeySet,
    ContextDestroyed,
    MemoryWritten,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.context import Context
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import Unsupported, UsageError
from dp2emu.gpu.device.timing import by_work, fixed
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.runtime import Device9
from tests.replay.authoring import (
    BEGIN,
    BUFFER,
    CONTEXT,
    END,
    EVENT,
    OCCLUSION,
    SETTING,
    TIMESTAMP,
    VCACHE,
    Calls,
    answered,
    called,
    clear,
    create,
    delete,
    issue,
    response_of,
    sealed,
    token,
    with_timing,
)
from tests.replay.running import Run


def test_call_answers_what_the_driver_wrote() -> None:
    run = Run(*SETTING, called(create(5, EVENT), issue(5, END)))
    (call,) = run.calls
    assert (call["call"], call["ddrval"], call["ddrval_name"]) == (0, "0x00000000", "D3D_OK")
    assert call["dwErrorOffset"] == 20
    assert call["bytes"] == response_of((5, b"\1\0\0\0")).hex()
    (response,) = call["responses"]
    assert response == {
        "query": 5, "type": "D3DQUERYTYPE_EVENT", "type_raw": 8, "size": 4, "value": True,
        "raw": "01000000",
    }  # fmt: skip


def test_colour_keys_reach_the_rig() -> None:
    rig = Calls()
    Run(ColorKeySet(7, 1, 2), ColorKeyRemoved(7), rig=rig)
    assert rig.keys == [(7, (1, 2)), (7, None)]


def test_structures_are_objects_with_their_member_names() -> None:
    run = Run(*SETTING, called(create(1, VCACHE), issue(1, END)))
    value = run.calls[0]["responses"][0]["value"]
    assert list(value) == ["Pattern", "OptMethod", "CacheSize", "MagicNumber"]
    assert value["Pattern"].to_bytes(4, "little") == b"CACH"


@pytest.mark.parametrize("kind", [4, 5, 6, *range(8, 19)])
def test_every_query_type_has_a_value(kind: int) -> None:
    run = Run(*SETTING, called(create(1, kind), issue(1, BEGIN | END)))
    assert run.queries[0]["type_raw"] == kind
    assert run.queries[0]["value"] is not None


def test_query_row_names_the_call_that_delivered_it() -> None:
    records = [
        *SETTING, called(create(1, EVENT), issue(1, END)), called(), called(), called(),
    ]  # fmt: skip
    run = Run(*with_timing("fixed:call=1000,packet=0,delivery=2500", records))
    (row,) = run.queries
    assert (row["call"], row["hr"], row["value"]) == (2, "0x00000000", True)


def test_query_that_is_never_delivered_names_the_call_that_issued_it() -> None:
    records = [*SETTING, called(), called(create(1, EVENT), issue(1, END))]
    run = Run(*with_timing("fixed:call=1,packet=0,delivery=2500", records))
    (row,) = run.queries
    assert (row["call"], row["hr"], row["value"]) == (1, "0x00000001", None)
    assert (run.tally.issued, run.tally.answered) == (1, 0)


def test_every_end_has_a_row() -> None:
    late = "fixed:call=10,packet=0,delivery=15"
    records = [
        *SETTING,
        called(create(1, EVENT), issue(1, END), issue(1, END)),
        called(create(2, EVENT), issue(2, END), delete(2)),
        called(create(3, EVENT), issue(3, END), create(3, TIMESTAMP), issue(3, END)),
        called(),
        called(),
    ]
    rows = [(row["query"], row["type_raw"], row["hr"][-1]) for row in Run(
        *with_timing(late, records)).queries]  # fmt: skip
    assert sorted(rows) == [(1, 8, "0"), (1, 8, "1"), (2, 8, "1"), (3, 8, "1"), (3, 10, "0")]


def test_queries_of_a_destroyed_context_are_never_delivered() -> None:
    records = [
        *SETTING, called(create(1, EVENT), issue(1, END)), ContextDestroyed(CONTEXT),
    ]  # fmt: skip
    run = Run(*with_timing("fixed:call=1,packet=0,delivery=9", records))
    assert [row["hr"] for row in run.queries] == ["0x00000001"]


def test_tokens_behind_a_failing_one_issue_nothing() -> None:
    run = Run(
        *SETTING, called(create(1, EVENT), issue(1, END), issue(77, END), issue(1, END)), called()
    )
    assert [(row["query"], row["hr"]) for row in run.queries] == [(1, "0x00000000")]


def test_items_before_the_failing_one_of_a_token_count() -> None:
    both = token(Op.ISSUEQUERY, (1, END), (77, END))
    run = Run(*SETTING, called(create(1, EVENT), both), called())
    assert [(row["query"], row["hr"]) for row in run.queries] == [(1, "0x00000000")]


@pytest.mark.parametrize("refused", [(1, 0), (1, END | 4), (1, BEGIN)])
def test_items_behind_one_that_only_a_strict_driver_refuses_issue_nothing(
    refused: tuple[int, int],
) -> None:
    both = token(Op.ISSUEQUERY, refused, (1, END))
    records = (*SETTING, called(create(1, EVENT), both), called())
    assert len(Run(*records).queries) == 1 + bool(refused[1] & END)
    assert Run(*records, options=Options(strict=True)).queries == []


def test_call_that_fails_before_its_first_token_issues_nothing() -> None:
    rig = Calls(Answer(0, 0, 0), Answer(HResult.D3DHAL_CONTEXT_BAD, 0, 0))
    run = Run(*SETTING, called(create(1, EVENT)), called(issue(1, END)), rig=rig)
    assert run.queries == []


def test_commands_left_in_memory_are_read_before_they_are_overwritten() -> None:
    commands = create(1, EVENT) + issue(1, END)
    call = Call(CONTEXT, lpDDCommands=BUFFER, dwCommandLength=len(commands))
    from dp2emu.capture.records import Called

    run = Run(*SETTING, MemoryWritten(BUFFER, 0, commands), Called(call))
    assert [row["query"] for row in run.queries] == [1]


@pytest.mark.parametrize("offset", range(5))
def test_commands_may_start_anywhere(offset: int) -> None:
    run = Run(*SETTING, called(create(1, EVENT), issue(1, END), offset=offset))
    assert [row["query"] for row in run.queries] == [1]


def test_fault_is_told_with_its_place() -> None:
    run = Run(*SETTING, called(create(1, EVENT), issue(9, END)))
    (fault,) = run.faults
    assert (fault.call, fault.offset, fault.token) == (0, 12, "ISSUEQUERY")
    assert fault.stream is not None
    assert run.calls[0]["ddrval_name"] == "DDERR_INVALIDPARAMS"
    assert run.calls[0]["fault"]["token"] == "ISSUEQUERY"
    assert run.tally.faults == 1


def test_fault_that_was_recorded_just_so_is_none() -> None:
    recorded = answered(HResult.DDERR_INVALIDPARAMS, 12)
    run = Run(*SETTING, called(create(1, EVENT), issue(9, END)), recorded)
    assert run.faults == [] and run.differences == []
    assert (run.tally.faults, run.tally.known_faults) == (0, 1)


def test_fault_recorded_elsewhere_is_a_fault_and_a_difference() -> None:
    recorded = answered(HResult.DDERR_INVALIDPARAMS, 0)
    run = Run(*SETTING, called(create(1, EVENT), issue(9, END)), recorded)
    assert run.tally.faults == 1
    assert [str(found) for found in run.differences] == [
        "call 0: dwErrorOffset: recorded 0, replayed 12"
    ]


@pytest.fixture
def unbuilt(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A token that cannot be executed here."""

    def refuse(context: Context, handle: int, texels: object) -> None:
        raise Unsupported("dirty rectangles")

    monkeypatch.setattr(Context, "mark_dirty", refuse)
    return token(Op.ADDDIRTYRECT, (1, 0, 0, 1, 1))


def test_unsupported_counts_as_a_fault_and_the_next_call_goes_on(unbuilt: bytes) -> None:
    run = Run(*SETTING, called(create(1, EVENT), unbuilt), called(issue(1, END)))
    (fault,) = run.faults
    assert isinstance(fault, Unsupported)
    assert (fault.call, fault.offset, fault.token) == (0, 12, "ADDDIRTYRECT")
    assert run.calls[0]["fault"]["unsupported"] is True
    assert run.calls[0]["ddrval_name"] == "DDERR_UNSUPPORTED"
    assert run.calls[1]["ddrval"] == "0x00000000"
    assert [row["hr"] for row in run.queries] == ["0x00000000"]
    assert run.tally.unsupported == 1


def test_unsupported_never_matches_a_recorded_fault(unbuilt: bytes) -> None:
    run = Run(*SETTING, called(unbuilt), answered(HResult.DDERR_UNSUPPORTED, 0))
    assert run.tally.unsupported == 1


def test_what_fails_outside_calls_is_told_and_the_rest_goes_on() -> None:
    huge = SurfaceDesc(9, SurfaceKind.SURFACE, 1 << 20, 1, format=Format.X8R8G8B8)
    run = Run(*SETTING, SurfaceCreated(huge), SurfaceDestroyed(77), called(clear(0)))
    assert [fault.what[:14] for fault in run.faults] == ["before call 0:"] * 2
    assert run.tally.calls == 1


def test_answer_without_its_call_is_told() -> None:
    run = Run(*SETTING, answered())
    assert [fault.what for fault in run.faults] == ["before call 0: an answer without its call"]


def test_equal_answers_do_not_differ() -> None:
    recorded = answered(0, 20, response_of((5, b"\1\0\0\0")))
    run = Run(*SETTING, called(create(5, EVENT), issue(5, END)), recorded)
    assert run.differences == []
    assert (run.tally.compared, run.tally.different) == (1, 0)
    assert run.calls[0]["recorded"]["same"] is True


def test_difference_names_the_query() -> None:
    recorded = answered(0, 20, response_of((5, b"\2\0\0\0")))
    run = Run(*SETTING, called(create(5, OCCLUSION), issue(5, END)), recorded)
    assert [str(found) for found in run.differences] == [
        "call 0: response 0, query 5: recorded 02 00 00 00, replayed 00 00 00 00"
    ]
    assert run.calls[0]["recorded"]["same"] is False


def test_missing_answer_differs() -> None:
    run = Run(*SETTING, called(create(5, EVENT), issue(5, END)), answered())
    assert [found.field for found in run.differences] == ["dwErrorOffset", "response 0"]
    assert run.tally.different == 1


def test_response_that_breaks_the_protocol_is_a_fault() -> None:
    rig = Calls(Answer(0, 3, 0, b"abc"))
    run = Run(*SETTING, called(create(5, EVENT)), rig=rig)
    assert "cut off" in run.faults[0].what
    assert run.calls[0]["responses"] == []


def test_rig_that_raises_gets_an_answer_made_up() -> None:
    rig = Calls(Unsupported("the moon", offset=8, token="CLEAR"))
    run = Run(*SETTING, called(clear(0)), rig=rig)
    assert (run.calls[0]["ddrval_name"], run.calls[0]["dwErrorOffset"]) == ("DDERR_UNSUPPORTED", 8)


def test_timing_comes_from_an_annotation_before_the_first_call() -> None:
    run = Run(*with_timing("fixed:call=7,packet=0,delivery=0", [*SETTING, called()]))
    assert run.calls[0]["time"] == 7
    assert run.document["summary"]["timing"] == "fixed:call=7,packet=0,delivery=0"


def test_waiting_for_the_gpu_is_part_of_a_capture() -> None:
    """What the host reads back it has waited for; later calls find the answers ready."""
    records: list[Record] = [Annotation("timing", "work")]
    device = Device9(Driver(by_work()), 64, 64, record=records.append)
    event = device.create_query(QueryType.EVENT)
    for color in range(20):
        device.clear(color=color)
    event.end()
    device.read_back()
    assert event.get_data(flush=True).value == 1
    run = Run(*records)
    assert (run.tally.compared, run.tally.answered, run.differences) == (2, 1, [])


def test_timing_given_wins_over_the_annotation() -> None:
    records = with_timing("fixed:call=7", [*SETTING, called()])
    assert Run(*records, timing=fixed(call=9)).calls[0]["time"] == 9


def test_timing_annotation_may_follow_what_sets_the_stage() -> None:
    run = Run(*SETTING, Annotation("timing", "fixed:call=7"), called())
    assert run.calls[0]["time"] == 7


def test_timing_annotation_behind_a_call_changes_nothing() -> None:
    assert Run(*SETTING, called(), Annotation("timing", "fixed")).tally.timing == "instant"


@pytest.mark.parametrize("model", ["scripted:/etc/passwd", "fast", "fixed:call=x"])
def test_annotation_cannot_name_a_file_or_nonsense(model: str) -> None:
    with pytest.raises(UsageError, match="timing"):
        Run(*with_timing(model, SETTING))


def test_damaged_capture_is_replayed_up_to_the_damage() -> None:
    whole = sealed(*SETTING, called(clear(1)), called(clear(2)))
    cut = whole[: whole.index(clear(2)) + 3]
    run = Run(file=cut)
    assert run.tally.calls == 1
    assert run.tally.damage is not None
    assert "call 0 is the last whole one" in run.document["summary"]["damage"]


def test_empty_capture_gives_an_empty_document() -> None:
    run = Run()
    assert (run.calls, run.pictures, run.queries) == ([], [], [])


def test_many_rows_spill_without_changing_order() -> None:
    batch = called(*[issue(1, BEGIN | END) for _ in range(300)])
    run = Run(*SETTING, called(create(1, EVENT)), *[batch] * 40)
    assert len(run.queries) == 12_000
    assert [row["call"] for row in run.queries] == sorted(row["call"] for row in run.queries)
