"""Reading response buffers, strictly (wire format, "Responses").

All of a buffer is checked, so that errors of a driver's protocol are reported.  construct reads a
buffer by its declaration alone (``dp2.parse.RESPONSE_BLOCK``); the reader here says what is wrong
with one that construct refuses.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from construct import ConstructError

from dp2emu.argument_check import checked
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.parsers import CHECKED, WALK
from dp2emu.errors import DecodingDisagreement, ResponseError

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
def parse_responses(
    buffer: bytes, size_of: Callable[[int], int | None], parser: str = WALK
) -> Responses:
    """The responses in ``buffer``, which is dwErrorOffset bytes long.

    ``size_of`` returns the payload size of a query id, None for unknown ids.  Any mix of blocks is
    accepted; a RESPONSECONTINUE's count is ignored.  ``parser`` names the reader, as in
    ``dp2.parsers``.  Raises ResponseError, with the offset of the first error, and
    DecodingDisagreement if both readers read and differ.
    """
    if parser == WALK:
        return _read(buffer, size_of)
    declared = _declared(buffer)
    if declared is None or parser == CHECKED:
        found = _read(buffer, size_of)
        if found != declared:
            what = "responses that the reader accepts and construct reads differently or refuses"
            raise DecodingDisagreement(what)
        return found
    for record in declared.records:
        _check_size(record, size_of(record.query))
    return declared


def _declared(buffer: bytes) -> Responses | None:
    """The responses as construct reads them, None for a malformed buffer."""
    # Imported on use: the default reader needs no declarations.
    from dp2emu.dp2 import parse

    try:
        blocks = parse.parse_responses(buffer)
    except ConstructError:
        return None
    answers = (answer for block in blocks for answer in block.answers)
    records = tuple(Response(each.dwQueryID, each.data, each.offset) for each in answers)
    more = any(block.header.bCommand == Op.RESPONSECONTINUE for block in blocks)
    return Responses(records, more)


def _read(buffer: bytes, size_of: Callable[[int], int | None]) -> Responses:
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
