"""Assembly text to shader code.

The first line is the version.  Each of the others is an instruction or one of::

    dword 0x........, ...     tokens as they are
    comment N                 the head of a comment, whose N DWORDs follow as dword lines
    raw .. .. ..              bytes behind the end token, which is never written down

``//`` and ``;`` start a remark, ``/* */`` encloses one.  Case does not matter, nor whether
components are called x, y, z, w or r, g, b, a.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator

from dp2emu.errors import ShaderError
from dp2emu.numbers import integer
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.encode import instruction_words
from dp2emu.shader.sm.fields import COMMENT_LENGTH, COMMENT_OPCODE, END
from dp2emu.shader.sm.spelling import COMMENT, RAW, WORDS, shown
from dp2emu.shader.sm.syntax import instruction_of
from dp2emu.shader.sm.versions import BY_NAME, Version

_REMARK = re.compile(r"//[^\n]*|;[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_HEX = re.compile(r"(\s*[0-9a-f]{2})*\s*\Z", re.ASCII | re.IGNORECASE)
_DWORD_MAX = 0xFFFFFFFF
_COMMENT_MAX = (1 << COMMENT_LENGTH.width) - 1

_Line = tuple[int, str]


def assemble(text: str, *, check: bool = True) -> bytes:
    """The code a text spells.

    Raises ShaderError, which names the line: for text that cannot be read, and, unless ``check``
    is off, for code that ``decode`` refuses.
    """
    lines = list(_lines(text))
    code, places = _assemble(lines)
    if check:
        try:
            decode(code)
        except ShaderError as error:
            at = bisect_right(places, error.offset or 0) - 1
            raise _located(lines[at][0], error) from None
    return code


def _assemble(lines: list[_Line]) -> tuple[bytes, list[int]]:
    """The code, and where in it each line begins."""
    if not lines:
        raise ShaderError("line 1: there is no shader version")
    version = _version(*lines[0])
    rest = next((i for i, line in enumerate(lines) if _name(line[1]) == RAW), len(lines))
    words, places = [version.token], [0]
    for number, text in lines[1:rest]:
        places.append(4 * len(words))
        try:
            words += _words(text, version)
        except ShaderError as error:
            raise _located(number, error) from None
    code = struct.pack(f"<{len(words) + 1}I", *words, END)
    return code + b"".join(_raw(*line) for line in lines[rest:]), places


def _lines(text: str) -> Iterator[_Line]:
    """Lines with something on them and their numbers, without remarks."""
    plain = _REMARK.sub(
        lambda remark: " " + "\n" * remark[0].count("\n"), text.removeprefix("\ufeff")
    )
    for number, line in enumerate(plain.split("\n"), 1):
        if stripped := line.strip():
            yield number, stripped


def _version(number: int, text: str) -> Version:
    """``vs_2_0``; DirectX 8 wrote ``vs.1.1``."""
    name = text.lower().replace(".", "_")
    if name not in BY_NAME:
        raise ShaderError(f"line {number}: {shown(text)} is no shader version")
    return BY_NAME[name]


def _name(text: str) -> str:
    return text.split(maxsplit=1)[0].lower()


def _words(text: str, version: Version) -> tuple[int, ...]:
    read = _DIRECTIVES.get(_name(text))
    if read is None:
        return instruction_words(instruction_of(text, version), version)
    return read(text[len(_name(text)) :])


def _dwords(text: str) -> tuple[int, ...]:
    return tuple(_number(part.strip(), _DWORD_MAX) for part in text.split(","))


def _comment(text: str) -> tuple[int, ...]:
    return (COMMENT_OPCODE | COMMENT_LENGTH.put(_number(text.strip(), _COMMENT_MAX)),)


def _raw(number: int, text: str) -> bytes:
    """The bytes of a line after the end token."""
    digits = text[len(RAW) :]
    if _name(text) != RAW or not _HEX.match(digits):
        raise ShaderError(f"line {number}: only raw bytes may follow raw bytes")
    return bytes.fromhex(digits)


def _number(text: str, limit: int) -> int:
    value = integer(text)
    if value is None or not 0 <= value <= limit:
        raise ShaderError(f"{shown(text)} is no number from 0 to {limit:#x}")
    return value


def _located(line: int, error: ShaderError) -> ShaderError:
    return ShaderError(f"line {line}: {error.what}")


_DIRECTIVES: dict[str, Callable[[str], tuple[int, ...]]] = {WORDS: _dwords, COMMENT: _comment}
