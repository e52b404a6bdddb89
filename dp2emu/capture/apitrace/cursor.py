"""Reading of bytes and numbers from a trace that is decompressed block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO

from dp2emu.errors import CaptureError

_LONGEST_UINT = 10
"""Largest number of bytes of an encoded 64-bit number: each byte has 7 bits of it."""


class Cursor:
    """A reader of the bytes and numbers in an iterator of bytes.  Mutable: reading moves it."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._piece = b""
        self._at = 0

    def at_end(self) -> bool:
        """Whether the stream has ended."""
        return self._at == len(self._piece) and not self._turn()

    def byte(self) -> int:
        """The next byte.  Raises CaptureError at the end of the stream."""
        if self._at == len(self._piece) and not self._turn():
            raise CaptureError("the trace ends early")
        value = self._piece[self._at]
        self._at += 1
        return value

    def uint(self) -> int:
        """Read a 64-bit integer stored as 7-bit groups, lowest first; CaptureError if longer."""
        value = 0
        for place in range(_LONGEST_UINT):
            byte = self.byte()
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                break
        if byte >= 0x80 or value >> 64:
            raise CaptureError("a number has more than 64 bits")
        return value

    def take(self, size: int, spend: Callable[[int], object] = int) -> bytes:
        """Exactly ``size`` bytes, allocated only as far as the stream has them.

        ``spend`` is called with each number of bytes before they are allocated, and may raise: a
        size that is claimed counts no more than the bytes that are there.
        """
        end = self._at + size
        if end <= len(self._piece):
            spend(size)
            taken = self._piece[self._at : end]
            self._at = end
            return taken
        return self._gather(size, spend)

    def _gather(self, size: int, spend: Callable[[int], object]) -> bytes:
        gathered = BytesIO()  # getvalue shares its buffer: no second copy
        while size:
            if self.at_end():
                raise CaptureError("the trace ends early")
            spend(min(size, len(self._piece) - self._at))
            taken = gathered.write(self._piece[self._at : self._at + size])
            self._at += taken
            size -= taken
        return gathered.getvalue()

    def _turn(self) -> bool:
        """Replace the current block of bytes by the iterator's next; False if there is none."""
        self._piece = next(self._pieces, b"")
        self._at = 0
        return bool(self._piece)
