"""The log of the long runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tools.loading import ROOT, load_tool

long_run = load_tool("long_run")
LOG = (ROOT / "docs" / "fuzzing.rst").read_text("utf-8")


def test_the_log_has_the_sums_of_its_pieces() -> None:
    assert long_run.logged(LOG, []) == LOG


def test_a_piece_is_a_row_and_counts_in_the_sum_of_its_target() -> None:
    piece = long_run.Piece("2030-01-02", "abcdef12", "walk", 1_234_567, 89, "coverage", 2)
    text = long_run.logged(LOG, [piece])
    assert long_run.pieces(text) == [*long_run.pieces(LOG), piece]
    sums = {row[0]: row for row in long_run._sums(long_run.pieces(text))}
    before = [each for each in long_run.pieces(LOG) if each.target == "walk"]
    inputs = sum(each.inputs for each in before) + 1_234_567
    assert sums["walk"][1:4] == (f"{inputs:,}", "1,000,000,000", str(len(before) + 1))
    assert long_run.logged(text, []) == text


def test_pieces_are_logged_with_what_they_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.rst"
    log.write_text(LOG, "utf-8")
    name = "tests.fuzz.planted:RAISES"
    given = [f"{name}:0.5", "random_draws:0.01", "--corpus", str(tmp_path), "--log", str(log)]
    monkeypatch.setattr("sys.argv", ["long_run.py", *given])
    monkeypatch.setattr("random_draws.PAIRS", 2)
    assert long_run.main() == 1
    raises, draws = long_run.pieces(log.read_text("utf-8"))[-2:]
    tried = json.loads((tmp_path / "raises.json").read_bytes())
    assert (raises.target, raises.inputs, raises.findings) == (name, tried["execs"], 1)
    assert (draws.target, draws.inputs, draws.findings) == ("random_draws", 4, 0)
    assert len(capsys.readouterr().out.splitlines()) == 2
