"""Text of a stranger's file reaches a terminal only with what a terminal would obey escaped."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.capture.records import Annotation
from dp2emu.cli import run
from dp2emu.cli.allowances import show_judgements
from dp2emu.conform import Outcome, Verdict, kit
from dp2emu.conform.failures import write_failures
from dp2emu.conform.page import page as conformance_page
from dp2emu.conform.report import case_results
from dp2emu.diff import Allowance, Judgement
from dp2emu.errors import CaptureError, Dp2Error
from dp2emu.escaping import plain
from dp2emu.junit import junit
from tests.capture.apitrace.encoder import Encoder, header, snappy
from tests.capture.apitrace.samples import call

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
     ["mesh", "E0"], ["state", "--at", "E0", "--rows", "1"],
     ["replay"], ["replay", "--json", "-"], ["state", "--at", "0"], ["pixel", "3", "4"],
     ["batch"], ["events"], ["events", "--tsv"], ["events", "--jsonl"], ["graph"],
     ["debug", "E2", "pixel", "186", "121", "--all"]],
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


NAME = EVIL.replace("/", "|") + "\udcff"
"""A file's name cannot have slashes, and need be no text."""


def obeyed(*shown: str) -> set[str]:
    """What a terminal or a page could take for orders."""
    return {c for text in shown for c in text if not (c.isprintable() or c in "\n\t")}


@pytest.fixture
def oddly_named(tmp_path: Path) -> Path:
    path = tmp_path / f"{NAME}.dp2"
    path.write_bytes(SOURCE.read_bytes())
    return path


@pytest.mark.parametrize(
    "line",
    ["info FILE", "info FILE --json", "dump FILE", "dump FILE --jsonl", "replay FILE",
     "replay FILE --json -", "replay FILE --rig recorded:FILE", "state FILE --at 0",
     "state FILE --at 99", "pixel FILE 0 0", "batch FILE NONE", "convert FILE FILE --to bare",
     "convert FILE NONE", "minimize FILE --check true -o NONE", "import FILE -o NONE",
     "shader FILE", "scene FILE NONE --out OUT", "diff-images FILE NONE", "assemble FILE -o NONE",
     "conform NONE", "conform --rig NONE", "init-driver FILE",
     "conform query.type.event --rig pipe:NONE",
     "fuzz --target NONE", "replay FILE --timing NONE", "replay FILE --against NONE",
     "replay FILE --limit NONE", "replay FILE --scenario FILE", "NONE", "info --NONE FILE"],
)  # fmt: skip
def test_names_of_files_and_words_of_users_are_no_orders(
    line: str, oddly_named: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    there = {"FILE": str(oddly_named), "NONE": NAME, "OUT": str(oddly_named.parent / "out")}
    words = []
    for word in line.split():
        for key, value in there.items():
            word = word.replace(key, value)
        words.append(word)
    run(words)
    shown = capfd.readouterr()
    assert shown.out + shown.err
    assert not obeyed(*shown)


def test_a_file_that_holds_what_its_name_does_is_told_escaped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{NAME}.dp2"
    path.write_bytes(SOURCE.read_bytes()[:-60])
    for verb in ("info", "dump", "replay", "batch"):
        assert run([verb, str(path)]) == 2
        assert not obeyed(*capfd.readouterr())


@pytest.mark.parametrize("line", ["info", "info --json", "dump", "import -o OUT", "replay"])
def test_names_in_traces_are_no_orders(
    line: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.trace"
    encoder = Encoder()
    calls = [call(0, f"IDirect3D9::{EVIL}", EVIL), call(1, "Direct3DCreate9", 32, result=EVIL)]
    path.write_bytes(snappy(header(**{EVIL: EVIL}) + b"".join(map(encoder.both, calls))))
    verb, *options = line.split()
    run([verb, str(path), *(each.replace("OUT", str(tmp_path / "out")) for each in options)])
    shown = capfd.readouterr()
    assert shown.out + shown.err
    assert not obeyed(*shown) - {"\r"}


def test_the_last_words_of_a_driver_are_no_orders(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = tmp_path / "words"
    words.write_text(EVIL, "utf-8")
    rig = f"pipe:sh -c 'cat {words} >&2; exit 3'"
    for json_path in ("-", str(tmp_path / "out.json")):
        run(["conform", "query.type.event", "--rig", rig, "--json", json_path])
        shown = capfd.readouterr()
        assert "it ended with 3" in shown.err
        assert not obeyed(*shown)
    run(["replay", str(SOURCE), "--rig", rig])
    assert not obeyed(*capfd.readouterr())


def test_a_page_of_results_has_no_orders_and_is_well_formed() -> None:
    (case,) = kit("query.type.event")
    failed = Outcome(case, Verdict.FAILED, f"{EVIL}<script>&")
    page = junit(NAME, case_results([failed])).decode("utf-8")
    assert not obeyed(page)
    assert "<script>" not in page
    assert "<script>&" in ElementTree.fromstring(page)[0][0].attrib["message"]


def test_reports_of_failed_cases_have_no_orders(tmp_path: Path) -> None:
    (case,) = kit("query.type.event")
    failed = Outcome(case, Verdict.FAILED, f"{EVIL}<script>&")
    html = conformance_page(NAME, [failed])
    assert write_failures(tmp_path, [failed]) == 1
    told = html, (tmp_path / f"{case.name}.txt").read_text("utf-8")
    assert all("red" in each for each in told) and not obeyed(*told)
    assert "<script>" not in html


@pytest.mark.parametrize("kind", [Dp2Error, CaptureError])
def test_an_error_has_no_orders_for_whoever_shows_it(kind: type[Dp2Error]) -> None:
    told = str(kind(f"two\nlines {EVIL}", stream=NAME, token=EVIL))
    assert not obeyed(told)
    assert told.count("\n") == 1


def test_what_can_be_printed_stays() -> None:
    assert plain("Gouraud ä ▲ [x]") == "Gouraud ä ▲ [x]"
    assert plain("\x1b\n\u202e") == "\\x1b \\u202e"
