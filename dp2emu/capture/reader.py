"""Opening a capture file of any form; reading the sealed one.

A sealed capture is read a chunk at a time, and checked before it is used: a chunk's bytes have
their own CRC, which is required; its head must agree with the inflated data; between chunks only
records are allowed that no single wrong bit turns a chunk into, or that are compared with the
chunk before them; sequence numbers reveal a lost call; and the CRCs of data section and summary
cover every byte.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader

from mcap.opcode import Opcode
from mcap.records import Channel, Header, Metadata, MetadataIndex, Schema

from dp2emu.argument_check import checked
from dp2emu.capture import container, rawlog
from dp2emu.capture.bare import BareOptions, BareReader
from dp2emu.capture.compression import inflate
from dp2emu.capture.container import FOOTER, MAGIC, MESSAGE_HEAD, RECORD_HEAD, declaration, parse
from dp2emu.capture.files import Chunk, Closable, Pass, Place, Source, open_source
from dp2emu.capture.payloads import Entry, Kind, decode
from dp2emu.capture.records import Called, Record
from dp2emu.capture.totals import Summary, Totals, from_metadata
from dp2emu.errors import CaptureError, UsageError
from dp2emu.limits import PLAIN_RECORDS, Limits

MAGICS = {"sealed": MAGIC, "log": rawlog.MAGIC}
"""First 8 bytes of a capture file by its form, "sealed" or "log"; other forms have no magic."""
KINDS = (*MAGICS, "bare")

_TEXT_STARTS = b"d# \t\r\n\xef"
"""Possible first bytes of a capture as text: a statement, comment, space or byte order mark."""
_CHECK_ALL = 4 << 20
"""Largest size in bytes of a capture whose summary is computed by reading, and so checking, all of
its records."""

_CHUNK_HEAD = struct.Struct("<QQQII")
"""``struct`` format of an MCAP Chunk's first fields: start time, end time, inflated size, CRC, and
length of the compression's name."""
_DATA_LENGTH = struct.Struct("<Q")
_DATA_END = struct.Struct("<I")
_INDEX_HEAD = struct.Struct("<HI")
"""``struct`` format of an MCAP MessageIndex's first fields: channel id, bytes of the entries."""
_INDEX_ENTRY = struct.Struct("<QQ")
"""``struct`` format of an MCAP MessageIndex entry: a message's time and offset in the chunk."""
_SMALL = 1 << 20
"""Largest accepted size in bytes of an MCAP header, schema, channel or index record."""
_NAME, _TOPIC = 16, 64

_KINDS = {topic: kind for kind, topic in container.TOPICS.items()}
_PASSED_OVER = (Opcode.METADATA, Opcode.ATTACHMENT)
_SUMMARY = (
    Opcode.SCHEMA, Opcode.CHANNEL, Opcode.STATISTICS, Opcode.CHUNK_INDEX,
    Opcode.ATTACHMENT_INDEX, Opcode.METADATA_INDEX, Opcode.SUMMARY_OFFSET,
)  # fmt: skip


class SealedReader(Pass):
    """An iteration over the records of a sealed capture, whose magic has been read."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self._crc = self._inflated = self._records = 0
        self._chunk: bytes | bytearray = b""
        self._places: dict[int, int] | None = None
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, tuple[Kind | None, str]] = {}

    def entries(self) -> Iterator[Entry]:
        """Every record in order.  Raises CaptureError where the file is damaged."""
        self._check_header()
        while self._advance():
            yield from self._messages(self._chunk)
        self.progress.whole = True
        self._check_summary()

    def _next(self) -> tuple[int, int]:
        """Read the head of the next MCAP record: opcode, and length of the body in bytes."""
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
        if header.profile != container.PROFILE:
            profile, expected = header.profile[:_TOPIC], container.PROFILE
            self._fail(f"an MCAP file of profile {profile!r}, not {expected!r}")

    def _advance(self) -> bool:
        """Read the next chunk; False at the end of the data section."""
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
        self._chunk = b""  # free the last one before the next is inflated
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
        refused = self._limits.inflation(self._inflated, self._source.offset + left)
        if refused is not None:
            self._fail(refused)
        data = inflate(name, self._source.take(left), size)
        self.progress.compression = name
        self.progress.chunk = Chunk(self.progress.chunk.number + 1, size)
        if zlib.crc32(data) != crc:
            self._fail("chunk checksum is wrong")
        return data

    def _check_message_index(self, length: int) -> None:
        """Check the MessageIndex record, of ``length`` bytes, that follows a chunk.

        Raises CaptureError unless it lists the messages of one channel in that chunk, in any
        order: sums of hashes are compared.
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
        if size > self._limits.chunk_bytes:
            self._fail(f"{what}: {self._limits.refusal('chunk_bytes', size)}")

    def _check_data_end(self, length: int) -> None:
        seen = self._crc  # of the bytes before this record
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
        expected = container.next_sequence(kind, self._calls)
        if sequence != expected:
            self._fail(f"{topic} with sequence {sequence} where {expected} is due")
        self._calls += kind is Kind.CALL
        self._records += container.weight(kind, length - MESSAGE_HEAD.size)
        if self._records > PLAIN_RECORDS:
            self._check_records()
        yield kind, time, memoryview(chunk)[start + MESSAGE_HEAD.size : start + length]

    def _check_records(self) -> None:
        refused = self._limits.crowding(self._records, self._source.offset)
        if refused is not None:
            self._fail(refused)

    def _learn_schema(self, body: bytes) -> None:
        schema = declaration(Schema.read, body)
        encoding = schema.encoding[:_TOPIC]
        if self._schemas.setdefault(schema.id, encoding) != encoding:
            self._fail(f"schema {schema.id} changes")

    def _learn_channel(self, body: bytes) -> None:
        channel = declaration(Channel.read, body)
        topic, encoding = channel.topic[:_TOPIC], self._schemas.get(channel.schema_id)
        known = channel.message_encoding == container.MESSAGE_ENCODING
        kind, expected = _KINDS.get(topic) if known else None, container.SCHEMA_ENCODING
        if kind is not None and encoding != expected:
            self._fail(f"channel {topic} is of version {encoding!r}, not {expected!r}")
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


