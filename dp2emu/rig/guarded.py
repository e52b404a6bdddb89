"""Memory between inaccessible pages, which a driver's library uses for buffers."""

from __future__ import annotations

import ctypes
import mmap

from dp2emu.rig.c_library import c_library
from dp2emu.rig.structures import ABI

_FILLER = 0xA5
_NOTHING = 0
"""PROT_NONE of POSIX mprotect: the memory is inaccessible."""
_ALIGNMENT = 4
"""Alignment of the start of buffers in bytes (wire format, "Stream shape")."""

_AHEAD = 1 << 16
_BEHIND = 1 << 22 if ABI == 64 else 1 << 16
"""Bytes of inaccessible memory ahead of a buffer and behind it.  They take no memory, and a vertex
of any 16-bit number lies there."""


class Guarded:
    """Zeroed memory of ``size`` bytes that ends at inaccessible pages; its bytes can be changed.

    Findings call it ``name``.  It starts at a multiple of 4, so up to three bytes may lie between
    its end and the pages; ``intact`` checks them, and those ahead of it.
    """

    def __init__(self, size: int, name: str) -> None:
        self.name = name
        self.size = size
        page = mmap.PAGESIZE
        room = -(-max(size, 1) // page) * page
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._memory = mmap.mmap(-1, _AHEAD + room + _BEHIND, flags=flags)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._before = _AHEAD + (room - size) // _ALIGNMENT * _ALIGNMENT
        self._behind = _AHEAD + room
        self.address = start + self._before
        self._start = start
        self._memory[_AHEAD : self._behind] = bytes([_FILLER]) * room
        end = self._before + size
        self._fillers = (
            (_AHEAD, self._before, bytes([_FILLER]) * (self._before - _AHEAD)),
            (end, self._behind, bytes([_FILLER]) * (self._behind - end)),
        )
        self._memory[self._before : self._before + size] = bytes(size)
        _protect(start, _AHEAD)
        _protect(start + self._behind, _BEHIND)

    def write(self, offset: int, data: bytes) -> None:
        """Store ``data`` at byte ``offset`` of the memory; the caller checks the bounds."""
        self._memory[self._before + offset : self._before + offset + len(data)] = data

    def read(self, offset: int, size: int) -> bytes:
        """Load ``size`` bytes from byte ``offset`` of the memory; the caller checks the bounds."""
        return self._memory[self._before + offset : self._before + offset + size]

    def intact(self) -> bool:
        """Return whether the filler bytes directly before and after the memory are unchanged."""
        memory = self._memory
        return all(memory[start:end] == filler for start, end, filler in self._fillers)

    def stored(self) -> str:
        """Describe the changed filler byte next to the memory; one of them has changed."""
        first, last = (self._memory[start:end] for start, end, _ in self._fillers)
        filler = bytes([_FILLER])
        behind = len(last) - len(last.lstrip(filler))
        if behind < len(last):
            return f"stored {behind} bytes behind {self.name}"
        return f"stored {len(first) - len(first.rstrip(filler)) + 1} bytes before {self.name}"

    def where(self, address: int) -> str | None:
        """Describe an address in the pages around the memory; None for any other."""
        if self._start <= address < self._start + _AHEAD:
            return f"{self.address - address} bytes before {self.name}"
        end = self._start + self._behind
        if end <= address < end + _BEHIND:
            return f"{address - self.address - self.size} bytes behind {self.name}"
        return None


def _protect(address: int, size: int) -> None:
    if c_library().mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), _NOTHING):
        raise OSError(ctypes.get_errno(), "memory cannot be protected")
