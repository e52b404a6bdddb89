"""State blocks (wire format, "State blocks")."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dp2emu.d3d.dp2structs import D3DHAL_DP2STATESET, Op
from dp2emu.d3d.enums import StateBlockType
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.dp2.table import Body, token
from dp2emu.errors import Fault

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context


class StateSetOperation(SdkEnum, prefix="D3DHAL_STATESET"):
    """dwOperation; CREATE is for pure devices from DirectX 8 on."""

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
    items=D3DHAL_DP2STATESET,
    enums={"dwOperation": StateSetOperation, "sbType": StateBlockType},
)
def state_set(context: Context, body: Body) -> None:
    """Record, execute, refresh, create and drop blocks of states; END ignores its handle."""
    for operation, handle, kind in body.items.tolist():
        act = _OPERATIONS.get(operation)
        if act is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"dwOperation {operation}")
        act(context, handle, kind)
