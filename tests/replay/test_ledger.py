"""Which query was answered by which call, against a plain model."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.gpu.command.packets import EndQuery
from dp2emu.gpu.device.timing import seeded
from dp2emu.replay import replay
from tests.replay.authoring import (
    BEGIN,
    END,
    SETTING,
    called,
    capture_of,
    create,
    delete,
    issue,
    token,
)

IDS = range(1, 5)
KINDS = (8, 9, 10, 6)

steps = st.one_of(
    st.tuples(st.just("create"), st.sampled_from(IDS), st.sampled_from(KINDS)),
    st.tuples(st.just("delete"), st.sampled_from(IDS), st.just(0)),
    st.tuples(
        st.just("issue"), st.sampled_from(IDS), st.sampled_from([0, BEGIN, END, BEGIN | END])
    ),
)
TOKENS = {"create": create, "delete": lambda query, _: delete(query), "issue": issue}


def legal_ends(calls: list[list[tuple[str, int, int]]]) -> tuple[list[list[bytes]], int]:
    """The tokens of the steps that name live queries, and how many ENDs are among them."""
    live: set[int] = set()
    tokens, ends = [], 0
    for call in calls:
        tokens.append([])
        for verb, query, value in call:
            if verb != "create" and query not in live:
                continue
            tokens[-1].append(TOKENS[verb](query, value))
            ends += verb == "issue" and bool(value & END)
            (live.discard if verb == "delete" else live.add)(query)
    return tokens, ends


@given(st.lists(st.lists(steps, max_size=8), max_size=8), st.integers(0, 99))
def test_every_end_has_one_row_and_every_response_its_own(
    calls: list[list[tuple[str, int, int]]], seed: int
) -> None:
    tokens, ends = legal_ends(calls)
    text = io.StringIO()
    tally = replay(
        capture_of(*SETTING, *[called(*each) for each in tokens]),
        timing=seeded(seed),
        document=text,
    )
    document: dict[str, Any] = json.loads(text.getvalue())
    assert tally.faults == 0
    assert len(document["queries"]) == tally.issued == ends
    responses = sorted(
        (call["call"], response["query"], response["type_raw"], str(response["value"]))
        for call in document["calls"]
        for response in call["responses"]
    )
    delivered = sorted(
        (row["call"], row["query"], row["type_raw"], str(row["value"]))
        for row in document["queries"]
        if row["hr"] == "0x00000000"
    )
    assert responses == delivered
    assert len(delivered) == tally.answered


def of_several_items(op: Op, width: int) -> st.SearchStrategy[bytes]:
    """A token of up to four items, which may name no query, no type and no flags there are."""
    numbers = st.sampled_from([0, 1, 2, 3, 4, 7, 8, 9])
    return st.lists(st.tuples(*[numbers] * width), max_size=4).map(lambda rows: token(op, *rows))


TRAFFIC = st.one_of(
    of_several_items(Op.CREATEQUERY, 2),
    of_several_items(Op.ISSUEQUERY, 2),
    of_several_items(Op.DELETEQUERY, 1),
    st.just(b"\xff\0\0\0"),
)


@given(st.lists(st.lists(TRAFFIC, max_size=6), max_size=6), st.booleans())
def test_rows_are_as_many_as_the_ends_the_driver_took(
    calls: list[list[bytes]], strict: bool
) -> None:
    options = Options(strict=strict)
    driver = Driver(options=options)
    ends = []
    driver.gpu.packet_taps.append(lambda packet, time: ends.append(isinstance(packet, EndQuery)))
    tokens = [called(create(1, 8), create(2, 9)), *[called(*each) for each in calls]]
    tally = replay(capture_of(*SETTING, *tokens), rig=driver, options=options)
    assert tally.issued == sum(ends)
