"""The tool that measures how long a verb goes on after a signal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dp2emu.capture import open_capture
from dp2emu.cli import VERBS
from dp2emu.limits import UNLIMITED
from tests.tools.loading import load_tool

reaction = load_tool("reaction")


def test_an_interrupted_start_is_without_faults(tmp_path: Path) -> None:
    seconds, faults = reaction.tried(reaction.WORKS["start"], tmp_path, 0, 2)
    assert (seconds > 0.0, faults) == (True, [])


def test_a_verb_that_ends_before_its_moment_is_a_fault(tmp_path: Path) -> None:
    work = reaction.Work(("info", str(reaction.SAMPLE)), 1000.0, 1000.0)
    _, (fault,) = reaction.tried(work, tmp_path, 0, 1)
    assert fault.startswith("it had ended with 0 before 1000.")


def test_moments_come_sooner_if_a_verb_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def tried(work: Any, folder: Path, number: int, tries: int) -> tuple[float, list[str]]:
        asked.append(work.last)
        return 0.01, [f"{reaction.ENDED} early"] if work.last > 5.0 else []

    monkeypatch.setattr(reaction, "tried", tried)
    assert reaction.tries_of(reaction.Work(("info",), 0.0, 8.0), tmp_path, 2) == [(0.01, [])] * 2
    assert asked == pytest.approx([8.0, 5.6, 3.92, 3.92])
    monkeypatch.setattr(reaction, "tried", lambda *given: (0.0, [f"{reaction.ENDED} early"]))
    ((_, faults),) = reaction.tries_of(reaction.Work(("info",), 0.0, 8.0), tmp_path, 1)
    assert faults == [f"{reaction.ENDED} early"]


@pytest.mark.parametrize("name", reaction.WORKS)
def test_works_are_of_verbs(name: str) -> None:
    assert reaction.WORKS[name].words[0] in VERBS


def test_inputs_are_whole_captures(tmp_path: Path) -> None:
    reaction.make_inputs(tmp_path)
    sizes = {}
    for path in tmp_path.iterdir():
        with open_capture(path, limits=UNLIMITED) as capture:
            sizes[path.name] = sum(1 for _ in capture.records())
            assert capture.damage is None
    assert sizes.keys() == {"loop.dp2", "text.dp2", "large.dp2", "zeros.dp2"}
    assert min(sizes["large.dp2"], sizes["zeros.dp2"]) > 64
