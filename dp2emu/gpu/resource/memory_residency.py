"""Residency of allocations: in GPU memory, in shared memory, or on disk.

This is bookkeeping beside the heap, which moves no bytes: it gives the cost of paging and the
answers to residency queries, and never changes a picture.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

import msgspec

from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault


class Place(IntEnum):
    """The memory an allocation is in, with the values of D3DDDI_RESIDENCYSTATUS."""

    GPU = 1
    SHARED = 2
    DISK = 3


class Budgets(msgspec.Struct, frozen=True):
    """Maximum number of bytes in GPU memory, in shared memory and on disk.  The disk backs all
    allocations, so ``disk`` limits their sum.
    """

    gpu: int = 1 << 30
    shared: int = 1 << 30
    disk: int = 1 << 32


class Paged(NamedTuple):
    """Bytes paged in to the GPU, and how many of them came from disk."""

    bytes: int = 0
    disk_bytes: int = 0


class _Entry(msgspec.Struct):
    """An allocation; ``used`` is the number of its last use, counted over all.  Mutable."""

    size: int
    priority: int
    used: int
    place: Place


class Residency:
    """Table of allocations and the memory each is in, within budgets.  Mutable.

    A place over its budget evicts to the next slower place: allocations of the lowest priority
    first, and among them the least recently used; allocations that the GPU uses now go last.
    """

    def __init__(self, budgets: Budgets | None = None) -> None:
        self.budgets = budgets or Budgets()
        self._entries: dict[int, _Entry] = {}
        self._filled = dict.fromkeys(Place, 0)
        self._last_handle = 0
        self._uses = 0

    def add(self, size: int, priority: int = 0) -> int:
        """Add an allocation of ``size`` bytes, resident on the GPU, and return its handle, above
        0.  Raises Fault if the disk has no room for it.
        """
        if size < 0 or size + sum(self._filled.values()) > self.budgets.disk:
            raise Fault(HResult.DDERR_OUTOFMEMORY, f"no room for {size} bytes")
        handle = self._last_handle = self._last_handle + 1
        self._uses += 1
        self._entries[handle] = _Entry(size, priority, self._uses, Place.GPU)
        self._filled[Place.GPU] += size
        if self._filled[Place.GPU] > self.budgets.gpu:
            self._evict(frozenset({handle}))
        return handle

    def remove(self, handle: int) -> None:
        """Remove an allocation.  Raises Fault for an unknown handle."""
        entry = self._entry(handle)
        self._filled[entry.place] -= entry.size
        del self._entries[handle]

    def place(self, handle: int) -> Place:
        """Return which memory an allocation is in.  Raises Fault for an unknown handle."""
        return self._entry(handle).place

    def set_priority(self, handle: int, priority: int) -> None:
        """Set an allocation's eviction priority.  Raises Fault for an unknown handle."""
        self._entry(handle).priority = priority

    def use(self, handles: Iterable[int]) -> Paged:
        """Move allocations that the GPU uses now into its memory; removed handles are ignored.

        An allocation that is larger than the budget of GPU (or shared) memory does not get there.
        """
        used = [handle for handle in dict.fromkeys(handles) if handle in self._entries]
        before = {handle: self._entries[handle].place for handle in used}
        for handle in used:
            self._uses += 1
            self._entries[handle].used = self._uses
            self._move(self._entries[handle], Place.GPU)
        self._evict(frozenset(used))
        arrived = [h for h in used if self._entries[h].place is Place.GPU]
        moved = [h for h in arrived if before[h] is not Place.GPU]
        size = sum(self._entries[h].size for h in moved)
        disk = sum(self._entries[h].size for h in moved if before[h] is Place.DISK)
        return Paged(size, disk)

    def _evict(self, used: frozenset[int]) -> None:
        """Evict until GPU and shared memory are within their budgets; an allocation larger than a
        budget is evicted first."""
        for place, budget in (Place.GPU, self.budgets.gpu), (Place.SHARED, self.budgets.shared):
            while self._filled[place] > budget:
                here = [(h, entry) for h, entry in self._entries.items() if entry.place is place]
                worth = {h: (e.size <= budget, h in used, e.priority, e.used) for h, e in here}
                victim = self._entries[min(worth, key=worth.__getitem__)]
                self._move(victim, Place(place + 1))

    def _move(self, entry: _Entry, place: Place) -> None:
        self._filled[entry.place] -= entry.size
        self._filled[place] += entry.size
        entry.place = place

    def _entry(self, handle: int) -> _Entry:
        entry = self._entries.get(handle)
        if entry is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no allocation {handle}")
        return entry
