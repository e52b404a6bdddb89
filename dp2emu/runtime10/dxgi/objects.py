"""Objects of DXGI: references, private data and parents.

Source: the DXGI documentation of IUnknown and IDXGIObject.
"""

from __future__ import annotations

from typing import Any

from dp2emu.argument_check import checked


@checked
class DxgiObject:
    """IDXGIObject, with one reference at first.  Mutable: references are counted; private ``data``
    are kept under a ``guid``.
    """

    def __init__(self) -> None:
        self.references = 1
        self.private_data: dict[str, bytes] = {}

    def add_ref(self) -> int:
        """AddRef: count a reference; returns the number of references."""
        self.references += 1
        return self.references

    def release(self) -> int:
        """Release: returns the number of references that remain; the last one ends the object."""
        if self.references:
            self.references -= 1
            if not self.references:
                self._end()
        return self.references

    def _end(self) -> None:
        """Give back what the object holds."""

    def get_parent(self) -> Any:
        """GetParent: the object that made this one, with a reference more; None without one."""
        return None

    def set_private_data(self, guid: str, data: bytes | None) -> None:
        """SetPrivateData under a name or GUID; None removes it."""
        self.private_data.pop(guid, None)
        if data is not None:
            self.private_data[guid] = data

    def get_private_data(self, guid: str) -> bytes | None:
        """GetPrivateData under a name or GUID, None if there is none."""
        return self.private_data.get(guid)
