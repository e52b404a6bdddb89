"""``dp2emu events``: the list of events, its forms and filters."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import dp2emu
from tests.tools.loading import ROOT

STREAM = ROOT / "streams" / "first_light.dp2"
TRACE = ROOT / "streams" / "real" / "sokol_texcube.trace"


def test_a_table_has_a_header_and_a_line_for_each_event() -> None:
    ran = dp2emu("events", STREAM)
    header, *lines = ran.out.decode().splitlines()
    assert ran.code == 0
    assert header.split()[:5] == ["event", "frame", "place", "kind", "name"]
    assert [line.split()[0] for line in lines] == [f"E{number}" for number in range(16)]


def test_forms_tell_the_same() -> None:
    rows = [json.loads(line) for line in dp2emu("events", STREAM, "--jsonl").out.splitlines()]
    header, *lines = dp2emu("events", STREAM, "--tsv").out.decode().splitlines()
    named = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert [each["pixels"] for each in named] == [str(row["pixels"]) for row in rows]
    assert [each["place"] for each in named] == [row["place"] for row in rows]


def test_filters_are_combined() -> None:
    ran = dp2emu("events", STREAM, "--jsonl", "--filter", "kind=draw", "--filter", "pixels<3380")
    assert [json.loads(line)["event"] for line in ran.out.splitlines()] == ["E5", "E12"]
    ran = dp2emu("events", STREAM, "--jsonl", "--filter", "name~issue", "--filter", "query!=1")
    assert [json.loads(line)["event"] for line in ran.out.splitlines()] == ["E14"]


@pytest.mark.parametrize("text", ["draw", "colour=red", "pixels=many", "="])
def test_a_condition_on_no_column_is_a_usage_error(text: str) -> None:
    ran = dp2emu("events", STREAM, "--filter", text)
    assert (ran.code, ran.out) == (2, b"")


def test_an_unknown_kind_is_a_usage_error_that_lists_the_kinds() -> None:
    ran = dp2emu("events", STREAM, "--filter", "kind=banana")
    assert (ran.code, ran.out) == (2, b"")
    assert "no kind 'banana'; the kinds are draw, clear" in ran.err


def test_events_are_compared_by_number() -> None:
    for text, found in (("event=5", ["E5"]), ("event=e5", ["E5"]), ("event>=E14", ["E14", "E15"])):
        ran = dp2emu("events", STREAM, "--jsonl", "--filter", text)
        assert [json.loads(line)["event"] for line in ran.out.splitlines()] == found


def test_a_trace_has_the_numbers_of_its_api_calls() -> None:
    ran = dp2emu("events", TRACE, "--jsonl", "--filter", "frame=0", "--engine", "jit")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    kinds = ["clear", "clear", "write", "draw", "resolve", "present"]
    assert [row["kind"] for row in rows] == kinds
    assert [row["api_call"] for row in rows] == [205, 206, 222, 223, 226, 230]
