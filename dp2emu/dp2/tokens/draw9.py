"""DirectX 8 and 9 drawing from bound streams (wire format, "DirectX 8 opcodes" and "Vertex
sources")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dp2emu.d3d.dp2structs import (
    D3DHAL_CLIPPEDTRIANGLEFAN,
    D3DHAL_DP2DRAWINDEXEDPRIMITIVE,
    D3DHAL_DP2DRAWINDEXEDPRIMITIVE2,
    D3DHAL_DP2DRAWPRIMITIVE,
    D3DHAL_DP2DRAWPRIMITIVE2,
)
from dp2emu.d3d.enums import PrimitiveType
from dp2emu.dp2.table import Body, Op, Since, token

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context

_TOPOLOGY = {"primType": PrimitiveType}


@token(
    Op.DRAWPRIMITIVE,
    since=Since.DX8,
    items=D3DHAL_DP2DRAWPRIMITIVE,
    enums=_TOPOLOGY,
    samples=("34 00 01 00 04 00 00 00 00 00 00 00 02 00 00 00",),
)
def draw_primitive(context: Context, body: Body) -> None:
    """Draw from the bound streams, starting at vertex VStart."""
    for topology, first, count in body.items.tolist():
        context.draw_streams(topology, first, count)


@token(
    Op.DRAWINDEXEDPRIMITIVE,
    since=Since.DX8,
    items=D3DHAL_DP2DRAWINDEXEDPRIMITIVE,
    enums=_TOPOLOGY,
    samples=(
        "35 00 01 00 04 00 00 00 FE FF FF FF 00 00 00 00 04 00 00 00 06 00 00 00 02 00 00 00",
    ),
)
def draw_indexed_primitive(context: Context, body: Body) -> None:
    """Draw from the bound streams and indices; MinIndex and NumVertices are only a hint."""
    for topology, base, _, _, start, count in body.items.tolist():
        context.draw_streams_indexed(topology, base, start, count)


@token(
    Op.CLIPPEDTRIANGLEFAN,
    since=Since.DX8,
    items=D3DHAL_CLIPPEDTRIANGLEFAN,
    samples=("3A 00 01 00 40 00 00 00 07 00 00 00 02 00 00 00",),
)
def clipped_triangle_fan(context: Context, body: Body) -> None:
    """Draw a fan the runtime clipped, from stream 0 at a byte offset."""
    for offset, edge_flags, count in body.items.tolist():
        context.draw_clipped_fan(count, offset, edge_flags)


@token(
    Op.DRAWPRIMITIVE2,
    since=Since.DX8,
    items=D3DHAL_DP2DRAWPRIMITIVE2,
    enums=_TOPOLOGY,
    samples=("3B 00 01 00 04 00 00 00 40 00 00 00 02 00 00 00",),
)
def draw_primitive_2(context: Context, body: Body) -> None:
    """Draw vertices the runtime transformed, from stream 0 at a byte offset."""
    for topology, offset, count in body.items.tolist():
        context.draw_streams(topology, 0, count, byte_offset=offset)


@token(
    Op.DRAWINDEXEDPRIMITIVE2,
    since=Since.DX8,
    items=D3DHAL_DP2DRAWINDEXEDPRIMITIVE2,
    enums=_TOPOLOGY,
    samples=(
        "3C 00 01 00 04 00 00 00 40 00 00 00 00 00 00 00 04 00 00 00 0C 00 00 00 02 00 00 00",
    ),
)
def draw_indexed_primitive_2(context: Context, body: Body) -> None:
    """Like DRAWINDEXEDPRIMITIVE with the base vertex and the first index as byte offsets."""
    for topology, base, _, _, start, count in body.items.tolist():
        context.draw_streams_indexed(topology, 0, 0, count, base_bytes=base, start_bytes=start)
