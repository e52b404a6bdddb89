"""The raw driver log: magic, then records that a C driver can write without allocating.

A record is {tag, length, time, crc32} and ``length`` bytes of payload, all little-endian; the
CRC is over tag, length, time and payload.  Tags and payloads are those of ``payloads``.  Tag 0
ends the log with the number of calls, which reveals a truncated log.  ``c/dp2log.h`` is the
writer for drivers.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from construct import Struct

from dp2emu.argument_check import checked
from dp2emu.capture.files import Closable, Pass, Place, Sink, Source
from dp2emu.capture.payloads import LAYOUTS, Entry, Head, Kind, Payload, entries
from dp2emu.capture.records import Record
from dp2emu.capture.totals import Summary, Totals
from dp2emu.d3d.words import DWORD, QWORD
from dp2emu.errors import CaptureError, UsageError

MAGIC = b"\x89DP2LOG1"
"""First bytes of a raw log; the last character is the version."""
END = 0
"""Tag of the record that ends a log; its payload is the number of calls, 8 bytes."""

RECORD = Head(Struct("tag" / DWORD, "length" / DWORD, "time" / QWORD, "crc32" / DWORD))
"""``struct`` format of a raw log record's head: tag, length of the payload, time, CRC."""

_CHECKED = RECORD.size - 4
_CALLS = struct.Struct("<Q")
_UNKNOWN_TAGS = 64


def pack(tag: int, time: int, payload: Payload) -> bytes:
    """Serialize a record of a raw log: tag, length, time in ticks, CRC, payload."""
    head = RECORD.pack(tag, len(payload), time, 0)[:_CHECKED]
    crc = zlib.crc32(payload, zlib.crc32(head))
    return b"".join((head, crc.to_bytes(4, "little"), payload))


@checked
class LogWriter(Closable):
    """A writer of raw driver logs.  The same records give the same bytes."""

    def __init__(self, target: Place) -> None:
        """``target`` is a path, ``-`` for stdout, or a binary stream (left open)."""
        self._sink = Sink(target)
        self._calls = 0
        self._open = True
        self._sink.write(MAGIC)

    def write(self, record: Record) -> None:
        """Append a record.

        Raises CaptureError if a value does not fit, UsageError when the log is closed.
        """
        if not self._open:
            raise UsageError("the log is closed")
        for kind, time, payload in entries(record):
            self._sink.write(pack(kind, time, payload))
            self._calls += kind is Kind.CALL
            if kind is Kind.CALL:  # must be on disk before the driver can crash in it
                self.flush()

    def flush(self) -> None:
        """Flush to the operating system."""
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


class LogReader(Pass):
    """An iteration over the records of a raw log, whose magic has been read."""

    def entries(self) -> Iterator[Entry]:
        """Every record in order.  Raises CaptureError where the file is damaged."""
        while True:
            tag, length, time, head = self._next()
            if length > self._limits.record_bytes:
                self._fail(self._limits.refusal("record_bytes", length))
            payload = self._source.take(length)
            crc = int.from_bytes(head[_CHECKED:], "little")
            if zlib.crc32(payload, zlib.crc32(head[:_CHECKED])) != crc:
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
        name, skipped = f"tag {tag}", self.progress.skipped
        known = name in skipped or len(skipped) < _UNKNOWN_TAGS
        skipped[name if known else "other tags"] += 1


def scan_heads(source: Source) -> Summary | None:
    """The totals of a seekable log from its heads alone; None if it is damaged.

    Seeks past payloads without checking them, and leaves the source at an arbitrary offset.
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
    """Count a record and seek past its payload; False if it is the record that ends the log."""
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
