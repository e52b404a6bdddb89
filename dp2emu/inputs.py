"""Files to read, whose errors say which file it was; and as a whole, as far as a bound that says
what such a file can be at most.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING, BinaryIO

from dp2emu.errors import Dp2Error, UsageError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

FILE_BYTES = 1 << 26
"""Size of a file that is read as a whole, at most."""
_PIECE = 1 << 20


@contextmanager
def naming(name: object) -> Iterator[None]:
    """An OSError that is raised within has a file's name, as one of opening it does."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or name
        raise


class InputFile(io.FileIO):
    """An unbuffered file.  OSErrors of reading and moving in it have its name."""

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        """Read some bytes; returns how many."""
        with naming(self.name):
            return super().readinto(buffer)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move; returns where to."""
        with naming(self.name):
            return super().seek(offset, whence)


def open_input(path: str | PathLike[str]) -> io.BufferedReader:
    """A buffered binary stream to read.  Raises OSError."""
    return io.BufferedReader(InputFile(fspath(path)))


def read_file(
    path: str | PathLike[str], limit: int = FILE_BYTES, error: type[Dp2Error] = UsageError
) -> bytes:
    """All bytes of a file.  Raises UsageError, or what is given for it, which names the file, if
    it has more than ``limit``.
    """
    with open_input(path) as file:
        return read_whole(file, str(path), limit, error)


def read_whole(
    file: BinaryIO, name: str, limit: int = FILE_BYTES, error: type[Dp2Error] = UsageError
) -> bytes:
    """The same of an open file."""
    content = io.BytesIO()  # a read of much makes room for all of it, whatever is there
    while piece := file.read(min(_PIECE, limit + 1 - content.tell())):
        content.write(piece)
    if content.tell() > limit:
        raise error(f"more than {limit} bytes", stream=name)
    return content.getvalue()
