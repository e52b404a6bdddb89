"""Damaged traces, tried by the tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.apitrace.encoder import Encoder, header, snappy
from tests.capture.apitrace.samples import REAL, call
from tests.tools.loading import load_tool

tool = load_tool("damaged_traces")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["damaged_traces.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        tool.main()
    code = ended.value.code
    assert isinstance(code, int)
    return code


def test_damage_is_survived(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = next(path for path in REAL if path.stem == "d3d9_tri")
    assert run(monkeypatch, str(path), "--step", "4000") == 0
    text = capsys.readouterr().out
    assert text.startswith("d3d9_tri.trace: ") and "in part" in text and "raised" not in text


def test_what_is_raised_is_told_and_is_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(snappy(header() + Encoder().both(call(0, "F"))))

    def broken(self: object) -> None:
        raise KeyError("here")

    monkeypatch.setattr(tool.Import, "records", broken)
    assert run(monkeypatch, str(path), "--no-replay", "--step", "3") == 1
    assert "raised KeyError in test_damaged_traces.py:" in capsys.readouterr().out


def test_outcomes_are_told_apart() -> None:
    whole = snappy(header() + Encoder().both(call(0, "malloc")))
    lossy = snappy(header() + Encoder().both(call(0, "Levitate")))
    outcomes = [tool.outcome(data, replayed=False) for data in (whole, lossy, whole[:-1], b"")]
    assert outcomes == ["whole", "with losses", "in part", "refused"]
