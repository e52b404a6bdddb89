"""Calls at the boundaries of what is a token, for every row of the token table.

The table says what a whole token is; what must become of the call when something of it is missing
or too much is said here, from wire format, "Stream shape" and "Results".
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.generate import generate
from dp2emu.dp2.table import TABLE, Token
from tests.dp2.rigging import COLOR, END, issue, render_state

STATE, BEFORE, WITHIN = 25, 3, 5
"""A render state, its value before the call, and the one that the tokens before set."""
EVENT_ID = 77
AHEAD = render_state(STATE, WITHIN) + issue(EVENT_ID, END)
"""What a call does before it comes to the token."""
VERTEX = 20
_UNPARSED, _INVALID = HResult.D3DERR_COMMAND_UNPARSED, HResult.DDERR_INVALIDPARAMS


class Case(NamedTuple):
    """A call, its ddrval and dwErrorOffset, and whether the tokens ahead execute."""

    name: str
    commands: bytes
    fields: dict[str, Any]
    ddrval: int
    offset: int
    begun: bool


def whole(token: Token, n: int = 1) -> bytes:
    """A valid token that lies behind ``AHEAD``."""
    return generate(token, Random(token.op), n=n, at=len(AHEAD), vertex_size=VERTEX)


def cases(op: int) -> list[Case]:
    """The row of the table for an opcode."""
    return [*_cut(TABLE[op]), *_lying(TABLE[op]), *_refused(whole(TABLE[op]))]


def _cut(token: Token) -> Iterator[Case]:
    """Only a part of the token is there."""
    data = whole(token)
    for size in sorted({1, 2, 3, 4, 5, (len(data) + 4) // 2, len(data) - 1}):
        yield _unparsed(f"{size} of {len(data)} bytes", data[:size])
    length = {"dwCommandLength": len(AHEAD) + len(data) - 1}
    yield _unparsed("all is there, and the last byte not of the call", data, length)
    odd = {"dwCommandOffset": 1, "dwCommandLength": len(AHEAD) + len(data) - 1}
    yield _unparsed("at an odd offset", data, odd, 1)


def _lying(token: Token) -> Iterator[Case]:
    """The header or a size says more than there is."""
    data = whole(token)
    for n in (2, 0x7FFF, 0xFFFF):
        if len(whole(token, 2)) > len(data):
            yield _unparsed(f"a count of {n}", data[:2] + n.to_bytes(2, "little") + data[4:])


def _refused(data: bytes) -> Iterator[Case]:
    """The call itself cannot be, and nothing of it is done."""
    size = len(AHEAD) + len(data)
    for name, fields, ddrval, offset in (
        ("an offset at the end", {"dwCommandOffset": 4096}, _UNPARSED, 4096),
        ("the largest offset", {"dwCommandOffset": 0xFFFFFFFF}, _UNPARSED, 0xFFFFFFFF),
        ("the largest length", {"dwCommandLength": 0xFFFFFFFF}, _INVALID, 0),
        ("a length past the end", {"dwCommandLength": 4097}, _UNPARSED, 0),
        ("no such buffer", {"lpDDCommands": 999}, _INVALID, 0),
        ("no buffer", {"lpDDCommands": 0}, _INVALID, 0),
        ("a buffer of pixels", {"lpDDCommands": COLOR}, _INVALID, 0),
        ("no such context", {"dwhContext": 999}, HResult.D3DHAL_CONTEXT_BAD, 0),
    ):
        length = {"dwCommandLength": size}
        yield Case(name, AHEAD + data, length | fields, ddrval, offset, begun=False)


def _unparsed(
    name: str, data: bytes, fields: dict[str, Any] | None = None, start: int = 0
) -> Case:
    at = start + len(AHEAD)
    return Case(name, AHEAD + data, fields or {}, _UNPARSED, at, begun=True)
