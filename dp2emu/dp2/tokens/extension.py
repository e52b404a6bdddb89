"""The extension token, whose use was never defined (wire format, "DirectX 7 opcodes" and
"Ambiguous lengths")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dp2emu.d3d.dp2structs import D3DHAL_DP2EXT, Op
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.words import BYTE
from dp2emu.dp2.table import Body, Tail, token
from dp2emu.errors import Fault

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context

_STRUCT_BYTES = 8


def _bytes_behind(item: Any) -> int:
    """dwSize counts the structure itself, and a smaller value cannot be meant."""
    return max(int(item["dwSize"]), _STRUCT_BYTES) - _STRUCT_BYTES


@token(
    Op.EXT,
    "25 00 01 00 01 00 00 00 0C 00 00 00 AA BB CC DD",
    items=D3DHAL_DP2EXT,
    tail=Tail((("data", BYTE, _bytes_behind),)),
)
def ext(context: Context, body: Body) -> None:
    """Extension point of DirectX 7; no use of it is documented, so it is refused."""
    raise Fault(HResult.D3DERR_COMMAND_UNPARSED, "an extension, whose meaning nobody documents")
