"""What a trace may make its reader hold."""

from __future__ import annotations

from dp2emu.errors import CaptureError
from dp2emu.limits import Limits

VALUE_COST = 384
"""Bytes that a value or an argument counts, besides its text or blob."""
NAME_COST = 128
"""Bytes that a name or a signature counts, besides its text."""

MOST_ARGUMENTS = 64
"""Arguments of a function: each of its calls has a place for all of them."""
MOST_FLAGS = 256
"""Flags of a bitmask: the text of each of its values asks for all of them."""
MOST_NAME = 256
"""Bytes of a name in a signature: the text of each of its values has them."""
MOST_DETAILS = 8
"""Details of an event besides arguments, which are as many as the function's."""


class Budget:
    """Bytes that may still be held.  Mutable: ``spent`` grows and is given back."""

    def __init__(self, what: str, limits: Limits, name: str) -> None:
        self.spent = 0
        self._what = what
        self._name, self._limit = name, getattr(limits, name)

    def spend(self, size: int) -> None:
        """Count ``size`` bytes before they are made.  Raises CaptureError past the limit."""
        self.spent += size
        if self.spent > self._limit:
            raise CaptureError(f"{self._what} need more bytes, limit {self._name} {self._limit}")
