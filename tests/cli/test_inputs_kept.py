"""No verb writes over one of its inputs, whatever name the output gives it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from dp2emu.cli import VERBS, cli, run
from dp2emu.cli.paths import InputPath, OutputPath, Specification
from tests.cli.running import dp2emu
from tests.tools.loading import ROOT

STREAMS = ROOT / "streams"
SCENE = ROOT / "tests" / "golden" / "scenes" / "query" / "occ_overlap_random.json"


class Case(NamedTuple):
    """A command line in which OUT is an output that names the input ``file`` once more.

    ``parameters`` are the parameters concerned: the input's, then the output's.
    """

    line: str
    file: str
    parameters: tuple[str, str]


CASES = [
    Case("replay a.dp2 --json OUT", "a.dp2", ("file", "json_path")),
    Case("replay a.dp2 --sheet OUT", "a.dp2", ("file", "sheet")),
    Case("replay a.dp2 --raw OUT", "a.dp2", ("file", "raw")),
    Case("replay a.dp2 --png OUT --against seen", "seen", ("against", "png")),
    Case("replay a.dp2 --data OUT --against seen", "seen", ("against", "data")),
    Case("replay a.dp2 --against seen --differences OUT", "seen", ("against", "differences")),
    Case("replay a.dp2 --against seen.json --png OUT", "seen", ("against", "png")),
    Case("replay a.dp2 --against seen --json OUT", "seen.json", ("against", "json_path")),
    Case("replay a.dp2 --against seen --sheet OUT", "seen/call_1.png", ("against", "sheet")),
    Case("replay a.dp2 --timing scripted:t.json --json OUT", "t.json", ("timing", "json_path")),
    Case("replay a.dp2 --scenario t.json --json OUT", "t.json", ("scenario", "json_path")),
    Case("replay a.dp2 --rig recorded:b.dp2 --json OUT", "b.dp2", ("rig", "json_path")),
    Case("replay a.dp2 --rig native:b.dp2 --raw OUT", "b.dp2", ("rig", "raw")),
    Case("replay a.bin --bare --vertices b.dp2 --json OUT", "b.dp2", ("vertices", "json_path")),
    Case("replay a.dp2 --verify --junit OUT", "a.dp2", ("file", "junit_path")),
    Case("replay a.dp2 --against seen --junit OUT", "seen/call_1.png", ("against", "junit_path")),
    Case("replay a.dp2 --verify --timing scripted:t.json --junit OUT", "t.json",
         ("timing", "junit_path")),
    Case("replay a.dp2 --verify --scenario t.json --junit OUT", "t.json",
         ("scenario", "junit_path")),
    Case("replay a.dp2 --verify --rig recorded:b.dp2 --junit OUT", "b.dp2", ("rig", "junit_path")),
    Case("replay a.bin --bare --verify --vertices b.dp2 --junit OUT", "b.dp2",
         ("vertices", "junit_path")),
    Case("graph a.dp2 -o OUT", "a.dp2", ("file", "out")),
    Case("graph a.dp2 --timing scripted:t.json -o OUT", "t.json", ("timing", "out")),
    Case("graph a.bin --bare --vertices b.dp2 -o OUT", "b.dp2", ("vertices", "out")),
    Case("timeline a.dp2 -o OUT", "a.dp2", ("file", "out")),
    Case("timeline a.dp2 --timing scripted:t.json -o OUT", "t.json", ("timing", "out")),
    Case("timeline a.bin --bare --vertices b.dp2 -o OUT", "b.dp2", ("vertices", "out")),
    Case("batch b.dp2 a.dp2 --junit OUT", "a.dp2", ("files", "junit_path")),
    Case("batch a.dp2 --timing scripted:t.json --junit OUT", "t.json", ("timing", "junit_path")),
    Case("replay a.dp2 --draws --strip OUT", "a.dp2", ("file", "strip")),
    Case("mesh a.dp2 E3 -o OUT", "a.dp2", ("file", "output")),
    Case("mesh a.dp2 E3 --timing scripted:t.json -o OUT", "t.json", ("timing", "output")),
    Case("mesh a.bin E3 --bare --vertices b.dp2 -o OUT", "b.dp2", ("vertices", "output")),
    Case("overlay a.dp2 E3 --quads -o OUT", "a.dp2", ("file", "output")),
    Case("overlay a.dp2 E3 --quads --timing scripted:t.json -o OUT", "t.json",
         ("timing", "output")),
    Case("dump a.dp2 -o OUT", "a.dp2", ("file", "output")),
    Case("dump a.bin --bare --vertices b.dp2 -o OUT", "b.dp2", ("vertices", "output")),
    Case("report a.dp2 -o OUT", "a.dp2", ("file", "output")),
    Case("report a.dp2 --against seen -o OUT", "seen/call_1.png", ("against", "output")),
    Case("report a.dp2 --against b.dp2 -o OUT", "b.dp2", ("against", "output")),
    Case("report a.dp2 --timing scripted:t.json -o OUT", "t.json", ("timing", "output")),
    Case("report a.bin --bare --vertices b.dp2 -o OUT", "b.dp2", ("vertices", "output")),
    Case("batch b.dp2 a.dp2 --out OUT", "a.dp2", ("files", "out")),
    Case("batch a.dp2 --out OUT --resume", "a.dp2", ("files", "out")),
    Case("batch a.dp2 --timing scripted:t.json --out OUT", "t.json", ("timing", "out")),
    Case("import a.trace -o OUT", "a.trace", ("file", "out")),
    Case("assemble a.txt -o OUT", "a.txt", ("text", "out")),
    Case("convert a.dp2 OUT --to text", "a.dp2", ("file", "out")),
    Case("convert a.bin OUT --to sealed --bare --vertices b.dp2", "b.dp2", ("vertices", "out")),
    Case("shader a.vs -o OUT", "a.vs", ("file", "out")),
    Case("conform walk --rig recorded:a.dp2 --json OUT", "a.dp2", ("rig", "json_path")),
    Case("conform walk --rig recorded:a.dp2 --junit OUT", "a.dp2", ("rig", "junit_path")),
    Case("conform walk.none --rig recorded:a.dp2 --html OUT", "a.dp2", ("rig", "html_path")),
    Case("minimize a.dp2 --check false -o OUT", "a.dp2", ("file", "out")),
    Case("minimize a.bin --bare --vertices b.dp2 --check false -o OUT", "b.dp2",
         ("vertices", "out")),
    Case("scene scene.json --out made --capture OUT", "scene.json", ("scenes", "capture")),
    Case("scene scene.json --out made --scenario t.json --capture OUT", "t.json",
         ("scenario", "capture")),
    Case("scene scene.json --out made --timing scripted:t.json --capture OUT", "t.json",
         ("timing", "capture")),
    Case("diff-images seen/call_1.png b.png --out OUT", "seen/call_1.png", ("one", "out")),
    Case("diff-images b.png seen/call_1.png --out OUT", "seen/call_1.png", ("other", "out")),
    Case("diff-images seen shown --out OUT", "seen", ("one", "out")),
    Case("diff-images shown seen --out OUT", "seen", ("other", "out")),
]  # fmt: skip
WITHOUT = {
    ("conform", "rig", "failures_path"): "a folder",
    ("conform", "rig", "folder"): "nothing but cases is exported: the rig is not opened",
    ("state", "file", "pictures"): "a folder beside a file",
    ("state", "vertices", "pictures"): "a folder",
    ("state", "other", "pictures"): "a folder",
    ("scene", "scenes", "out"): "a folder beside files; see the test of the scene in its folder",
    ("scene", "scenario", "out"): "a folder",
    ("scene", "timing", "out"): "a folder",
}
"""Pairs of input and output that cannot clash as one file, and why."""

FOLDERS = ("seen",)
"""Inputs without hard links."""

NAMES: dict[str, Callable[[Path, Path], None]] = {
    "path": lambda file, name: None,
    "link": lambda file, name: name.symlink_to(file.absolute()),
    "hard link": os.link,  # type: ignore[dict-item]
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Inputs of every kind."""
    for name in ("a.dp2", "b.dp2"):
        shutil.copy(STREAMS / "first_light.dp2", tmp_path / name)
    for place in ("seen/call_1.png", "shown/call_1.png", "b.png"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "docs" / "first_light.png", tmp_path / place)
    shutil.copy(STREAMS / "real" / "d3d9_tri.trace", tmp_path / "a.trace")
    shutil.copy(ROOT / "docs" / "toon.vs", tmp_path / "a.vs")
    shutil.copy(SCENE, tmp_path / "scene.json")
    (tmp_path / "a.bin").write_bytes(b"")
    (tmp_path / "a.txt").write_bytes(dp2emu("dump", tmp_path / "a.dp2").out)
    (tmp_path / "t.json").write_text('{"call": [1]}')
    (tmp_path / "seen.json").write_text("[]")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("case", "how"),
    [
        pytest.param(case, how, id=f"{case.line}, {how}")
        for case in CASES
        for how in NAMES
        if not (how == "hard link" and case.file in FOLDERS)
    ],
)
def test_no_verb_writes_over_an_input(case: Case, how: str, folder: Path) -> None:
    name = f"./{case.file}" if how == "path" else "alias"
    NAMES[how](Path(case.file), Path(name))
    before = content(folder)
    ran = dp2emu(*case.line.replace("OUT", name).split())
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert f"{name} would overwrite the input " in ran.err
    assert content(folder) == before


