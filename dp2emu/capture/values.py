"""Arguments and answers of the Direct3D 10/11 interface as plain values, and as bytes.

A value is nothing, a number, text, bytes, memory of the runtime's by its number (handles of
objects too, since an object lives in memory of the runtime's), a list, or a structure by its name
in the headers with its members in order.  As bytes each begins with its tag:

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
"""Bytes a value may take beside those of ``bytes`` in it: what is shown is one line of text."""
NESTING = 12
"""How deep lists and structures may nest."""
NAME = re.compile(r"[A-Z][A-Za-z0-9_]{0,63}")
"""How structures are called."""
ENTRY = re.compile(r"(?:(?:DXGI|Adapter|Host)\.)?[A-Z][A-Za-z0-9]{0,99}")
"""How functions are called, with the table they belong to."""


class Memory(msgspec.Struct, frozen=True):
    """Memory of the runtime's: ``number`` names it, ``size`` is in bytes."""

    number: int
    size: int


class Structure(msgspec.Struct, frozen=True):
    """A structure: its name in the headers and its members in their order."""

    name: str
    members: tuple[Value, ...]


Value: TypeAlias = int | float | str | bytes | Memory | Structure | tuple["Value", ...] | None

_NONE, _WHOLE, _NEGATIVE, _FLOAT, _TEXT, _BYTES, _MEMORY, _LIST, _STRUCTURE = range(9)
_U32, _U64, _I64, _F64 = (struct.Struct(f"<{letter}") for letter in "IQqd")
_PAIR = struct.Struct("<QQ")


def pack(value: Value) -> bytes:
    """The bytes of a value.  Raises CaptureError for one that readers would not take."""
    parts: list[bytes] = []
    _Writer(parts).write(value, 0)
    return b"".join(parts)


def unpack(data: bytes | memoryview) -> Value:
    """The value that some bytes are.  Raises CaptureError if they are not exactly one."""
    reader = _Reader(memoryview(data))
    value = reader.read(0)
    if reader.at != len(data):
        raise CaptureError(f"{len(data) - reader.at} bytes behind a value")
    return value


class _Writer:
    """Bytes under way.  Mutable: they grow."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts
        self._plain = 0

    def write(self, value: Value, depth: int) -> None:
        """Append a value.  Raises CaptureError."""
        if depth > NESTING:
            raise CaptureError(f"values nest deeper than {NESTING}")
        put = _PUT.get(type(value))
        if put is None:
            raise CaptureError(f"{type(value).__name__} is no kind of value")
        try:
            put(self, value, depth)
        except (struct.error, UnicodeEncodeError) as error:
            raise CaptureError(f"{value!r:.40} does not fit a value") from error

    def _add(self, tag: int, data: bytes, more: bytes = b"") -> None:
        self._plain += 1 + len(data)
        if self._plain > PLAIN_BYTES:
            raise CaptureError(f"a value of more than {PLAIN_BYTES} bytes")
        self._parts.append(bytes([tag]) + data + more)

    def _none(self, value: None, depth: int) -> None:
        self._add(_NONE, b"")

    def _int(self, value: int, depth: int) -> None:
        if value < 0:
            self._add(_NEGATIVE, _I64.pack(value))
        else:
            self._add(_WHOLE, _U64.pack(value))

    def _float(self, value: float, depth: int) -> None:
        self._add(_FLOAT, _F64.pack(value))

    def _text(self, value: str, depth: int) -> None:
        data = value.encode()
        self._add(_TEXT, _U32.pack(len(data)) + data)

    def _bytes(self, value: bytes, depth: int) -> None:
        self._add(_BYTES, _U32.pack(len(value)), value)

    def _memory(self, value: Memory, depth: int) -> None:
        self._add(_MEMORY, _PAIR.pack(value.number, value.size))

    def _list(self, value: tuple[Value, ...], depth: int) -> None:
        self._add(_LIST, _U32.pack(len(value)))
        for element in value:
            self.write(element, depth + 1)

    def _structure(self, value: Structure, depth: int) -> None:
        if not NAME.fullmatch(value.name):
            raise CaptureError(f"{value.name[:40]!a} names no structure")
        self._add(_STRUCTURE, _U32.pack(len(value.members)))
        for element in (value.name, *value.members):
            self.write(element, depth + 1)


_PUT: dict[type[Any], Callable[[_Writer, Any, int], None]] = {
    type(None): _Writer._none,
    int: _Writer._int,
    float: _Writer._float,
    str: _Writer._text,
    bytes: _Writer._bytes,
    Memory: _Writer._memory,
    tuple: _Writer._list,
    Structure: _Writer._structure,
}


class _Reader:
    """Bytes being read.  Mutable: ``at`` moves."""

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

    def _none(self, depth: int) -> Value:
        return None

    def _whole(self, depth: int) -> Value:
        return int(self._number(_U64))

    def _negative(self, depth: int) -> Value:
        value = int(self._number(_I64))
        if value >= 0:
            raise CaptureError(f"{value} stored as a number below 0")
        return value

    def _float(self, depth: int) -> Value:
        return float(self._number(_F64))

    def _text(self, depth: int) -> str:
        try:
            return str(self._take(self._number(_U32)), "utf-8")
        except UnicodeDecodeError as error:
            raise CaptureError(f"text that is not UTF-8: {error.reason}") from error

    def _bytes(self, depth: int) -> Value:
        return bytes(self._take(self._number(_U32), plain=False))

    def _memory(self, depth: int) -> Value:
        number, size = _PAIR.unpack(self._take(_PAIR.size))
        return Memory(number, size)

    def _list(self, depth: int) -> Value:
        return self._elements(self._number(_U32), depth)

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
    _Reader._none,
    _Reader._whole,
    _Reader._negative,
    _Reader._float,
    _Reader._text,
    _Reader._bytes,
    _Reader._memory,
    _Reader._list,
    _Reader._structure,
)
"""By tag."""


def json_of(value: Value) -> Any:
    """A value for ``json.dumps``: bytes are ``{"hex": ..}``, floats that JSON lacks strings."""
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
