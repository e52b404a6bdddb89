"""Which reference belongs to a picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dp2emu.diff import References
from dp2emu.errors import UsageError


def folder(place: Path, *names: str) -> Path:
    place.mkdir()
    for name in names:
        (place / name).write_bytes(b"")
    return place


def test_a_reference_is_found_by_its_name_first(tmp_path: Path) -> None:
    names = "call_00000007.png", "frame_002_call_000007.png"
    references = References(folder(tmp_path / "a", *names))
    assert references.find("call_00000007.png", None) == tmp_path / "a" / names[0]
    assert {path.name for path in references.unused} == {names[1]}


@pytest.mark.parametrize("name", ["frame_002_call_000007.png", "call_7.png", "call_00000007.png"])
def test_a_reference_is_found_by_the_call_it_shows(tmp_path: Path, name: str) -> None:
    references = References(folder(tmp_path / "a", name, "call8.png", "call_9_x.png"))
    found = references.find("shot.png", 7)
    assert found is not None and found.name == name
    assert references.find("shot.png", 8) is references.find("shot.png", 9) is None


def test_call_zero_is_a_call(tmp_path: Path) -> None:
    assert References(folder(tmp_path / "a", "call_0.png")).find("x.png", 0) is not None


DOCUMENT = {
    "readbacks": {"list": [{"call": 5, "png": "readback_0001.png"}, {"call": 6, "png": None}]},
    "frames": {"images": [{"call": 9, "file": "shown.png"}, {"call": "x", "file": "shown.png"}]},
    "other": [{"call": 12, "png": "missing.png"}],
}


@pytest.mark.parametrize("place", ["a", "a.json"])
def test_a_document_tells_the_calls_of_files(tmp_path: Path, place: str) -> None:
    folder(tmp_path / "a", "readback_0001.png", "shown.png")
    (tmp_path / "a.json").write_text(json.dumps(DOCUMENT))
    references = References(tmp_path / place)
    found = {call: references.find("x", call) for call in (5, 6, 9, 12)}
    assert {call: path and path.name for call, path in found.items()} == {
        5: "readback_0001.png", 6: None, 9: "shown.png", 12: None,
    }  # fmt: skip
    assert references.unused == set()


@pytest.mark.parametrize("text", ["{", "\xff", "[" * 100000])
def test_a_document_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    folder(tmp_path / "a")
    (tmp_path / "a.json").write_text(text, "latin-1")
    with pytest.raises(UsageError, match="no JSON"):
        References(tmp_path / "a")


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        References(tmp_path / "a")
