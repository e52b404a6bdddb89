"""Response blocks (wire format, "Responses") as codecs with the structure of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from construct import Struct

from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.dp2structs import D3DHAL_DP2RESPONSE, D3DHAL_DP2RESPONSEQUERY, Op
from dp2emu.d3d.words import BYTE, DWORD
from dp2emu.dp2.table import Tail
from dp2emu.text.codec import HEADER, Codec, Place
from dp2emu.text.shape import Shape

_HEAD = Struct(*D3DHAL_DP2RESPONSE.subcons[3:])
"""Layout of the only field of a response block after its 4-byte header: dwTotalSize."""
_PAYLOAD = Tail(
    (
        ("data", DWORD, lambda item: int(item["dwSize"]) // 4),
        ("data_rest", BYTE, lambda item: int(item["dwSize"]) % 4),
    )
)

CODECS: dict[int, Codec] = {
    Op.RESPONSECONTINUE: Codec(Op.RESPONSECONTINUE, _HEAD, None),
    Op.RESPONSEQUERY: Codec(Op.RESPONSEQUERY, _HEAD, D3DHAL_DP2RESPONSEQUERY, tail=_PAYLOAD),
}
"""Codecs of the blocks that a driver writes over the command buffer, by opcode."""


class Block(NamedTuple):
    """A response block: its codec, and the byte offsets of its parts in the response."""

    codec: Codec
    place: Place


def response_blocks(data: bytes) -> Iterator[Block]:
    """The blocks of a response, up to the first malformed one."""
    at = 0
    while at + HEADER.size + 4 <= len(data):
        op, _, n = HEADER.unpack_from(data, at)
        total = int.from_bytes(data[at + HEADER.size : at + HEADER.size + 4], "little")
        place = Place(at, n, at + HEADER.size, at + total)
        if op not in CODECS or not HEADER.size + 4 <= total <= len(data) - at:
            return
        if not _fits(CODECS[op], data, place):
            return
        yield Block(CODECS[op], place)
        at += total


def _fits(codec: Codec, data: bytes, place: Place) -> bool:
    """Whether the responses in a block have exactly the total size in its dwTotalSize."""
    at = place.start + 4
    if codec.item is None:
        return at == place.end
    for _ in range(place.n):
        if at + codec.item.size > place.end:
            return False
        at = max(run.end for run in codec.runs(data, at))
    return at == place.end


class Payload(NamedTuple):
    """A query's payload in readable form: the name of its type, its text, its JSON text."""

    name: str
    text: str
    json: str


def payload(kind: int | None, data: bytes) -> Payload | None:
    """The payload of a query of D3DQUERYTYPE ``kind``; None for an unknown type or wrong size."""
    row = _ROWS.get(kind)
    if row is None or row[1].size != len(data):
        return None
    name, shape = row
    values = shape.unpack(data, 0)
    return Payload(name, shape.text(values), shape.json(values))


_ROWS: dict[int | None, tuple[str, Shape]] = {
    int(kind): (kind.sdk, Shape(declaration)) for kind, declaration in PAYLOADS.items()
}
