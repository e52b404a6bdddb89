"""The bounds-checked walk: command bytes -> token offsets -> fields as views.

``scan`` finds every token by arithmetic on headers; ``decode`` reads one token's payload through
NumPy views.  The token table is the only source of sizes: each row is compiled into a few numbers
or, where the size of the payload depends on its own fields, a small function (``_Shape``).

Sizes are Python integers, so no count can wrap; nothing is allocated from a count before the count
is checked against the bytes of the buffer.  ``write_responses`` builds the answers that a driver
writes over the command buffer.  Source: wire format, "Stream shape", "Opcodes", "Inline vertices"
and "Responses".
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.argument_check import checked, checked_on_failure
from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.dp2structs import D3DHAL_DP2RESPONSE, D3DHAL_DP2RESPONSEQUERY
from dp2emu.dp2.table import TABLE, Body, Op, Tail, Token, exactly_n
from dp2emu.dp2.tokens import GAPS
from dp2emu.errors import Malformed, UsageError
from dp2emu.layout import Buffer, dtype_of, packer_of, reader_of

HEADER_BYTES = 4
VERTEX_ALIGNMENT = 4

_END = Callable[[Buffer, int, int, int, int], int]
"""Function that returns the byte offset where a token ends, beyond ``end`` if it does not fit;
parameters: buffer, start of the payload, end of the buffer, n, vertex size in bytes."""

_SIZE = Callable[[Buffer, int], int]
"""Function that returns the number of bytes after an item; parameters: buffer, byte offset of the
item in it."""


class Command(NamedTuple):
    """A token in a buffer: byte ``offset`` of its header, ``start`` and ``end`` of its payload,
    and ``n``, the count in the header.
    """

    offset: int
    token: Token
    n: int
    start: int
    end: int


Wrong = tuple[int | None, Token | None, int, int, int]
"""A malformed token: opcode, None for a truncated header; token, None for an unassigned opcode;
byte offset; end of the token, and end of the bytes."""


class Scan(NamedTuple):
    """The tokens found before offset ``stop``; ``wrong`` is set if a malformed token is there.

    ``commands`` are plain tuples in the order of ``Command``.
    """

    commands: list[tuple[int, Token, int, int, int]]
    stop: int
    wrong: Wrong | None

    @property
    def problem(self) -> Malformed | None:
        """The error of a malformed token, with the offset of its header and its name if any."""
        # Made on demand: most inputs of a fuzzer are malformed, and few errors are read.
        return None if self.wrong is None else malformed(*self.wrong)


class _Shape(NamedTuple):
    """The size of an opcode's tokens: base + each * n bytes, header included; n is the header's
    count.

    For tokens whose size is not linear in n ``base`` is larger than any buffer, and ``body_end``
    computes the end.  ``token`` is a ``Token``, None for an unassigned opcode.
    """

    token: Any
    base: int
    each: int
    body_end: _END | None


@checked_on_failure
def scan(
    buffer: Buffer, start: int, end: int, vertex_size: int = 0, limit: int | None = None
) -> Scan:
    """Find the tokens in ``buffer[start:end]``; stops at the first that is malformed.

    ``vertex_size`` is the size in bytes of a vertex of the _IMM tokens, whose data is aligned
    from offset 0 of ``buffer``.  ``limit`` bounds the number of tokens found, and so the memory
    a huge buffer takes: with no problem and ``stop < end``, scan on from ``stop``.  Never raises
    for what the bytes contain.  Raises UsageError for a range outside of ``buffer``, and for a
    negative ``vertex_size``.
    """
    if not 0 <= start <= end <= len(buffer) or vertex_size < 0:
        what = f"bytes {start} to {end} of {len(buffer)}, vertices of {vertex_size} bytes"
        raise UsageError(what)
    commands: list[tuple[int, Token, int, int, int]] = []
    append, header, shapes = commands.append, _HEADER, _SHAPES
    final = last = end - HEADER_BYTES
    at = start
    while True:
        if limit is not None:
            # A token takes 4 bytes or more, so no more than allowed begin up to ``last``.
            last = min(at + HEADER_BYTES * (limit - len(commands) - 1), final)
        while at <= last:
            op, n = header(buffer, at)
            token, base, each, body_end = shapes[op]
            stop = at + base + each * n
            if stop > end and (
                body_end is None
                or (stop := body_end(buffer, at + HEADER_BYTES, end, n, vertex_size)) > end
            ):
                return Scan(commands, at, (op, token, at, stop, end))
            append((at, token, n, at + HEADER_BYTES, stop))
            at = stop
        if limit is not None and len(commands) >= limit:
            return Scan(commands, at, None)
        if at > final:
            return Scan(commands, at, None if at == end else (None, None, at, at, end))


@checked
def decode(
    token: Token, buffer: Buffer, n: int, start: int, end: int, vertex_size: int = 0
) -> Body:
    """The payload ``buffer[start:end]`` of a token ``scan`` found, as views.

    ``n`` is the header's count and ``vertex_size`` the call's bytes of a vertex.  Nothing is
    copied, except that several items with tails are gathered into one array.  Offsets need no
    alignment; views are valid as long as the buffer.  Raises UsageError for a payload that does
    not fit into ``buffer``.
    """
    try:
        return body_of(token, buffer, n, start, end)
    except (ValueError, IndexError, struct.error, OverflowError, TypeError) as error:
        raise UsageError(f"no payload of {token.name} at {start} to {end}: {error}") from None


def body_of(
    token: Token, buffer: Buffer, n: int, start: int, end: int, vertex_size: int = 0
) -> Body:
    """The payload of a token that ``scan`` found, as ``decode`` returns it, without checks."""
    at = start
    head = None
    if token.head_dtype is not None:
        head = np.frombuffer(buffer, token.head_dtype, 1, at)[0]
        at += token.head_dtype.itemsize
    if token.vertices is not None:
        data = memoryview(buffer)[_aligned(at) : end]
        return Body(n, head, _NO_ITEMS, [], data)
    dtype = token.item_dtype
    if dtype is None:
        return Body(n, head, _NO_ITEMS, [], _NO_BYTES)
    number = n if token.op in _COUNTED else token.number(n, head)
    if token.op in _TAIL_SIZES:
        items, tails = _items_with_tails(buffer, at, number, dtype, _TAIL_SIZES[token.op])
        return Body(n, head, items, tails, _NO_BYTES)
    items = np.frombuffer(buffer, dtype, number, at) if number else np.empty(0, dtype)
    return Body(n, head, items, [], _NO_BYTES)


def _items_with_tails(
    buffer: Buffer, start: int, number: int, dtype: np.dtype[Any], tail_size: _SIZE
) -> tuple[NDArray[Any], list[memoryview]]:
    view = memoryview(buffer)
    items: list[memoryview] = []
    tails: list[memoryview] = []
    at = start
    for _ in range(number):
        tail = at + dtype.itemsize
        items.append(view[at:tail])
        at = tail + tail_size(buffer, at)
        tails.append(view[tail:at])
    if not items:
        return np.empty(0, dtype), tails
    return np.frombuffer(items[0] if number == 1 else b"".join(items), dtype), tails


def _aligned(offset: int) -> int:
    """``offset`` rounded up to a multiple of 4 (wire format, "Inline vertices")."""
    return -(-offset // VERTEX_ALIGNMENT) * VERTEX_ALIGNMENT


def malformed(op: int | None, token: Token | None, at: int, stop: int, end: int) -> Malformed:
    """Return the exception for a ``Wrong``, the description of a malformed token."""
    name = None if token is None else token.name
    return Malformed(reason(op, token, at, stop, end), offset=at, token=name)


def reason(op: int | None, token: Token | None, at: int, stop: int, end: int) -> str:
    """Return what is wrong with the malformed token of a ``Wrong``."""
    left = end - at
    if op is None:
        return f"{left} bytes are left, a token header takes {HEADER_BYTES}"
    if token is None:
        return f"opcode {op} is no command ({GAPS[op]})"
    what = f"the payload needs {stop - at - HEADER_BYTES} bytes or more"
    return f"{what}, {left - HEADER_BYTES} are left"


# Responses.


def write_responses(blocks: Sequence[Sequence[tuple[int, bytes]]], more: bool) -> bytes:
    """The response buffer of ``blocks`` of answers, each a query id and a payload.

    A block has at most 0xFFFF answers.  With ``more`` a RESPONSECONTINUE ends the buffer.
    """
    parts: list[bytes] = []
    for block in blocks:
        answers = [_ANSWER.pack(query, len(data)) + data for query, data in block]
        total = _RESPONSE.size + sum(map(len, answers))
        parts += _RESPONSE.pack(Op.RESPONSEQUERY, 0, len(block), total), *answers
    if more:
        parts.append(_RESPONSE.pack(Op.RESPONSECONTINUE, 0, 0, _RESPONSE.size))
    return b"".join(parts)


def write_payload(kind: int, values: Sequence[Any]) -> bytes:
    """The payload of an answer to a query of D3DQUERYTYPE ``kind``, packed little-endian.

    ``values`` are in the order of the members of its structure.
    """
    return PAYLOAD_LAYOUTS[kind].pack(*values)


_RESPONSE = packer_of(dtype_of(D3DHAL_DP2RESPONSE))
"""Packer of the header of a response block, D3DHAL_DP2RESPONSE: bCommand, bReserved, wStateCount,
dwTotalSize (header included)."""
_ANSWER = packer_of(dtype_of(D3DHAL_DP2RESPONSEQUERY))
"""Packer of the header of one answer, D3DHAL_DP2RESPONSEQUERY: dwQueryID, and dwSize of the
payload that follows."""
PAYLOAD_LAYOUTS = {
    int(kind): packer_of(dtype_of(declaration)) for kind, declaration in PAYLOADS.items()
}
"""D3DQUERYTYPE -> packed form of the payload of its answers."""


# Compiling rows.


def _shape(token: Token) -> _Shape:
    head, item = _bytes(token.head_dtype), _bytes(token.item_dtype)
    if token.vertices is not None:
        return _Shape(token, _BEYOND, 0, _vertex_end(head, token.vertices))
    if token.op in _TAIL_SIZES:
        return _Shape(token, _BEYOND, 0, _tail_end(_TAIL_SIZES[token.op], head, item, token.count))
    if token.implied is not None and token.head_dtype is not None:
        end_of = _implied_end(token.head_dtype, item, token.count, token.implied)
        return _Shape(token, _BEYOND, 0, end_of)
    none, step = token.count(0), token.count(1) - token.count(0)
    if token.count(0xFFFF) != none + step * 0xFFFF:
        raise TypeError(f"{token.op.sdk}: the number of items is not linear in n")
    return _Shape(token, HEADER_BYTES + head + none * item, step * item, None)


def _bytes(dtype: np.dtype[Any] | None) -> int:
    return dtype.itemsize if dtype is not None else 0


def _vertex_end(head: int, vertices: Callable[[int], int]) -> _END:
    def end_of(buffer: Buffer, start: int, end: int, n: int, vertex_size: int) -> int:
        return _aligned(start + head) + vertices(n) * vertex_size

    return end_of


def _implied_end(
    head: np.dtype[Any], item: int, count: Callable[[int], int], implied: Callable[[Any], int]
) -> _END:
    read, size = reader_of(head), head.itemsize

    def end_of(buffer: Buffer, start: int, end: int, n: int, vertex_size: int) -> int:
        body = start + size
        if n:
            return body + count(n) * item
        return body if body > end else body + implied(read(buffer, start)) * item

    return end_of


def _tail_end(tail_size: _SIZE, head: int, each: int, count: Callable[[int], int]) -> _END:
    def end_of(buffer: Buffer, start: int, end: int, n: int, vertex_size: int) -> int:
        at = start + head
        for _ in range(count(n)):
            tail = at + each
            if tail > end:
                return tail
            at = tail + tail_size(buffer, at)
        return at

    return end_of


def _compile_tail(tail: Tail, item: np.dtype[Any]) -> _SIZE:
    """Return a faster ``tail.size``: a function of the buffer and the item's byte offset."""
    read = reader_of(item)
    parts = [(part.sizeof(), number) for _, part, number in tail.parts]
    (each, number), *others = parts
    if not others:
        return lambda buffer, at: each * number(read(buffer, at))

    def size(buffer: Buffer, at: int) -> int:
        fields = read(buffer, at)
        return sum([each * number(fields) for each, number in parts])

    return size


_BEYOND = 1 << 62
"""Base size of tokens whose size is not linear in n: larger than any buffer."""
_HEADER = Struct("<BxH").unpack_from
_NO_BYTES = memoryview(b"")
_NO_ITEMS = np.empty(0, np.uint8)
_TAIL_SIZES = {
    op: _compile_tail(token.tail, token.item_dtype)
    for op, token in TABLE.items()
    if token.tail is not None and token.item_dtype is not None
}
_COUNTED = frozenset(
    op for op, token in TABLE.items() if token.count is exactly_n and token.implied is None
)
"""Opcodes whose header count is exactly the number of items in the payload."""
_UNKNOWN = _Shape(None, _BEYOND, 0, None)
# Plain tuples unpack faster than named ones.
_SHAPES = [tuple(_shape(TABLE[op]) if op in TABLE else _UNKNOWN) for op in range(256)]
