"""Render states, viewport and ranges, targets, and state blocks (wire format, "Render states",
"Viewport and ranges" and "State blocks").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dp2emu.d3d import dp2structs as structs
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import StateBlockType
from dp2emu.d3d.flags import Clear
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.d3d.wirenames import WireRenderState, WireTextureStageState
from dp2emu.dp2.states.setting_kinds import COMMANDS, ONLY, Kind, stage_index
from dp2emu.dp2.table import Body, token
from dp2emu.errors import Fault

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context


@token(
    Op.RENDERSTATE,
    "08 00 02 00 07 00 00 00 01 00 00 00 0E 00 00 00 01 00 00 00",
    items=structs.D3DHAL_DP2RENDERSTATE,
    enums={"RenderState": WireRenderState},
)
def render_state(context: Context, body: Body) -> None:
    """Set render states; the value is a DWORD or the bits of a float, depending on the state."""
    direct = context.blocks.recording is None
    for state, value in body.items.tolist():
        if state == RenderState7.TEXTUREMAPBLEND and context.repeats_map_blend(value):
            continue
        if direct or state in COMMANDS:
            context.set_render_state(state, value)
        else:
            context.put(Kind.RENDER_STATE, state, value)


@token(
    Op.TEXTURESTAGESTATE,
    "19 00 01 00 00 00 01 00 04 00 00 00",
    items=structs.D3DHAL_DP2TEXTURESTAGESTATE,
    enums={"TSState": WireTextureStageState},
)
def texture_stage_state(context: Context, body: Body) -> None:
    """Set texture stage and sampler states; state 0 binds a texture."""
    if context.blocks.recording is None:
        for item in body.items.tolist():
            context.set_texture_stage_state(*item)
        return
    for stage, state, value in body.items.tolist():
        context.put(Kind.STAGE_STATE, stage_index(stage, state), value)


@token(
    Op.VIEWPORTINFO,
    "1C 00 01 00 00 00 00 00 00 00 00 00 40 00 00 00 40 00 00 00",
    items=structs.D3DHAL_DP2VIEWPORTINFO,
)
def viewport_info(context: Context, body: Body) -> None:
    """Set the viewport rectangle in pixels; the last one wins."""
    for rect in body.items[-1:].tolist():
        context.put(Kind.VIEWPORT, ONLY, rect)


@token(Op.WINFO, "1D 00 01 00 00 00 00 00 00 00 80 3F", items=structs.D3DHAL_DP2WINFO)
def w_info(context: Context, body: Body) -> None:
    """Set the range of w-buffering; the last one wins."""
    for ends in body.items[-1:].tolist():
        context.put(Kind.W_RANGE, ONLY, ends)


@token(Op.ZRANGE, "20 00 01 00 00 00 00 00 00 00 80 3F", items=structs.D3DHAL_DP2ZRANGE)
def z_range(context: Context, body: Body) -> None:
    """Set the depth range of the viewport; the last one wins."""
    for ends in body.items[-1:].tolist():
        context.put(Kind.Z_RANGE, ONLY, ends)


@token(
    Op.SETSCISSORRECT,
    "4F 00 01 00 08 00 00 00 08 00 00 00 38 00 00 00 30 00 00 00",
    items=structs.D3DHAL_DP2SETSCISSORRECT,
)
def set_scissor_rect(context: Context, body: Body) -> None:
    """Set the scissor rectangle; it cuts only while D3DRS_SCISSORTESTENABLE is TRUE."""
    for rect in body.items[-1:].tolist():
        context.put(Kind.SCISSOR, ONLY, rect)


# Render targets and clearing them (wire format, "Render targets" and "Clearing").


@token(
    Op.SETRENDERTARGET,
    "29 00 01 00 01 00 00 00 02 00 00 00",
    head=structs.D3DHAL_DP2SETRENDERTARGET,
)
def set_render_target(context: Context, body: Body) -> None:
    """Set colour and depth surface together, once for any n; depth 0 is none."""
    color, depth = body.head.tolist()
    context.set_render_target(0, color)
    context.set_depth_stencil(depth)


def _rect_without_count(head: Any) -> int:
    """The number of rectangles of CLEAR with n = 0: one with COMPUTERECTS (wire format,
    "Clearing").
    """
    return 1 if int(head["dwFlags"]) & Clear.COMPUTERECTS else 0


@token(
    Op.CLEAR,
    "2A 00 01 00 03 00 00 00 FF 00 00 FF 00 00 80 3F 00 00 00 00"
    " 00 00 00 00 00 00 00 00 40 00 00 00 40 00 00 00",
    "2A 00 00 00 01 00 00 00 FF 00 00 FF 00 00 80 3F 00 00 00 00",
    "2A 00 00 00 09 00 00 00 FF 00 00 FF 00 00 80 3F 00 00 00 00"
    " 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
    head=structs.CLEAR_HEAD,
    items=structs.RECT,
    implied=_rect_without_count,
)
def clear(context: Context, body: Body) -> None:
    """Fill n rectangles of colour, depth and stencil; clipped already unless COMPUTERECTS."""
    flags, color, z, stencil = body.head.tolist()
    rects = np.frombuffer(body.items[: body.count].tobytes(), "<i4").reshape(-1, 4)
    context.clear(flags, color, z, stencil, rects)


@token(
    Op.SETRENDERTARGET2,
    "55 00 01 00 00 00 00 00 01 00 00 00",
    items=structs.D3DHAL_DP2SETRENDERTARGET2,
)
def set_render_target_2(context: Context, body: Body) -> None:
    """Set one colour target by index; surface 0 unbinds an index above 0."""
    for index, surface in body.items.tolist():
        context.set_render_target(index, surface)


@token(Op.SETDEPTHSTENCIL, "56 00 01 00 02 00 00 00", items=structs.D3DHAL_DP2SETDEPTHSTENCIL)
def set_depth_stencil(context: Context, body: Body) -> None:
    """Set the depth-stencil surface; 0 is none."""
    for (surface,) in body.items.tolist():
        context.set_depth_stencil(surface)


# State blocks


class StateSetOperation(SdkEnum, prefix="D3DHAL_STATESET"):
    """dwOperation of STATESET; only pure devices use CREATE, from DirectX 8 on."""

    BEGIN = 0
    END = 1
    DELETE = 2
    EXECUTE = 3
    CAPTURE = 4
    CREATE = 5


_OPERATIONS: dict[int, Callable[[Context, int, int], None]] = {
    StateSetOperation.BEGIN: lambda context, handle, _: context.blocks.begin(handle),
    StateSetOperation.END: lambda context, handle, _: context.blocks.end(),
    StateSetOperation.DELETE: lambda context, handle, _: context.blocks.delete(handle),
    StateSetOperation.EXECUTE: lambda context, handle, _: context.blocks.execute(context, handle),
    StateSetOperation.CAPTURE: lambda context, handle, _: context.blocks.capture(context, handle),
    StateSetOperation.CREATE: lambda context, handle, kind: context.blocks.create(
        context, handle, kind
    ),
}


@token(
    Op.STATESET,
    "27 00 01 00 00 00 00 00 01 00 00 00 00 00 00 00",
    "27 00 02 00 01 00 00 00 00 00 00 00 00 00 00 00 03 00 00 00 01 00 00 00 00 00 00 00",
    "27 00 01 00 05 00 00 00 02 00 00 00 01 00 00 00",
    items=structs.D3DHAL_DP2STATESET,
    enums={"dwOperation": StateSetOperation, "sbType": StateBlockType},
)
def state_set(context: Context, body: Body) -> None:
    """Record, execute, refresh, create and drop blocks of states; END ignores its handle."""
    for operation, handle, kind in body.items.tolist():
        act = _OPERATIONS.get(operation)
        if act is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"dwOperation {operation}")
        act(context, handle, kind)
