"""The example captures: made again byte for byte, and showing what they say they show."""

from __future__ import annotations

import io
import json
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dp2emu.capture import open_capture
from dp2emu.capture.records import Called, FrameMarker
from dp2emu.d3d.enums import RenderState
from dp2emu.dp2.driver import Driver
from dp2emu.replay import Pictures, Tally, replay
from tests.cli.running import dp2emu
from tests.tools.loading import ROOT, load_tool

STREAMS = ROOT / "streams"
make_streams = load_tool("make_streams")
NAMES = list(make_streams.STREAMS)
EVENT, OCCLUSION = 8, 9


def replayed(name: str, pictures: Pictures | None = None) -> tuple[Tally, dict[str, Any]]:
    """The tally and document of a stream's replay."""
    text = io.StringIO()
    with open_capture(STREAMS / f"{name}.dp2") as capture:
        tally = replay(capture, document=text, pictures=pictures)
    return tally, json.loads(text.getvalue())


def answers(name: str) -> list[tuple[int, int, Any]]:
    """(call, type, value) of each query row."""
    rows = replayed(name)[1]["queries"]
    return [(row["call"], row["type_raw"], row["value"]) for row in rows]


@pytest.mark.parametrize("name", NAMES)
def test_stream_is_made_again_byte_for_byte(name: str) -> None:
    assert make_streams.make(name) == (STREAMS / f"{name}.dp2").read_bytes()


def test_there_are_no_other_streams() -> None:
    assert sorted(path.stem for path in STREAMS.glob("*.dp2")) == sorted(NAMES)
    assert len(NAMES) >= 9


@pytest.mark.parametrize("name", NAMES)
def test_stream_is_small(name: str) -> None:
    assert (STREAMS / f"{name}.dp2").stat().st_size <= 8192


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_recorded_and_verified(name: str) -> None:
    ran = dp2emu("replay", STREAMS / f"{name}.dp2", "--verify")
    assert ran.code == (2 if name == "truncated_file" else 0)
    tally, _ = replayed(name)
    assert tally.different == 0
    assert tally.compared == tally.calls - (name == "truncated_file")


def test_list_of_streams_is_up_to_date() -> None:
    text = (STREAMS / "README.rst").read_text("utf-8")
    assert text == make_streams.with_listing(text)


def test_script_writes_streams_and_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.rst").write_text("Streams\n=======\n")
    monkeypatch.setattr("sys.argv", ["make_streams.py", str(tmp_path)])
    make_streams.main()
    assert {path.stem for path in tmp_path.glob("*.dp2")} == set(NAMES)
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == NAMES
    assert "first_light.dp2" in (tmp_path / "README.rst").read_text()


def test_first_light_shows_the_picture_of_the_readme(tmp_path: Path) -> None:
    tally, document = replayed("first_light", Pictures(tmp_path))
    (picture,) = document["pictures"]
    assert (tally.answered, tally.issued) == (2, 2)
    with (
        Image.open(ROOT / "docs" / "first_light.png") as shown,
        Image.open(tmp_path / picture["file"]) as taken,
    ):
        assert (shown.mode, shown.size) == (taken.mode, taken.size) == ("RGB", (320, 240))
        assert shown.tobytes() == taken.tobytes()


def test_depth_order_decides_what_occlusion_queries_see() -> None:
    seen = {
        name: [value for _, _, value in answers(f"occlusion_{name}_first")]
        for name in ("near", "far", "middle")
    }
    near, middle, far = 32 * 32, 32 * 24, 44 * 24
    assert seen["far"] == [far, middle, near]
    assert seen["near"][0] == near and seen["near"][1] < middle and seen["near"][2] < far
    assert seen["middle"][:2] == [middle, near]
    assert seen["middle"][2] == seen["near"][2]


def test_depth_order_does_not_change_the_picture(tmp_path: Path) -> None:
    crcs = {
        replayed(f"occlusion_{name}_first", Pictures(tmp_path / name))[1]["pictures"][0]["crc32"]
        for name in ("near", "far", "middle")
    }
    assert len(crcs) == 1


def test_event_overtakes_the_occlusion_query_issued_before_it() -> None:
    (first, kind, _), (second, other, pixels) = answers("event_overtakes_occlusion")
    assert (kind, other, pixels) == (EVENT, OCCLUSION, 32 * 32)
    assert first < second


def test_event_takes_its_time() -> None:
    ((call, _, value),) = answers("event_latency")
    assert call > 5 and value is True


