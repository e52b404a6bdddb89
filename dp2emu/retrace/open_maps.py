"""Maps of Direct3D 10/11 resources that a traced program holds, and the bytes that it stores there
(apitrace traces, "Traced stores").
"""

from __future__ import annotations

from bisect import bisect_right, insort

import msgspec

from dp2emu.ddi10.resources.maps import MappedSubresource
from dp2emu.runtime10.deferred import write_rows
from dp2emu.runtime10.textures import Part


class OpenMap(msgspec.Struct, frozen=True):
    """A map that the program holds: where its memory was, and with which pitches in bytes, while
    the trace was recorded, and our memory of it.
    """

    address: int
    size: int
    pitches: tuple[int, int]
    part: Part
    buffer: bool
    mapped: MappedSubresource

    def store(self, address: int, data: bytes) -> None:
        """Store the bytes that the program wrote at an address."""
        start = address - self.address
        if self.buffer:
            count = min(len(data), len(self.mapped.pData) - start)
            self.mapped.pData[start : start + count] = data[:count]
        elif start == 0:
            write_rows(self.mapped, self.part, data, *self.pitches)


class OpenMaps:
    """The maps that a traced program holds, by context and subresource, and by address.
    Mutable.
    """

    def __init__(self) -> None:
        self._open: dict[tuple[int, int, int], OpenMap] = {}
        self._starts: list[int] = []
        self._by_address: dict[int, OpenMap] = {}
        self._ended: set[int] = set()

    def begin(self, key: tuple[int, int, int], found: OpenMap) -> None:
        """Add a map; it replaces one at the same address."""
        self._open[key] = found
        if found.address not in self._by_address:
            insort(self._starts, found.address)
        self._by_address[found.address] = found

    def end(self, key: tuple[int, int, int]) -> None:
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
        if not found.mapped.pData.readonly:
            found.store(address, data)
        return True
