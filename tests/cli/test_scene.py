"""``dp2emu scene``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import dp2emu


def scene(folder: Path, name: str, *commands: dict[str, object]) -> Path:
    path = folder / f"{name}.json"
    document = {
        "schema": 1,
        "category": "test",
        "name": name,
        "description": "",
        "device": {"width": 8, "height": 8},
        "resources": [],
        "commands": [{"op": "clear", "color": "0xff112233"}, *commands],
        "compare": {"tol": 1},
    }
    path.write_text(json.dumps(document))
    return path


FAULTY = (
    {"op": "rs", "states": {"ZFUNC": 99}},
    {"op": "fvf", "fvf": "D3DFVF_XYZRHW"},
    {"op": "draw_up", "prim": "TRIANGLELIST", "count": 1, "stride": 16,
     "vertices": {"hex": "00" * 48}},
)  # fmt: skip
"""A draw under a state that the driver must refuse."""


def test_results_lie_below_the_folder(tmp_path: Path) -> None:
    ran = dp2emu("scene", scene(tmp_path, "a"), "--out", tmp_path / "out")
    assert (ran.code, ran.out) == (0, b"")
    found = {path.relative_to(tmp_path / "out").as_posix() for path in tmp_path.rglob("test/*")}
    assert found == {"test/a.png", "test/a.json"}


def test_scene_that_cannot_be_played_is_reported_and_the_others_run(tmp_path: Path) -> None:
    paths = [scene(tmp_path, "a", *FAULTY), scene(tmp_path, "b")]
    ran = dp2emu("scene", *paths, "--out", tmp_path)
    assert ran.code == 3
    assert f"dp2emu: {paths[0]}: command 3 (draw_up)" in ran.err
    assert (tmp_path / "test" / "b.png").exists()


def test_file_that_is_no_scene_is_code_2_over_3(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{")
    paths = [scene(tmp_path, "a", *FAULTY), tmp_path / "c.json", scene(tmp_path, "b")]
    ran = dp2emu("scene", *paths, "--out", tmp_path)
    assert ran.code == 2 and (tmp_path / "test" / "b.png").exists()


def test_session_is_saved_as_a_capture_that_verifies(tmp_path: Path) -> None:
    capture = tmp_path / "a.dp2"
    dp2emu("scene", scene(tmp_path, "a"), "--out", tmp_path, "--capture", capture)
    assert dp2emu("replay", capture, "--verify").code == 0


def test_one_capture_is_for_one_scene(tmp_path: Path) -> None:
    paths = [scene(tmp_path, "a"), scene(tmp_path, "b")]
    assert dp2emu("scene", *paths, "--out", tmp_path, "--capture", tmp_path / "c").code == 2


def test_size_of_the_command_buffer_reaches_the_runtime(tmp_path: Path) -> None:
    calls = []
    for size in (64, 4096):
        capture = tmp_path / f"{size}.dp2"
        command = ("scene", scene(tmp_path, "a"), "--out", tmp_path, "--command-bytes", size)
        assert dp2emu(*command, "--capture", capture).code == 0
        calls.append(json.loads(dp2emu("info", capture, "--json").out)["calls"])
    assert calls[0] > calls[1]


def test_strict_reaches_the_driver(tmp_path: Path) -> None:
    """BEGIN is not for events; only a strict driver minds."""
    path = scene(tmp_path, "a", {"op": "issue", "id": "e", "flag": "BEGIN"})
    content = json.loads(path.read_text())
    content["resources"] = [{"type": "query", "id": "e", "query": "EVENT"}]
    path.write_text(json.dumps(content))
    assert dp2emu("scene", path, "--out", tmp_path).code == 0
    ran = dp2emu("scene", path, "--out", tmp_path, "--strict")
    assert ran.code == 3 and "D3DQUERYTYPE_EVENT has no BEGIN" in ran.err


@pytest.mark.parametrize("arguments", [["--out", "x"], ["a.json"]])
def test_scenes_and_folder_are_required(arguments: list[str]) -> None:
    assert dp2emu("scene", *arguments).code == 2