_LEARNT: dict[int, Callable[[SealedReader, bytes], None]] = {
    Opcode.SCHEMA: SealedReader._learn_schema,
    Opcode.CHANNEL: SealedReader._learn_channel,
}
"""``SealedReader`` methods that process a record in a chunk which is no Message, by MCAP opcode:
Schema and Channel."""


def read_totals(source: Source) -> Summary | None:
    """The totals of a seekable sealed capture from its index alone, None if that is damaged.

    Checks the summary section, reads no chunk, and leaves the source at an arbitrary offset.
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
        if opcode == Opcode.SUMMARY_OFFSET and length == container.SUMMARY_OFFSET.size:
            group, offset, size = container.SUMMARY_OFFSET.unpack_from(data, start)
            if group == Opcode.METADATA_INDEX:
                source.jump(offset)
                return _named_totals(_small(source, size))
    raise source.error("the index names no totals")


def _named_totals(data: bytes) -> MetadataIndex:
    for opcode, start, length in _records(data):
        if opcode == Opcode.METADATA_INDEX:
            index: MetadataIndex = parse(MetadataIndex.read, data[start : start + length])
            if index.name == container.TOTALS:
                return index
    raise CaptureError("the index names no totals")


def _small(source: Source, size: int) -> bytes:
    if size > _SMALL:
        raise source.error(f"index record of {size} bytes")
    return source.take(size)


def _check_footer(source: Source, crc: int, start: int) -> None:
    """Check the Footer's CRC and offset of the summary section: they are ``crc`` and ``start``."""
    body = source.take(FOOTER.size)
    summary_start, _, summary_crc = FOOTER.unpack(body)
    head = RECORD_HEAD.pack(Opcode.FOOTER, FOOTER.size) + body[:-4]
    if summary_crc not in (0, zlib.crc32(head, crc)):
        raise source.error("index checksum is wrong")
    if summary_start not in (0, start):
        raise source.error("the index is not where the footer says")


def _places(chunk: bytes | bytearray) -> dict[int, int]:
    """Sum of ``hash((time, byte offset in the chunk))`` of a channel's messages, by channel id."""
    sums: dict[int, int] = {}
    for opcode, start, _ in _records(chunk):
        if opcode == Opcode.MESSAGE:
            channel, _, time, _ = MESSAGE_HEAD.unpack_from(chunk, start)
            sums[channel] = sums.get(channel, 0) + hash((time, start - RECORD_HEAD.size))
    return sums


def _records(data: bytes | bytearray) -> Iterator[tuple[int, int, int]]:
    """(opcode, start of body, length of body) of each MCAP record in ``data``."""
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


