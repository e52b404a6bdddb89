"""Binary input and output of captures: bounded, counted, checksummed, seekable or not."""

from __future__ import annotations

import os
import sys
import zlib
from collections import Counter
from io import BytesIO
from typing import BinaryIO, NamedTuple, NoReturn, Self

import msgspec

from dp2emu.errors import CaptureError, UsageError
from dp2emu.inputs import open_input
from dp2emu.limits import Limits
from dp2emu.outputs import open_output

Place = str | os.PathLike[str] | BinaryIO

_PIECE = 1 << 20


class Closable:
    """A context manager that calls ``close`` at the end of the ``with`` block."""

    def close(self) -> None:
        """Release resources; further calls do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Chunk(NamedTuple):
    """A chunk of records: its ``number`` from 1 (0: none yet), its ``size`` inflated in bytes."""

    number: int
    size: int


NO_CHUNK = Chunk(0, 0)


class Progress(msgspec.Struct):
    """The progress of a pass over a capture.  Mutable: the pass updates it.

    ``whole`` is False until the last record was read; errors after it concern the index only.
    ``skipped`` counts records of unknown kinds by name of the kind.  ``chunk`` is the current
    chunk of a sealed capture, ``compression`` the MCAP name of its compression, None before the
    first chunk.
    """

    whole: bool = False
    compression: str | None = None
    chunk: Chunk = NO_CHUNK
    skipped: Counter[str] = msgspec.field(default_factory=Counter)


class Source:
    """A binary stream read in order.  Mutable: ``crc`` is the CRC-32 of ``offset`` bytes read.

    ``mark`` is the offset of the current record, for errors.  ``size`` in bytes is None for a
    stream that cannot seek.  Reads allocate no more memory than the stream has bytes.
    """

    def __init__(self, stream: BinaryIO, name: str, *, owned: bool = False) -> None:
        self.name = name
        self._stream = stream
        self._owned = owned
        self._origin, self.size = _measure(stream)
        self.offset = self.mark = self.crc = 0

    @property
    def bytes_read(self) -> int:
        """Size of the stream, or of a pipe the number of bytes that were read."""
        return self.offset if self.size is None else self.size

    def take(self, size: int) -> bytes:
        """Exactly ``size`` bytes.  Raises CaptureError if the file ends before."""
        self._check(size)
        data = self.upto(size)
        if len(data) < size:
            raise self.error("the file ends inside a record")
        return data

    def pass_over(self, size: int) -> None:
        """Read ``size`` bytes for the checksum only.  Raises CaptureError if the file ends."""
        self._check(size)
        while size:
            size -= len(self.take(min(size, _PIECE)))

    def upto(self, size: int) -> bytes:
        """At most ``size`` bytes, fewer at the end of the file."""
        first = self._piece(size)
        if len(first) in (0, size):
            return first
        gathered = BytesIO()  # getvalue shares its buffer: no second copy
        gathered.write(first)
        while piece := self._piece(size - gathered.tell()):
            gathered.write(piece)
        return gathered.getvalue()

    def _piece(self, size: int) -> bytes:
        """The result of one read of at most ``size`` bytes; empty at the end of the file."""
        piece = (size and self._stream.read(min(size, _PIECE))) or b""
        self.offset += len(piece)
        self.crc = zlib.crc32(piece, self.crc)
        return piece

    def jump(self, offset: int) -> None:
        """Seek to a byte offset and restart the CRC.  Raises CaptureError outside the file."""
        if self.size is not None and offset > self.size:
            raise self.error(f"offset {offset:#x} is outside the file")
        self._stream.seek(self._origin + offset)
        self.offset = self.mark = offset
        self.crc = 0

    def rewind(self) -> None:
        """Seek to the start.  Raises UsageError if the stream cannot seek."""
        if self.size is None:
            raise UsageError(f"{self.name} can be read only once: pass a file in place of a pipe")
        self.jump(0)

    def error(self, what: str) -> CaptureError:
        """A CaptureError at the current record."""
        return CaptureError(what, stream=self.name, offset=self.mark)

    def close(self) -> None:
        """Close the stream if this object opened it."""
        if self._owned:
            self._stream.close()

    def _check(self, size: int) -> None:
        if self.size is not None and size > self.size - self.offset:
            raise self.error("the file ends inside a record")


class Sink:
    """A binary stream written in order.  Mutable: its ``offset`` bytes have the CRC-32 ``crc``."""

    def __init__(self, target: Place) -> None:
        self._stream, self.name, self._owned = _open(target, "wb")
        self.offset = self.crc = 0
        self.broken = False

    def write(self, data: bytes) -> None:
        """Append bytes.  An OSError leaves ``broken`` set, since bytes may be missing."""
        self.broken = True
        left = memoryview(data)
        while left:
            # Unbuffered streams may write a part only, or return None for nothing yet.
            left = left[self._stream.write(left) or 0 :]
        self.broken = False
        self.offset += len(data)
        self.crc = zlib.crc32(data, self.crc)

    def flush(self) -> None:
        """Flush to the operating system, so that a crash of this process loses nothing."""
        self._stream.flush()

    def close(self) -> None:
        """Flush, and close the stream if this object opened it."""
        try:
            if not self.broken:
                self._stream.flush()
        finally:
            if self._owned:
                self._stream.close()


def open_source(place: Place) -> Source:
    """A Source of a path, ``-`` (stdin) or a binary stream, which ``close`` leaves open.

    Raises OSError, and UsageError for any other object.
    """
    stream, name, owned = _open(place, "rb")
    return Source(stream, name, owned=owned)


class Pass:
    """An iteration over the records of a capture file.  Mutable: it reads the source."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.progress = Progress()
        self._source = source
        self._limits = limits
        self._calls = 0

    def _fail(self, what: str) -> NoReturn:
        raise self._source.error(what)


def _open(place: Place, mode: str) -> tuple[BinaryIO, str, bool]:
    if isinstance(place, (str, os.PathLike)):
        if place == "-":
            return (sys.stdin if mode == "rb" else sys.stdout).buffer, "-", False
        path = os.fspath(place)
        return (open_output if mode == "wb" else open_input)(path), path, True
    if not hasattr(place, "read" if mode == "rb" else "write"):
        raise UsageError(f"{place!r} is neither a path nor a binary stream")
    name = getattr(place, "name", None)
    if not isinstance(name, str) or name.startswith("<"):  # "<stdin>"
        name = "-"
    return place, name, False


def _measure(stream: BinaryIO) -> tuple[int, int | None]:
    """(position of the stream, bytes from there to its end), or (0, None) if it cannot seek.

    Devices claim to be seekable and empty, so an end of 0 counts as unknown.
    """
    if not stream.seekable():
        return 0, None
    origin = stream.tell()
    end = stream.seek(0, os.SEEK_END)
    stream.seek(origin)
    return origin, end - origin if end else None
