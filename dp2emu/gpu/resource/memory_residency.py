"""Where allocations are: in memory the GPU reaches, in shared memory, or on disk.

This is bookkeeping beside the heap, whose bytes stay where they are: it says what a stall costs
and what the system would answer about residency, and never what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

import msgspec

from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault


class Place(IntEnum):
    """Where an allocation is, with the values of D3DDDI_RESIDENCYSTATUS."""

    GPU = 1
    SHARED = 2
    DISK = 3


class Budgets(msgspec.Struct, frozen=True):
    """Bytes of each place.  What is in memory has its place on disk too, so ``disk`` is all."""

    gpu: int = 1 << 30
    shared: int = 1 << 30
    disk: int = 1 << 32


class Paged(NamedTuple):
    """Bytes that were brought to the GPU, and those of them that were on disk."""

    bytes: int = 0
    disk_bytes: int = 0


class _Entry(msgspec.Struct):
    """An allocation.  Mutable: it moves."""

    size: int
    priority: int
    used: int
    place: Place


class Residency:
    """Allocations within budgets.  Mutable: it is a table.

    Of what is too much for a place those of the lowest priority go one place down, and among
    these the ones that were used least recently.  What is used now goes last.
    """

    def __init__(self, budgets: Budgets | None = None) -> None:
        self.budgets = budgets or Budgets()
        self._entries: dict[int, _Entry] = {}
        self._filled = dict.fromkeys(Place, 0)
        self._made = 0
        self._uses = 0

    def add(self, size: int, priority: int = 0) -> int:
        """Make an allocation of ``size`` bytes where the GPU reaches it; its handle, above 0.

        Raises Fault if the disk has no room for it.
        """
        if size < 0 or size + sum(self._filled.values()) > self.budgets.disk:
            raise Fault(HResult.DDERR_OUTOFMEMORY, f"no room for {size} bytes")
        self._made += 1
        self._entries[self._made] = _Entry(size, priority, 0, Place.DISK)
        self._filled[Place.DISK] += size
        self.use([self._made])
        return self._made

    def remove(self, handle: int) -> None:
        """Forget an allocation.  Raises Fault for an unknown one."""
        entry = self._entry(handle)
        self._filled[entry.place] -= entry.size
        del self._entries[handle]

    def place(self, handle: int) -> Place:
        """Where an allocation is now.  Raises Fault for an unknown one."""
        return self._entry(handle).place

    def set_priority(self, handle: int, priority: int) -> None:
        """Say how much an allocation is worth keeping.  Raises Fault for an unknown one."""
        self._entry(handle).priority = priority

    def use(self, handles: Iterable[int]) -> Paged:
        """Bring what the GPU uses now to where it reaches it; handles that died do not count.

        What is larger than a budget stays below it.
        """
        used = [handle for handle in dict.fromkeys(handles) if handle in self._entries]
        before = {handle: self._entries[handle].place for handle in used}
        for handle in used:
            self._uses += 1
            self._entries[handle].used = self._uses
            self._move(self._entries[handle], Place.GPU)
        self._settle(frozenset(used))
        arrived = [h for h in used if self._entries[h].place is Place.GPU]
        moved = [h for h in arrived if before[h] is not Place.GPU]
        size = sum(self._entries[h].size for h in moved)
        disk = sum(self._entries[h].size for h in moved if before[h] is Place.DISK)
        return Paged(size, disk)

    def _settle(self, used: frozenset[int]) -> None:
        """Move what is too much for a place one place down, first what can never fit there."""
        limits = (Place.GPU, self.budgets.gpu), (Place.SHARED, self.budgets.shared)
        for place, budget in limits:
            while self._filled[place] > budget:
                self._move(self._victim(place, budget, used), Place(place + 1))

    def _victim(self, place: Place, budget: int, used: frozenset[int]) -> _Entry:
        here = [(h, entry) for h, entry in self._entries.items() if entry.place is place]
        worth = {h: (e.size <= budget, h in used, e.priority, e.used) for h, e in here}
        return self._entries[min(worth, key=worth.__getitem__)]

    def _move(self, entry: _Entry, place: Place) -> None:
        self._filled[entry.place] -= entry.size
        self._filled[place] += entry.size
        entry.place = place

    def _entry(self, handle: int) -> _Entry:
        entry = self._entries.get(handle)
        if entry is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no allocation {handle}")
        return entry
