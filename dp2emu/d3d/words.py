"""The scalar types of the driver headers, little-endian, and records made of one of them."""

from __future__ import annotations

from typing import Any

from construct import Float32l, Int8ul, Int16ul, Int32sl, Int32ul, Int64ul, Padding, Struct

BYTE = Int8ul
WORD = Int16ul
DWORD = Int32ul
LONG = Int32sl
FLOAT = Float32l
QWORD = Int64ul

POINTER = {32: DWORD, 64: QWORD}
"""ULONG_PTR, SIZE_T and every pointer, by pointer size in bits."""


def dwords(*names: str) -> Any:
    """A record of DWORDs."""
    return Struct(*(name / DWORD for name in names))


def longs(*names: str) -> Any:
    """A record of LONGs."""
    return Struct(*(name / LONG for name in names))


def floats(*names: str) -> Any:
    """A record of D3DVALUEs (32-bit floats)."""
    return Struct(*(name / FLOAT for name in names))


def pad64(abi: int) -> list[Any]:
    """The 4 padding bytes before an 8-byte aligned member, or the end, on 64-bit hosts."""
    return [Padding(4)] if abi == 64 else []
