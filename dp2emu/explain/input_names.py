"""Semantic names of the inputs of Direct3D 10 and 11 vertex shaders, from their containers."""

from __future__ import annotations

from collections.abc import Mapping

from dp2emu.errors import Dp2Error
from dp2emu.explain.events import Event
from dp2emu.explain.playback import Stage
from dp2emu.gpu.command.packets import Draw
from dp2emu.shader.sm4.container import MAGIC, unpack


def input_names(event: Event, draw: Draw, stage: Stage) -> Mapping[str, str]:
    """Semantic names and indices (``TEXCOORD0``) of the input registers of a draw's vertex shader,
    by the register's name.

    Registers whose semantic is no identifier are left out.  Empty for shaders whose code is in no
    container, as drivers get it, and if the device has another shader by now.
    """
    facade = stage.player.facade
    device = None if facade is None else facade.device(event.origin.device)
    bound = None if device is None else device.parts.stages.stages["Vs"].bound
    if bound is None or bound.shader is None or bound.shader.program is not draw.pipeline.vertex:
        return {}
    if bound.code is None or not bound.code.startswith(MAGIC):
        return {}
    try:
        signature = unpack(bound.code, hashed=False).inputs
    except Dp2Error:
        return {}
    return {
        f"v{each.register}": f"{each.semantic}{each.index}"
        for each in signature
        if each.register is not None and each.semantic.isascii() and each.semantic.isidentifier()
    }