def test_every_pair_of_an_input_and_an_output_is_tried() -> None:
    tried = {(case.line.split()[0], *case.parameters) for case in CASES}
    there = set()
    for verb in VERBS:
        command = cli.get_command(click.Context(cli), verb)
        assert command is not None
        reads = [p for p in command.params if isinstance(p.type, InputPath | Specification)]
        writes = [p for p in command.params if isinstance(p.type, OutputPath)]
        there |= {(verb, one.name, other.name) for one in reads for other in writes}
    assert tried <= there
    # A verb checks all its inputs against all its outputs; each of them is in one pair at least.
    for verb in {pair[0] for pair in there}:
        for place in (1, 2):
            missing = {pair[place] for pair in there if pair[0] == verb} - {
                pair[place] for pair in tried | WITHOUT.keys() if pair[0] == verb
            }
            assert not missing, (verb, missing)


def test_options_that_name_files_have_a_role() -> None:
    """A new option whose value is a path must say whether it is read or written."""
    corpus = {("fuzz", "corpus"), ("fuzz", "export")}  # folders that only campaigns use
    for verb in VERBS:
        command = cli.get_command(click.Context(cli), verb)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter.type, click.Path) and (verb, parameter.name) not in corpus:
                assert isinstance(parameter.type, InputPath | OutputPath), (verb, parameter.name)


