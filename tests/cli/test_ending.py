"""A signal ends any verb: one line, its code, nothing half written, no process left."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import NamedTuple

import pytest

from dp2emu.capture.rawlog import MAGIC
from dp2emu.cli import VERBS, interrupts, signal_watch
from dp2emu.cli.interrupts import Asked, ending, signals_raised
from tests.cli.processes import Ended, Running, await_that, forsaken, reading

STREAMS = Path(__file__).parents[2] / "streams"
SAMPLE = (STREAMS / "first_light.dp2").read_bytes()
TRACE = (STREAMS / "real" / "d3d9_tri.trace").read_bytes()
OLD = b"what was there"
CODES = {
    signal.SIGINT: (130, "interrupted"),
    signal.SIGTERM: (143, "terminated"),
    signal.SIGHUP: (129, "hung up"),
}
SCENES = Path(__file__).parents[1] / "golden" / "scenes"


class Case(NamedTuple):
    """Arguments of which ``PIPE`` is read to the end of ``given``, and then nothing comes.

    ``place`` is a pattern of the place that the message names.
    """

    arguments: str
    given: bytes = SAMPLE[:200]
    output: str = ""
    place: str = "PIPE: "

    def matches(self, ended: Ended, folder: Path, what: str) -> bool:
        """Whether a verb has said at which place it was ended."""
        place = self.place.replace("PIPE", re.escape(str(folder / "pipe")))
        return re.fullmatch(f"dp2emu: {place}{what}\n", ended.err) is not None


CASES = {
    "replay": Case("replay PIPE --json out --sheet sheet.png", output="out"),
    "replay of a bare buffer": Case("replay --bare PIPE --raw out", output="out"),
    "replay, driving": Case(
        "replay sample --rig pipe:DRIVER --json out", output="out", place="sample: call 0: "
    ),
    "batch": Case("batch PIPE sample --jobs 2 --out rows"),
    "import": Case("import PIPE -o out", TRACE[:50], output="out"),
    "info": Case("info PIPE"),
    "state": Case("state PIPE --at 3"),
    "events": Case("events PIPE"),
    "why": Case("why PIPE 1"),
    "last-writer": Case("last-writer PIPE 2"),
    "readers": Case("readers PIPE 2"),
    "graph": Case("graph PIPE -o out", output="out"),
    "timeline": Case("timeline PIPE -o out", output="out"),
    "report": Case("report PIPE -o out", output="out"),
    "mesh": Case("mesh PIPE E0"),
    "overlay": Case("overlay PIPE E0 --depth -o out", output="out"),
    "pixel": Case("pixel PIPE 1 1 --target 2"),
    "debug": Case("debug PIPE E2 pixel 1 1 --all"),
    "dump": Case("dump PIPE"),
    "dump of a trace": Case("dump PIPE", TRACE[:50]),
    "assemble": Case("assemble PIPE -o out", b"# dp2emu", output="out"),
    "convert": Case("convert PIPE out --to log", output="out"),
    "convert to text": Case("convert PIPE out --to text", output="out"),
    "shader": Case("shader PIPE -o out", b"vs_2_0\n", output="out"),
    "conform": Case(
        "conform walk --rig pipe:DRIVER --json out", MAGIC, output="out", place="capabilities: "
    ),
    "minimize": Case("minimize sample --check CHECK -o out", output="out", place="sample: "),
    "scene": Case("scene PIPE SCENE --out shown", b"{"),
    "diff-images": Case(
        "diff-images PIPE PIPE --out out", b"\x89PNG\r\n\x1a\n", output="out", place=""
    ),
}
DEFAULT = {name: list(CODES)[at % len(CODES)] for at, name in enumerate(CASES)}
"""The signal that each is sent ahead of the slow lane."""


def test_every_verb_is_tried() -> None:
    tried = {case.arguments.split()[0] for case in CASES.values()}
    assert tried | {"fuzz", "init-driver"} == {*VERBS}  # the second waits for nothing


def words(case: Case, folder: Path) -> list[str]:
    """The arguments; a named pipe and a capture are in the folder."""
    os.mkfifo(folder / "pipe")
    (folder / "sample").write_bytes(SAMPLE)
    scene = next(SCENES.rglob("*.json"))
    there = {
        "PIPE": str(folder / "pipe"),
        "SCENE": str(scene),
        "pipe:DRIVER": f"pipe:sh -c 'head -c 8 >&2; exec cat {folder / 'pipe'}'",
        "CHECK": f"sh -c 'sleep 0.3; cat {folder / 'pipe'}; true'",
    }
    return [there.get(word, word) for word in case.arguments.split(" ")]


def check_ends(case: Case, number: signal.Signals, folder: Path, *, group: bool = False) -> None:
    if case.output:
        (folder / case.output).write_bytes(OLD)
    running = Running(folder, *words(case, folder))
    end = reading(folder / "pipe", running)
    try:
        os.write(end, case.given)
        running.signal(number, group=group)
        code, line = CODES[number]
        ended = running.ended()
        await_that(lambda: forsaken(end))
    finally:
        os.close(end)
    assert ended.code == code
    assert case.matches(ended, folder, line), ended.err
    await_that(lambda: not running.children())
    if case.output:
        assert (folder / case.output).read_bytes() == OLD
    left = {path.name for path in folder.iterdir()} - {"pipe", "sample", case.output}
    assert left <= {"rows"} and all(not (folder / name).stat().st_size for name in left)


@pytest.mark.parametrize("name", CASES)
def test_a_verb_that_waits_ends(name: str, tmp_path: Path) -> None:
    check_ends(CASES[name], DEFAULT[name], tmp_path)


@pytest.mark.parametrize("name", ["batch", "replay, driving", "conform", "minimize"])
def test_a_terminal_ends_a_verb_and_what_it_has_started(name: str, tmp_path: Path) -> None:
    check_ends(CASES[name], signal.SIGINT, tmp_path, group=True)


@pytest.mark.slow
@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
@pytest.mark.parametrize("name", CASES)
def test_a_verb_that_waits_ends_by_any_signal(
    name: str, number: signal.Signals, tmp_path: Path
) -> None:
    check_ends(CASES[name], number, tmp_path)


def fuzzing(folder: Path, target: str, *more: object) -> Running:
    """A campaign under way, which has kept an input."""
    running = Running(
        folder, "fuzz", "--plain", "--target", f"tests.fuzz.planted:{target}", "--json",
        "--corpus", folder / "kept", "--jobs", 2, *more,
    )  # fmt: skip
    await_that(lambda: any((folder / "kept" / target.lower()).glob("[!.]*")), running.process)
    return running


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_campaign_that_is_ended_tells_what_it_has(
    number: signal.Signals, tmp_path: Path
) -> None:
    running = fuzzing(tmp_path, "FINE")
    running.signal(number, group=number == signal.SIGINT)
    ended = running.ended()
    assert ended.code == CODES[number][0]
    place = "target tests.fuzz.planted:FINE"
    assert ended.err.splitlines()[1:] == [f"dp2emu: {place}: {CODES[number][1]}"]
    told = json.loads(ended.out)
    assert told == json.loads((tmp_path / "kept" / "fine.json").read_text("utf-8"))
    await_that(lambda: not running.children())


def test_a_campaign_that_is_ended_with_findings_has_found_something(tmp_path: Path) -> None:
    running = fuzzing(tmp_path, "RAISES")
    await_that(lambda: any((tmp_path / "kept" / "findings").glob("*.txt")), running.process)
    running.signal(signal.SIGINT)
    ended = running.ended()
    assert (ended.code, len(json.loads(ended.out)["findings"])) == (1, 1)


def test_workers_of_a_campaign_that_is_killed_end_too(tmp_path: Path) -> None:
    running = fuzzing(tmp_path, "FINE")
    running.signal(signal.SIGKILL)
    running.process.join()
    await_that(lambda: not running.children())


def test_a_scene_behind_the_one_that_is_interrupted_is_not_played(tmp_path: Path) -> None:
    check_ends(CASES["scene"], signal.SIGINT, tmp_path)
    assert not (tmp_path / "shown").exists()


def test_a_batch_keeps_the_rows_it_has(tmp_path: Path) -> None:
    (tmp_path / "sample").write_bytes(SAMPLE)
    os.mkfifo(tmp_path / "pipe")
    running = Running(tmp_path, "batch", "sample", "pipe", "--out", "rows")
    end = reading(tmp_path / "pipe", running)
    await_that(lambda: (tmp_path / "rows").read_bytes().endswith(b"\n"), running.process)
    running.signal(signal.SIGTERM)
    assert running.ended().code == 143
    os.close(end)
    (row,) = (tmp_path / "rows").read_text("utf-8").splitlines()
    assert json.loads(row)["file"] == "sample"


def test_signals_that_are_to_be_ignored_are(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests of this process have drivers.
    for module in (interrupts, signal_watch):
        monkeypatch.setattr(module, "cancel_all", lambda reason: None)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals_raised():
            signal.raise_signal(signal.SIGHUP)
            with pytest.raises(Asked):
                signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)  # again, which is nothing new
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_an_interrupt_without_a_signal_is_ctrl_c() -> None:
    assert ending(KeyboardInterrupt()) == ending(None) == (130, "interrupted")
