"""What a program saw when it was recorded, against what it sees now."""

from __future__ import annotations

from typing import Any, NamedTuple

from dp2emu.capture.records import Observed, Pictured
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.d3d.sdk import sdk_name
from dp2emu.dp2.queries import KINDS
from dp2emu.gpu.resource.heap import Surface
from dp2emu.readback import differing_texel
from dp2emu.replay.compare import Difference, shown
from dp2emu.replay.ledger import QueryLedger
from dp2emu.replay.values import payload_value
from dp2emu.runtime.query import NEVER_ISSUED

TIMELESS = frozenset({QueryType.EVENT, QueryType.OCCLUSION, QueryType.VERTEXSTATS})
"""Types whose answers tell of the program alone, not of the time or the machine it ran on."""


class Sight(NamedTuple):
    """What GetData gives in a replay: ``data`` is a whole answer, empty with S_FALSE."""

    hr: int
    data: bytes


def sight_of(query: int, ledger: QueryLedger) -> Sight:
    """What GetData gives for a query as far as answers have come.

    A query that was never issued is answered by the runtime, with bytes that mean nothing
    (``runtime.query``).
    """
    if not ledger.was_issued(query):
        size = ledger.size_of(query) or 0
        return Sight(HResult.S_OK, bytes([NEVER_ISSUED]) * size)
    data = ledger.answer_to(query)
    return Sight(HResult.S_FALSE, b"") if data is None else Sight(HResult.S_OK, data)


def is_compared(record: Observed, ledger: QueryLedger) -> bool:
    """Whether a recorded GetData must come out the same: it gave an answer, and one that does not
    depend on time.
    """
    return record.hr == HResult.S_OK and ledger.type_of(record.query) in TIMELESS


def observation_differs(
    record: Observed, sight: Sight, kind: int, frame: int
) -> Difference | None:
    """How a GetData of a query of type ``kind`` differs from the recorded one, None if not at all.

    Of the data as much is compared as the program asked for and the type has.
    """
    name = sdk_name(QueryType, kind) or f"type {kind}"
    field = f"query {record.query} ({name})"
    if record.hr != sight.hr:
        return Difference(record.call, field, hr_name(record.hr), hr_name(sight.hr), frame)
    recorded = record.data[: len(sight.data)]
    if recorded == sight.data[: len(recorded)]:
        return None
    replayed = sight.data[: len(recorded)]
    return Difference(record.call, field, _value(kind, recorded), _value(kind, replayed), frame)


def _value(kind: int, data: bytes) -> str:
    """An answer as text: its value if it is whole, else its bytes."""
    whole = len(data) == KINDS[kind].layout.size
    return str(payload_value(kind, data)) if whole else shown(data)


def observation_row(
    record: Observed, sight: Sight, kind: int | None, frame: int, difference: Difference | None
) -> dict[str, Any]:
    """The row of ``queries`` in the document."""
    return {
        "call": record.call,
        "query": record.query,
        "type": sdk_name(QueryType, kind or 0),
        "type_raw": kind or 0,
        "hr": f"0x{sight.hr:08x}",
        "value": payload_value(kind, sight.data) if kind is not None else None,
        "frame": frame,
        "context": record.context,
        "recorded": {
            "hr": f"0x{record.hr:08x}",
            "bytes": record.data.hex(),
            "same": difference is None,
        },
    }


def pixels_differ(record: Pictured, surface: Surface, frame: int) -> Difference | None:
    """How what a surface holds differs from the rows the program read, None if not at all."""
    found = differing_texel(surface, record.index, record.data)
    if found is None:
        return None
    field = f"pixel {found.x}, {found.y} of surface {record.handle}"
    return Difference(record.call, field, shown(found.expected), shown(found.found), frame)
