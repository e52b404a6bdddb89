"""DirectX 6 and 7 drawing: the vertices of the call, indices in the stream.

Source: wire format, "DirectX 6 opcodes" and "Vertex numbers".  Indices of tokens with a wVStart
are relative to it and are added in 32 bits; tokens 2 and 3 index absolutely.  Edge flags matter in
wireframe fill mode only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d import dp2structs as structs
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import PrimitiveType
from dp2emu.dp2.table import Body, token

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context


def _vertex_numbers(body: Body) -> NDArray[np.uint32]:
    """The indices of the body as absolute vertex numbers, uint32, one dimension."""
    start = int(body.head["wVStart"]) if body.head is not None else 0
    names = [name for name in body.items.dtype.names or () if name != "wFlags"]
    columns = [body.items[name] for name in names] or [body.items]
    return np.stack(columns, axis=-1, dtype=np.uint32, casting="safe").ravel() + np.uint32(start)


def _draw_from_start(context: Context, topology: PrimitiveType, body: Body) -> None:
    context.draw_call(topology, int(body.head["wVStart"]), body.count)


def _draw_indexed(context: Context, topology: PrimitiveType, body: Body) -> None:
    context.draw_call_indexed(topology, _vertex_numbers(body), body.count)


@token(Op.POINTS, "01 00 01 00 03 00 02 00", items=structs.D3DHAL_DP2POINTS)
def points(context: Context, body: Body) -> None:
    """Draw runs of points, each wCount vertices from wVStart."""
    for count, start in body.items.tolist():
        context.draw_call(PrimitiveType.POINTLIST, start, count)


@token(
    Op.INDEXEDLINELIST,
    "02 00 02 00 00 00 01 00 01 00 02 00",
    items=structs.D3DHAL_DP2INDEXEDLINELIST,
)
def indexed_line_list(context: Context, body: Body) -> None:
    """Draw n lines between absolute vertex numbers."""
    _draw_indexed(context, PrimitiveType.LINELIST, body)


@token(
    Op.INDEXEDTRIANGLELIST,
    "03 00 01 00 00 00 01 00 02 00 00 07",
    items=structs.D3DHAL_DP2INDEXEDTRIANGLELIST,
)
def indexed_triangle_list(context: Context, body: Body) -> None:
    """Draw n triangles between absolute vertex numbers; wFlags are edge flags."""
    numbers, edge_flags = _vertex_numbers(body), body.items["wFlags"].copy()
    context.draw_call_indexed(PrimitiveType.TRIANGLELIST, numbers, body.count, edge_flags)


@token(Op.LINELIST, "0F 00 02 00 04 00", head=structs.D3DHAL_DP2LINELIST)
def line_list(context: Context, body: Body) -> None:
    """Draw n lines from 2n vertices."""
    _draw_from_start(context, PrimitiveType.LINELIST, body)


@token(Op.LINESTRIP, "10 00 02 00 00 00", head=structs.D3DHAL_DP2LINESTRIP)
def line_strip(context: Context, body: Body) -> None:
    """Draw n connected lines from n+1 vertices."""
    _draw_from_start(context, PrimitiveType.LINESTRIP, body)


@token(
    Op.INDEXEDLINESTRIP,
    "11 00 02 00 05 00 00 00 01 00 02 00",
    head=structs.D3DHAL_DP2STARTVERTEX,
    items=structs.INDEX,
    count=lambda n: n + 1,
)
def indexed_line_strip(context: Context, body: Body) -> None:
    """Draw n connected lines through n+1 indices relative to wVStart."""
    _draw_indexed(context, PrimitiveType.LINESTRIP, body)


@token(Op.TRIANGLELIST, "12 00 02 00 03 00", head=structs.D3DHAL_DP2TRIANGLELIST)
def triangle_list(context: Context, body: Body) -> None:
    """Draw n triangles from 3n vertices."""
    _draw_from_start(context, PrimitiveType.TRIANGLELIST, body)


@token(Op.TRIANGLESTRIP, "13 00 02 00 00 00", head=structs.D3DHAL_DP2TRIANGLESTRIP)
def triangle_strip(context: Context, body: Body) -> None:
    """Draw a strip of n triangles from n+2 vertices."""
    _draw_from_start(context, PrimitiveType.TRIANGLESTRIP, body)


@token(
    Op.INDEXEDTRIANGLESTRIP,
    "14 00 02 00 00 00 00 00 01 00 02 00 03 00",
    head=structs.D3DHAL_DP2STARTVERTEX,
    items=structs.INDEX,
    count=lambda n: n + 2,
)
def indexed_triangle_strip(context: Context, body: Body) -> None:
    """Draw a strip of n triangles through n+2 indices relative to wVStart."""
    _draw_indexed(context, PrimitiveType.TRIANGLESTRIP, body)


@token(Op.TRIANGLEFAN, "15 00 02 00 00 00", head=structs.D3DHAL_DP2TRIANGLEFAN)
def triangle_fan(context: Context, body: Body) -> None:
    """Draw a fan of n triangles from n+2 vertices."""
    _draw_from_start(context, PrimitiveType.TRIANGLEFAN, body)


@token(
    Op.INDEXEDTRIANGLEFAN,
    "16 00 02 00 04 00 00 00 01 00 02 00 03 00",
    head=structs.D3DHAL_DP2STARTVERTEX,
    items=structs.INDEX,
    count=lambda n: n + 2,
)
def indexed_triangle_fan(context: Context, body: Body) -> None:
    """Draw a fan of n triangles through n+2 indices relative to wVStart."""
    _draw_indexed(context, PrimitiveType.TRIANGLEFAN, body)


@token(
    Op.TRIANGLEFAN_IMM,
    "17 00 01 00 07 00 00 00" + 3 * " 00 00 80 3F 00 00 80 3F 00 00 00 3F 00 00 80 3F"
    " FF FF FF FF 00 00 00 00 00 00 00 00 00 00 00 00",
    head=structs.D3DHAL_DP2TRIANGLEFAN_IMM,
    vertices=lambda n: n + 2,
)
def triangle_fan_immediate(context: Context, body: Body) -> None:
    """Draw a fan of n triangles from n+2 vertices in the stream, clipped by the runtime."""
    edges = int(body.head["dwEdgeFlags"])
    _draw_immediate(context, PrimitiveType.TRIANGLEFAN, body, edges)


@token(
    Op.LINELIST_IMM,
    "18 00 01 00" + 2 * " 00 00 80 3F 00 00 80 3F 00 00 00 3F 00 00 80 3F"
    " FF FF FF FF 00 00 00 00 00 00 00 00 00 00 00 00",
    vertices=lambda n: 2 * n,
)
def line_list_immediate(context: Context, body: Body) -> None:
    """Draw n lines from 2n vertices in the stream, clipped by the runtime."""
    _draw_immediate(context, PrimitiveType.LINELIST, body, 0)


def _draw_immediate(
    context: Context, topology: PrimitiveType, body: Body, edge_flags: int
) -> None:
    # A fan of no triangles still has two vertices; it draws nothing (wire format, "Inline
    # vertices").
    if body.count:
        context.draw_immediate(topology, bytes(body.vertices), body.count, edge_flags)


@token(
    Op.INDEXEDTRIANGLELIST2,
    "1A 00 01 00 03 00 00 00 01 00 02 00",
    head=structs.D3DHAL_DP2STARTVERTEX,
    items=structs.D3DHAL_DP2INDEXEDTRIANGLELIST2,
)
def indexed_triangle_list_2(context: Context, body: Body) -> None:
    """Draw n triangles between vertex numbers relative to wVStart."""
    _draw_indexed(context, PrimitiveType.TRIANGLELIST, body)


@token(
    Op.INDEXEDLINELIST2,
    "1B 00 01 00 03 00 00 00 01 00",
    head=structs.D3DHAL_DP2STARTVERTEX,
    items=structs.D3DHAL_DP2INDEXEDLINELIST,
)
def indexed_line_list_2(context: Context, body: Body) -> None:
    """Draw n lines between vertex numbers relative to wVStart."""
    _draw_indexed(context, PrimitiveType.LINELIST, body)
