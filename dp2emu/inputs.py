"""Files to read as a whole: as far as a bound that says what such a file can be at most."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import BinaryIO

from dp2emu.errors import UsageError

FILE_BYTES = 1 << 26
"""Size of a file that is read as a whole, at most."""


def read_file(path: str | PathLike[str], limit: int = FILE_BYTES) -> bytes:
    """All bytes of a file.  Raises UsageError, which names it, if it has more than ``limit``."""
    with Path(path).open("rb") as file:
        return read_whole(file, str(path), limit)


def read_whole(file: BinaryIO, name: str, limit: int = FILE_BYTES) -> bytes:
    """The same of an open file."""
    content = file.read(limit + 1)
    if len(content) > limit:
        raise UsageError(f"{name}: more than {limit} bytes")
    return content
