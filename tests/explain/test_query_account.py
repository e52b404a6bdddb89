"""Accounts of queries, against the answers that a replay delivers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from unittest.mock import patch

import pytest

from dp2emu.capture.records import ContextDestroyed, EntryCalled, Record
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS
from dp2emu.errors import Disagreement, UsageError
from dp2emu.explain import query_account
from dp2emu.explain.query_account import (
    Account,
    Question,
    Reason,
    State,
    accounts_of,
    parse_question,
)
from dp2emu.explain.query_counts import CounterLog
from dp2emu.explain.query_report import document, lines, row_of
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.replay import Watcher, replay
from dp2emu.shader.engines import ENGINES
from tests.ddi10.drawing import SIZE
from tests.explain.opening import FIRST_LIGHT, FOLDER, STREAMS, opened
from tests.replay.authoring import (
    BEGIN,
    CONTEXT,
    END,
    EVENT,
    OCCLUSION,
    SETTING,
    called,
    capture_of,
    clear,
    create,
    delete,
    issue,
)
from tests.replay.test_resources import OCCLUSION as OCCLUSION10
from tests.replay.test_resources import RGBA8, STATISTICS, Program
from tests.scaling import assert_linear

SLOW = "fixed:call=10,packet=25,delivery=40"


def accounts(*records: Record, timing: str = "instant", query: str | None = None) -> list[Account]:
    question = None if query is None else parse_question(query)
    return accounts_of(
        capture_of(*SETTING, *records), question, timing=parse_timing(timing), fault=_ignore
    )


def _ignore(error: Exception) -> None: ...


def delivered(timing: str, *records: Record) -> list[tuple[int, int, bytes]]:
    """(call, query, payload) of each answer of a replay, in order."""
    found: list[tuple[int, int, bytes]] = []
    replay(
        capture_of(*SETTING, *records), timing=parse_timing(timing),
        watcher=Watcher(answered=lambda call: found.extend(
            (call.number, each.query, each.data) for each in call.responses.records)),
    )  # fmt: skip
    return found


def random_calls(random: Random) -> list[Record]:
    """Calls that create, issue and delete queries of all types, between clears."""
    made, live = list[Record](), list[int]()
    for number in range(12):
        tokens = []
        for _ in range(random.randrange(5)):
            choice = random.randrange(6)
            if choice == 0 or not live:
                live.append(number * 8 + len(tokens) + 1)
                tokens.append(create(live[-1], random.choice(list(KINDS))))
            elif choice == 1:
                tokens.append(delete(live.pop(random.randrange(len(live)))))
            elif choice == 2:
                tokens.append(clear(random.randrange(1 << 24)))
            else:
                tokens.append(issue(random.choice(live), random.choice([BEGIN, END, 3])))
        made.append(called(*tokens))
    return made


@pytest.mark.parametrize("timing", ["instant", SLOW, "work:call=5,delivery=30", "seeded:7"])
@pytest.mark.parametrize("seed", range(8))
def test_each_answer_of_a_replay_has_an_account_with_its_bytes(seed: int, timing: str) -> None:
    calls = random_calls(Random(seed))
    found = accounts(*calls, timing=timing)
    told = [
        (each.delivery.call, each.delivery.offset, each.name.query, each.delivery.data)
        for each in found
        if each.delivery is not None
    ]
    expected = delivered(timing, *calls)
    assert [(call, query, data) for call, _, query, data in sorted(told)] == expected
    for each in found:
        if each.delivery is not None and each.formula is not None and each.report is not None:
            assert each.delivery.data == each.formula.payload(each.report)


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_counts_of_events_add_up_to_the_samples_of_an_answer(path: object) -> None:
    with opened(path) as capture:  # type: ignore[arg-type]
        found = accounts_of(capture, fault=_ignore)
    for account in found:
        counted = sum(counts["samples"] for _, counts in account.counting() if "samples" in counts)
        if account.type == "D3DQUERYTYPE_OCCLUSION":
            assert counted == account.value


def test_an_answer_that_does_not_follow_from_its_events_is_an_error() -> None:
    def forgetful(self: CounterLog, event: object, *, before: bool) -> None: ...

    with (
        patch.object(CounterLog, "enter", forgetful),
        opened(FOLDER / "overlapping_queries.dp2") as capture,
        pytest.raises(Disagreement, match="events account for 0, the answer is 1824"),
    ):
        accounts_of(capture)


def overlapping(n: int) -> list[Record]:
    """n queries that are open together, and n clears that each of them counts."""
    ids = range(1, n + 1)
    return [
        *(called(create(i, OCCLUSION), issue(i, BEGIN), clear(i)) for i in ids),
        called(*(issue(i, END) for i in ids)),
    ]


def waiting(n: int) -> list[Record]:
    """n answers that wait for n calls."""
    ids = range(1, n + 1)
    return [called(*(create(i, EVENT) + issue(i, END) for i in ids)), *[called()] * n]


def issued_again(n: int) -> list[Record]:
    """n answers that wait, and are superseded in one call."""
    ids = range(1, n + 1)
    return [*waiting(n), called(*(issue(i, END) for i in ids))]


@pytest.mark.parametrize("make", [overlapping, waiting, issued_again])
def test_work_is_linear_in_queries_and_events(make: Callable[[int], list[Record]]) -> None:
    late = "fixed:call=1000,packet=1,delivery=100000000"
    assert_linear(make, lambda records: accounts(*records, timing=late), (3, 6, 12, 24))


def test_an_answer_tells_what_a_response_waited_for() -> None:
    calls = [called(create(5, EVENT), clear(1), issue(5, END)), *[called()] * 9]
    (account,) = accounts(*calls, timing=SLOW)
    reasons = [each.reason for each in account.waits]
    assert account.delivery is not None and account.report is not None
    assert reasons == sorted(reasons, key=[Reason.GPU, Reason.LATENCY].index)
    assert {*reasons} == {Reason.GPU, Reason.LATENCY}
    assert [each.call for each in account.waits] == [*range(account.delivery.call)]
    for wait in account.waits:
        assert wait.until is not None and wait.time < wait.until <= account.report.visible
    assert account.delivery.time >= account.report.visible


def test_a_begin_without_an_end_before_the_next_is_told() -> None:
    begins = [issue(5, BEGIN), clear(1), issue(5, BEGIN), clear(2), issue(5, BEGIN)]
    calls = called(create(5, OCCLUSION), *begins, issue(5, END)), called(issue(5, END))
    first, second = accounts(*calls, query="5")
    assert [event.place for event in first.restarted] == ["0:1", "0:3"]
    assert first.begin is not None and first.begin.place == "0:5"
    assert [row["place"] for row in row_of(first)["restarted"]] == ["0:1", "0:3"]
    told = list(lines(first))
    assert told[1:4] == [
        "  dropped BEGINs, without an END before the next",
        "    E0 0:1 ISSUEQUERY, tick 0", "    E2 0:3 ISSUEQUERY, tick 0",
    ]  # fmt: skip
    assert second.restarted == () and second.begin is None
    assert list(lines(second))[1] == "  began      no BEGIN: the answer is of an empty interval"


def test_an_answer_without_begin_is_of_a_moment_or_an_empty_interval() -> None:
    (event,) = accounts(called(create(5, EVENT), issue(5, END)))
    assert list(lines(event))[1] == "  began      no BEGIN: the answer is of one moment"


def test_an_answer_without_room_waits_for_it() -> None:
    with opened(FOLDER / "response_continue.dp2") as capture:
        found = accounts_of(capture)
    waits = [wait for each in found for wait in each.waits if wait.reason is Reason.ROOM]
    assert waits and all(wait.until is None for wait in waits)


def test_a_failed_call_delivers_nothing() -> None:
    made = called(create(5, EVENT), issue(5, END), issue(9, END))
    (account,) = accounts(made, called())
    assert [each.reason for each in account.waits] == [Reason.FAILED]
    assert account.delivery is not None and account.delivery.call == 1


@pytest.mark.parametrize(
    ("calls", "state", "dropped"),
    [
        ([called(create(5, OCCLUSION), issue(5, BEGIN))], State.NOT_ENDED, None),
        ([called(create(5, EVENT), issue(5, END)), called(issue(5, END))], State.SUPERSEDED, 1),
        ([called(create(5, EVENT), issue(5, END)), called(delete(5))], State.DELETED, 1),
        ([called(create(5, EVENT), issue(5, END)), ContextDestroyed(CONTEXT)], State.DELETED, 1),
        ([called(create(5, EVENT), issue(5, END))], State.SIGNALED, None),
    ],
    ids=lambda each: getattr(each, "value", None),
)
def test_an_answer_that_was_not_delivered_tells_why(
    calls: list[Record], state: State, dropped: int | None
) -> None:
    first = accounts(*calls, timing="fixed:call=1,packet=5,delivery=100")[0]
    assert (first.state, first.dropped, first.delivery) == (state, dropped, None)
    assert any("never" in line for line in lines(first))


def test_a_query_is_asked_for_by_call_or_number() -> None:
    calls = [
        called(create(5, EVENT), create(6, EVENT)),
        *[called(issue(5, END), issue(6, END))] * 3,
    ]
    assert len(accounts(*calls, query="5")) == 3
    (second,) = accounts(*calls, query="5#1")
    (by_call,) = accounts(*calls, query="5@2")
    assert second.end is not None and by_call.end is not None
    assert (second.end.call, by_call.end.call, second.number) == (2, 2, 1)


@pytest.mark.parametrize(
    ("query", "why"),
    [("7", "no query 7: the capture has query 5"),
     ("5#1", r"no such answer: query 5 has answer #0 \(ended in call 0\)"),
     ("x", "expected a query"), ("5@", "expected a query"), ("5@1#2", "expected a query")],
)  # fmt: skip
def test_a_question_without_answer_is_a_usage_error(query: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        accounts(called(create(5, EVENT), issue(5, END)), query=query)


def test_a_query_that_is_only_created_is_said_to_be() -> None:
    calls = called(create(5, EVENT), issue(5, END)), called(create(8, EVENT))
    with pytest.raises(UsageError, match="8 is created in call 1, and neither begun nor ended"):
        accounts(*calls, query="8")


def test_a_query_of_the_ddi_that_is_only_created_is_said_to_be() -> None:
    program = Program()
    query = program.device.create_query(OCCLUSION10)
    number = program.number(query)
    (call,) = (
        number for number, each in enumerate(
            each for each in program.records if isinstance(each, EntryCalled)
        ) if each.entry == "CreateQuery"
    )  # fmt: skip
    with pytest.raises(UsageError, match=f"query {number} is created in call {call}, and neither"):
        accounts_of(capture_of(*program.records), Question(number))


def test_a_capture_without_queries_says_so() -> None:
    with pytest.raises(UsageError, match="issues no query"):
        accounts(called(clear(1)), query="1")


def test_questions_are_read() -> None:
    assert parse_question("5@12") == Question(5, call=12)
    assert parse_question("5#0") == Question(5, number=0)


def test_the_document_has_the_places_of_begin_and_end() -> None:
    with opened(FIRST_LIGHT) as capture:
        row = document(accounts_of(capture, parse_question("1")))["answers"][0]
    assert (row["begin"]["name"], row["end"]["place"]) == ("ISSUEQUERY", "1:16")
    assert row["value"] == sum(each["counts"]["samples"] for each in row["events"])
    assert row["delivery"]["offset"] == 8


@pytest.mark.parametrize("imported", [False, True])
def test_a_query_of_direct3d_10_is_asked_for_by_its_object(imported: bool) -> None:
    program = Program(imported=imported)
    device = program.device
    target = device.create_texture2d(RGBA8, (SIZE, SIZE), int(BindFlag.RENDER_TARGET))
    occlusion, statistics = device.create_query(OCCLUSION10), device.create_query(STATISTICS)
    occlusion.begin(), statistics.begin()
    program.draws(target)
    occlusion.end(), statistics.end()
    program.shows(30, target)
    occlusion.begin(), occlusion.end()
    if imported:
        program.gets(50, statistics, bytes(88))
    else:
        statistics.wait()
    number = program.number(statistics)
    (counted,) = accounts_of(capture_of(*program.records), Question(number), fault=_ignore)
    first, second = accounts_of(
        capture_of(*program.records), Question(program.number(occlusion)), fault=_ignore
    )
    assert (first.state, first.value, second.value) == (State.SUPERSEDED, SIZE * SIZE, 0)
    assert [part.event.name for part, _ in first.counting()] == ["Draw"]
    assert counted.value[:3] == [4, 2, 4]
    assert counted.delivery is not None
    assert counted.delivery.api_call == (50 if imported else None)


def test_engines_tell_the_same() -> None:
    for name in ("patches", "first_light"):
        found = []
        for engine in ENGINES:
            with opened(FOLDER / f"{name}.dp2") as capture:
                found.append(document(accounts_of(capture, options=Options(engine=engine))))
        assert found[0]["answers"] and found[1:] == found[:-1]


def test_waits_beyond_a_number_are_counted() -> None:
    calls = [called(create(5, EVENT), clear(1), issue(5, END)), *[called()] * 9]
    (account,) = accounts(*calls, timing=SLOW)
    whole = account.waits
    with patch.object(query_account, "WAITS", 2):
        assert account.waits == whole[:2]
        assert account.more_waits == len(whole) - 2 > 0
        assert f"    and {account.more_waits} more calls" in [*lines(account)]
        assert row_of(account)["more_waits"] == account.more_waits
