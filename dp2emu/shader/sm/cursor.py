"""Reading the DWORDs of a Direct3D 8 or 9 shader in order."""

from __future__ import annotations

from dp2emu.shader import cursor
from dp2emu.shader.sm.fields import PARAMETER
from dp2emu.shader.sm.versions import Version

Cursor = cursor.Cursor[Version]


def parameter(cursor: Cursor) -> int:
    """The next DWORD, which has to be a parameter token."""
    token = cursor.take()
    if not token & PARAMETER:
        raise cursor.error(f"{token:#010x} is no parameter: its bit 31 is clear")
    return token
