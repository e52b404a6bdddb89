"""Arguments and results of the Direct3D 10/11 interface as plain values, and as bytes.

A value is None, a number, text, bytes, a block of the runtime's memory by its number (a handle is
one, since an object lives in the runtime's memory), a list, or a structure by its name in the
headers with its members in order.  As bytes each begins with its tag:

====  ============================  =============================================
tag   value                         what follows
====  ============================  =============================================
0     nothing
1     integer from 0                u64
2     integer below 0               i64
3     float                         f64
4     text                          bytes u32, UTF-8
5     bytes                         bytes u32, the bytes
6     memory                        number u64, size u64
7     list                          elements u32, each a value
8     structure                     members u32, its name as a value, each a value
====  ============================  =============================================
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from dp2emu.errors import CaptureError

PLAIN_BYTES = 1 << 17
"""Largest serialized size of a value in bytes, not counting the contents of ``bytes`` in it."""
NESTING = 12
"""Largest nesting depth of lists and structures in an argument or result of a capture."""
NAME = re.compile(r"[A-Z][A-Za-z0-9_]{0,63}")
"""Pattern of a structure's name: a capital, then up to 63 letters, digits or underscores."""
ENTRY = re.compile(r"(?:(?:DXGI|Adapter|Host)\.)?[A-Z][A-Za-z0-9]{0,99}")
"""Pattern of a function's name, optionally after ``DXGI.``, ``Adapter.`` or ``Host.``."""


class Memory(msgspec.Struct, frozen=True):
    """A block of the runtime's memory: its number, and its size in bytes."""

    number: int
    size: int


class Structure(msgspec.Struct, frozen=True):
    """A structure: its name in the headers, and its members in order."""

    name: str
    members: tuple[Value, ...]


Value: TypeAlias = int | float | str | bytes | Memory | Structure | tuple["Value", ...] | None

_NONE, _WHOLE, _NEGATIVE, _FLOAT, _TEXT, _BYTES, _MEMORY, _LIST, _STRUCTURE = range(9)
_U32, _U64, _I64, _F64 = (struct.Struct(f"<{letter}") for letter in "IQqd")
_PAIR = struct.Struct("<QQ")


def pack(value: Value) -> bytes:
    """The bytes of a value.  Raises CaptureError for one that readers would reject."""
    parts: list[bytes] = []
    _Writer(parts).write(value, 0)
    return b"".join(parts)


def unpack(data: bytes | memoryview) -> Value:
    """The value that ``data`` encodes.  Raises CaptureError if it is not exactly one value."""
    reader = _Reader(memoryview(data))
    value = reader.read(0)
    if reader.at != len(data):
        raise CaptureError(f"{len(data) - reader.at} bytes behind a value")
    return value


