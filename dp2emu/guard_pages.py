"""Guard pages: arrays that end or begin at a page which no code can access.

While a ``GuardPages`` is in use, each array that NumPy allocates in its thread lies in a region of
its own, with an inaccessible page before and after it.  A read or write past that end of the
array at which the page begins ends the process by SIGSEGV, and a line on standard error names the
allocation.  Memory of a freed array is inaccessible too, until ``ARENA_BYTES`` have been allocated
after it.  Uninitialised memory has the byte ``POISON``.

NumPy 1.22's memory handlers (NumPy C API, "Memory management in NumPy") replace its allocator, and
compiled code is the new one: a handler may be called while an exception is set, when Python code
cannot run.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dp2emu import allocation
from dp2emu.errors import Unsupported, UsageError
from dp2emu.guard_code import (
    BEGIN,
    END,
    FIRST_PAGE,
    NO_RESERVE,
    NONE,
    PAGE,
    POISON,
    READ,
    SIGNAL,
    SLOTS,
    STATE,
    TEXT,
    WRITE,
    fault_handler,
    functions,
)
from dp2emu.layout import Buffer

ARENA_BYTES = 16 << 30
"""Bytes of address space for guarded arrays, one after the other; only live arrays use memory."""


class Edge(IntEnum):
    """The edge of an array that lies at an inaccessible page; the other may be up to a page away,
    less one element.
    """

    END = END
    BEGIN = BEGIN


_AT = {name: place for place, name in enumerate(STATE)}


class GuardPages(allocation.Allocator):
    """An allocator whose arrays lie at inaccessible pages.  Mutable: ``edge`` can be set.

    An access outside of an array is reported to the file descriptor ``report``.  A process has one
    arena, so only one allocator may be in use at a time.

    Raises Unsupported on systems other than 64-bit Linux, and without llvmlite.
    """

    def __init__(self, edge: Edge = Edge.END, report: int = 2) -> None:
        self._state, self._handler = _arena()
        self._report = report
        self._copies: WeakKeyDictionary[Any, NDArray[np.uint8]] = WeakKeyDictionary()
        self.mode = edge
        self.edge = edge

    @property
    def edge(self) -> Edge:
        """The edge at which arrays that are allocated from now on lie."""
        return Edge(self._state[_AT["edge"]])

    @edge.setter
    def edge(self, edge: Edge) -> None:
        self._state[_AT["edge"]] = self.mode = edge

    @property
    def live(self) -> int:
        """The number of guarded arrays that are not freed."""
        return int(self._state[_AT["live"]])

    @property
    def made(self) -> int:
        """The number of guarded arrays that were allocated."""
        return int(self._state[_AT["made"]])

    def words(self, size: int, beyond: int) -> NDArray[np.int32]:
        """Return zeroed int32 words of at least ``size`` bytes, before ``beyond`` bytes that can
        be read but not written.

        With ``Edge.BEGIN`` the bytes of the last page can be written too.
        """
        count, pages = -(-size // 4), -(-beyond // PAGE)
        found = np.zeros(count + pages * PAGE // 4, np.dtype("<i4"))
        if pages and self.edge is Edge.END:
            end = found.ctypes.data + found.nbytes - pages * PAGE
            _check(_library().mprotect(ctypes.c_void_p(end), pages * PAGE, READ))
        return found[:count]

    def view(self, data: Buffer, owner: object = None) -> NDArray[np.uint8]:
        """Return a copy of bytes, which lives as long as the array or ``owner``."""
        if owner is None:
            return np.frombuffer(data, np.uint8).copy()
        found = self._copies.get(owner)
        if found is None:
            found = self._copies[owner] = np.frombuffer(data, np.uint8).copy()
        return found

    def grown(self, held: NDArray[Any], size: int) -> NDArray[Any]:
        """Return a new array of exactly ``size`` elements."""
        return np.empty(size, held.dtype)

    def begin(self) -> None:
        """Guard the arrays of this thread, and surfaces and buffers of all threads, until ``end``.

        Objects keep their memory, so drivers and GPUs that are made from now on are guarded.
        Raises UsageError if guard pages are in use.
        """
        if allocation.current is not allocation.PLAIN:
            raise UsageError("guard pages are in use already")
        self._state[_AT["report"]] = self._report
        self._before = _numpy_handler(self._handler), _watch_faults(self._state)
        allocation.use(self)

    def end(self) -> None:
        """Guard no further arrays; those that are guarded stay so."""
        handler, action = self._before
        allocation.use(allocation.PLAIN)
        _restore_faults(action)
        _numpy_handler(handler)

    @contextmanager
    def used(self) -> Iterator[GuardPages]:
        """A context from ``begin`` to ``end``."""
        self.begin()
        try:
            yield self
        finally:
            self.end()


def _check(result: int) -> None:
    if result:
        raise MemoryError("no memory for guard pages")


@cache
def _library() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    return library


def _reserved(size: int, access: int) -> int:
    """Reserve address space, whose pages take no memory before they are used -> its start."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
    place: int | None = _library().mmap(None, size, access, flags, -1, 0)
    if place is None or place == ctypes.c_void_p(-1).value:
        raise MemoryError(f"no address space of {size} bytes for guard pages")
    return place


