"""Reports of faults: the signal, address and stack of a driver's library that ends its process.

Source: the documentation of sigaction, sigaltstack and siginfo_t in POSIX and of Linux.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable
from typing import Any

from dp2emu.rig.c_library import c_library
from dp2emu.rig.failure import MARK, STACK, FindingKind
from dp2emu.rig.symbols import place_in

_MASK_BYTES = 128
_SA_SIGINFO, _SA_ONSTACK, _SA_NODEFER = 4, 0x08000000, 0x40000000
_SIGILL, _SIGTRAP, _SIGABRT, _SIGBUS, _SIGFPE, _SIGSEGV, _SIGSYS = 4, 5, 6, 7, 8, 11, 31
_NAMES = {
    _SIGILL: "SIGILL", _SIGTRAP: "SIGTRAP", _SIGABRT: "SIGABRT", _SIGBUS: "SIGBUS",
    _SIGFPE: "SIGFPE", _SIGSEGV: "SIGSEGV", _SIGSYS: "SIGSYS",
}  # fmt: skip
_REASONS = {
    _SIGFPE: {1: " integer division by zero", 2: " integer overflow",
              3: " floating-point division by zero"},
}  # fmt: skip
"""What si_code says of signals whose address is not one of data."""
_SI_KERNEL = 0x80
"""The si_code of an access for which the processor gives no address."""
_STACK_BYTES = 1 << 20
"""Size of the stack of the handler of fault signals: after a stack overflow there is no other."""
_GAP_BYTES = 1 << 20
"""Bytes below the stack that Linux keeps free, and a frame that is larger than a page."""


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
_CODE = 8
"""Byte offsets of si_addr, the address of a fault, and of si_code in siginfo_t of Linux."""
_kept: list[Any] = []
"""Handlers of fault signals and their stack, listed so that they are never garbage collected."""


def report_faults(
    where: Callable[[int], str | None], library: str, flush: Callable[[], None]
) -> None:
    """Report the addresses of faults of this process on standard error, described by ``where``,
    and the functions of the driver's ``library`` on the stack; ``flush`` sends earlier replies.

    Does nothing except on Linux: elsewhere a fault's signal ends the process without a report.
    """
    if sys.platform != "linux":
        return

    def fault(number: int, information: int, context: int) -> None:
        if reporting:
            os._exit(128 + number)
        reporting.append(number)
        code = ctypes.c_int.from_address(information + _CODE).value
        address = ctypes.c_size_t.from_address(information + _ADDRESS).value
        flush()
        _report_and_end(number, _described(number, code, address, where), library)

    reporting: list[int] = []
    _stack(library, _SIGSEGV)  # loads what a later call needs
    c_library().sigaltstack(ctypes.byref(_own_stack()), None)
    handler = _HANDLER(fault)
    flags = _SA_SIGINFO | _SA_ONSTACK | _SA_NODEFER
    action = _Action(handler=ctypes.cast(handler, ctypes.c_void_p), flags=flags)
    _kept.append(handler)
    for signal in _NAMES:
        ctypes.CDLL(None).sigaction(signal, ctypes.byref(action), None)


class _SignalStack(ctypes.Structure):
    """stack_t of Linux."""

    _fields_ = (("memory", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


def _own_stack() -> _SignalStack:
    """Return memory for the stack of a signal handler."""
    memory = mmap.mmap(-1, _STACK_BYTES)
    _kept.append(memory)
    return _SignalStack(ctypes.addressof(ctypes.c_char.from_buffer(memory)), 0, _STACK_BYTES)


def _described(
    number: int, code: int, address: int, where: Callable[[int], str | None]
) -> tuple[FindingKind, str]:
    """Return the kind of a signal's finding and its words, with the address if it has one."""
    name = _NAMES[number]
    if number not in (_SIGSEGV, _SIGBUS):
        return FindingKind.CRASH, name + _REASONS.get(number, {}).get(code, "")
    if code == _SI_KERNEL:
        return FindingKind.CRASH, f"{name} unaligned access or impossible address"
    kind, place = FindingKind.OVERRUN, where(address)
    if place is None:
        kind = FindingKind.CRASH
        place = "stack overflow" if _below_stack(address) else "outside of all buffers"
    return kind, f"{name} {place}, address {address:#x}"


def _below_stack(address: int) -> bool:
    """Return whether an address is one that the stack has no room for."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        low = next((line.split("-")[0] for line in maps if line.endswith("[stack]\n")), None)
    return low is not None and int(low, 16) - _GAP_BYTES <= address < int(low, 16)


class _Symbol(ctypes.Structure):
    """Dl_info of dladdr: a file, where it is loaded, a symbol, and its address."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


_FRAMES = 64
"""Frames of a stack that are looked at; the first dozen belong to the signal handler."""


def _stack(library: str, number: int) -> list[str]:
    """Return the functions of a library on the stack of a signal, innermost first, or where their
    code lies in the file if they have no name; nothing where the C library cannot tell.
    """
    code = c_library()
    if not hasattr(code, "backtrace") or not hasattr(code, "dladdr"):
        return []
    frames = (ctypes.c_void_p * _FRAMES)()
    found: list[str] = []
    symbol = _Symbol()
    for frame in frames[: code.backtrace(frames, _FRAMES)]:
        if not code.dladdr(ctypes.c_void_p(frame), ctypes.byref(symbol)):
            continue
        if symbol.file == os.fsencode(library):
            returned = bool(found) or number == _SIGABRT
            found.append(place_in(library, (frame or 0) - (symbol.base or 0), returned=returned))
    return found


def _report_and_end(number: int, found: tuple[FindingKind, str], library: str) -> None:
    """Report a fault, then its stack, which cannot be unwound if the fault was a wild jump."""
    kind, what = found
    os.write(2, f"{MARK} {kind.value} {what}\n".encode())
    stack = _stack(library, number)
    if stack:
        os.write(2, f"{STACK}{' < '.join(stack)}\n".encode())
    os._exit(128 + number)
