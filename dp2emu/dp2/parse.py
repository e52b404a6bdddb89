"""The reference decoder: command buffers and response buffers, read and built by construct alone.

Each row of the token table becomes two constructs.  One finds the end of a token, and checks that
its bytes exist before anything is allocated from a count in them; the other reads its fields.
The GPU is fed from the containers of the second.  The compiled walk (``dp2.walk``) is derived
from the same rows in another way; both agree on every byte string (``dp2.lockstep``).

Sources: wire format, "Stream shape", "Opcodes", "Inline vertices" and "Responses".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import SEEK_CUR
from typing import Any, NamedTuple

import numpy as np
from construct import (
    Array,
    Bytes,
    Check,
    Computed,
    Construct,
    Container,
    Error,
    IfThenElse,
    Renamed,
    Seek,
    StreamError,
    Struct,
    Subconstruct,
    Switch,
    Tell,
    evaluate,
    this,
)
from numpy.typing import NDArray

from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.dp2structs import (
    D3DHAL_DP2COMMAND,
    D3DHAL_DP2RESPONSE,
    D3DHAL_DP2RESPONSEQUERY,
    Op,
)
from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.table import TABLE, Body, Token, exactly_n
from dp2emu.dp2.walk import Scan, Wrong
from dp2emu.errors import Malformed, UsageError
from dp2emu.layout import Buffer, dtype_of

__all__ = ["Parsed", "ParsedToken", "parse"]


_HEADER_BYTES = int(D3DHAL_DP2COMMAND.sizeof())


class ParsedToken(NamedTuple):
    """A token: byte ``offset`` of its header, opcode, and its fields.

    The fields are a construct Container: ``header``, and of the row's members ``head``, ``items``
    (with the parts of their tails among their own fields), ``pad`` and ``vertices``.
    """

    offset: int
    op: Op
    fields: Container[Any]


class Parsed(NamedTuple):
    """Tokens that ``parse`` read, the offset ``stop`` of their end, and the error there or None.

    The error has the offset and, for a known opcode, the name of the malformed token.
    """

    commands: list[ParsedToken]
    stop: int
    problem: Malformed | None


def parse(buffer: Buffer, start: int = 0, end: int | None = None, vertex_size: int = 0) -> Parsed:
    """The tokens in ``buffer[start:end]``, command bytes of D3dDrawPrimitives2, read by construct.

    ``vertex_size`` is the size in bytes of a vertex of the _IMM tokens, whose data is aligned
    from offset 0 of ``buffer``; ``end`` None means its end.  Malformed bytes raise nothing: the
    tokens before them are returned, with the error.  Containers take some 70 times the memory of
    their bytes.  Source: wire format, "Stream shape" and "Opcodes".  Raises UsageError for other
    than bytes, offsets outside of them, and a negative size.

    >>> parse(bytes.fromhex("5B000100 05000000 01000000")).commands[0].fields["items"][0].dwQueryID
    5
    """
    data = _bytes_of(buffer)
    stop = len(data) if end is None else end
    sizes = start, stop, vertex_size
    if not all(isinstance(each, int) for each in sizes) or vertex_size < 0:
        raise UsageError(f"expected offsets and a vertex size in bytes, got {sizes}")
    if not 0 <= start <= stop <= len(data):
        raise UsageError(f"bytes {start} to {stop} of a buffer of {len(data)} bytes")
    scanned = scan(data, start, stop, vertex_size)
    return Parsed([*parse_tokens(data, scanned, vertex_size)], scanned.stop, scanned.problem)


def _bytes_of(buffer: Buffer) -> memoryview:
    try:
        return memoryview(buffer).cast("B")
    except (TypeError, ValueError) as error:
        raise UsageError(f"expected bytes: {error}") from None


def parse_tokens(buffer: Buffer, scanned: Scan, vertex_size: int = 0) -> Iterator[ParsedToken]:
    """Yield the tokens of ``buffer`` that ``scan`` found in it, with their fields."""
    for offset, token, _, _, end in scanned.commands:
        yield ParsedToken(
            offset, token.op, token_fields(token.op, buffer, offset, end, vertex_size)
        )


# The driver's view of a call


def scan(
    buffer: Buffer, start: int, end: int, vertex_size: int = 0, limit: int | None = None
) -> Scan:
    """Find the tokens in ``buffer[start:end]`` as ``walk.scan`` does, by construct."""
    commands: list[tuple[int, Token, int, int, int]] = []
    stream, construct = _Memory(buffer, start, end), extent_construct()
    at = start
    while at < end and (limit is None or len(commands) < limit):
        try:
            found = construct.parse_stream(stream, vertex_size=vertex_size)
        except ShortError as error:
            return Scan(commands, at, _wrong(buffer, at, error.stop, end))
        token, n = TABLE[found.header.bCommand], found.header.wPrimitiveCount
        commands.append((at, token, n, found.start, found.stop))
        at = found.stop
    return Scan(commands, at, None)


def _wrong(buffer: Buffer, at: int, stop: int, end: int) -> Wrong:
    """The description of the malformed token at ``at``, which would end at ``stop``."""
    if end - at < _HEADER_BYTES:
        return None, None, at, at, end
    return buffer[at], TABLE.get(buffer[at]), at, stop, end


def body_of(
    token: Token, buffer: Buffer, n: int, start: int, end: int, vertex_size: int = 0
) -> Body:
    """The payload of a token that ``scan`` found, made from the container that construct reads.

    Parameters are as of ``walk.decode``.
    """
    offset = start - _HEADER_BYTES
    fields = token_fields(token.op, buffer, offset, end, vertex_size)
    head, items, tails = arrays_of(token.op)
    return Body(
        fields.header.wPrimitiveCount,
        None if head is None else head([fields.head])[0],
        _NO_ITEMS if items is None else items(fields["items"]),
        [memoryview(tails(item)) for item in fields["items"]] if tails is not None else [],
        memoryview(fields.vertices if token.vertices is not None else b""),
    )


def token_fields(
    op: Op, buffer: Buffer, offset: int, end: int, vertex_size: int = 0
) -> Container[Any]:
    """The fields of a token of ``op``, ``buffer[offset:end]``, that ``scan`` found."""
    found: Container[Any] = token_construct(op).parse_stream(
        _Memory(buffer, offset, end), vertex_size=vertex_size
    )
    return found


class _Memory:
    """A stream over ``buffer[at:end]`` without a copy; positions are offsets into ``buffer``.

    Unlike of io.BytesIO, its end is known to constructs, as ``this._io.end``.
    """

    def __init__(self, buffer: Buffer, at: int, end: int) -> None:
        self._view = memoryview(buffer)
        self._at = at
        self.end = end

    def read(self, size: int) -> bytes:
        """The next ``size`` bytes, or fewer at the end."""
        start, self._at = self._at, min(self._at + size, self.end)
        return self._view[start : self._at].tobytes()

    def tell(self) -> int:
        """The position of the next byte."""
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to ``offset``, from 0 or from the current position; beyond the end is possible."""
        self._at = offset + (self._at if whence == SEEK_CUR else 0)
        return self._at


