"""Writing sealed captures.  The same records give the same bytes."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile

from mcap import records as mcap
from mcap.opcode import Opcode

from dp2emu.argument_check import checked
from dp2emu.capture import container
from dp2emu.capture.compression import deflater
from dp2emu.capture.container import MAGIC, TOPICS, build, message, next_sequence, weight
from dp2emu.capture.files import Closable, Place, Sink
from dp2emu.capture.payloads import PAYLOAD_BYTES, Entry, Kind, entries, stored
from dp2emu.capture.records import MemoryWritten, Record
from dp2emu.capture.totals import Totals, to_metadata
from dp2emu.errors import UsageError
from dp2emu.limits import GENEROUS

COMPRESSIONS = {"zstd": "zstd", "none": ""}
"""MCAP names of compressions by their names here: "zstd", and "none", whose MCAP name is ""."""

CHUNK_BYTES = 64 << 10
"""Default size in bytes at which a writer ends a chunk: more than this is not lost if its process
is killed."""
_CHUNK_BYTES_MOST = 16 << 20
_SPOOL = 1 << 20


class _Pending:
    """The chunk of a sealed capture that is being filled.  Mutable: MCAP records are appended."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.weight = 0
        self.times: tuple[int, int] | None = None

    def add(self, part: bytes, time: int | None = None) -> None:
        """Append an MCAP record; ``time`` is the time of a message, None for other records."""
        self.parts.append(part)
        self.size += len(part)
        if time is None:
            return
        if self.times is None:
            self.times = time, time
        elif not self.times[0] <= time <= self.times[1]:
            self.times = min(self.times[0], time), max(self.times[1], time)


