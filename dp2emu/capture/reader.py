"""Reading sealed captures: one pass, a chunk at a time, everything checked before it is believed.

How damage shows: a chunk's bytes are under its own CRC, which is required; its head must agree
with what inflates; between chunks only records are allowed that no single wrong bit turns a chunk
into, or that are compared with the chunk before them; sequence numbers tell a lost call; and the
CRCs of data section and summary cover every byte there is.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import NoReturn

from mcap.opcode import Opcode
from mcap.records import Channel, Header, Metadata, MetadataIndex, Schema

from dp2emu.capture.compression import inflate
from dp2emu.capture.container import (
    FOOTER,
    MAGIC,
    MESSAGE_ENCODING,
    MESSAGE_HEAD,
    PROFILE,
    RECORD_HEAD,
    SCHEMA_ENCODING,
    SUMMARY_OFFSET,
    TOPICS,
    TOTALS,
    next_sequence,
    parse,
)
from dp2emu.capture.files import Chunk, Progress, Source
from dp2emu.capture.payloads import Entry, Kind
from dp2emu.capture.totals import Summary, from_metadata
from dp2emu.errors import CaptureError
from dp2emu.limits import Limits

_CHUNK_HEAD = struct.Struct("<QQQII")
"""Start time, end time, inflated size, CRC, length of the compression's name."""
_DATA_LENGTH = struct.Struct("<Q")
_DATA_END = struct.Struct("<I")
_INDEX_HEAD = struct.Struct("<HI")
"""Channel id and bytes of entries of a message index."""
_INDEX_ENTRY = struct.Struct("<QQ")
"""Time and offset in the chunk."""

_SMALL = 1 << 20
"""Bytes allowed for container records that are a few hundred in fact."""
_NAME = 16
_TOPIC = 64

_KINDS = {topic: kind for kind, topic in TOPICS.items()}
_PASSED_OVER = (Opcode.METADATA, Opcode.ATTACHMENT)
_SUMMARY = (
    Opcode.SCHEMA,
    Opcode.CHANNEL,
    Opcode.STATISTICS,
    Opcode.CHUNK_INDEX,
    Opcode.ATTACHMENT_INDEX,
    Opcode.METADATA_INDEX,
    Opcode.SUMMARY_OFFSET,
)


