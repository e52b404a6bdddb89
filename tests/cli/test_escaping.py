"""Text of a stranger's file reaches a terminal only with what a terminal would obey escaped."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.capture.records import Annotation
from dp2emu.cli import run
from dp2emu.cli.allowances import show_judgements
from dp2emu.cli.outcome import printable
from dp2emu.diff import Allowance, Judgement

EVIL = "\x1b[31mred\x1b]0;title\x07\x9b2J\r\x08[link=http://x]l[/link]\u202e"
ORDERS = {"\x1b", "\x07", "\x9b", "\x08", "\u202e"}
SOURCE = Path(__file__).parents[2] / "streams" / "first_light.dp2"


@pytest.fixture
def labelled(tmp_path: Path) -> str:
    path = tmp_path / "labelled.dp2"
    with open_capture(SOURCE) as capture, CaptureWriter(path) as out:
        for key in ("title", EVIL, f"label.surface.1{EVIL}", "timing!"):
            out.write(Annotation(key, EVIL))
        for record in capture.records():
            out.write(record)
    return str(path)


@pytest.mark.parametrize(
    "verb",
    [["info"], ["info", "--tokens"], ["dump"], ["dump", "--jsonl"], ["dump", "--hex"],
     ["replay"], ["replay", "--json", "-"], ["state", "--at", "0"], ["pixel", "--at", "3", "4"],
     ["batch"]],
    ids=" ".join,
)  # fmt: skip
def test_no_verb_passes_orders_on(
    labelled: str, verb: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    run([verb[0], labelled, *verb[1:]])
    shown = capfd.readouterr()
    assert not ORDERS & {*shown.out, *shown.err}


def test_a_timing_that_cannot_be_meant_is_quoted_escaped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "timed.dp2"
    with CaptureWriter(path) as out:
        out.write(Annotation("timing", EVIL))
    assert run(["replay", str(path)]) == 2
    shown = capfd.readouterr()
    assert "timing" in shown.err
    assert not ORDERS & {*shown.out, *shown.err}


def test_texts_as_c_have_no_orders(labelled: str, tmp_path: Path) -> None:
    for name in ("a.c", "a.txt"):
        assert run(["convert", labelled, str(tmp_path / name)]) == 0
        assert not ORDERS & {*(tmp_path / name).read_text("utf-8")}


def test_names_in_tables_are_shown_and_obeyed_by_nobody() -> None:
    page = io.StringIO()
    judgement = Judgement(EVIL, "[bold]x[/bold]", None, within=False)
    show_judgements([judgement], Allowance(0, 100, 0), page)
    assert not ORDERS & {*page.getvalue()}
    assert "[bold]x[/bold]" in page.getvalue()


def test_what_can_be_printed_stays() -> None:
    assert printable("Gouraud ä ▲ [x]") == "Gouraud ä ▲ [x]"
    assert printable("\x1b\n\u202e") == "\\x1b \\u202e"
