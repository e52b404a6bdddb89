"""Tokens of asynchronous queries, and the extension token (wire format, "Queries", "DirectX 7
opcodes" and "Ambiguous lengths").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dp2emu.d3d import dp2structs as structs
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.words import BYTE
from dp2emu.dp2.table import Body, Tail, token
from dp2emu.errors import Fault

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context


@token(
    Op.CREATEQUERY,
    "54 00 01 00 05 00 00 00 09 00 00 00",
    items=structs.D3DHAL_DP2CREATEQUERY,
    enums={"QueryType": QueryType},
)
def create_query(context: Context, body: Body) -> None:
    """Make query objects; ids are the runtime's choice, a live id is replaced."""
    for query_id, kind in body.items.tolist():
        context.queries.create(query_id, kind)


@token(Op.DELETEQUERY, "5A 00 01 00 05 00 00 00", items=structs.D3DHAL_DP2DELETEQUERY)
def delete_query(context: Context, body: Body) -> None:
    """Drop query objects; results still under way are discarded."""
    for (query_id,) in body.items.tolist():
        context.queries.delete(query_id)


@token(
    Op.ISSUEQUERY,
    "5B 00 01 00 05 00 00 00 02 00 00 00",
    "5B 00 01 00 05 00 00 00 01 00 00 00",
    items=structs.D3DHAL_DP2ISSUEQUERY,
)
def issue_query(context: Context, body: Body) -> None:
    """Begin (2) or end (1) queries in stream order with the draws."""
    for query_id, flags in body.items.tolist():
        context.queries.issue(query_id, flags)


def _extension_bytes(item: Any) -> int:
    """Number of data bytes after an EXT item: dwSize without the 8 bytes of the item."""
    return max(int(item["dwSize"]) - 8, 0)


@token(
    Op.EXT,
    "25 00 01 00 01 00 00 00 0C 00 00 00 AA BB CC DD",
    items=structs.D3DHAL_DP2EXT,
    tail=Tail((("data", BYTE, _extension_bytes),)),
)
def ext(context: Context, body: Body) -> None:
    """Extension point of DirectX 7; no use of it is documented, so it is refused."""
    raise Fault(
        HResult.D3DERR_COMMAND_UNPARSED, "an extension token, whose meaning is not documented"
    )
