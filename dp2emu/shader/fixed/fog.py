"""Fog factor and fog blend (Direct3D 9, "Fog Formulas").

Factor 1 is no fog.  Vertex fog computes the factor per vertex from depth or distance, table fog
per pixel from depth or eye-space w.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum

import msgspec
import numpy as np

from dp2emu.d3d.enums import FogMode
from dp2emu.shader.builder import Builder
from dp2emu.shader.functions import exp2
from dp2emu.shader.types import F32, Type
from dp2emu.shader.values import Value

FOG_FILE = "fog"
"""Name of the uniform file of fog: red, green and blue of the fog colour, start, end, density."""
FOG_SIZE = 6
_COLOR, _START, _END, _DENSITY = range(3), 3, 4, 5

LOG2_E = math.log2(math.e)


class FogSource(Enum):
    """Origin of a pixel's fog factor."""

    VERTEX = "vertex"
    """Vertex fog: the interpolated factor, input ``fog0.x``."""
    TABLE_Z = "table z"
    """Table fog by depth, input ``depth.x``, which may be outside 0..1."""
    TABLE_W = "table w"
    """Table fog by eye-space distance, input ``w.x``."""


class Fog(msgspec.Struct, frozen=True):
    """Fog of a pixel program; ``mode`` applies to table fog only."""

    source: FogSource
    mode: FogMode = FogMode.NONE


def _linear(distance: Value, start: Value, end: Value, density: Value) -> Value:
    """Return (end - d) / (end - start); with end = start, no fog before it and full fog behind."""
    return (end - distance) / (end - start)


def _exp(distance: Value, start: Value, end: Value, density: Value) -> Value:
    """Return the exponential fog factor 1 / e**(d * density)."""
    return exp2(-(distance * density) * LOG2_E)


def _exp2(distance: Value, start: Value, end: Value, density: Value) -> Value:
    """Return the squared exponential fog factor 1 / e**((d * density)**2)."""
    depth = distance * density
    return exp2(-(depth * depth) * LOG2_E)


_FACTORS: dict[FogMode, Callable[[Value, Value, Value, Value], Value]] = {
    FogMode.LINEAR: _linear,
    FogMode.EXP: _exp,
    FogMode.EXP2: _exp2,
}


def fog_factor(mode: FogMode, distance: Value, start: Value, end: Value, density: Value) -> Value:
    """Return the factor at a distance, clamped to 0..1.  Raises KeyError for FogMode.NONE."""
    factor = _FACTORS[mode](distance, start, end, density)
    return distance.builder.saturate(factor)


def vertex_fog_factor(
    mode: FogMode, distance: Value, start: Value, end: Value, density: Value
) -> Value:
    """Return the factor of a vertex: as ``fog_factor``, but linear fog with end = start is full
    fog.
    """
    factor = fog_factor(mode, distance, start, end, density)
    if mode is not FogMode.LINEAR:
        return factor
    return distance.builder.select(start.eq(end), 0.0, factor)


def blend_fog(b: Builder, fog: Fog, rgb: Sequence[Value]) -> tuple[Value, Value, Value]:
    """Return c f + fog colour (1 - f) for red, green and blue.

    Reads one of the inputs that ``FogSource`` names, and the uniform file ``fog``.
    """
    file = b.uniform(FOG_FILE, Type.F32, FOG_SIZE)
    factor = _pixel_factor(b, fog)
    rest = 1.0 - factor
    red, green, blue = (
        channel * factor + b.load(file, place) * rest
        for channel, place in zip(rgb, _COLOR, strict=True)
    )
    return red, green, blue


_INPUTS = {FogSource.VERTEX: "fog0.x", FogSource.TABLE_Z: "depth.x", FogSource.TABLE_W: "w.x"}


def _pixel_factor(b: Builder, fog: Fog) -> Value:
    value = b.input(_INPUTS[fog.source])
    if fog.source is FogSource.VERTEX:
        return b.saturate(value)
    file = b.uniform(FOG_FILE, Type.F32, FOG_SIZE)
    start, end, density = (b.load(file, place) for place in (_START, _END, _DENSITY))
    return fog_factor(fog.mode, value, start, end, density)


def fog_uniforms(
    color: Sequence[float], start: float, end: float, density: float
) -> dict[str, F32]:
    """Return the uniform file ``fog``; an alpha of the colour is ignored."""
    values = np.array([*color[:3], start, end, density], np.float32)
    values.flags.writeable = False
    return {FOG_FILE: values}
