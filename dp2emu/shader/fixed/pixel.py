"""Pixel work: the colours of the vertices."""

from __future__ import annotations

from functools import lru_cache

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage


@lru_cache(maxsize=16)
def pixel_program(*, specular: bool) -> Program:
    """The diffuse colour, plus red, green and blue of the specular colour if wanted, clamped.

    Inputs ``color0.x`` to ``color0.w`` and ``color1.x`` to ``color1.z``; outputs ``target0.x``
    to ``target0.w``.  The specular alpha is the fog factor and is not added.
    """
    b = Builder(Stage.PIXEL)
    for channel in "xyzw":
        color = b.input(f"color0.{channel}")
        if specular and channel != "w":
            color = color + b.input(f"color1.{channel}")
        b.output(f"target0.{channel}", b.saturate(color))
    return b.program()
