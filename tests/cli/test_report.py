"""``dp2emu report``: the page's file, its options, and exit codes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dp2emu.picture import encode_png
from tests.cli.running import dp2emu
from tests.tools.loading import ROOT

STREAM = ROOT / "streams" / "first_light.dp2"


def model_in(page: bytes) -> dict[str, Any]:
    """The model in the text of a page."""
    [text] = re.findall(rb'id="model">(.*?)</script>', page, re.DOTALL)
    model: dict[str, Any] = json.loads(text)
    return model


def test_the_page_goes_to_a_file_or_to_standard_output(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    ran = dp2emu("report", STREAM, "-o", file, "--engine", "reference")
    assert (ran.code, ran.out) == (0, b"")
    assert file.read_bytes() == dp2emu("report", STREAM, "-o", "-", "--engine", "reference").out


def test_a_trace_whose_first_chunk_is_damaged_has_a_page_without_events(tmp_path: Path) -> None:
    damaged = bytearray((ROOT / "streams" / "real" / "d3d9_tri.trace").read_bytes())
    damaged[600:700] = bytes(100)
    (tmp_path / "damaged.trace").write_bytes(damaged)
    ran = dp2emu("report", tmp_path / "damaged.trace", "-o", tmp_path / "page.html")
    assert ran.code == 2
    assert "damaged.trace: no event; a page of " in ran.err
    assert "calls from 4 on are lost" in ran.err


def test_a_picture_that_differs_gives_exit_code_1(tmp_path: Path) -> None:
    wrong = np.zeros((240, 320, 3), np.uint8)
    (tmp_path / "call000001_surface2.png").write_bytes(encode_png(wrong))
    ran = dp2emu("report", STREAM, "-o", "-", "--against", tmp_path)
    assert ran.code == 1
    assert "1 of 1 pictures differ" in ran.err
    [row] = model_in(ran.out)["differences"]
    assert (row["surface"], row["within"]) == (2, False)


@pytest.mark.parametrize("names", [[], ["call_00000042.png", "call_00000060.png"]])
def test_a_page_whose_references_fit_no_picture_gives_exit_code_2(
    names: list[str], tmp_path: Path
) -> None:
    for name in names:
        (tmp_path / name).write_bytes(encode_png(np.zeros((8, 8, 3), np.uint8)))
    ran = dp2emu("report", STREAM, "-o", "-", "--against", tmp_path)
    assert ran.code == 2 and len(model_in(ran.out)["differences"]) == len(names)
    assert f"dp2emu: {tmp_path}: nothing to compare: no picture of the replay has" in ran.err
    assert ("2 references without a picture" in ran.err) == bool(names)
    assert "pictures differ" not in ran.err


def test_events_are_chosen_by_number_or_address() -> None:
    pages = [dp2emu("report", STREAM, "-o", "-", "--events", text) for text in ("3-5", "E3-E5")]
    assert pages[0].out == pages[1].out
    assert [event["number"] for event in model_in(pages[0].out)["events"]] == [3, 4, 5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x", "not like E10-E99"),
        ("E5-E2", "'E5-E2': the last comes before the first"),
        ("", "not like E10-E99"),
        ("100-", "E0 to E15"),
    ],
)
def test_a_wrong_range_of_events_is_a_usage_error(text: str, says: str) -> None:
    ran = dp2emu("report", STREAM, "-o", "-", "--events", text)
    assert (ran.code, ran.out) == (2, b"")
    assert says in ran.err


def test_commands_on_the_page_quote_the_file_for_a_shell(tmp_path: Path) -> None:
    file = tmp_path / "$(touch hacked) 'x'.dp2"
    shutil.copy(STREAM, file)
    assert shlex.split(model_in(dp2emu("report", file, "-o", "-").out)["file"]) == [str(file)]


def test_a_page_without_a_file_is_a_usage_error() -> None:
    ran = dp2emu("report", STREAM)
    assert (ran.code, ran.out) == (2, b"")
    assert "Missing option '-o' / '--output'" in ran.err


def test_a_pixel_outside_of_the_target_is_refused_as_by_pixel(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    ran = dp2emu("report", STREAM, "-o", file, "--pixel", "8", "8", "--pixel", "999", "999")
    alone = dp2emu("pixel", STREAM, "999", "999")
    assert (ran.code, ran.err) == (alone.code, alone.err)
    assert ran.code == 2
    assert not file.exists()


def test_the_folder_of_the_references_may_keep_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "docs" / "first_light.png", "call000001_surface2.png")
    Path("x.html").write_text("the page of yesterday")
    ran = dp2emu("report", STREAM, "-o", "x.html", "--against", ".")
    assert (ran.code, "pictures differ" in ran.err) == (0, True)
    assert b"<html" in Path("x.html").read_bytes()
    ran = dp2emu("report", STREAM, "-o", "call000001_surface2.png", "--against", ".")
    assert ran.code == 2
    assert "would overwrite the input" in ran.err
