"""Files to read as a whole: as far as a bound that says what such a file can be at most."""

from __future__ import annotations

from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from dp2emu.errors import Dp2Error, UsageError

FILE_BYTES = 1 << 26
"""Size of a file that is read as a whole, at most."""
_PIECE = 1 << 20


def read_file(
    path: str | PathLike[str],
    limit: int = FILE_BYTES,
    error: type[Dp2Error] = UsageError,
) -> bytes:
    """All bytes of a file.  Raises UsageError, or what is given for it, which names the file, if
    it has more than ``limit``.
    """
    with Path(path).open("rb") as file:
        return read_whole(file, str(path), limit, error)


def read_whole(
    file: BinaryIO,
    name: str,
    limit: int = FILE_BYTES,
    error: type[Dp2Error] = UsageError,
) -> bytes:
    """The same of an open file."""
    content = BytesIO()  # a read of much makes room for all of it, whatever is there
    while piece := file.read(min(_PIECE, limit + 1 - content.tell())):
        content.write(piece)
    if content.tell() > limit:
        raise error(f"more than {limit} bytes", stream=name)
    return content.getvalue()
