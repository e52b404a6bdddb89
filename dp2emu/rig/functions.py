"""Names of the functions in a library (ELF), static ones too, for the stack of a crash.

The layout of section headers and symbols is that of the System V Application Binary Interface.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from pathlib import Path

import msgspec

_ELF = b"\x7fELF"
_SYMBOLS, _FUNCTION = 2, 2
"""SHT_SYMTAB, the type of a section with symbols, and STT_FUNC, the type of a function's."""


class _Section(msgspec.Struct, frozen=True):
    """A section header's members that matter here."""

    type: int
    offset: int
    size: int
    link: int
    each: int


class _Layout(msgspec.Struct, frozen=True):
    """``struct`` formats of a class of ELF files: where the header names the sections, a section
    header and a symbol, with the places of the members that matter here.
    """

    sections: str
    numbers: str
    section: str
    section_members: tuple[int, ...]
    symbol: str
    symbol_members: tuple[int, ...]


_LAYOUTS = {
    1: _Layout("<32xI", "<46xHH", "<10I", (1, 4, 5, 6, 9), "<IIIBBH", (0, 3, 1, 2)),
    2: _Layout("<40xQ", "<58xHH", "<IIQQQQIIQQ", (1, 4, 5, 6, 9), "<IBBHQQ", (0, 1, 4, 5)),
}
"""By the byte EI_CLASS: 32 and 64 bits."""


class Functions:
    """The functions of a library by their place in it; none if the file is no ELF library."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        data = path.read_bytes()
        try:
            found = sorted(_functions(data)) if data.startswith(_ELF) else []
        except (struct.error, IndexError, KeyError):  # a damaged file has no names
            found = []
        self._starts = [start for start, *_ in found]
        self._found = found

    def at(self, place: int) -> str | None:
        """Return the name of the function that byte ``place`` of the loaded library belongs to."""
        number = bisect_right(self._starts, place) - 1
        if number < 0:
            return None
        start, size, name = self._found[number]
        return name if place <= start + size else None


def _functions(data: bytes) -> list[tuple[int, int, str]]:
    """Return (start, bytes, name) of each function in the symbol tables of a file."""
    layout = _LAYOUTS[data[4]]
    sections = _sections(data, layout)
    found = []
    for table in sections:
        if table.type != _SYMBOLS or not table.each:
            continue
        names = sections[table.link]
        for at in range(table.offset, table.offset + table.size, table.each):
            values = struct.unpack_from(layout.symbol, data, at)
            name, info, start, size = (values[each] for each in layout.symbol_members)
            if info & 15 == _FUNCTION and size:
                found.append((start, size, _text(data, names.offset + name)))
    return found


def _sections(data: bytes, layout: _Layout) -> list[_Section]:
    (offset,) = struct.unpack_from(layout.sections, data)
    size, number = struct.unpack_from(layout.numbers, data)
    rows = (struct.unpack_from(layout.section, data, offset + n * size) for n in range(number))
    return [_Section(*(row[each] for each in layout.section_members)) for row in rows]


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("ascii", "replace")
