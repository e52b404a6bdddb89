"""``python -m tests.golden``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_it_plays_the_scenes_named_and_prints_the_table(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.golden", "clip/scissor", "--jobs", "1", "--out", tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [line.split() for line in ran.stdout.splitlines()[1:]] == [
        ["clip", "2", "2", "-", "-", "-"],
        ["all", "2", "2", "-", "-", "-"],
    ]
    assert {path.suffix for path in tmp_path.rglob("clip/*")} == {".json", ".png"}
