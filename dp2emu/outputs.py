"""Files to write whose errors say which file it was.

When a write fails, the operating system gives a reason and no name: a full disk is told without
a word about where.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, BinaryIO

from dp2emu.inputs import naming

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputFile(io.FileIO):
    """An unbuffered file.  OSErrors of writing and closing it have its name."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write some bytes; returns how many."""
        with naming(self.name):
            return super().write(data)

    def close(self) -> None:
        """Close it; some systems tell only now that a write had failed."""
        with naming(self.name):
            super().close()


def open_output(path: str | os.PathLike[str], mode: str = "wb") -> BinaryIO:
    """A buffered binary stream to write to; ``mode`` is ``wb`` or, for a new file, ``xb``."""
    return io.BufferedWriter(OutputFile(os.fspath(path), mode))


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Make or replace a file, whole or not at all."""
    with whole_output(path) as file:
        file.write(data)


@contextmanager
def whole_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream to write to, which replaces the file once everything is in it.

    If that fails the file stays.  Devices and pipes are written to as they are.
    """
    place = Path(path)
    if place.exists() and not place.is_file():
        with open_output(place) as device:
            yield device
        return
    with _replacing(place) as file:
        yield file


@contextmanager
def replacing_output(place: str | os.PathLike[str] | BinaryIO) -> Iterator[BinaryIO]:
    """A binary stream to write to: a path (see ``whole_output``), ``-`` (standard output) or a
    stream.
    """
    if not isinstance(place, (str, os.PathLike)):
        yield place
    elif place == "-":
        yield sys.stdout.buffer
    else:
        with whole_output(place) as file:
            yield file


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    path = Path(os.path.realpath(path))  # a link stays one
    part = path.with_name(f".dp2emu-{token_hex(8)}")
    try:
        with open_output(part, "xb") as file:
            yield file
        if path.exists():
            shutil.copymode(path, part)
        part.replace(path)
    except OSError as error:
        if error.filename == os.fspath(part):
            error.filename = os.fspath(path)  # the name the caller knows
        raise
    finally:
        with suppress(OSError):
            part.unlink()
