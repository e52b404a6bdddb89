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
from functools import lru_cache
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


def pack(value: Value) -> bytes:
    """The bytes of a value.  Raises CaptureError for one that readers would reject."""
    parts: list[bytes] = []
    _write((value,), 0, parts)
    return b"".join(parts)


def unpack(data: bytes | memoryview) -> Value:
    """The value that ``data`` encodes.  Raises CaptureError if it is not exactly one value."""
    reader = _Reader(memoryview(data))
    try:
        (value,) = reader.elements(1, 0)
    except struct.error:
        raise _ends_early() from None
    if reader.at != len(data):
        raise CaptureError(f"{len(data) - reader.at} bytes behind a value")
    return value


def _write(values: tuple[Value, ...], depth: int, parts: list[bytes]) -> int:
    """Append values that are ``depth`` levels deep to ``parts``.

    Returns the number of their bytes that count towards PLAIN_BYTES.  Raises CaptureError if they
    are too deep or too large.
    """
    if depth > NESTING:
        raise CaptureError(f"values nest deeper than {NESTING}")
    append, size = parts.append, 0
    value: Any
    try:
        for value in values:
            kind = type(value)
            if kind is int and value >= 0:
                append(_PUT_WHOLE(_WHOLE, value))
                size += 9
            elif kind is Memory:
                append(_PUT_MEMORY(_MEMORY, value.number, value.size))
                size += 17
            elif kind in _PLAIN:
                data = _PLAIN[kind](value)
                size += len(data)
                append(data)
            else:
                size += _write_sized(value, depth, parts)
    except (struct.error, UnicodeEncodeError) as error:
        raise CaptureError(f"{value!r:.40} does not fit a value") from error
    if size > PLAIN_BYTES:
        raise CaptureError(f"a value of more than {PLAIN_BYTES} bytes")
    return size


def _write_sized(value: Value, depth: int, parts: list[bytes]) -> int:
    """Append bytes, a list or a structure: the tag, the size, and what is in it; returns as
    ``_write`` does.
    """
    size = _SIZED.size
    if type(value) is tuple:
        if not value:
            parts.append(_EMPTY)
            return size
        parts.append(_SIZED.pack(_LIST, len(value)))
        return size + _write(value, depth + 1, parts)
    if type(value) is bytes:
        parts += _SIZED.pack(_BYTES, len(value)), value
        return size
    if type(value) is Structure:
        parts.append(_SIZED.pack(_STRUCTURE, len(value.members)))
        return size + _write((_named(value.name), *value.members), depth + 1, parts)
    raise CaptureError(f"{type(value).__name__} is no kind of value")


@lru_cache(maxsize=1024)
def _named(name: str) -> str:
    """``name`` itself.  Raises CaptureError if it names no structure."""
    if not NAME.fullmatch(name):
        raise CaptureError(f"{name[:40]!a} names no structure")
    return name


def _put_text(value: str) -> bytes:
    data = value.encode()
    return _SIZED.pack(_TEXT, len(data)) + data


_SIZED = struct.Struct("<BI")
_EMPTY = _SIZED.pack(_LIST, 0)
"""An empty list."""
_PUT_WHOLE, _PUT_NEGATIVE, _PUT_FLOAT, _PUT_MEMORY = (
    struct.Struct(f"<B{form}").pack for form in ("Q", "q", "d", "QQ")
)

_PLAIN: dict[type[Any], Callable[[Any], bytes]] = {
    type(None): lambda value: b"\0",
    int: lambda value: _PUT_NEGATIVE(_NEGATIVE, value),
    float: lambda value: _PUT_FLOAT(_FLOAT, value),
    str: _put_text,
}
"""Functions that serialize a value all of whose bytes count towards PLAIN_BYTES, by type, besides
integers from 0 and memory, which are most of all values."""


class _Reader:
    """A parser of values.  Mutable: ``at`` is the offset of the next byte, and ``contents`` the
    number of bytes so far that are contents of ``bytes``.
    """

    def __init__(self, data: memoryview) -> None:
        self.at = self.contents = 0
        self._data = data

    def elements(self, count: int, depth: int) -> tuple[Value, ...]:
        """The next ``count`` values, ``depth`` levels deep.  Raises CaptureError, or struct.error
        at the end of the data.
        """
        data, values = self._data, list[Value]()
        if count > len(data) - self.at:  # an element has a byte at least
            raise _ends_early()
        if depth > NESTING and count:
            raise CaptureError(f"values nest deeper than {NESTING}")
        for _ in range(count):
            if self.at >= len(data):
                raise _ends_early()
            tag = data[self.at]
            self.at += 1
            if tag == _WHOLE:  # most values are: no call
                values += _U64.unpack_from(data, self.at)
                self.at += _U64.size
            elif tag < len(_GET):
                values.append(_GET[tag](self, depth))
            else:
                raise CaptureError(f"a value with tag {tag}")
            if self.at - self.contents > PLAIN_BYTES:
                raise CaptureError(f"a value of more than {PLAIN_BYTES} bytes")
        return tuple(values)

    def _number(self, form: struct.Struct) -> Any:
        """The next number.  Raises struct.error at the end of the data."""
        (value,) = form.unpack_from(self._data, self.at)
        self.at += form.size
        return value

    def _take(self) -> memoryview:
        """The bytes of a text or of ``bytes``, which follow their number."""
        start = self.at + _U32.size
        self.at = start + self._number(_U32)
        if self.at > len(self._data):
            raise _ends_early()
        return self._data[start : self.at]

    def negative(self, depth: int) -> Value:
        """The number below 0 that comes next."""
        value = int(self._number(_I64))
        if value >= 0:
            raise CaptureError(f"{value} stored as a number below 0")
        return value

    def real(self, depth: int) -> Value:
        """The float that comes next."""
        return float(self._number(_F64))

    def text(self, depth: int) -> Value:
        """The text that comes next."""
        try:
            return str(self._take(), "utf-8")
        except UnicodeDecodeError as error:
            raise CaptureError(f"text that is not UTF-8: {error.reason}") from error

    def content(self, depth: int) -> Value:
        """The ``bytes`` that come next."""
        found = bytes(self._take())
        self.contents += len(found)
        return found

    def memory(self, depth: int) -> Value:
        """The memory that comes next."""
        return Memory(self._number(_U64), self._number(_U64))

    def sequence(self, depth: int) -> Value:
        """The list that comes next."""
        count = self._number(_U32)
        return self.elements(count, depth + 1) if count else ()

    def structure(self, depth: int) -> Value:
        """The structure that comes next."""
        count = self._number(_U32)
        (name,) = self.elements(1, depth + 1)
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise CaptureError(f"{name!r:.40} names no structure")
        return Structure(name, self.elements(count, depth + 1))


def _ends_early() -> CaptureError:
    return CaptureError("a value ends too early")


_GET: tuple[Callable[[_Reader, int], Value], ...] = (
    lambda reader, depth: None,
    lambda reader, depth: int(reader._number(_U64)),
    _Reader.negative,
    _Reader.real,
    _Reader.text,
    _Reader.content,
    _Reader.memory,
    _Reader.sequence,
    _Reader.structure,
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
