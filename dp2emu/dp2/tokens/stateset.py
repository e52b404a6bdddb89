"""State blocks (reference sections 2.3 and 3.6)."""

from __future__ import annotations

from dp2emu.d3d.dp2structs import D3DHAL_DP2STATESET
from dp2emu.d3d.enums import StateBlockType
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.dp2.table import Op, Since, token
from dp2emu.dp2.tokens.unbuilt import unbuilt


class StateSetOperation(SdkEnum, prefix="D3DHAL_STATESET"):
    """dwOperation; CREATE is for pure devices from DirectX 8 on."""

    BEGIN = 0
    END = 1
    DELETE = 2
    EXECUTE = 3
    CAPTURE = 4
    CREATE = 5


token(
    Op.STATESET,
    since=Since.DX7,
    items=D3DHAL_DP2STATESET,
    enums={"dwOperation": StateSetOperation, "sbType": StateBlockType},
    samples=("27 00 01 00 03 00 00 00 01 00 00 00 00 00 00 00",),
)(unbuilt("state blocks", "Record, replay, refresh and drop blocks of states."))
