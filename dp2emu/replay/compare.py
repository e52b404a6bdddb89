"""Comparison of recorded and replayed answers, observations and pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from dp2emu.capture.records import OF_RESOURCES, Observed, Pictured
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.d3d.sdk import sdk_name
from dp2emu.dp2.call import Answer
from dp2emu.dp2.queries import KINDS
from dp2emu.errors import ResponseError
from dp2emu.gpu.resource.heap import Surface
from dp2emu.readback import differing_texel, first_difference, take_content
from dp2emu.replay.ledger import QueryLedger
from dp2emu.replay.values import payload_value
from dp2emu.runtime.query import NEVER_ISSUED
from dp2emu.runtime.responses import Response, parse_responses

_SHOWN = 16
"""Largest number of bytes that a difference between query answers or pictures shows in its
text."""


class Difference(NamedTuple):
    """A field of an answer, observation or picture that differs between recording and replay.

    ``frame`` is None for an answer.  For what the recorded program observed or showed, ``call`` is
    the number of the program's API call, and ``api`` is true.
    """

    call: int
    field: str
    recorded: str
    replayed: str
    frame: int | None = None
    api: bool = False

    def __str__(self) -> str:
        frame = "" if self.frame is None else f"frame {self.frame}, "
        call = f"@{self.call}" if self.api else f"call {self.call}"
        where = f"{frame}{call}: {self.field}"
        return f"{where}: recorded {self.recorded}, replayed {self.replayed}"


class Compared(NamedTuple):
    """An answer, result or observation that was compared with the recording: its name, unique in a
    replay, and its differences.
    """

    name: str
    differences: tuple[Difference, ...]


def observation_name(record: Pictured | Observed, frame: int) -> str:
    """The name of an observation of the recorded program, for a list of those compared."""
    if isinstance(record, Observed):
        return f"frame {frame}, call {record.call}: GetData of query {record.query}"
    return f"frame {frame}, call {record.call}: pixels of {record.handle}:{record.index}"


def differences(
    call: int, recorded: Answer, replayed: Answer, size_of: Callable[[int], int | None]
) -> Iterator[Difference]:
    """Differences of ddrval, dwErrorOffset and response bytes between two answers to a call.

    The time and the text of a fault are ignored.  ``size_of`` maps a query id to the size of its
    payload.
    """
    if recorded.ddrval != replayed.ddrval:
        names = hr_name(recorded.ddrval), hr_name(replayed.ddrval)
        yield Difference(call, "ddrval", *names)
    if recorded.dwErrorOffset != replayed.dwErrorOffset:
        offsets = str(recorded.dwErrorOffset), str(replayed.dwErrorOffset)
        yield Difference(call, "dwErrorOffset", *offsets)
    if recorded.response != replayed.response:
        yield from _responses(call, recorded.response, replayed.response, size_of)


def same_fault(recorded: Answer | None, replayed: Answer) -> bool:
    """Whether a call failed with the recorded code, at the recorded offset."""
    failure = replayed.ddrval, replayed.dwErrorOffset
    return recorded is not None and (recorded.ddrval, recorded.dwErrorOffset) == failure


def _responses(
    call: int, recorded: bytes, replayed: bytes, size_of: Callable[[int], int | None]
) -> Iterator[Difference]:
    try:
        old = parse_responses(recorded, size_of)
        new = parse_responses(replayed, size_of)
    except ResponseError as error:
        yield _first_byte(call, recorded, replayed, f" ({error.what})")
        return
    records = list(_records(call, old.records, new.records))
    if old.more != new.more:
        flags = "with" if old.more else "without", "with" if new.more else "without"
        records.append(Difference(call, "RESPONSECONTINUE", *flags))
    yield from records or [_first_byte(call, recorded, replayed, "")]


def _records(
    call: int, recorded: tuple[Response, ...], replayed: tuple[Response, ...]
) -> Iterator[Difference]:
    for index, (old, new) in enumerate(zip_longest(recorded, replayed)):
        if old is not None and new is not None and old.query == new.query:
            if old.data != new.data:
                field = f"response {index}, query {old.query}"
                yield Difference(call, field, shown(old.data), shown(new.data))
        else:
            yield Difference(call, f"response {index}", _which(old), _which(new))


def _first_byte(call: int, recorded: bytes, replayed: bytes, why: str) -> Difference:
    pairs = zip_longest(recorded, replayed)
    at = next(index for index, (old, new) in enumerate(pairs) if old != new)
    field = f"response byte {at:#x}{why}"
    return Difference(call, field, shown(recorded[at:]), shown(replayed[at:]))


def _which(response: Response | None) -> str:
    return "none" if response is None else f"query {response.query} = {shown(response.data)}"


def shown(data: bytes) -> str:
    """Bytes in hexadecimal, at most the first 16."""
    text = data[:_SHOWN].hex(" ") or "nothing"
    return text + (" ..." if len(data) > _SHOWN else "")


# Observations of a program

TIMELESS = frozenset({QueryType.EVENT, QueryType.OCCLUSION, QueryType.VERTEXSTATS})
"""Query types whose answers depend on neither time nor machine."""


class GetDataResult(NamedTuple):
    """The result of GetData in a replay: S_OK with a whole answer, or S_FALSE with empty data."""

    hr: int
    data: bytes


def get_data(query: int, ledger: QueryLedger) -> GetDataResult:
    """The result of GetData for a query, given the answers delivered so far.

    For a query that was never issued the runtime returns filler bytes (``runtime.query``).
    """
    if not ledger.was_issued(query):
        size = ledger.size_of(query) or 0
        return GetDataResult(HResult.S_OK, bytes([NEVER_ISSUED]) * size)
    data = ledger.answer_to(query)
    hr = HResult.S_FALSE if data is None else HResult.S_OK
    return GetDataResult(hr, data or b"")


def is_compared(record: Observed, ledger: QueryLedger) -> bool:
    """Whether a GetData must have the recorded result in a replay.

    It must if it returned S_OK and the query's answer does not depend on time.
    """
    return record.hr == HResult.S_OK and ledger.type_of(record.query) in TIMELESS


def observation_differs(
    record: Observed, result: GetDataResult, kind: int, frame: int
) -> Difference | None:
    """The difference of a GetData of a query of type ``kind`` from the recorded one, or None.

    Compares the bytes that the program asked for, up to the size of the type.
    """
    name = sdk_name(QueryType, kind) or f"type {kind}"
    field = f"query {record.query} ({name})"
    if record.hr != result.hr:
        return Difference(record.call, field, hr_name(record.hr), hr_name(result.hr), frame, True)
    recorded = record.data[: len(result.data)]
    replayed = result.data[: len(recorded)]
    if recorded == replayed:
        return None
    return Difference(
        record.call, field, _value(kind, recorded), _value(kind, replayed), frame, True
    )


def _value(kind: int, data: bytes) -> str:
    """A query's answer as text: its value if ``data`` is complete, else its bytes."""
    whole = len(data) == KINDS[kind].layout.size
    return str(payload_value(kind, data)) if whole else shown(data)


