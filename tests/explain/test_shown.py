"""What presents show: the surface and the values of the pictures that a replay writes."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from dp2emu.capture.records import Flipped, FrameMarker, SurfaceCreated, SurfaceDestroyed
from dp2emu.ddi10.dxgi import PresentArguments
from dp2emu.diff.images import Pixels, read_image
from dp2emu.explain import Pixel, events_of, history_of, parse_address
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.playback import Observer, Stage, play
from dp2emu.gpu.command.packets import Packet
from dp2emu.replay import Pictures, replay
from tests.explain.opening import FOLDER, REAL, opened
from tests.replay.authoring import SETTING, TARGET, called, capture_of, clear, with_timing
from tests.replay.test_resources import Program, back_buffer

WINDOWED = "d3d7_tri"
"""A program that shows a part of a larger surface."""
SHOWING = [
    *(path for path in REAL if path.stem != WINDOWED),
    *(FOLDER / f"{name}.dp2" for name in ("first_light", "host_race", "moves", "glyphs")),
]


SHOWS = ("present", "back_buffer")
"""Pictures of what a program shows; a replay also writes what it reads."""


def pictures(path: Path, folder: Path) -> dict[int, Pixels]:
    """The pictures that a replay writes of the surfaces that are shown, by frame."""
    document = io.StringIO()
    with opened(path) as capture:
        tally = replay(capture, pictures=Pictures(folder=folder), document=document)
    rows = [
        row
        for row in json.loads(document.getvalue())["pictures"]
        # A stream has a picture of a target at its end, too.
        if row["frame"] < tally.frames and row.get("how", "present") in SHOWS
    ]
    return {row["frame"]: read_image(folder / row["file"]) for row in rows}


def value_at(path: Path, x: int, y: int, at: str | None = None) -> list[float]:
    """The colour of a pixel of the surface that is shown, from 0 to 255."""
    address = None if at is None else parse_address(at)
    with opened(path) as capture:
        return [255 * float(each) for each in history_of(capture, Pixel(x, y, at=address)).value]


@pytest.mark.parametrize("path", SHOWING, ids=lambda path: path.stem)
def test_a_pixel_has_the_value_that_the_picture_of_the_frame_has(
    path: Path, tmp_path: Path
) -> None:
    found = pictures(path, tmp_path)
    first, last = min(found), max(found)
    for frame, at in ((first, f"frame {first}"), (last, None)):
        y, x = found[frame].shape[0] // 2, found[frame].shape[1] // 2
        assert value_at(path, x, y, at)[:3] == pytest.approx(found[frame][y, x, :3], abs=0.6)


def test_a_pixel_of_a_window_is_where_the_blit_puts_it(tmp_path: Path) -> None:
    path = next(path for path in REAL if path.stem == WINDOWED)
    (picture,) = pictures(path, tmp_path).values()
    with opened(path) as capture:
        history = history_of(capture, Pixel(102, 140))
    (blit,) = [each for each in history.entries if each.read is not None]
    assert blit.read is not None and blit.wrote is not None
    (left, top, *_), (x, y, *_) = blit.read, blit.wrote
    shown = picture[140 - y + top, 102 - x + left, :3]
    assert [255 * float(each) for each in history.value[:3]] == pytest.approx(shown)
    assert (history.width, history.height) == (1024, 768)


def test_a_late_gpu_flips_before_the_frame_is_shown() -> None:
    path = FOLDER / "flip_chain.dp2"
    assert value_at(path, 6, 4, "frame 0")[:3] == pytest.approx([255, 38, 38])


class _Kept(Observer):
    """What surfaces that are shown hold at their first byte.  Mutable."""

    def __init__(self) -> None:
        self.shown: list[tuple[tuple[int, ...], int]] = []

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        if event.kind is EventKind.PRESENT:
            (target,) = event.targets
            self.shown.append((event.targets, int(stage.surface(target).data[0])))


def test_a_present_is_behind_what_a_late_gpu_executes_for_it() -> None:
    with opened(FOLDER / "flip_chain.dp2") as capture:
        events = events_of(capture)
    assert all(one.frame <= other.frame for one, other in pairwise(events))
    assert all(one.time <= other.time for one, other in pairwise(events))
    ends = [other for one, other in pairwise(events) if one.frame != other.frame]
    assert {event.kind for event in events if event.frame == 0} >= {EventKind.FLIP}
    assert len(ends) == 6


def test_a_surface_that_is_destroyed_before_a_late_gpu_shows_it_is_shown() -> None:
    kept = _Kept()
    end = FrameMarker(0, TARGET), SurfaceDestroyed(TARGET)
    play(capture_of(*with_timing("fixed:packet=100", [*SETTING, called(clear(7)), *end])), [kept])
    assert kept.shown == [((TARGET,), 7)]


@pytest.mark.parametrize("imported", [False, True])
def test_a_present_of_direct3d_10_names_what_was_shown_before_buffers_rotate(
    imported: bool,
) -> None:
    program = Program(imported=imported)
    one, other = back_buffer(program), back_buffer(program)
    for call in range(2):
        if imported:
            program.shows(call, one)
        else:
            program.device.dxgi("Present", PresentArguments(one.memory, Flags=2))
        program.device.dxgi("RotateResourceIdentities", (one.memory, other.memory))
    shown = [each.targets for each in events_of(capture_of(*program.records))
             if each.kind is EventKind.PRESENT]  # fmt: skip
    assert len(set(shown)) == 2 and all(len(each) == 1 for each in shown)


def test_flips_behind_the_last_present_are_not_part_of_what_it_shows() -> None:
    back = SurfaceCreated(replace(SETTING[0].desc, handle=9))
    shown = called(clear(7)), FrameMarker(0, TARGET), Flipped(TARGET, 9)
    with_flip = history_of(capture_of(back, *SETTING, *shown), Pixel(1, 1))
    assert [entry.event.kind for entry in with_flip.entries] == ["clear", "present"]
    assert 255 * float(with_flip.value[2]) == pytest.approx(7)
    drawn = history_of(capture_of(back, *SETTING, *shown, called(clear(8))), Pixel(1, 1))
    assert [entry.event.kind for entry in drawn.entries] == ["clear", "present", "flip", "clear"]