@checked
class Capture(Closable):
    """An open capture file.  Mutable: reading moves it.

    ``kind`` is "sealed", "log" or "bare", ``name`` the path or ``-``.  ``damage``, after a pass,
    is None or the CaptureError that ended it: where, why and which calls are lost.  ``size`` is
    the file's in bytes, None for a pipe.

    >>> from io import BytesIO
    >>> bare = open_capture(BytesIO(b""), kind="bare")
    >>> [type(record).__name__ for record in bare.records()][-2:]
    ['Called', 'FrameMarker']
    """

    def __init__(self, source: Source, kind: str, limits: Limits, bare: BareOptions) -> None:
        self.kind = kind
        self.name = source.name
        self.damage: CaptureError | None = None
        self.size = source.size
        self._source = source
        self._limits = limits
        self._bare = bare
        self._fresh = True
        self._reader = self._read()

    @property
    def position(self) -> int:
        """Number of bytes of the file that the current pass has read."""
        return self._source.offset

    @property
    def bytes_read(self) -> int:
        """Size of the file, or of a pipe the number of bytes that the current pass has read."""
        return self._source.bytes_read

    @property
    def skipped(self) -> Mapping[str, int]:
        """How many records of unknown kinds the current pass has skipped, by name of the kind."""
        return self._reader.progress.skipped

    @property
    def compression(self) -> str | None:
        """Compression of the chunks read, as ``CaptureWriter`` names it; None if none was read."""
        name = self._reader.progress.compression
        return "none" if name == "" else name

    @property
    def chunk(self) -> Chunk:
        """The chunk of the last record; number 0 for forms without chunks."""
        return self._reader.progress.chunk

    def records(self) -> Iterator[Record]:
        """Every record in order, up to the end or the damage.

        Starts a new pass; raises UsageError for the second pass over a pipe.
        """
        return self._pass(None)

    def summary(self) -> Summary:
        """The totals of the capture.

        Those of a file larger than ``_CHECK_ALL`` come from its index or the heads of its records,
        if possible, and are not verified; else all records are read, which sets ``damage``.
        """
        if (self._source.size or 0) > _CHECK_ALL and (unverified := self._unverified()):
            return unverified
        totals = Totals()
        for _ in self._pass(totals):
            pass
        return totals.summary(verified=self.damage is None)

    def close(self) -> None:
        """Close the file if ``open_capture`` opened it."""
        self._source.close()

    def _pass(self, totals: Totals | None) -> Iterator[Record]:
        self._rewind()
        self.damage, reader, calls = None, self._reader, 0
        try:
            for entry in reader.entries():
                record = decode(*entry)
                calls += isinstance(record, Called)
                if totals is not None:
                    totals.add(entry)
                del entry  # its view may keep a whole chunk alive
                yield record
                del record
        except CaptureError as error:
            error.at(stream=self.name, offset=self._source.mark)
            error.what = f"{error.what}; {self._lost(calls, whole=reader.progress.whole)}"
            self.damage = error

    def _rewind(self) -> None:
        if self._fresh:
            self._fresh = False
            return
        self._source.rewind()
        self._source.take(len(MAGICS.get(self.kind, b"")))
        self._reader = self._read()

    def _read(self) -> SealedReader | rawlog.LogReader | BareReader:
        if self.kind == "bare":
            return BareReader(self._source, self._limits, self._bare)
        read = SealedReader if self.kind == "sealed" else rawlog.LogReader
        return read(self._source, self._limits)

    def _lost(self, calls: int, *, whole: bool) -> str:
        """Text on which calls are lost if ``calls`` are intact; if ``whole``, that none is."""
        if whole:
            return "no record is lost"
        totals = self._unverified() if self.kind == "sealed" else None
        last = f"call {calls - 1} is the last whole one" if calls else "no call is whole"
        if totals is None or totals.calls < calls:
            return f"{last}; calls from {calls} on are lost"
        if totals.calls == calls:
            return f"{last}; no call is lost, records after it are"
        return f"{last}; calls {calls} to {totals.calls - 1} are lost"

    def _unverified(self) -> Summary | None:
        """The totals from the index or from record heads, if any; makes the next pass rewind."""
        if self._source.size is None or self.kind == "bare":
            return None
        self._fresh = False
        read = read_totals if self.kind == "sealed" else rawlog.scan_heads
        return read(self._source)


def begins_as_text(stream: BufferedReader) -> bool:
    """Whether a stream holds a capture as text, judged by a peek at its first byte."""
    start = stream.peek(1)[:1]
    return bool(start) and start in _TEXT_STARTS


@checked
def open_capture(
    place: Place,
    *,
    kind: str | None = None,
    bare: BareOptions | None = None,
    limits: Limits | None = None,
) -> Capture:
    """A capture opened from a path, ``-`` (stdin) or a binary stream, which need not seek.

    The first bytes identify the form; only ``kind`` "bare" opens a bare command buffer, which has
    no magic, with the options ``bare``.  Raises CaptureError if the file is of none of the forms
    or not of ``kind``, UsageError for an unknown ``kind``, and OSError.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(f"capture form {kind!r} is none of {', '.join(KINDS)}")
    source = open_source(place)
    try:
        found = _detect(source, kind)
    except (CaptureError, OSError):
        source.close()
        raise
    return Capture(source, found, limits or Limits(), bare or BareOptions())


def _detect(source: Source, kind: str | None) -> str:
    if kind == "bare":
        return kind
    magic = source.upto(len(container.MAGIC))
    for form, expected in MAGICS.items():
        if magic == expected and kind in (None, form):
            return form
    wanted = " or ".join(
        f"{form} ({expected.hex(' ')})"
        for form, expected in MAGICS.items()
        if kind in (None, form)
    )
    found = magic.hex(" ") if magic else "nothing"
    raise source.error(
        f"the file starts with {found}, a capture with {wanted}; "
        "a bare command buffer is read only on request (--bare)"
    )
