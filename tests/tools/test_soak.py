"""Replays leave nothing behind in their process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dp2emu.dp2.shaders import lowered_pixel, lowered_vertex
from dp2emu.shader.sm.assemble import assemble
from tests.tools.loading import ROOT, load_tool

soak = load_tool("soak")


@pytest.mark.parametrize("stream", ["streams/instances.dp2", ""], ids=["stream", "scene10"])
def test_replays_after_the_first_leave_no_object_behind(stream: str, tmp_path: Path) -> None:
    """In a process of its own: other tests leave objects of theirs, and threads."""
    command = [sys.executable, "tools/soak.py", "--replays", "140", "--rows", "2"]
    path = stream or str(soak.captures(tmp_path)[-1])
    ran = subprocess.run([*command, path], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    assert ran.stdout.splitlines()[-1] == "levelled off"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["jit", "reference"])
def test_replays_of_all_streams_leave_nothing_behind(engine: str) -> None:
    command = [sys.executable, "tools/soak.py", "--replays", "2400", "--rows", "4"]
    ran = subprocess.run([*command, "--engine", engine], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout


def test_shaders_of_the_same_code_are_lowered_once() -> None:
    vertex = assemble("vs_1_1\ndcl_position v0\nmov oPos, v0\n")
    assert lowered_vertex(bytes(bytearray(vertex))) is lowered_vertex(vertex)
    pixel = assemble("ps_1_1\nmov r0, c0\n")
    assert lowered_pixel(bytes(bytearray(pixel)), None) is lowered_pixel(pixel, None)


@pytest.mark.parametrize(
    ("column", "more"), [("objects", 5), ("memory", 11), ("descriptors", 1), ("threads", 1)]
)
def test_each_column_that_grows_in_the_second_half_is_told(column: str, more: int) -> None:
    row = soak.Row(0, 10, 1000, 5, 1)
    rows = [row._replace(replays=100 * n) for n in range(5)]
    assert soak.grown(rows) == []
    rows[-1] = rows[-1]._replace(**{column: getattr(row, column) + more})
    assert soak.grown(rows) == [column]
    early = [row, *(each._replace(**{column: 99}) for each in rows[1:])]
    assert soak.grown(early) == []