# Constructs of the fields


@cache
def token_construct(op: Op) -> Any:
    """The construct that parses a whole token of ``op``, header included.

    Parsing takes the argument ``vertex_size``, in bytes; inline vertices are aligned to 4 bytes
    from the start of the stream.
    """
    token = TABLE[op]
    parts: list[Any] = ["header" / D3DHAL_DP2COMMAND]
    if token.head is not None:
        parts.append("head" / token.head)
    if token.items is not None:
        parts.append("items" / Array(_number(token), _item(token)))
    if token.vertices is not None:
        vertices = token.vertices
        parts.append("pad" / Bytes(lambda this: -this._io.tell() % 4))
        parts.append(
            "vertices"
            / Bytes(lambda this: vertices(this.header.wPrimitiveCount) * this._params.vertex_size)
        )
    return Struct(*parts)


def _number(token: Token) -> Any:
    """The number of items of a token, as a function of its construct's context."""
    if token.implied is not None:
        return lambda this: token.number(this.header.wPrimitiveCount, this.head)
    count = _count(token)
    return lambda this: count(this.header.wPrimitiveCount)


def _count(token: Token) -> Callable[[int], int]:
    """The rule of a token's count; for most of them the number itself, without a Python call."""
    return int if token.count is exactly_n else token.count


