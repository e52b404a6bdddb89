"""Assembler: text to programs of Direct3D 10 and 11.

The first line is the version.  Every other line is an instruction or one of::

    dword 0x........, ...     literal tokens
    raw .. .. ..              bytes after the end of the program

``//`` and ``;`` start a remark, ``/* */`` encloses one.  Text is case-insensitive.  A line
continues while a brace is open.  The length of the program is implied.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from dp2emu.errors import ShaderError
from dp2emu.shader.assembly import (
    WORDS,
    Line,
    assemble_lines,
    dwords,
    keyword,
    shown,
    source_lines,
)
from dp2emu.shader.sm4.decode import decode
from dp2emu.shader.sm4.encode import instruction_words
from dp2emu.shader.sm4.syntax import instruction_of
from dp2emu.shader.sm4.versions import BY_NAME, Version

_HEAD = 8
"""Bytes of the version and length tokens."""


def assemble(text: str, *, check: bool = True) -> bytes:
    """Assemble text into a program.

    Raises ShaderError, which names the line, for syntax errors and, if ``check`` is set, for a
    program that ``decode`` refuses.
    """
    lines = list(_joined(source_lines(text)))
    if not lines:
        raise ShaderError("line 1: there is no shader version")
    version = _version(*lines[0])
    found = assemble_lines(lines, _words, _HEAD)
    words = version.token, _HEAD // 4 + len(found.words), *found.words
    code = struct.pack(f"<{len(words)}I", *words) + found.trailing
    if check:
        found.check(code, decode)
    return code


def _joined(lines: Iterator[Line]) -> Iterator[Line]:
    """Join lines while a brace is open; a joined line has the number of its first."""
    parts: list[str] = []
    begin = depth = 0
    for place, text in lines:
        begin = begin if parts else place
        parts.append(text)
        depth += text.count("{") - text.count("}")
        if depth <= 0:
            yield begin, " ".join(parts)
            parts, depth = [], 0
    if parts:
        yield begin, " ".join(parts)


def _version(place: int, text: str) -> Version:
    if text.lower() not in BY_NAME:
        raise ShaderError(f"line {place}: {shown(text)} is no shader version")
    return BY_NAME[text.lower()]


def _words(text: str) -> tuple[int, ...]:
    if keyword(text) == WORDS:
        return dwords(text[len(WORDS) :])
    return instruction_words(instruction_of(text))
