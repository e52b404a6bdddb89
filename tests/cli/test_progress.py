"""The progress bar."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from dp2emu.cli import run
from dp2emu.cli.outcome import progress_through
from tests.tools.loading import ROOT


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a"
    path.write_bytes(bytes(4096))
    return path


def shown(path: Path, monkeypatch: pytest.MonkeyPatch, stderr: io.StringIO) -> str:
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("TERM", "xterm-256color")
    with open(path, "rb") as stream, progress_through("replay", stream) as advance:
        for _ in range(64):
            stream.read(32)
            advance(None)
    return stderr.getvalue()


def test_nothing_is_shown_off_a_terminal(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(file, monkeypatch, io.StringIO()) == ""


def test_bar_shows_how_far_the_file_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(file, monkeypatch, Terminal())
    assert "replay" in text and "50%" in text


def test_no_color_is_honoured(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in shown(file, monkeypatch, Terminal())


def test_pipe_has_no_end_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_through("replay", None) as advance:
        for _ in range(64):
            advance(None)
    assert "replay" in terminal.getvalue()


@pytest.mark.parametrize("verb", ["import", "replay"])
def test_the_bar_is_named_after_the_verb(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = ROOT / "streams" / "real" / "d3d9_tri.trace"
    out = ["-o", str(tmp_path / "out.dp2")] if verb == "import" else []
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert run([verb, str(trace), *out]) == 0
    named = [word for word in ("import", "replay") if f"{word} " in terminal.getvalue()]
    assert named == [verb]
