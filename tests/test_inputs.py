"""Files that are read as a whole."""

from __future__ import annotations

import io
import os
import tracemalloc
from pathlib import Path

import pytest

from dp2emu.errors import UsageError
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.inputs import FILE_BYTES, InputFile, read_file
from tests.cli.running import dp2emu


def test_a_file_may_have_what_the_limit_says_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(UsageError, match="more than 4 bytes"):
        read_file(path, 4)


def test_reading_takes_no_more_memory_than_there_are_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1 << 16))
    tracemalloc.start()
    try:
        assert read_file(path) == bytes(1 << 16)
        assert tracemalloc.get_traced_memory()[1] < 3 << 20
    finally:
        tracemalloc.stop()


@pytest.fixture
def huge(tmp_path: Path) -> Path:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(FILE_BYTES + 1)
    return path


def test_no_shader_is_that_large(huge: Path) -> None:
    assert dp2emu("shader", huge) == (2, b"", f"dp2emu: {huge}: more than {1 << 24} bytes\n")


def test_no_timing_script_is_that_large(huge: Path) -> None:
    with pytest.raises(UsageError, match=f"more than {FILE_BYTES} bytes"):
        parse_timing(f"scripted:{huge}")


def test_a_missing_timing_script_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        parse_timing(f"scripted:{tmp_path / 'none'}")
    assert str(caught.value).count("none") == 1


@pytest.mark.parametrize("verb", [["info"], ["replay"], ["assemble", "-o", "out"], ["shader"]])
def test_what_cannot_be_read_is_told_by_name(
    verb: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(self: InputFile, path: str) -> None:
        io.FileIO.__init__(self, path)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self.fileno())
        os.close(nothing)

    path = tmp_path / "unreadable"
    path.write_bytes(bytes(100))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(InputFile, "__init__", opened)
    assert dp2emu(*verb, path) == (2, b"", f"dp2emu: {path}: Bad file descriptor\n")
