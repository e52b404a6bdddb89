"""Finding out that a scene does not always give the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dp2emu.errors import SceneError
from dp2emu.scene import SceneResult, play_scene

from . import steadiness
from .comparing import HERE

SCENE = HERE / "scenes" / "clip" / "viewport_xyz.json"


def unsteady_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: Any) -> list[str]:
    """What is found if ``change`` spoils the results of a scene; it gets the size of buffers, the
    number of the playing and the files."""
    played = []

    def play(path: Path, out: Path, **options: Any) -> SceneResult:
        result = play_scene(path, out, **options)
        played.append(out)
        change(options["command_bytes"], len(played), result.files)
        return result

    monkeypatch.setattr(steadiness, "play_scene", play)
    return steadiness.unsteady(SCENE, tmp_path)


def test_a_steady_scene_has_nothing_to_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert unsteady_with(monkeypatch, tmp_path, lambda *_: None) == []


def test_other_bytes_in_other_portions_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(size: int, _: int, files: tuple[Path, ...]) -> None:
        if size < 200:
            raise SceneError("172 bytes do not fit a command buffer")
        if size < 1000:
            files[0].write_bytes(b"other")

    assert unsteady_with(monkeypatch, tmp_path, change) == [
        "differs in buffers of 80 bytes: viewport_xyz.png",
        "differs in buffers of 256 bytes: viewport_xyz.png",
    ]


def test_other_bytes_the_second_time_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(_: int, number: int, files: tuple[Path, ...]) -> None:
        if number == 2:
            files[1].write_bytes(b"other")

    assert unsteady_with(monkeypatch, tmp_path, change) == [
        "differs when played again: viewport_xyz.json"
    ]


def test_a_replay_that_shows_something_else_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(_: int, __: int, files: tuple[Path, ...]) -> None:
        files[0].write_bytes(b"other")

    assert unsteady_with(monkeypatch, tmp_path, change) == ["shows another picture when replayed"]
