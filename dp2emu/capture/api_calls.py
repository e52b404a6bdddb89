"""API calls of the recorded program from which records and tokens come.

An import composes a call of D3dDrawPrimitives2 from several API calls of a program.  Annotations
beside its records have their numbers: ``api_call`` has the number for the records from there on,
and ``api_calls`` belongs to the next call of D3dDrawPrimitives2 and has pairs ``offset:number``:
the command bytes from this offset on were written by this API call.  Offsets count from the call's
first command byte.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from dp2emu.capture.records import (
    API_CALL,
    API_CALLS,
    Annotation,
    Blitted,
    Called,
    EntryCalled,
    Flipped,
    FrameMarker,
    Locked,
    MemoryWritten,
    Observed,
    Pictured,
    Record,
)

Origin = tuple[int, int]
"""A pair: offset of a command byte, and the number of the API call that wrote the bytes from it
on."""

HOST_EVENTS: frozenset[type[Record]] = frozenset(
    (Blitted, Flipped, FrameMarker, Locked, MemoryWritten)
)
"""Types of the records of host actions that have no number of an API call of their own."""

_NUMBER = r"[0-9]{1,20}"
_ONE = re.compile(_NUMBER)
_PAIRS = re.compile(rf"{_NUMBER}:{_NUMBER}(?: {_NUMBER}:{_NUMBER})*")


def origins_text(origins: Iterable[Origin]) -> str:
    """The text of an annotation ``api_calls``.

    >>> origins_text([(0, 40), (16, 41)])
    '0:40 16:41'
    """
    return " ".join(f"{offset}:{number}" for offset, number in origins)


def parse_origins(text: str) -> tuple[Origin, ...]:
    """The pairs of an annotation ``api_calls`` in the order of their offsets; empty if the text is
    no such pairs.

    >>> parse_origins("0:40 16:41")
    ((0, 40), (16, 41))
    """
    if not _PAIRS.fullmatch(text):
        return ()
    pairs = (pair.split(":") for pair in text.split(" "))
    return tuple(sorted((int(offset), int(number)) for offset, number in pairs))


def origins_from(origins: Sequence[Origin], offset: int) -> list[Origin]:
    """The origins of the bytes from ``offset`` on, counted from there."""
    behind = bisect_right(origins, offset, key=lambda origin: origin[0])
    return [(max(at - offset, 0), number) for at, number in origins[max(behind - 1, 0) :]]


class ApiCalls:
    """The API calls from which the records of a capture come.  Mutable: ``see`` takes the records
    in order.

    ``number`` is the API call of the record seen last, None if unknown or if it is a call of
    D3dDrawPrimitives2, whose bytes have ``at``.  ``host`` is the API call of records without a
    number of their own.

    >>> calls = ApiCalls()
    >>> calls.see(Annotation(API_CALL, "7"))
    >>> calls.see(FrameMarker(0))
    >>> calls.number
    7
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self.host: int | None = None
        self._next = self._text = ""
        self._origins: tuple[Origin, ...] | None = ()

    def see(self, record: Record) -> None:
        """Take the next record."""
        self.number = self.host
        if isinstance(record, Annotation):
            self._annotated(record)
        elif isinstance(record, Called):
            self.number = None
            self._text, self._next, self._origins = self._next, "", None
        elif isinstance(record, EntryCalled | Observed | Pictured):
            self.number = record.call

    def _annotated(self, record: Annotation) -> None:
        if record.key == API_CALL:
            self.host = int(record.text) if _ONE.fullmatch(record.text) else None
            self.number = self.host
        elif record.key == API_CALLS:
            self._next = record.text

    def at(self, offset: int) -> int | None:
        """The API call that wrote the command byte at ``offset`` of the D3dDrawPrimitives2 call
        seen last, None if unknown.
        """
        if self._origins is None:  # most calls are never asked for
            self._origins = parse_origins(self._text)
        found = bisect_right(self._origins, offset, key=lambda origin: origin[0])
        return self._origins[found - 1][1] if found else None
