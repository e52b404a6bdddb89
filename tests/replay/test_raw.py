"""Frames as raw bytes."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from dp2emu.d3d.enums import Format
from dp2emu.picture import Picture
from dp2emu.replay.pictures import RawFrames


def picture(height: int, width: int, channels: int = 3, fill: int = 0) -> Picture:
    numbers: Any = np.arange(height * width * channels) + 1 if fill == 0 else fill
    image = np.broadcast_to(np.asarray(numbers, np.uint8).reshape(-1, channels) if fill == 0
                            else np.uint8(fill), (height * width, channels))  # fmt: skip
    return Picture(Format.X8R8G8B8, 0, image.reshape(height, width, channels))


def written(*pictures: Picture) -> bytes:
    out = io.BytesIO()
    raw = RawFrames(out)
    for one in pictures:
        raw.write(one)
    return out.getvalue()


def test_rows_follow_each_other_from_the_top() -> None:
    assert written(picture(2, 2)) == bytes(range(1, 13))


def test_alpha_is_left_out() -> None:
    assert written(picture(1, 2, 4)) == bytes((1, 2, 3, 5, 6, 7))


def test_frames_of_other_sizes_are_cut_and_filled_up() -> None:
    data = written(picture(2, 2, fill=9), picture(1, 3, fill=7), picture(3, 1, fill=5))
    assert data[12:24] == bytes((7,) * 6 + (0,) * 6)
    assert data[24:] == bytes(((5,) * 3 + (0,) * 3) * 2)


def test_what_is_held_counts_only_if_nothing_follows() -> None:
    out = io.BytesIO()
    raw = RawFrames(out)
    raw.hold(picture(1, 1, fill=1))
    raw.write(picture(1, 1, fill=2))
    raw.hold(picture(1, 1, fill=3))
    raw.close(unfinished=False)
    assert (out.getvalue(), raw.frames) == (b"\2\2\2", 1)
    raw.close(unfinished=True)
    assert (out.getvalue(), raw.frames) == (b"\2\2\2\3\3\3", 2)
