"""Answers of queries in the recording that is played: those of its driver, or of its program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.capture.values import Memory, Structure
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import ResponseError
from dp2emu.replay.calls import Performed
from dp2emu.runtime.responses import parse_responses

GET_DATA = "QueryGetData"


class QueryKey(NamedTuple):
    """A query in a recording: ``context`` and ``query`` id of a D3dDrawPrimitives2 query, or the
    number of the object of one of Direct3D 10/11 (``ddi``) and 0.
    """

    ddi: bool
    context: int
    query: int


class RecordedAnswer(msgspec.Struct, frozen=True):
    """An answer in a recording: its ``data``, fewer bytes than a whole answer has if the program
    asked for fewer, and the number of the ``call`` or of the program's ``api_call`` that had it.
    """

    data: bytes
    call: int
    api_call: int | None = None


def recorded_answers(
    record: Record, last: Performed | None, call: int
) -> Iterator[tuple[QueryKey, RecordedAnswer]]:
    """Yield the answers in a record: responses, or what GetData returned with S_OK.

    ``last`` is the call of D3dDrawPrimitives2 that was performed last, ``call`` the number of the
    last call of Direct3D 10/11.  A malformed response has none.
    """
    if isinstance(record, records.Answered):
        if last is not None:
            yield from _of_response(record.answer.response, last)
    elif isinstance(record, records.Observed):
        if record.hr == HResult.S_OK and record.query:
            key = QueryKey(record.context == 0, record.context, record.query)
            yield key, RecordedAnswer(record.data, call, record.call)
    elif isinstance(record, records.EntryCalled) and record.entry == GET_DATA:
        yield from _of_entry(record, call)


def _of_response(response: bytes, last: Performed) -> Iterator[tuple[QueryKey, RecordedAnswer]]:
    try:
        found = parse_responses(response, last.size_of).records
    except ResponseError:
        return
    for each in found:
        key = QueryKey(False, last.call.dwhContext, each.query)
        yield key, RecordedAnswer(each.data, last.number)


def _of_entry(
    record: records.EntryCalled, call: int
) -> Iterator[tuple[QueryKey, RecordedAnswer]]:  # fmt: skip
    """Yield the answer of a QueryGetData that reported no error and asked for one."""
    if record.codes or isinstance(record.result, Structure) or len(record.arguments) < 2:
        return
    query, data = record.arguments[:2]
    if isinstance(query, Memory) and isinstance(data, bytes):
        # Memory is recorded as it was before the call, and again if the call changed it.
        data = record.written[0][1] if record.written else data
        yield QueryKey(True, 0, query.number), RecordedAnswer(data, call)
