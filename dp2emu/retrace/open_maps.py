"""Memory that a traced program has mapped, by address (apitrace traces, "Traced stores")."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Hashable
from typing import Protocol


class OpenMap(Protocol):
    """A map that the program holds: where its memory was while the trace was recorded, and its
    size in bytes.
    """

    @property
    def address(self) -> int:
        """The address that the program was given."""

    @property
    def size(self) -> int:
        """The number of bytes from there on."""

    def store(self, address: int, data: bytes) -> None:
        """Store the bytes that the program wrote at an address."""


class OpenMaps:
    """The maps that a traced program holds, by a key, such as context and subresource, and by
    address.  Mutable.
    """

    def __init__(self) -> None:
        self._open: dict[Hashable, OpenMap] = {}
        self._starts: list[int] = []
        self._by_address: dict[int, OpenMap] = {}
        self._ended: set[int] = set()

    def begin(self, key: Hashable, found: OpenMap) -> None:
        """Add a map; it replaces one with the same key, and one at the same address."""
        self.end(key)
        self._open[key] = found
        if found.address not in self._by_address:
            insort(self._starts, found.address)
        self._by_address[found.address] = found

    def end(self, key: Hashable) -> None:
        """Remove a map, if there is one."""
        found = self._open.pop(key, None)
        if found is not None and self._by_address.get(found.address) is found:
            del self._by_address[found.address]
            del self._starts[bisect_right(self._starts, found.address) - 1]
            self._ended.add(found.address)

    def store(self, address: int, data: bytes) -> bool:
        """Store bytes in the map that has an address; returns whether there is one, or was one
        before: such bytes are dropped.
        """
        place = bisect_right(self._starts, address) - 1
        found = self._by_address[self._starts[place]] if place >= 0 else None
        if found is None or address >= found.address + max(found.size, 1):
            return address in self._ended
        found.store(address, data)
        return True
