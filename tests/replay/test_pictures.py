"""Pictures of a replay: what is taken when, and where it goes."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dp2emu.capture.records import (
    ContextCreated,
    ContextDestroyed,
    FrameMarker,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format
from dp2emu.errors import UsageError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.replay import Frames, Pictures, RawFrames
from tests.replay.authoring import (
    BUFFER,
    CONTEXT,
    END,
    EVENT,
    SETTING,
    TARGET,
    Calls,
    called,
    clear,
    create,
    issue,
    token,
    with_timing,
)
from tests.replay.running import Run


def test_picture_shows_the_marked_surface(tmp_path: Path) -> None:
    run = Run(
        *SETTING, called(clear(0xFF102030)), FrameMarker(0, TARGET), pictures=Pictures(tmp_path)
    )
    (row,) = run.pictures
    assert (row["call"], row["surface"], row["file"]) == (0, TARGET, "call000000_surface2.png")
    assert (row["width"], row["height"], row["format"]) == (8, 4, "D3DFMT_X8R8G8B8")
    words = np.full(32, 0xFF102030, "<u4")
    assert row["crc32"] == f"{zlib.crc32(words.tobytes()):08x}"
    image = np.asarray(Image.open(tmp_path / row["file"]))
    assert (image == [0x10, 0x20, 0x30]).all() and image.shape == (4, 8, 3)


def test_marker_without_surface_shows_the_current_target(tmp_path: Path) -> None:
    run = Run(*SETTING, called(clear(1)), FrameMarker(0), pictures=Pictures(tmp_path))
    assert [row["surface"] for row in run.pictures] == [TARGET]


def test_pictures_are_taken_at_the_end_and_when_a_context_goes(tmp_path: Path) -> None:
    end = Run(*SETTING, called(clear(1)), pictures=Pictures(tmp_path))
    gone = Run(*SETTING, called(clear(1)), ContextDestroyed(CONTEXT), pictures=Pictures(tmp_path))
    assert end.pictures == gone.pictures and len(end.pictures) == 1


def test_picture_shows_what_was_drawn_by_then_however_late_it_runs(tmp_path: Path) -> None:
    records = [
        *SETTING, called(clear(1)), FrameMarker(0), called(clear(2)), FrameMarker(1),
    ]  # fmt: skip
    soon = Run(*records, pictures=Pictures(tmp_path / "a"))
    late = Run(*with_timing("fixed:call=1,packet=500", records), pictures=Pictures(tmp_path / "b"))
    assert soon.pictures == late.pictures
    assert len({row["crc32"] for row in soon.pictures}) == 2


def test_pictures_do_not_steer_time(tmp_path: Path) -> None:
    records = with_timing(
        "seeded:3",
        [*SETTING, called(clear(1), create(1, EVENT), issue(1, END)), FrameMarker(0), called()],
    )
    assert Run(*records).calls == Run(*records, pictures=Pictures(tmp_path)).calls


def test_surface_that_cannot_be_pictured_is_told(tmp_path: Path) -> None:
    run = Run(
        *SETTING, called(), FrameMarker(0, BUFFER), FrameMarker(1, 99), pictures=Pictures(tmp_path)
    )
    assert [type(fault).__name__ for fault in run.faults] == ["Unsupported", "Fault"]
    assert [row["surface"] for row in run.pictures] == [TARGET]


def test_pictures_need_a_rig_that_can_be_observed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Calls"):
        Run(*SETTING, called(), rig=Calls(), pictures=Pictures(tmp_path))


OTHER, SECOND, DEPTH = 7, 8, 9


def surface(handle: int, format: Format, width: int = 8) -> SurfaceCreated:
    return SurfaceCreated(SurfaceDesc(handle, SurfaceKind.SURFACE, width, 4, format=format))


TARGETS: tuple[Record, ...] = (
    *SETTING,
    surface(SECOND, Format.A8R8G8B8),
    surface(DEPTH, Format.D24S8),
    called(token(Op.SETRENDERTARGET2, (2, SECOND)), token(Op.SETDEPTHSTENCIL, (DEPTH,))),
)
"""A context with two colour targets and a depth surface."""


def frames(count: int) -> list[Record]:
    """Frames of one call each, of different colours."""
    pairs = [(called(clear(number)), FrameMarker(100 + number)) for number in range(count)]
    return [record for pair in pairs for record in pair]


def mode_of(path: Path) -> str:
    """What channels Pillow finds in a file."""
    with Image.open(path) as image:
        return image.mode


def where(run: Run) -> list[tuple[int, int]]:
    return [(row["frame"], row["call"]) for row in run.pictures]


def test_frames_count_from_zero_whatever_their_markers_say(tmp_path: Path) -> None:
    run = Run(*SETTING, *frames(3), pictures=Pictures(tmp_path))
    assert where(run) == [(0, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [(Frames(1, 2), [1, 2]), (Frames(0, 0), [0]), (Frames(3), [3, 4]), (Frames(4), [4])],
)
def test_only_frames_that_are_wanted_have_pictures(
    tmp_path: Path, wanted: Frames, found: list[int]
) -> None:
    """What comes behind the last marker is a frame too."""
    pictures = Pictures(tmp_path, frames=wanted)
    run = Run(*SETTING, *frames(4), called(clear(9)), pictures=pictures)
    assert [frame for frame, _ in where(run)] == found
    assert run.tally.frames == 4


def test_the_end_behind_a_marker_is_no_frame_of_its_own(tmp_path: Path) -> None:
    out = io.BytesIO()
    run = Run(*SETTING, *frames(2), pictures=Pictures(tmp_path, raw=RawFrames(out)))
    assert where(run) == [(0, 0), (1, 1)]
    assert len(out.getvalue()) == 2 * 8 * 4 * 3


def test_all_targets_of_a_frame_are_colors_depth_and_stencil(tmp_path: Path) -> None:
    run = Run(*TARGETS, FrameMarker(0), pictures=Pictures(tmp_path, all_targets=True))
    assert [(row["surface"], row["shows"], row["file"]) for row in run.pictures] == [
        (TARGET, "color", "call000000_surface2.png"),
        (SECOND, "color", "call000000_surface8.png"),
        (DEPTH, "depth", "call000000_surface9_depth.png"),
        (DEPTH, "stencil", "call000000_surface9_stencil.png"),
    ]
    modes = [mode_of(tmp_path / row["file"]) for row in run.pictures]
    assert modes == ["RGB", "RGBA", "I;16", "L"]


def test_what_was_a_target_during_the_frame_counts_and_no_earlier(tmp_path: Path) -> None:
    unbound = called(token(Op.SETRENDERTARGET2, (2, 0)), token(Op.SETDEPTHSTENCIL, (0,)))
    records = [*TARGETS, unbound, FrameMarker(0), called(), FrameMarker(1)]
    run = Run(*records, pictures=Pictures(tmp_path, all_targets=True))
    shown = [(row["frame"], row["surface"], row["shows"]) for row in run.pictures]
    assert shown == [
        (0, TARGET, "color"), (0, SECOND, "color"), (0, DEPTH, "depth"), (0, DEPTH, "stencil"),
        (1, TARGET, "color"),
    ]  # fmt: skip
    run = Run(*records, pictures=Pictures(tmp_path, frames=Frames(1), all_targets=True))
    assert [row["surface"] for row in run.pictures] == [TARGET]


def test_a_stencil_buffer_without_depth_has_one_picture(tmp_path: Path) -> None:
    records = [
        *SETTING, surface(DEPTH, Format.S8_LOCKABLE),
        called(token(Op.SETDEPTHSTENCIL, (DEPTH,))), FrameMarker(0),
    ]  # fmt: skip
    run = Run(*records, pictures=Pictures(tmp_path, all_targets=True))
    assert [row["shows"] for row in run.pictures] == ["color", "stencil"]


def test_depth_without_stencil_has_one_picture(tmp_path: Path) -> None:
    records = [
        *SETTING, surface(DEPTH, Format.D16), called(token(Op.SETDEPTHSTENCIL, (DEPTH,))),
    ]  # fmt: skip
    run = Run(*records, FrameMarker(0), pictures=Pictures(tmp_path, all_targets=True))
    assert [row["shows"] for row in run.pictures] == ["color", "depth"]


def test_the_surface_shown_comes_before_the_targets(tmp_path: Path) -> None:
    records = [*TARGETS, FrameMarker(0, SECOND)]
    run = Run(*records, pictures=Pictures(tmp_path, all_targets=True))
    assert [row["surface"] for row in run.pictures] == [SECOND, TARGET, DEPTH, DEPTH]
    run = Run(*records, pictures=Pictures(tmp_path))
    assert [row["surface"] for row in run.pictures] == [SECOND, TARGET]  # the target at the end


def test_contexts_that_a_frame_did_not_use_are_not_in_it(tmp_path: Path) -> None:
    records = [
        *SETTING, surface(OTHER, Format.R5G6B5), ContextCreated(5, 9, OTHER),
        called(clear(1), context=5), FrameMarker(0), called(clear(2)), FrameMarker(1),
    ]  # fmt: skip
    run = Run(*records, pictures=Pictures(tmp_path, frames=Frames(0, 0), all_targets=True))
    assert [row["surface"] for row in run.pictures] == [OTHER]


def test_calls_of_contexts_that_do_not_exist_change_nothing(tmp_path: Path) -> None:
    lost = called(clear(2), context=77)
    run = Run(*TARGETS, lost, FrameMarker(0), pictures=Pictures(tmp_path, all_targets=True))
    assert [row["surface"] for row in run.pictures] == [TARGET, SECOND, DEPTH, DEPTH]
    assert len(run.faults) == 1


def test_a_frame_that_ends_behind_its_context_shows_nothing_more(tmp_path: Path) -> None:
    gone = ContextDestroyed(CONTEXT)
    run = Run(*SETTING, called(clear(1)), gone, FrameMarker(0), pictures=Pictures(tmp_path))
    assert (run.faults, len(run.pictures)) == ([], 1)


def test_a_target_that_is_bound_and_gone_has_no_picture(tmp_path: Path) -> None:
    run = Run(*TARGETS, SurfaceDestroyed(SECOND), pictures=Pictures(tmp_path, all_targets=True))
    assert run.faults == []
    assert [row["surface"] for row in run.pictures] == [TARGET, DEPTH, DEPTH]


def test_one_picture_that_fails_leaves_the_others(tmp_path: Path) -> None:
    run = Run(*TARGETS, FrameMarker(0, BUFFER), pictures=Pictures(tmp_path, all_targets=True))
    assert len(run.faults) == 1 and len(run.pictures) == 4


def raw_of(*records: Record, **more: Any) -> tuple[RawFrames, bytes]:
    out = io.BytesIO()
    raw = RawFrames(out)
    Run(*records, pictures=Pictures(raw=raw, **more))
    return raw, out.getvalue()


def test_raw_has_each_frame_once_whatever_else_is_taken(tmp_path: Path) -> None:
    records = [*SETTING, *frames(2), FrameMarker(7), called(clear(0x102030))]
    raw, data = raw_of(*records, folder=tmp_path, all_targets=True)
    assert (raw.width, raw.height, raw.frames) == (8, 4, 4)
    colors = np.frombuffer(data, np.uint8).reshape(4, 32, 3)[:, 0]
    assert colors.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 1], [0x10, 0x20, 0x30]]


def test_the_last_frame_may_lack_its_marker_and_its_context() -> None:
    with_context = raw_of(*SETTING, called(clear(5)))[1]
    without = raw_of(*SETTING, called(clear(5)), ContextDestroyed(CONTEXT))[1]
    marked = raw_of(*SETTING, called(clear(5)), ContextDestroyed(CONTEXT), FrameMarker(0, TARGET))[
        1
    ]
    assert with_context == without == marked == bytes((0, 0, 5)) * 32


def test_raw_leaves_out_frames_that_are_not_wanted() -> None:
    raw, data = raw_of(*SETTING, *frames(5), called(clear(9)), frames=Frames(1, 2))
    assert raw.frames == 2 and data[2] == 1 and data[-1] == 2


@pytest.mark.parametrize("first", [5, 9])
def test_frames_beyond_the_end_are_refused(tmp_path: Path, first: int) -> None:
    pictures = Pictures(tmp_path, frames=Frames(first))
    with pytest.raises(UsageError, match="there are 5, frames 0 to 4"):
        Run(*SETTING, *frames(4), called(clear(9)), pictures=pictures)


def test_without_a_folder_pictures_count_and_have_no_rows(tmp_path: Path) -> None:
    run = Run(*SETTING, *frames(2), pictures=Pictures(sheet=tmp_path / "new" / "sheet.png"))
    assert (run.tally.pictures, run.pictures) == (2, [])
    assert mode_of(tmp_path / "new" / "sheet.png") == "RGB"


def test_a_sheet_of_nothing_is_not_written(tmp_path: Path) -> None:
    Run(*SETTING, pictures=Pictures(sheet=tmp_path / "sheet.png"))
    assert list(tmp_path.iterdir()) == []
