"""Pixel work: the colours of the vertices, and fog."""

from __future__ import annotations

from functools import lru_cache

from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.fog import Fog, blend_fog
from dp2emu.shader.ir import Program, Stage


@lru_cache(maxsize=64)
def pixel_program(*, specular: bool, fog: Fog | None = None) -> Program:
    """The diffuse colour, plus red, green and blue of the specular colour if wanted, then fog.

    The sum is clamped before fog and what comes out is in 0..1; alpha has no fog.  Inputs
    ``color0.x`` to ``color0.w``, ``color1.x`` to ``color1.z`` and what ``blend_fog`` reads;
    outputs ``target0.x`` to ``target0.w``.  The specular alpha is the fog factor and is not
    added.
    """
    b = Builder(Stage.PIXEL)
    colors = [b.input(f"color0.{component}") for component in "xyzw"]
    if specular:
        for place, component in enumerate("xyz"):
            colors[place] = colors[place] + b.input(f"color1.{component}")
    colors = [b.saturate(color) for color in colors]
    if fog is not None:
        colors[:3] = blend_fog(b, fog, colors[:3])
    for component, color in zip("xyzw", colors, strict=True):
        b.output(f"target0.{component}", color)
    return b.program()
