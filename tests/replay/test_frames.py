"""Ranges of frames as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.records import EntryCalled, FrameMarker, Record
from dp2emu.errors import UsageError
from dp2emu.replay.frames import EVERY, FrameCount, Frames, parse_frames


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("3", 3, 3), ("3-7", 3, 7), ("3-", 3, None), ("-7", 0, 7), ("0-0", 0, 0)],
)
def test_every_way_to_write_a_range(text: str, first: int, last: int | None) -> None:
    assert parse_frames(text) == Frames(first, last)


@pytest.mark.parametrize("text", ["", "-", "7-3", "a", "1-2-3", " 1", "1,2", "1" * 10, "\u0663"])
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="frames"):
        parse_frames(text)


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_both_ends_belong_to_a_range(first: int, last: int, frame: int) -> None:
    assert (frame in Frames(first, last)) == (frame in range(first, last + 1))
    assert (frame in Frames(first)) == (frame >= first)
    assert frame in EVERY


@pytest.mark.parametrize("frames", [0, 1, 3])
def test_calls_of_direct3d_11_behind_the_last_marker_are_a_frame(frames: int) -> None:
    count, flush = FrameCount(), EntryCalled(1, 110, "Flush")
    shown: list[Record] = [flush, FrameMarker(0)] * frames
    assert list(count.counted(shown)) == shown and count.there == frames
    assert list(count.counted([flush])) == [flush] and count.there == frames + 1
