"""Assembler: text to shader code of Direct3D 8 and 9.

The first line is the version.  Every other line is an instruction or one of::

    dword 0x........, ...     literal tokens
    comment N                 token of a comment, whose N DWORDs follow as dword lines
    raw .. .. ..              bytes after the end token, which is implied

``//`` and ``;`` start a remark, ``/* */`` encloses one.  Text is case-insensitive; components may
be named x, y, z, w or r, g, b, a.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from dp2emu.errors import ShaderError
from dp2emu.shader.assembly import (
    WORDS,
    assemble_lines,
    dwords,
    keyword,
    number,
    shown,
    source_lines,
)
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.encode import instruction_words
from dp2emu.shader.sm.fields import COMMENT_LENGTH, COMMENT_OPCODE, END
from dp2emu.shader.sm.spelling import COMMENT
from dp2emu.shader.sm.syntax import instruction_of
from dp2emu.shader.sm.versions import BY_NAME, Version

_COMMENT_MAX = (1 << COMMENT_LENGTH.width) - 1


def assemble(text: str, *, check: bool = True) -> bytes:
    """Assemble text into code.

    Raises ShaderError, which names the line, for syntax errors and, if ``check`` is set, for code
    that ``decode`` refuses.
    """
    lines = list(source_lines(text))
    if not lines:
        raise ShaderError("line 1: there is no shader version")
    version = _version(*lines[0])
    found = assemble_lines(lines, lambda line: _words(line, version), begin=4)
    words = (version.token, *found.words, END)
    code = struct.pack(f"<{len(words)}I", *words) + found.trailing
    if check:
        found.check(code, decode)
    return code


def _version(place: int, text: str) -> Version:
    """``vs_2_0``; DirectX 8 wrote ``vs.1.1``."""
    name = text.lower().replace(".", "_")
    if name not in BY_NAME:
        raise ShaderError(f"line {place}: {shown(text)} is no shader version")
    return BY_NAME[name]


def _words(text: str, version: Version) -> tuple[int, ...]:
    read = _DIRECTIVES.get(keyword(text))
    if read is None:
        return instruction_words(instruction_of(text, version), version)
    return read(text[len(keyword(text)) :])


def _comment(text: str) -> tuple[int, ...]:
    return (COMMENT_OPCODE | COMMENT_LENGTH.put(number(text.strip(), _COMMENT_MAX)),)


_DIRECTIVES: dict[str, Callable[[str], tuple[int, ...]]] = {WORDS: dwords, COMMENT: _comment}
