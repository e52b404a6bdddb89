"""Locks of memory that a traced program holds, and the bytes that it stores there (apitrace
traces, "Traced stores").
"""

from __future__ import annotations

from typing import Any

import msgspec


class Lock(msgspec.Struct):
    """A lock, by the traced program, of a part of the object ``thing``.

    ``key`` is the number of the part, such as a subresource; ``place`` says which of its bytes or
    pixels are locked, in the form that the unlocking function needs.  ``pitch`` and ``slice`` are
    the row and slice pitch in bytes that the program received.  Mutable: ``data`` is what it
    wrote.
    """

    thing: object
    key: int
    pitch: int = 0
    slice: int = 0
    place: Any = None
    data: bytes | None = None


class Locks:
    """The locks that the traced program holds, by (object, part) and by address.  Mutable."""

    def __init__(self) -> None:
        self._by_thing: dict[tuple[int, int], Lock] = {}
        self._by_address: dict[int, Lock] = {}

    def begin(self, address: int, lock: Lock) -> None:
        """Add a lock of memory at ``address``; it replaces a lock of that part of the object."""
        self._by_thing[id(lock.thing), lock.key] = lock
        self._by_address[address] = lock

    def store(self, address: int, data: bytes) -> bool:
        """Store the bytes that the program wrote to locked memory in its lock, which is found by
        the memory's address; False if there is no lock.
        """
        lock = self._by_address.get(address)
        if lock is not None:
            lock.data = data
        return lock is not None

    def end(self, thing: object, key: int) -> Lock | None:
        """Remove and return the lock of part ``key`` of an object, None if it is not locked."""
        lock = self._by_thing.pop((id(thing), key), None)
        if lock is not None:
            others = {a: other for a, other in self._by_address.items() if other is not lock}
            self._by_address = others
        return lock
