"""Reading a shader's DWORDs in order, with every bound checked in one place."""

from __future__ import annotations

import struct

from dp2emu.errors import ShaderError
from dp2emu.shader.sm.fields import PARAMETER
from dp2emu.shader.sm.versions import BY_TOKEN, Version


class Cursor:
    """The DWORDs of a shader and the place of the next one.  ``version`` is that of its token.

    Reading stops at the end of the code, or of the instruction under way if it tells its length.
    """

    def __init__(self, code: bytes) -> None:
        """Raises ShaderError if ``code`` does not begin with a version token."""
        self._words = struct.unpack_from(f"<{len(code) // 4}I", code)
        self._at = 0
        self._end = len(self._words)
        token = self.take()
        if token not in BY_TOKEN:
            raise self.error(f"{token:#010x} is no shader version")
        self.version: Version = BY_TOKEN[token]

    @property
    def offset(self) -> int:
        """Byte offset of the next DWORD."""
        return 4 * self._at

    def error(self, what: str) -> ShaderError:
        """A ShaderError at the DWORD read last."""
        return ShaderError(what, offset=4 * max(self._at - 1, 0))

    def take(self) -> int:
        """The next DWORD.  Raises ShaderError where reading stops."""
        return self.raw(1)[0]

    def parameter(self) -> int:
        """The next DWORD, which has to be a parameter token."""
        token = self.take()
        if not token & PARAMETER:
            raise self.error(f"{token:#010x} is no parameter: its bit 31 is clear")
        return token

    def raw(self, count: int) -> tuple[int, ...]:
        """The next ``count`` DWORDs, whatever they are."""
        if count > self._end - self._at:
            whole = self._end == len(self._words)
            what = "the code ends early" if whole else "the length field is too small"
            raise ShaderError(what, offset=4 * self._end)
        self._at += count
        return self._words[self._at - count : self._at]

    def enter(self, length: int) -> None:
        """Begin an instruction of ``length`` DWORDs after its token, which was read last."""
        if length > len(self._words) - self._at:
            raise self.error("the code ends within this instruction")
        self._end = self._at + length

    def more(self) -> bool:
        """Whether something is left to read."""
        return self._at < self._end

    def leave(self, start: int) -> tuple[int, ...]:
        """End the instruction that began at byte ``start``; gives its DWORDs."""
        if self.version.sized and self.more():
            raise ShaderError("the length field is too large", offset=start)
        self._end = len(self._words)
        return self._words[start // 4 : self._at]
