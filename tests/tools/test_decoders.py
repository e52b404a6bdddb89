"""The table of times by decoder, and its bar."""

from __future__ import annotations

import pytest

from tests.tools.loading import ROOT, load_tool

decoders = load_tool("decoders")

CAPTURE = ROOT / "streams" / "event_latency.dp2"
QUICK = [str(CAPTURE), "--engine", "reference", "--runs", "1"]


def test_table_has_each_capture_and_their_sum(capsys: pytest.CaptureFixture[str]) -> None:
    assert decoders.main([*QUICK, "--most", "inf"]) == 0
    titles, _, row, total = capsys.readouterr().out.splitlines()
    assert titles.split() == ["capture", "replay", "decoding"]
    assert [row.split()[0], total.split()[0]] == ["event_latency", "all"]
    assert row.split()[1:] == total.split()[1:]
    assert len(row.split()) == 7


def test_a_ratio_beyond_the_most_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert decoders.main([*QUICK, "--most", "0"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].endswith("expected at most 0 times")


def test_both_decoders_find_all_tokens() -> None:
    capture = decoders.Stored(CAPTURE)
    options = [decoders.Options(parser=name) for name in decoders.COMPARED]
    numbers = [decoders.decode(capture, decoders.parser_of(each)) for each in options]
    assert numbers[0] == numbers[1] > 10


def test_the_decoders_run_in_turn() -> None:
    ran: list[str] = []
    decoders._medians([lambda: ran.append("a"), lambda: ran.append("b")], 2)
    assert ran == ["a", "b"] * 3