class _Writer:
    """Serializes values into the list ``parts``.  Mutable: it counts bytes."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts
        self._plain = 0

    def write(self, value: Value, depth: int) -> None:
        """Append ``value``, ``depth`` levels deep; CaptureError if too deep or too large."""
        if depth > NESTING:
            raise CaptureError(f"values nest deeper than {NESTING}")
        put = _PUT.get(type(value))
        if put is None:
            raise CaptureError(f"{type(value).__name__} is no kind of value")
        try:
            tag, data, more, elements = put(value)
        except (struct.error, UnicodeEncodeError) as error:
            raise CaptureError(f"{value!r:.40} does not fit a value") from error
        self._plain += 1 + len(data)
        if self._plain > PLAIN_BYTES:
            raise CaptureError(f"a value of more than {PLAIN_BYTES} bytes")
        self._parts.append(bytes([tag]) + data + more)
        for element in elements:
            self.write(element, depth + 1)


_Put = tuple[int, bytes, bytes, tuple[Value, ...]]
"""Type of a value that is ready to serialize: (tag, bytes that count towards PLAIN_BYTES, bytes
that do not, elements that are serialized after these)."""


def _put_int(value: int) -> _Put:
    negative = value < 0
    return (_NEGATIVE if negative else _WHOLE), (_I64 if negative else _U64).pack(value), b"", ()


def _put_text(value: str) -> _Put:
    data = value.encode()
    return _TEXT, _U32.pack(len(data)) + data, b"", ()


def _put_structure(value: Structure) -> _Put:
    if not NAME.fullmatch(value.name):
        raise CaptureError(f"{value.name[:40]!a} names no structure")
    return _STRUCTURE, _U32.pack(len(value.members)), b"", (value.name, *value.members)


_PUT: dict[type[Any], Callable[[Any], _Put]] = {
    type(None): lambda value: (_NONE, b"", b"", ()),
    int: _put_int,
    float: lambda value: (_FLOAT, _F64.pack(value), b"", ()),
    str: _put_text,
    bytes: lambda value: (_BYTES, _U32.pack(len(value)), value, ()),
    Memory: lambda value: (_MEMORY, _PAIR.pack(value.number, value.size), b"", ()),
    tuple: lambda value: (_LIST, _U32.pack(len(value)), b"", value),
    Structure: _put_structure,
}


class _Reader:
    """A parser of values.  Mutable: ``at`` is the offset of the next byte."""

    def __init__(self, data: memoryview) -> None:
        self.at = 0
        self._data = data
        self._plain = 0

    def read(self, depth: int) -> Value:
        """The next value.  Raises CaptureError."""
        if depth > NESTING:
            raise CaptureError(f"values nest deeper than {NESTING}")
        tag = self._take(1)[0]
        if tag >= len(_GET):
            raise CaptureError(f"a value with tag {tag}")
        return _GET[tag](self, depth)

    def _take(self, size: int, plain: bool = True) -> memoryview:
        if size > len(self._data) - self.at:
            raise CaptureError("a value ends too early")
        self._plain += size if plain else 0
        if self._plain > PLAIN_BYTES:
            raise CaptureError(f"a value of more than {PLAIN_BYTES} bytes")
        self.at += size
        return self._data[self.at - size : self.at]

    def _number(self, form: struct.Struct) -> Any:
        return form.unpack(self._take(form.size))[0]

    def _negative(self, depth: int) -> Value:
        value = int(self._number(_I64))
        if value >= 0:
            raise CaptureError(f"{value} stored as a number below 0")
        return value

    def _text(self, depth: int) -> str:
        try:
            return str(self._take(self._number(_U32)), "utf-8")
        except UnicodeDecodeError as error:
            raise CaptureError(f"text that is not UTF-8: {error.reason}") from error

    def _structure(self, depth: int) -> Value:
        count = self._number(_U32)
        name = self.read(depth + 1)
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise CaptureError(f"{name!r:.40} names no structure")
        return Structure(name, self._elements(count, depth))

    def _elements(self, count: int, depth: int) -> tuple[Value, ...]:
        if count > len(self._data) - self.at:  # an element has a byte at least
            raise CaptureError("a value ends too early")
        return tuple(self.read(depth + 1) for _ in range(count))


_GET: tuple[Callable[[_Reader, int], Value], ...] = (
    lambda reader, depth: None,
    lambda reader, depth: int(reader._number(_U64)),
    _Reader._negative,
    lambda reader, depth: float(reader._number(_F64)),
    _Reader._text,
    lambda reader, depth: bytes(reader._take(reader._number(_U32), plain=False)),
    lambda reader, depth: Memory(*_PAIR.unpack(reader._take(_PAIR.size))),
    lambda reader, depth: reader._elements(reader._number(_U32), depth),
    _Reader._structure,
)
"""Functions (reader, depth) that parse the content of a serialized value; the index is its tag, 0
to 8."""


def json_of(value: Value) -> Any:
    """A value for ``json.dumps``: bytes as ``{"hex": ..}``, infinities and NaNs as strings."""
    return _JSON[type(value)](value)


_JSON: dict[type[Any], Callable[[Any], Any]] = {
    type(None): lambda value: None,
    int: int,
    float: lambda value: value if math.isfinite(value) else str(value),
    str: str,
    bytes: lambda value: {"hex": value.hex()},
    Memory: lambda value: {"memory": value.number, "size": value.size},
    tuple: lambda value: [json_of(element) for element in value],
    Structure: lambda value: {value.name: [json_of(member) for member in value.members]},
}
