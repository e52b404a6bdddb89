"""A log of what events change in memory, by which the memory after any event can be read.

Each surface has its present bytes and, for each event, the bytes that the event replaced.  The
memory after an earlier event is the present one with these put back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray

from dp2emu.gpu.resource.heap import Surface

Bytes = NDArray[np.uint8]

_LEVEL = 1
_WORD = 8
"""Number of bytes that are compared at once."""


def arrays_of(surface: Surface) -> tuple[Bytes, ...]:
    """The memory of a surface: of the GPU, and the host's copy of a managed texture."""
    system = surface.system
    return (surface.data,) if system is None else (surface.data, system.data)


class _Change(NamedTuple):
    """Bytes at ``offset`` of array ``part`` before the event ``number``, compressed."""

    number: int
    part: int
    offset: int
    old: bytes


class Trail:
    """The memory of one surface over the events.  Mutable: the log adds to it.

    ``desc`` and ``layout`` describe the surface.  It exists after the events from ``born`` on,
    up to but not including ``died``, if that is not None; ``surface`` is None from then on, and
    ``last`` has its last bytes, compressed.
    """

    def __init__(self, handle: int, surface: Surface, born: int) -> None:
        self.handle = handle
        self.serial = surface.serial
        self.desc = surface.desc
        self.layout = surface.subresources
        self.surface: Surface | None = surface
        self.born = born
        self.died: int | None = None
        self.last: tuple[bytes, ...] = ()
        self.changes: deque[_Change] = deque()

    def exists(self, after: int) -> bool:
        """Whether the surface exists after event ``after``."""
        return self.born <= after and (self.died is None or after < self.died)


class MemoryLog:
    """The memory of all surfaces after each event, from event ``first`` on.  Mutable: it grows.

    ``budget`` is the number of bytes that it may keep besides the memory itself; beyond it the
    oldest events are forgotten.
    """

    def __init__(self, budget: int) -> None:
        self.first = -1
        self._budget = budget
        self._kept = 0
        self._live: dict[int, Trail] = {}
        self._gone: deque[Trail] = deque()
        self._order: deque[Trail] = deque()
        self._watched: dict[int, tuple[Trail, tuple[Bytes, ...]]] = {}
        self._compress = zstandard.ZstdCompressor(level=_LEVEL).compress
        self._inflate = zstandard.ZstdDecompressor().decompress

    def watch(self, handles: Iterable[int]) -> None:
        """Keep the bytes of surfaces that may change from now on, until ``note``."""
        for handle in handles:
            trail = self._live.get(handle)
            if trail is not None and trail.surface is not None and handle not in self._watched:
                copies = tuple(array.copy() for array in arrays_of(trail.surface))
                self._watched[handle] = trail, copies

    def note(self, number: int, *, executed: bool, keep: Iterable[int] = ()) -> None:
        """Log what changed in watched surfaces, as a change of event ``number``, which was
        ``executed`` or comes next.

        Surfaces not in ``keep`` are no longer watched.
        """
        kept = set(keep)
        for handle, (trail, copies) in list(self._watched.items()):
            self._note(trail, copies, number)
            if handle not in kept:
                del self._watched[handle]
        self._shrink(number if executed else number - 1)

    def _note(self, trail: Trail, copies: tuple[Bytes, ...], number: int) -> None:
        if trail.surface is None:
            return
        for part, (old, new) in enumerate(zip(copies, arrays_of(trail.surface), strict=True)):
            found = _changed(old, new)
            if found is not None:
                start, stop = found
                packed = self._compress(old[start:stop].tobytes())
                trail.changes.append(_Change(number, part, start, packed))
                self._order.append(trail)
                self._kept += len(packed)
                old[start:stop] = new[start:stop]

    def update(self, surfaces: dict[int, Surface], number: int) -> None:
        """Note which surfaces exist from event ``number`` on."""
        for handle, trail in list(self._live.items()):
            found = surfaces.get(handle)
            if found is None or found.serial != trail.serial:
                self._end(trail, number)
        for handle, surface in surfaces.items():
            if handle not in self._live:
                self._live[handle] = Trail(handle, surface, number)

    def _end(self, trail: Trail, number: int) -> None:
        watched = self._watched.pop(trail.handle, None)
        if watched is not None:
            self._note(*watched, number)
        assert trail.surface is not None
        trail.last = tuple(self._compress(each.tobytes()) for each in arrays_of(trail.surface))
        trail.surface, trail.died = None, number
        self._kept += sum(map(len, trail.last))
        self._gone.append(trail)
        del self._live[trail.handle]

    def _shrink(self, last: int) -> None:
        """Forget the oldest events until the budget holds, at most up to event ``last``."""
        while self._kept > self._budget:
            changed = self._order[0].changes[0].number if self._order else last + 1
            gone = self._gone[0] if self._gone else None
            died = last + 1 if gone is None or gone.died is None else gone.died
            if min(changed, died) > last:
                return
            self.first = max(self.first, min(changed, died))
            if changed <= died:
                self._kept -= len(self._order.popleft().changes.popleft().old)
            else:
                self._kept -= sum(map(len, self._gone.popleft().last))

    # Reading

    def trails(self, after: int) -> Iterator[Trail]:
        """The trails of the surfaces that exist after event ``after``, by handle."""
        found = {trail.handle: trail for trail in self._gone if trail.exists(after)}
        found |= {h: trail for h, trail in self._live.items() if trail.exists(after)}
        return (found[handle] for handle in sorted(found))

    def find(self, handle: int, after: int) -> Trail | None:
        """The trail of the surface that has a handle after event ``after``, None for none."""
        trail = self._live.get(handle)
        if trail is not None and trail.exists(after):
            return trail
        return next((t for t in self._gone if t.handle == handle and t.exists(after)), None)

    def read(self, trail: Trail, after: int) -> tuple[Bytes, ...]:
        """The arrays of a surface's memory after event ``after``, as copies."""
        if trail.surface is not None:
            arrays = [array.copy() for array in arrays_of(trail.surface)]
        else:
            arrays = [np.frombuffer(self._inflate(each), np.uint8).copy() for each in trail.last]
        for change in reversed(trail.changes):
            if change.number <= after:
                break
            old = np.frombuffer(self._inflate(change.old), np.uint8)
            arrays[change.part][change.offset : change.offset + len(old)] = old
        return tuple(arrays)


def _changed(old: Bytes, new: Bytes) -> tuple[int, int] | None:
    """The range of bytes from the first to the last that differ, None for equal arrays."""
    whole = len(old) // _WORD * _WORD
    differs = np.flatnonzero(old[:whole].view(np.uint64) != new[:whole].view(np.uint64))
    tail = np.flatnonzero(old[whole:] != new[whole:])
    if not len(differs) and not len(tail):
        return None
    start = int(differs[0]) * _WORD if len(differs) else whole + int(tail[0])
    stop = whole + int(tail[-1]) + 1 if len(tail) else (int(differs[-1]) + 1) * _WORD
    return start, stop
