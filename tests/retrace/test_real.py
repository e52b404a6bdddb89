"""The traces of real programs that come with the project."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.capture.apitrace.samples import REAL
from tests.cli.running import dp2emu

SHOWN = [path for path in REAL if path.with_suffix(".png").exists()]


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_first_picture_is_the_one_of_the_readme(path: Path, tmp_path: Path) -> None:
    assert dp2emu("replay", path, "--png", tmp_path).code == 0
    first = min(tmp_path.iterdir())
    with Image.open(first) as taken, Image.open(path.with_suffix(".png")) as shown:
        assert (np.asarray(taken) == np.asarray(shown)).all()


@pytest.mark.parametrize(
    "path", [path for path in SHOWN if path.with_suffix("").is_dir()], ids=lambda path: path.stem
)
def test_pictures_are_those_of_another_implementation(path: Path) -> None:
    assert dp2emu("replay", path, "--against", path.with_suffix("")).code == 0
