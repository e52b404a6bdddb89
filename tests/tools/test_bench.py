"""The benchmarks run, however small; nothing is timed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.loading import load_tool

bench = load_tool("bench")


def test_every_benchmark_has_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["bench.py", "--scale", "0.00001", "--dir", str(tmp_path)])
    bench.main()
    machine, _, _, _, _, *lines, _ = capsys.readouterr().out.splitlines()
    assert "Python" in machine
    assert len(lines) == len(bench.BENCHMARKS)
    assert all(line.startswith(name) for line, name in zip(lines, bench.BENCHMARKS, strict=True))
    assert list(tmp_path.iterdir()) == []
