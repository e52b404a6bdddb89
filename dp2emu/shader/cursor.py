"""Reading a shader's DWORDs in order, with every bound checked in one place."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Generic, TypeVar

from dp2emu.errors import ShaderError

Version = TypeVar("Version")

CODE_BYTES = 1 << 22
"""Code of a shader at most, with all that a container has beside it."""


class Cursor(Generic[Version]):
    """The DWORDs of a shader and the place of the next one.  ``version`` is that of its token.

    Reading stops at the end of the code, or of the instruction under way if it tells its length.
    """

    def __init__(self, code: bytes, versions: Mapping[int, Version]) -> None:
        """Raises ShaderError if ``code`` does not begin with one of the version tokens, or is
        more than there can be.
        """
        if len(code) > CODE_BYTES:
            raise ShaderError(f"code of more than {CODE_BYTES} bytes", offset=CODE_BYTES)
        self._words = struct.unpack_from(f"<{len(code) // 4}I", code)
        self._at = 0
        self._stop = self._end = len(self._words)
        token = self.take()
        if token not in versions:
            raise self.error(f"{token:#010x} is no shader version")
        self.version: Version = versions[token]

    @property
    def offset(self) -> int:
        """Byte offset of the next DWORD."""
        return 4 * self._at

    def error(self, what: str) -> ShaderError:
        """A ShaderError at the DWORD read last."""
        return ShaderError(what, offset=4 * max(self._at - 1, 0))

    def stop_at(self, length: int) -> None:
        """The shader ends after ``length`` DWORDs in all; the last one read said so."""
        if not self._at <= length <= len(self._words):
            raise self.error(f"{length} DWORDs are not the length of this code")
        self._stop = self._end = length

    def take(self) -> int:
        """The next DWORD.  Raises ShaderError where reading stops."""
        return self.raw(1)[0]

    def raw(self, count: int) -> tuple[int, ...]:
        """The next ``count`` DWORDs, whatever they are."""
        if count > self._end - self._at:
            whole = self._end == self._stop
            what = "the code ends early" if whole else "the length field is too small"
            raise ShaderError(what, offset=4 * self._end)
        self._at += count
        return self._words[self._at - count : self._at]

    def rest(self) -> tuple[int, ...]:
        """All that is left of the instruction under way."""
        return self.raw(self._end - self._at)

    def enter(self, length: int) -> None:
        """Begin an instruction of ``length`` DWORDs more than were read of it."""
        if length > self._stop - self._at:
            raise self.error("the code ends within this instruction")
        self._end = self._at + length

    def more(self) -> bool:
        """Whether something is left to read."""
        return self._at < self._end

    def leave(self, start: int, *, exact: bool) -> tuple[int, ...]:
        """End the instruction that began at byte ``start``; gives its DWORDs.

        ``exact``: it told its length, and has to have been read to its end.
        """
        if exact and self.more():
            raise ShaderError("the length field is too large", offset=start)
        self._end = self._stop
        return self._words[start // 4 : self._at]
