"""Targets that read a stream of commands and do nothing of it."""

from __future__ import annotations

import io
import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from construct import Array, Container

from dp2emu.capture.records import Called, ContextCreated, Record, SurfaceCreated
from dp2emu.dp2.call import Call
from dp2emu.dp2.parse import parse
from dp2emu.dp2.table import Body, Tail, Token
from dp2emu.dp2.walk import decode, scan
from dp2emu.fuzz import grammar
from dp2emu.fuzz.target import Broken, Target
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.text import TextCapture
from dp2emu.text.dump import TextWriter

_BUFFER = 1 << 16
_START = (
    SurfaceCreated(SurfaceDesc(1, SurfaceKind.SURFACE, 64, 64, 22)),
    SurfaceCreated(SurfaceDesc(2, SurfaceKind.MEMORY, _BUFFER)),
    ContextCreated(1, 9, color=1),
)


def walk(data: bytes) -> Hashable:
    """Find all tokens; they must lie one behind the other up to where the walk stops."""
    found = scan(data, 0, len(data), grammar.VERTEX_SIZE)
    at = 0
    for offset, _, _, start, stop in found.commands:
        if offset != at or stop < start:
            raise Broken(f"a token at {offset} instead of {at}")
        at = stop
    if at != found.stop or (found.wrong is None) != (at == len(data)):
        raise Broken(f"the walk stopped at {found.stop}, its tokens at {at}")
    if found.wrong is not None:
        token = found.wrong[1]
        return token and token.op, min(len(found.commands), 2)
    return found.commands[-1][1].op if found.commands else None


def agree(data: bytes) -> Hashable:
    """Both readings of the token table agree on every token and every field."""
    found = scan(data, 0, len(data), grammar.VERTEX_SIZE)
    parsed = parse(data, 0, len(data), grammar.VERTEX_SIZE)
    if found.stop != parsed.stop or (found.problem is None) != (parsed.problem is None):
        raise Broken(f"the walk stops at {found.stop}, construct at {parsed.stop}")
    for (at, token, n, start, stop), (offset, op, fields) in zip(
        found.commands, parsed.commands, strict=True
    ):
        if (at, token.op) != (offset, op):
            raise Broken(f"{token.name} at {at}, {op.name} at {offset}")
        body = decode(token, data, n, start, stop, grammar.VERTEX_SIZE)
        if by_view(token, body) != by_construct(fields):
            raise Broken(f"{token.name} has other fields")
    return found.commands[-1][1].op if found.commands else None, found.problem is None


def by_construct(fields: Container[Any]) -> tuple[Any, ...]:
    """Count, head, items and vertices of a token as construct has read it, all plain."""
    head, items = fields.get("head"), fields.get("items", [])
    count = fields.header.wPrimitiveCount
    return count, _plain(head), _plain(items), fields.get("vertices", b"")


def by_view(token: Token, body: Body) -> tuple[Any, ...]:
    """The same of the walk's views: an item's tail counts as its last fields."""
    items = _plain(body.items)
    if token.tail is not None:
        tails = zip(body.items, body.tails, strict=True)
        parts = [_parts(token.tail, item, tail) for item, tail in tails]
        items = tuple(item + part for item, part in zip(items, parts, strict=True))
    head = _plain(body.head.tolist()) if body.head is not None else None
    return body.count, head, items, bytes(body.vertices)


def _parts(tail: Tail, item: Any, data: memoryview) -> Any:
    stream = io.BytesIO(data)
    parts = [
        Array(number(item), element).parse_stream(stream) for _, element, number in tail.parts
    ]
    if stream.read():
        raise Broken("a tail is longer than its parts")
    return _plain(parts)


def _plain(value: Any) -> Any:
    """Numbers, tuples and bytes; a NaN is only a NaN."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return tuple(_plain(each) for name, each in value.items() if name != "_io")
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return value


def come_back(data: bytes) -> Hashable:
    """The text of a call is read as the same call."""
    *_, called = records(data)
    text = io.StringIO()
    TextWriter(text).write(called)
    text.seek(0)
    if [*TextCapture(text).records()] != [called]:
        raise Broken("the text assembles to other bytes")
    return text.getvalue().count("raw"), len(data) // 32


def records(data: bytes) -> Sequence[Record]:
    """A capture of one call with these commands."""
    call = Call(1, 2, dwCommandLength=len(data), commands=data, dwVertexSize=grammar.VERTEX_SIZE)
    return (*_START, Called(call))


TARGETS = (
    Target("walk", "find every token of command bytes", lambda: walk, grammar.stream,
           grammar.mutate, 96, ("dp2emu.dp2.walk",), records, compares=False),
    Target("construct", "construct and the walk read the same", lambda: agree, grammar.stream,
           grammar.mutate, 128, ("dp2emu.dp2.walk", "dp2emu.dp2.parse"), records),
    Target("reassembly", "dump, and assemble to the same bytes", lambda: come_back,
           grammar.stream, grammar.mutate, 64, ("dp2emu.text",), records),
)  # fmt: skip
