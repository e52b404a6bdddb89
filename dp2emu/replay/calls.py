"""Calls of D3dDrawPrimitives2 in a replay: their submission, and their rows in replay JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.d3d.sdk import sdk_name
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.parsers import WALK
from dp2emu.dp2.stream import CommandStream
from dp2emu.errors import DecodingDisagreement, Dp2Error, Fault, ResponseError, Unsupported
from dp2emu.limits import Limits
from dp2emu.replay import compare
from dp2emu.replay.ledger import QueryLedger
from dp2emu.replay.values import payload_value
from dp2emu.rig.interface import Rig
from dp2emu.runtime.responses import Response, Responses, parse_responses


class Performed(msgspec.Struct, frozen=True):
    """A call that has returned, with its answer and the responses in it.

    ``error`` says why the call failed or its response is malformed, else it is None.  A malformed
    response has no ``responses``.  If the driver raised, ``answer`` has the fault's code or
    DDERR_UNSUPPORTED.  ``ledger`` is None for an unknown context.  ``commands`` are the command
    bytes of the call, also if they came from its command surface.
    """

    number: int
    call: Call
    answer: Answer
    responses: Responses
    error: Dp2Error | None
    ledger: QueryLedger | None
    commands: bytes = b""

    def size_of(self, query: int) -> int | None:
        """Payload size in bytes of a query of the call's context, None for an unknown query."""
        return self.ledger.size_of(query) if self.ledger else None

    def failed_as(self, recorded: Answer | None) -> bool:
        """Whether the call failed with the recorded code, at the recorded offset."""
        if self.error is None or isinstance(self.error, (Unsupported, ResponseError)):
            return False
        return compare.same_fault(recorded, self.answer)


def submit(
    rig: Rig, number: int, call: Call, ledger: QueryLedger | None, parser: str = WALK
) -> Performed:
    """Submit a call and parse its answer; errors of driver and stream are returned, not raised.

    ``parser`` names the decoder that reads the responses, from ``dp2.parsers``.
    """
    data = _command_bytes(rig, call)
    commands = CommandStream(call, data)
    answer, error = _answer(rig, call)
    responses = Responses((), False)
    if ledger is not None:
        begun = error is None or error.token is not None
        try:
            ledger.enter(number, commands, answer.dwErrorOffset if error else None, begun=begun)
            responses = parse_responses(answer.response, ledger.size_of, parser)
        except (DecodingDisagreement, Fault, ResponseError) as broken:
            error = error or broken
        for response in responses.records:
            ledger.deliver(number, response.query, response.data)
    return Performed(number, call, answer, responses, error, ledger, data)


def row_of(performed: Performed, recorded: Answer | None) -> dict[str, Any]:
    """The row of a call in the list ``calls`` of replay JSON, with the ``recorded`` answer."""
    answer = performed.answer
    return {
        "call": performed.number,
        "context": performed.call.dwhContext,
        **_result(answer),
        "time": answer.time,
        "responses": [_response(performed, each) for each in performed.responses.records],
        "more": performed.responses.more,
        "bytes": answer.response.hex(),
        "fault": _fault(performed.error),
        "recorded": _recorded(answer, recorded),
    }


def _command_bytes(rig: Rig, call: Call) -> bytes:
    """The command bytes of a call, the missing ones read from its command surface.

    Empty if the driver will refuse the call before it reads any: if they are too many, or in
    memory that cannot be read.
    """
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


def _response(performed: Performed, response: Response) -> dict[str, Any]:
    ledger = performed.ledger
    kind = (ledger.type_of(response.query) if ledger else None) or 0
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
