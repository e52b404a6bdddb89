"""Memory for a driver between inaccessible pages, and reports of faults (POSIX)."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable
from typing import Any

from dp2emu.rig.failure import MARK, FindingKind

_FILLER = 0xA5
_NOTHING = 0
"""PROT_NONE."""
_ALIGNMENT = 4
"""Buffers start at multiples of this (wire format, "Stream shape")."""

_MASK_BYTES = 128
_SA_SIGINFO = 4
_SIGSEGV, _SIGBUS, _SIGFPE, _SIGILL = 11, 7, 8, 4
_NAMES = {_SIGSEGV: "SIGSEGV", _SIGBUS: "SIGBUS", _SIGFPE: "SIGFPE", _SIGILL: "SIGILL"}


class Guarded:
    """Zeroed memory of ``size`` bytes that ends at an inaccessible page.

    Findings call it ``name``.  It starts at a multiple of 4, so up to three bytes may lie between
    its end and the page; ``intact`` checks them, and those ahead of it.  Mutable: memory.
    """

    def __init__(self, size: int, name: str) -> None:
        self.name = name
        self.size = size
        page = mmap.PAGESIZE
        room = -(-max(size, 1) // page) * page
        self._memory = mmap.mmap(-1, room + 2 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._before = page + (room - size) // _ALIGNMENT * _ALIGNMENT
        self._behind = page + room
        self.address = start + self._before
        self._pages = (start, start + self._behind, page)
        self._memory[page : self._behind] = bytes([_FILLER]) * room
        self._memory[self._before : self._before + size] = bytes(size)
        for place in self._pages[:2]:
            _protect(place, page)

    def write(self, offset: int, data: bytes) -> None:
        """Store bytes; the caller has checked the bounds."""
        self._memory[self._before + offset : self._before + offset + len(data)] = data

    def read(self, offset: int, size: int) -> bytes:
        """Load bytes; the caller has checked the bounds."""
        return self._memory[self._before + offset : self._before + offset + size]

    def intact(self) -> bool:
        """Return whether the bytes next to the memory are unchanged."""
        first = self._memory[mmap.PAGESIZE : self._before]
        last = self._memory[self._before + self.size : self._behind]
        return (first + last).count(_FILLER) == len(first) + len(last)

    def where(self, address: int) -> str | None:
        """Describe an address in the pages around the memory; None for any other."""
        low, high, page = self._pages
        if low <= address < low + page:
            return f"{self.address - address} bytes before {self.name}"
        if high <= address < high + page:
            return f"{address - self.address - self.size} bytes behind {self.name}"
        return None


def _protect(address: int, size: int) -> None:
    code = ctypes.CDLL(None, use_errno=True)
    if code.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), _NOTHING):
        raise OSError(ctypes.get_errno(), "memory cannot be protected")


class _Action(ctypes.Structure):
    """struct sigaction of Linux."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_uint8 * _MASK_BYTES),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_ADDRESS = 2 * ctypes.sizeof(ctypes.c_void_p) if ctypes.sizeof(ctypes.c_void_p) == 8 else 12
"""Offset of the fault's address in siginfo_t of Linux."""
_kept: list[Any] = []
"""Handlers, kept alive for the life of the process."""


def report_faults(where: Callable[[int], str | None]) -> None:
    """Report the addresses of faults of this process on standard error, described by ``where``.

    Does nothing except on Linux: elsewhere a fault's signal ends the process without a report.
    """
    if sys.platform != "linux":
        return

    def fault(number: int, information: int, context: int) -> None:
        address = ctypes.c_size_t.from_address(information + _ADDRESS).value
        _report_and_end(number, where(address))

    handler = _HANDLER(fault)
    action = _Action(handler=ctypes.cast(handler, ctypes.c_void_p), flags=_SA_SIGINFO)
    _kept.append(handler)
    for signal in _NAMES:
        ctypes.CDLL(None).sigaction(signal, ctypes.byref(action), None)


def _report_and_end(number: int, place: str | None) -> None:
    kind = FindingKind.OVERRUN if place else FindingKind.CRASH
    what = f"{_NAMES.get(number, f'signal {number}')} {place or 'outside of all buffers'}"
    os.write(2, f"{MARK} {kind.value} {what}\n".encode())
    os._exit(128 + number)
