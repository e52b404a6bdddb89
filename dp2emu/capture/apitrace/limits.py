"""What a trace may make its reader hold."""

from __future__ import annotations

from dp2emu.errors import CaptureError
from dp2emu.limits import Limits

VALUE_COST = 64
"""Bytes that a value, a name or an argument counts, besides its text or blob."""


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
