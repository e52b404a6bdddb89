"""The sealed form of captures, an MCAP file of profile ``dp2emu``: its constants and records.

A file is magic, Header, chunks, one Metadata record with the totals, DataEnd, the summary section,
Footer, magic.  Message ``log_time`` and ``publish_time`` are the record's time in ticks;
``sequence`` is the call number: of the call itself, of the call an answer belongs to, and for
everything else of the call that follows.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from typing import TypeVar

from mcap.data_stream import ReadDataStream, RecordBuilder
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import McapRecord

from dp2emu.capture.payloads import Kind, Payload, describe
from dp2emu.errors import CaptureError

MAGIC = b"\x89MCAP0\r\n"
PROFILE = "dp2emu"
LIBRARY = "dp2emu"
MESSAGE_ENCODING = "dp2"
SCHEMA_ENCODING = "dp2emu/1"
"""Schema encoding in sealed captures: the version of the payload format of records."""
TOTALS = "dp2emu"
"""Name of the MCAP Metadata record that holds the totals of a sealed capture."""

RECORD_HEAD = struct.Struct("<BQ")
"""``struct`` format of the opcode and body length before the body of every MCAP record."""
MESSAGE_HEAD = struct.Struct("<HIQQ")
"""``struct`` format of an MCAP Message's first fields: channel, sequence, log and publish time."""
_MESSAGE = struct.Struct(f"<{RECORD_HEAD.format[1:]}{MESSAGE_HEAD.format[1:]}")
CHUNK_HEAD = struct.Struct("<QQQI")
"""``struct`` format of an MCAP Chunk's first fields: times of the first and last message, size and
CRC of the messages."""
CHUNK_INDEX_HEAD = struct.Struct("<QQQQIQ")
"""``struct`` format of an MCAP ChunkIndex's first fields: times of the first and last message,
offset and length of the Chunk, size of the message index offsets, length of the message index."""
FOOTER = struct.Struct("<QQI")
"""``struct`` format of an MCAP Footer: summary start, summary offset start, summary CRC."""
SUMMARY_OFFSET = struct.Struct("<BQQ")
"""``struct`` format of an MCAP SummaryOffset: opcode, start and length of a group of records."""

TOPICS = {kind: kind.name.lower() for kind in Kind}
SCHEMAS = {kind: describe(kind) for kind in Kind}

_R = TypeVar("_R", bound=McapRecord)


def build(*records: McapRecord) -> bytes:
    """MCAP records as bytes."""
    builder = RecordBuilder()
    for record in records:
        record.write(builder)
    data: bytes = builder.end()  # type: ignore[no-untyped-call]
    return data


def parse(read: Callable[[ReadDataStream], _R], body: bytes) -> _R:
    """Parse one MCAP record with ``read``; ``body`` are the bytes after opcode and length.

    The library tolerates short strings, trailing bytes and repeated keys; this raises CaptureError
    for a record that does not serialize to the same bytes.
    """
    try:
        record = read(ReadDataStream(BytesIO(body)))
        again = build(record)[RECORD_HEAD.size :]
    except (McapError, struct.error, UnicodeError) as error:
        why = str(error) or "it is cut"
        raise CaptureError(f"container record cannot be read: {why}") from error
    if again != body:
        raise CaptureError("container record is not well-formed")
    return record


@lru_cache(maxsize=1 << 7)
def _declaration(read: Callable[[ReadDataStream], _R], body: bytes) -> _R:
    return parse(read, body)


def declaration(read: Callable[[ReadDataStream], _R], body: bytes) -> _R:
    """Like ``parse``, but fast for a Schema or Channel that was parsed before: all captures of a
    version have the same.  The result is shared: it must not be changed.
    """
    return (_declaration if len(body) <= _DECLARATION else parse)(read, body)


_DECLARATION = 4096
"""Largest Schema or Channel body in bytes that is remembered: those of dp2emu are smaller."""


def weight(kind: Kind, size: int) -> int:
    """The number of records that a payload of ``size`` bytes counts as for ``record_ratio``: one,
    and one for each four bytes of a call, since tokens take time as records do; three for a call
    of the Direct3D 10/11 interface.
    """
    if kind is Kind.CALL:
        return 1 + size // 4
    return 3 if kind is Kind.ENTRY else 1


def message(kind: Kind, time: int, sequence: int, payload: Payload) -> bytes:
    """Serialize an MCAP Message, without the library for speed; the channel id is the kind."""
    size = MESSAGE_HEAD.size + len(payload)
    head = _MESSAGE.pack(Opcode.MESSAGE, size, kind, sequence, time, time)
    return b"".join((head, payload))


def _record(opcode: Opcode, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return RECORD_HEAD.pack(opcode, len(body)) + body


def _string(text: str) -> bytes:
    data = text.encode()
    return len(data).to_bytes(4, "little") + data


def chunk(times: tuple[int, int], messages: bytes, compression: str, packed: bytes) -> bytes:
    """Serialize an MCAP Chunk, without the library for speed.

    ``packed`` is ``messages`` compressed by the MCAP ``compression``, ``times`` are the
    times of the first and the last message.
    """
    head = CHUNK_HEAD.pack(*times, len(messages), zlib.crc32(messages))
    size = len(packed).to_bytes(8, "little")
    return _record(Opcode.CHUNK, head, _string(compression), size, packed)


def chunk_index(
    times: tuple[int, int], place: tuple[int, int], compression: str, sizes: tuple[int, int]
) -> bytes:
    """Serialize an MCAP ChunkIndex, without the library for speed: ``place`` is the offset and
    length of the Chunk, ``sizes`` the sizes of its messages, compressed and not.
    """
    head = CHUNK_INDEX_HEAD.pack(*times, *place, 0, 0)
    return _record(Opcode.CHUNK_INDEX, head, _string(compression), struct.pack("<QQ", *sizes))


def next_sequence(kind: Kind, calls: int) -> int:
    """The MCAP sequence number of a record after ``calls`` calls; an answer has its call's."""
    if kind is Kind.ANSWER and calls:
        calls -= 1
    return calls & 0xFFFFFFFF
