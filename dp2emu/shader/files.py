"""Translation of shader files between code, containers, assembly text and quoted DWORDs."""

from __future__ import annotations

import re
from collections.abc import Callable

from dp2emu.errors import ShaderError
from dp2emu.shader import sm, sm4
from dp2emu.shader.assembly import keyword, source_lines
from dp2emu.shader.cursor import CODE_BYTES
from dp2emu.shader.sm4.container import MAGIC
from dp2emu.shader.sm4.listing import CONTAINER, container_text, packed
from dp2emu.shader.sm4.versions import BY_NAME, Stage

FILE_BYTES = 1 << 24
"""Most bytes of a file; the text of the largest container has fewer."""

_SM_KINDS = (b"\xfe\xff", b"\xff\xff")
_SM4_KINDS = tuple(bytes((kind, 0)) for kind in range(len(Stage)))
"""Upper halves of version tokens, little-endian."""

_WORD = re.compile(r"[^\s,;\"'{}\[\]]+")
_DWORD = re.compile(r"0x[0-9a-f]{1,8}\Z", re.IGNORECASE | re.ASCII)


def translate(data: bytes, *, as_text: bool = False) -> str | bytes:
    """Disassemble code or quoted DWORDs to text, or assemble text to code.

    The first bytes decide which it is; with ``as_text`` the data is always read as text.  Raises
    ShaderError.
    """
    disassemble = None if as_text else _disassembler(data)
    if disassemble is not None:
        return disassemble(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"neither shader code nor UTF-8 text: {error.reason}"
        raise ShaderError(what, offset=error.start) from None
    code = _quoted(text)
    if code is None:
        return _assembler(text)(text)
    return (_disassembler(code) or sm.disassemble)(code)


def _disassembler(data: bytes) -> Callable[[bytes], str] | None:
    """Return the disassembler for data, chosen by its first bytes; None if it is not code."""
    if data[:4] == MAGIC:
        return container_text
    if data[2:4] in _SM_KINDS:
        return sm.disassemble
    # Byte 1 of an SM4 version token is 0, which no text has there.
    return sm4.disassemble if data[1:2] == b"\0" and data[2:4] in _SM4_KINDS else None


def _assembler(text: str) -> Callable[[str], bytes]:
    """Return the assembler for a text, chosen by its first line."""
    _, first = next(source_lines(text), (1, "none"))
    if keyword(first) == CONTAINER:
        return packed
    return sm4.assemble if keyword(first) in BY_NAME else sm.assemble


def _quoted(text: str) -> bytes | None:
    """Return the code of a list of DWORDs such as ``{ 0xfffe0101, 0x0000ffff }``, None for other
    text.
    """
    code = bytearray()
    for word in _WORD.finditer(text):
        if not _DWORD.match(word[0]):
            return None
        code += int(word[0], 16).to_bytes(4, "little")
        if len(code) > CODE_BYTES:
            break
    return bytes(code) or None
