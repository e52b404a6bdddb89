"""Ends of a driver that crashes as it is told (``tests/native/crashing.c``)."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.dp2.call import Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.rig.failure import Finding, RigFailure
from dp2emu.rig.served import Served
from tests.replay.authoring import BUFFER, CONTEXT, TARGET, clear

VERTICES = 7
HANGS = 7


def ended(rig: Served, way: int, **members: Any) -> Finding:
    """What a rig finds of a driver that ends in one way, in its first call."""
    rig.restart()
    rig.create_surface(SurfaceDesc(TARGET, SurfaceKind.SURFACE, 8, 4, format=22))
    rig.create_surface(SurfaceDesc(BUFFER, SurfaceKind.MEMORY, 4096))
    rig.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, 96))
    rig.create_context(CONTEXT, color=TARGET)
    own = {"vertices": bytes(96), "dwVertexLength": 3, "dwVertexSize": 32, "dwFlags": 1}
    commands = clear(way)
    with pytest.raises(RigFailure) as raised:
        rig.submit(Call(CONTEXT, lpDDCommands=BUFFER, dwCommandLength=len(commands),
                        commands=commands, **(members or own)))  # fmt: skip
    return raised.value.finding
