"""Queries and what the program observed of them."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.flags import D3DGETDATA_FLUSH
from dp2emu.d3d.hresult import HResult
from dp2emu.retrace.arguments import Arguments, flattened, integer
from dp2emu.retrace.d3d9.held import application, enumerator, hand_out, held, on, silent
from dp2emu.retrace.d3d9.root import DEVICES
from dp2emu.retrace.program import Program
from dp2emu.runtime.query import Query, QueryState

_QUERY = "IDirect3DQuery9"

silent(_QUERY, "GetType GetDataSize", "A question; the driver is not told.")


@on(DEVICES, "CreateQuery")
def create_query(program: Program, call: Arguments) -> None:
    """A query object; without a place for it only a question."""
    if call.has("ppQuery"):
        app = application(call)
        kind = enumerator(QueryType, call.integer("Type"))
        hand_out(program, call, "ppQuery", app, app.device.create_query(kind))


@on(_QUERY, "Issue")
def issue(program: Program, call: Arguments) -> None:
    """BEGIN, END or both."""
    _, query = held(call, Query)
    query.issue(call.integer("dwIssueFlags"))


@on(_QUERY, "GetData")
def get_data(program: Program, call: Arguments) -> None:
    """The first S_OK waits for the answer and is what a replay compares; S_FALSE at most submits
    what waits.
    """
    app, query = held(call, Query)
    if call.result == HResult.S_FALSE:
        if call.integer("dwGetDataFlags") & D3DGETDATA_FLUSH:
            app.session.flush()
        return
    if query.state is not QueryState.CREATED:
        query.wait(query.data_size)
    app.session.observe(call.number, query.id, call.result, observed(call, query))


def observed(call: Arguments, query: Query) -> bytes:
    """The bytes GetData gave, as many as were asked for.

    The tracer writes a datum at its full size whatever the program asked for, so that the rest of
    a shorter one is foreign.
    """
    size = min(call.integer("dwSize"), query.data_size)
    if size <= 0 or not call.has("pData"):
        return b""
    value = call.value("pData")
    if isinstance(value, bytes):
        return value[:size]
    leaves = [leaf for leaf in flattened(value) if not isinstance(leaf, str | bytes | Struct)]
    each = query.data_size // max(len(leaves), 1)
    mask = (1 << 8 * each) - 1
    whole = b"".join((integer(leaf) & mask).to_bytes(each, "little") for leaf in leaves)
    return whole[:size]
