"""A raw driver log that is cut anywhere: what is whole is used, and one line tells the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from dp2emu.capture import open_capture
from dp2emu.capture.rawlog import MAGIC
from dp2emu.capture.records import Answered, Called, ContextCreated, Record, SurfaceCreated
from dp2emu.cli.verbs import CAPTURE, readers
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.capture.samples import log
from tests.cli.running import Ran, dp2emu

CLEAR = bytes.fromhex("2a000100 01000000 0000ffff 0000803f 00000000") + bytes(8) + b"\4\0\0\0" * 2
RECORDS: list[Record] = [
    SurfaceCreated(SurfaceDesc(1, SurfaceKind.SURFACE, 4, 4, 22)),
    SurfaceCreated(SurfaceDesc(2, SurfaceKind.MEMORY, 64)),
    ContextCreated(1, color=1),
    *(
        each
        for time in (1, 2)
        for each in (
            Called(
                Call(1, lpDDCommands=2, dwCommandLength=len(CLEAR), commands=CLEAR), time=2 * time
            ),
            Answered(Answer(0, 0, 2 * time + 1)),
        )
    ),
]
DATA = log(RECORDS)
ENDS = [len(MAGIC), *(len(log(RECORDS[:n])) - 28 for n in range(1, len(RECORDS) + 1))]
"""Offsets at which the magic and the records end."""
SOME = sorted({0, 1, 7, *ENDS, *(end + 5 for end in ENDS), *(end + 20 for end in ENDS)})
VERBS = {
    "replay": "CUT --engine reference", "info": "CUT", "dump": "CUT", "convert": "CUT made.dp2",
    "events": "CUT", "graph": "CUT", "timeline": "CUT -o made",
    "pixel": "CUT 1 1 --target 1", "last-writer": "CUT 1", "readers": "CUT 1",
    "report": "CUT -o made",
}  # fmt: skip
"""Verbs that read all of a capture."""
LOOKING = {"pixel", "last-writer", "readers"}
"""Those of them that look for an object of the capture."""
REST = {"batch", "state", "why", "debug", "mesh", "overlay", "minimize"}
"""Others, which read up to an object of the capture, or have rows for files."""


def told(ran: Ran) -> list[str]:
    return [line for line in ran.err.splitlines() if line.startswith("dp2emu: ")]


def test_the_verbs_are_those_that_read_captures() -> None:
    assert VERBS.keys() | REST == {*readers(CAPTURE)}


def test_every_prefix_gives_its_whole_records_and_one_statement(tmp_path: Path) -> None:
    path = tmp_path / "cut.log"
    for end in range(len(DATA)):
        path.write_bytes(DATA[:end])
        if end >= len(MAGIC):
            with open_capture(path) as capture:
                whole = sum(each <= end for each in ENDS) - 1
                assert list(capture.records()) == RECORDS[:whole]
                assert capture.damage is not None and capture.damage.offset == ENDS[whole]
        ran = dp2emu("info", path)
        assert (ran.code, len(told(ran))) == (2, 1) and str(path) in ran.err


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_uses_what_is_whole_and_tells_the_rest_in_one_line(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "cut.log"
    for end in SOME:
        path.write_bytes(DATA[:end])
        ran = dp2emu(verb, *VERBS[verb].replace("CUT", str(path)).split())
        assert ran.code == 2, (end, ran)
        *errors, damage = told(ran)
        # What a verb looks for may be behind the cut.
        assert len(errors) <= (verb in LOOKING and not ran.out), (end, ran)
        assert f"{path}: offset" in damage or end < len(MAGIC), (end, ran)
        assert "Traceback" not in ran.err


def test_a_whole_log_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "whole.log"
    path.write_bytes(DATA)
    for verb, line in VERBS.items():
        ran = dp2emu(verb, *line.replace("CUT", str(path)).split())
        assert (ran.code, told(ran)) == (0, []), (verb, ran)
