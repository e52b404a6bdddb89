"""Vertex streams and indices for DirectX 8 and 9 drawing (wire format, "Vertex sources")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dp2emu.d3d.dp2structs import (
    D3DHAL_DP2SETINDICES,
    D3DHAL_DP2SETSTREAMSOURCE,
    D3DHAL_DP2SETSTREAMSOURCE2,
    D3DHAL_DP2SETSTREAMSOURCEFREQ,
    D3DHAL_DP2SETSTREAMSOURCEUM,
)
from dp2emu.dp2.states.setting_kinds import ONLY, Kind
from dp2emu.dp2.table import Body, Op, Since, token

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context


@token(
    Op.SETSTREAMSOURCE,
    since=Since.DX8,
    items=D3DHAL_DP2SETSTREAMSOURCE,
    samples=("31 00 01 00 00 00 00 00 05 00 00 00 14 00 00 00",),
)
def set_stream_source(context: Context, body: Body) -> None:
    """Bind a vertex buffer to a stream; handle 0 unbinds, stride 0 repeats one vertex."""
    for stream, handle, stride in body.items.tolist():
        context.put(Kind.STREAM, stream, (handle, 0, stride))


@token(
    Op.SETSTREAMSOURCEUM,
    since=Since.DX8,
    items=D3DHAL_DP2SETSTREAMSOURCEUM,
    samples=("32 00 01 00 00 00 00 00 14 00 00 00",),
)
def set_stream_source_um(context: Context, body: Body) -> None:
    """Make a stream read the user memory behind lpVertices of the call that draws."""
    for stream, stride in body.items.tolist():
        context.put(Kind.STREAM, stream, (stride,))


@token(
    Op.SETINDICES,
    since=Since.DX8,
    items=D3DHAL_DP2SETINDICES,
    samples=("33 00 01 00 06 00 00 00 02 00 00 00",),
)
def set_indices(context: Context, body: Body) -> None:
    """Bind an index buffer of 2- or 4-byte indices; handle 0 unbinds."""
    for bound in body.items.tolist():
        context.put(Kind.INDICES, ONLY, bound)


@token(
    Op.SETSTREAMSOURCE2,
    since=Since.DX9,
    items=D3DHAL_DP2SETSTREAMSOURCE2,
    samples=("50 00 01 00 00 00 00 00 05 00 00 00 20 00 00 00 14 00 00 00",),
)
def set_stream_source_2(context: Context, body: Body) -> None:
    """Bind a vertex buffer to a stream from a byte offset; handle 0 unbinds."""
    for stream, handle, offset, stride in body.items.tolist():
        context.put(Kind.STREAM, stream, (handle, offset, stride))


@token(
    Op.SETSTREAMSOURCEFREQ,
    since=Since.DX9,
    items=D3DHAL_DP2SETSTREAMSOURCEFREQ,
    samples=("5F 00 01 00 00 00 00 00 01 00 00 00",),
)
def set_stream_frequency(context: Context, body: Body) -> None:
    """Set how often a stream advances: divider or instancing flags."""
    for stream, value in body.items.tolist():
        context.put(Kind.FREQUENCY, stream, value)
