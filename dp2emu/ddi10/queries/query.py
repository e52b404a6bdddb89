"""Query objects: memory of the caller's, three states, and a FIFO per type.

Source: Direct3D 10/11 DDI, "Query states".  A query lives in the bytes its
creator allocated: a header (``_HEADER``: mark, D3D10DDI_QUERY, MiscFlags, state, number), then
the data of the last issue once that is signaled.  A handle is that memory itself.  After
DestroyQuery the memory is neither read nor written.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct

from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.context import Commands, Predicate
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.ddi10.queries.counters import COUNTERS, Watched
from dp2emu.ddi10.queries.query_types import KINDS, CreateQuery, GetDataFlag, Kind, MiscFlag, Query
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import BeginQuery, EndQuery
from dp2emu.gpu.command.queries import QuerySlot, Report
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.records import dataclass

FIFO_BASE = 1 << 16
"""Added to a type to name its FIFO: other front ends on the GPU have types of their own."""

_MARK = int.from_bytes(b"QURY", "little")
_HEADER = Struct("<4IQ")

_MISC_FLAGS, _GET_DATA_FLAGS = int(MiscFlag.PREDICATEHINT), int(GetDataFlag.DO_NOT_FLUSH)
"""As plain numbers: the complement of a flag keeps only the bits that have names."""


class State(IntEnum):
    """Where a query is between its creation and its data."""

    CREATED = 0
    BUILDING = 1
    ISSUED = 2
    SIGNALED = 3


@dataclass(frozen=True, slots=True)
class _Live:
    """What a device knows of a query beside the bytes: its kind, flags, slot and memory."""

    kind: Kind
    flags: int
    slot: QuerySlot
    memory: bytearray
    runtime: int

    @property
    def state(self) -> State:
        return State(_HEADER.unpack_from(self.memory)[3])

    def enter(self, state: State) -> None:
        """Write the header for a state."""
        fields = _MARK, self.kind.query, self.flags, state, self.slot.key
        _HEADER.pack_into(self.memory, 0, *fields)

    @property
    def intact(self) -> bool:
        """Whether the memory still holds what ``enter`` wrote."""
        if len(self.memory) != _HEADER.size + self.kind.layout.size:
            return False
        mark, query, flags, state, number = _HEADER.unpack_from(self.memory)
        expected = _MARK, self.kind.query, self.flags, self.slot.key
        return (mark, query, flags, number) == expected and state <= State.SIGNALED


class Queries:
    """The queries of one device, and the entries that act on them.  Mutable: entries act on it.

    Methods raise ContractError for a broken promise, and Fault with the code to report.
    """

    def __init__(
        self,
        gpu: Gpu,
        commands: Commands,
        interface: Interface,
        contract: Contract,
        watched: Watched,
    ) -> None:
        self._gpu = gpu
        self._commands = commands
        self._interface = interface
        self._contract = contract
        self._watched = watched
        self._most = gpu.heap.limits.queries
        self._live: dict[int, _Live] = {}
        self._created = 0

    def __len__(self) -> int:
        return len(self._live)

    def size(self, description: CreateQuery) -> int:
        """CalcPrivateQuerySize: bytes the caller allocates for such a query."""
        kind = self._kind(description, "CalcPrivateQuerySize")
        return _HEADER.size + kind.layout.size

    def create(self, description: CreateQuery, memory: bytearray, runtime: int = 0) -> None:
        """CreateQuery in ``memory``; ``runtime`` is the runtime's handle, kept and not used.

        Raises Fault (E_OUTOFMEMORY, NONEXCLUSIVE); the memory is untouched then.
        """
        kind = self._kind(description, "CreateQuery")
        size = _HEADER.size + kind.layout.size
        self._contract.hold(len(memory) == size, Rule.MEMORY_SIZE, "CreateQuery")
        self._contract.hold(self._find(memory) is None, Rule.FRESH_MEMORY, "CreateQuery")
        if len(self._live) >= self._most:
            what = f"CreateQuery: too many queries, limit queries {self._most}"
            raise Fault(DdiCode.E_OUTOFMEMORY, what)
        if kind.query in COUNTERS and not self._watched.take(kind.query, self):
            what = f"CreateQuery: {kind.query.name} cannot be watched now"
            raise Fault(DdiCode.DXGI_DDI_ERR_NONEXCLUSIVE, what)
        fifo = FIFO_BASE + kind.query
        counters = self._commands.counters if kind.own else None
        slot = QuerySlot(fifo, self, self._created, kind.observes, kind.verdict, counters)
        self._created += 1
        live = _Live(kind, description.MiscFlags, slot, memory, runtime)
        self._live[slot.key] = live
        live.enter(State.CREATED)

    def destroy(self, memory: bytearray) -> None:
        """DestroyQuery: results under way are dropped, and the memory is the caller's again."""
        live = self._open(memory, "DestroyQuery")
        self._check_unbound(live, "DestroyQuery")
        self._forget(live)

    def destroy_all(self) -> None:
        """The device dies."""
        for live in list(self._live.values()):
            self._forget(live)

    def begin(self, memory: bytearray) -> None:
        """QueryBegin: building, from whatever state; an older issue is superseded."""
        live = self._open(memory, "QueryBegin")
        self._check_unbound(live, "QueryBegin")
        if self._contract.hold(live.kind.begins, Rule.BEGIN_OF_A_MOMENT, "QueryBegin"):
            live.slot.generation += 1
            live.enter(State.BUILDING)
            self._commands.add(BeginQuery(live.slot, live.slot.generation))

    def end(self, memory: bytearray) -> None:
        """QueryEnd: issued; without a Begin the interval is empty."""
        live = self._open(memory, "QueryEnd")
        self._check_unbound(live, "QueryEnd")
        if live.state is not State.BUILDING:
            live.slot.generation += 1
        live.enter(State.ISSUED)
        self._commands.add(EndQuery(live.slot, live.slot.generation))

    def get_data(
        self, memory: bytearray, data: bytearray | None, size: int, flags: int = 0
    ) -> None:
        """QueryGetData: the data of a signaled query into the first ``size`` bytes of ``data``.

        ``data`` None and ``size`` 0 only asks.  Raises Fault (WASSTILLDRAWING) unless the query
        is signaled; ``data`` is untouched then.  Unchecked, a size that does not fit gets what
        both have room for.
        """
        live = self._open(memory, "QueryGetData")
        room = len(data) if data is not None else 0
        self._contract.hold(0 <= size <= room, Rule.DATA_MEMORY, "QueryGetData")
        self._check_get(live, data, size, flags)
        self._commands.poll(flush=not flags & GetDataFlag.DO_NOT_FLUSH)
        if live.state is not State.SIGNALED:
            raise Fault(DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING, "QueryGetData: not signaled")
        if data is not None:
            found = memory[_HEADER.size :][:size]
            data[: len(found)] = found

    def set_predication(self, memory: bytearray | None, value: int) -> None:
        """SetPredication: skip commands when the query's BOOL is ``value``; None ends that.

        Unchecked, a query that is no predicate is like None, and one that was never ended skips
        nothing.
        """
        entry = "SetPredication"
        live = None if memory is None else self._open(memory, entry)
        if live is None or not self._contract.hold(live.kind.predicate, Rule.A_PREDICATE, entry):
            self._commands.predicate = None
            return
        issued = live.state not in (State.CREATED, State.BUILDING)
        self._contract.hold(issued, Rule.PREDICATE_ISSUED, entry)
        hint = bool(live.flags & MiscFlag.PREDICATEHINT)
        self._commands.predicate = Predicate(live.slot, bool(value), hint)

    def _check_unbound(self, live: _Live, entry: str) -> None:
        current = self._commands.predicate
        bound = current is not None and current.slot is live.slot
        self._contract.hold(not bound, Rule.BOUND_PREDICATE, entry)

    def _check_get(self, live: _Live, data: bytearray | None, size: int, flags: int) -> None:
        """What the runtime promises about QueryGetData beside the memory."""
        wanted = live.kind.layout.size if data is not None else 0
        promises = (
            (not live.flags & MiscFlag.PREDICATEHINT, Rule.DATA_OF_A_HINT),
            (size == wanted, Rule.DATA_SIZE),
            (not flags & ~_GET_DATA_FLAGS, Rule.DATA_FLAGS),
            (live.state is not State.CREATED, Rule.DATA_BEFORE_END),
        )
        for kept, rule in promises:
            self._contract.hold(kept, rule, "QueryGetData")

    def receive(self, report: Report) -> None:
        """A query has finished: put its data into its memory, unless something superseded it."""
        live = self._live.get(report.slot.key)
        if live is not None and report.wanted and live.intact:
            live.memory[_HEADER.size :] = live.kind.payload(report)
            live.enter(State.SIGNALED)

    def state(self, memory: bytearray) -> State:
        """The state of a query as far as the host has seen it.  Raises ContractError."""
        return self._open(memory, "state").state

    def _kind(self, description: CreateQuery, entry: str) -> Kind:
        counter = COUNTERS.get(description.Query)
        kind = KINDS.get(description.Query) if counter is None else counter.kind
        known = kind is not None and kind.since <= self._interface
        self._contract.hold(known, Rule.KNOWN_TYPE, entry)
        assert kind is not None
        flags = description.MiscFlags
        hint = kind.query is Query.OCCLUSIONPREDICATE or not flags & MiscFlag.PREDICATEHINT
        self._contract.hold(hint, Rule.HINT_ONLY_OF_OCCLUSION, entry)
        self._contract.hold(not flags & ~_MISC_FLAGS, Rule.MISC_FLAGS, entry)
        return kind

    def _find(self, memory: bytearray) -> _Live | None:
        if len(memory) < _HEADER.size:
            return None
        live = self._live.get(_HEADER.unpack_from(memory)[4])
        return live if live is not None and live.memory is memory and live.intact else None

    def _open(self, memory: bytearray, entry: str) -> _Live:
        live = self._find(memory)
        self._contract.hold(live is not None, Rule.LIVE_QUERY, entry)
        assert live is not None
        return live

    def _forget(self, live: _Live) -> None:
        del self._live[live.slot.key]
        if live.kind.query in COUNTERS:
            self._watched.release(live.kind.query)
        live.slot.generation += 1
        self._gpu.forget(live.slot)
