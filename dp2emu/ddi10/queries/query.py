"""Query objects: state in the caller's memory, and a FIFO per type.

Source: Direct3D 10/11 DDI, "Query states".  A query lives in the bytes its creator allocated: a
header (``_HEADER``: mark, D3D10DDI_QUERY, MiscFlags, state, number), then the data of the last
issue once it is signaled.  The handle is that memory.  After DestroyQuery the memory is neither
read nor written.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import Annotated

import msgspec

from dp2emu.d3d.sdk import SdkEnum
from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.context import Commands, Predicate
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.ddi10.queries.counters import COUNTERS, ActiveCounters
from dp2emu.ddi10.queries.query_types import (
    QUERY_TYPES,
    CreateQuery,
    GetDataFlag,
    MiscFlag,
    Query,
    QueryRow,
)
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import BeginQuery, EndQuery
from dp2emu.gpu.command.queries import QuerySlot, Report
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import FIFO_BASE

_MARK = int.from_bytes(b"QURY", "little")
_HEADER = Struct("<4IQ")

_MISC_FLAGS, _GET_DATA_FLAGS = int(MiscFlag.PREDICATEHINT), int(GetDataFlag.DO_NOT_FLUSH)
"""All valid MiscFlags and all valid GetData flags as plain integers: ``~`` on an IntFlag keeps
only the bits that have names."""


class State(IntEnum):
    """The states of a query, from its creation until its data are available."""

    CREATED = 0
    BUILDING = 1
    ISSUED = 2
    SIGNALED = 3


class _Live(msgspec.Struct, frozen=True):
    """A live query: its type, MiscFlags, slot in the GPU, and memory with its header and data."""

    kind: QueryRow
    flags: int
    slot: QuerySlot
    memory: bytearray
    runtime: int

    @property
    def state(self) -> State:
        return State(_HEADER.unpack_from(self.memory)[3])

    @property
    def hint(self) -> bool:
        """Whether the query is a hint, whose result never leaves the GPU."""
        return bool(self.flags & MiscFlag.PREDICATEHINT)

    def enter(self, state: State) -> None:
        """Set the query's state to ``state`` by writing its header."""
        fields = _MARK, self.kind.query, self.flags, state, self.slot.key
        _HEADER.pack_into(self.memory, 0, *fields)

    @property
    def intact(self) -> bool:
        """Whether the memory still holds the header that ``enter`` wrote."""
        if len(self.memory) != _HEADER.size + self.kind.layout.size:
            return False
        mark, query, flags, state, number = _HEADER.unpack_from(self.memory)
        expected = _MARK, self.kind.query, self.flags, self.slot.key
        return (mark, query, flags, number) == expected and state <= State.SIGNALED


