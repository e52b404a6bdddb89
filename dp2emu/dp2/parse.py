"""A command-stream parser in construct alone: slow and simple, the oracle for ``walk``.

Each row of the token table becomes one construct of the whole token.  It shares no code with the
compiled scan or the NumPy views; both must agree on every byte string.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

from construct import Array, Bytes, ConstructError, Container, Struct

from dp2emu.d3d.dp2structs import D3DHAL_DP2COMMAND, Op
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.tokens import GAPS
from dp2emu.layout import Buffer


class Parsed(NamedTuple):
    """Tokens that ``parse`` read: (offset, opcode, fields) of each, and the offset of the end with
    the error there, if any.

    The fields are a construct Container: ``header``, and of the row's members ``head``, ``items``
    (with the parts of their tails among their own fields), ``pad`` and ``vertices``.
    """

    commands: list[tuple[int, Op, Container[Any]]]
    stop: int
    problem: str | None


def parse(buffer: Buffer, start: int, end: int, vertex_size: int = 0) -> Parsed:
    """Read ``buffer[start:end]`` as tokens; ``vertex_size`` is in bytes, of inline vertices."""
    stream = BytesIO(bytes(memoryview(buffer)[:end]))
    stream.seek(start)
    commands: list[tuple[int, Op, Container[Any]]] = []
    while (at := stream.tell()) < end:
        if buffer[at] in GAPS and end - at >= D3DHAL_DP2COMMAND.sizeof():
            return Parsed(commands, at, GAPS[buffer[at]])
        try:
            op = Op(D3DHAL_DP2COMMAND.parse_stream(stream).bCommand)
            stream.seek(at)
            fields = token_construct(op).parse_stream(stream, vertex_size=vertex_size)
        except ConstructError as error:
            return Parsed(commands, at, str(error))
        commands.append((at, op, fields))
    return Parsed(commands, end, None)


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
        number = _number(op)
        parts.append("items" / Array(number, _item(op)))
    if token.vertices is not None:
        vertices = token.vertices
        parts.append("pad" / Bytes(lambda this: -this._io.tell() % 4))
        parts.append(
            "vertices"
            / Bytes(lambda this: vertices(this.header.wPrimitiveCount) * this._params.vertex_size)
        )
    return Struct(*parts)


def _number(op: Op) -> Any:
    token = TABLE[op]
    return lambda this: token.number(this.header.wPrimitiveCount, this.get("head"))


def _item(op: Op) -> Any:
    """The construct that parses an item of a token: its fields, then the parts of its tail."""
    token = TABLE[op]
    if token.tail is None:
        return token.items
    return Struct(
        *token.items.subcons,
        *(name / Array(number, element) for name, element, number in token.tail.parts),
    )
