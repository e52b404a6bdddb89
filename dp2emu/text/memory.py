"""Memory as text: bytes in hexadecimal, DWORDs and floats where a layout is known.

A literal implies its size: ``"00 ff"`` are bytes, an integer or SDK name is a DWORD, and a number
with a point, an exponent, ``inf`` or ``nan`` is a float32.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence

from dp2emu.layout import Buffer
from dp2emu.number_text import float_bits, float_text, grouped_hex
from dp2emu.text.shape import Leaf, scalar
from dp2emu.text.syntax import Quoted, TextError, Value, Word

LINE_BYTES = 32

_DWORD = Leaf("I", "", None, alone=False)
_SIGNED = Leaf("i", "", None, alone=False)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}|\s)*\Z", re.ASCII)
_PACK = struct.Struct("<I").pack


def hex_lines(name: str, data: Buffer) -> Iterator[str]:
    """Lines ``name: "00 ff ..."`` with ``data`` in hexadecimal; one line even for no data."""
    for start in range(0, max(len(data), 1), LINE_BYTES):
        yield f'{name}: "{grouped_hex(bytes(data[start : start + LINE_BYTES]))}"'


def vertex_line(vertex: Buffer, floats: Sequence[bool]) -> str:
    """A vertex as words: the DWORDs flagged in ``floats`` as floats, others in hexadecimal."""
    whole = len(vertex) // 4
    words = struct.unpack_from(f"<{whole}I", vertex)
    shown = [
        float_text(word) if index < len(floats) and floats[index] else f"{word:#010x}"
        for index, word in enumerate(words)
    ]
    if len(vertex) % 4:
        shown.append(f'"{bytes(vertex[4 * whole :]).hex()}"')
    return " ".join(shown)


def bytes_of(values: Iterable[Value]) -> bytes:
    """The bytes that literals in a capture's text stand for, concatenated.  Raises TextError."""
    return b"".join(map(_bytes, values))


def _bytes(value: Value) -> bytes:
    if isinstance(value, Quoted):
        if not _HEX.match(value.text):
            raise TextError(value.line, f"{value.text[:40]!a} are no hexadecimal bytes")
        return bytes.fromhex(value.text)
    if isinstance(value, Word) and (bits := _float(value)) is not None:
        return _PACK(bits)
    leaf = _SIGNED if isinstance(value, Word) and value.text.startswith("-") else _DWORD
    return _PACK(scalar(leaf, value) & 0xFFFFFFFF)


def _float(value: Word) -> int | None:
    try:
        return float_bits(value.text)
    except OverflowError:
        raise TextError(value.line, f"{value.text} is beyond a 32-bit float") from None
