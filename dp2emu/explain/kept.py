"""Captures that can be read several times whatever they are read from."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.capture.records import Record
from dp2emu.errors import CaptureError
from dp2emu.replay.player import Recording


class KeptRecords:
    """A capture from a pipe, or of text, whose records are kept in memory to be read again.

    Mutable: it grows while the capture is read for the first time.
    """

    def __init__(self, capture: Recording) -> None:
        self._capture = capture
        self._kept: list[Record] = []
        self._rest: Iterator[Record] | None = None

    @property
    def name(self) -> str:
        """Name of the capture, for errors."""
        return self._capture.name

    @property
    def damage(self) -> CaptureError | None:
        """The error that ended the records early, None if they are complete."""
        return self._capture.damage

    @property
    def bytes_read(self) -> int | None:
        """Size of the capture's file, as far as it was read; None if it has none."""
        found: int | None = getattr(self._capture, "bytes_read", None)
        return found

    def records(self) -> Iterator[Record]:
        """Every record, in order, from the first."""
        if self._rest is None:
            self._rest = iter(self._capture.records())
        number = 0
        while True:
            if number == len(self._kept):
                record = next(self._rest, None)
                if record is None:
                    return
                self._kept.append(record)
            yield self._kept[number]
            number += 1
