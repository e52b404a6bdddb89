"""Higher-order patches (wire format, "DirectX 8 opcodes" and "Patches"): segment counts first,
then the info."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from construct import Array

from dp2emu.d3d.dp2structs import (
    D3DHAL_DP2DRAWRECTPATCH,
    D3DHAL_DP2DRAWTRIPATCH,
    D3DRECTPATCH_INFO,
    D3DTRIPATCH_INFO,
)
from dp2emu.d3d.flags import PatchFlags
from dp2emu.d3d.words import FLOAT
from dp2emu.dp2.table import Body, Op, Since, Tail, token

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context

_Patch = tuple[int, tuple[float, ...] | None, tuple[int, ...] | None]
"""Handle, segments and info; None is what an element does not have."""


def _patch(segments: int, info: object) -> Tail:
    """Behind each element: its segment counts if it has them, its info if it has it."""
    return Tail(
        (
            ("segments", Array(segments, FLOAT),
             lambda item: int(bool(int(item["Flags"]) & PatchFlags.HASSEGS))),
            ("info", info, lambda item: int(bool(int(item["Flags"]) & PatchFlags.HASINFO))),
        )
    )  # fmt: skip


@token(
    Op.DRAWRECTPATCH,
    since=Since.DX8,
    items=D3DHAL_DP2DRAWRECTPATCH,
    tail=_patch(4, D3DRECTPATCH_INFO),
    samples=(
        "3D 00 02 00 00 00 00 00 03 00 00 00" + 4 * " 00 00 80 3F"
        + " 00 00 00 00 00 00 00 00 04 00 00 00 04 00 00 00 04 00 00 00 00 00 00 00 03 00 00 00"
        " 01 00 00 00 00 00 00 00",
    ),
)  # fmt: skip
def draw_rect_patch(context: Context, body: Body) -> None:
    """Draw rectangle patches, kept under nonzero handles."""
    for patch in _patches(body, 4):
        context.draw_rectangle_patch(*patch)


@token(
    Op.DRAWTRIPATCH,
    since=Since.DX8,
    items=D3DHAL_DP2DRAWTRIPATCH,
    tail=_patch(3, D3DTRIPATCH_INFO),
    samples=(
        "3E 00 02 00 01 00 00 00 02 00 00 00"
        " 00 00 00 00 0A 00 00 00 00 00 00 00 03 00 00 00"
        " 01 00 00 00 01 00 00 00" + 3 * " 00 00 80 3F",
    ),
)
def draw_tri_patch(context: Context, body: Body) -> None:
    """Draw triangle patches, kept under nonzero handles."""
    for patch in _patches(body, 3):
        context.draw_triangle_patch(*patch)


def _patches(body: Body, edges: int) -> Iterator[_Patch]:
    for (handle, flags), data in zip(body.items.tolist(), body.tails, strict=True):
        at = 4 * edges if flags & PatchFlags.HASSEGS else 0
        segments = struct.unpack(f"<{edges}f", data[:at]) if at else None
        info = struct.unpack(f"<{len(data[at:]) // 4}I", data[at:])
        yield handle, segments, info or None
