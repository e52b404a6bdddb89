"""The traces of the benchmarks, and their rows."""

from __future__ import annotations

import re
import sys
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest
from benchmark import imports
from benchmark.large_traces import write_game_trace
from benchmark.place import Place
from benchmark.promises import BENCHMARKS, run

from dp2emu.capture import CaptureWriter
from dp2emu.capture.apitrace import open_trace
from dp2emu.retrace import importing

CALLS = 800
ROWS = [name for name, row in BENCHMARKS.items() if row.measure.__module__ == imports.__name__]
PROCESS = "import of a 1 GiB trace"
"""The row that starts a Python."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, CALLS / imports.CALLS / 100)


def test_a_game_s_trace_is_imported_without_a_loss_and_has_what_games_do(tmp_path: Path) -> None:
    path = tmp_path / "game.trace"
    write_game_trace(path, CALLS)
    with open_trace(path) as trace:
        names = Counter(call.name.partition("::")[2] for call in trace.calls())
        with CaptureWriter(BytesIO()) as writer:
            losses = importing(trace, writer)
    assert trace.damage is None and not losses.total
    assert names.total() == CALLS
    assert names["SetRenderState"] > names["SetSamplerState"] > names["SetTexture"] > 0
    drawn = "SetTextureStageState SetVertexShaderConstantF SetTransform SetVertexShader Lock"
    for name in f"{drawn} DrawPrimitiveUP DrawIndexedPrimitive Present".split():
        assert names[name], name


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == PROCESS)) for name in ROWS]
)
def test_a_row_has_its_figure(name: str, place: Place) -> None:
    figure = BENCHMARKS[name].measure(place)
    assert re.fullmatch(r"\d+ k calls/s|\d+ MiB, \d+\.\d s|no apitrace", figure)
    assert [path.suffix for path in place.folder.iterdir()].count(".trace") == 1


def test_rows_share_their_trace(place: Place) -> None:
    path, calls = imports.game_trace(place)
    path.write_bytes(b"as it was")
    assert imports.game_trace(place) == (path, calls)
    assert path.read_bytes() == b"as it was"


def test_without_apitrace_its_rows_say_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports.shutil, "which", lambda program: None)
    figures = {name: BENCHMARKS[name].measure(place) for name in ROWS if "apitrace" in name}
    assert len(figures) == 2 and {*figures.values()} == {"no apitrace"}


def test_a_process_that_fails_ends_the_benchmark_with_what_it_says() -> None:
    used = run([sys.executable, "-c", "bytes(64 << 20)"])
    assert used.mib >= 64 and used.seconds > 0
    with pytest.raises(SystemExit, match="of wood"):
        run([sys.executable, "-c", "raise SystemExit('of wood')"])
