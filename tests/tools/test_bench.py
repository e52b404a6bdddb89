"""The benchmarks run, however small; nothing is timed here."""

from __future__ import annotations

import json
import re
import shlex
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from benchmark import promises

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import RenderState
from dp2emu.limits import Limits
from tests.tools.loading import ROOT, load_tool

bench = load_tool("bench")


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> str:
    """What the tool prints."""
    monkeypatch.setattr("sys.argv", ["bench.py", "--scale", "0.00001", *arguments])
    bench.main()
    return capsys.readouterr().out


class Asked(bench.Place, frozen=True):  # type: ignore[misc, name-defined]
    """A place that remembers the sizes which it has scaled."""

    sizes: list[int]

    def size(self, full: int) -> int:
        self.sizes.append(full)
        return int(super().size(full))


@pytest.mark.slow
def test_every_benchmark_has_its_figure_and_takes_the_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What is to be right here are the rows, so that they need no process of their own.
    def measured(name: str, at: Any) -> str:
        place = Asked(at.folder, at.scale, [])
        figure = bench.BENCHMARKS[name].measure(place)
        assert place.sizes, f"{name} has no scale"
        return str(figure)

    monkeypatch.setattr(bench, "measure_apart", measured)
    printed = run(monkeypatch, capsys, "--only", "benchmarks", "--dir", str(tmp_path))
    machine, _, rule, _, _, *lines, end = printed.splitlines()
    assert "python" in machine and rule == end
    for line, (name, row) in zip(lines, bench.BENCHMARKS.items(), strict=True):
        _, target, figure = re.split("  +", line)
        assert line.startswith(name) and target == row.target and figure
    assert list(tmp_path.iterdir()) == []


def test_a_call_of_the_query_benchmarks_may_be_as_large_as_its_buffer() -> None:
    settings = 0xFFFF * struct.pack("<II", RenderState.ZENABLE, 1)
    commands = 40 * (struct.pack("<BBH", Op.RENDERSTATE, 0, 0xFFFF) + settings)
    assert len(commands) > Limits().call_bytes
    assert promises.submit(promises.query_rig(len(commands)), commands) == 0


def test_small_sets_the_scale_of_a_minute_unless_one_is_given() -> None:
    small = bench.options_of(["--small"])
    assert (small.scale, small.runs) == (0.0005, 1) and small.seconds < 30
    assert bench.options_of(["--small", "--scale", "0.1"]).scale == 0.1
    assert bench.options_of([]).scale == 1.0


def test_continuous_integration_runs_the_whole_benchmark_at_the_small_scale() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert ".venv/bin/python tools/bench.py --small" in lines


@pytest.mark.parametrize("name", [*bench.BENCHMARKS][:: len(bench.BENCHMARKS) - 1])
def test_a_benchmark_is_measured_in_a_process_of_its_own(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(bench.BENCHMARKS, name, None)
    found = json.loads(run(monkeypatch, capsys, "--only", name, "--dir", str(tmp_path), "--json"))
    assert found["benchmarks"].keys() == {name} and found["benchmarks"][name]
    assert list(tmp_path.iterdir()) == []


def test_a_workload_has_its_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--only", "zonly", "--dir", str(tmp_path), "--runs", "2", "--no-peer", "--json")
    found = json.loads(run(monkeypatch, capsys, *few))
    assert found["machine"].keys() >= {"processor", "cores", "system", "python", "numpy"}
    assert found["benchmarks"] == {} and found["workloads"].keys() == {"zonly"}
    row = found["workloads"]["zonly"]
    assert row["ms"] > 0 and row["cpu_ms"] >= 0 and row["first_ms"] > 0
    added = row["first_ms"] - row["import_ms"] - row["ms"]
    assert row["adds_ms"] == pytest.approx(added) and "adds_warm_ms" in row
    assert row["memory_mib"] >= 0 and row["runs"] == 2 and row["samples"] > 0
    assert "peer_ms" not in row and "ratio" not in row
    assert list(tmp_path.iterdir()) == []


def test_both_sides_draw_the_same_or_it_is_said_why_one_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(
        run(monkeypatch, capsys, "--only", "textured", "--runs", "1", "--json", "--scale", "0.01")
    )
    (row,) = found["workloads"].values()
    if "pixels_apart" not in row:
        assert any("the peer is left out" in notice for notice in found["notices"])
        return
    assert row["pixels_apart"] <= 0.01
    assert row["ratio"] == row["ms"] / row["peer_ms"]
    assert "llvmpipe" in row["peer"]


def test_cost_over_amounts_becomes_a_table_and_a_plot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "AMOUNTS", {"triangles": (1, 10), "pixels": (100, 10_000)})
    file = tmp_path / "cost.svg"
    printed = run(monkeypatch, capsys, "--scaling", str(file), "--scale", "1", "--runs", "1")
    rows = [line.split()[:2] for line in printed.splitlines()[3:-1]]
    amounts = [["triangles", "1"], ["triangles", "10"], ["pixels", "100"], ["pixels", "10,000"]]
    assert rows == amounts
    assert ElementTree.parse(file).getroot().tag.endswith("svg")


def test_an_engine_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.options_of(["--engine", "jit"]).engine == "jit"
    with pytest.raises(SystemExit):
        bench.options_of(["--engine", "steam"])
    assert "steam" in capsys.readouterr().err


def test_every_command_of_the_documents_is_understood() -> None:
    text = "".join((ROOT / name).read_text("utf-8") for name in ("README.rst", "docs/speed.rst"))
    commands = re.findall(r"^    python tools/bench\.py(.*)$", text, re.MULTILINE)
    assert len(commands) >= 4
    for each in commands:
        assert bench.options_of(shlex.split(each.partition("#")[0])).scale > 0
