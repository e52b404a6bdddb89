"""Golden scenes by both engines at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dp2emu.dp2.options import Options
from dp2emu.scene import play_scene
from dp2emu.shader.engines import CHECKED

from .comparing import name_of
from .test_golden import SAMPLE


@pytest.mark.parametrize("path", SAMPLE, ids=name_of)
def test_the_engines_agree_on_a_scene(path: Path, tmp_path: Path) -> None:
    assert play_scene(path, tmp_path, options=Options(engine=CHECKED)).problems == ()
