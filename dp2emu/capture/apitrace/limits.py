"""What a trace may make its reader hold."""

from __future__ import annotations

from dp2emu.capture.files import Source
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


SHARE = 64
"""Bytes that may be held for each byte of the file besides: a call of a large trace may have a
large texture, which snappy, the tracer's, shortens to a twentieth at most.
"""


class Budget:
    """Bytes that may still be held.  Mutable: ``spent`` grows and is given back.

    There is a share for each byte of a ``source``, or of what was read of a pipe.
    """

    def __init__(self, what: str, limits: Limits, name: str, source: Source | None = None) -> None:
        self.spent = 0
        self._what, self._source = what, source
        self._name, self._limit = name, getattr(limits, name)

    def spend(self, size: int) -> None:
        """Count ``size`` bytes before they are made.  Raises CaptureError past the limit."""
        self.spent += size
        if self.spent > self._limit and self.spent > self._limit + self._share():
            raise CaptureError(f"{self._what} need more bytes, limit {self._name} {self._limit}")

    def _share(self) -> int:
        source = self._source
        if source is None:
            return 0
        return SHARE * (source.mark if source.size is None else source.size)
