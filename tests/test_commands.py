"""Every command in README and the documents is run by a shell, and what comes of it looked at.

``test_docs`` runs those of the pages whose commands belong with programs in Python.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dp2emu.cli import VERBS
from tests.shell import ELSEWHERE, RUN, check_command, commands_in, make_clone, run_elsewhere
from tests.test_docs import PAGES
from tests.tools.loading import ROOT

TEXTS = {path.stem: path.read_text("utf-8") for path in [
    ROOT / "README.rst", *sorted((ROOT / "docs").glob("*.rst"))
]}  # fmt: skip
HERE = [
    name for name, text in TEXTS.items()
    if name not in PAGES and any(run_elsewhere(each) is None for each in commands_in(text))
]  # fmt: skip
INSTALLED = ".venv/bin/dp2emu "


@pytest.mark.parametrize("page", HERE)
def test_commands_of_a_page_do_what_they_say(page: str, tmp_path: Path) -> None:
    make_clone(tmp_path)
    for command in commands_in(TEXTS[page]):
        if run_elsewhere(command) is None:
            check_command(command, tmp_path)


def test_every_command_has_a_result_or_runs_elsewhere() -> None:
    commands = {each for text in TEXTS.values() for each in commands_in(text)}
    assert {each for each in commands if run_elsewhere(each) is None} | {
        f"dp2emu {each.partition(INSTALLED)[2]}" for each in commands if INSTALLED in each
    } == RUN.keys()


def test_what_runs_a_command_elsewhere_is_there() -> None:
    commands = [each for text in TEXTS.values() for each in commands_in(text)]
    places = {each: place for each in commands if (place := run_elsewhere(each)) is not None}
    assert places and len(ELSEWHERE) == len({*ELSEWHERE})
    for command, place in places.items():
        if "/" in place:
            assert (ROOT / place).is_file(), (command, place)
        if command.startswith("python tools/"):
            assert (ROOT / command.split()[1]).is_file(), command


def test_the_command_behind_the_installation_is_run(tmp_path: Path) -> None:
    (line,) = (each for each in commands_in(TEXTS["README"]) if INSTALLED in each)
    make_clone(tmp_path)
    check_command(f"dp2emu {line.partition(INSTALLED)[2]}", tmp_path)


def test_readme_shows_every_verb() -> None:
    words = [each.split() for each in commands_in(TEXTS["README"])]
    assert {each[1] for each in words if each[0] == "dp2emu"} == VERBS.keys()


def test_what_is_assembled_is_what_was_converted(tmp_path: Path) -> None:
    make_clone(tmp_path)
    for command in commands_in(TEXTS["README"]):
        if command.startswith(("dp2emu convert", "dp2emu assemble")):
            check_command(command, tmp_path)
    assembled = (tmp_path / "first_light.dp2").read_bytes()
    assert assembled == (ROOT / "streams" / "first_light.dp2").read_bytes()