class Queries:
    """The queries of a device and their DDI functions.  Mutable: these create and destroy them.

    Methods raise ContractError for a broken rule, and Fault with the code to report.
    """

    def __init__(
        self,
        gpu: Gpu,
        commands: Commands,
        interface: Interface,
        contract: Contract,
        active: ActiveCounters,
    ) -> None:
        self._gpu = gpu
        self._commands = commands
        self._interface = interface
        self._contract = contract
        self._active = active
        self._limits = gpu.heap.limits
        self._live: dict[int, _Live] = {}
        self._created = 0

    def __len__(self) -> int:
        return len(self._live)

    def size(self, description: CreateQuery) -> int:
        """CalcPrivateQuerySize: bytes to allocate for a query."""
        kind = self._kind(description, "CalcPrivateQuerySize")
        return _HEADER.size + kind.layout.size

    def create(self, description: CreateQuery, memory: bytearray, runtime: int = 0) -> None:
        """CreateQuery in ``memory``; ``runtime`` is the runtime's handle, which is not used.

        Raises Fault (E_OUTOFMEMORY, NONEXCLUSIVE) without writing to the memory.
        """
        kind = self._kind(description, "CreateQuery")
        size = _HEADER.size + kind.layout.size
        self._contract.check(len(memory) == size, Rule.MEMORY_SIZE, "CreateQuery")
        self._contract.check(self._find(memory) is None, Rule.FRESH_MEMORY, "CreateQuery")
        if len(self._live) >= self._limits.queries:
            what = f"CreateQuery: {self._limits.refusal('queries', len(self._live) + 1)}"
            raise Fault(DdiCode.E_OUTOFMEMORY, what)
        if kind.query in COUNTERS and not self._active.acquire(kind.query, self):
            what = f"CreateQuery: {kind.query.name} is in use, or active counters cost too much"
            raise Fault(DdiCode.DXGI_DDI_ERR_NONEXCLUSIVE, what)
        fifo = FIFO_BASE + kind.query
        counters = self._commands.counters if kind.own else None
        slot = QuerySlot(fifo, self, self._created, kind.observes, kind.verdict, counters)
        self._created += 1
        live = _Live(kind, description.MiscFlags, slot, memory, runtime)
        self._live[slot.key] = live
        live.enter(State.CREATED)

    def destroy(self, memory: bytearray) -> None:
        """DestroyQuery: pending results are dropped, and the memory is the caller's again."""
        live = self._open(memory, "DestroyQuery")
        self._check_unbound(live, "DestroyQuery")
        self._forget(live)

    def destroy_all(self) -> None:
        """Forget all live queries of a device that is being destroyed."""
        for live in list(self._live.values()):
            self._forget(live)

    def begin(self, memory: bytearray) -> None:
        """QueryBegin: enter BUILDING from any state; results of an older issue are dropped."""
        live = self._open(memory, "QueryBegin")
        self._check_unbound(live, "QueryBegin")
        if self._contract.check(live.kind.begins, Rule.BEGIN_OF_A_MOMENT, "QueryBegin"):
            live.slot.generation += 1
            live.enter(State.BUILDING)
            self._commands.add(BeginQuery(live.slot, live.slot.generation))

    def end(self, memory: bytearray) -> None:
        """QueryEnd: enter ISSUED; without a Begin the interval is empty."""
        live = self._open(memory, "QueryEnd")
        self._check_unbound(live, "QueryEnd")
        if live.state is not State.BUILDING:
            live.slot.generation += 1
        live.enter(State.ISSUED)
        self._commands.add(EndQuery(live.slot, live.slot.generation))

    def get_data(
        self,
        memory: bytearray,
        data: bytearray | None,
        size: int,
        flags: Annotated[int, GetDataFlag] = 0,
    ) -> None:
        """QueryGetData: copy the data of a signaled query to the first ``size`` bytes of ``data``.

        ``data`` None and ``size`` 0 only poll.  Raises Fault (WASSTILLDRAWING), without writing to
        ``data``, unless the query is signaled and no hint.  Unchecked, a wrong size copies the
        smaller part.
        """
        live = self._open(memory, "QueryGetData")
        room = len(data) if data is not None else 0
        self._contract.check(0 <= size <= room, Rule.DATA_MEMORY, "QueryGetData")
        self._check_get(live, data, size, flags)
        self._commands.poll(flush=not flags & GetDataFlag.DO_NOT_FLUSH)
        if live.state is not State.SIGNALED or live.hint:
            raise Fault(DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING, "QueryGetData: no data")
        if data is not None:
            payload = memory[_HEADER.size :][:size]
            data[: len(payload)] = payload

    def set_predication(self, memory: bytearray | None, value: int) -> None:
        """SetPredication: skip commands when the query's BOOL is ``value``; None ends predication.

        Without checking, a query that is no predicate acts as None, and a query that was never
        ended lets no command be skipped.
        """
        entry = "SetPredication"
        live = None if memory is None else self._open(memory, entry)
        if live is None or not self._contract.check(live.kind.predicate, Rule.A_PREDICATE, entry):
            self._commands.predicate = None
            return
        issued = live.state not in (State.CREATED, State.BUILDING)
        self._contract.check(issued, Rule.PREDICATE_ISSUED, entry)
        self._commands.predicate = Predicate(live.slot, bool(value), live.hint)

    def _check_unbound(self, live: _Live, entry: str) -> None:
        current = self._commands.predicate
        bound = current is not None and current.slot is live.slot
        self._contract.check(not bound, Rule.BOUND_PREDICATE, entry)

    def _check_get(self, live: _Live, data: bytearray | None, size: int, flags: int) -> None:
        """Check the rules of QueryGetData that do not concern the query's memory."""
        wanted = live.kind.layout.size if data is not None else 0
        rules = (
            (not live.hint, Rule.DATA_OF_A_HINT),
            (size == wanted, Rule.DATA_SIZE),
            (not flags & ~_GET_DATA_FLAGS, Rule.DATA_FLAGS),
            (live.state is not State.CREATED, Rule.DATA_BEFORE_END),
        )
        for followed, rule in rules:
            self._contract.check(followed, rule, "QueryGetData")

    def receive(self, report: Report) -> None:
        """Write a finished query's data, except a hint's, into its memory, unless a newer issue
        replaced it.
        """
        live = self._live.get(report.slot.key)
        if live is not None and report.wanted and live.intact:
            if not live.hint:
                live.memory[_HEADER.size :] = live.kind.payload(report)
            live.enter(State.SIGNALED)

    def state(self, memory: bytearray) -> State:
        """The state in a query's memory, as the host sees it.  ContractError if it is no query."""
        return self._open(memory, "state").state

    def result(self, memory: bytearray) -> tuple[QueryRow, bytes | None] | None:
        """Type and data of a query, as the host sees them now, in no time; None if ``memory``
        holds no query.  The data are None before the query is signaled, and of a hint.
        """
        live = self._find(memory)
        if live is None:
            return None
        there = live.state is State.SIGNALED and not live.hint
        return live.kind, bytes(memory[_HEADER.size :]) if there else None

    def states(self) -> Iterator[tuple[bytearray, SdkEnum, State]]:
        """Memory, type and state of each live query, oldest first."""
        for live in self._live.values():
            yield live.memory, live.kind.query, live.state

    def handle(self, slot: QuerySlot) -> bytearray | None:
        """The memory of the live query of ``slot``, None if it was destroyed."""
        live = self._live.get(slot.key)
        return live.memory if live is not None else None

    def _kind(self, description: CreateQuery, entry: str) -> QueryRow:
        counter = COUNTERS.get(description.Query)
        kind = QUERY_TYPES.get(description.Query) if counter is None else counter.kind
        known = kind is not None and kind.since <= self._interface
        self._contract.check(known, Rule.KNOWN_TYPE, entry)
        assert kind is not None
        flags = description.MiscFlags
        hint = kind.query is Query.OCCLUSIONPREDICATE or not flags & MiscFlag.PREDICATEHINT
        self._contract.check(hint, Rule.HINT_ONLY_OF_OCCLUSION, entry)
        self._contract.check(not flags & ~_MISC_FLAGS, Rule.MISC_FLAGS, entry)
        return kind

    def _find(self, memory: bytearray) -> _Live | None:
        if len(memory) < _HEADER.size:
            return None
        live = self._live.get(_HEADER.unpack_from(memory)[4])
        return live if live is not None and live.memory is memory and live.intact else None

    def _open(self, memory: bytearray, entry: str) -> _Live:
        live = self._find(memory)
        self._contract.check(live is not None, Rule.LIVE_QUERY, entry)
        assert live is not None
        return live

    def _forget(self, live: _Live) -> None:
        del self._live[live.slot.key]
        if live.kind.query in COUNTERS:
            self._active.release(live.kind.query)
        live.slot.generation += 1
        self._gpu.forget(live.slot)
