"""``dp2emu diff-images`` and ``replay --against``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dp2emu.capture.records import IMPORTED, Annotation, FrameMarker, Pictured
from tests.cli.running import dp2emu
from tests.replay.authoring import FRAME, SETTING, TARGET, called, clear, sealed

STREAMS = Path(__file__).parents[2] / "streams"

CAPTURE = (
    Annotation(IMPORTED, "a"), *SETTING,
    called(clear(0xFF102030)), Pictured(5, 1, TARGET), FrameMarker(0),
    called(clear(0xFF405060)), Pictured(9, 1, TARGET), FrameMarker(1),
)  # fmt: skip


def save(path: Path, color: tuple[int, ...], spot: tuple[int, ...] | None = None) -> Path:
    path.parent.mkdir(exist_ok=True)
    image = np.full((4, 8, len(color)), color, np.uint8)
    if spot:
        image[2, 3] = spot
    Image.fromarray(image).save(path)
    return path


def test_equal_pictures_are_code_0_and_others_code_1(tmp_path: Path) -> None:
    one = save(tmp_path / "a.png", (1, 2, 3))
    other = save(tmp_path / "b.png", (1, 2, 3), (1, 2, 9))
    assert dp2emu("diff-images", one, one).code == 0
    ran = dp2emu("diff-images", one, other, "--out", tmp_path / "out.png")
    assert (ran.code, ran.err) == (1, "")
    text = ran.out.decode()
    assert "a.png" in text and "1x1" in text and "96.875" in text and "DIFFERS" in text
    assert (tmp_path / "out.png").exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--tolerance", "6"], 0),
        (["--tolerance", "5"], 1),
        (["--share", "96"], 0),
        (["--share", "97"], 1),
        (["--share", "96", "--across", "1"], 0),
        (["--share", "96", "--across", "0"], 1),
        (["--tolerance", "256"], 2),
    ],
)
def test_what_is_allowed_is_code_0(tmp_path: Path, options: list[str], code: int) -> None:
    one = save(tmp_path / "a.png", (1, 2, 3))
    other = save(tmp_path / "b.png", (1, 2, 3), (1, 2, 9))
    assert dp2emu("diff-images", one, other, *options).code == code


def test_numbers_come_as_json(tmp_path: Path) -> None:
    save(tmp_path / "a" / "x.png", (1, 2, 3))
    save(tmp_path / "b" / "x.png", (1, 2, 3), (1, 2, 9))
    ran = dp2emu("diff-images", tmp_path / "a", tmp_path / "b", "--json")
    (row,) = json.loads(ran.out)["pictures"]
    assert (row["file"], row["beyond"], row["largest"], row["within"]) == ("x.png", 1, 6, False)
    assert row["first"] == {"x": 3, "y": 2, "one": [1, 2, 3], "other": [1, 2, 9]}


def test_what_is_no_picture_is_code_2(tmp_path: Path) -> None:
    one = save(tmp_path / "a.png", (1, 2, 3))
    (tmp_path / "b.png").write_bytes(b"no")
    ran = dp2emu("diff-images", one, tmp_path / "b.png")
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert dp2emu("diff-images", one, tmp_path / "c.png").code == 2


def write(folder: Path) -> Path:
    path = folder / "a.dp2"
    path.write_bytes(sealed(*CAPTURE))
    return path


def test_replayed_pictures_are_compared_with_references(tmp_path: Path) -> None:
    save(tmp_path / "truth" / "frame_0_call_5.png", (0x10, 0x20, 0x33))
    save(tmp_path / "truth" / "frame_1_call_9.png", (0x40, 0x50, 0x60, 0xFF))
    ran = dp2emu("replay", write(tmp_path), "--against", tmp_path / "truth")
    assert ran.code == 0 and ran.err.count("within") == 3
    exact = dp2emu(
        "replay", write(tmp_path), "--against", tmp_path / "truth", "--tolerance", "2",
        "--json", "-", "--differences", tmp_path / "differ",
    )  # fmt: skip
    assert exact.code == 1
    assert (
        "frame 0, @5: pixel 0, 0 of surface 2, against frame_0_call_5.png: recorded (16, 32, 51), "
        "replayed (16, 32, 48, 255)"
    ) in exact.err
    rows = json.loads(exact.out)["pictures"]
    assert [(row["call"], row["file"], row["against"]["within"]) for row in rows] == [
        (5, None, False),
        (9, None, True),
    ]
    assert [path.name for path in (tmp_path / "differ").iterdir()] == ["call_00000005.png"]


def test_a_reference_without_a_picture_differs_unless_frames_are_chosen(tmp_path: Path) -> None:
    save(tmp_path / "truth" / "call_5.png", (0x10, 0x20, 0x30))
    save(tmp_path / "truth" / "call_7.png", (0, 0, 0))
    path = write(tmp_path)
    assert dp2emu("replay", path, "--against", tmp_path / "truth").code == 1
    assert dp2emu("replay", path, "--against", tmp_path / "truth", "--frames", "0").code == 0


def test_a_reference_of_another_size_differs(tmp_path: Path) -> None:
    Image.new("RGB", (3, 3)).save(tmp_path / "call_5.png")
    (tmp_path / "truth").mkdir()
    (tmp_path / "call_5.png").rename(tmp_path / "truth" / "call_5.png")
    ran = dp2emu("replay", write(tmp_path), "--against", tmp_path / "truth")
    assert (
        ran.code == 1
        and "size of surface 2, against call_5.png: recorded (3, 3), replayed (8, 4)" in ran.err
    )


def test_references_that_are_not_there_are_code_2(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert dp2emu("replay", path, "--against", tmp_path / "truth").code == 2
    assert dp2emu("replay", path, "--differences", tmp_path / "truth").code == 2


def test_damage_of_a_capture_is_reported_before_its_pictures(tmp_path: Path) -> None:
    path = STREAMS / "truncated_file.dp2"
    dp2emu("replay", path, "--png", tmp_path)
    ran = dp2emu("replay", path, "--against", tmp_path)
    assert ran.code == 2
    assert 0 < ran.err.index("the file ends inside a record") < ran.err.index("within")


def test_a_replay_that_compares_no_picture_is_code_2(tmp_path: Path) -> None:
    """Neither a folder without pictures nor one whose pictures belong to other calls agrees."""
    (tmp_path / "empty").mkdir()
    save(tmp_path / "other" / "call_7.png", (0, 0, 0))
    for folder in ("empty", "other"):
        ran = dp2emu("replay", write(tmp_path), "--against", tmp_path / folder)
        assert ran.code == 2
        assert "nothing to compare: 2 pictures taken, none with a reference" in ran.err


def test_pictures_without_a_reference_are_counted_and_named(tmp_path: Path) -> None:
    save(tmp_path / "truth" / "call_5.png", (0x10, 0x20, 0x30))
    ran = dp2emu("replay", write(tmp_path), "--against", tmp_path / "truth", "--json", "-")
    assert ran.code == 0
    assert f"dp2emu: {tmp_path / 'truth'}: no reference for call_00000009.png\n" in ran.err
    assert "2 pictures, 1 without a reference," in ran.err
    assert json.loads(ran.out)["summary"]["unreferenced"] == 1


def test_many_pictures_without_a_reference_are_counted_rather_than_named(tmp_path: Path) -> None:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*SETTING, *[called(clear(9)), FRAME] * 30))
    dp2emu("replay", path, "--png", tmp_path / "truth", "--frames", "0")
    ran = dp2emu("replay", path, "--against", tmp_path / "truth")
    assert ran.code == 0 and ran.err.count("no reference for") == 20
    assert "dp2emu: and 9 more unreferenced pictures\n" in ran.err
