"""``python -m tests.golden``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dp2emu.errors import SceneError
from dp2emu.scene import SceneResult

from . import __main__ as command
from . import playing
from .comparing import EDGE, FAIL, PASS, Verdict

ROOT = Path(__file__).parents[2]


def test_it_plays_the_scenes_named_and_prints_the_table(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.golden", "clip/scissor", "--jobs", "1", "--out", tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [line.split() for line in ran.stdout.splitlines()[1:]] == [
        ["clip", "2", "2", "-", "-", "-", "-"],
        ["all", "2", "2", "-", "-", "-", "-"],
    ]
    assert {path.suffix for path in tmp_path.rglob("clip/*")} == {".json", ".png"}


def test_scenes_that_match_are_taken_out_of_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "PENDING_FILE", tmp_path / "pending.txt")
    monkeypatch.setattr(command, "pending", lambda: frozenset({"a/b", "a/c", "a/d", "a/e"}))
    command.take_out({"a/b": Verdict(PASS), "a/c": Verdict(EDGE), "a/d": Verdict(FAIL)})
    assert (tmp_path / "pending.txt").read_bytes() == b"a/d\na/e\n"


def test_a_scene_that_gives_other_bytes_in_other_portions_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play_scene(path: Path, out: Path, *, command_bytes: int) -> SceneResult:
        if command_bytes < 200:
            raise SceneError("172 bytes do not fit a command buffer")
        out.mkdir(exist_ok=True)
        (out / "n.png").write_bytes(b"small" if command_bytes < 1000 else b"as ever")
        return SceneResult("c", "n", (out / "n.png",), (), {}, {})

    monkeypatch.setattr(playing, "play_scene", play_scene)
    assert playing.unsteady(Path("n.json"), tmp_path) == [
        "differs in buffers of 80 bytes: n.png",
        "differs in buffers of 256 bytes: n.png",
    ]