def test_standard_input_is_an_input_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(folder)
    with open("a.dp2", encoding="latin-1") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert run(["convert", "-", "a.dp2"]) == 2
    assert content(folder) == before


def test_a_scene_in_the_folder_of_the_results_stays(folder: Path) -> None:
    """The name of the results is that of the scene: they would replace it."""
    scene = json.loads(SCENE.read_text("utf-8"))
    place = folder / "scenes" / scene["category"]
    place.mkdir(parents=True)
    shutil.copy(SCENE, place / f"{scene['name']}.json")
    before = content(folder)
    ran = dp2emu("scene", place / f"{scene['name']}.json", "--out", folder / "scenes")
    assert ran.code == 2
    assert "is an input and would be overwritten" in ran.err
    assert content(folder) == before


def test_a_picture_that_is_linked_to_an_input_is_not_written(folder: Path) -> None:
    Path("out").mkdir()
    Path("out", "call000001_surface2.png").symlink_to(folder / "a.dp2")
    before = (folder / "a.dp2").read_bytes()
    ran = dp2emu("replay", "a.dp2", "--png", "out")
    assert ran.code == 2 and "is an input and would be overwritten" in ran.err
    assert (folder / "a.dp2").read_bytes() == before


def test_devices_may_be_input_and_output() -> None:
    assert dp2emu("shader", ROOT / "docs" / "toon.vs", "-o", os.devnull).code == 0


def test_an_output_beside_an_input_is_written(folder: Path) -> None:
    assert dp2emu("replay", "a.dp2", "--png", ".", "--json", "a.json").code == 0
    assert Path("call000001_surface2.png").exists() and Path("a.json").exists()
