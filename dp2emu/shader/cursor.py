"""Bounds-checked reading of a shader's DWORDs in order, and the bit fields of its tokens."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

import msgspec
from msgspec.structs import astuple

from dp2emu.errors import ShaderError

Version = TypeVar("Version")

CODE_BYTES = 1 << 22
"""Maximum size of shader code in bytes, including the container if it is in one."""


class Decoded(msgspec.Struct, frozen=True, kw_only=True):
    """A decoded instruction.

    The decoder sets its byte offset and DWORDs; comparisons of instructions ignore both.
    """

    offset: int = 0
    words: tuple[int, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._meaning() == other._meaning()

    def __hash__(self) -> int:
        return hash(self._meaning())

    def _meaning(self) -> tuple[object, ...]:
        return astuple(self)[:-2]

    def error(self, what: str) -> ShaderError:
        """Return a ShaderError at the instruction."""
        return ShaderError(what, offset=self.offset)


class Cursor(Generic[Version]):
    """A read position in the DWORDs of a shader; ``version`` is its decoded version token.

    Reading stops at the end of the code, or at the end of the current instruction if that has a
    length field.
    """

    def __init__(self, code: bytes, versions: Mapping[int, Version]) -> None:
        """Read the version token of ``code``, which must be one of the keys of ``versions``.

        Raises ShaderError if it is not, or if ``code`` is longer than ``CODE_BYTES``.
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
        """Return a ShaderError at the DWORD read last."""
        return ShaderError(what, offset=4 * max(self._at - 1, 0))

    def stop_at(self, length: int) -> None:
        """End the shader after ``length`` DWORDs in all; the DWORD read last has the length."""
        if not self._at <= length <= len(self._words):
            raise self.error(f"{length} DWORDs are not the length of this code")
        self._stop = self._end = length

    def take(self) -> int:
        """Return the next DWORD.  Raises ShaderError at the end of the instruction or the code."""
        return self.raw(1)[0]

    def raw(self, count: int) -> tuple[int, ...]:
        """Return the next ``count`` DWORDs.  Raises ShaderError at the end of the instruction or
        the code.
        """
        if count > self._end - self._at:
            whole = self._end == self._stop
            what = "the code ends early" if whole else "the length field is too small"
            raise ShaderError(what, offset=4 * self._end)
        self._at += count
        return self._words[self._at - count : self._at]

    def rest(self) -> tuple[int, ...]:
        """Return the remaining DWORDs of the current instruction."""
        return self.raw(self._end - self._at)

    def enter(self, length: int) -> None:
        """Begin an instruction: reading stops after its remaining ``length`` DWORDs."""
        if length > self._stop - self._at:
            raise self.error("the code ends within this instruction")
        self._end = self._at + length

    def more(self) -> bool:
        """Whether the current instruction has unread DWORDs."""
        return self._at < self._end

    def leave(self, start: int, *, exact: bool) -> tuple[int, ...]:
        """End the instruction that began at byte ``start`` and return its DWORDs.

        With ``exact``, raises ShaderError if DWORDs of the instruction are unread.
        """
        if exact and self.more():
            raise ShaderError("the length field is too large", offset=start)
        self._end = self._stop
        return self._words[start // 4 : self._at]


class Bits(NamedTuple):
    """A field of ``width`` bits that begins at bit ``shift`` of a token."""

    shift: int
    width: int

    def of(self, token: int) -> int:
        """Extract the field's value from a token."""
        return token >> self.shift & (1 << self.width) - 1

    def put(self, value: int) -> int:
        """Return a token with this field set to ``value``, truncated to its width, and all else
        0.
        """
        return (value & (1 << self.width) - 1) << self.shift
