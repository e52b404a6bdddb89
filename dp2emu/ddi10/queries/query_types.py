"""Query types of the Direct3D 10/11 interface: one row per type, from counters to payload bytes.

Source: Direct3D 10/11 DDI, "Query types".  Payloads are little-endian, in the member order of
their structures.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Annotated, NamedTuple

import msgspec

from dp2emu.d3d import ddi
from dp2emu.d3d.enums10 import Counter
from dp2emu.d3d.enums10 import Query as Query
from dp2emu.d3d.sdk import SdkEnum, SdkFlag
from dp2emu.d3d.words import DWORD, QWORD
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.queries.statistics import FIELDS_10, statistics
from dp2emu.gpu.command.queries import Observes, Report
from dp2emu.gpu.command.stream_targets import STREAMS
from dp2emu.gpu.device.timing import TICKS_PER_SECOND
from dp2emu.layout import dtype_of, packer_of

_UINT64_MAX = (1 << 64) - 1


class MiscFlag(SdkFlag, prefix="D3D10DDI_QUERY_MISCFLAG_"):
    """D3D10DDI_QUERY_MISCFLAG."""

    PREDICATEHINT = 1


class GetDataFlag(SdkFlag, prefix="D3D10_DDI_GET_DATA_"):
    """D3D10_DDI_GET_DATA_FLAG."""

    DO_NOT_FLUSH = 1


class CreateQuery(NamedTuple):
    """D3D10DDIARG_CREATEQUERY."""

    Query: Annotated[int, Query, Counter]
    MiscFlags: Annotated[int, MiscFlag] = 0


_Values = Callable[[Report], tuple[int | float, ...]]


class QueryRow(msgspec.Struct, frozen=True):
    """A query type or counter: its first interface version, its payload and its formula.

    ``begins`` says whether QueryBegin is legal.  ``values`` computes the members of the payload,
    which ``layout`` packs, from a report; if ``predicate`` is set there is one, a BOOL.  ``own``:
    the query counts the draws of its own device only, not those of other devices.
    """

    query: SdkEnum
    since: Interface
    layout: Struct
    begins: bool
    values: _Values
    observes: Observes = Observes.NOTHING
    predicate: bool = False
    own: bool = False

    @property
    def verdict(self) -> Callable[[Report], bool] | None:
        """Function that computes a predicate's BOOL from a report; None for other query types."""
        return (lambda report: bool(self.values(report)[0])) if self.predicate else None

    def payload(self, report: Report) -> bytes:
        """The bytes QueryGetData returns for a finished query."""
        return self.layout.pack(*self.values(report))


def _event(report: Report) -> tuple[int, ...]:
    return (1,)


def _occlusion(report: Report) -> tuple[int, ...]:
    return (report.samples() & _UINT64_MAX,)


def _occlusion_predicate(report: Report) -> tuple[int, ...]:
    return (int(report.samples() & _UINT64_MAX != 0),)


def _timestamp(report: Report) -> tuple[int, ...]:
    return (report.end.time & _UINT64_MAX,)


def _disjoint(report: Report) -> tuple[int, ...]:
    return TICKS_PER_SECOND, int(report.change("clock_changes") > 0)


def _statistics_10(report: Report) -> tuple[int, ...]:
    return statistics(report.change)[:FIELDS_10]


def _statistics_11(report: Report) -> tuple[int, ...]:
    return statistics(report.change)


def _streamed(stream: int) -> _Values:
    """Return a function that computes the two numbers of a stream output statistics query.

    They are NumPrimitivesWritten and PrimitivesStorageNeeded of ``stream``.
    """

    def values(report: Report) -> tuple[int, ...]:
        counts = (report.change(f"stream{stream}_{what}") for what in ("written", "needed"))
        return tuple(count & _UINT64_MAX for count in counts)

    return values


def _overflowed(*streams: int) -> _Values:
    """Return a function that computes whether any of ``streams`` overflowed.

    A stream overflows if it needs more primitives than are written.
    """

    def values(report: Report) -> tuple[int, ...]:
        counts = (_streamed(stream)(report) for stream in streams)
        return (int(any(needed > written for written, needed in counts)),)

    return values


_BOOL, _UINT64 = (packer_of(dtype_of(field)) for field in (DWORD, QWORD))
_DISJOINT = Struct("<QI4x")
"""Packs the data of a TIMESTAMPDISJOINT query (D3D10_DDI_QUERY_DATA_TIMESTAMP_DISJOINT)."""
_STATISTICS, _STATISTICS_11, _STREAM = (
    packer_of(dtype_of(data))
    for data in (
        ddi.D3D10_DDI_QUERY_DATA_PIPELINE_STATISTICS,
        ddi.D3D11_DDI_QUERY_DATA_PIPELINE_STATISTICS,
        ddi.D3D10_DDI_QUERY_DATA_SO_STATISTICS,
    )
)

_D10, _D11 = Interface.D3D10_0, Interface.D3D11_0


def _stream_statistics(query: Query, since: Interface, stream: int) -> QueryRow:
    return QueryRow(query, since, _STREAM, True, _streamed(stream), own=True)


def _overflow_predicate(query: Query, since: Interface, *streams: int) -> QueryRow:
    values = _overflowed(*streams)
    return QueryRow(query, since, _BOOL, True, values, predicate=True, own=True)


_ROWS: tuple[QueryRow, ...] = (
    QueryRow(Query.EVENT, _D10, _BOOL, False, _event),
    QueryRow(Query.OCCLUSION, _D10, _UINT64, True, _occlusion, own=True),
    QueryRow(Query.TIMESTAMP, _D10, _UINT64, False, _timestamp),
    QueryRow(Query.TIMESTAMPDISJOINT, _D10, _DISJOINT, True, _disjoint),
    QueryRow(Query.PIPELINESTATS, _D10, _STATISTICS, True, _statistics_10, own=True),
    QueryRow(
        Query.OCCLUSIONPREDICATE, _D10, _BOOL, True, _occlusion_predicate, predicate=True, own=True
    ),
    _stream_statistics(Query.STREAMOUTPUTSTATS, _D10, 0),
    _overflow_predicate(Query.STREAMOVERFLOWPREDICATE, _D10, *range(STREAMS)),
    QueryRow(Query.D3D11_PIPELINESTATS, _D11, _STATISTICS_11, True, _statistics_11, own=True),
    *(
        _stream_statistics(Query(Query.STREAMOUTPUTSTATS_STREAM0 + stream), _D11, stream)
        for stream in range(STREAMS)
    ),
    *(
        _overflow_predicate(Query(Query.STREAMOVERFLOWPREDICATE_STREAM0 + stream), _D11, stream)
        for stream in range(STREAMS)
    ),
)

QUERY_TYPES: dict[int, QueryRow] = {int(row.query): row for row in _ROWS}
"""The QueryRow of every query type, by its D3D10DDI_QUERY value."""
