"""Bytes in and out of a container: bounded, counted, checksummed, seekable or not."""

from __future__ import annotations

import os
import sys
import zlib
from collections import Counter
from io import BytesIO
from typing import BinaryIO, NamedTuple

import msgspec

from dp2emu.errors import CaptureError, UsageError
from dp2emu.inputs import open_input
from dp2emu.outputs import open_output

Place = str | os.PathLike[str] | BinaryIO

_PIECE = 1 << 20


class Chunk(NamedTuple):
    """A chunk of records: its ``number`` from 1 (0: none yet) and its ``size`` inflated, bytes."""

    number: int
    size: int


NO_CHUNK = Chunk(0, 0)


class Progress(msgspec.Struct):
    """What a pass over a capture has found so far.  Mutable: the pass keeps it.

    ``whole`` becomes True when every record there was has been given out; what is wrong after
    that concerns the index only.  ``skipped`` counts records of unknown kinds, by name.
    ``chunk`` is the last chunk of a sealed capture, ``compression`` MCAP's name for its, None
    before the first.
    """

    whole: bool = False
    compression: str | None = None
    chunk: Chunk = NO_CHUNK
    skipped: Counter[str] = msgspec.field(default_factory=Counter)


class Source:
    """A binary stream read in order.  Mutable: ``offset`` bytes are behind, ``crc`` is theirs.

    ``mark`` is where the record under way began; errors name it.  ``size`` is None when the
    stream cannot seek; nothing that is not there is ever allocated for.
    """

    def __init__(self, stream: BinaryIO, name: str, *, owned: bool = False) -> None:
        self.name = name
        self._stream = stream
        self._owned = owned
        self._origin, self.size = _measure(stream)
        self.offset = self.mark = self.crc = 0

    def take(self, size: int) -> bytes:
        """Exactly ``size`` bytes.  Raises CaptureError if the file ends before."""
        self._check(size)
        data = self.upto(size)
        if len(data) < size:
            raise self.error("the file ends inside a record")
        return data

    def pass_over(self, size: int) -> None:
        """Checksum ``size`` bytes without keeping them.  Raises CaptureError like ``take``."""
        self._check(size)
        while size:
            size -= len(self.take(min(size, _PIECE)))

    def upto(self, size: int) -> bytes:
        """At most ``size`` bytes: fewer at the end of the file, nothing after it."""
        first = self._piece(size)
        if len(first) in (0, size):
            return first
        gathered = BytesIO()  # gives its bytes away without a second copy of them
        gathered.write(first)
        while piece := self._piece(size - gathered.tell()):
            gathered.write(piece)
        return gathered.getvalue()

    def _piece(self, size: int) -> bytes:
        """The next bytes that come at once, at most ``size``; nothing at the end of the file."""
        piece = (size and self._stream.read(min(size, _PIECE))) or b""
        self.offset += len(piece)
        self.crc = zlib.crc32(piece, self.crc)
        return piece

    def jump(self, offset: int) -> None:
        """Go to a byte offset of a seekable stream; the checksum starts again at 0.

        Raises CaptureError for an offset outside the file.
        """
        if self.size is not None and offset > self.size:
            raise self.error(f"offset {offset:#x} is outside the file")
        self._stream.seek(self._origin + offset)
        self.offset = self.mark = offset
        self.crc = 0

    def error(self, what: str) -> CaptureError:
        """A CaptureError at the record under way."""
        return CaptureError(what, stream=self.name, offset=self.mark)

    def close(self) -> None:
        """Close the stream if this object opened it."""
        if self._owned:
            self._stream.close()

    def _check(self, size: int) -> None:
        if self.size is not None and size > self.size - self.offset:
            raise self.error("the file ends inside a record")


class Sink:
    """A binary stream written in order.  Mutable: ``offset`` bytes are out, ``crc`` is theirs."""

    def __init__(self, target: Place) -> None:
        self._stream, self.name, self._owned = _open(target, "wb")
        self.offset = self.crc = 0
        self.broken = False

    def write(self, data: bytes) -> None:
        """Append bytes.  An OSError marks the sink broken: nothing may follow a gap."""
        self.broken = True
        left = memoryview(data)
        while left:
            # Streams without a buffer may take a part only, or for now nothing.
            left = left[self._stream.write(left) or 0 :]
        self.broken = False
        self.offset += len(data)
        self.crc = zlib.crc32(data, self.crc)

    def flush(self) -> None:
        """Hand everything to the operating system, so that a crash of ours loses none of it."""
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
    """A path, ``-`` for stdin, or a binary stream (left open on close).  May raise OSError."""
    stream, name, owned = _open(place, "rb")
    return Source(stream, name, owned=owned)


def _open(place: Place, mode: str) -> tuple[BinaryIO, str, bool]:
    if isinstance(place, (str, os.PathLike)):
        if place == "-":
            return (sys.stdin if mode == "rb" else sys.stdout).buffer, "-", False
        path = os.fspath(place)
        if mode == "wb":
            return open_output(path), path, True
        return open_input(path), path, True
    if not hasattr(place, "read" if mode == "rb" else "write"):
        raise UsageError(f"{place!r} is neither a path nor a binary stream")
    name = getattr(place, "name", None)
    if not isinstance(name, str) or name.startswith("<"):  # as <stdin> does
        name = "-"
    return place, name, False


def _measure(stream: BinaryIO) -> tuple[int, int | None]:
    """(where the stream stands, bytes from there to its end), or (0, None) if it cannot seek.

    Devices claim to seek and to be empty, so an end of 0 counts as unknown.
    """
    if not stream.seekable():
        return 0, None
    origin = stream.tell()
    end = stream.seek(0, os.SEEK_END)
    stream.seek(origin)
    return origin, end - origin if end else None
