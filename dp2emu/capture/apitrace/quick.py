"""Decoding of values that lie whole in one block of a trace and have known signatures.

A second, faster way to read what ``Decoder`` reads.  It knows no errors: whatever is unusual, from
a value that continues in the next block to damage, raises one of UNREADY, and the ``Decoder`` then
reads the event from its start, and says what is wrong.  Nothing is kept of a refused event.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Final, Literal

from dp2emu.capture.apitrace import values
from dp2emu.capture.apitrace.cursor import uint
from dp2emu.capture.apitrace.values import MISSING, Missing, Value
from dp2emu.errors import CaptureError

VALUE_COST = 384
"""Bytes charged to a memory budget for a value or an argument, besides its text or blob."""


class Unusual(Exception):
    """Raised for anything that is left to the ``Decoder``."""


UNREADY: Final = (Unusual, CaptureError, IndexError, KeyError, struct.error)
"""What a quick reader raises: for the end of the block, unknown ids, damage, things left out."""

_ARGUMENT, _RESULT, _FLAGS = 1, 2, 5
"""Details of an event that are read here."""
_NEGATIVE, _NATURAL = 3, 4

_Read = tuple[Value, int]
"""A value, and the place of the byte behind it."""

_POINTERS = 4096
"""Number of pointers that are kept by the bytes that store them: programs pass the same ones."""

_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


class QuickReader:
    """Values of known signatures.  Mutable: ``cost`` is what the current event holds in memory.

    ``structs``, ``enums`` and ``bitmasks`` are a ``Decoder``'s signatures by id, which grow;
    ``nesting`` is the deepest value that is read.  An event whose values take more than ``room``
    bytes is refused.
    """

    def __init__(
        self,
        structs: Mapping[int, values.StructSignature],
        enums: Mapping[int, values.EnumSignature],
        bitmasks: Mapping[int, values.BitmaskSignature],
        nesting: int,
    ) -> None:
        self.structs, self.enums, self.bitmasks = structs, enums, bitmasks
        self.nesting = nesting
        self.pointers: dict[bytes, values.Pointer] = {}
        self.cost = self.room = 0

    def charge(self, size: int) -> None:
        """Add ``size`` bytes to ``cost``.  Raises Unusual if that is more than ``room``."""
        self.cost += size
        if self.cost > self.room:
            raise Unusual

    def details(
        self, block: bytes, at: int, arguments: list[Value | Literal[Missing.MISSING]], most: int
    ) -> tuple[int, Value | Literal[Missing.MISSING], int]:
        """The place behind an event's details, at most ``most``, its result and its flags.

        Stores into ``arguments``, which is of no use if an exception is raised.
        """
        result: Value | Literal[Missing.MISSING] = MISSING
        flags = count = 0
        while kind := block[at]:
            count += 1
            if kind == _ARGUMENT:
                index, sort, value = block[at + 1], block[at + 2], block[at + 3]
                if sort == _NATURAL and value < 0x80:
                    arguments[index], at = value, at + 4
                else:
                    arguments[index], at = READ[sort](self, block, at + 3, 1)
            elif kind == _RESULT:
                result, at = READ[block[at + 1]](self, block, at + 2, 1)
            elif kind == _FLAGS:
                more, at = uint(block, at + 1)
                flags |= more
                self.cost -= VALUE_COST
            else:
                raise Unusual
        self.cost += VALUE_COST * count
        if count > most or self.cost > self.room:
            raise Unusual
        return at + 1, result, flags


def _natural(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    value = block[at]
    return (value, at + 1) if value < 0x80 else uint(block, at)


def _negative(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    value, at = uint(block, at)
    return -value, at


def _float(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    return _FLOAT.unpack_from(block, at)[0], at + 4


def _double(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    return values.Double(_DOUBLE.unpack_from(block, at)[0]), at + 8


def _blob(reader: QuickReader, block: bytes, at: int, depth: int = 0) -> tuple[bytes, int]:
    size, at = uint(block, at)
    reader.charge(size)
    end = at + size
    if end > len(block):
        raise Unusual
    return block[at:end], end


def _string(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    data, at = _blob(reader, block, at)
    return data.decode("utf-8", "surrogateescape"), at


def _enumerated(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    key, at = (block[at], at + 1) if block[at] < 0x80 else uint(block, at)
    signature, kind = reader.enums[key], block[at]
    at += 1
    value, at = (block[at], at + 1) if block[at] < 0x80 else uint(block, at)
    if kind == _NATURAL:
        return values.Enum(signature, value), at
    if kind == _NEGATIVE:
        return values.Enum(signature, -value), at
    raise Unusual


def _flags(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    key, at = uint(block, at)
    signature = reader.bitmasks[key]
    value, at = uint(block, at)
    return values.Bitmask(signature, value), at


def _several(
    reader: QuickReader, block: bytes, at: int, depth: int, count: int
) -> tuple[tuple[Value, ...], int]:
    reader.charge(VALUE_COST * count)
    if depth > reader.nesting:
        raise Unusual
    found = []
    for _ in range(count):
        value, at = READ[block[at]](reader, block, at + 1, depth + 1)
        found.append(value)
    return tuple(found), at


def _array(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    count, at = uint(block, at)
    return _several(reader, block, at, depth, count)


def _structure(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    key, at = uint(block, at)
    signature = reader.structs[key]
    members, at = _several(reader, block, at, depth, len(signature.members))
    return values.Struct(signature, members), at


def _pointer(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    end = at
    while block[end] >= 0x80:
        end += 1
    end += 1
    stored = block[at:end]
    found = reader.pointers.get(stored)
    if found is None:
        found = values.Pointer(uint(stored, 0)[0])
        if len(reader.pointers) >= _POINTERS:
            reader.pointers.clear()
        reader.pointers[stored] = found
    return found, end


def _twice(reader: QuickReader, block: bytes, at: int, depth: int) -> _Read:
    (human, machine), at = _several(reader, block, at, depth, 2)
    return values.Repr(human, machine), at


READ: Final[tuple[Callable[[QuickReader, bytes, int, int], _Read], ...]] = (
    lambda reader, block, at, depth: (None, at),
    lambda reader, block, at, depth: (False, at),
    lambda reader, block, at, depth: (True, at),
    _negative,
    _natural,
    _float,
    _double,
    _string,
    _blob,
    _enumerated,
    _flags,
    _array,
    _structure,
    _pointer,
    _twice,
)
"""Functions that read a value, by the type byte that precedes the value; without wide strings."""
