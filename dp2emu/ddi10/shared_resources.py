"""Resources that devices of an adapter share, by the handles the kernel gave them.

Source: DDI documentation of OpenResource.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from dp2emu.records import dataclass

_T = TypeVar("_T")


@dataclass(slots=True)
class _Entry(Generic[_T]):
    """Mutable: devices come and go."""

    what: _T
    users: int


class Shared(Generic[_T]):
    """What can be opened.  Mutable: devices offer and release.

    It is there as long as a device has it, be that the one that made it or one that opened it.
    """

    def __init__(self) -> None:
        self._entries: dict[int, _Entry[_T]] = {}

    def offer(self, handle: int, what: _T) -> None:
        """Let others open what has just been made."""
        self._entries[handle] = _Entry(what, 1)

    def open(self, handle: int) -> _T | None:
        """One more device has it; None if there is no such thing."""
        entry = self._entries.get(handle)
        if entry is None:
            return None
        entry.users += 1
        return entry.what

    def release(self, handle: int) -> bool:
        """A device has it no more: whether it was the last one."""
        entry = self._entries[handle]
        entry.users -= 1
        if not entry.users:
            del self._entries[handle]
        return not entry.users
