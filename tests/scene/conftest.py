"""Fixtures that play scenes written in a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dp2emu.scene import SceneResult, play_scene
from dp2emu.shader.engines import JIT, REFERENCE

from .making import Play, scene
from .stage10 import Stage


@pytest.fixture
def play(tmp_path: Path) -> Play:
    def run(*commands: Any, resources: Any = (), **device: Any) -> SceneResult:
        return play_scene(scene(*commands, resources=resources, **device), tmp_path)

    return run


@pytest.fixture(params=[REFERENCE, JIT])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    """A folder for scenes of Direct3D 10 and 11, played by either engine."""
    return Stage(tmp_path, request.param)
