#!/usr/bin/env python3
"""Run pieces of the long runs of docs/fuzzing.rst, and add a row for each to its log.

    python tools/long_run.py walk:600 reassembly:300 random_draws:300 [--corpus DIR] [--log FILE]

A piece is a target of ``dp2emu fuzz``, or ``random_draws``, and the seconds that it lasts.  If an
input has many cases, such as mutants or draws, the log counts these.  Random draws are the hostile
ones of random_draws.py, by the stages and by kernels.  The seed of a piece is the number of rows
before it, so that no piece repeats another; corpora in DIR are continued.  Exits with 1 if there
are findings.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(ROOT := Path(__file__).resolve().parents[1]))

from dp2emu.fuzz import target_named
from dp2emu.fuzz.campaign import Plan, campaign
from dp2emu.fuzz.findings import Findings
from dp2emu.fuzz.worker import available

LOG = ROOT / "docs" / "fuzzing.rst"
GUIDED = ("walk", "construct")
"""Targets that coverage guides; it takes longer than the trials of others."""
GUARDED = ("draws", "draws10")
"""Targets that run with guard pages."""
DRAWS = "random_draws"
AIMS = {
    "walk": 10**9, "reassembly": 10**8, "device": 10**7, DRAWS: 10**6,
    **dict.fromkeys(GUARDED, 200_000),
}  # fmt: skip
BEGIN, SUMS, END = ".. pieces", ".. sums", ".. end of sums"
"""Comments in the log: before the table of pieces, before the table of sums, and after both."""
HEADS = ("date", "commit", "target", "inputs", "seconds", "chosen by", "findings")
SUM_HEADS = ("target", "inputs", "aim", "pieces", "seconds", "findings")


class Piece(NamedTuple):
    """A row of the log."""

    date: str
    commit: str
    target: str
    inputs: int
    seconds: int
    chosen: str
    findings: int

    @classmethod
    def read(cls, cells: list[str]) -> Piece:
        """The piece of the cells of a row."""
        date, commit, target, inputs, seconds, chosen, findings = cells
        number = [int(cell.replace(",", "")) for cell in (inputs, seconds, findings)]
        return cls(date, commit, target, number[0], number[1], chosen, number[2])


def pieces(text: str) -> list[Piece]:
    """The pieces in the text of a log."""
    body = text.split(f"{BEGIN}\n")[1].split(SUMS)[0].strip().splitlines()
    widths = [len(rule) for rule in body[0].split()]
    return [Piece.read(_cells(line, widths)) for line in body[3:-1]]


def _cells(line: str, widths: list[int]) -> list[str]:
    found, at = [], 0
    for width in widths:
        found.append(line[at : at + width].strip().strip("`"))
        at += width + 2
    return found


def logged(text: str, done: Iterable[Piece]) -> str:
    """The text of a log with more pieces, and sums of all."""
    before, after = text.split(f"{BEGIN}\n")[0], text.split(f"{END}\n")[1]
    everything = [*pieces(text), *done]
    rows = [tuple(_shown(cell) for cell in piece) for piece in everything]
    tables = f"{BEGIN}\n\n{_table(HEADS, rows)}\n{SUMS}\n\n{_table(SUM_HEADS, _sums(everything))}"
    return f"{before}{tables}\n{END}\n{after}"


def _sums(everything: list[Piece]) -> list[tuple[str, ...]]:
    rows = []
    for target in dict.fromkeys((*AIMS, *(piece.target for piece in everything))):
        own = [piece for piece in everything if piece.target == target]
        inputs = sum(piece.inputs for piece in own)
        seconds = sum(piece.seconds for piece in own)
        findings = sum(piece.findings for piece in own)
        cells = target, inputs, AIMS.get(target, "none"), len(own), seconds, findings
        rows.append(tuple(map(_shown, cells)))
    return rows


def _shown(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    right = [all(row[at].replace(",", "").isdigit() for row in rows) for at in range(len(heads))]
    lines = [
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        ).rstrip()
        for cells in (heads, *rows)
    ]
    return "\n".join((rule, lines[0], rule, *lines[1:], rule)) + "\n"


# Pieces


def fuzzed(target: str, seconds: float, folder: Path, seed: int) -> tuple[int, str, int]:
    """Fuzz a target; returns (inputs, or their cases if an input is many, what chose them, new
    findings).
    """
    guided = target in GUIDED and available()
    before, known = 0, set(Findings(folder / "findings").names())
    unit = "cases" if target_named(target).cases else "execs"
    state = folder / f"{target_named(target).name}.json"
    if state.exists():
        before = json.loads(state.read_bytes()).get(unit, 0)
    plan = Plan(
        folder, seconds=seconds, seed=seed, guided=guided, resume=state.exists(),
        guard=target in GUARDED, timeout=max(10.0, target_named(target).cost.seconds),
    )  # fmt: skip
    ended = campaign(target, plan)
    chosen = "coverage" if guided else "features"
    return getattr(ended, unit) - before, chosen, len({*ended.findings} - known)


def drawn(seconds: float, first: int) -> tuple[int, str, int]:
    """Draw from a state on; returns (draws, what chose them, draws that differ)."""
    from random_draws import PAIRS, differences

    end, state, bad = time.monotonic() + seconds, first, 0
    while time.monotonic() < end:
        for told in differences(state):
            print(f"state {state}: {told}", flush=True)
            bad += 1
        state += 1
    return 2 * PAIRS * (state - first), "seeds", bad


def run(target: str, seconds: float, folder: Path, before: list[Piece]) -> Piece:
    """Run a piece; ``before`` are all that were logged."""
    now = datetime.now(UTC)
    started = time.monotonic()
    if target == DRAWS:
        # No piece drew more states than this: the first ones had two draws of each.
        drawn_before = sum(piece.inputs for piece in before if piece.target == DRAWS)
        result = drawn(seconds, drawn_before // 2)
    else:
        result = fuzzed(target, seconds, folder, len(before))
    inputs, chosen, findings = result
    lasted = round(time.monotonic() - started)
    return Piece(f"{now:%Y-%m-%d}", commit(), target, inputs, lasted, chosen, findings)


def commit() -> str:
    """The commit of the checkout, and + if its code differs."""
    asked = ("git", "-C", str(ROOT))
    name = subprocess.check_output([*asked, "rev-parse", "--short=8", "HEAD"], text=True).strip()
    changed = subprocess.check_output([*asked, "status", "--porcelain", "dp2emu"], text=True)
    return f"{name}+" if changed.strip() else name


def main() -> int:
    """Run the pieces, log each, and say whether all is well."""
    parser = argparse.ArgumentParser(description="Run pieces of the long runs, and log them.")
    parser.add_argument("pieces", nargs="+", metavar="TARGET:SECONDS")
    parser.add_argument("--corpus", type=Path, default=ROOT / "out" / "long", metavar="DIR")
    parser.add_argument("--log", type=Path, default=LOG, metavar="FILE")
    asked = parser.parse_args()
    bad = 0
    for each in asked.pieces:
        target, _, seconds = each.rpartition(":")
        piece = run(target, float(seconds), asked.corpus, pieces(asked.log.read_text("utf-8")))
        print(*map(_shown, piece), flush=True)
        asked.log.write_text(logged(asked.log.read_text("utf-8"), [piece]), "utf-8")
        bad += piece.findings
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
