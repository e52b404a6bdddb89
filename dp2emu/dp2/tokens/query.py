"""Tokens of asynchronous queries (wire format, "Queries")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dp2emu.d3d.dp2structs import (
    D3DHAL_DP2CREATEQUERY,
    D3DHAL_DP2DELETEQUERY,
    D3DHAL_DP2ISSUEQUERY,
    Op,
)
from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.table import Body, token

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context


@token(
    Op.CREATEQUERY,
    "54 00 01 00 05 00 00 00 09 00 00 00",
    items=D3DHAL_DP2CREATEQUERY,
    enums={"QueryType": QueryType},
)
def create_query(context: Context, body: Body) -> None:
    """Make query objects; ids are the runtime's choice, a live id is replaced."""
    for query_id, kind in body.items.tolist():
        context.queries.create(query_id, kind)


@token(Op.DELETEQUERY, "5A 00 01 00 05 00 00 00", items=D3DHAL_DP2DELETEQUERY)
def delete_query(context: Context, body: Body) -> None:
    """Drop query objects; results still under way are discarded."""
    for (query_id,) in body.items.tolist():
        context.queries.delete(query_id)


@token(
    Op.ISSUEQUERY,
    "5B 00 01 00 05 00 00 00 02 00 00 00",
    "5B 00 01 00 05 00 00 00 01 00 00 00",
    items=D3DHAL_DP2ISSUEQUERY,
)
def issue_query(context: Context, body: Body) -> None:
    """Begin (2) or end (1) queries in stream order with the draws."""
    for query_id, flags in body.items.tolist():
        context.queries.issue(query_id, flags)
