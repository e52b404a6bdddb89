"""Typed readers of scene files: objects, numbers, SDK names, rectangles, binary data.

A reader is a function that takes a parsed JSON value and returns a Python value.  It raises
SceneError for a value it does not accept, and checks sizes before it allocates memory.
"""

from __future__ import annotations

import base64
import binascii
import re
import reprlib
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dp2emu.d3d.enums import Format
from dp2emu.d3d.names import sdk_constant
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.errors import SceneError

_E = TypeVar("_E", bound=SdkEnum)
_T = TypeVar("_T")
_D = TypeVar("_D")
_REQUIRED: Any = object()

DATA_BYTES = 1 << 26
"""Upper bound of the bytes in all data objects of a scene."""
NAME_LENGTH = 100

_DWORD_MAX = 0xFFFFFFFF
_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_DEVICE_NAMES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)

Reader = Callable[[object], Any]


class PlayerReader(NamedTuple):
    """A reader that needs the player of the scene, for example to look up a resource by name.

    ``of(player)`` returns the function that converts a JSON value.
    """

    of: Callable[[Any], Reader]


class Default(NamedTuple):
    """How to read an optional key: a function for its value, and what stands for a missing key."""

    read: Reader | PlayerReader
    value: Any


Argument = Reader | PlayerReader | Default


Spellings = Mapping[str, frozenset[str]]
"""Other spellings of keys, as ``plain_key`` returns them, by the key."""


def plain_key(key: str) -> str:
    """A key in lower case and without underscores, as spellings are compared."""
    return key.replace("_", "").lower()


class Fields:
    """A JSON object whose values are read by key.  Mutable: it records which keys were read.

    ``where`` begins its error messages.  Without ``spellings`` keys are exact; with them case and
    underscores do not count, and a key may have one of its other spellings.  Raises SceneError if
    ``value`` is not an object.
    """

    def __init__(self, value: object, where: str, spellings: Spellings | None = None) -> None:
        if not isinstance(value, dict):
            raise SceneError(f"{where}: expected an object, got {_shown(value)}")
        self.where = where
        self._value: dict[str, object] = value
        self._unread = set(self._value)
        self._spellings = spellings

    def __contains__(self, key: str) -> bool:
        return self._spelled(key) in self._value

    def _spelled(self, key: str) -> str:
        """The spelling of ``key`` that the object has; ``key`` itself if it has none.

        Of two spellings the second stays unread, and so is an unknown key.
        """
        if self._spellings is None or key in self._value:
            return key
        accepted = self._spellings.get(key, frozenset()) | {plain_key(key)}
        return next((each for each in self._value if plain_key(each) in accepted), key)

    def take(self, key: str, read: Callable[[object], _T], default: _D = _REQUIRED) -> _T | _D:
        """Read the value of ``key``; return ``default``, if there is one, for a missing key.

        Raises SceneError for a missing key without default, and where ``read`` does.
        """
        found = self._spelled(key)
        self._unread.discard(found)
        if found not in self._value:
            if default is _REQUIRED:
                raise SceneError(f"{self.where}: missing key {key!r}")
            return default
        try:
            return read(self._value[found])
        except SceneError as error:
            raise SceneError(f"{self.where}: {found}: {error.what}") from None

    def take_all(self, arguments: Mapping[str, Argument], player: object = None) -> list[Any]:
        """Read the values of several keys, in the order of ``arguments``."""
        values = []
        for key, argument in arguments.items():
            read, default = argument if isinstance(argument, Default) else (argument, _REQUIRED)
            read = read.of(player) if isinstance(read, PlayerReader) else read
            values.append(self.take(key, read, default))
        return values

    def ignore(self, *keys: str) -> None:
        """Accept optional keys that have no effect."""
        self._unread.difference_update(map(self._spelled, keys))

    def ignore_others(self) -> None:
        """Mark all keys as read: ``finish`` then accepts those that the schema does not list."""
        self._unread.clear()

    def finish(self) -> None:
        """Raise SceneError if a key was not read: it is probably a typing error."""
        if self._unread:
            raise SceneError(f"{self.where}: unknown key {min(self._unread)!r}")


def text(value: object) -> str:
    """Read a string."""
    if not isinstance(value, str):
        raise SceneError(f"expected a string, got {_shown(value)}")
    return value


def file_name(value: object) -> str:
    """Read a string that is safe as part of a file name on every system."""
    name = text(value)
    safe = _SAFE_NAME.fullmatch(name) and len(name) <= NAME_LENGTH and not name.endswith(".")
    if not safe or _DEVICE_NAMES.fullmatch(name):
        raise SceneError(
            f"expected a portable file name (letters, digits, _.+-), got {_shown(name)}"
        )
    return name