def _item(token: Token) -> Any:
    """The construct that parses an item of a token: its fields, then the parts of its tail."""
    if token.tail is None:
        return token.items
    return Struct(
        *token.items.subcons,
        *(name / Array(number, element) for name, element, number in token.tail.parts),
    )


# Constructs of the extent


class ShortError(StreamError):  # type: ignore[misc]
    """Bytes up to offset ``stop`` are needed, and end before it."""

    def __init__(self, stop: int, path: str) -> None:
        super().__init__(f"bytes up to {stop} are needed", path=path)
        self.stop = stop


class Room(Construct):  # type: ignore[misc]
    """Construct that reads nothing and checks that ``length`` bytes are left in the stream.

    ``length`` is a number or a function of the context.  Parsing raises ShortError.
    """

    def __init__(self, length: Any) -> None:
        super().__init__()
        self.length = length

    def _parse(self, stream: Any, context: Any, path: str) -> None:
        self.checked(stream, context, path)

    def checked(self, stream: Any, context: Any, path: str) -> int:
        """Return the position behind these bytes.  Raises ShortError."""
        stop: int = stream.tell() + evaluate(self.length, context)
        if stop > stream.end:
            raise ShortError(stop, path)
        return stop


class Span(Room):
    """Construct that moves over ``length`` bytes, which must exist."""

    def _parse(self, stream: Any, context: Any, path: str) -> None:
        stream.seek(self.checked(stream, context, path))


class Roomy(Subconstruct):  # type: ignore[misc]
    """Construct that parses ``subcon``, of fixed size, if its bytes exist."""

    def __init__(self, subcon: Any) -> None:
        super().__init__(subcon)
        self._room = Room(subcon.sizeof())

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        self._room.checked(stream, context, path)
        return self.subcon._parse(stream, context, path)


def _extent(token: Token) -> Any:
    """The construct that moves over a token's payload; it reads only what the size depends on."""
    head = 0 if token.head is None else token.head.sizeof()
    item = 0 if token.items is None else token.items.sizeof()
    count = _count(token)
    if token.vertices is not None:
        return _vertex_span(head, token.vertices)
    if token.tail is not None:
        return Struct(
            Seek(head, SEEK_CUR),
            Array(lambda this: count(this._.header.wPrimitiveCount), _skipped(token)),
            Room(0),
        )  # fmt: skip
    counted = Span(lambda this: head + count(this.header.wPrimitiveCount) * item)
    if token.implied is None:
        return counted
    implied = token.implied
    bare = Struct("head" / Roomy(token.head), Span(lambda this: implied(this.head) * item))
    return IfThenElse(this.header.wPrimitiveCount, counted, bare)


def _vertex_span(head: int, vertices: Callable[[int], int]) -> Any:
    def length(this: Any) -> int:
        number = vertices(this.header.wPrimitiveCount)
        return int(head + -(this._io.tell() + head) % 4 + number * this._params.vertex_size)

    return Span(length)


def _skipped(token: Token) -> Any:
    """The construct that parses an item's own fields and moves over its tail, unchecked: the next
    ``Room`` checks it together with the bytes after it.
    """
    tail = token.tail
    assert tail is not None
    return Struct(
        Room(token.items.sizeof()), *token.items.subcons,
        Seek(lambda this: tail.size(this), SEEK_CUR),
    )  # fmt: skip


@cache
def extent_construct() -> Any:
    """The construct of a token of any opcode, which parses its header and finds its end.

    The fields ``start`` and ``stop`` are the byte offsets of the payload.
    """
    payloads = {op: _extent(token) for op, token in TABLE.items()}
    # No buffer has room for a token of an unassigned opcode.
    payload = Switch(this.header.bCommand, payloads, Room(1 << 62))
    return Struct("header" / Roomy(D3DHAL_DP2COMMAND), "start" / Tell, payload, "stop" / Tell)


# Containers as arrays

_Rows = Callable[[Sequence[Any]], NDArray[Any]]
"""Function that returns the array of a list of containers, or of numbers."""


