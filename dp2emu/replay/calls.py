"""One call of a replay: submitted, its answer read, its row of the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.d3d.sdk import sdk_name
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.stream import CommandStream
from dp2emu.errors import Dp2Error, Fault, ResponseError, Unsupported
from dp2emu.limits import Limits
from dp2emu.replay.compare import same_fault
from dp2emu.replay.ledger import QueryLedger
from dp2emu.replay.values import payload_value
from dp2emu.rig.interface import Rig
from dp2emu.runtime.responses import Response, Responses, parse_responses


class Performed(msgspec.Struct, frozen=True):
    """A call that has returned.

    ``error`` is why it failed, or how its response breaks the protocol; then ``responses`` is
    empty.  A call that raised has an answer made up here, with DDERR_UNSUPPORTED or the fault's
    code, so that every call has one.  ``ledger`` is None for an unknown context.
    """

    number: int
    call: Call
    answer: Answer
    responses: Responses
    error: Dp2Error | None
    ledger: QueryLedger | None

    def size_of(self, query: int) -> int | None:
        """Payload bytes of a query id in the call's context, None if there is none."""
        return self.ledger.size_of(query) if self.ledger else None

    def failed_as(self, recorded: Answer | None) -> bool:
        """Whether the call failed, and just so when it was recorded."""
        if self.error is None or isinstance(self.error, (Unsupported, ResponseError)):
            return False
        return same_fault(recorded, self.answer)


def submit(rig: Rig, number: int, call: Call, ledger: QueryLedger | None) -> Performed:
    """Make a call and read its answer; raises nothing a driver or a stream can cause."""
    commands = CommandStream(call, _command_bytes(rig, call))
    answer, error = _answer(rig, call)
    responses = Responses((), False)
    if ledger is not None:
        begun = error is None or error.token is not None
        try:
            ledger.enter(number, commands, answer.dwErrorOffset if error else None, begun=begun)
            responses = parse_responses(answer.response, ledger.size_of)
        except (Fault, ResponseError) as broken:
            error = error or broken
        for response in responses.records:
            ledger.deliver(number, response.query, response.data)
    return Performed(number, call, answer, responses, error, ledger)


def row_of(performed: Performed, recorded: Answer | None) -> dict[str, Any]:
    """The row of ``calls`` in the document; ``recorded`` is the answer in the capture, if any."""
    answer = performed.answer
    return {
        "call": performed.number,
        "context": performed.call.dwhContext,
        **_result(answer),
        "time": answer.time,
        "responses": list(_responses(performed)),
        "more": performed.responses.more,
        "bytes": answer.response.hex(),
        "fault": _fault(performed.error),
        "recorded": _recorded(answer, recorded),
    }


def _command_bytes(rig: Rig, call: Call) -> bytes:
    """What the driver will find at dwCommandOffset; nothing if it will not look there."""
    if call.dwCommandLength > Limits().call_bytes:
        return b""
    given = call.commands or b""
    if len(given) >= call.dwCommandLength:
        return given
    try:
        there = rig.read(call.lpDDCommands, call.dwCommandOffset, call.dwCommandLength)
    except Dp2Error:
        return b""
    return given + there[len(given) :]


def _answer(rig: Rig, call: Call) -> tuple[Answer, Dp2Error | None]:
    try:
        answer = rig.submit(call)
    except Dp2Error as error:
        hr = error.hr if isinstance(error, Fault) else HResult.DDERR_UNSUPPORTED
        return Answer(hr, error.offset or 0, int(getattr(rig, "time", 0))), error
    if answer.ddrval == 0:
        return answer, None
    unsaid = Fault(answer.ddrval, hr_name(answer.ddrval), offset=answer.dwErrorOffset)
    return answer, answer.fault or unsaid


def _result(answer: Answer) -> dict[str, Any]:
    return {
        "ddrval": f"0x{answer.ddrval:08x}",
        "ddrval_name": hr_name(answer.ddrval),
        "dwErrorOffset": answer.dwErrorOffset,
    }


def _responses(performed: Performed) -> Iterator[dict[str, Any]]:
    ledger = performed.ledger
    for response in performed.responses.records:
        kind = ledger.type_of(response.query) if ledger else None
        yield _response(response, kind or 0)


def _response(response: Response, kind: int) -> dict[str, Any]:
    return {
        "query": response.query,
        "type": sdk_name(QueryType, kind),
        "type_raw": kind,
        "size": len(response.data),
        "value": payload_value(kind, response.data),
        "raw": response.data.hex(),
    }


def _fault(error: Dp2Error | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {
        "what": error.what,
        "offset": error.offset,
        "token": error.token,
        "unsupported": isinstance(error, Unsupported),
    }


def _recorded(answer: Answer, recorded: Answer | None) -> dict[str, Any] | None:
    if recorded is None:
        return None
    same = _result(answer) == _result(recorded) and answer.response == recorded.response
    return {**_result(recorded), "bytes": recorded.response.hex(), "same": same}
