"""Files whose errors name them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dp2emu.outputs import OutputFile, open_output, replacing_output, write_file


def test_bytes_arrive(tmp_path: Path) -> None:
    write_file(tmp_path / "a", b"first")
    write_file(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"two"


def test_a_new_file_replaces_none(tmp_path: Path) -> None:
    with open_output(tmp_path / "a", "xb") as file:
        file.write(b"one")
    with pytest.raises(FileExistsError):
        open_output(tmp_path / "a", "xb")


def test_a_write_that_fails_names_the_file(tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "a")
    file = OutputFile(path, "wb")
    os.close(file.fileno())
    with pytest.raises(OSError) as caught:
        file.write(b"x")
    assert caught.value.filename == path
    with pytest.raises(OSError) as caught:
        file.close()
    assert caught.value.filename == path


def test_a_file_that_cannot_be_opened_is_named_too(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:
        open_output(tmp_path)
    assert caught.value.filename == os.fspath(tmp_path)


def test_a_file_is_replaced_when_all_went_well(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing_output(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_a_file_stays_when_something_went_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), replacing_output(path) as file:
        file.write(b"new")
        raise RuntimeError
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]
