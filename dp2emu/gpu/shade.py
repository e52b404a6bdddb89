"""Interpolate what the pixel program reads, and run it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dp2emu.gpu.arrays import F32, F64
from dp2emu.gpu.planes import Frame, Plane, Sites, plane
from dp2emu.gpu.vertex import Vertices
from dp2emu.shader.ir import Program
from dp2emu.shader.reference import run

_LANES = {f"{register}.{channel}": (register, lane)
          for register in ("diffuse", "specular")
          for lane, channel in enumerate("rgba")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shading:
    """A program and what feeds it: planes of inputs times rhw, and the plane of rhw.

    ``divisor`` None means that the planes hold the inputs themselves.
    """

    program: Program
    inputs: dict[str, Plane]
    divisor: Plane | None


def shading(program: Program, vertices: Vertices, frame: Frame, *, flat: bool) -> Shading:
    """Planes for corners of shape (3, n).

    Flat colours are those of the first corner.  Otherwise an input c becomes
    plane(c * rhw) / plane(rhw); a primitive whose rhw are all equal counts as rhw 1, which makes
    that the plane of c itself.  Any rhw is allowed: a quotient that is no number becomes 0 where
    the program clamps it.
    """
    values = {port.name: _corners(vertices, port.name) for port in program.inputs}
    if flat:
        return Shading(program, {name: _constant(f[0]) for name, f in values.items()}, None)
    rhw = vertices.position[3].astype(np.float64)
    equal = (rhw == rhw[0]).all(axis=0)
    if equal.all():
        return Shading(program, {name: plane(frame, f) for name, f in values.items()}, None)
    rhw = np.where(equal, 1.0, rhw)
    inputs = {name: plane(frame, f * rhw) for name, f in values.items()}
    return Shading(program, inputs, plane(frame, rhw))


def _corners(vertices: Vertices, name: str) -> F64:
    register, lane = _LANES[name]
    lanes: F32 = getattr(vertices, register)
    corners: F64 = lanes[lane].astype(np.float64)
    return corners


def _constant(value: F64) -> Plane:
    zero = np.zeros_like(value)
    return Plane(value, zero, zero)


def shade(shading: Shading, sites: Sites) -> tuple[F32, ...]:
    """Colour 0 of each fragment: four float32 lanes, clamped to 0..1 by the program."""
    values = {name: sites.at(p) for name, p in shading.inputs.items()}
    if shading.divisor is not None:
        divisor = sites.at(shading.divisor)
        values = {name: value / divisor for name, value in values.items()}
    inputs = {name: value.astype(np.float32) for name, value in values.items()}
    outputs = run(shading.program, inputs, {}, len(sites.dx)).outputs
    return tuple(outputs[f"color0.{channel}"] for channel in "rgba")
