"""Parts shared by the assemblers of all shader models: source lines, comments, raw DWORDs and raw
bytes.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from dp2emu.errors import ShaderError
from dp2emu.number_text import integer
from dp2emu.shader.cursor import CODE_BYTES

WORDS = "dword"
RAW = "raw"
"""First word of an assembly line that spells bytes behind the end of the code in hexadecimal."""

_REMARK = re.compile(r"//[^\n]*|;[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_HEX = re.compile(r"(\s*[0-9a-f]{2})*\s*\Z", re.ASCII | re.IGNORECASE)
_DWORD_MAX = 0xFFFFFFFF
_BYTES_PER_LINE = 32
_LINES = 1 << 18
"""Maximum number of lines of an assembly text."""
_LONGEST = 1 << 20
"""Maximum number of characters of a line of an assembly text."""

_V = TypeVar("_V")
Line = tuple[int, str]
"""A line number, counted from 1, and the text of the line."""


def shown(text: str) -> str:
    """Return an excerpt of a text for an error message, with special characters escaped."""
    return ascii(text[:40])[1:-1]


def source_lines(text: str) -> Iterator[Line]:
    """Yield the non-empty lines of a text without its comments.

    Raises ShaderError for too many lines and for a line that is too long.
    """
    plain = _REMARK.sub(
        lambda remark: " " + "\n" * remark[0].count("\n"), text.removeprefix("\ufeff")
    )
    for number, line in enumerate(_lines(plain), 1):
        if number > _LINES:
            raise ShaderError(f"line {number}: more than {_LINES} lines")
        if len(line) > _LONGEST:
            raise ShaderError(f"line {number}: longer than {_LONGEST} characters")
        if stripped := line.strip():
            yield number, stripped


def _lines(text: str) -> Iterator[str]:
    """Yield lines one at a time: a list of all would take many times the memory of the text."""
    start, end = 0, text.find("\n")
    while end >= 0:
        yield text[start:end]
        start, end = end + 1, text.find("\n", end + 1)
    yield text[start:]


def keyword(text: str) -> str:
    """Return the first word of a line in lower case."""
    return text.split(maxsplit=1)[0].lower()


def number(text: str, limit: int) -> int:
    """Parse a number from 0 to ``limit``.  Raises ShaderError."""
    value = integer(text)
    if value is None or not 0 <= value <= limit:
        raise ShaderError(f"{shown(text)} is no number from 0 to {limit:#x}")
    return value


def dwords(text: str) -> tuple[int, ...]:
    """Parse the operands of a ``dword`` line.  Raises ShaderError."""
    return tuple(number(part.strip(), _DWORD_MAX) for part in text.split(","))


def raw_bytes(line: Line) -> bytes:
    """Parse a ``raw`` line: bytes that follow the end of the code.  Raises ShaderError."""
    place, text = line
    digits = text[len(RAW) :]
    if keyword(text) != RAW or not _HEX.match(digits):
        raise ShaderError(f"line {place}: only raw bytes may follow raw bytes")
    return bytes.fromhex(digits)


def located(line: int, error: ShaderError) -> ShaderError:
    """Return the error with the line number in front of its message."""
    return ShaderError(f"line {line}: {error.what}")


def version_of(
    lines: list[Line], known: Mapping[str, _V], spelled: Callable[[str], str] = str.lower
) -> _V:
    """Return the version that the first line names, a value of ``known``.

    ``spelled`` changes its text to the spelling of the keys.  Raises ShaderError if it is none.
    """
    if not lines:
        raise ShaderError("line 1: there is no shader version")
    place, text = lines[0]
    if spelled(text) not in known:
        raise ShaderError(f"line {place}: {shown(text)} is no shader version")
    return known[spelled(text)]


class Assembled(NamedTuple):
    """The result of assembling the lines after the version line.

    ``words`` are the token words, ``trailing`` the bytes that follow the end of the program.
    """

    words: tuple[int, ...]
    places: list[tuple[int, int]]
    """(byte offset in the code, line number) of each line, the version line first."""
    trailing: bytes

    def code(self, words: Sequence[int], decode: Callable[[bytes], object] | None) -> bytes:
        """Return ``words``, all DWORDs of the program, and the trailing bytes as bytes.

        Raises ShaderError, naming the line, if ``decode``, unless None, rejects them.
        """
        code = struct.pack(f"<{len(words)}I", *words) + self.trailing
        try:
            if decode is not None:
                decode(code)
        except ShaderError as error:
            at = bisect_right(self.places, ((error.offset or 0), len(code))) - 1
            raise located(self.places[at][1], error) from None
        return code


def assemble_lines(
    lines: list[Line], words_of: Callable[[str], tuple[int, ...]], begin: int
) -> Assembled:
    """Assemble all lines after the version line; ``words_of`` assembles one of them.

    Their code begins at byte ``begin``.  Raises ShaderError, naming the line.
    """
    rest = next((i for i, line in enumerate(lines) if keyword(line[1]) == RAW), len(lines))
    words: list[int] = []
    places = [(0, lines[0][0])]
    for place, text in lines[1:rest]:
        places.append((begin + 4 * len(words), place))
        try:
            words += words_of(text)
        except ShaderError as error:
            raise located(place, error) from None
        if 4 * len(words) > CODE_BYTES:
            raise ShaderError(f"line {place}: code of more than {CODE_BYTES} bytes")
    trailing = b"".join(raw_bytes(line) for line in lines[max(rest, 1) :])
    return Assembled(tuple(words), places, trailing)


def words_line(words: tuple[int, ...]) -> str:
    """Return a ``dword`` line that spells raw tokens."""
    return f"{WORDS} " + ", ".join(f"{word:#010x}" for word in words)


def raw_lines(data: bytes) -> Iterator[str]:
    """Yield assembly lines ``raw .. ..`` that list the bytes ``data``, which follow the code."""
    for start in range(0, len(data), _BYTES_PER_LINE):
        yield f"{RAW} {data[start : start + _BYTES_PER_LINE].hex(' ')}"
