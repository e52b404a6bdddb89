"""Queries and predicates of ID3D10Asynchronous and ID3D11Asynchronous.

The runtime enforces the rules that a driver relies on: no data of queries that were not ended, are
begun again, or are hints; exact sizes; Begin only for types that have one.  A second End without a
Begin keeps the result of the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol

from dp2emu.argument_check import checked
from dp2emu.ddi10.queries.query_types import (
    QUERY_TYPES,
    CreateQuery,
    GetDataFlag,
    MiscFlag,
    QueryRow,
)
from dp2emu.ddi10.queries.query_types import Query as Ddi
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.errors import ArgumentError
from dp2emu.runtime10.codes import Api, Refused, Result

POLLS = 10_000
"""Number of times ``Query.wait`` polls before it lets the GPU become idle."""

_COMMON = {
    0: Ddi.EVENT,
    1: Ddi.OCCLUSION,
    2: Ddi.TIMESTAMP,
    3: Ddi.TIMESTAMPDISJOINT,
    5: Ddi.OCCLUSIONPREDICATE,
    6: Ddi.STREAMOUTPUTSTATS,
    7: Ddi.STREAMOVERFLOWPREDICATE,
}
_STREAMS = {
    8 + 2 * stream + half: Ddi(kind + stream)
    for stream in range(4)
    for half, kind in enumerate(
        (Ddi.STREAMOUTPUTSTATS_STREAM0, Ddi.STREAMOVERFLOWPREDICATE_STREAM0)
    )
}

QUERIES: Mapping[Api, Mapping[int, Ddi]] = {
    Api.D3D10: {**_COMMON, 4: Ddi.PIPELINESTATS},
    Api.D3D10_1: {**_COMMON, 4: Ddi.PIPELINESTATS},
    Api.D3D11: {**_COMMON, 4: Ddi.D3D11_PIPELINESTATS, **_STREAMS},
}
"""The driver's query type by D3D10_QUERY or D3D11_QUERY number, for each API version (Direct3D
10/11 DDI, "Query types")."""

PREDICATES = frozenset({Ddi.OCCLUSIONPREDICATE, Ddi.STREAMOVERFLOWPREDICATE})
"""The driver's query types that CreatePredicate accepts."""

_FIELDS: dict[int, tuple[str, ...]] = {
    Ddi.TIMESTAMPDISJOINT: ("Frequency", "Disjoint"),
    Ddi.PIPELINESTATS: Statistics._fields,
    Ddi.D3D11_PIPELINESTATS: Statistics._fields,
    **{
        kind: ("NumPrimitivesWritten", "PrimitivesStorageNeeded")
        for kind in Ddi
        if kind.name.startswith("STREAMOUTPUTSTATS")
    },
}
"""Member names of a query's result, by the driver's query type; types whose result is a single
number are not listed."""


class State(Enum):
    """Whether a query was created only, begun, or ended."""

    CREATED = auto()
    BUILDING = auto()
    ENDED = auto()


class Data(NamedTuple):
    """The result of GetData; ``data`` is None if the application's memory was not written."""

    hr: Result
    data: bytes | None = None


class Caller(Protocol):
    """A device or context that begins and ends queries."""

    def call(self, entry: str, *arguments: Any) -> Any:
        """Call a DDI function.  Raises Refused with the driver's error."""


class Driver(Caller, Protocol):
    """The driver interface that a query uses."""

    def finish(self) -> None:
        """Let time pass until the GPU is idle."""


def kind_of(api: Api, number: int, *, predicate: bool = False) -> QueryRow:
    """The description of query type ``number``, a D3D10_QUERY or D3D11_QUERY.

    Raises Refused (E_INVALIDARG) for an unknown number or one that cannot be a predicate.
    """
    query = QUERIES[api].get(number)
    if query is None or (predicate and query not in PREDICATES):
        raise Refused(Result.E_INVALIDARG, f"query type {number}")
    return QUERY_TYPES[query]


