"""Comparison of recorded and replayed answers of Direct3D 10/11 queries.

Source: documentation of D3D11_QUERY, D3D11_QUERY_DATA_PIPELINE_STATISTICS and
D3D11_QUERY_DATA_SO_STATISTICS.
"""

from __future__ import annotations

from dp2emu.capture.records import Observed
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.ddi10.queries.query_types import Query, QueryRow
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.replay.compare import Difference, GetDataResult, shown

_OF_TIME = frozenset({Query.TIMESTAMP, Query.TIMESTAMPDISJOINT})
"""Query types whose answers depend on time or on the machine."""

_WRITTEN, _NEEDED = "NumPrimitivesWritten", "PrimitivesStorageNeeded"
_STATISTICS = frozenset({Query.PIPELINESTATS, Query.D3D11_PIPELINESTATS})
_STREAMED = frozenset(kind for kind in Query if kind.name.startswith("STREAMOUTPUTSTATS"))


def answer(record: Observed, data: bytes | None) -> GetDataResult:
    """The result of a GetData that asks for as many bytes as the recorded one did.

    ``data`` is the query's answer, None if there is none yet.
    """
    if data is None:
        return GetDataResult(HResult.S_FALSE, b"")
    return GetDataResult(HResult.S_OK, data[: len(record.data)])


def is_compared(record: Observed, kind: QueryRow) -> bool:
    """Whether a GetData must have the recorded result in a replay.

    It must if it returned S_OK and the query's answer does not depend on time.
    """
    known = kind.query in Query.__members__.values()
    return record.hr == HResult.S_OK and known and kind.query not in _OF_TIME


def observation_differs(
    record: Observed, result: GetDataResult, kind: QueryRow, frame: int
) -> Difference | None:
    """The difference of a GetData of a query of type ``kind`` from the recorded one, or None.

    Some numbers are not compared: PSInvocations, since a driver may shade fewer or more pixels
    than are visible, and PrimitivesStorageNeeded where no primitive was written, since drivers
    count without stream output or do not.
    """
    field = f"query {record.query} ({kind.query.name})"
    if record.hr != result.hr:
        return Difference(record.call, field, hr_name(record.hr), hr_name(result.hr), frame, True)
    recorded = record.data[: len(result.data)]
    old, new = _numbers(kind, recorded), _numbers(kind, result.data[: len(recorded)])
    ignored = {"PSInvocations"} | ({_NEEDED} if old.get(_WRITTEN) == 0 else set())
    names = [name for name in old if old[name] != new[name] and name not in ignored]
    if not names:
        return None
    texts = [", ".join(f"{name} {each[name]}".strip() for name in names) for each in (old, new)]
    return Difference(record.call, field, texts[0], texts[1], frame, True)


def _numbers(kind: QueryRow, data: bytes) -> dict[str, int | str]:
    """The numbers in an answer by name; one without a name, and a part of an answer, by ""."""
    if len(data) != kind.layout.size:
        return {"": shown(data)}
    values = kind.layout.unpack(data)
    if kind.query in _STATISTICS:
        return dict(zip(Statistics._fields, values, strict=False))
    return dict(
        zip((_WRITTEN, _NEEDED) if kind.query in _STREAMED else ("",), values, strict=True)
    )
