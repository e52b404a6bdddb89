"""The files of a checkout: nothing that a tool left behind is among them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOP = {".ci", ".gitignore", "CHANGELOG.rst", "LICENSE", "README.rst", "docs", "dp2emu",
       "pyproject.toml", "setup.cfg", "streams", "tests", "tools"}  # fmt: skip


def test_the_top_level_has_these_files_and_folders() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    command = ["git", "-c", "safe.directory=*", "ls-files"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {name.split("/")[0] for name in listed.splitlines()} == TOP
