"""The README does what it says: every command in it is run, here or by ``.ci/run``."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dp2emu.cli import VERBS
from tests.cli.running import dp2emu
from tests.tools.loading import ROOT, load_tool

README = (ROOT / "README.rst").read_text("utf-8")
REPLAY_INSTALLED = ".venv/bin/dp2emu "
TOOLS = {
    "python -m tests.golden": "tests/golden/test_main.py",
    "python tools/bench.py": "tests/tools/test_bench.py",
    "python tools/make_streams.py": "tests/tools/test_make_streams.py",
    "python tools/token_table.py": "tests/test_readme.py",
    "python tools/sizes.py": "tests/tools/test_sizes.py",
}
"""Commands that are run by tests of their own."""


def blocks(language: str) -> Iterator[list[str]]:
    """The lines of every code block of a language, without their indent."""
    found = re.findall(rf"\.\. code-block:: {language}\n\n((?:    .*\n|\n)+)", README)
    return ([line[4:] for line in block.rstrip().split("\n")] for block in found)


def commands() -> list[str]:
    """Every shell command."""
    return [line for block in blocks("sh") for line in block]


def verbs() -> list[str]:
    """What follows ``dp2emu`` in those commands that are one, also behind an installation."""
    found = []
    for line in commands():
        if line.startswith("dp2emu "):
            found.append(line.removeprefix("dp2emu "))
        elif REPLAY_INSTALLED in line:
            found.append(line.partition(REPLAY_INSTALLED)[2])
    return found


def test_every_command_is_run_by_somebody() -> None:
    run_here = {f"dp2emu {verb}" for verb in verbs()}
    script = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    others = [line for line in commands() if line not in run_here | TOOLS.keys() | {".ci/run"}]
    installing, testing = others
    assert installing.partition(REPLAY_INSTALLED)[2] in verbs()
    assert script[-1] == testing
    assert installing.startswith(testing.partition("'")[0])
    assert all((ROOT / test).exists() for test in TOOLS.values())


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a clone as far as the commands go."""
    for folder in ("docs", "streams"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    scenes = Path("tests", "golden", "scenes", "query")
    shutil.copytree(ROOT / scenes, tmp_path / scenes)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_work_one_after_the_other(clone: Path) -> None:
    for verb in verbs():
        ran = dp2emu(*shlex.split(verb))
        assert ran.code == 0, f"{verb}: {ran.err}"
    assert (clone / "out" / "call000001_surface2.png").exists()
    assembled = (clone / "first_light.dp2").read_bytes()
    assert assembled == (clone / "streams" / "first_light.dp2").read_bytes()


def test_every_verb_is_shown() -> None:
    assert {verb.split()[0] for verb in verbs()} == VERBS.keys()


def test_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = next(blocks("python"))
    exec(compile("\n".join(example), "README.rst", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert "S_FALSE" in first
    assert "S_OK" in second and second.endswith("0xff203040")


def test_example_of_direct3d_11_runs(capsys: pytest.CaptureFixture[str]) -> None:
    _, example, _ = blocks("python")
    exec(compile("\n".join(example), "README.rst", "exec"), {})
    assert capsys.readouterr().out == "1\n"


def test_opcode_example_is_the_real_thing() -> None:
    *_, example = blocks("python")
    source = (ROOT / "dp2emu" / "dp2" / "tokens" / "state.py").read_text("utf-8")
    assert "\n".join(example) in source


def test_token_table_is_up_to_date() -> None:
    assert load_tool("token_table").with_table(README) == README


def test_token_table_is_written_into_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = load_tool("token_table")
    stale = tmp_path / "README.rst"
    stale.write_text(f"a\n\n{tool.BEGIN}stale table\n{tool.END}\nz\n")
    monkeypatch.setattr(tool, "README", stale)
    tool.main()
    text = stale.read_text()
    assert "ISSUEQUERY" in text and "stale" not in text
    assert text.startswith("a\n") and text.endswith("z\n")


def test_files_it_names_exist() -> None:
    for name in re.findall(r"<((?:docs|streams)/[^>]*)>|image:: (\S+)", README):
        assert (ROOT / (name[0] or name[1])).is_file()
