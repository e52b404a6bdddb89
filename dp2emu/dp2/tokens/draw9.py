"""DirectX 8 and 9 drawing from bound streams (wire format, "DirectX 8 opcodes" and "Vertex
sources").
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from construct import Array

from dp2emu.d3d import dp2structs as structs
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.flags import PatchFlags
from dp2emu.d3d.words import FLOAT
from dp2emu.dp2.states.setting_kinds import ONLY, Kind
from dp2emu.dp2.table import Body, Tail, token

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context


_TOPOLOGY = {"primType": PrimitiveType}


@token(
    Op.DRAWPRIMITIVE,
    "34 00 01 00 04 00 00 00 00 00 00 00 02 00 00 00",
    items=structs.D3DHAL_DP2DRAWPRIMITIVE,
    enums=_TOPOLOGY,
)
def draw_primitive(context: Context, body: Body) -> None:
    """Draw from the bound streams, starting at vertex VStart."""
    for topology, first, count in body.items.tolist():
        context.draw_streams(topology, first, count)


@token(
    Op.DRAWINDEXEDPRIMITIVE,
    "35 00 01 00 04 00 00 00 FE FF FF FF 00 00 00 00 04 00 00 00 06 00 00 00 02 00 00 00",
    items=structs.D3DHAL_DP2DRAWINDEXEDPRIMITIVE,
    enums=_TOPOLOGY,
)
def draw_indexed_primitive(context: Context, body: Body) -> None:
    """Draw from the bound streams and indices; MinIndex and NumVertices are only a hint."""
    for topology, base, _, _, start, count in body.items.tolist():
        context.draw_streams_indexed(topology, base, start, count)


@token(
    Op.CLIPPEDTRIANGLEFAN,
    "3A 00 01 00 40 00 00 00 07 00 00 00 02 00 00 00",
    items=structs.D3DHAL_CLIPPEDTRIANGLEFAN,
)
def clipped_triangle_fan(context: Context, body: Body) -> None:
    """Draw a fan the runtime clipped, from stream 0 at a byte offset."""
    for offset, edge_flags, count in body.items.tolist():
        context.draw_clipped_fan(count, offset, edge_flags)


@token(
    Op.DRAWPRIMITIVE2,
    "3B 00 01 00 04 00 00 00 40 00 00 00 02 00 00 00",
    items=structs.D3DHAL_DP2DRAWPRIMITIVE2,
    enums=_TOPOLOGY,
)
def draw_primitive_2(context: Context, body: Body) -> None:
    """Draw vertices the runtime transformed, from stream 0 at a byte offset."""
    for topology, offset, count in body.items.tolist():
        context.draw_streams(topology, 0, count, byte_offset=offset)


@token(
    Op.DRAWINDEXEDPRIMITIVE2,
    "3C 00 01 00 04 00 00 00 40 00 00 00 00 00 00 00 04 00 00 00 0C 00 00 00 02 00 00 00",
    items=structs.D3DHAL_DP2DRAWINDEXEDPRIMITIVE2,
    enums=_TOPOLOGY,
)
def draw_indexed_primitive_2(context: Context, body: Body) -> None:
    """Like DRAWINDEXEDPRIMITIVE with the base vertex and the first index as byte offsets."""
    for topology, base, _, _, start, count in body.items.tolist():
        context.draw_streams_indexed(topology, 0, 0, count, base_bytes=base, start_bytes=start)


# Vertex streams and indices for DirectX 8 and 9 drawing (wire format, "Vertex sources").


@token(
    Op.SETSTREAMSOURCE,
    "31 00 01 00 00 00 00 00 05 00 00 00 14 00 00 00",
    items=structs.D3DHAL_DP2SETSTREAMSOURCE,
)
def set_stream_source(context: Context, body: Body) -> None:
    """Bind a vertex buffer to a stream; handle 0 unbinds, stride 0 repeats one vertex."""
    for stream, handle, stride in body.items.tolist():
        context.put(Kind.STREAM, stream, (handle, 0, stride))


@token(
    Op.SETSTREAMSOURCEUM,
    "32 00 01 00 00 00 00 00 14 00 00 00",
    items=structs.D3DHAL_DP2SETSTREAMSOURCEUM,
)
def set_stream_source_um(context: Context, body: Body) -> None:
    """Make a stream read the user memory behind lpVertices of the call that draws."""
    for stream, stride in body.items.tolist():
        context.put(Kind.STREAM, stream, (stride,))


@token(Op.SETINDICES, "33 00 01 00 06 00 00 00 02 00 00 00", items=structs.D3DHAL_DP2SETINDICES)
def set_indices(context: Context, body: Body) -> None:
    """Bind an index buffer of 2- or 4-byte indices; handle 0 unbinds."""
    for bound in body.items.tolist():
        context.put(Kind.INDICES, ONLY, bound)


@token(
    Op.SETSTREAMSOURCE2,
    "50 00 01 00 00 00 00 00 05 00 00 00 20 00 00 00 14 00 00 00",
    items=structs.D3DHAL_DP2SETSTREAMSOURCE2,
)
def set_stream_source_2(context: Context, body: Body) -> None:
    """Bind a vertex buffer to a stream from a byte offset; handle 0 unbinds."""
    for stream, handle, offset, stride in body.items.tolist():
        context.put(Kind.STREAM, stream, (handle, offset, stride))


@token(
    Op.SETSTREAMSOURCEFREQ,
    "5F 00 01 00 00 00 00 00 01 00 00 00",
    items=structs.D3DHAL_DP2SETSTREAMSOURCEFREQ,
)
def set_stream_frequency(context: Context, body: Body) -> None:
    """Set how often a stream advances: divider or instancing flags."""
    for stream, value in body.items.tolist():
        context.put(Kind.FREQUENCY, stream, value)


# Higher-order patches (wire format, "DirectX 8 opcodes" and "Patches"): segment counts first,
# then the info.

_Patch = tuple[int, tuple[float, ...] | None, tuple[int, ...] | None]
"""A patch to draw: its handle, the segments of its edges or None, and the members of its
D3DRECTPATCH_INFO or D3DTRIPATCH_INFO, or None."""


def _patch(segments: int, info: object) -> Tail:
    """Variable bytes after an item of a patch token: ``segments`` floats if it has HASSEGS, then
    ``info``, a construct, if it has HASINFO.
    """
    return Tail(
        (
            ("segments", Array(segments, FLOAT),
             lambda item: int(bool(int(item["Flags"]) & PatchFlags.HASSEGS))),
            ("info", info, lambda item: int(bool(int(item["Flags"]) & PatchFlags.HASINFO))),
        )
    )  # fmt: skip


@token(
    Op.DRAWRECTPATCH,
    "3D 00 02 00 00 00 00 00 03 00 00 00"
    + 4 * " 00 00 80 3F"
    + " 00 00 00 00 00 00 00 00 04 00 00 00 04 00 00 00 04 00 00 00 00 00 00 00 03 00 00 00"
    " 01 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2DRAWRECTPATCH,
    tail=_patch(4, structs.D3DRECTPATCH_INFO),
)
def draw_rect_patch(context: Context, body: Body) -> None:
    """Draw rectangle patches, stored under nonzero handles."""
    for patch in _patches(body, 4):
        context.draw_rectangle_patch(*patch)


@token(
    Op.DRAWTRIPATCH,
    "3E 00 02 00 01 00 00 00 02 00 00 00"
    " 00 00 00 00 0A 00 00 00 00 00 00 00 03 00 00 00"
    " 01 00 00 00 01 00 00 00" + 3 * " 00 00 80 3F",
    items=structs.D3DHAL_DP2DRAWTRIPATCH,
    tail=_patch(3, structs.D3DTRIPATCH_INFO),
)
def draw_tri_patch(context: Context, body: Body) -> None:
    """Draw triangle patches, stored under nonzero handles."""
    for patch in _patches(body, 3):
        context.draw_triangle_patch(*patch)


def _patches(body: Body, edges: int) -> Iterator[_Patch]:
    for (handle, flags), data in zip(body.items.tolist(), body.tails, strict=True):
        at = 4 * edges if flags & PatchFlags.HASSEGS else 0
        segments = struct.unpack(f"<{edges}f", data[:at]) if at else None
        info = struct.unpack(f"<{len(data[at:]) // 4}I", data[at:])
        yield handle, segments, info or None
