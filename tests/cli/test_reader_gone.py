"""Verbs whose reader has gone away end quietly, and leave what they do not write there alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dp2emu.cli import VERBS
from dp2emu.cli.outcome import FINE, READER_GONE
from tests.cli.processes import Running, await_that
from tests.cli.running import dp2emu
from tests.cli.test_ending import SAMPLE, STREAMS

TRACE = STREAMS / "real" / "d3d9_tri.trace"
PICTURE = STREAMS / "real" / "d3d9_tri.png"
TOLD = [
    "replay sample --json -",
    "replay sample --raw - --png shown",
    "batch sample",
    f"import {TRACE} -o -",
    "info sample",
    "info sample --json",
    "state sample --at 1",
    "events sample",
    "pixel sample 8 8",
    "debug sample E2 pixel 8 8 --all",
    "mesh sample E2",
    "overlay sample E2 --quads -o -",
    "why sample 1",
    "last-writer sample 2",
    "readers sample 4",
    "graph sample",
    "timeline sample -o -",
    "report sample -o -",
    "dump sample",
    "dump sample --jsonl",
    f"dump {TRACE}",
    "assemble text -o -",
    "convert sample - --to log",
    "convert sample - --to c",
    "shader shader -o -",
    "conform walk.none",
    "conform --list",
    "fuzz --list",
    f"diff-images {PICTURE} {PICTURE}",
    "--help",
    "--version",
    "dump --help",
]
"""Commands whose data goes to standard output."""
SILENT = [
    "minimize sample --check CHECK -o small --tries 3", "replay sample", "init-driver made",
]  # fmt: skip
"""Those that have nothing to write there, and so do not miss anybody."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sample").write_bytes(SAMPLE)
    (tmp_path / "shader").write_bytes(b"vs_2_0\nmov oPos, v0\n")
    (tmp_path / "text").write_bytes(dp2emu("dump", tmp_path / "sample").out)
    return tmp_path


def test_every_verb_is_here_but_one_that_writes_files_alone() -> None:
    assert {line.split()[0] for line in TOLD + SILENT} >= {*VERBS} - {"scene"}


@pytest.mark.parametrize("line", TOLD)
def test_a_verb_nobody_listens_to_ends_quietly(line: str, folder: Path) -> None:
    running = Running(folder, *line.split(), deaf=True)
    ended = running.ended()
    assert ended.code == READER_GONE
    assert not re.search("^dp2emu: |Error|Traceback|ignored", ended.err)
    await_that(lambda: not running.children())


@pytest.mark.parametrize("line", SILENT)
def test_a_verb_that_has_nothing_to_say_there_goes_on(line: str, folder: Path) -> None:
    check = "sh -c 'test $(wc -c < {}) -lt 2000'"
    words = [check if word == "CHECK" else word for word in line.split()]
    ended = Running(folder, *words, deaf=True).ended()
    assert ended.code == FINE
    assert "Error" not in ended.err