@cache
def _arena() -> tuple[Any, Any]:
    """The state words of the arena, and NumPy's handler that allocates in it; both live as long as
    the process, because arrays may.
    """
    check_supported()
    library, pages = _library(), ARENA_BYTES // PAGE
    state, text = (ctypes.c_int64 * len(STATE))(), ctypes.create_string_buffer(TEXT)
    old, poison = _Action(), ctypes.create_string_buffer(bytes((POISON,)) * PAGE)
    values = {
        "base": _reserved(ARENA_BYTES, NONE),
        "pages": pages,
        "cursor": FIRST_PAGE,
        "owners": _reserved(8 * pages, READ | WRITE),
        "edge": END,
        "queue": _reserved(8 * SLOTS, READ | WRITE),
        "poison": ctypes.addressof(poison),
        "old": ctypes.addressof(old),
        "text": ctypes.addressof(text),
    } | {
        name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
        for name in (
            "mprotect",
            "mmap",
            "memset",
            "memcpy",
            "memcmp",
            "abort",
            "write",
            "sigaction",
        )
    }
    for name, value in values.items():
        state[_AT[name]] = value
    handler = _handler_of(ctypes.addressof(state))
    _keep_forever(state, old, text, poison)
    return state, handler


def check_supported() -> None:
    """Raise Unsupported unless this system, Python and llvmlite allow guard pages."""
    if sys.platform != "linux" or sys.maxsize < 1 << 32 or sys.implementation.name != "cpython":
        raise Unsupported(f"guard pages on {sys.platform} ({sys.implementation.name})")
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise Unsupported("guard pages without Python's GIL")
    try:
        import llvmlite  # noqa: F401
    except ImportError:
        raise Unsupported("guard pages without llvmlite") from None


# NumPy's memory handler

_SET_HANDLER = 304
"""Place of PyDataMem_SetHandler in the table of NumPy's C API."""
_HANDLER_NAME = b"mem_handler"
"""Name of the capsule of a memory handler."""


class _Handler(ctypes.Structure):
    """PyDataMem_Handler: a name, a version, and a PyDataMemAllocator."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in ("malloc", "calloc", "realloc", "free")),
    ]  # fmt: skip


def _handler_of(state: int) -> Any:
    """The capsule of NumPy's memory handler whose functions have the ``state``."""
    codes = functions()
    names = ("malloc", "calloc", "realloc", "free")
    made = _Handler(b"dp2emu guard pages", 1, state, *(codes[name].address for name in names))
    _keep_forever(made, codes)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
    return new(ctypes.addressof(made), _HANDLER_NAME, None)


def _keep_forever(*objects: Any) -> None:
    """Keep objects when Python ends too: arrays are freed later than modules."""
    for each in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))


def _numpy_handler(handler: Any) -> Any:
    """Set NumPy's memory handler in this context (of ``contextvars``), and return the old one."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = ctypes.py_object, ctypes.c_char_p
    table = ctypes.cast(
        pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p)
    )
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])
    return set_handler(handler)


# Reports


class _Action(ctypes.Structure):
    """struct sigaction of Linux's C libraries: handler, mask, flags, restorer."""

    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_uint64 * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


_WITH_INFO, _ON_STACK = 4, 0x08000000
"""Flags of sigaction: the handler gets the address, and runs on the stack for signals."""


@cache
def _fault_handler(state: int) -> Any:
    found = fault_handler(state)
    _keep_forever(found)
    return found


def _watch_faults(state: Any) -> _Action:
    """Report accesses to guard pages before the current handler of SIGSEGV, such as Python's
    faulthandler, gets the signal; returns that handler.
    """
    new = _Action(_fault_handler(ctypes.addressof(state)).address, flags=_WITH_INFO | _ON_STACK)
    old = _Action.from_address(state[_AT["old"]])
    _check(_library().sigaction(SIGNAL, ctypes.byref(new), ctypes.byref(old)))
    return old


def _restore_faults(old: Any) -> None:
    _library().sigaction(SIGNAL, ctypes.byref(old), None)
