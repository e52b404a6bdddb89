"""Output files: write errors name the file, and files are replaced only when complete."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from errno import EEXIST
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

from dp2emu.inputs import naming
from dp2emu.unfinished import unfinished

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


Identity = tuple[int, int]
"""Device and inode number, which are the same for all names of a file."""

_protected: ContextVar[Container[Identity]] = ContextVar("protected", default=())


def identity_of(path: str | os.PathLike[str]) -> Identity | None:
    """The identity of a file or folder, None if there is none; links are followed."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    # A device may be input and output: writing to it destroys nothing.
    plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return (status.st_dev, status.st_ino) if plain else None


@contextmanager
def inputs_protected(inputs: Container[Identity]) -> Iterator[None]:
    """Within the block, files with these identities cannot be opened for writing."""
    token = _protected.set(inputs)
    try:
        yield
    finally:
        _protected.reset(token)


def check_output(path: str | os.PathLike[str]) -> None:
    """Raise FileExistsError if ``path`` is a file that ``inputs_protected`` protects."""
    identity = identity_of(path)
    if identity is not None and identity in _protected.get():
        raise FileExistsError(EEXIST, "it is an input and would be overwritten", os.fspath(path))


class OutputFile(io.FileIO):
    """An unbuffered file whose write and close errors have its name."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes; returns their number."""
        with naming(self.name):
            return super().write(data)

    def close(self) -> None:
        """Close the file; some systems report a failed write only then."""
        with naming(self.name):
            super().close()


def open_output(path: str | os.PathLike[str], mode: str = "wb") -> BinaryIO:
    """A buffered binary stream for writing; ``mode`` is ``wb`` or, for a new file, ``xb``.

    Raises OSError, also for a protected input.
    """
    check_output(path)
    return io.BufferedWriter(OutputFile(os.fspath(path), mode))


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Create or replace a file atomically; ``data`` is its new content.

    Raises OSError, also for a protected input.
    """
    with whole_output(path) as file:
        file.write(data)


@contextmanager
def whole_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream for writing that replaces the file at the end of the block.

    After an error the old file stays.  Devices and pipes are written directly.  Raises OSError,
    also for a protected input.
    """
    check_output(path)
    place = Path(path)
    if place.exists() and not place.is_file():
        with open_output(place) as device:
            yield device
        return
    with _replacing(place) as file:
        yield file


@contextmanager
def replacing_output(place: str | os.PathLike[str] | BinaryIO) -> Iterator[BinaryIO]:
    """A binary stream for writing: to a path (replaced at the end, as ``whole_output`` does), to
    standard output for ``-``, or ``place`` itself if it is a stream.
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
    path = Path(os.path.realpath(path))  # replace the target of a link, not the link
    part = path.with_name(f".dp2emu-{token_hex(8)}")
    with unfinished(part.unlink):
        try:
            with open_output(part, "xb") as file:
                yield file
            if path.exists():
                shutil.copymode(path, part)
            part.replace(path)
        except OSError as error:
            if error.filename == os.fspath(part):
                error.filename = os.fspath(path)  # the temporary name means nothing to the caller
            raise
        finally:
            with suppress(OSError):
                part.unlink()


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A new folder whose name begins with ``prefix``, deleted at the end of the block."""
    with TemporaryDirectory(prefix=prefix) as folder, unfinished(partial(shutil.rmtree, folder)):
        yield Path(folder)
