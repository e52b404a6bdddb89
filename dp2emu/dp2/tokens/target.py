"""Render targets and clearing them (wire format, "Render targets" and "Clearing")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dp2emu.d3d.dp2structs import (
    CLEAR_HEAD,
    D3DHAL_DP2SETDEPTHSTENCIL,
    D3DHAL_DP2SETRENDERTARGET,
    D3DHAL_DP2SETRENDERTARGET2,
    RECT,
)
from dp2emu.d3d.flags import Clear
from dp2emu.dp2.table import Body, Op, Since, token

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context


@token(
    Op.SETRENDERTARGET,
    since=Since.DX7,
    head=D3DHAL_DP2SETRENDERTARGET,
    samples=("29 00 01 00 01 00 00 00 02 00 00 00",),
)
def set_render_target(context: Context, body: Body) -> None:
    """Set colour and depth surface together, once whatever n says; depth 0 is none."""
    color, depth = body.head.tolist()
    context.set_render_target(0, color)
    context.set_depth_stencil(depth)


def _rect_without_count(head: Any) -> int:
    """The header has one RECT even for n = 0, but only pure devices send it (wire format,
    "Clearing")."""
    return 1 if int(head["dwFlags"]) & Clear.COMPUTERECTS else 0


@token(
    Op.CLEAR,
    since=Since.DX7,
    head=CLEAR_HEAD,
    items=RECT,
    implied=_rect_without_count,
    samples=(
        "2A 00 01 00 03 00 00 00 FF 00 00 FF 00 00 80 3F 00 00 00 00"
        " 00 00 00 00 00 00 00 00 40 00 00 00 40 00 00 00",
        "2A 00 00 00 01 00 00 00 FF 00 00 FF 00 00 80 3F 00 00 00 00",
        "2A 00 00 00 09 00 00 00 FF 00 00 FF 00 00 80 3F 00 00 00 00"
        " 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
    ),
)
def clear(context: Context, body: Body) -> None:
    """Fill n rectangles of colour, depth and stencil; clipped already unless COMPUTERECTS."""
    flags, color, z, stencil = body.head.tolist()
    rects = np.frombuffer(body.items[: body.count].tobytes(), "<i4").reshape(-1, 4)
    context.clear(flags, color, z, stencil, rects)


@token(
    Op.SETRENDERTARGET2,
    since=Since.DX9,
    items=D3DHAL_DP2SETRENDERTARGET2,
    samples=("55 00 01 00 00 00 00 00 01 00 00 00",),
)
def set_render_target_2(context: Context, body: Body) -> None:
    """Set one colour target by index; surface 0 unbinds an index above 0."""
    for index, surface in body.items.tolist():
        context.set_render_target(index, surface)


@token(
    Op.SETDEPTHSTENCIL,
    since=Since.DX9,
    items=D3DHAL_DP2SETDEPTHSTENCIL,
    samples=("56 00 01 00 02 00 00 00",),
)
def set_depth_stencil(context: Context, body: Body) -> None:
    """Set the depth-stencil surface; 0 is none."""
    for (surface,) in body.items.tolist():
        context.set_depth_stencil(surface)
