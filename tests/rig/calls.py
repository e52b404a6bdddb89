"""Calls of plain bytes to any rig: a command buffer, a target and a context."""

from __future__ import annotations

import struct

from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.rig import Rig

CONTEXT, COMMANDS, TARGET = 1, 3, 4
A8R8G8B8 = 21
CREATE = struct.pack("<BBHII", 84, 0, 1, 5, 8)
END = struct.pack("<BBHII", 91, 0, 1, 5, 1)
EVENT_ANSWER = struct.pack("<BBHIIII", 88, 0, 1, 20, 5, 4, 1)


def opened(rig: Rig, command_bytes: int = 256) -> Rig:
    """The rig with a buffer, a target of 16 x 8 pixels and a context."""
    rig.create_surface(SurfaceDesc(COMMANDS, SurfaceKind.MEMORY, command_bytes))
    rig.create_surface(SurfaceDesc(TARGET, SurfaceKind.SURFACE, 16, 8, A8R8G8B8))
    rig.create_context(CONTEXT, color=TARGET)
    return rig


def submitted(rig: Rig, commands: bytes, offset: int = 0, context: int = CONTEXT) -> Answer:
    """The answer to a call with these bytes."""
    return rig.submit(
        Call(
            context,
            lpDDCommands=COMMANDS,
            dwCommandOffset=offset,
            dwCommandLength=len(commands),
            commands=commands,
        )
    )
