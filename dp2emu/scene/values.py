"""The value syntaxes of scene files: DWORDs, floats, names, rectangles, data.

Each reader takes a JSON value and raises SceneError for what it cannot mean; sizes are checked
before anything is allocated.
"""

from __future__ import annotations

import base64
import binascii
import re
import reprlib
import struct
import zlib
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from dp2emu.d3d.enums import Format
from dp2emu.d3d.names import sdk_constant
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.errors import SceneError

_E = TypeVar("_E", bound=SdkEnum)
_T = TypeVar("_T")

DATA_BYTES = 1 << 26
"""Bytes the data objects of one scene may hold together."""
NAME_LENGTH = 100

_DWORD_MAX = 0xFFFFFFFF
_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_DEVICE_NAMES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


def text(value: object) -> str:
    """A string."""
    if not isinstance(value, str):
        raise SceneError(f"{_shown(value)} is no text")
    return value


def file_name(value: object) -> str:
    """Text that is safe as part of a file name on every system."""
    name = text(value)
    safe = _SAFE_NAME.fullmatch(name) and len(name) <= NAME_LENGTH and not name.endswith(".")
    if not safe or _DEVICE_NAMES.fullmatch(name):
        raise SceneError(f"{_shown(name)} cannot be part of a file name")
    return name


def truth(value: object) -> bool:
    """true, false, 1 or 0."""
    if value not in (True, False):
        raise SceneError(f"{_shown(value)} is neither true nor false")
    return bool(value)


