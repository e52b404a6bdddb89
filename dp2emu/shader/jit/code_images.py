"""Code images: linked, position-independent machine code that loads without LLVM.

Importing LLVM takes longer than most first draws.  Our objects reference only their own sections
at fixed distances, so they are laid out and relocated once, when compiled.  A process that finds
an image in the object cache copies it to executable memory.

The input format is ELF by the System V ABI for x86-64, with 32-bit PC-relative relocations.  An
object with external references, or for another machine, has no image and is linked by LLVM.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct
import sys
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

_MAGIC = b"dp2emu image\0\0\0\0"
_HEADER = struct.Struct("<16sQ")
"""Header of an image: ``_MAGIC`` and the offset of its function."""

_ELF = b"\x7fELF\x02\x01\x01"
"""First bytes of a 64-bit little-endian ELF file."""
_RELOCATABLE, _X86_64 = 1, 62
_FILE = struct.Struct("<16sHHI3QI6H")
_SECTION = np.dtype([
    ("name", "<u4"), ("kind", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"),
    ("size", "<u8"), ("link", "<u4"), ("of", "<u4"), ("alignment", "<u8"), ("entry", "<u8"),
])  # fmt: skip
_SYMBOL = np.dtype([
    ("name", "<u4"), ("kind", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"),
    ("size", "<u8"),
])  # fmt: skip
_RELOCATION = np.dtype([
    ("offset", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8"),
])  # fmt: skip
_PROGRAM, _SYMBOLS, _ADDENDS, _NO_ADDENDS = 1, 2, 4, 9
"""Section types SHT_PROGBITS, SHT_SYMTAB, SHT_RELA and SHT_REL."""
_WRITTEN, _ALLOCATED = 1, 2
"""Section flags SHF_WRITE and SHF_ALLOC."""
_RELATIVE = (2, 4)
"""Numbers of the relocation types R_X86_64_PC32 and R_X86_64_PLT32, which store a 32-bit
PC-relative distance."""


@lru_cache(maxsize=1)
def images_supported() -> bool:
    """Whether images can be run here; hardened systems refuse to make written memory
    executable.
    """
    if (sys.platform, platform.machine(), struct.calcsize("P")) != ("linux", "x86_64", 8):
        return False
    try:
        LoadedImage(_HEADER.pack(_MAGIC, 0) + bytes(1))
    except OSError:
        return False
    return True


def image_of(code: bytes, name: str) -> bytes | None:
    """Return a code image of an object with entry point ``name``; None if the object cannot become
    one.
    """
    found = _ElfObject.of(code)
    if found is None or not found.is_closed():
        return None
    start = found.start(name)
    return None if start is None else _HEADER.pack(_MAGIC, start) + found.linked()


def is_image(code: bytes) -> bool:
    """Whether bytes from the object cache are a code image, by their magic."""
    return code.startswith(_MAGIC)


class LoadedImage:
    """An image in executable memory for the lifetime of this object; ``address`` is the
    address of its function.

    Raises OSError if the system refuses executable memory.
    """

    def __init__(self, code: bytes) -> None:
        _, start = _HEADER.unpack_from(code)
        size = len(code) - _HEADER.size
        # Private anonymous mappings merge with their neighbours: systems limit mapping counts.
        self._memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._memory.write(code[_HEADER.size :])
        held = ctypes.c_char.from_buffer(self._memory)
        self._held, base = held, ctypes.addressof(held)
        if _protect()(base, size, mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self.address = base + start


@lru_cache(maxsize=1)
def _protect() -> Any:
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return function


class _ElfObject(msgspec.Struct, frozen=True):
    """A relocatable ELF object; ``places`` are the image offsets of allocated sections."""

    code: bytes
    sections: Any
    symbols: Any
    names: bytes
    places: dict[int, int]

    @classmethod
    def of(cls, code: bytes) -> _ElfObject | None:
        """Parse an object; None if it is for another machine."""
        if not code.startswith(_ELF):
            return None
        _, kind, machine, *_, offset, _, _, _, _, _, count, _ = _FILE.unpack_from(code)
        if (kind, machine) != (_RELOCATABLE, _X86_64):
            return None
        sections = np.frombuffer(code, _SECTION, count, offset)
        tables = [each for each in sections if each["kind"] == _SYMBOLS]
        if len(tables) != 1:
            return None
        symbols = np.frombuffer(_bytes(code, tables[0]), _SYMBOL)
        names = _bytes(code, sections[tables[0]["link"]])
        return cls(code, sections, symbols, names, _section_places(sections))

    def is_closed(self) -> bool:
        """Whether all references are to its own sections, by relocations that can be resolved
        here.
        """
        kinds, flags = self.sections["kind"], self.sections["flags"]
        there = flags & _ALLOCATED != 0
        # Images are mapped read-only: no writable data, no zero-initialised (NOBITS) sections.
        if (kinds[there] != _PROGRAM).any() or (flags[there] & _WRITTEN).any():
            return False
        if (kinds == _NO_ADDENDS).any():
            return False
        own = [*self.places]
        return all(
            np.isin(each["kind"], _RELATIVE).all()
            and np.isin(self.symbols["section"][each["symbol"]], own).all()
            for _, each in self._relocations()
        )

    def start(self, name: str) -> int | None:
        """Return the image offset of the function ``name``, None if there is none."""
        for symbol in self.symbols:
            end, section = self.names.index(b"\0", symbol["name"]), int(symbol["section"])
            if self.names[symbol["name"] : end] == name.encode() and section in self.places:
                return self.places[section] + int(symbol["value"])
        return None

    def linked(self) -> bytes:
        """Return the sections at their offsets in an image, with relocations applied."""
        last = max(self.places, key=self.places.__getitem__)
        made = np.zeros(self.places[last] + int(self.sections[last]["size"]), np.uint8)
        for number, place in self.places.items():
            data = np.frombuffer(_bytes(self.code, self.sections[number]), np.uint8)
            made[place : place + len(data)] = data
        homes = np.zeros(len(self.sections), np.int64)
        homes[list(self.places)] = list(self.places.values())
        for section, each in self._relocations():
            symbols = self.symbols[each["symbol"]]
            targets = homes[symbols["section"]] + symbols["value"].astype(np.int64)
            at = self.places[section] + each["offset"].astype(np.int64)
            distances = (targets + each["addend"] - at).astype("<i4")
            made[at[:, None] + np.arange(4)] = distances.view(np.uint8).reshape(-1, 4)
        return made.tobytes()

    def _relocations(self) -> list[tuple[int, Any]]:
        """Return the relocations of allocated sections, with the number of the section that they
        patch.
        """
        return [
            (int(section["of"]), np.frombuffer(_bytes(self.code, section), _RELOCATION))
            for section in self.sections
            if section["kind"] == _ADDENDS and int(section["of"]) in self.places
        ]


def _section_places(sections: Any) -> dict[int, int]:
    """Return consecutive aligned offsets for the allocated sections, by section number."""
    places, end = {}, 0
    for number, section in enumerate(sections):
        if section["flags"] & _ALLOCATED and section["size"]:
            alignment = max(int(section["alignment"]), 1)
            places[number] = -(-end // alignment) * alignment
            end = places[number] + int(section["size"])
    return places


def _bytes(code: bytes, section: Any) -> bytes:
    start = int(section["offset"])
    return code[start : start + int(section["size"])]
