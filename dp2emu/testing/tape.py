"""A capture in memory, which can be printed, compared, saved and replayed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from os import PathLike

from dp2emu.capture import CaptureWriter
from dp2emu.capture.records import Record
from dp2emu.text.dump import TextWriter


class Tape:
    """Records in order, which can be replayed like a capture.  Mutable: it grows.

    >>> from dp2emu.capture.records import Annotation
    >>> tape = Tape("empty")
    >>> tape.write(Annotation("title", "nothing happens"))
    >>> len(tape)
    1
    """

    damage = None
    """Damage of the capture: None, since a tape is never truncated."""

    def __init__(self, name: str = "tape") -> None:
        self.name = name
        self._records: list[Record] = []

    def __len__(self) -> int:
        return len(self._records)

    def write(self, record: Record) -> None:
        """Append a record; sessions and recorders take this method as ``record``."""
        self._records.append(record)

    def records(self) -> Iterator[Record]:
        """The records so far, in order."""
        return iter(tuple(self._records))

    def text(self) -> str:
        """The records as text of ``dp2emu dump``, which assembles to the same capture."""
        out = io.StringIO()
        writer = TextWriter(out)
        for record in self._records:
            writer.write(record)
        return out.getvalue()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the records as a capture file.  Raises OSError."""
        with CaptureWriter(str(path)) as capture:
            for record in self._records:
                capture.write(record)
