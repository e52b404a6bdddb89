"""Stream frequencies (Direct3D 9 documentation of SetStreamSourceFreq)."""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.d3d.flags import StreamSource

_FLAGS = StreamSource.INDEXEDDATA | StreamSource.INSTANCEDATA


class Frequency(NamedTuple):
    """How often a stream advances.

    With INDEXEDDATA in stream 0, indexed draws repeat ``number`` times.  A stream with
    INSTANCEDATA advances once in ``number`` of these instances; one without flags once in
    ``number`` vertices of draws without indices.
    """

    flags: StreamSource
    number: int

    @classmethod
    def of(cls, value: int) -> Frequency:
        """What a DWORD says; a number of 0 beside a flag is 1."""
        flags, number = StreamSource(value) & _FLAGS, value & ~_FLAGS
        return cls(flags, number or int(bool(flags)))

    def allowed(self, stream: int) -> bool:
        """Whether a stream may have it: not 0, not of both kinds, no instances in stream 0."""
        instances = self.flags is StreamSource.INSTANCEDATA
        return self.number > 0 and self.flags != _FLAGS and not (instances and stream == 0)


ALWAYS = Frequency(StreamSource(0), 1)
"""A new element for every vertex: what streams start with."""
