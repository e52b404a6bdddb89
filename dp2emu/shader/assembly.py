"""What texts of all shader models have in common: lines, remarks, DWORDs and bytes as they are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dp2emu.errors import ShaderError
from dp2emu.number_text import integer
from dp2emu.shader.cursor import CODE_BYTES

WORDS = "dword"
RAW = "raw"
"""Lines of tokens as they are, and of bytes after the end."""

_REMARK = re.compile(r"//[^\n]*|;[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_HEX = re.compile(r"(\s*[0-9a-f]{2})*\s*\Z", re.ASCII | re.IGNORECASE)
_DWORD_MAX = 0xFFFFFFFF
_BYTES_PER_LINE = 32
_LINES = 1 << 18
"""Of a text: twice those of the largest container that is nothing but DWORDs."""
_LONGEST = 1 << 20
"""Characters of a line."""

Line = tuple[int, str]
"""A line's number from 1 and its text."""


def shown(text: str) -> str:
    """As much of a text as the line of an error can bear."""
    return ascii(text[:40])[1:-1]


def source_lines(text: str) -> Iterator[Line]:
    """Lines with something on them, without remarks.  Raises ShaderError for very many, and for
    very long ones.
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
    """One after the other: all of them at a time are many times the text."""
    start, end = 0, text.find("\n")
    while end >= 0:
        yield text[start:end]
        start, end = end + 1, text.find("\n", end + 1)
    yield text[start:]


def keyword(text: str) -> str:
    """What a line begins with."""
    return text.split(maxsplit=1)[0].lower()


def number(text: str, limit: int) -> int:
    """A number from 0 to ``limit``.  Raises ShaderError."""
    value = integer(text)
    if value is None or not 0 <= value <= limit:
        raise ShaderError(f"{shown(text)} is no number from 0 to {limit:#x}")
    return value


def dwords(text: str) -> tuple[int, ...]:
    """What follows ``dword``.  Raises ShaderError."""
    return tuple(number(part.strip(), _DWORD_MAX) for part in text.split(","))


def raw_bytes(line: Line) -> bytes:
    """The bytes of a line after the end of the code.  Raises ShaderError."""
    place, text = line
    digits = text[len(RAW) :]
    if keyword(text) != RAW or not _HEX.match(digits):
        raise ShaderError(f"line {place}: only raw bytes may follow raw bytes")
    return bytes.fromhex(digits)


def located(line: int, error: ShaderError) -> ShaderError:
    """An error of a line as one of the text."""
    return ShaderError(f"line {line}: {error.what}")


class Assembled(NamedTuple):
    """The words of a text behind its version, where each line begins, and bytes to follow."""

    words: tuple[int, ...]
    places: list[tuple[int, int]]
    """Byte offset in the code and number of each line, the version's first."""
    trailing: bytes

    def check(self, code: bytes, decode: Callable[[bytes], object]) -> None:
        """Raises ShaderError, which names the line, where ``decode`` refuses the code."""
        try:
            decode(code)
        except ShaderError as error:
            at = bisect_right(self.places, ((error.offset or 0), len(code))) - 1
            raise located(self.places[at][1], error) from None


def assemble_lines(
    lines: list[Line], words_of: Callable[[str], tuple[int, ...]], begin: int
) -> Assembled:
    """The code of the lines behind the first, which begins at byte ``begin``.

    Raises ShaderError, which names the line.
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
    """Tokens as they are."""
    return f"{WORDS} " + ", ".join(f"{word:#010x}" for word in words)


def raw_lines(data: bytes) -> Iterator[str]:
    """Bytes after the end of the code."""
    for start in range(0, len(data), _BYTES_PER_LINE):
        yield f"{RAW} {data[start : start + _BYTES_PER_LINE].hex(' ')}"
