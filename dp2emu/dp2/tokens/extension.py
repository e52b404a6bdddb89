"""The extension token, whose use was never defined (reference sections 2.3 and 9)."""

from __future__ import annotations

from typing import Any

from dp2emu.d3d.dp2structs import D3DHAL_DP2EXT
from dp2emu.d3d.words import BYTE
from dp2emu.dp2.table import Op, Since, Tail, token
from dp2emu.dp2.tokens.unbuilt import unbuilt

_STRUCT_BYTES = 8


def _bytes_behind(item: Any) -> int:
    """dwSize counts the structure itself, and a smaller value cannot be meant."""
    return max(int(item["dwSize"]), _STRUCT_BYTES) - _STRUCT_BYTES


token(
    Op.EXT,
    since=Since.DX7,
    items=D3DHAL_DP2EXT,
    tail=Tail((("data", BYTE, _bytes_behind),)),
    samples=("25 00 01 00 01 00 00 00 0C 00 00 00 AA BB CC DD",),
)(unbuilt("extension tokens", "Extension point of DirectX 7; no use of it is documented."))
