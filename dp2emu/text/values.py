"""Values of the Direct3D 10/11 interface as text.

In text a value is ``null``, a number (floats have a point, an exponent or ``inf``), a quoted
string, ``{hex="00 ff"}``, ``{memory=3 size=40}``, ``[value ...]`` for a list, or
``{CreateQuery=[8 0]}`` for a structure.  Long bytes are ``{blob=0}``, a reference to a separate
part ``blob0:``.  A NaN is ``{bits=0x7ff8000000000000}``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from typing import Any

from dp2emu.capture.values import NAME, Memory, Structure
from dp2emu.capture.values import Value as Known
from dp2emu.number_text import grouped_hex
from dp2emu.text.memory import LINE_BYTES, bytes_of, hex_lines
from dp2emu.text.shape import Leaf, scalar
from dp2emu.text.syntax import Fields, Parts, Quoted, Row, TextError, Value, Word, quote

NOTHING = "null"
_BLOB = "blob"
_WHOLE = Leaf("Q", "", None, alone=False)
_NEGATIVE = Leaf("q", "", None, alone=False)
_F64, _U64 = struct.Struct("<d"), struct.Struct("<Q")


class ValueText:
    """A formatter of values.  Mutable: it collects bytes that are too long for a line."""

    def __init__(self) -> None:
        self._blobs: list[bytes] = []

    def show(self, value: Known) -> str:
        """Format a value of a function's argument or result as text: a word, string or bracket."""
        return _SHOWN[type(value)](self, value)

    def blobs(self) -> Iterator[str]:
        """Lines ``blobN: ...`` with the bytes that were too long for a value's line."""
        for number, data in enumerate(self._blobs):
            yield from hex_lines(f"{_BLOB}{number}", data)

    def _bytes(self, value: bytes) -> str:
        if len(value) <= LINE_BYTES:
            return f'{{hex="{grouped_hex(value)}"}}'
        self._blobs.append(value)
        return f"{{{_BLOB}={len(self._blobs) - 1}}}"

    def _list(self, value: tuple[Known, ...]) -> str:
        return f"[{' '.join(map(self.show, value))}]"

    def _structure(self, value: Structure) -> str:
        return f"{{{value.name}={self._list(value.members)}}}"


def _float(value: float) -> str:
    if math.isnan(value):
        return f"{{bits={_U64.unpack(_F64.pack(value))[0]:#x}}}"
    return repr(value)


_SHOWN: dict[type[Any], Callable[[ValueText, Any], str]] = {
    type(None): lambda text, value: NOTHING,
    int: lambda text, value: str(value),
    float: lambda text, value: _float(value),
    str: lambda text, value: quote(value),
    bytes: ValueText._bytes,
    Memory: lambda text, value: f"{{memory={value.number} size={value.size}}}",
    tuple: ValueText._list,
    Structure: ValueText._structure,
}


# Reading


def values_of(values: list[Value], parts: Parts) -> tuple[Known, ...]:
    """Parse the values of a list; ``parts`` has the long bytes that they refer to as ``blobN``.

    Parts that were used are removed.  Raises TextError.
    """
    return tuple(_known(value, parts) for value in values)


def _known(value: Value, parts: Parts) -> Known:
    if isinstance(value, Quoted):
        return value.text
    if isinstance(value, Row):
        return values_of(list(value.values), parts)
    return _number(value) if isinstance(value, Word) else _bracket(value, parts)


def _number(word: Word) -> Known:
    text = word.text
    if text == NOTHING:
        return None
    if text.lstrip("-+").isdecimal() or text.lower().startswith("0x"):
        return scalar(_NEGATIVE if text.startswith("-") else _WHOLE, word)
    try:
        return float(text)
    except ValueError:
        raise TextError(word.line, f"{text[:40]!a} is no value") from None


def _bracket(fields: Fields, parts: Parts) -> Known:
    given = fields.values
    name = next(iter(given), "")
    read = _BRACKETS.get(tuple(given))
    if read is not None:
        return read(fields, parts)
    members = given.get(name)
    if len(given) != 1 or not NAME.fullmatch(name) or not isinstance(members, Row):
        raise TextError(fields.line, f"{name[:40]!a} begins no value")
    return Structure(name, values_of(list(members.values), parts))


def _blob(fields: Fields, parts: Parts) -> Known:
    part = f"{_BLOB}{scalar(_WHOLE, fields.values[_BLOB])}"
    if part not in parts:
        raise TextError(fields.line, f"no part {part}, or it is named twice")
    return bytes_of(parts.pop(part))


def _bits(fields: Fields, parts: Parts) -> Known:
    value: float = _F64.unpack(_U64.pack(scalar(_WHOLE, fields.values["bits"])))[0]
    return value


def _memory(fields: Fields, parts: Parts) -> Known:
    return Memory(*(scalar(_WHOLE, fields.values[name]) for name in ("memory", "size")))


_BRACKETS: dict[tuple[str, ...], Callable[[Fields, Parts], Known]] = {
    ("hex",): lambda fields, parts: bytes_of(fields.values.values()),
    (_BLOB,): _blob,
    ("bits",): _bits,
    ("memory", "size"): _memory,
}
"""Functions that parse a value in braces, by its field names, such as ``memory`` and ``size``;
braces with other fields are a structure."""