@checked
class CaptureWriter(Closable):
    """A writer of sealed captures, which holds at most one chunk in memory.

    A chunk is written and flushed after every call, so that the call is on disk if the driver
    crashes in it; and at ``chunk_bytes``, which must be below the default limit of readers.  A
    killed process loses less than ``chunk_bytes`` of the records whose ``write`` returned, unless
    the writer is not ``durable``: it leaves the file to the buffers of Python, with the same bytes
    in the end.
    ``close``, or the end of the ``with`` block, writes the index; a file without one can be read.

    >>> from io import BytesIO
    >>> from dp2emu.capture.records import Annotation
    >>> with CaptureWriter(BytesIO(), compression="none") as capture:
    ...     capture.write(Annotation("title", "nothing happens"))
    """

    def __init__(
        self,
        target: Place,
        *,
        compression: str = "zstd",
        chunk_bytes: int = CHUNK_BYTES,
        durable: bool = True,
    ) -> None:
        """``target`` is a path, ``-`` for stdout, or a binary stream (left open).

        Raises OSError if the path cannot be opened, UsageError for options out of range.
        """
        if compression not in COMPRESSIONS:
            raise UsageError(f"compression {compression!r} is none of {', '.join(COMPRESSIONS)}")
        if not 0 < chunk_bytes <= _CHUNK_BYTES_MOST:
            raise UsageError(f"chunks of {chunk_bytes} bytes, not of 1 to {_CHUNK_BYTES_MOST}")
        self._compression = COMPRESSIONS[compression]
        self._deflate = deflater(self._compression)
        self._chunk_bytes = chunk_bytes
        self._durable = durable
        self._totals = Totals()
        self._calls = self._weight = 0
        self._statistics = mcap.Statistics(0, 0, {}, 0, 0, 0, 0, 0, 0)
        self._pending = _Pending()
        self._sink = Sink(target)
        header = mcap.Header(profile=container.PROFILE, library=container.LIBRARY)
        self._sink.write(MAGIC + build(header))
        self._sink.flush()
        self._index = SpooledTemporaryFile(_SPOOL)  # noqa: SIM115 - close() closes it
        self._open = True

    def write(self, record: Record) -> None:
        """Append a record.  Raises CaptureError if a value does not fit, and writes nothing."""
        if not self._open:
            raise UsageError("the capture is closed")
        if type(record) is MemoryWritten:
            for entry in entries(record):
                self._append(entry)
        else:
            self._append(stored(record))

    def start_chunk(self, size: int) -> None:
        """Write the current chunk; later chunks may grow to ``size`` bytes."""
        self.flush()
        self._chunk_bytes = max(self._chunk_bytes, min(size, _CHUNK_BYTES_MOST))

    def flush(self) -> None:
        """Write the chunk unless it is empty, and flush to the operating system."""
        chunk, self._pending = self._pending, _Pending()
        if not chunk.parts:
            return
        data = b"".join(chunk.parts)
        compression, packed = self._compression, self._deflate(data)
        times, offset = chunk.times or (0, 0), self._sink.offset
        self._weight += chunk.weight
        if GENEROUS.crowding(self._weight, offset + len(packed)) is not None:
            compression, packed = "", data  # readers would refuse it by default
        self._sink.write(container.chunk(times, data, compression, packed))
        if self._durable:
            self._sink.flush()  # a crash would lose the small chunks that gather in its buffer
        self._count_chunk(*times)
        place, sizes = (offset, self._sink.offset - offset), (len(packed), len(data))
        self._index.write(container.chunk_index(times, place, compression, sizes))

    def close(self) -> None:
        """Write the last chunk, the totals and the index; close the file if opened by path."""
        if not self._open:
            return
        self._open = False
        try:
            if not self._sink.broken:
                self._seal()
        finally:
            self._index.close()
            self._sink.close()

    def _append(self, entry: Entry) -> None:
        kind, time, payload = entry
        size, counts = len(payload), self._statistics.channel_message_counts
        if size >= self._chunk_bytes or self._pending.size + size > PAYLOAD_BYTES:
            self.flush()  # with this record the chunk might exceed the limit of readers
        if kind not in counts:
            self._introduce(kind)
        pending = self._pending
        pending.add(message(kind, time, next_sequence(kind, self._calls), payload), time)
        pending.weight += weight(kind, size)
        self._totals.add(entry)
        counts[kind] += 1
        self._calls += kind is Kind.CALL
        if kind is Kind.CALL or pending.size >= self._chunk_bytes:
            self.flush()

    def _introduce(self, kind: Kind) -> None:
        """Add the MCAP Schema and Channel of a new ``kind`` of record to the current chunk."""
        self._pending.add(build(_schema(kind), _channel(kind)))
        self._statistics.channel_message_counts[kind] = 0
        self._statistics.schema_count += 1
        self._statistics.channel_count += 1

    def _count_chunk(self, first: int, last: int) -> None:
        statistics = self._statistics
        if statistics.chunk_count:
            first = min(first, statistics.message_start_time)
            last = max(last, statistics.message_end_time)
        statistics.message_start_time, statistics.message_end_time = first, last
        statistics.chunk_count += 1

    def _seal(self) -> None:
        self.flush()
        statistics, offset = self._statistics, self._sink.offset
        summary = self._totals.summary(verified=True)
        statistics.message_count, statistics.metadata_count = summary.records, 1
        self._sink.write(
            build(mcap.Metadata(name=container.TOTALS, metadata=to_metadata(summary)))
        )
        length = self._sink.offset - offset
        totals = mcap.MetadataIndex(offset=offset, length=length, name=container.TOTALS)
        self._sink.write(build(mcap.DataEnd(self._sink.crc)))
        self._write_summary(totals)

    def _write_summary(self, totals: mcap.MetadataIndex) -> None:
        sink, start, offsets = self._sink, self._sink.offset, []
        sink.crc = 0
        for opcode, parts in self._summary_groups(totals):
            offset = sink.offset
            for part in parts:
                sink.write(part)
            offsets.append(mcap.SummaryOffset(opcode, offset, sink.offset - offset))
        offset_start = sink.offset
        sink.write(build(*[group for group in offsets if group.group_length]))
        head = build(mcap.Footer(start, offset_start, 0))[:-4]
        sink.write(build(mcap.Footer(start, offset_start, zlib.crc32(head, sink.crc))) + MAGIC)

    def _summary_groups(
        self, totals: mcap.MetadataIndex
    ) -> Iterator[tuple[Opcode, Iterable[bytes]]]:
        kinds = [Kind(kind) for kind in self._statistics.channel_message_counts]
        yield Opcode.SCHEMA, [build(_schema(kind)) for kind in kinds]
        yield Opcode.CHANNEL, [build(_channel(kind)) for kind in kinds]
        yield Opcode.STATISTICS, [build(self._statistics)]
        yield Opcode.METADATA_INDEX, [build(totals)]
        self._index.seek(0)
        yield Opcode.CHUNK_INDEX, iter(lambda: self._index.read(_SPOOL), b"")


def _schema(kind: Kind) -> mcap.Schema:
    return mcap.Schema(
        id=int(kind), data=container.SCHEMAS[kind], encoding=container.SCHEMA_ENCODING,
        name=f"dp2.{TOPICS[kind]}",
    )  # fmt: skip


def _channel(kind: Kind) -> mcap.Channel:
    return mcap.Channel(
        id=int(kind), topic=TOPICS[kind], message_encoding=container.MESSAGE_ENCODING, metadata={},
        schema_id=int(kind),
    )  # fmt: skip
