"""The page of outcomes and the files of failed cases, and what the verb writes of both."""

from __future__ import annotations

import subprocess
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dp2emu.capture import open_capture
from dp2emu.conform import Outcome, Verdict, kit, run_kit
from dp2emu.conform.causes import causes
from dp2emu.conform.failures import images_of, program_of, write_failures
from dp2emu.conform.page import page
from dp2emu.diff.images import read_image
from dp2emu.replay import replay
from tests.cli.running import dp2emu
from tests.conform.mistakes import HalfPixel, NoStateBlocks
from tests.explain.report.conftest import HOSTILE
from tests.native.building import built, sample, sample_objects

SUFFIXES = {"c", "dp2", "expected.png", "got.png", "difference.png"}


class Wrong(NoStateBlocks, HalfPixel):
    """Two mistakes: one of pictures, one of results."""


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return list(
        run_kit(kit("state.block", "mask.red", "query.order", "draw.coverage.whole"), Wrong())
    )


def test_a_page_has_every_cause_case_picture_and_program(outcomes: list[Outcome]) -> None:
    text = page("emulator", outcomes)
    assert "http" not in text.replace("http-equiv", "")
    for outcome in outcomes:
        there = f'<details class="case" id="{outcome.case.name}">' in text
        assert there == (outcome.verdict is Verdict.FAILED)
    assert text.count("data:image/png;base64,") == 3
    assert text.count("download=") == text.count("int main(void)") == 5
    assert "D3DDP2OP_STATESET is refused" in text and "10 pixels" in text


def test_a_page_without_failures_says_so(outcomes: list[Outcome]) -> None:
    right = [each for each in outcomes if each.verdict is Verdict.PASSED]
    assert "No case fails." in page("emulator", right)


@pytest.mark.browser
def test_the_page_in_chromium_runs_nothing_and_gives_the_capture(
    chromium: Any, outcomes: list[Outcome], tmp_path: Path
) -> None:
    cases = kit("error", "response")
    hostile = [
        Outcome(*each) for each in zip(cases, repeat(Verdict.FAILED), HOSTILE, strict=False)
    ]
    file = tmp_path / "page.html"
    file.write_text(page(HOSTILE[0], [*outcomes, *hostile]), "utf-8")
    shown = chromium.new_context(offline=True).new_page()
    told: list[str] = []
    shown.on("console", lambda message: told.append(message.text))
    shown.on("pageerror", lambda error: told.append(str(error)))
    shown.goto(file.as_uri())
    assert shown.locator("article.box").count() == len(causes([*outcomes, *hostile]))
    assert not shown.locator("#mask\\.red").is_visible()
    shown.get_by_text("Consequences: 1").click()
    shown.locator("#mask\\.red > summary").click()
    for name in ("expected", "got", "difference"):
        image = shown.get_by_alt_text(f"mask.red, {name}")
        assert image.is_visible() and image.evaluate("each => each.naturalWidth") == 32
    with shown.expect_download() as started:
        shown.get_by_text("Capture mask.red.dp2").click()
    with open_capture(started.value.path()) as capture:
        assert replay(capture).different == 0
    assert shown.evaluate("window.hacked") is None and told == []
    shown.context.close()


def test_the_files_of_a_failed_case_are_its_capture_program_and_pictures_or_answers(
    outcomes: list[Outcome], tmp_path: Path
) -> None:
    assert write_failures(tmp_path, outcomes) == 5
    assert {
        each.name.removeprefix("mask.red.") for each in tmp_path.glob("mask.red.*")
    } == SUFFIXES
    answer = (tmp_path / "state.block.recorded.txt").read_text("utf-8")
    assert "expected: D3D_OK\ngot: D3DERR_COMMAND_UNPARSED" in answer
    with open_capture(tmp_path / "mask.red.dp2") as capture:
        tally = replay(capture)
    assert tally.compared == tally.calls > 0 and tally.different == 0
    expected, got = (read_image(tmp_path / f"mask.red.{name}.png") for name in ("expected", "got"))
    assert expected[1, 1].tolist() == [0x34, 0, 0xFF] and got[1, 1].tolist() == [0, 0, 0xFF]


def test_the_difference_marks_the_wrong_pixels_and_no_others(outcomes: list[Outcome]) -> None:
    wrong = next(each for each in outcomes if each.case.name == "mask.red")
    images = dict(images_of(wrong))
    marked = (images["difference"] == (255, 48, 48)).all(axis=-1)
    assert np.array_equal(marked, (images["expected"] != images["got"]).any(axis=-1))


def test_the_program_of_a_failed_case_shows_what_the_driver_answers_wrongly(
    tmp_path: Path,
) -> None:
    (case,) = kit("query.begin_restarts")
    source = tmp_path / "case.c"
    source.write_text("".join(program_of(case)), "ascii")
    for bugs, code in (((), 0), (("RESTART_ADDS",), 1)):
        program = built("case", (str(source), *sample_objects(bugs=bugs)))
        assert subprocess.run([program], capture_output=True).returncode == code


def test_the_command_writes_the_page_and_the_files(tmp_path: Path) -> None:
    rig = f"native:{sample('RESTART_ADDS')}"
    to = "--html", tmp_path / "page.html", "--failures", tmp_path / "failed"
    ran = dp2emu("conform", "query.begin_restarts", "query.order", "--rig", rig, *to)
    assert ran.code == 1 and ran.out.startswith(b"1. occlusion queries count too many pixels, ")
    assert "query.begin_restarts" in (tmp_path / "page.html").read_text("utf-8")
    names = {each.name for each in (tmp_path / "failed").iterdir()}
    assert names == {f"query.begin_restarts.{suffix}" for suffix in ("c", "dp2", "txt")}
    on_stdout = dp2emu("conform", "query.order", "--html", "-")
    assert on_stdout.out.startswith(b"<!doctype html>")
