"""Resources shared by the devices of an adapter, looked up by kernel handle.

Source: DDI documentation of OpenResource.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

_T = TypeVar("_T")


class _Entry(msgspec.Struct, Generic[_T]):
    """A shared object and its reference count.  Mutable: devices add and drop references."""

    value: _T
    references: int


class SharedResources(Generic[_T]):
    """Reference-counted objects by handle.  Mutable: devices add, open and release them.

    An entry lives until the last device releases it, whether it created or opened it.
    """

    def __init__(self) -> None:
        self._entries: dict[int, _Entry[_T]] = {}

    def add(self, handle: int, value: _T) -> None:
        """Add a new object under its handle, with one reference, its creator's."""
        self._entries[handle] = _Entry(value, 1)

    def open(self, handle: int) -> _T | None:
        """Add a reference and return the object, None for an unknown handle."""
        entry = self._entries.get(handle)
        if entry is None:
            return None
        entry.references += 1
        return entry.value

    def release(self, handle: int) -> bool:
        """Drop a reference; returns whether it was the last one."""
        entry = self._entries[handle]
        entry.references -= 1
        if not entry.references:
            del self._entries[handle]
        return not entry.references
