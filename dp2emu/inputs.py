"""Input files: errors name the file, and files that are read whole have a size limit."""

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
"""Default size limit, in bytes, of a file that is read into memory as a whole."""
_PIECE = 1 << 20


@contextmanager
def naming(name: object) -> Iterator[None]:
    """Set the file name of an OSError that is raised in the block."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or name
        raise


class InputFile(io.FileIO):
    """An unbuffered file whose read and seek errors have its name."""

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        """Read into a buffer; returns the number of bytes."""
        with naming(self.name):
            return super().readinto(buffer)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a position in bytes; returns it."""
        with naming(self.name):
            return super().seek(offset, whence)


def open_input(path: str | PathLike[str]) -> io.BufferedReader:
    """A buffered binary stream for reading.  Raises OSError."""
    return io.BufferedReader(InputFile(fspath(path)))


def read_file(
    path: str | PathLike[str], limit: int = FILE_BYTES, error: type[Dp2Error] = UsageError
) -> bytes:
    """The content of a file.  Raises ``error``, which names the file, for more than ``limit``
    bytes, and OSError.
    """
    with open_input(path) as file:
        return read_whole(file, str(path), limit, error)


def read_whole(
    file: BinaryIO, name: str, limit: int = FILE_BYTES, error: type[Dp2Error] = UsageError
) -> bytes:
    """The rest of an open file.  Raises ``error`` for more than ``limit`` bytes."""
    content = io.BytesIO()  # read() with a large size would allocate all of it
    while piece := file.read(min(_PIECE, limit + 1 - content.tell())):
        content.write(piece)
    if content.tell() > limit:
        raise error(f"more than {limit} bytes", stream=name)
    return content.getvalue()
