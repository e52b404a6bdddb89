"""Signals and ``--timeout`` end a verb wherever it works: one line, its code, no rests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from dp2emu.cli import VERBS, cli
from dp2emu.cli.interrupts import TIMED_OUT
from tests.cli import stuck
from tests.cli.processes import Ended, Running, await_that
from tests.cli.test_ending import CASES, OLD, Case, words

STREAMS = Path(__file__).parents[2] / "streams"
SAMPLE = STREAMS / "first_light.dp2"
TRACE = STREAMS / "real" / "d3d9_tri.trace"


def ended_while(
    where: Callable[[], None], folder: Path, *arguments: object, number: int = signal.SIGTERM
) -> Ended:
    """The end of a verb by a signal once it is stuck."""
    (folder / "out").write_bytes(OLD)
    running = Running(folder, *arguments, stuck=where)
    await_that((folder / stuck.MARK).exists, running.process)
    running.signal(number)
    ended = running.ended()
    await_that(lambda: not running.children())
    (folder / stuck.MARK).unlink()
    return ended


def check_no_rests(folder: Path) -> None:
    assert (folder / "out").read_bytes() == OLD
    assert {path.name for path in folder.iterdir()} <= {"out", "dp2emu", "rows"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_replay_in_the_middle_of_a_compilation(
    number: signal.Signals, tmp_path: Path
) -> None:
    ended = ended_while(
        stuck.in_compilation, tmp_path, "replay", SAMPLE, "--json", "out", number=number
    )
    word = "interrupted" if number == signal.SIGINT else "terminated"
    place = "call 1, offset 0x5c, DRAWPRIMITIVE"
    assert (ended.code, ended.err) == (128 + number, f"dp2emu: {SAMPLE}: {place}: {word}\n")
    check_no_rests(tmp_path)
    cached = [path for path in (tmp_path / "dp2emu").rglob("*") if path.is_file()]
    assert all(path.suffix == ".object" for path in cached), "half an object is left"


@pytest.mark.parametrize(
    ("where", "arguments", "place"),
    [
        (stuck.in_library, ("replay", SAMPLE, "--json", "out"), f"{SAMPLE}: call 1"),
        (stuck.in_decompression, ("convert", SAMPLE, "out", "--to", "log"), str(SAMPLE)),
        (stuck.in_import, ("import", TRACE, "-o", "out"), f"{TRACE}: call 0, Direct3DCreate9"),
    ],
    ids=["library", "decompression", "import"],
)
def test_a_signal_ends_a_verb_whose_main_thread_does_not_react(
    where: Callable[[], None], arguments: tuple[object, ...], place: str, tmp_path: Path
) -> None:
    ended = ended_while(where, tmp_path, *arguments)
    assert (ended.code, ended.err) == (143, f"dp2emu: {place}: terminated\n")
    check_no_rests(tmp_path)


def test_a_signal_in_a_callback_is_not_lost(tmp_path: Path) -> None:
    """Python drops exceptions of callbacks, as of garbage collections."""
    ended = Running(tmp_path, "replay", SAMPLE, stuck=stuck.in_callback).ended()
    assert (ended.code, ended.err) == (143, f"dp2emu: {SAMPLE}: call 1: terminated\n")


# --timeout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_timeout(verb: str) -> None:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    assert "--timeout" in {name for each in command.params for name in each.opts}


def check_times_out(case: Case, folder: Path) -> None:
    if case.output:
        (folder / case.output).write_bytes(OLD)
    given = words(case, folder)
    end = os.open(folder / "pipe", os.O_RDWR)  # it never comes to its end
    try:
        os.write(end, case.given)
        running = Running(folder, *given, "--timeout", 2)
        ended = running.ended()
    finally:
        os.close(end)
    assert ended.code == TIMED_OUT
    assert case.matches(ended, folder, r"not finished within the timeout of 2 s"), ended.err
    await_that(lambda: not running.children())
    if case.output:
        assert (folder / case.output).read_bytes() == OLD


TIMED = {name: case for name, case in CASES.items() if not name.startswith("minimize")}
"""All but the verb whose ``--timeout`` is that of a trial."""


@pytest.mark.parametrize("name", ["replay", "batch", "scene", "conform"])
def test_a_timeout_ends_a_verb_that_waits(name: str, tmp_path: Path) -> None:
    check_times_out(TIMED[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", TIMED)
def test_a_timeout_ends_any_verb_that_waits(name: str, tmp_path: Path) -> None:
    check_times_out(TIMED[name], tmp_path)


def test_a_timeout_ends_a_verb_whose_main_thread_does_not_react(tmp_path: Path) -> None:
    ended = Running(tmp_path, "replay", SAMPLE, "--timeout", 2, stuck=stuck.in_library).ended()
    what = f"{SAMPLE}: call 1: not finished within the timeout of 2 s"
    assert (ended.code, ended.err) == (TIMED_OUT, f"dp2emu: {what}\n")


def test_a_verb_that_ends_in_time_is_not_affected(tmp_path: Path) -> None:
    ended = Running(tmp_path, "info", SAMPLE, "--timeout", 1000).ended()
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "x"])
def test_a_timeout_is_a_number_of_seconds(seconds: str, tmp_path: Path) -> None:
    ended = Running(tmp_path, "info", SAMPLE, "--timeout", seconds).ended()
    assert (ended.code, ended.err.count("\n")) == (2, 1)
