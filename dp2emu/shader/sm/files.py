"""Shaders as files: code, its text, or its DWORDs as programs quote them."""

from __future__ import annotations

import re
import struct

from dp2emu.errors import ShaderError
from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.disassemble import disassemble

_CODE_KINDS = (b"\xfe\xff", b"\xff\xff")
"""The upper half of a version token."""

_BETWEEN = re.compile(r"[\s,;\"'{}\[\]]+")
_DWORD = re.compile(r"0x[0-9a-f]{1,8}\Z", re.IGNORECASE | re.ASCII)


def translate(data: bytes, *, as_text: bool = False) -> str | bytes:
    """Code or quoted DWORDs as text, text as code.

    What the file is its first bytes tell; with ``as_text`` it is text whatever they are.  Raises
    ShaderError.
    """
    if data[2:4] in _CODE_KINDS and not as_text:
        return disassemble(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"neither shader code nor UTF-8 text: {error.reason}"
        raise ShaderError(what, offset=error.start) from None
    code = _quoted(text)
    return assemble(text) if code is None else disassemble(code)


def _quoted(text: str) -> bytes | None:
    """``{ 0xfffe0101, 0x0000ffff }`` as code, None for anything else."""
    words = [word for word in _BETWEEN.split(text) if word]
    if not words or not all(map(_DWORD.match, words)):
        return None
    return struct.pack(f"<{len(words)}I", *(int(word, 16) for word in words))