def truth(value: object) -> bool:
    """Read a boolean: true, false, 1 or 0."""
    if value not in (True, False):
        raise SceneError(f"expected true or false, got {_shown(value)}")
    return bool(value)


def floating(value: object) -> float:
    """Read a number, rounded to float32 (infinite beyond its range)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SceneError(f"expected a number, got {_shown(value)}")
    with np.errstate(over="ignore"):
        try:
            return float(np.float32(value))
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")


def listing(value: object, count: int | None = None) -> list[object]:
    """Read a list of any values; of exactly ``count`` values unless that is None."""
    if not isinstance(value, list):
        raise SceneError(f"expected a list, got {_shown(value)}")
    if count is not None and len(value) != count:
        raise SceneError(f"expected {count} entries, got {len(value)}")
    return value


def list_of(
    read: Callable[[object], _T], count: int | None = None
) -> Callable[[object], list[_T]]:
    """A reader of lists whose elements ``read`` accepts; exactly ``count`` of them unless None."""
    return lambda value: [read(entry) for entry in listing(value, count)]


def floats(count: int) -> Callable[[object], tuple[float, ...]]:
    """A function that reads a JSON list of exactly ``count`` numbers as floats."""
    return lambda value: tuple(list_of(floating, count)(value))


def whole(low: int, high: int) -> Callable[[object], int]:
    """A function that reads a JSON integer from ``low`` to ``high``; else it raises SceneError."""

    def read(value: object) -> int:
        if type(value) is not int or not low <= value <= high:
            raise SceneError(f"expected an integer from {low} to {high}, got {_shown(value)}")
        return value

    return read


UINT = whole(0, _DWORD_MAX)
INT = whole(-(1 << 31), (1 << 31) - 1)


def dword(value: object) -> int:
    """Read a DWORD.

    It is an integer, ``"0x.."``, SDK names joined by ``|``, ``{"f": x}`` (its bits), or a boolean.
    """
    if isinstance(value, int):
        if not -(1 << 31) <= value <= _DWORD_MAX:
            raise SceneError(f"expected at most 32 bits, got {value}")
        return int(value) & _DWORD_MAX
    if isinstance(value, str):
        word = 0
        for part in value.split("|"):
            word |= _constant(part.strip())
        return word
    if isinstance(value, dict) and set(value) == {"f"}:
        return int.from_bytes(struct.pack("<f", floating(value["f"])), "little")
    raise SceneError(f"expected a DWORD, got {_shown(value)}")


def _constant(part: str) -> int:
    known = sdk_constant(part)
    if known is not None:
        return known
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}", part):
        return int(part, 16)
    if re.fullmatch(r"[0-9]{1,10}", part) and int(part) <= _DWORD_MAX:
        return int(part)
    raise SceneError(f"expected a 32-bit number or an SDK constant, got {_shown(part)}")


def member(enum: type[_E]) -> Callable[[object], _E]:
    """A function that reads a member of ``enum``: its name, or a DWORD that equals its value."""

    def read(value: object) -> _E:
        if isinstance(value, str) and value in enum.__members__:
            return enum[value]
        try:
            return enum(dword(value))
        except ValueError:
            raise SceneError(f"expected a value of {enum.__name__}, got {_shown(value)}") from None

    return read


def optional(read: Callable[[object], _T]) -> Callable[[object], _T | None]:
    """A function that reads null as None, and any other JSON value as ``read`` does."""
    return lambda value: None if value is None else read(value)


def record(build: Callable[..., _T], /, **arguments: Argument) -> Callable[[object], _T]:
    """A function that reads a JSON object by keys, and passes the values in order to ``build``."""
    return spelled_record(build, arguments, None)


def spelled_record(
    build: Callable[..., _T], arguments: Mapping[str, Argument], spellings: Spellings | None
) -> Callable[[object], _T]:
    """A function as ``record`` returns it; keys may have other ``spellings``."""

    def read(value: object) -> _T:
        fields = Fields(value, build.__name__, spellings)
        values = fields.take_all(arguments)
        fields.finish()
        return build(*values)

    return read


def surface_format(value: object) -> Format:
    """Read a surface format by its D3DFMT name."""
    name = text(value)
    if not name.startswith("D3DFMT_") or name[7:] not in Format.__members__:
        raise SceneError(f"expected a surface format (D3DFMT_...), got {_shown(name)}")
    return Format[name[7:]]


def rect(value: object) -> tuple[int, int, int, int]:
    """Read a rectangle: [left, top, right, bottom], signed."""
    left, top, right, bottom = list_of(INT, 4)(value)
    return left, top, right, bottom


def states(enum: type[_E]) -> Callable[[object], list[tuple[_E, int]]]:
    """A function that reads a JSON object from state names to DWORDs as (state, value) pairs."""

    def read(value: object) -> list[tuple[_E, int]]:
        if not isinstance(value, dict):
            raise SceneError(f"expected an object of states, got {_shown(value)}")
        return [(member(enum)(name), _state_value(name, word)) for name, word in value.items()]

    return read


def _state_value(name: str, value: object) -> int:
    try:
        return dword(value)
    except SceneError as error:
        raise SceneError(f"{name}: {error.what}") from None


class DataReader:
    """Converts data objects to bytes.  Mutable: ``left`` is how many bytes it may still return."""

    def __init__(self, limit: int = DATA_BYTES) -> None:
        self.limit = self.left = limit

    def __call__(self, value: object) -> bytes:
        """The bytes of a data object: ``{"hex": ...}``, or with key ``b64``, ``b64z``, ``u16`` or
        ``u32``, or keys ``layout`` and ``rows``.
        """
        if isinstance(value, dict) and set(value) == {"layout", "rows"}:
            data = _packed_rows(value["layout"], value["rows"])
        elif isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _CODINGS:
            coding, content = next(iter(value.items()))
            data = _CODINGS[coding](content, self.left)
        else:
            raise SceneError(f"expected a data object, got {_shown(value)}")
        if len(data) > self.left:
            raise SceneError(f"the scene has more than {self.limit} bytes of data")
        self.left -= len(data)
        return data


def _hex(value: object, left: int) -> bytes:
    try:
        return bytes.fromhex(text(value))
    except ValueError:
        raise SceneError("expected pairs of hexadecimal digits") from None


def _base64(value: object, left: int) -> bytes:
    try:
        return base64.b64decode(text(value), validate=True)
    except (binascii.Error, ValueError):
        raise SceneError("expected base64") from None


def _deflated(value: object, left: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        # One byte more than allowed shows the caller that there is too much.
        data = inflater.decompress(_base64(value, left), left + 1)
    except zlib.error:
        raise SceneError("expected a zlib stream in base64") from None
    if len(data) <= left and (not inflater.eof or inflater.unused_data):
        raise SceneError("expected one complete zlib stream in base64")
    return data


def _words16(value: object, left: int) -> bytes:
    half = whole(0, 0xFFFF)
    return b"".join(half(entry).to_bytes(2, "little") for entry in listing(value))


def _words32(value: object, left: int) -> bytes:
    return b"".join(dword(entry).to_bytes(4, "little") for entry in listing(value))


_CODINGS: dict[str, Callable[[object, int], bytes]] = {
    "hex": _hex, "b64": _base64, "b64z": _deflated, "u16": _words16, "u32": _words32,
}  # fmt: skip


def _field_bits(bits: int) -> Callable[[object], bytes]:
    """A function that reads an integer of 8 or 16 ``bits``, signed or not, as its bytes."""
    read = whole(-(1 << (bits - 1)), (1 << bits) - 1)
    return lambda value: (read(value) & ((1 << bits) - 1)).to_bytes(bits // 8, "little")


_FIELDS: dict[str, Callable[[object], bytes]] = {
    "f": lambda value: struct.pack("<f", floating(value)),
    "I": lambda value: dword(value).to_bytes(4, "little"),
    "i": lambda value: dword(value).to_bytes(4, "little"),
    "H": _field_bits(16),
    "h": _field_bits(16),
    "B": _field_bits(8),
    "b": _field_bits(8),
}


def _packed_rows(layout: object, rows: object) -> bytes:
    codes = text(layout)
    if set(codes) - _FIELDS.keys() or not codes:
        raise SceneError(f"expected a layout of {''.join(_FIELDS)}, got {_shown(codes)}")
    packed = bytearray()
    for number, row in enumerate(listing(rows)):
        try:
            for code, value in zip(codes, listing(row, len(codes)), strict=True):
                packed += _FIELDS[code](value)
        except SceneError as error:
            raise SceneError(f"row {number}: {error.what}") from None
    return bytes(packed)


def _shown(value: object) -> str:
    """The ``repr`` of a value for an error message, shortened to at most 60 characters."""
    shown = reprlib.repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
