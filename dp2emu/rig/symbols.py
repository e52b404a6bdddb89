"""Names of functions in a driver's file, of those too that the file does not export.

The files are ELF of the System V application binary interface; elsewhere functions have no names.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from functools import cache
from typing import NamedTuple

_MAGIC = b"\x7fELF"
_SYMTAB, _DYNSYM = 2, 11
_FUNCTION = 2
_MOST_BYTES = 1 << 28


class _Layout(NamedTuple):
    """Formats of a class of files: where the section table is, a section, a symbol."""

    table: struct.Struct
    table_at: int
    count_at: int
    section: struct.Struct
    symbol: struct.Struct
    order: tuple[int, int, int, int]


_LAYOUTS = {
    1: _Layout(struct.Struct("<I"), 32, 48, struct.Struct("<IIIIIIIIII"),
               struct.Struct("<IIIBBH"), (0, 3, 1, 2)),
    2: _Layout(struct.Struct("<Q"), 40, 60, struct.Struct("<IIQQQQIIQQ"),
               struct.Struct("<IBBHQQ"), (0, 1, 4, 5)),
}  # fmt: skip
"""By EI_CLASS: 32 and 64 bits; ``order`` has the places of name, info, value and size."""


def function_at(path: str, address: int) -> str | None:
    """Return the name of the function at an address of a file, as the file counts addresses.

    None for a file that is not ELF, is damaged or has no symbols there.
    """
    functions = _functions(path)
    place = bisect_right(functions, (address, 1 << 64, "")) - 1
    if place < 0:
        return None
    start, size, name = functions[place]
    return name if start <= address < start + max(size, 1) else None


def place_in(path: str, address: int, *, returned: bool) -> str:
    """Return the name of the function at an address of a file, or file and address without one.

    An address that a call ``returned`` to may already lie in the next function.
    """
    found = function_at(path, address - returned)
    return found or f"{os.path.basename(path)}+{address:#x}"


@cache
def _functions(path: str) -> list[tuple[int, int, str]]:
    """Return (address, size, name) of the functions of a file, in order of address."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES)
        return sorted(_symbols(data)) if data[:4] == _MAGIC else []
    except (OSError, struct.error, IndexError, KeyError, ValueError, OverflowError):
        return []


def _symbols(data: bytes) -> set[tuple[int, int, str]]:
    layout = _LAYOUTS[data[4]]
    (table,) = layout.table.unpack_from(data, layout.table_at)
    (count,) = struct.unpack_from("<H", data, layout.count_at)
    sections = [
        layout.section.unpack_from(data, table + n * layout.section.size) for n in range(count)
    ]
    found = set()
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind not in (_SYMTAB, _DYNSYM):
            continue
        names = sections[link][4]
        whole = data[offset : offset + size // layout.symbol.size * layout.symbol.size]
        for row in layout.symbol.iter_unpack(whole):
            name, info, value, length = (row[n] for n in layout.order)
            if info & 15 == _FUNCTION and value:
                end = data.index(b"\0", names + name)
                found.add((value, length, data[names + name : end].decode("ascii", "replace")))
    return found
