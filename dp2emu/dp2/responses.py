"""Writing responses over the command buffer (wire format, "Responses"; "Handling Asynchronous
Queries", steps 3 to 6).

This module alone knows that dwErrorOffset means "size of the response buffer" on success and
"offset of the first unhandled command" on failure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator
from dataclasses import field
from typing import NamedTuple

from dp2emu.d3d.dp2structs import D3DHAL_DP2RESPONSE, D3DHAL_DP2RESPONSEQUERY
from dp2emu.dp2.table import Op
from dp2emu.layout import dtype_of, packer_of
from dp2emu.records import dataclass

_RESPONSE = packer_of(dtype_of(D3DHAL_DP2RESPONSE))
"""bCommand, bReserved, wCount, dwTotalSize (this header included)."""
_RECORD = packer_of(dtype_of(D3DHAL_DP2RESPONSEQUERY))
"""dwQueryID, dwSize of the payload that follows."""

HEADER = _RESPONSE.size
BLOCK_RECORDS = 0xFFFF
"""wCount is 16 bits; more records open a new block."""
_DROPPED_KEPT = 64
"""Dropped answers a queue may hold beyond as many as there are wanted ones."""


class Result(NamedTuple):
    """An answer ready to be sent: ``kind`` is the query type, one FIFO each."""

    query_id: int
    kind: int
    payload: bytes


class Outbox:
    """Answers waiting to be sent, in completion order, at most one a query.  Mutable: a queue.

    Each query type is a queue of its own, so that one may be held back while others go.  A
    dropped answer stays in its queue until it comes to the front and is skipped there, which
    keeps every operation cheap however many wait.
    """

    def __init__(self) -> None:
        self._queues: dict[int, deque[tuple[int, Result]]] = {}
        self._wanted: dict[int, int] = {}
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._wanted)

    def __contains__(self, query_id: int) -> bool:
        return query_id in self._wanted

    def add(self, result: Result) -> None:
        """Queue an answer; an older one to the same query is dropped."""
        self._sequence += 1
        self._wanted[result.query_id] = self._sequence
        queue = self._queues.setdefault(result.kind, deque())
        queue.append((self._sequence, result))
        if len(queue) > 2 * len(self._wanted) + _DROPPED_KEPT:
            self._queues[result.kind] = deque(filter(self._is_wanted, queue))

    def drop(self, query_id: int) -> None:
        """Forget the answer to a query, which may be the ``first``, if there is one."""
        self._wanted.pop(query_id, None)

    def first(self, held_back: Container[int]) -> Result | None:
        """The earliest answer whose type is not held back."""
        heads = [self._head(kind) for kind in self._queues if kind not in held_back]
        return min((head for head in heads if head), default=(0, None))[1]

    def _head(self, kind: int) -> tuple[int, Result] | None:
        queue = self._queues[kind]
        while queue and not self._is_wanted(queue[0]):
            queue.popleft()
        return queue[0] if queue else None

    def _is_wanted(self, entry: tuple[int, Result]) -> bool:
        return self._wanted.get(entry[1].query_id) == entry[0]


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


def lay_out(outbox: Outbox, capacity: int) -> bytes:
    """Take what fits into ``capacity`` bytes out of the box: the bytes of the response buffer.

    Answers go in completion order.  One too large for an empty buffer stays and holds back only
    its own type; otherwise the first that does not fit ends the buffer with RESPONSECONTINUE.
    If no record fits nothing is written at all, not even RESPONSECONTINUE: it is what makes the
    runtime call again, and would do so for ever.
    """
    layout = _Layout(capacity)
    held_back: set[int] = set()
    while (result := outbox.first(held_back)) is not None:
        if layout.fits(result.payload, more=len(outbox) > 1):
            layout.add(result)
            outbox.drop(result.query_id)
        elif layout.blocks:
            break
        else:
            held_back.add(result.kind)
    return b"".join(layout.parts(more=bool(layout.blocks) and len(outbox) > 0))
