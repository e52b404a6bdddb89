"""Writing responses over the command buffer (reference section 8; "Handling Asynchronous
Queries", steps 3 to 6).

This module alone knows that dwErrorOffset means "size of the response buffer" on success and
"offset of the first unhandled command" on failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from dp2emu.d3d.dp2structs import D3DHAL_DP2RESPONSE, D3DHAL_DP2RESPONSEQUERY
from dp2emu.dp2.table import Op
from dp2emu.layout import dtype_of, packer_of

_RESPONSE = packer_of(dtype_of(D3DHAL_DP2RESPONSE))
"""bCommand, bReserved, wCount, dwTotalSize (this header included)."""
_RECORD = packer_of(dtype_of(D3DHAL_DP2RESPONSEQUERY))
"""dwQueryID, dwSize of the payload that follows."""

HEADER = _RESPONSE.size
BLOCK_RECORDS = 0xFFFF
"""wCount is 16 bits; more records open a new block."""


class Result(NamedTuple):
    """An answer ready to be sent: ``kind`` is the query type, one FIFO each."""

    query_id: int
    kind: int
    payload: bytes


class Responses(NamedTuple):
    """``data`` goes over the command buffer; ``sent`` counts results that are in it, by index."""

    data: bytes
    sent: list[int]


@dataclass(slots=True)
class _Layout:
    """Blocks being filled.  Mutable: it is a cursor."""

    capacity: int
    blocks: list[list[bytes]] = field(default_factory=list)
    size: int = 0

    def needs(self, payload: bytes) -> int:
        """Bytes one more record takes, a new block header included where it opens one."""
        opens = not self.blocks or len(self.blocks[-1]) == BLOCK_RECORDS
        return (HEADER if opens else 0) + _RECORD.size + len(payload)

    def fits(self, payload: bytes, more: bool) -> bool:
        """cursor + 8 + size <= capacity, less 8 for RESPONSECONTINUE if anything remains."""
        return self.size + self.needs(payload) <= self.capacity - (HEADER if more else 0)

    def add(self, result: Result) -> None:
        self.size += self.needs(result.payload)
        if not self.blocks or len(self.blocks[-1]) == BLOCK_RECORDS:
            self.blocks.append([])
        self.blocks[-1].append(_RECORD.pack(result.query_id, len(result.payload)) + result.payload)

    def parts(self, more: bool) -> Iterator[bytes]:
        for block in self.blocks:
            total = HEADER + sum(map(len, block))
            yield _RESPONSE.pack(Op.RESPONSEQUERY, 0, len(block), total)
            yield from block
        if more:
            yield _RESPONSE.pack(Op.RESPONSECONTINUE, 0, 0, HEADER)


def lay_out(results: Iterable[Result], capacity: int) -> Responses:
    """Choose what fits into ``capacity`` bytes and build it.

    Results come in completion order and keep it.  A result too large for an empty buffer stays
    queued and holds back only its own type; otherwise the first that does not fit ends the
    buffer with RESPONSECONTINUE.  If no record fits nothing is written at all, not even
    RESPONSECONTINUE: it is what makes the runtime call again, and would do so for ever.
    """
    pending = list(results)
    layout = _Layout(capacity)
    sent: list[int] = []
    held_back: set[int] = set()
    for index, result in enumerate(pending):
        if result.kind in held_back:
            continue
        more = index + 1 < len(pending) or len(sent) < index
        if layout.fits(result.payload, more):
            layout.add(result)
            sent.append(index)
        elif layout.blocks:
            break
        else:
            held_back.add(result.kind)
    more = bool(sent) and len(sent) < len(pending)
    return Responses(b"".join(layout.parts(more)), sent)
