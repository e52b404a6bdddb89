"""The queries of one context: ids, states, and the answers not yet sent.

Each issue case has one answer (wire format, "Queries"): BEGIN restarts; END without BEGIN, or
again, is an interval empty from that point; whatever supersedes an unsent answer drops it.
"""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.d3d.flags import Issue
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS, Window, refused_issue, refused_type
from dp2emu.dp2.responses import Outbox, Result, lay_out
from dp2emu.errors import Fault
from dp2emu.gpu.core import Gpu
from dp2emu.gpu.packets import BeginQuery, EndQuery
from dp2emu.gpu.queries import QuerySlot, Report

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
