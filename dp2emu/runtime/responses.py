"""Reading response buffers, strictly (wire format, "Responses").

All of a buffer is checked, so that errors of a driver's protocol are reported.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dp2emu.argument_check import checked
from dp2emu.d3d.dp2structs import Op
from dp2emu.errors import ResponseError

_BLOCK = struct.Struct("<BBHI")
"""The header of a block of responses, D3DHAL_DP2RESPONSE: bCommand, bReserved, count, and the size
of the block with these 8 bytes."""
_RECORD = struct.Struct("<II")
"""The header of a query's response, D3DHAL_DP2RESPONSEQUERY: query id, and the size in bytes of
the payload that follows."""


class Response(NamedTuple):
    """A driver's response to a query: ``data`` is the payload, empty if there is no data;
    ``offset`` is the byte offset of its record in the buffer.
    """

    query: int
    data: bytes
    offset: int


class Responses(NamedTuple):
    """The responses of a buffer in order; ``more`` is set if a RESPONSECONTINUE requests another
    call.
    """

    records: tuple[Response, ...]
    more: bool


@checked
def parse_responses(buffer: bytes, size_of: Callable[[int], int | None]) -> Responses:
    """The responses in ``buffer``, which is dwErrorOffset bytes long.

    ``size_of`` returns the payload size of a query id, None for unknown ids.  Any mix of blocks is
    accepted; a RESPONSECONTINUE's count is ignored.  Raises ResponseError, with the offset of the
    first error.
    """
    records: list[Response] = []
    more = False
    for offset, command, count, end in _blocks(buffer):
        if command == Op.RESPONSECONTINUE:
            if end - offset != _BLOCK.size:
                what = f"a RESPONSECONTINUE of {end - offset} bytes"
                raise ResponseError(what, offset=offset)
            more = True
            continue
        stop = offset + _BLOCK.size
        for record in _records(buffer, stop, end, count):
            _check_size(record, size_of(record.query))
            records.append(record)
            stop = record.offset + _RECORD.size + len(record.data)
        if stop != end:
            raise ResponseError(f"{end - stop} bytes behind the last record", offset=stop)
    return Responses(tuple(records), more)


def _blocks(buffer: bytes) -> Iterator[tuple[int, int, int, int]]:
    """(byte offset, bCommand, number of responses, end offset) of each block of a response
    buffer.
    """
    offset = 0
    while offset < len(buffer):
        if len(buffer) - offset < _BLOCK.size:
            raise ResponseError("a block header is cut off", offset=offset)
        command, _, count, total = _BLOCK.unpack_from(buffer, offset)
        if command not in (Op.RESPONSEQUERY, Op.RESPONSECONTINUE):
            raise ResponseError(f"bCommand is {command}, no response", offset=offset)
        if not _BLOCK.size <= total <= len(buffer) - offset:
            left = len(buffer) - offset
            raise ResponseError(f"a block of {total} bytes where {left} are left", offset=offset)
        yield offset, command, count, offset + total
        offset += total


def _records(buffer: bytes, offset: int, end: int, count: int) -> Iterator[Response]:
    for _ in range(count):
        if end - offset < _RECORD.size:
            raise ResponseError("a record header passes the end of its block", offset=offset)
        query, size = _RECORD.unpack_from(buffer, offset)
        start = offset + _RECORD.size
        if size > end - start:
            what = f"query {query}: {size} bytes pass the end of the block"
            raise ResponseError(what, offset=offset)
        yield Response(query, bytes(buffer[start : start + size]), offset)
        offset = start + size


def _check_size(record: Response, expected: int | None) -> None:
    if expected is None:
        raise ResponseError(f"no query {record.query}", offset=record.offset)
    if record.data and len(record.data) != expected:
        what = f"query {record.query}: {len(record.data)} bytes of data, not {expected}"
        raise ResponseError(what, offset=record.offset)
