"""The captures with mistakes are made again byte for byte, and differ as their names say."""

from __future__ import annotations

import pytest

from dp2emu.explain.playback import events_of
from tests.explain.opening import opened
from tests.tools.loading import ROOT, load_tool

MISTAKES = ROOT / "streams" / "mistakes"
tool = load_tool("mistaken_streams")


@pytest.mark.parametrize("name", tool.STREETS)
def test_a_capture_is_made_again_byte_for_byte(name: str) -> None:
    assert tool.make(name) == (MISTAKES / f"{name}.dp2").read_bytes()


def test_there_are_no_other_captures() -> None:
    assert sorted(path.stem for path in MISTAKES.glob("*")) == sorted(tool.STREETS)


def test_a_mistaken_query_ends_before_what_it_counts() -> None:
    found = {}
    for name in ("street", "street_query"):
        with opened(MISTAKES / f"{name}.dp2") as capture:
            found[name] = [each.kind.value for each in events_of(capture)][4:7]
    assert found["street"] == ["query_begin", "draw", "query_end"]
    assert found["street_query"] == ["query_begin", "query_end", "draw"]
