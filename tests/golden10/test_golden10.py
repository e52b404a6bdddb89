"""Every golden scene of Direct3D 10 and 11, played and compared."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dp2emu.scene import play_scene10
from tests.golden.comparing import FAIL, name_of, read_json

from .comparing import HERE, SCENES, agrees
from .listed import DEPARTURES, placed
from .playing import played

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", SCENES, ids=name_of)
def test_a_scene_agrees_with_its_golden_results_or_departs_from_them(
    path: Path, tmp_path: Path, shaders: Path
) -> None:
    outcome = placed(name_of(path), played(path, tmp_path, shaders))
    assert outcome.kind != FAIL, outcome.notes


OF_BOTH = [path for path in SCENES if read_json(path)["api"] == "any"]


@pytest.mark.parametrize("path", OF_BOTH[::3], ids=name_of)
def test_a_scene_for_both_interfaces_gives_the_same_through_the_older(
    path: Path, tmp_path: Path, shaders: Path
) -> None:
    results = []
    for api in ("d3d10", "d3d11"):
        out = tmp_path / api
        played_ = play_scene10(read_json(path) | {"api": api}, out, shaders=shaders)
        results.append((*map(str, played_.problems), _shared(out / path.name)))
    assert results[0] == results[1]


def _shared(path: Path) -> object:
    """The results in a file but for what only Direct3D 11 has, and when things happened."""
    if not path.exists():
        return None
    found = read_json(path)
    for value in found["queries"].values():
        if isinstance(value, dict):
            for name in ("HSInvocations", "DSInvocations", "CSInvocations"):
                value.pop(name, None)
    found["steps"] = [step["hr"] for step in found["steps"]]
    return found


def test_the_list_names_scenes() -> None:
    assert {name_of(path) for path in SCENES} >= DEPARTURES.keys()


def test_every_scene_has_golden_results_for_each_get_data() -> None:
    for path in SCENES:
        golden = read_json(HERE / "golden" / f"{name_of(path)}.json")
        calls = read_json(path)["calls"]
        asked = Counter(number for number, call in enumerate(calls) if call["op"] == "GetData")
        assert asked >= Counter(row["call"] for row in golden["queries"])


@pytest.mark.parametrize(
    ("value", "wanted", "agreed"),
    [(1, 1, True), (1, 2, False), (1, None, True), (2, {"min": 1, "max": 2}, True),
     (3, {"min": 1, "max": 2}, False), (3, {"any_of": [1, 3]}, True), (2, {"any_of": [1]}, False),
     ({"a": 1, "b": 2}, {"a": {"min": 0, "max": 1}}, True), ({"b": 2}, {"a": None}, False),
     (None, {"min": 0, "max": 1}, False)],
)  # fmt: skip
def test_values_agree_with_numbers_ranges_and_choices(
    value: object, wanted: object, agreed: bool
) -> None:
    assert agrees(value, wanted) is agreed


def test_the_command_plays_the_scenes_named_and_prints_the_table(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.golden10", "clip/clip_inside", "--out", tmp_path,
         "--engine", "checked"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [line.split() for line in ran.stdout.splitlines()[1:]] == [
        ["clip", "1", "1", "-", "-", "-"],
        ["all", "1", "1", "-", "-", "-"],
    ]
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".png"}