def test_answers_that_do_not_fit_are_continued_and_none_is_lost() -> None:
    calls = replayed("response_continue")[1]["calls"]
    filled = [call for call in calls if call["responses"]]
    assert [len(call["responses"]) for call in filled] == [4, 4, 2]
    assert [call["more"] for call in filled] == [True, True, False]
    queries = [each["query"] for call in filled for each in call["responses"]]
    assert queries == list(range(1, 11))


def test_overlapping_queries_count_each_for_itself() -> None:
    rows = replayed("overlapping_queries")[1]["queries"]
    counts = {row["query"]: row["value"] for row in rows}
    far, middle, near = 44 * 24, 32 * 24, 32 * 32
    assert counts == {1: far + middle + near, 2: far + middle, 3: middle + near}


def test_patches_cover_what_their_outlines_cover() -> None:
    rows = replayed("patches")[1]["queries"]
    rectangle = 24 * 16
    # Centres of pixels right of and below a corner, inside the third side and not on it: 15 in the
    # first row, 14 in the next and so on; of the N-patch, whose corners are on pixels, 12.
    triangle, curved = 15 * 16 // 2, 12 * 13 // 2
    counts = {row["query"]: row["value"] for row in rows}
    assert counts == {1: rectangle, 2: triangle, 3: rectangle, 4: curved}


def test_bad_token_fails_its_call_and_loses_no_answer() -> None:
    tally, document = replayed("bad_token")
    bad = document["calls"][1]
    assert (bad["ddrval_name"], bad["dwErrorOffset"]) == ("D3DERR_COMMAND_UNPARSED", 12)
    assert bad["responses"] == [] and bad["recorded"]["same"] is True
    assert [row["call"] for row in document["queries"]] == [2]
    assert tally.known_faults == 1


def test_truncated_file_replays_up_to_the_cut() -> None:
    tally, _ = replayed("truncated_file")
    assert tally.calls == 6
    assert "call 5 is the last whole one" in str(tally.damage)


def test_execute_buffer_mirrors_render_states() -> None:
    driver = Driver()
    with open_capture(STREAMS / "execute_buffer.dp2") as capture:
        (call,) = (record.call for record in capture.records() if isinstance(record, Called))
        replay(capture, rig=driver)
    states = driver.read(call.lpdwRStates, 0, 1024)
    assert states[4 * RenderState.SHADEMODE] == 2


def test_state_blocks_let_through_what_they_hold() -> None:
    driver = Driver()
    with open_capture(STREAMS / "state_blocks.dp2") as capture:
        (target,) = (r.surface for r in capture.records() if isinstance(r, FrameMarker))
        replay(capture, rig=driver)
    row = struct.unpack("<64I", driver.read(target, 4 * 64 * 8, 4 * 64))
    middles = [row[16 * number + 8] & 0xFFFFFF for number in range(4)]
    assert middles == [0xFFFFFF, 0xFF0000, 0x00FF00, 0xFFFFFF]


def test_buffers_of_a_chain_come_back_after_three_flips() -> None:
    driver = Driver()
    with open_capture(STREAMS / "flip_chain.dp2") as capture:
        records = list(capture.records())
        replay(capture, rig=driver)
    front = next(r.surface for r in records if isinstance(r, FrameMarker))
    first, second = (make_streams.hue(frame / 6) & 0xFFFFFF for frame in (2, 5))
    row = struct.unpack("<32I", driver.read(front, 4 * 32, 4 * 32))
    assert [word & 0xFFFFFF for word in row] == [first] * 8 + [second] * 8 + [0] * 16
    assert driver.read(front, 0, 32) == b"\xff" * 32


def test_states_of_directx_6_show_in_the_picture() -> None:
    driver = Driver()
    with open_capture(STREAMS / "early_states.dp2") as capture:
        target = next(r.surface for r in capture.records() if isinstance(r, FrameMarker))
        replay(capture, rig=driver)
    words = struct.unpack(f"<{128 * 96}I", driver.read(target, 0, 4 * 128 * 96))
    rows = [[word & 0xFFFFFF for word in words[128 * y : 128 * y + 128]] for y in range(96)]
    for start, linear in ((0, False), (64, True)):
        for y in range(40):
            near = Fraction(2 * y + 1, 80)
            behind = 1 - near if linear else (1 - near) / 4 / ((1 - near) / 4 + near)
            edge = next(word for word in rows[4 + y][start:] if word != rows[0][0])
            assert edge == (0xFFFF00 if int(8 * behind) & 1 else 0x0000FF)
    assert rows[70][30] == ~rows[70][5] & 0xFFFFFF
    drawn = [x for x in range(74, 118) if rows[64][x] == 0xFFFFFF]
    assert drawn == [x for x in range(74, 118) if 0x0F0F0F0F >> 31 - x % 32 & 1]
