"""docs/ddi10_example.py: it runs, and what it prints is right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.running import dp2emu

ROOT = Path(__file__).parents[2]


def test_the_example_asks_about_a_triangle_and_its_capture_verifies(tmp_path: Path) -> None:
    capture = tmp_path / "example.dp2"
    ran = subprocess.run(
        [sys.executable, ROOT / "docs" / "ddi10_example.py", capture],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = dict(line.split(": ", 1) for line in ran.stdout.splitlines())
    assert lines["visible pixels"] == lines["pixels in the colour of the shader"] == "496"
    assert lines["outside of what is allowed"] == "none"
    assert lines["visible with a predicate that found nothing"] == "0"
    ticks, disjoint = lines["ticks of a draw"].split(", disjoint: ")
    assert int(ticks) > 0 and disjoint == "True"
    replayed = dp2emu("replay", capture, "--verify")
    assert replayed.code == 0, replayed.err
