"""Memory the program has locked, and the stores the tracer found in it (apitrace traces, "Traced
stores")."""

from __future__ import annotations

from typing import Any

import msgspec


class Lock(msgspec.Struct):
    """A lock under way: ``thing`` and ``key`` say what of, ``place`` is the module's own.

    ``pitch`` and ``slice`` are bytes from row to row and from slice to slice as the program was
    told them.  Mutable: ``data`` arrives with the tracer's memcpy.
    """

    thing: object
    key: int
    pitch: int = 0
    slice: int = 0
    place: Any = None
    data: bytes | None = None


class Locks:
    """Locks by what is locked, and by the address the program was given.  Mutable."""

    def __init__(self) -> None:
        self._by_thing: dict[tuple[int, int], Lock] = {}
        self._by_address: dict[int, Lock] = {}

    def begin(self, address: int, lock: Lock) -> None:
        """A lock succeeded; of several of the same thing the last counts, as for the tracer."""
        self._by_thing[id(lock.thing), lock.key] = lock
        self._by_address[address] = lock

    def store(self, address: int, data: bytes) -> bool:
        """The tracer found these bytes at an address; False if nobody has locked that."""
        lock = self._by_address.get(address)
        if lock is not None:
            lock.data = data
        return lock is not None

    def end(self, thing: object, key: int) -> Lock | None:
        """The lock that an Unlock ends, None if there is none."""
        lock = self._by_thing.pop((id(thing), key), None)
        if lock is not None:
            kept = {a: other for a, other in self._by_address.items() if other is not lock}
            self._by_address = kept
        return lock