@checked
class Query:
    """A query or predicate.  Mutable: it is begun and ended."""

    def __init__(self, driver: Driver, kind: QueryRow, flags: int = 0) -> None:
        """``flags`` are MiscFlags; PREDICATEHINT counts for occlusion predicates only."""
        hint = flags & MiscFlag.PREDICATEHINT if kind.query is Ddi.OCCLUSIONPREDICATE else 0
        description = CreateQuery(kind.query, int(hint))
        self.kind = kind
        self.hint = bool(hint)
        self.state = State.CREATED
        self.memory = bytearray(driver.call("CalcPrivateQuerySize", description))
        self._driver = driver
        driver.call("CreateQuery", description, self.memory, 0)

    @property
    def data_size(self) -> int:
        """GetDataSize."""
        return self.kind.layout.size

    def begin(self, context: Caller | None = None) -> None:
        """Begin, by a context if one is given; not sent to the driver for types without a Begin,
        events and timestamps.
        """
        if self.kind.begins:
            (context or self._driver).call("QueryBegin", self.memory)
            self.reached("QueryBegin")

    def reached(self, entry: str) -> None:
        """Note that QueryBegin or QueryEnd, the function ``entry``, has reached the driver."""
        self.state = State.BUILDING if entry == "QueryBegin" else State.ENDED

    def end(self, context: Caller | None = None) -> None:
        """End, by a context if one is given; a type that has Begin ignores a second End without a
        Begin.
        """
        if not self.kind.begins or self.state is not State.ENDED:
            (context or self._driver).call("QueryEnd", self.memory)
            self.reached("QueryEnd")

    def get_data(self, memory: bytearray | None, size: int, flags: int = 0) -> Data:
        """GetData into the first ``size`` bytes of ``memory``.

        E_INVALIDARG for a size that is neither 0 nor ``data_size``, or without memory; else
        INVALID_CALL for a query that was not ended, and for hints; S_FALSE until there is data.
        """
        refusal = self.refusal(size, memory is not None)
        if refusal is not None:
            return Data(refusal)
        asked = flags & GetDataFlag.DO_NOT_FLUSH
        return self._ask(memory if size else None, size, int(asked))

    def refusal(self, size: int, writes: bool) -> Result | None:
        """The result of a GetData of ``size`` bytes that does not reach the driver, else None;
        ``writes`` tells whether there is memory to write.
        """
        if size not in (0, self.data_size) or (size and not writes):
            return Result.E_INVALIDARG
        if self.state is not State.ENDED or self.hint:
            return Result.DXGI_ERROR_INVALID_CALL
        return None

    def wait(self) -> Data:
        """GetData until it is not S_FALSE; after ``POLLS`` calls the GPU becomes idle before a
        last one.
        """
        memory = bytearray(self.data_size)
        for _ in range(POLLS):
            found = self.get_data(memory, len(memory))
            if found.hr is not Result.S_FALSE:
                return found
        self._driver.finish()
        return self.get_data(memory, len(memory))

    def value(self, data: bytes) -> int | float | dict[str, int | float]:
        """``data`` as a number, or if it is a structure, as its numbers by member name.

        Raises ArgumentError for data of another size than ``data_size``.
        """
        if len(data) != self.data_size:
            raise ArgumentError(f"{len(data)} bytes of data, the query's have {self.data_size}")
        values = self.kind.layout.unpack(data)
        names = _FIELDS.get(self.kind.query)
        if names is None:
            (value,) = values
            return value if isinstance(value, float) else int(value)
        return dict(zip(names, values, strict=False))

    def release(self) -> None:
        """Release: destroy the driver's query."""
        self._driver.call("DestroyQuery", self.memory)

    def _ask(self, memory: bytearray | None, size: int, flags: int) -> Data:
        try:
            self._driver.call("QueryGetData", self.memory, memory, size, flags)
        except Refused as refusal:
            return Data(_WAITING.get(refusal.hr, Result(refusal.hr)))
        return Data(Result.S_OK, bytes(memory[:size]) if memory is not None else None)


_WAITING = {int(Result.DXGI_ERROR_WAS_STILL_DRAWING): Result.S_FALSE}
