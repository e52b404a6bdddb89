"""Recorded answers of queries, beside those of the replay."""

from __future__ import annotations

import struct

import pytest

from dp2emu.capture.records import Answered, EntryCalled, Observed, Record
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.explain.query_account import Account, Question, accounts_of
from dp2emu.explain.query_report import lines, row_of
from dp2emu.gpu.device.timing import parse_timing
from tests.ddi10.drawing import SIZE
from tests.explain.opening import STREAMS, opened
from tests.replay.authoring import (
    BEGIN,
    CONTEXT,
    END,
    OCCLUSION,
    SETTING,
    answered,
    called,
    capture_of,
    clear,
    create,
    issue,
    response_of,
)
from tests.replay.test_resources import OCCLUSION as OCCLUSION10
from tests.replay.test_resources import RGBA8, Program

ISSUED = called(create(5, OCCLUSION), issue(5, BEGIN), clear(1), issue(5, END))
SLOW = "fixed:call=10,packet=250,delivery=40"


def word(number: int) -> bytes:
    return struct.pack("<I", number)


def accounts(*records: Record, timing: str = "instant") -> list[Account]:
    return accounts_of(capture_of(*SETTING, *records), timing=parse_timing(timing))


def told(account: Account) -> list[str]:
    return [line for line in lines(account) if line.startswith("  recorded")]


def test_streams_have_the_answers_that_they_recorded() -> None:
    found = []
    for path in STREAMS:
        with opened(path) as capture:
            found += [each for each in accounts_of(capture) if each.recorded is not None]
    assert len(found) > 8 and all(each.same for each in found)
    for account in found:
        assert account.recorded is not None and account.delivery is not None
        assert account.recorded.data == account.delivery.data
        assert account.recorded.call == account.delivery.call


@pytest.mark.parametrize(("number", "said"), [
    (0, "0 in call 0, the same answer"), (384, "384 in call 0, another answer"),
])  # fmt: skip
def test_a_response_is_compared(number: int, said: str) -> None:
    (account,) = accounts(ISSUED, answered(response=response_of((5, word(number)))))
    assert told(account) == [f"  recorded   {said}"]
    assert row_of(account)["recorded"] == {
        "call": 0, "api_call": None, "value": number, "raw": word(number).hex(),
        "same": number == 0,
    }  # fmt: skip


def test_a_recorded_driver_may_answer_later_or_earlier() -> None:
    answer = answered(response=response_of((5, word(7))))
    (late,) = accounts(ISSUED, answered(), called(), answer)
    (early,) = accounts(ISSUED, answer, *[called()] * 200, timing=SLOW)
    assert [each.recorded and each.recorded.call for each in (late, early)] == [1, 0]
    assert late.delivery is not None and late.delivery.call == 0
    assert early.delivery is not None and early.delivery.call > 0


def test_each_issue_has_its_own_answer() -> None:
    again = called(issue(5, BEGIN), clear(2), issue(5, END))
    found = accounts(
        ISSUED, answered(response=response_of((5, word(1)))),
        again, answered(response=response_of((5, word(2)))), called(), answered(),
    )  # fmt: skip
    assert [each.recorded_value for each in found] == [1, 2]


@pytest.mark.parametrize(
    "record",
    [
        Answered(answered().answer), answered(response=b"\x57\0\1\0"),
        answered(response=response_of((6, word(1)))),
    ],
    ids=["empty", "malformed", "of another query"],
)  # fmt: skip
def test_an_answer_that_is_not_recorded_is_not_told(record: Record) -> None:
    (account,) = accounts(ISSUED, record)
    assert (account.recorded, account.same, account.recorded_value) == (None, None, None)
    assert not told(account) and row_of(account)["recorded"] is None


def test_a_program_may_ask_for_fewer_bytes() -> None:
    (account,) = accounts(ISSUED, Observed(40, CONTEXT, 5, 0, b"\0\1"))
    assert told(account) == ["  recorded   0001 in API call 40, another answer"]


def test_a_program_may_ask_again_and_in_vain() -> None:
    waits = Observed(40, CONTEXT, 5, 1)
    (account,) = accounts(
        ISSUED, waits, Observed(41, CONTEXT, 5, 0, word(0)), Observed(42, CONTEXT, 5, 0, word(9))
    )
    assert told(account) == ["  recorded   0 in API call 41, the same answer"]


@pytest.mark.parametrize("imported", [False, True])
def test_results_of_get_data_of_direct3d_10_are_told(imported: bool) -> None:
    program = Program(imported=imported)
    device = program.device
    target = device.create_texture2d(RGBA8, (SIZE, SIZE), int(BindFlag.RENDER_TARGET))
    query = device.create_query(OCCLUSION10)
    query.begin()
    program.draws(target)
    query.end()
    if imported:
        program.gets(50, query, struct.pack("<Q", 3))
    else:
        query.wait()
    capture = capture_of(*program.records)
    (account,) = accounts_of(capture, Question(program.number(query)))
    assert account.recorded_value == (3 if imported else SIZE * SIZE)
    assert account.same is not imported
    assert account.recorded is not None
    assert account.recorded.api_call == (50 if imported else None)
    last = [each for each in program.records if isinstance(each, EntryCalled)][-1]
    if not imported:
        assert last.entry == "QueryGetData"
