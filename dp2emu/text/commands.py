"""Lines of text of the command bytes of a call and the response bytes of an answer.

Every block is assembled again before it is written.  One that would change, like bytes that are
no token, is written as a ``raw`` block, so that no byte is lost.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Call
from dp2emu.dp2.stream import CommandStream
from dp2emu.dp2.table import TABLE, Token
from dp2emu.dp2.walk import VERTEX_ALIGNMENT, Scan, reason, scan
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

_REMARK_COLUMN = 40
_INDENTS = ("", "  ", "    ", "      ")
_NO_VERTEX = VertexFormat(0, ())
_CREATE_QUERY = TABLE[Op.CREATEQUERY]
_PAIR = struct.Struct("<II")


class Shown(NamedTuple):
    """A line of a capture's text dump, the bytes that it shows, and an optional comment."""

    line: Line
    data: bytes = b""
    remark: str | None = None

    def text(self, depth: int) -> str:
        """The line with its comment, indented by ``depth`` and its own depth."""
        line, _, said = self
        text = _INDENTS[depth + line.depth] + line.text
        return f"{text:<{_REMARK_COLUMN}}  # {said}\n" if said else text + "\n"


class Paragraph:
    """The lines of a token, or of bytes that are none."""

    __slots__ = ("_text", "lines")

    def __init__(self, lines: Sequence[Shown]) -> None:
        self.lines = lines
        self._text = ""

    @property
    def text(self) -> str:
        """The lines as text, below the statement of a call and without bytes beside them."""
        self._text = text = self._text or "".join([line.text(1) for line in self.lines])
        return text

    def placed(self, address: str) -> str:
        """The text with an address as a comment on the first line, before one that is there."""
        first, *others = self.lines
        said = f"{address}, {first.remark}" if first.remark else address
        return "".join(line.text(1) for line in (first._replace(remark=said), *others))

    def moved(self, offset: int) -> Iterator[Shown]:
        """The lines with ``offset`` added to the byte offsets of those that show bytes."""
        for line, behind, said in self.lines:
            if line.sizes is not None:
                line = Line(line.text, line.depth, line.at + offset, line.sizes)
            yield Shown(line, behind, said)


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
        self._last: Scan | None = None

    def __iter__(self) -> Iterator[tuple[int, Token, int, int, int]]:
        # In stretches, since the list of a call of tiny tokens takes fifty times its size.
        for found in self.stream.stretches(self._contexts.vertex_format(self._call).size):
            for command in found.commands:
                if command[1] is _CREATE_QUERY:
                    self._create_queries(*command[3:])
                yield command
            self._last = found

    def rest(self) -> Iterator[tuple[int, bytes, str]]:
        """The command bytes of the call that are no token: (offset in the surface, bytes, reason).

        They are those from the first malformed token on, and those beyond dwCommandLength.
        """
        data, base = self._call.commands or b"", self._call.dwCommandOffset
        last, end = self._last, self.stream.end - self.stream.start
        if last is not None and last.wrong is not None:
            stop = last.stop - self.stream.start
            if stop < end:
                yield base + stop, data[stop:end], reason(*last.wrong)
        if end < len(data):
            yield base + end, data[end:], "behind dwCommandLength"

    def _create_queries(self, start: int, end: int) -> None:
        pairs = _PAIR.iter_unpack(self.stream.memory[start:end])
        self._contexts.create_queries(self._call.dwhContext, pairs)


def command_lines(call: Call, contexts: Contexts) -> Iterator[Shown]:
    """The lines of a call's command bytes, with offsets into the surface."""
    for paragraph, moved, _ in _command_paragraphs(call, contexts):
        yield from paragraph.moved(moved)


def command_text(call: Call, contexts: Contexts, number: int | None = None) -> Iterator[str]:
    """The text of a call's command bytes, without the bytes beside it; with the ``number`` of the
    call, each token has its address as a comment.
    """
    for paragraph, _, token in _command_paragraphs(call, contexts):
        if number is None or token is None:
            yield paragraph.text
        else:
            yield paragraph.placed(f"{number}:{token}")


def token_texts(call: Call, contexts: Contexts) -> Iterator[list[str]]:
    """The lines of each token of a call, without indents and comments."""
    for paragraph, _, token in _command_paragraphs(call, contexts):
        if token is not None:
            yield [shown.line.text for shown in paragraph.lines]


def _command_paragraphs(
    call: Call, contexts: Contexts
) -> Iterator[tuple[Paragraph, int, int | None]]:
    """Each token of a call, and what is none, with what to add to the offsets of its lines, and
    the number of the token.
    """
    tokens = CallTokens(call, contexts)
    memory, base, vertex = tokens.stream.memory, tokens.stream.base, contexts.vertex_format(call)
    for number, (offset, token, n, _, end) in enumerate(tokens):
        lead = offset % VERTEX_ALIGNMENT
        written = _known_token if end - offset <= _SMALL else _token
        paragraph = written(codec_of(token.op), memory[offset:end], n, lead, vertex)
        yield paragraph, offset - lead + base, number
    for offset, data, why in tokens.rest():
        yield Paragraph([*_raw(data, offset, why)]), 0, None


def response_lines(data: bytes, context: int, contexts: Contexts) -> Iterator[Shown]:
    """The lines of a response's dump, each with its byte offset in the response."""
    stop = 0
    for codec, place in response_blocks(data):
        lead = place.offset % VERTEX_ALIGNMENT
        own = data[place.offset : place.end]
        written = _known_token if len(own) <= _SMALL else _token
        paragraph = written(codec, own, place.n, lead, _NO_VERTEX)
        for each in paragraph.moved(place.offset - lead):
            yield each._replace(remark=_payload_remark(codec, data, each.line, context, contexts))
        stop = place.end
    if stop < len(data):
        yield from _raw(data[stop:], stop, "no response block")


def _token(codec: Codec, data: bytes, n: int, lead: int, vertex: VertexFormat) -> Paragraph:
    """The lines of a token that begins ``lead`` bytes, 0 to 3, after a multiple of 4 bytes.

    Offsets in the lines count from that multiple.
    """
    memory = bytes(lead) + data if lead else data
    place = Place(lead, n, lead + HEADER.size, len(memory))
    lines = [*token_lines(codec, memory, place, vertex)]
    if _assembled(codec, lines, lead, vertex.size) != data:
        return Paragraph([*_raw(data, lead, codec.name)])
    return Paragraph([
        Shown(line, memory[line.at : line.at + sum(line.sizes or ())],
              _remark(codec, memory, line))
        for line in lines
    ])  # fmt: skip


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
