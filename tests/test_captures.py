"""The judgement of captures of real programs (``tests.captures``)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.captures import LISTED, Outcome, _compare, listing


def picture(path: Path, wrong: int) -> Path:
    """A black picture of 64 x 64 pixels, whose first row has ``wrong`` white ones."""
    pixels = np.zeros((64, 64, 4), np.uint8)
    pixels[..., 3] = 255
    pixels[0, :wrong] = 255
    Image.fromarray(pixels).save(path)
    return path


@pytest.mark.parametrize(
    ("wrong", "listed", "said"),
    [
        (0, {}, "pass"), (40, {}, "FAIL"), (40, {7: 40}, "listed"), (41, {7: 40}, "FAIL"),
        (39, {7: 40}, "FAIL"), (0, {7: 40}, "FAIL"), (40, {8: 40}, "FAIL"),
    ],
)  # fmt: skip
def test_a_listed_capture_differs_in_the_listed_pictures_by_the_listed_pixels(
    wrong: int, listed: dict[int, int], said: str, tmp_path: Path
) -> None:
    outcome = Outcome()
    truth = picture(tmp_path / "truth.png", 0)
    picture(tmp_path / "call_00000007.png", wrong)
    _compare(outcome, 7, truth, "", tmp_path)
    assert outcome.say(listed) == said


@pytest.mark.parametrize("listed", [{}, {7: 40}])
def test_a_problem_fails_a_listed_capture_too(listed: dict[int, int]) -> None:
    outcome = Outcome(problems=["loss: call 3"], differing=dict(listed))
    assert outcome.say(listed) == "FAIL"


def test_every_listed_capture_has_a_reason_in_the_document() -> None:
    document = (LISTED.parents[2] / "docs" / "departures.rst").read_text("utf-8")
    rows = json.loads(LISTED.read_text("utf-8"))
    for name, row in rows.items():
        assert f"``{name}``" in document, name
        assert f"{row['why']}\n---" in document, name
    assert all(listing().values())
