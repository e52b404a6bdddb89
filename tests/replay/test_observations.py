"""What a program saw, in a capture that was imported: pictures and answers of GetData."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dp2emu.capture.records import (
    IMPORTED,
    Annotation,
    FrameMarker,
    Observed,
    Pictured,
    PictureKind,
    Record,
    SurfaceCreated,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.dp2.call import Answer
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.replay import Frames, Pictures
from dp2emu.replay.compare import TIMELESS
from tests.replay.authoring import (
    BUFFER,
    CONTEXT,
    END,
    EVENT,
    OCCLUSION,
    SETTING,
    TARGET,
    TIMESTAMP,
    Calls,
    called,
    clear,
    create,
    delete,
    issue,
    response_of,
)
from tests.replay.running import Run

START: tuple[Record, ...] = (Annotation(IMPORTED, "game.trace"), *SETTING)
YES, NONE = struct.pack("<I", 1), struct.pack("<I", 0)
ASKED = called(create(7, EVENT), issue(7, END), create(8, OCCLUSION), issue(8, END))


def present(call: int, **more: Any) -> Pictured:
    return Pictured(call, PictureKind.PRESENT, TARGET, **more)


def got(call: int, query: int, data: bytes, hr: int = 0) -> Observed:
    return Observed(call, CONTEXT, query, hr, data)


def test_picture_is_named_and_listed_by_the_programs_call(tmp_path: Path) -> None:
    run = Run(*START, called(clear(0x80102030)), present(4711), pictures=Pictures(tmp_path))
    (row,) = run.pictures
    assert (row["call"], row["file"], row["frame"]) == (4711, "call_00004711.png", 0)
    assert (row["width"], row["height"], row["format"]) == (8, 4, "D3DFMT_X8R8G8B8")
    assert (row["how"], row["surface"], row["level"]) == ("present", TARGET, 0)
    words = np.full(32, 0xFF102030, "<u4")
    assert row["crc32"] == f"{zlib.crc32(words.tobytes()):08x}"
    image = np.asarray(Image.open(tmp_path / row["file"]))
    assert (image == [0x10, 0x20, 0x30, 0xFF]).all() and image.shape == (4, 8, 4)
    assert run.tally.pictures == 1


def test_only_told_pictures_are_taken_of_an_import(tmp_path: Path) -> None:
    records = [called(clear(1)), present(5), FrameMarker(0, TARGET), called(clear(2))]
    imported = Run(*START, *records, pictures=Pictures(tmp_path / "a"))
    assert [row["file"] for row in imported.pictures] == ["call_00000005.png"]
    driver = Run(*SETTING, *records, pictures=Pictures(tmp_path / "b"))
    assert [row["file"] for row in driver.pictures] == [
        "call_00000005.png", "call000000_surface2.png", "call000001_surface2.png",
    ]  # fmt: skip


def test_told_pictures_follow_the_frames_wanted(tmp_path: Path) -> None:
    frames = [r for n in range(4) for r in (called(clear(n)), present(10 + n), FrameMarker(n))]
    run = Run(*START, *frames, pictures=Pictures(tmp_path, frames=Frames(1, 2)))
    assert [(row["frame"], row["call"]) for row in run.pictures] == [(1, 11), (2, 12)]


def test_picture_shows_what_was_drawn_by_then_however_late_it_runs(tmp_path: Path) -> None:
    records = [*START, called(clear(1)), present(3), called(clear(2)), present(9)]
    soon = Run(*records, pictures=Pictures(tmp_path / "a"))
    timing = parse_timing("fixed:call=1,packet=500")
    late = Run(*records, pictures=Pictures(tmp_path / "b"), timing=timing)
    assert soon.pictures == late.pictures
    assert len({row["crc32"] for row in soon.pictures}) == 2


def test_picture_of_a_level_is_told_by_its_number(tmp_path: Path) -> None:
    texture = SurfaceDesc(9, SurfaceKind.TEXTURE, 4, 4, format=Format.A8R8G8B8, levels=2)
    read = Pictured(3, PictureKind.LOCK, 9, 1)
    run = Run(*START, SurfaceCreated(texture), read, pictures=Pictures(tmp_path))
    (row,) = run.pictures
    assert (row["width"], row["height"], row["level"], row["how"]) == (2, 2, 1, "lock")


@pytest.mark.parametrize("handle, index", [(99, 0), (BUFFER, 0), (TARGET, 1)])
def test_picture_that_cannot_be_taken_is_told(handle: int, index: int, tmp_path: Path) -> None:
    run = Run(*START, Pictured(3, PictureKind.LOCK, handle, index), pictures=Pictures(tmp_path))
    assert len(run.faults) == 1 and run.pictures == []


@pytest.mark.parametrize("data", [b"", b"rows"])
@pytest.mark.parametrize("handle, index", [(99, 0), (BUFFER, 0), (TARGET, 1)])
def test_what_cannot_be_read_is_told_at_once_however_late_the_gpu_is(
    data: bytes, handle: int, index: int, tmp_path: Path
) -> None:
    seen = Pictured(3, PictureKind.LOCK, handle, index, data)
    timing = parse_timing("fixed:call=1,packet=500")
    pictures = None if data else Pictures(tmp_path)
    run = Run(*START, called(clear(1)), seen, called(), timing=timing, pictures=pictures)
    (fault,) = run.faults
    assert fault.what.startswith("before call 1: ")
    assert all(call["fault"] is None for call in run.calls)


def test_pixels_the_program_read_are_compared() -> None:
    words = np.full((4, 8), 0xFF000001, "<u4")
    same = Run(*START, called(clear(1)), present(3, data=words.tobytes()))
    assert (same.tally.observed, same.tally.observed_different, same.differences) == (1, 0, [])
    words[2, 5] = 0xFF000002
    other = Run(*START, FrameMarker(0), called(clear(1)), present(3, data=words.tobytes()))
    assert [str(found) for found in other.differences] == [
        "frame 1, @3: pixel 5, 2 of surface 2: recorded 02 00 00 ff, replayed 01 00 00 ff"
    ]
    assert other.tally.observed_different == 1


@pytest.mark.parametrize("size", [0, 127, 132])
def test_rows_of_another_size_differ_behind_the_last_common_pixel(size: int) -> None:
    data = np.full(40, 0xFF000000, "<u4").tobytes()[:size]
    run = Run(*START, called(clear(0)), present(3, data=data or b"\xff"))
    (found,) = run.differences
    x, y = {0: (0, 0), 127: (7, 3), 132: (0, 4)}[size]
    assert found.field == f"pixel {x}, {y} of surface 2"


def test_answers_are_listed_with_the_programs_calls() -> None:
    run = Run(*START, ASKED, called(), got(20, 7, YES), FrameMarker(0), got(25, 8, NONE))
    assert [(row["call"], row["query"], row["hr"], row["value"]) for row in run.queries] == [
        (20, 7, "0x00000000", True),
        (25, 8, "0x00000000", 0),
    ]
    assert [row["frame"] for row in run.queries] == [0, 1]
    assert run.queries[0]["recorded"] == {"hr": "0x00000000", "bytes": "01000000", "same": True}
    assert (run.tally.observed, run.tally.observed_different) == (2, 0)
    assert (run.tally.issued, run.tally.answered) == (2, 2)


def test_an_answer_that_differs_is_told_with_frame_call_and_query() -> None:
    five = struct.pack("<I", 5)
    run = Run(*START, ASKED, FrameMarker(0), called(), got(25, 8, five))
    (found,) = run.differences
    what = "query 8 (D3DQUERYTYPE_OCCLUSION): recorded 5, replayed 0"
    assert str(found) == f"frame 1, @25: {what}"
    assert run.queries[0]["recorded"]["same"] is False


def test_a_program_that_was_told_to_wait_is_not_compared() -> None:
    run = Run(*START, ASKED, got(20, 8, b"", hr=1), called(), got(21, 8, NONE))
    assert [row["recorded"]["hr"] for row in run.queries] == ["0x00000001", "0x00000000"]
    assert (run.tally.observed, run.differences) == (1, [])


def test_a_recorded_answer_waits_for_the_replayed_one() -> None:
    timing = parse_timing("fixed:call=1,packet=1000,delivery=5000")
    run = Run(*START, ASKED, got(20, 7, YES), got(21, 8, NONE), timing=timing)
    assert [row["value"] for row in run.queries] == [True, 0]
    assert run.differences == []
    assert len(run.calls) == 1


def test_a_wait_ends_although_the_driver_never_answers() -> None:
    run = Run(*START, ASKED, got(20, 7, YES), rig=Calls())
    (found,) = run.differences
    assert (found.recorded, found.replayed) == ("D3D_OK", "S_FALSE")
    assert run.queries[0]["hr"] == "0x00000001" and run.queries[0]["value"] is None


def test_a_wait_goes_on_while_answers_come() -> None:
    def answer(response: bytes) -> Answer:
        return Answer(0, len(response), 0, response)

    more = struct.pack("<BBHI", Op.RESPONSECONTINUE, 0, 0, 8)
    rig = Calls(answer(b""), answer(response_of((8, NONE)) + more), answer(response_of((7, YES))))
    run = Run(*START, ASKED, got(20, 7, YES), rig=rig)
    assert run.differences == [] and len(rig.calls) == 3
    assert all(call.commands == b"" and call.lpDDCommands == BUFFER for call in rig.calls[1:])


def test_as_much_is_compared_as_the_program_asked_for() -> None:
    short = struct.pack("<H", 9)
    run = Run(*START, ASKED, called(), got(1, 8, b""), got(2, 8, NONE + b"\7"), got(3, 8, short))
    (found,) = run.differences
    assert (found.call, found.recorded, found.replayed) == (3, "09 00", "00 00")


def test_a_query_that_was_never_issued_is_answered_by_the_runtime() -> None:
    run = Run(*START, called(create(8, OCCLUSION)), got(1, 8, b"\xdd" * 4))
    assert run.queries[0]["value"] == 0xDDDDDDDD and run.differences == []


def test_an_answer_counts_until_the_next_end() -> None:
    run = Run(*START, ASKED, called(), got(1, 8, NONE), called(issue(8, END)), got(2, 8, NONE))
    assert run.differences == []
    gone = Run(*START, ASKED, called(delete(8)), got(1, 8, NONE))
    assert gone.queries[0]["type"] is None and gone.tally.observed == 0


@pytest.mark.parametrize("kind", [TIMESTAMP, 11, 12, 4, 5, 13, 18])
def test_types_that_tell_of_time_or_machine_are_not_compared(kind: int) -> None:
    assert QueryType(kind) not in TIMELESS
    asked = called(create(3, kind), issue(3, END))
    run = Run(*START, asked, called(), got(1, 3, b"\x55" * 8))
    assert run.differences == [] and run.tally.observed == 0
    assert run.queries[0]["recorded"]["same"] is True


def test_an_observation_of_an_unknown_context_is_a_fault() -> None:
    run = Run(*START, Observed(1, 99, 1, 0, b""))
    assert "context 99" in str(run.faults[0])
