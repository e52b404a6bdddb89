"""Fixed-function transform and lighting state (wire format, "DirectX 7 opcodes" and "Transforms
and clip planes")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dp2emu.d3d import dp2structs as structs
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.flags import D3DHAL_SETLIGHT_DATA, D3DHAL_SETLIGHT_DISABLE, D3DHAL_SETLIGHT_ENABLE
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.wirenames import WireTransformState
from dp2emu.dp2.states.setting_kinds import ONLY, Kind
from dp2emu.dp2.table import Body, Tail, token
from dp2emu.errors import Fault
from dp2emu.layout import dtype_of

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context

LIGHT_DTYPE = dtype_of(structs.D3DLIGHT7)
"""The NumPy dtype of D3DLIGHT7."""

_TRANSFORM = {"xfrmType": WireTransformState}


@token(
    Op.SETMATERIAL,
    "21 00 01 00" + 4 * " 00 00 80 3F 00 00 00 3F 00 00 00 00 00 00 80 3F" + " 00 00 00 41",
    items=structs.D3DMATERIAL7,
)
def set_material(context: Context, body: Body) -> None:
    """Set the material lighting uses; the last one wins."""
    for material in body.items[-1:]:
        context.put(Kind.MATERIAL, ONLY, material.copy())


def _light_data(item: Any) -> int:
    return 1 if int(item["dwDataType"]) == D3DHAL_SETLIGHT_DATA else 0


@token(
    Op.SETLIGHT,
    "22 00 01 00 00 00 00 00 00 00 00 00",
    "22 00 02 00 01 00 00 00 02 00 00 00 03 00 00 00"
    + 12 * " 00 00 80 3F"
    + 13 * " 00 00 00 3F"
    + " 01 00 00 00 01 00 00 00",
    items=structs.D3DHAL_DP2SETLIGHT,
    tail=Tail((("light", structs.D3DLIGHT7, _light_data),)),
)
def set_light(context: Context, body: Body) -> None:
    """Enable (0), disable (1) or describe (2) lights; a description follows its element."""
    for (index, kind), tail in zip(body.items.tolist(), body.tails, strict=True):
        if kind == D3DHAL_SETLIGHT_DATA:
            context.put(Kind.LIGHT, index, np.frombuffer(tail, LIGHT_DTYPE)[0].copy())
        elif kind in (D3DHAL_SETLIGHT_ENABLE, D3DHAL_SETLIGHT_DISABLE):
            context.put(Kind.LIGHT_ENABLE, index, kind == D3DHAL_SETLIGHT_ENABLE)
        else:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"dwDataType {kind} is not 0, 1 or 2")


@token(Op.CREATELIGHT, "23 00 01 00 00 00 00 00", items=structs.D3DHAL_DP2CREATELIGHT)
def create_light(context: Context, body: Body) -> None:
    """Make room for light number dwIndex."""
    for (index,) in body.items.tolist():
        context.state.create_light(index)


@token(
    Op.SETTRANSFORM,
    "24 00 01 00 02 00 00 00" + 16 * " 00 00 80 3F",
    items=structs.D3DHAL_DP2SETTRANSFORM,
    enums=_TRANSFORM,
)
def set_transform(context: Context, body: Body) -> None:
    """Set transform matrices, row-major for row vectors."""
    for kind, matrix in body.items.tolist():
        context.put(Kind.TRANSFORM, kind, matrix)


@token(
    Op.SETCLIPPLANE,
    "2C 00 01 00 00 00 00 00 00 00 80 3F 00 00 00 00 00 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2SETCLIPPLANE,
)
def set_clip_plane(context: Context, body: Body) -> None:
    """Set user clip planes; the side where the plane equation is not negative is visible."""
    for index, plane in body.items.tolist():
        context.put(Kind.CLIP_PLANE, index, tuple(plane.tolist()))


@token(
    Op.MULTIPLYTRANSFORM,
    "41 00 01 00 02 00 00 00" + 16 * " 00 00 80 3F",
    items=structs.D3DHAL_DP2MULTIPLYTRANSFORM,
    enums=_TRANSFORM,
)
def multiply_transform(context: Context, body: Body) -> None:
    """Multiply a transform from the left: current = payload x current."""
    for kind, matrix in body.items.tolist():
        context.multiply_transform(kind, matrix)
