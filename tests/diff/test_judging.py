"""Pictures and references, files and folders of them, judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dp2emu.bitmap_font import ADVANCE, lettered
from dp2emu.diff import EXACT, Allowance, Judge, References, judge_paths, side_by_side
from dp2emu.errors import UsageError


def save(path: Path, value: int, size: tuple[int, int] = (20, 10)) -> Path:
    path.parent.mkdir(exist_ok=True)
    Image.new("RGB", size, (value,) * 3).save(path)
    return path


def test_files_are_shown_side_by_side_even_if_they_agree(tmp_path: Path) -> None:
    one, other = save(tmp_path / "a.png", 1), save(tmp_path / "b.png", 1)
    (judgement,) = judge_paths(one, other, EXACT, tmp_path / "out.png")
    assert judgement.within and (judgement.name, judgement.reference) == ("a.png", "b.png")
    with Image.open(tmp_path / "out.png") as shown:
        assert shown.size == (2 * 20 + len("difference") * ADVANCE + 4 * 8, 10 + 34)


def test_folders_are_compared_by_name_and_by_call(tmp_path: Path) -> None:
    for name, value in (("same.png", 1), ("call_00000005.png", 1), ("call_00000006.png", 3)):
        save(tmp_path / "a" / name, value)
    for name in ("same.png", "frame_0_call_5.png", "frame_1_call_6.png"):
        save(tmp_path / "b" / name, 1)
    found = judge_paths(tmp_path / "a", tmp_path / "b", Allowance(1), tmp_path / "out")
    assert [(j.name, j.reference, j.within) for j in found] == [
        ("call_00000005.png", "frame_0_call_5.png", True),
        ("call_00000006.png", "frame_1_call_6.png", False),
        ("same.png", "same.png", True),
    ]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["call_00000006.png"]


def test_pictures_without_a_counterpart_are_within_nothing(tmp_path: Path) -> None:
    save(tmp_path / "a" / "one.png", 1)
    save(tmp_path / "b" / "other.png", 1)
    found = judge_paths(tmp_path / "a", tmp_path / "b", Allowance(255, 0))
    assert [(j.name, j.reference, j.within) for j in found] == [
        ("one.png", None, False),
        ("", "other.png", False),
    ]
    assert found[0].row(EXACT) == {"file": "one.png", "reference": None, "within": False}


def test_folders_without_pictures_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(UsageError, match="no picture"):
        judge_paths(tmp_path / "a", tmp_path / "a", EXACT)


def test_a_picture_without_a_reference_is_not_judged(tmp_path: Path) -> None:
    save(tmp_path / "a" / "call_5.png", 1)
    judge = Judge(References(tmp_path / "a"), EXACT)
    image = np.full((10, 20, 3), 1, np.uint8)
    assert judge.judge("x.png", 4, image) is None
    assert [row.reference for row in judge.missing()] == ["call_5.png"]
    found = judge.judge("x.png", 5, image)
    assert found is not None and found.within and judge.missing() == []


def test_third_panel_marks_what_differs_red_and_what_is_within_blue() -> None:
    one = np.full((1, 3, 3), 80, np.uint8)
    other = one.copy()
    other[0, 1], other[0, 2] = 82, 90
    shown = side_by_side(one, other, 4)
    panel = len("difference") * ADVANCE
    row = shown[-9, -8 - panel :][:3].tolist()
    assert row == [[20, 20, 20], [64, 160, 255], [255, 48, 48]]


@pytest.mark.parametrize(
    ("width", "title", "size", "letters"),
    [(8, "expected", 1, 8), (64, "expected", 2, 8), (63, "expected", 1, 8), (8, "x" * 99, 1, 60)],
)
def test_titles_are_whole_over_narrow_pictures(
    width: int, title: str, size: int, letters: int
) -> None:
    black = np.zeros((4, width, 3), np.uint8)
    shown = side_by_side(black, black, titles=(title, ""))
    ink = lettered(title[:letters], size)
    assert np.array_equal(shown[8 : 8 + ink.shape[0], 8 : 8 + ink.shape[1], 0] == 0xE0, ink)
    assert (shown[8 : 8 + ink.shape[0], 8 + ink.shape[1] : 16 + ink.shape[1]] == 0x30).all()


def test_pictures_of_other_sizes_have_no_third_panel() -> None:
    one, other = np.zeros((4, 30, 3), np.uint8), np.full((9, 10, 4), 255, np.uint8)
    assert side_by_side(one, other).shape == (9 + 34, 30 + 10 + 3 * 8, 3)
