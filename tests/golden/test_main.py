"""``python -m tests.golden``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from . import __main__ as command
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
