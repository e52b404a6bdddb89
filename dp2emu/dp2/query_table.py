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
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS, Window, refused_issue, refused_type
from dp2emu.dp2.table import Op
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import BeginQuery, EndQuery
from dp2emu.gpu.command.queries import QuerySlot, Report
from dp2emu.gpu.device.gpu import Gpu
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


# The queries of one context: ids, states, and the answers not yet sent.
#
# Each issue case has one answer (wire format, "Queries"): BEGIN restarts; END without BEGIN, or
# again, is an interval empty from that point; whatever supersedes an unsent answer drops it.

_BEGIN, _END = int(Issue.BEGIN), int(Issue.END)


class QueryTable:
    """Queries by the runtime's ids.  Mutable: tokens act on it.

    Methods raise Fault (DDERR_INVALIDPARAMS) for an unknown id or type.
    """

    def __init__(self, gpu: Gpu, options: Options, interface: int) -> None:
        self._gpu = gpu
        self._options = options
        self._interface = interface
        self._live: dict[int, QuerySlot] = {}
        self._building: set[int] = set()
        self._due: set[int] = set()
        self._outbox = Outbox()

    def destroy(self) -> None:
        """The context dies, and its queries and unsent answers with it."""
        for query_id in list(self._live):
            self.delete(query_id)

    def create(self, query_id: int, kind: int) -> None:
        """CREATEQUERY; a live id is replaced, and its results are no longer wanted."""
        why = refused_type(kind, self._interface, self._options)
        if why is not None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, why)
        if query_id in self._live:
            self.delete(query_id)
        most = self._gpu.heap.limits.queries
        if len(self._live) >= most:
            what = f"query {query_id} is too many, limit queries {most}"
            raise Fault(HResult.DDERR_OUTOFMEMORY, what)
        slot = QuerySlot(kind, self, query_id, KINDS[kind].observes)
        self._live[query_id] = slot
        if KINDS[kind].window is Window.SINCE:
            self._gpu.submit(BeginQuery(slot, 1))

    def delete(self, query_id: int) -> None:
        """DELETEQUERY; results under way are discarded."""
        slot = self._query(query_id)
        del self._live[query_id]
        self._building.discard(query_id)
        self._supersede(slot)
        self._gpu.forget(slot)

    def issue(self, query_id: int, flags: int) -> None:
        """ISSUEQUERY: both flags are BEGIN then END, none does nothing (wire format,
        "Queries")."""
        slot = self._query(query_id)
        why = refused_issue(slot.kind, flags, self._options)
        if why is not None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"query {query_id}: {why}")
        if flags & _BEGIN:
            self._begin(slot)
        if flags & _END:
            self._end(slot)

    def _begin(self, slot: QuerySlot) -> None:
        """BEGIN restarts whatever was under way; an unsent older answer is dropped."""
        if KINDS[slot.kind].window is not Window.INTERVAL:
            return
        self._supersede(slot)
        self._building.add(slot.key)
        self._gpu.submit(BeginQuery(slot, slot.generation))

    def _end(self, slot: QuerySlot) -> None:
        """END answers; END without BEGIN, or again, is an interval empty from that point."""
        if slot.key in self._building:
            self._building.discard(slot.key)
        else:
            self._supersede(slot)
        self._due.add(slot.key)
        self._gpu.submit(EndQuery(slot, slot.generation))
        if KINDS[slot.kind].window is Window.SINCE:
            self._gpu.submit(BeginQuery(slot, slot.generation + 1))

    def states(self) -> Iterator[tuple[int, int, str]]:
        """Id, type and state of every query: idle, building, issued, or signaled (not sent)."""
        for query_id, slot in sorted(self._live.items()):
            if query_id in self._building:
                state = "building"
            elif query_id in self._outbox:
                state = "signaled"
            else:
                state = "issued" if query_id in self._due else "idle"
            yield query_id, slot.kind, state

    def receive(self, report: Report) -> None:
        """Queue a finished query's answer, unless something superseded it meanwhile."""
        slot = report.slot
        if self._live.get(slot.key) is slot and slot.generation == report.generation:
            self._due.discard(slot.key)
            payload = KINDS[slot.kind].payload(report, self._options)
            self._outbox.add(Result(slot.key, slot.kind, payload))

    def respond(self, capacity: int) -> bytes:
        """Take what fits into a response buffer of ``capacity`` bytes (``responses.lay_out``)."""
        return lay_out(self._outbox, capacity)

    def _supersede(self, slot: QuerySlot) -> None:
        """Neither an unsent answer nor one under way is wanted any more."""
        slot.generation += 1
        self._due.discard(slot.key)
        self._outbox.drop(slot.key)

    def _query(self, query_id: int) -> QuerySlot:
        slot = self._live.get(query_id)
        if slot is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no query {query_id}")
        return slot