@cache
def arrays_of(op: Op) -> tuple[_Rows | None, _Rows | None, Callable[[Any], bytes] | None]:
    """Functions that make a body of an opcode's containers: the head (from a list of one) and the
    items as arrays, and the tail of an item as bytes; None for what its tokens do not have.
    """
    token = TABLE[op]
    tail = None
    if token.tail is not None:
        parts = [(name, _rows(dtype_of(element))) for name, element, _ in token.tail.parts]

        def tail(item: Any) -> bytes:
            return b"".join(rows(item[name]).tobytes() for name, rows in parts)

    head, items = (
        None if dtype is None else _rows(dtype) for dtype in (token.head_dtype, token.item_dtype)
    )
    return head, items, tail


def _rows(dtype: np.dtype[Any] | None) -> _Rows:
    """The function that makes an array of ``dtype`` from containers, field by field."""
    if dtype is None:
        raise TypeError("containers of variable size have no array")
    if dtype.subdtype is not None:
        element, (length,) = dtype.subdtype
        flat = _rows(element)
        return lambda rows: flat([each for row in rows for each in row]).reshape(-1, length)
    if dtype.names is None:
        return lambda rows: np.array(rows, dtype)
    columns = [(name, _rows(dtype[name])) for name in dtype.names]

    def table(rows: Sequence[Any]) -> NDArray[Any]:
        array = np.empty(len(rows), dtype)
        for name, column in columns:
            array[name] = column([row[name] for row in rows])
        return array

    return table


_NO_ITEMS = np.empty(0, np.uint8)


# Responses

_ANSWER = Struct("offset" / Tell, *D3DHAL_DP2RESPONSEQUERY.subcons, "data" / Bytes(this.dwSize))
RESPONSE_BLOCK = Struct(
    "offset" / Tell,
    "header" / D3DHAL_DP2RESPONSE,
    "answers"
    / Switch(
        this.header.bCommand,
        {
            int(Op.RESPONSEQUERY): Array(this.header.wStateCount, _ANSWER),
            int(Op.RESPONSECONTINUE): Computed(()),
        },
        Error,
    ),
    "stop" / Tell,
    Check(this.stop - this.offset == this.header.dwTotalSize),
)
"""The construct of a response block: its header, and for RESPONSEQUERY the answers, each with the
payload as ``data``.  A block of another size than its dwTotalSize is an error."""


def parse_responses(buffer: Buffer) -> list[Container[Any]]:
    """The blocks of a response buffer.  Raises ConstructError for a malformed one."""
    stream = _Memory(buffer, 0, len(buffer))
    blocks: list[Container[Any]] = []
    while stream.tell() < stream.end:
        blocks.append(RESPONSE_BLOCK.parse_stream(stream))
    return blocks


def write_responses(blocks: Sequence[Sequence[tuple[int, bytes]]], more: bool) -> bytes:
    """The response buffer of ``blocks``, as ``walk.write_responses``, built by construct."""
    built = [_block(Op.RESPONSEQUERY, block) for block in blocks]
    if more:
        built.append(_block(Op.RESPONSECONTINUE, ()))
    return b"".join(built)


def _block(op: Op, answers: Sequence[tuple[int, bytes]]) -> bytes:
    size = D3DHAL_DP2RESPONSE.sizeof()
    size += sum(D3DHAL_DP2RESPONSEQUERY.sizeof() + len(data) for _, data in answers)
    header = {"bCommand": op, "bReserved": 0, "wStateCount": len(answers), "dwTotalSize": size}
    rows = [{"dwQueryID": query, "dwSize": len(data), "data": data} for query, data in answers]
    built: bytes = RESPONSE_BLOCK.build({"header": header, "answers": rows})
    return built


def write_payload(kind: int, values: Sequence[int | float]) -> bytes:
    """The payload of an answer to a query of D3DQUERYTYPE ``kind``, built by construct.

    ``values`` are in the order of the members of its structure.
    """
    declaration = PAYLOADS[QueryType(kind)]
    built: bytes = declaration.build(_filled(declaration, iter(values)))
    return built


def _filled(declaration: Any, values: Iterator[int | float]) -> Any:
    """The object that ``declaration`` builds, with its scalars taken from ``values`` in order."""
    if isinstance(declaration, Renamed):
        return _filled(declaration.subcon, values)
    if isinstance(declaration, Struct):
        return {part.name: _filled(part, values) for part in declaration.subcons}
    if isinstance(declaration, Array):
        return [_filled(declaration.subcon, values) for _ in range(declaration.count)]
    return next(values)
