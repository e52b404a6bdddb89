"""What is out of the ordinary in the tokens of a conformance case: fields, counts, vertices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from dp2emu.conform.case import ANY_RESULT, Case
from dp2emu.conform.target import HEIGHT, WIDTH
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.sdk import sdk_name
from dp2emu.dp2.call import Call
from dp2emu.dp2.table import TABLE, Body, Token
from dp2emu.dp2.walk import Command, scan

Feature = tuple[str, str]
"""What a case uses, such as a state, and its value, "" without one."""

ABSENT = "vertices or indices that do not exist"
LARGER = "vertices larger than in the draw before"
SMALLER = "vertices smaller than in the draw before"
VERTEX_SIZE = "vertices in the memory of the call, of dwVertexSize bytes"
BUFFERED = "vertices of the call in a vertex buffer"
OFFSET = "dwVertexOffset other than 0"
FACTOR = "a blend factor"
COLOURS = "colours of vertices, D3DFVF_DIFFUSE"
CUT = "a token that is cut off by the end of the commands"
NO_TOKEN = "a number that is no token"
SHORT = "a header that is cut off"
PART = "a CLEAR of a part of the target"
_FIELD = " other than 0 in"
_IN_BYTES = {"StartIndexOffset": "StartIndex", "BaseVertexOffset": "BaseVertexIndex"}
"""By field that counts bytes, the field of another token that counts records to the same place."""
_STATES = Op.RENDERSTATE, Op.TEXTURESTAGESTATE
_SIDES = {"left": 0, "top": 0, "right": WIDTH, "bottom": HEIGHT}
"""By field, the sides of a rectangle that is the whole target."""


def operands(command: Command, body: Body) -> Iterator[Feature]:
    """The features of a token: its fields that are not 0, a count above 1, a part of the target.

    Fields with names for their values have these; states are left out.
    """
    row = command.token
    if command.n > 1:
        yield "a count above 1 in", row.op.sdk
    if row.op in _STATES:
        return
    for field in _fields(row.op):
        for record in (body.head, body.items):
            if record is not None and field in (record.dtype.names or ()):
                yield from _field(row, field, record[field].reshape(-1).tolist())
    if row.op is Op.CLEAR and _part(body):
        yield PART, ""


@cache
def _fields(op: Op) -> tuple[str, ...]:
    """The fields of a token's head and items that are plain numbers."""
    row = TABLE[op]
    return tuple(
        name
        for dtype in (row.head_dtype, row.item_dtype)
        if dtype is not None
        for name in dtype.names or ()
        if not dtype[name].names and not dtype[name].subdtype and name != "primType"
    )


def _field(row: Token, field: str, values: list[float]) -> Iterator[Feature]:
    for value in sorted(set(values)):
        name = sdk_name(row.enums[field], int(value)) if field in row.enums else None
        if name is not None:
            yield f"{row.op.sdk} with {field}", name
        elif value:
            yield f"{_IN_BYTES.get(field, field)}{_FIELD}", row.op.sdk
    if any(value < 0 for value in values):
        yield f"{field} below 0 in", row.op.sdk


def _part(body: Body) -> bool:
    """Whether a CLEAR has a rectangle, and none is the whole target."""
    boxes = zip(*(body.items[name].tolist() for name in _SIDES), strict=True)
    return bool(len(body.items)) and tuple(_SIDES.values()) not in boxes


def primitives(command: Command, body: Body) -> Iterator[Feature]:
    """The types of the primitives that a token draws, and whether it draws several."""
    op, numbers, counts = command.token.op, [], [command.n]
    names = body.items.dtype.names or ()
    if "primType" in names:
        numbers = body.items["primType"].tolist()
    if "PrimitiveCount" in names:
        counts = body.items["PrimitiveCount"].tolist()
    for kind in PrimitiveType:
        if kind in numbers or kind.name in op.name:
            yield "primitive type", kind.sdk
            if max(counts, default=0) > 1:
                yield "several primitives of type", kind.sdk


def malformed(call: Call) -> Iterator[Feature]:
    """What is wrong with the tokens of a call: one is cut, its header is, or it has no meaning."""
    data = call.commands or b""
    wrong = scan(data, 0, len(data), call.dwVertexSize).wrong
    if wrong is not None:
        opcode, row, *_ = wrong
        yield (SHORT if opcode is None else NO_TOKEN if row is None else CUT), ""
        if row is not None and row.vertices is not None:
            yield VERTEX_SIZE, ""


def absent(case: Case, number: int) -> bool:
    """Whether every result of call ``number``, from 0, is right: what it draws may not exist."""
    return case.expected[number].ddrval == ANY_RESULT


def queries(op: Op, body: Body) -> Iterator[Feature]:
    """The flags with which a token issues queries."""
    if op is Op.ISSUEQUERY:
        for flags in body.items["dwFlags"].tolist():
            yield f"{op.sdk} with", "|".join(flag.name or "" for flag in Issue if flags & flag)


_RANKS = re.compile(
    "(?P<own>a (?!count)|vertices |colours )|(?P<field>.*(?:other than 0| below 0| with ))|"
    "(?P<count>several |a count )|(?P<state>D3DRS_|D3DTSS_|texture|primitive)|(?P<token>D3DDP2OP_)"
)
_ORDER = "own", "token", "state", "count", "field"


def rank(what: str) -> int:
    """How narrow a feature is that cases have in common: 0 for the narrowest."""
    found = _RANKS.match(what)
    return _ORDER.index(found.lastgroup) if found and found.lastgroup else len(_ORDER)


def is_field(what: str) -> bool:
    """Whether a feature is a field that is not 0; its values are tokens."""
    return what.endswith(_FIELD)
