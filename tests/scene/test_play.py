"""Direct3D 9 scenes end to end: results, captures, problems and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture import open_capture
from dp2emu.capture.records import Annotation, Called, FrameMarker
from dp2emu.errors import Dp2Error, SceneError, Unsupported
from dp2emu.gpu.device.timing import Timing, fixed, seeded
from dp2emu.scene import play_scene
from tests.golden.comparing import HERE, PASS, read_json, verdict

from .making import BLACK, FVF, Play, document, rows, scene, strip

GOLDEN = HERE / "scenes"


@pytest.mark.parametrize("timing", [fixed(call=50, packet=700, delivery=900), seeded(3)])
def test_time_changes_no_count_and_no_pixel(timing: Timing, tmp_path: Path) -> None:
    for name in ("query/occ_overlap_random", "query/release_building", "depth/setds_null"):
        path = GOLDEN / f"{name}.json"
        assert play_scene(path, tmp_path, timing=timing).problems == ()
        assert verdict(read_json(path), tmp_path).kind == PASS


def test_the_same_scene_gives_the_same_bytes(tmp_path: Path) -> None:
    path = GOLDEN / "query" / "occ_states.json"
    first, second = (
        play_scene(path, tmp_path / side, capture=tmp_path / f"{side}.dp2") for side in "ab"
    )
    contents = [[file.read_bytes() for file in result.files] for result in (first, second)]
    assert contents[0] == contents[1]
    assert (tmp_path / "a.dp2").read_bytes() == (tmp_path / "b.dp2").read_bytes()


def test_small_command_buffers_mean_more_calls_and_the_same_files(tmp_path: Path) -> None:
    path = GOLDEN / "query" / "occ_states.json"
    calls, contents = [], []
    for size in (1 << 16, 80):
        saved = tmp_path / f"{size}.dp2"
        result = play_scene(path, tmp_path / "out", capture=saved, command_bytes=size)
        contents.append([file.read_bytes() for file in result.files])
        with open_capture(saved) as capture:
            found = [record for record in capture.records() if isinstance(record, Called)]
        assert all(record.call.dwCommandLength <= size for record in found)
        calls.append(len(found))
    assert calls[0] < calls[1]
    assert contents[0] == contents[1]


def test_a_command_larger_than_the_buffer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="bytes do not fit a command buffer of 64"):
        play_scene(GOLDEN / "light" / "directional.json", tmp_path, command_bytes=64)


def test_a_capture_holds_title_timing_calls_and_a_frame(tmp_path: Path) -> None:
    path = GOLDEN / "raster" / "vb_start_offset.json"
    play_scene(path, tmp_path, capture=tmp_path / "x.dp2")
    with open_capture(tmp_path / "x.dp2") as capture:
        records = list(capture.records())
        assert capture.damage is None
    remarks = {record.key: record.text for record in records if isinstance(record, Annotation)}
    assert remarks == {"title": "raster/vb_start_offset", "timing": "instant"}
    assert any(isinstance(record, Called) for record in records)
    assert isinstance(records[-1], FrameMarker)


def test_an_unsupported_command_is_a_problem_with_its_index(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise Unsupported("drawing")

    monkeypatch.setattr("dp2emu.dp2.resolve.pipeline.resolve", refuse)
    states = {"ALPHABLENDENABLE": 1}
    result = play(BLACK, {"op": "rs", "states": states}, FVF, strip(0, 0, 8, 6))
    (problem,) = result.problems
    assert problem.command == 3
    assert str(problem).startswith("command 3 (draw_up): call 0, offset ")
    assert str(problem).endswith("DRAWPRIMITIVE: drawing")
    assert result.files == ()
    assert list(tmp_path.iterdir()) == []


def test_a_device_that_cannot_be_made_is_a_problem(play: Play) -> None:
    (problem,) = play(multisample=3).problems
    assert "3 samples" in str(problem)
    (problem,) = play(format="D3DFMT_P8").problems
    assert "D3DFMT_P8" in str(problem)


def test_a_driver_fault_is_reported_at_the_command_that_caused_it(play: Play) -> None:
    result = play(
        BLACK, FVF, {"op": "stream", "stream": 0, "id": "v", "stride": 20},
        {"op": "draw", "prim": "TRIANGLELIST", "count": 1 << 24}, BLACK,
        resources=[{"type": "vb", "id": "v", "data": rows(0, 0, 8, 6)}],
    )  # fmt: skip
    (problem,) = result.problems
    assert (problem.command, result.files) == (3, ())
    assert "DRAWPRIMITIVE: 16777216 primitives" in str(problem)


def test_a_refused_call_is_noted_and_the_scene_goes_on(play: Play, tmp_path: Path) -> None:
    result = play({"op": "end"}, {"op": "end"}, BLACK, {"op": "begin"}, {"op": "begin"})
    assert result.problems == ()
    assert document(tmp_path)["failed_calls"] == [
        {"command": 1, "call": "end", "hr": "0x8876086c"},
        {"command": 4, "call": "begin", "hr": "0x8876086c"},
    ]


def test_an_error_carries_the_name_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(scene({"op": "nothing"})))
    with pytest.raises(SceneError) as caught:
        play_scene(path, tmp_path)
    assert str(caught.value).startswith(f"{path}: command 0")


def test_without_auto_readback_there_is_no_final_picture(tmp_path: Path) -> None:
    result = play_scene({**scene(BLACK), "auto_readback": False}, tmp_path)
    assert [file.name for file in result.files] == ["here.json"]


_words = st.sampled_from(
    [
        "op",
        "id",
        "states",
        "clear",
        "draw_up",
        "rs",
        "viewport",
        "x",
        "type",
        "query",
        "vb",
        "data",
    ]
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 70_000) | st.floats() | _words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_words, inner, max_size=4),
    max_leaves=12,
)


@given(commands=st.lists(_json, max_size=3), resources=st.lists(_json, max_size=2))
def test_random_json_gives_a_result_or_one_error(
    tmp_path_factory: pytest.TempPathFactory, commands: list[Any], resources: list[Any]
) -> None:
    out = tmp_path_factory.getbasetemp() / "nonsense"
    try:
        play_scene(scene(*commands, resources=resources), out)
    except Dp2Error as error:
        assert "\n" not in str(error)


@given(st.data())
def test_a_scene_with_a_changed_value_is_played_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = read_json(GOLDEN / "query" / "occ_states.json")
    command = data.draw(st.sampled_from(content["commands"]))
    key = data.draw(st.sampled_from(sorted(command)))
    command[key] = data.draw(_json)
    try:
        play_scene(content, tmp_path_factory.getbasetemp() / "changed")
    except Dp2Error as error:
        assert "\n" not in str(error)
