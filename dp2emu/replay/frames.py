"""Ranges of frames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from dp2emu.argument_check import checked
from dp2emu.capture.records import Called, EntryCalled, FrameMarker, Pictured, Record
from dp2emu.errors import UsageError

_RANGE = re.compile(r"(?P<only>\d{1,9})|(?P<first>\d{1,9})?-(?P<last>\d{1,9})?", re.ASCII)


class Frames(msgspec.Struct, frozen=True):
    """Frames ``first`` to ``last``, both included; ``last`` None is the end.

    Frames are counted from 0 by the markers that end them, whatever numbers these have.  The
    records after the last marker are a frame too.
    """

    first: int = 0
    last: int | None = None

    def __contains__(self, frame: int) -> bool:
        return self.first <= frame and (self.last is None or frame <= self.last)

    def check(self, there: int) -> None:
        """Raise UsageError if a capture of ``there`` frames has none of these."""
        if self != EVERY and self.first >= there:
            number = f"frames 0 to {there - 1}" if there else "no frame"
            raise UsageError(f"frames from {self.first} on: there are {there}, {number}")


EVERY = Frames()
"""The range of all frames of a capture, from frame 0 to the end."""


_IN_FRAMES = frozenset({Called, EntryCalled, Pictured, FrameMarker})
"""Types of records that make a frame."""


class FrameCount:
    """Number of frames, ``there``, among records.  Mutable: it grows as these pass."""

    def __init__(self) -> None:
        self.there = self._ended = 0

    def counted(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield ``records``; calls and pictures after the last marker are one more frame."""
        for record in records:
            if type(record) in _IN_FRAMES:
                self.there = self._ended + 1
                self._ended += type(record) is FrameMarker
            yield record


@checked
def parse_frames(text: str) -> Frames:
    """The frames of ``3``, ``3-7``, ``3-`` or ``-7``.  Raises UsageError for other text."""
    found = _RANGE.fullmatch(text)
    if found is None or text == "-":
        raise UsageError(f"frames {text!r}: not like 3, 3-7, 3- or -7, of nine digits at most")
    if found["only"]:
        return Frames(int(found["only"]), int(found["only"]))
    frames = Frames(int(found["first"] or 0), int(found["last"]) if found["last"] else None)
    if frames.last is not None and frames.last < frames.first:
        raise UsageError(f"frames {text!r}: the last comes before the first")
    return frames
