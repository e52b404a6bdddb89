"""The table of verbs: up to date, and what verbs read is what the table says."""

from __future__ import annotations

from pathlib import Path

import pytest

from dp2emu.cli.verbs import TRACE, VERBS, readers
from tests.cli.running import dp2emu
from tests.tools.loading import ROOT, load_tool

tool = load_tool("verb_table")
TRACED = ROOT / "streams" / "real" / "d3d9_tri.trace"


def test_the_table_of_verbs_is_up_to_date() -> None:
    text = tool.PAGE.read_text("utf-8")
    assert tool.with_table(text) == text, "python tools/verb_table.py brings it up to date"


def test_it_is_written_into_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "page.rst"
    stale.write_text(f"a\n\n{tool.BEGIN}stale table\n{tool.END}\nz\n")
    monkeypatch.setattr(tool, "PAGE", stale)
    tool.main()
    text = stale.read_text()
    assert "diff-images" in text and "stale" not in text
    assert text.startswith("a\n") and text.endswith("z\n")


def test_one_list_of_the_verbs_that_read_traces_is_in_help_page_and_message(
    tmp_path: Path,
) -> None:
    listed = ", ".join(readers(TRACE))
    assert listed in dp2emu("--help").out.decode()
    refused = dp2emu("convert", TRACED, tmp_path / "a.dp2").err
    assert refused.endswith(f"verbs that read it: {listed}\n")
    for verb in VERBS:
        shown = dp2emu(verb, "--help").out.decode()
        assert ("trace of API calls (apitrace)" in shown) == (verb in readers(TRACE))


MORE = {
    "import": ["-o", "made"], "state": ["--at", "0"], "pixel": ["1", "1"],
    "debug": ["E1", "pixel", "125", "125", "--nan"],
    "report": ["-o", "made"], "mesh": ["E1"], "overlay": ["E1", "--quads", "-o", "made"],
    "convert": ["made.dp2"], "minimize": ["--check", "false", "-o", "made"],
    "assemble": ["-o", "made"], "scene": ["--out", "made"], "diff-images": [str(TRACED)],
    "why": ["1"], "last-writer": ["2"], "readers": ["2"], "timeline": ["-o", "made"],
}  # fmt: skip
"""What verbs need besides FILE."""


@pytest.mark.parametrize("verb", [name for name, row in VERBS.items() if row.reads])
def test_verbs_read_traces_as_the_list_says(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = dp2emu(verb, TRACED, *MORE.get(verb, []))
    if verb == "why":
        assert "the capture issues no query" in ran.err
        return
    assert (ran.code != 2) == (verb in readers(TRACE)), ran.err
    assert ("but a trace of API calls" in ran.err) == (verb not in readers(TRACE))
