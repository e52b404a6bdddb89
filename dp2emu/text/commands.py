"""Lines of text of the command bytes of a call and the response bytes of an answer.

Every block is assembled again before it is written.  One that would change, like bytes that are
no token, is written as a ``raw`` block, so that no byte is lost.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Call
from dp2emu.dp2.stream import CommandStream
from dp2emu.dp2.table import TABLE, Token
from dp2emu.dp2.walk import VERTEX_ALIGNMENT, Scan, scan
from dp2emu.errors import Dp2Error
from dp2emu.layout import Buffer
from dp2emu.text.answers import payload, response_blocks
from dp2emu.text.build import build
from dp2emu.text.codec import HEADER, Codec, Place, codec_of
from dp2emu.text.contexts import Contexts, VertexFormat
from dp2emu.text.lines import Line, token_lines
from dp2emu.text.memory import hex_lines
from dp2emu.text.remarks import remark
from dp2emu.text.syntax import TextError, block_of

RAW = "raw"
"""Keyword of a text statement for bytes that are no token; a line ``bytes: ...`` lists them."""
_SMALL, _KEPT = 64, 1 << 12
"""Largest size in bytes of a token whose text is cached, and largest number of cached tokens."""

_CREATE_QUERY = TABLE[Op.CREATEQUERY]
_PAIR = struct.Struct("<II")


class Shown(NamedTuple):
    """A line of a capture's text dump, the bytes that it shows, and an optional comment."""

    line: Line
    data: bytes = b""
    remark: str | None = None


class CallTokens:
    """The tokens in a call's command bytes, to be iterated once.

    Yields token information with byte offsets into ``stream.memory``.  Mutable: iteration adds
    created queries to ``contexts``; ``rest`` is valid after it.  ``scan`` is that function of a
    parser.
    """

    def __init__(self, call: Call, contexts: Contexts, scan: Callable[..., Scan] = scan) -> None:
        self.stream = CommandStream(call, call.commands or b"", scan)
        self._call = call
        self._contexts = contexts
        self._stop = self.stream.start
        self._problem: Dp2Error | None = None

    def __iter__(self) -> Iterator[tuple[int, Token, int, int, int]]:
        # In stretches, since the list of a call of tiny tokens takes fifty times its size.
        for found in self.stream.stretches(self._contexts.vertex_format(self._call).size):
            for command in found.commands:
                if command[1] is _CREATE_QUERY:
                    self._create_queries(*command[3:])
                yield command
            self._stop, self._problem = found.stop, found.problem

    def rest(self) -> Iterator[tuple[int, bytes, str]]:
        """The command bytes of the call that are no token: (offset in the surface, bytes, reason).

        They are those from the first malformed token on, and those beyond dwCommandLength.
        """
        data, base = self._call.commands or b"", self._call.dwCommandOffset
        stop, end = self._stop - self.stream.start, self.stream.end - self.stream.start
        if stop < end and self._problem is not None:
            yield base + stop, data[stop:end], self._problem.what
        if end < len(data):
            yield base + end, data[end:], "behind dwCommandLength"

    def _create_queries(self, start: int, end: int) -> None:
        pairs = _PAIR.iter_unpack(self.stream.memory[start:end])
        self._contexts.create_queries(self._call.dwhContext, pairs)


def command_lines(call: Call, contexts: Contexts) -> Iterator[Shown]:
    """The lines of a call's command bytes, with offsets into the surface."""
    tokens = CallTokens(call, contexts)
    memory, base, vertex = tokens.stream.memory, tokens.stream.base, contexts.vertex_format(call)
    for offset, token, n, start, end in tokens:
        yield from _block(codec_of(token.op), memory, Place(offset, n, start, end), vertex, base)
    for offset, data, why in tokens.rest():
        yield from _raw(data, offset, why)


def response_lines(data: bytes, context: int, contexts: Contexts) -> Iterator[Shown]:
    """The lines of a response's dump, each with its byte offset in the response."""
    stop = 0
    for codec, place in response_blocks(data):
        for each in _block(codec, data, place, VertexFormat(0, ()), 0):
            yield each._replace(remark=_payload_remark(codec, data, each.line, context, contexts))
        stop = place.end
    if stop < len(data):
        yield from _raw(data[stop:], stop, "no response block")


def _block(
    codec: Codec, memory: Buffer, place: Place, vertex: VertexFormat, base: int
) -> Iterator[Shown]:
    data = bytes(memory[place.offset : place.end])
    lead = place.offset % VERTEX_ALIGNMENT
    token = _known_token if len(data) <= _SMALL else _token
    moved = place.offset - lead + base
    for line, behind, said in token(codec, data, place.n, lead, vertex):
        if line.sizes is not None:
            line = Line(line.text, line.depth, line.at + moved, line.sizes)
        yield Shown(line, behind, said)


def _token(
    codec: Codec, data: bytes, n: int, lead: int, vertex: VertexFormat
) -> tuple[Shown, ...]:
    """The lines of a token that begins ``lead`` bytes, 0 to 3, after a multiple of 4 bytes.

    Offsets in the lines count from that multiple.
    """
    memory = bytes(lead) + data
    place = Place(lead, n, lead + HEADER.size, len(memory))
    lines = [*token_lines(codec, memory, place, vertex)]
    if _assembled(codec, lines, lead, vertex.size) != data:
        return (*_raw(data, lead, codec.name),)
    return tuple(
        Shown(line, memory[line.at : line.at + sum(line.sizes or ())],
              _remark(codec, memory, line))
        for line in lines
    )  # fmt: skip


_known_token = lru_cache(_KEPT)(_token)


def _assembled(codec: Codec, lines: Iterable[Line], at: int, vertex_size: int) -> bytes | None:
    try:
        return build(codec, block_of([line.text for line in lines]), at, vertex_size)
    except TextError:
        return None


def _remark(codec: Codec, memory: Buffer, line: Line) -> str | None:
    if line.text.startswith("- ") and codec.item:
        return remark(codec.op, codec.item.unpack(memory, line.at))
    if line.depth == 0 and codec.head:
        return remark(codec.op, codec.head.unpack(memory, line.at + 4), head=True)
    return None


def _payload_remark(
    codec: Codec, data: bytes, line: Line, context: int, contexts: Contexts
) -> str | None:
    if not line.text.startswith("- ") or codec.item is None:
        return None
    query, size = codec.item.unpack(data, line.at)
    kind = contexts.query_type(context, query)
    start = line.at + codec.item.size
    said = payload(kind, data[start : start + size])
    return f"{said.name} {said.text}" if said else None


def _raw(data: bytes, at: int, said: str) -> Iterator[Shown]:
    yield Shown(Line(RAW, 0, at, ()), remark=said)
    for text in hex_lines("bytes", data):
        yield Shown(Line(text, 1))
