"""Scalar types of the driver headers, little-endian, and functions that declare structures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from struct import Struct
from typing import Any

import construct as c
import numpy as np


class Single(c.FormatField):  # type: ignore[misc]
    """A little-endian FLOAT: a Python float, or for a NaN np.float32, which keeps all its bits.

    A Python float would turn a signalling NaN into a quiet one.
    """

    def __init__(self) -> None:
        super().__init__("<", "f")

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        data = c.stream_read(stream, self.length, path)
        (value,) = _SINGLE.unpack(data)
        return value if value == value else np.frombuffer(data, "<f4")[0]

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if not isinstance(obj, np.float32):
            return super()._build(obj, stream, context, path)
        c.stream_write(stream, obj.astype("<f4").tobytes(), self.length, path)
        return obj


_SINGLE = Struct("<f")

BYTE, WORD, DWORD, QWORD = c.Int8ul, c.Int16ul, c.Int32ul, c.Int64ul
LONG, FLOAT = c.Int32sl, Single()

POINTER = {32: DWORD, 64: QWORD}
"""Type of ULONG_PTR, SIZE_T and every pointer, by pointer size in bits."""


def record(type: Any, names: str) -> Any:
    """A structure whose members, named in ``names``, have one type; ``+`` joins structures."""
    return c.Struct(*(name / type for name in names.split()))


words = partial(record, WORD)
dwords = partial(record, DWORD)
longs = partial(record, LONG)
floats = partial(record, FLOAT)

ByAbi = Callable[[int], Any]
"""Function of the pointer size, 32 or 64 bits, that returns the declaration of a structure or
member with pointers."""


def by_abi(*parts: Any) -> ByAbi:
    """Function of the pointer size: a structure of ``parts``, constructs or such functions."""

    @cache
    def declaration(abi: int) -> Any:
        return sum((p if isinstance(p, c.Construct) else p(abi) for p in parts), c.Struct())

    return declaration


def aligned(*parts: Any) -> ByAbi:
    """Function of the pointer size: as ``by_abi``, with the padding that C compilers add."""
    packed = by_abi(*parts)

    @cache
    def declaration(abi: int) -> Any:
        members: list[Any] = []
        at = most = 0
        for member in packed(abi).subcons:
            unit = _alignment(member)
            most = max(most, unit)
            members += [c.Padding(-at % unit)] if at % unit else []
            members.append(member)
            at += -at % unit + member.sizeof()
        return c.Struct(*members, *([c.Padding(-at % most)] if at % most else []))

    return declaration


def _alignment(member: Any) -> int:
    """The multiple, in bytes, at which a C compiler places a member."""
    if isinstance(member, c.Struct):
        return max(map(_alignment, member.subcons))
    if isinstance(member, c.Renamed | c.Array):
        return _alignment(member.subcon)
    return int(member.sizeof()) if isinstance(member, c.FormatField) else 1


def inside(name: str, declare: ByAbi) -> ByAbi:
    """Function of the pointer size: a member ``name`` that is a structure with pointers."""
    return lambda abi: name / declare(abi)


def pointers(names: str) -> ByAbi:
    """Function of the pointer size that returns pointer members with the names in ``names``."""
    return lambda abi: record(POINTER[abi], names)


def pad64(abi: int) -> Any:
    """The 4 padding bytes before an 8-byte aligned member, or the end, on 64-bit hosts."""
    return c.Struct(c.Padding(4)) if abi == 64 else c.Struct()
