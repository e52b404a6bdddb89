"""Files to write whose errors say which file it was.

When a write fails, the operating system gives a reason and no name: a full disk is told without
a word about where.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputFile(io.FileIO):
    """An unbuffered file.  OSErrors of writing and closing it have its name."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write some bytes; returns how many."""
        with self._named():
            return super().write(data)

    def close(self) -> None:
        """Close it; some systems tell only now that a write had failed."""
        with self._named():
            super().close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = error.filename or self.name
            raise


def open_output(path: str | os.PathLike[str], mode: str = "wb") -> BinaryIO:
    """A buffered binary stream to write to; ``mode`` is ``wb`` or, for a new file, ``xb``."""
    return io.BufferedWriter(OutputFile(os.fspath(path), mode))


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Make or replace a file."""
    with open_output(path) as file:
        file.write(data)
