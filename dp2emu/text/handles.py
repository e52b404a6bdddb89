"""Kinds and sizes of the blocks of memory that handles of the Direct3D 10/11 interface are."""

from __future__ import annotations

import re

from dp2emu.capture.records import EntryCalled
from dp2emu.capture.values import Memory

MEMORY = "memory"
"""Word for a block of memory in which no object was created."""
_MAKES = re.compile(r"(?:Create|Open)([A-Z]\w*?)(?:With\w+)?")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def kind_made(entry: str) -> str | None:
    """The kind of object that function ``entry`` creates, None if it creates none.

    >>> kind_made("CreateShaderResourceView"), kind_made("OpenResource"), kind_made("Draw")
    ('shader_resource_view', 'resource', None)
    """
    made = _MAKES.fullmatch(entry)
    return _CAPITAL.sub("_", made[1]).lower() if made else None


class Handles:
    """The live objects of a capture.  Mutable: pass every call in order to ``see``."""

    def __init__(self) -> None:
        self._live: dict[int, tuple[str, int]] = {}

    def kind(self, number: int) -> str | None:
        """The kind of object in block ``number``, None if it holds none."""
        return self._live[number][0] if number in self._live else None

    def size(self, number: int) -> int | None:
        """The size in bytes of block ``number``, None if it holds no object."""
        return self._live[number][1] if number in self._live else None

    def see(self, record: EntryCalled) -> None:
        """Update the objects if a call created or destroyed some."""
        blocks = [each for each in record.arguments if isinstance(each, Memory)]
        made = kind_made(record.entry)
        if made is not None and not record.codes:
            self._live.update((each.number, (made, each.size)) for each in blocks)
        elif record.entry.startswith("Destroy"):
            for each in blocks:
                self._live.pop(each.number, None)