def observation_row(
    record: Observed,
    result: GetDataResult,
    kind: int | None,
    frame: int,
    difference: Difference | None,
) -> dict[str, Any]:
    """The row of a GetData in the list ``queries`` of replay JSON."""
    return {
        "call": record.call,
        "query": record.query,
        "type": sdk_name(QueryType, kind or 0),
        "type_raw": kind or 0,
        "hr": f"0x{result.hr:08x}",
        "value": payload_value(kind, result.data) if kind is not None else None,
        "frame": frame,
        "context": record.context,
        "recorded": {
            "hr": f"0x{record.hr:08x}",
            "bytes": record.data.hex(),
            "same": difference is None,
        },
    }


def answer_row(
    record: Observed, result: GetDataResult, kind: str | None, frame: int, same: bool
) -> dict[str, Any]:
    """The row of a GetData in the list ``get_data`` of replay JSON: what the program receives.

    ``kind`` is the name of the query's type, None if the query is unknown.
    """
    return {
        "call": record.call,
        "hr": result.hr,
        "hex": result.data[: len(record.data)].hex(),
        "query": record.query,
        "type": kind,
        "frame": frame,
        "same": same,
    }


def pixels_differ(record: Pictured, surface: Surface, frame: int) -> Difference | None:
    """The first difference of a surface's pixels from those that the program read, or None.

    Of a Direct3D 10/11 resource it is the first difference of bytes.
    """
    if record.how in OF_RESOURCES:
        data = take_content(surface, record.index).data
        if data == record.data:
            return None
        at = first_difference(data, record.data)
        field = f"byte {at} of the resource in memory {record.handle}"
        return Difference(
            record.call, field, shown(record.data[at:]), shown(data[at:]), frame, True
        )
    found = differing_texel(surface, record.index, record.data)
    if found is None:
        return None
    field = f"pixel {found.x}, {found.y} of surface {record.handle}"
    return Difference(record.call, field, shown(found.expected), shown(found.found), frame, True)
