"""Reading of bytes and numbers from a trace that is decompressed block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO

from dp2emu.errors import CaptureError

_LONGEST_UINT = 10
"""Largest number of bytes of an encoded 64-bit number: each byte has 7 bits of it."""
_LAST_GROUP = 63
"""The lowest bit of the last of its groups, which has one bit."""


def uint(block: bytes | bytearray, at: int) -> tuple[int, int]:
    """The 64-bit integer at ``at`` of a block, and the place of the byte behind it.

    It is stored as 7-bit groups, lowest first.  Raises CaptureError if it is longer, IndexError if
    it does not end in the block.
    """
    value = block[at]
    if value < 0x80:
        return value, at + 1
    value &= 0x7F
    place = 7
    while place <= _LAST_GROUP:
        at += 1
        byte = block[at]
        if byte < 0x80:
            if place == _LAST_GROUP and byte > 1:
                break
            return value | byte << place, at + 1
        value |= (byte & 0x7F) << place
        place += 7
    raise CaptureError("a number has more than 64 bits")


class Cursor:
    """A reader of the bytes and numbers in an iterator of bytes.  Mutable: reading moves it.

    The next byte is at ``at`` in ``block``, unless that is its end.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.blocks = pieces
        self.block = b""
        self.at = 0

    def at_end(self) -> bool:
        """Whether the stream has ended."""
        return self.at == len(self.block) and not self._turn()

    def byte(self) -> int:
        """The next byte.  Raises CaptureError at the end of the stream."""
        if self.at == len(self.block) and not self._turn():
            raise CaptureError("the trace ends early")
        value = self.block[self.at]
        self.at += 1
        return value

    def uint(self) -> int:
        """Read a 64-bit integer stored as 7-bit groups, lowest first; CaptureError if longer."""
        try:
            value, self.at = uint(self.block, self.at)
        except IndexError:  # it continues in the next block
            start = bytearray()
            while len(start) < _LONGEST_UINT and (not start or start[-1] >= 0x80):
                start.append(self.byte())
            value, _ = uint(start, 0)
        return value

    def take(self, size: int, spend: Callable[[int], object] = int) -> bytes:
        """Exactly ``size`` bytes, allocated only as far as the stream has them.

        ``spend`` is called with each number of bytes before they are allocated, and may raise: a
        size that is claimed counts no more than the bytes that are there.
        """
        end = self.at + size
        if end <= len(self.block):
            spend(size)
            taken = self.block[self.at : end]
            self.at = end
            return taken
        return self._gather(size, spend)

    def _gather(self, size: int, spend: Callable[[int], object]) -> bytes:
        gathered = BytesIO()  # getvalue shares its buffer: no second copy
        while size:
            if self.at_end():
                raise CaptureError("the trace ends early")
            spend(min(size, len(self.block) - self.at))
            taken = gathered.write(self.block[self.at : self.at + size])
            self.at += taken
            size -= taken
        return gathered.getvalue()

    def _turn(self) -> bool:
        """Replace the current block of bytes by the iterator's next; False if there is none."""
        self.block = next(self.blocks, b"")
        self.at = 0
        return bool(self.block)
