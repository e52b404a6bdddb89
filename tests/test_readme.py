"""The README does what it says; ``test_commands`` runs its commands."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dp2emu as package
from tests.cli.running import dp2emu
from tests.tools.loading import ROOT, load_tool

README = (ROOT / "README.rst").read_text("utf-8")


def blocks(language: str) -> Iterator[list[str]]:
    """The lines of every code block of a language, without their indent."""
    found = re.findall(rf"\.\. code-block:: {language}\n\n((?:    .*\n|\n)+)", README)
    return ([line[4:] for line in block.rstrip().split("\n")] for block in found)


def test_help_and_documents_say_directx_6_to_11() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    shown = dp2emu("--help").out.decode()
    index = (ROOT / "docs" / "index.rst").read_text("utf-8")
    for text in (README, index, shown, settings["metadata"]["description"], package.__doc__ or ""):
        said = " ".join(text.split())
        assert re.search("DirectX 6 to 11 display driver", said[:400]), said[:400]
    for text in (README, index):  # the interfaces differ, and the first paragraph says where
        first = " ".join(text.split("\n\n")[1].split())
        assert "For DirectX 6 to 9" in first and "For Direct3D 10 and 11" in first


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