class SealedReader:
    """A pass over a sealed capture whose magic has been taken.  Mutable: it is on its way."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.progress = Progress()
        self._source = source
        self._limits = limits
        self._calls = 0
        self._crc = self._inflated = 0
        self._chunk: bytes | bytearray = b""
        self._places: dict[int, int] | None = None
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, tuple[Kind | None, str]] = {}

    def entries(self) -> Iterator[Entry]:
        """Every record in order.  Raises CaptureError where the file stops making sense."""
        self._check_header()
        while self._advance():
            yield from self._messages(self._chunk)
        self.progress.whole = True
        self._check_summary()

    def _next(self) -> tuple[int, int]:
        """Opcode and length of the next container record."""
        source = self._source
        source.mark, self._crc = source.offset, source.crc
        head = source.upto(RECORD_HEAD.size)
        if not head:
            self._fail("the file ends before its index: it was cut or its writer never finished")
        if len(head) < RECORD_HEAD.size:
            self._fail("the file ends inside a record")
        opcode, length = RECORD_HEAD.unpack(head)
        return opcode, length

    def _check_header(self) -> None:
        opcode, length = self._next()
        if opcode != Opcode.HEADER or length > _SMALL:
            self._fail("no header record")
        header = parse(Header.read, self._source.take(length))
        if header.profile != PROFILE:
            self._fail(f"an MCAP file of profile {header.profile[:_TOPIC]!r}, not {PROFILE!r}")

    def _advance(self) -> bool:
        """Put the next chunk in place, or find the end of the data section."""
        opcode, length = self._next()
        while opcode != Opcode.CHUNK:
            if opcode == Opcode.DATA_END:
                self._check_data_end(length)
                return False
            if opcode == Opcode.MESSAGE_INDEX:
                self._check_message_index(length)
            elif opcode in _PASSED_OVER:
                self._source.pass_over(length)
            else:
                self._fail(f"container record {opcode:#04x} between chunks")
            opcode, length = self._next()
        self._chunk = b""  # the last one need not be held while the next is inflated
        self._chunk, self._places = self._read_chunk(length), None
        return True

    def _read_chunk(self, length: int) -> bytes | bytearray:
        if length < _CHUNK_HEAD.size:
            self._fail(f"chunk record of {length} bytes")
        _, _, size, crc, name_length = _CHUNK_HEAD.unpack(self._source.take(_CHUNK_HEAD.size))
        left = length - _CHUNK_HEAD.size - name_length - _DATA_LENGTH.size
        if name_length > _NAME or left < 0:
            self._fail(f"chunk with a compression name of {name_length} bytes")
        name = self._source.take(name_length).decode("latin-1")
        if _DATA_LENGTH.unpack(self._source.take(_DATA_LENGTH.size)) != (left,):
            self._fail("chunk length and chunk record length disagree")
        self._check_size("chunk", max(size, left))
        self._inflated += size
        if self._inflated > self._limits.inflated_bytes:
            most = self._limits.inflated_bytes
            self._fail(f"the file inflates to more, limit inflated_bytes {most}")
        data = inflate(name, self._source.take(left), size)
        self.progress.compression = name
        self.progress.chunk = Chunk(self.progress.chunk.number + 1, size)
        if zlib.crc32(data) != crc:
            self._fail("chunk checksum is wrong")
        return data

    def _check_message_index(self, length: int) -> None:
        """The index must be that of the chunk, which a damaged chunk record would not be.

        It may list the messages in any order, so sums of hashes are compared, not lists.
        """
        self._check_size("message index", length)
        if length < _INDEX_HEAD.size:
            self._fail(f"message index of {length} bytes")
        channel, size = _INDEX_HEAD.unpack(self._source.take(_INDEX_HEAD.size))
        body = self._source.take(length - _INDEX_HEAD.size)
        if size != len(body) or size % _INDEX_ENTRY.size:
            self._fail(f"message index of {length} bytes, {size} of them entries")
        if self._places is None:
            self._places = _places(self._chunk)
        listed = sum(map(hash, _INDEX_ENTRY.iter_unpack(body)))
        if listed != self._places.pop(channel, 0):
            self._fail("message index is not that of the chunk before it")

    def _check_size(self, what: str, size: int) -> None:
        most = self._limits.chunk_bytes
        if size > most:
            self._fail(f"{what} of {size} bytes, limit chunk_bytes {most}")

    def _check_data_end(self, length: int) -> None:
        seen = self._crc
        if length != _DATA_END.size:
            self._fail(f"data end record of {length} bytes")
        (crc,) = _DATA_END.unpack(self._source.take(length))
        if crc not in (0, seen):
            self._fail("data section checksum is wrong")

    def _messages(self, chunk: bytes | bytearray) -> Iterator[Entry]:
        for opcode, start, length in _records(chunk):
            if opcode == Opcode.MESSAGE:
                yield from self._message(chunk, start, length)
            elif opcode in _LEARNT and length <= _SMALL:
                _LEARNT[opcode](self, bytes(chunk[start : start + length]))
            else:
                self._fail(f"container record {opcode:#04x} inside a chunk")

    def _message(self, chunk: bytes | bytearray, start: int, length: int) -> Iterator[Entry]:
        channel, sequence, time, _ = MESSAGE_HEAD.unpack_from(chunk, start)
        if channel not in self._channels:
            self._fail(f"message of unknown channel {channel}")
        kind, topic = self._channels[channel]
        if kind is None:
            self.progress.skipped[topic] += 1
            return
        expected = next_sequence(kind, self._calls)
        if sequence != expected:
            self._fail(f"{topic} with sequence {sequence} where {expected} is due")
        self._calls += kind is Kind.CALL
        yield kind, time, memoryview(chunk)[start + MESSAGE_HEAD.size : start + length]

    def _learn_schema(self, body: bytes) -> None:
        schema = parse(Schema.read, body)
        encoding = schema.encoding[:_TOPIC]
        if self._schemas.setdefault(schema.id, encoding) != encoding:
            self._fail(f"schema {schema.id} changes")

    def _learn_channel(self, body: bytes) -> None:
        channel = parse(Channel.read, body)
        topic, encoding = channel.topic[:_TOPIC], self._schemas.get(channel.schema_id)
        kind = _KINDS.get(topic) if channel.message_encoding == MESSAGE_ENCODING else None
        if kind is not None and encoding != SCHEMA_ENCODING:
            self._fail(f"channel {topic} is of version {encoding!r}, not {SCHEMA_ENCODING!r}")
        if self._channels.setdefault(channel.id, (kind, topic)) != (kind, topic):
            self._fail(f"channel {channel.id} changes")

    def _check_summary(self) -> None:
        source = self._source
        start, source.crc = source.offset, 0
        opcode, length = self._next()
        while opcode in _SUMMARY:
            source.pass_over(length)
            opcode, length = self._next()
        if opcode != Opcode.FOOTER or length != FOOTER.size:
            self._fail(f"container record {opcode:#04x} in the index")
        _check_footer(source, self._crc, start)
        if source.take(len(MAGIC)) != MAGIC or source.upto(1):
            self._fail("the file does not end with its magic")

    def _fail(self, what: str) -> NoReturn:
        raise self._source.error(what)


_LEARNT: dict[int, Callable[[SealedReader, bytes], None]] = {
    Opcode.SCHEMA: SealedReader._learn_schema,
    Opcode.CHANNEL: SealedReader._learn_channel,
}
"""What chunks hold besides messages."""


def read_totals(source: Source) -> Summary | None:
    """The totals of a seekable sealed capture from its index alone, None if that is damaged.

    Reads and checks the summary section, never a chunk; leaves the source anywhere.
    """
    try:
        return _read_totals(source)
    except CaptureError:
        return None


def _read_totals(source: Source) -> Summary:
    end = RECORD_HEAD.size + FOOTER.size
    source.jump(max((source.size or 0) - end - len(MAGIC), 0))
    footer = source.offset
    source.take(RECORD_HEAD.size)
    start, groups, _ = FOOTER.unpack(source.take(FOOTER.size))
    if source.take(len(MAGIC)) != MAGIC or not len(MAGIC) < start <= groups <= footer:
        raise source.error("no index")
    source.jump(start)
    source.pass_over(footer - start)
    crc = source.crc
    source.take(RECORD_HEAD.size)
    _check_footer(source, crc, start)
    index = _find_totals(source, groups, footer)
    source.jump(index.offset)
    body = _small(source, index.length)
    return from_metadata(parse(Metadata.read, body[RECORD_HEAD.size :]).metadata)


def _find_totals(source: Source, groups: int, footer: int) -> MetadataIndex:
    source.jump(groups)
    data = _small(source, footer - groups)
    for opcode, start, length in _records(data):
        if opcode == Opcode.SUMMARY_OFFSET and length == SUMMARY_OFFSET.size:
            group, offset, size = SUMMARY_OFFSET.unpack_from(data, start)
            if group == Opcode.METADATA_INDEX:
                source.jump(offset)
                return _named_totals(_small(source, size))
    raise source.error("the index names no totals")


def _named_totals(data: bytes) -> MetadataIndex:
    for opcode, start, length in _records(data):
        if opcode == Opcode.METADATA_INDEX:
            index: MetadataIndex = parse(MetadataIndex.read, data[start : start + length])
            if index.name == TOTALS:
                return index
    raise CaptureError("the index names no totals")


def _small(source: Source, size: int) -> bytes:
    if size > _SMALL:
        raise source.error(f"index record of {size} bytes")
    return source.take(size)


def _check_footer(source: Source, crc: int, start: int) -> None:
    """Check the footer whose head has been taken; ``crc`` is the summary's from ``start``."""
    body = source.take(FOOTER.size)
    summary_start, _, summary_crc = FOOTER.unpack(body)
    head = RECORD_HEAD.pack(Opcode.FOOTER, FOOTER.size) + body[:-4]
    if summary_crc not in (0, zlib.crc32(head, crc)):
        raise source.error("index checksum is wrong")
    if summary_start not in (0, start):
        raise source.error("the index is not where the footer says")


def _places(chunk: bytes | bytearray) -> dict[int, int]:
    """By channel the sum of the hashes of (time, offset in the chunk) of its messages."""
    sums: dict[int, int] = {}
    for opcode, start, _ in _records(chunk):
        if opcode == Opcode.MESSAGE:
            channel, _, time, _ = MESSAGE_HEAD.unpack_from(chunk, start)
            sums[channel] = sums.get(channel, 0) + hash((time, start - RECORD_HEAD.size))
    return sums


def _records(data: bytes | bytearray) -> Iterator[tuple[int, int, int]]:
    """(opcode, start of body, length of body) of the MCAP records that fill ``data``."""
    at = 0
    while at < len(data):
        if at + RECORD_HEAD.size > len(data):
            raise CaptureError("container record is cut")
        opcode, length = RECORD_HEAD.unpack_from(data, at)
        at += RECORD_HEAD.size
        least = MESSAGE_HEAD.size if opcode == Opcode.MESSAGE else 0
        if not least <= length <= len(data) - at:
            raise CaptureError(f"container record {opcode:#04x} of {length} bytes does not fit")
        yield opcode, at, length
        at += length
