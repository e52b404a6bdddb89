"""Changes made on purpose: each is one, and the op table's are all noticed."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dp2emu.shader.ops import OPS
from tests.tools.loading import ROOT, load_tool

SOURCE = '''\
"""A module."""

LIMIT: int = 3

def clip(x: int, low: int = -1) -> int:
    """At most the limit."""
    if x > LIMIT and not low:
        x = LIMIT
    return x + low
'''


def test_every_change_is_one_change() -> None:
    tool = load_tool("mutate")
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    every = list(tool.changes(ast.parse(SOURCE)))
    for number, change in enumerate(every):
        lines = ast.unparse(tool.changed(SOURCE, number)).splitlines()
        different = [new for old, new in zip(plain, lines, strict=True) if old != new]
        assert len(different) == 1, change.what
    assert sorted(change.what for change in every) == sorted([
        "3 -> 4", "1 -> 2", "USub changed", "condition turned", "And changed", "Gt changed",
        "Not changed", "left out: x = LIMIT", "Add changed",
    ])  # fmt: skip


def test_texts_and_annotations_are_left_alone() -> None:
    tool = load_tool("mutate")
    source = 'def f(x: "int | None" = None) -> "a + b":\n    raise ValueError(f"{x + 1}")\n'
    assert list(tool.changes(ast.parse(source))) == []


@pytest.mark.parametrize("name", ["min", "ishl", "ftou", "bnot"])
def test_a_broken_row_is_noticed_and_the_right_one_is_not(name: str) -> None:
    tool = load_tool("mutate_ops")
    right = OPS[name]
    assert not tool.noticed(name, right)
    for what, row, must_matter in tool.broken(right):
        if must_matter or not tool.same(name, row):
            assert tool.noticed(name, row), what
    assert OPS[name] is right


TRIED = (
    ROOT / "tools" / "mutate.py",
    "dp2emu.identity_cache",
    "--sample",
    "3",
    "--",
    "tests/test_identity_cache.py",
)
IN_PLACE = """
import gc
import dp2emu.identity_cache
import mutate_inplace
gc.freeze()
print(sum(mutate_inplace.change_functions("dp2emu.identity_cache", n) for n in range(9)))
"""


def _installed(folder: Path) -> None:
    """What an installer leaves of a package whose plugin pytest loads, and rewrites."""
    told = folder / "dp2emu-0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: dp2emu\nVersion: 0\n")
    (told / "entry_points.txt").write_text("[pytest11]\ndp2emu = dp2emu.pytest_plugin\n")
    (told / "RECORD").write_text("dp2emu/__init__.py,,\ndp2emu/identity_cache.py,,\n")


def _said(*arguments: str | Path, path: Path | str = "") -> str:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tools", path)))
    ran = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    return ran.stdout


@pytest.mark.parametrize("installed", [False, True])
def test_what_is_changed_is_what_is_tested(tmp_path: Path, *, installed: bool) -> None:
    if installed:
        _installed(tmp_path)
    said = _said(*TRIED, path=tmp_path)
    assert said.splitlines()[-1] == "dp2emu.identity_cache: 3 changes, 3 noticed"


def test_functions_that_the_collector_does_not_look_at_are_changed() -> None:
    assert int(_said("-c", IN_PLACE)) > 3