def floating(value: object) -> float:
    """A number, as the nearest float32 (infinite beyond its range)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SceneError(f"{_shown(value)} is no number")
    with np.errstate(over="ignore"):
        try:
            return float(np.float32(value))
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")


def floats(count: int) -> Callable[[object], tuple[float, ...]]:
    """A list of ``count`` numbers."""
    return lambda value: tuple(floating(entry) for entry in _list(value, count))


def color(value: object) -> tuple[float, float, float, float]:
    """[red, green, blue, alpha]."""
    red, green, blue, alpha = floats(4)(value)
    return red, green, blue, alpha


def triple(value: object) -> tuple[float, float, float]:
    """[x, y, z]."""
    x, y, z = floats(3)(value)
    return x, y, z


def whole(low: int, high: int) -> Callable[[object], int]:
    """An integer from ``low`` to ``high``."""

    def read(value: object) -> int:
        if type(value) is not int or not low <= value <= high:
            raise SceneError(f"{_shown(value)} is no integer from {low} to {high}")
        return value

    return read


def dword(value: object) -> int:
    """An integer, ``"0x.."``, SDK names joined by ``|``, ``{"f": x}`` (its bits), or a boolean."""
    if isinstance(value, int):
        if not -(1 << 31) <= value <= _DWORD_MAX:
            raise SceneError(f"{value} has more than 32 bits")
        return int(value) & _DWORD_MAX
    if isinstance(value, str):
        word = 0
        for part in value.split("|"):
            word |= _constant(part.strip())
        return word
    if isinstance(value, dict) and set(value) == {"f"}:
        return int.from_bytes(struct.pack("<f", floating(value["f"])), "little")
    raise SceneError(f"{_shown(value)} is no DWORD")


def dwords(value: object) -> list[int]:
    """A list of DWORDs."""
    return [dword(entry) for entry in _list(value)]


def _constant(part: str) -> int:
    known = sdk_constant(part)
    if known is not None:
        return known
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}", part):
        return int(part, 16)
    if re.fullmatch(r"[0-9]{1,10}", part) and int(part) <= _DWORD_MAX:
        return int(part)
    raise SceneError(f"{_shown(part)} is no number and no constant of the headers")


def member(enum: type[_E]) -> Callable[[object], _E]:
    """A name of an enumeration without its prefix, or any DWORD that is one of its values."""

    def read(value: object) -> _E:
        if isinstance(value, str) and value in enum.__members__:
            return enum[value]
        try:
            return enum(dword(value))
        except ValueError:
            raise SceneError(f"{_shown(value)} is no {enum.__name__}") from None

    return read


def optional(read: Callable[[object], _T]) -> Callable[[object], _T | None]:
    """null, or what ``read`` reads."""
    return lambda value: None if value is None else read(value)


def surface_format(value: object) -> Format:
    """A surface format by its D3DFMT name."""
    name = text(value)
    if not name.startswith("D3DFMT_") or name[7:] not in Format.__members__:
        raise SceneError(f"{_shown(name)} is no surface format")
    return Format[name[7:]]


def listing(value: object, count: int | None = None) -> list[object]:
    """A list of anything, of ``count`` elements if that is given."""
    return _list(value, count)


def rect(value: object) -> tuple[int, int, int, int]:
    """[left, top, right, bottom], signed."""
    coordinate = whole(-(1 << 31), (1 << 31) - 1)
    left, top, right, bottom = (coordinate(entry) for entry in _list(value, 4))
    return left, top, right, bottom


def rects(value: object) -> list[tuple[int, int, int, int]]:
    """A list of rectangles."""
    return [rect(entry) for entry in _list(value)]


def states(enum: type[_E]) -> Callable[[object], list[tuple[_E, int]]]:
    """{name: DWORD} in the order written."""

    def read(value: object) -> list[tuple[_E, int]]:
        if not isinstance(value, dict):
            raise SceneError(f"{_shown(value)} is no object of states")
        return [(member(enum)(name), _state_value(name, word)) for name, word in value.items()]

    return read


def _state_value(name: str, value: object) -> int:
    try:
        return dword(value)
    except SceneError as error:
        raise SceneError(f"{name}: {error.what}") from None


class DataReader:
    """Reads data objects, ``DATA_BYTES`` in all.  Mutable: it counts what it has handed out."""

    def __init__(self, limit: int = DATA_BYTES) -> None:
        self.left = limit

    def __call__(self, value: object) -> bytes:
        """The bytes of ``{"hex"}``, ``{"b64"}``, ``{"b64z"}``, ``{"u16"}``, ``{"u32"}`` or
        ``{"layout", "rows"}``.
        """
        if isinstance(value, dict) and set(value) == {"layout", "rows"}:
            data = _packed_rows(value["layout"], value["rows"])
        elif isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _CODINGS:
            coding, content = next(iter(value.items()))
            data = _CODINGS[coding](content, self.left)
        else:
            raise SceneError(f"{_shown(value)} is no data")
        if len(data) > self.left:
            raise SceneError("the scene holds too much data")
        self.left -= len(data)
        return data


def _hex(value: object, limit: int) -> bytes:
    try:
        return bytes.fromhex(text(value))
    except ValueError:
        raise SceneError("no hexadecimal digits") from None


def _base64(value: object, limit: int) -> bytes:
    try:
        return base64.b64decode(text(value), validate=True)
    except (binascii.Error, ValueError):
        raise SceneError("no base64") from None


def _deflated(value: object, limit: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(_base64(value, limit), limit + 1)
    except zlib.error:
        raise SceneError("no zlib stream") from None
    if len(data) > limit:
        raise SceneError("the scene holds too much data")
    if not inflater.eof or inflater.unused_data:
        raise SceneError("no whole zlib stream")
    return data


def _words16(value: object, limit: int) -> bytes:
    half = whole(0, 0xFFFF)
    return b"".join(half(entry).to_bytes(2, "little") for entry in _list(value))


def _words32(value: object, limit: int) -> bytes:
    return b"".join(dword(entry).to_bytes(4, "little") for entry in _list(value))


_CODINGS: dict[str, Callable[[object, int], bytes]] = {
    "hex": _hex, "b64": _base64, "b64z": _deflated, "u16": _words16, "u32": _words32,
}  # fmt: skip


def _field_bits(bits: int) -> Callable[[object], bytes]:
    """A field of 8 or 16 bits: signed or unsigned, stored by its low bits."""
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
    unknown = set(codes) - _FIELDS.keys()
    if unknown or not codes:
        raise SceneError(f"layout {_shown(codes)}")
    packed = bytearray()
    for number, row in enumerate(_list(rows)):
        try:
            for code, value in zip(codes, _list(row, len(codes)), strict=True):
                packed += _FIELDS[code](value)
        except SceneError as error:
            raise SceneError(f"row {number}: {error.what}") from None
    return bytes(packed)


def _list(value: object, count: int | None = None) -> list[object]:
    if not isinstance(value, list):
        raise SceneError(f"{_shown(value)} is no list")
    if count is not None and len(value) != count:
        raise SceneError(f"{len(value)} entries, not {count}")
    return value


def _shown(value: object) -> str:
    """A value for an error message, at most a line of it, however deep or long it is."""
    shown = reprlib.repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
