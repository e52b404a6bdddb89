"""Every golden scene, played and compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from .comparing import FAIL, SCENES, name_of
from .listed import DEPARTURES, placed
from .playing import played
from .steadiness import unsteady

THOROUGH = settings.default.max_examples == settings.get_profile("full").max_examples
SAMPLE = SCENES if THOROUGH else SCENES[::9]
"""All with ``HYPOTHESIS_PROFILE=full``; ``python -m tests.golden --steady`` plays all too."""


@pytest.mark.parametrize("path", SCENES, ids=name_of)
def test_a_scene_agrees_with_its_golden_results_or_departs_from_them(
    path: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    outcome = placed(name_of(path), played(path, tmp_path))
    record_property("golden", (name_of(path), outcome.kind))
    assert outcome.kind != FAIL, outcome.notes


@pytest.mark.parametrize("path", SAMPLE, ids=name_of)
def test_a_scene_gives_the_same_bytes_again_in_any_portions_and_from_its_capture(
    path: Path, tmp_path: Path
) -> None:
    assert unsteady(path, tmp_path) == []


def test_the_list_names_scenes() -> None:
    names = {name_of(path) for path in SCENES}
    assert names >= DEPARTURES.keys()
