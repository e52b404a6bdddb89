"""What a trace may make its reader hold."""

from __future__ import annotations

from dataclasses import dataclass

from dp2emu.errors import CaptureError

VALUE_COST = 64
"""Bytes that a value, a name or an argument counts, besides its text or blob."""


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """Bounds on a trace, beyond which it is damaged; none is reached by what a tracer writes.

    ``chunk_bytes``: a snappy chunk once expanded (a tracer writes 1 MiB).  ``held_bytes``: all
    calls that have begun and not ended, with every value, name or argument as ``VALUE_COST``
    and its text or blob.  ``signature_bytes``: the same for all signatures and properties.
    ``depth``: values within values.  ``threads``: thread numbers end below.
    """

    chunk_bytes: int = 16 << 20
    held_bytes: int = 256 << 20
    signature_bytes: int = 64 << 20
    depth: int = 64
    threads: int = 1 << 16


class Budget:
    """Bytes that may still be held.  Mutable: ``spent`` grows and is given back."""

    def __init__(self, what: str, limit: int) -> None:
        self.spent = 0
        self._what = what
        self._limit = limit

    def spend(self, size: int) -> None:
        """Count ``size`` bytes before they are made.  Raises CaptureError past the limit."""
        self.spent += size
        if self.spent > self._limit:
            raise CaptureError(f"{self._what} need more than {self._limit} bytes")
