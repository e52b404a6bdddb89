"""A fixture that plays scenes written in a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dp2emu.scene import SceneResult, play_scene

from .making import Play, scene


@pytest.fixture
def play(tmp_path: Path) -> Play:
    def run(*commands: Any, resources: Any = (), **device: Any) -> SceneResult:
        return play_scene(scene(*commands, resources=resources, **device), tmp_path)

    return run
