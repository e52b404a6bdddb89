"""Pixel work: the colours of the vertices."""

from __future__ import annotations

from functools import lru_cache

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage


@lru_cache(maxsize=16)
def pixel_program(*, specular: bool) -> Program:
    """The diffuse colour, plus red, green and blue of the specular colour if wanted, clamped.

    Inputs ``diffuse.r`` to ``diffuse.a`` and ``specular.r`` to ``specular.b``; outputs
    ``color0.r`` to ``color0.a``.  The specular alpha is the fog factor and is not added.
    """
    b = Builder(Stage.PIXEL)
    for channel in "rgba":
        color = b.input(f"diffuse.{channel}")
        if specular and channel != "a":
            color = color + b.input(f"specular.{channel}")
        b.output(f"color0.{channel}", b.saturate(color))
    return b.program()
