"""The raw driver log: magic, then records a C driver can emit without allocating.

A record is {tag, length, time, crc32} and ``length`` bytes of payload, all little-endian; the
CRC is over tag, length, time and payload.  Tags and payloads are those of ``payloads``.  Tag 0
ends the log and holds the number of calls, so that a log that was cut says so.
``dp2log.h`` in the folder ``c`` is the other side.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import NoReturn, Self

from construct import Struct

from dp2emu.capture.files import Place, Progress, Sink, Source
from dp2emu.capture.payloads import LAYOUTS, Entry, Head, Kind, Payload, entries
from dp2emu.capture.records import Record
from dp2emu.capture.totals import Summary, Totals
from dp2emu.d3d.words import DWORD, QWORD
from dp2emu.errors import CaptureError, UsageError
from dp2emu.limits import Limits

MAGIC = b"\x89DP2LOG1"
"""The last character is the version."""

END = 0
"""Tag of the record that ends a log; its payload is the number of calls, 8 bytes."""

RECORD = Head(Struct("tag" / DWORD, "length" / DWORD, "time" / QWORD, "crc32" / DWORD))
"""What stands before every payload."""

_CHECKED = RECORD.size - 4
_CALLS = struct.Struct("<Q")
_UNKNOWN_TAGS = 64


def pack(tag: int, time: int, payload: Payload) -> bytes:
    """One record of a log."""
    head = RECORD.pack(tag, len(payload), time, 0)[:_CHECKED]
    crc = zlib.crc32(payload, zlib.crc32(head))
    return b"".join((head, crc.to_bytes(4, "little"), payload))


class LogWriter:
    """Writes records as a raw driver log.  The same records give the same bytes."""

    def __init__(self, target: Place) -> None:
        """``target`` is a path, ``-`` for stdout, or a binary stream (left open)."""
        self._sink = Sink(target)
        self._calls = 0
        self._open = True
        self._sink.write(MAGIC)

    def write(self, record: Record) -> None:
        """Append a record, or nothing.

        Raises CaptureError if a value does not fit, UsageError when the log is closed.
        """
        if not self._open:
            raise UsageError("the log is closed")
        for kind, time, payload in entries(record):
            self._sink.write(pack(kind, time, payload))
            self._calls += kind is Kind.CALL
            if kind is Kind.CALL:  # it must be on disk before the driver gets to crash
                self.flush()

    def flush(self) -> None:
        """Hand everything to the operating system."""
        self._sink.flush()

    def close(self) -> None:
        """Write the end record; close the file if opened by path."""
        if not self._open:
            return
        self._open = False
        try:
            if not self._sink.broken:
                self._sink.write(pack(END, 0, _CALLS.pack(self._calls)))
        finally:
            self._sink.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class LogReader:
    """A pass over a raw log whose magic has been taken.  Mutable: it is on its way."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.progress = Progress()
        self._source = source
        self._limits = limits
        self._calls = 0

    def entries(self) -> Iterator[Entry]:
        """Every record in order.  Raises CaptureError where the file stops making sense."""
        source = self._source
        while True:
            tag, length, time, head = self._next()
            if length > self._limits.record_bytes:
                self._fail(
                    f"record of {length} bytes, limit record_bytes {self._limits.record_bytes}"
                )
            payload = source.take(length)
            if zlib.crc32(payload, zlib.crc32(head[:_CHECKED])) != _crc(head):
                self._fail("record checksum is wrong")
            if tag == END:
                return self._check_end(payload)
            if tag in LAYOUTS:
                self._calls += tag == Kind.CALL
                yield Kind(tag), time, payload
            else:
                self._skip(tag)

    def _next(self) -> tuple[int, int, int, bytes]:
        self._source.mark = self._source.offset
        head = self._source.upto(RECORD.size)
        if not head:
            self._fail("the log ends without its end record: it was cut or never closed")
        if len(head) < RECORD.size:
            self._fail("the file ends inside a record")
        tag, length, time, _ = RECORD.unpack(head)
        return tag, length, time, head

    def _check_end(self, payload: bytes) -> None:
        if payload != _CALLS.pack(self._calls):
            self._fail(f"the end record does not speak of {self._calls} calls")
        self.progress.whole = True
        if self._source.upto(1):
            self._fail("something follows the end record")

    def _skip(self, tag: int) -> None:
        name = f"tag {tag}"
        skipped = self.progress.skipped
        known = name in skipped or len(skipped) < _UNKNOWN_TAGS
        skipped[name if known else "other tags"] += 1

    def _fail(self, what: str) -> NoReturn:
        raise self._source.error(what)


def scan_heads(source: Source) -> Summary | None:
    """The totals of a seekable log from its heads, payloads jumped over; None if it is damaged.

    No checksum is computed.  Leaves the source anywhere.
    """
    totals = Totals()
    try:
        source.jump(len(MAGIC))
        while _scan_record(source, totals):
            pass
        summary = totals.summary(verified=False)
        ended = source.take(_CALLS.size) == _CALLS.pack(summary.calls)
        return summary if ended and not source.upto(1) else None
    except CaptureError:
        return None


def _scan_record(source: Source, totals: Totals) -> bool:
    """Count a record and jump over it, unless it is the end record, whose head is taken."""
    tag, length, time, _ = RECORD.unpack(source.take(RECORD.size))
    if tag == END:
        return False
    after = source.offset + length
    if tag in LAYOUTS:
        kind = Kind(tag)
        head = source.take(min(length, LAYOUTS[kind].head.size))
        totals.add((kind, time, head), length)
    source.jump(after)
    return True


def _crc(head: bytes) -> int:
    return int.from_bytes(head[_CHECKED:], "little")
