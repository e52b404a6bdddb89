"""Assembly text run on lanes: what the tests of this folder are written with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dp2emu.shader.ir import Lod, Program, TextureKind
from dp2emu.shader.reference import Result, run
from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.lower import Lowered, lower_pixel, lower_vertex
from dp2emu.shader.sm.versions import Stage
from dp2emu.shader.types import F32, Lanes, Mask


class Texture:
    """A sampler that returns its coordinates, then the sampler's number; it keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, TextureKind, Lod, tuple[F32, ...]]] = []

    def __call__(
        self,
        sampler: int,
        kind: TextureKind,
        coordinates: tuple[F32, ...],
        lod: Lod,
        arguments: tuple[F32, ...],
        active: Mask | None,
    ) -> tuple[F32, F32, F32, F32]:
        self.calls.append((sampler, kind, lod, arguments))
        x, y, z = (*coordinates, np.zeros(1, np.float32))[:3]
        return x, y, z, np.array([sampler], np.float32)


def lowered(text: str, **bound: Any) -> Lowered:
    shader = decode(assemble(text))
    if shader.version.stage is Stage.VERTEX:
        return lower_vertex(shader)
    return lower_pixel(shader, **bound)


def execute(
    program: Program,
    inputs: Mapping[str, Any] | None = None,
    uniforms: Mapping[str, Any] | None = None,
    *,
    lanes: int = 1,
    sampler: Texture | None = None,
    mask: Mask | None = None,
) -> Result:
    """Run a program; inputs and uniforms that are not given are 0."""
    given = {
        port.name: np.zeros(1, port.type.dtype)
        if port.name not in (inputs or {})
        else np.broadcast_to(np.asarray((inputs or {})[port.name], port.type.dtype), lanes)
        for port in program.inputs
    }
    files: dict[str, Lanes] = {
        file.name: np.asarray((uniforms or {}).get(file.name, []), file.type.dtype)
        for file in program.files
        if file.uniform
    }
    return run(program, given, files, lanes, mask, sampler or Texture())


def vector(result: Result, name: str, lane: int = 0) -> list[float]:
    """The components of an output register in a lane."""
    return [float(result.outputs[f"{name}.{c}"][lane]) for c in "xyzw"]


def inputs(**registers: Sequence[float]) -> dict[str, float]:
    """Ports from whole registers."""
    return {f"{n}.{c}": x for n, v in registers.items() for c, x in zip("xyzw", v, strict=False)}


def vs(body: str, version: str = "vs_3_0", **options: Any) -> list[float]:
    """oT0, or o1 in 3.0, after a body of a vertex shader, in a single lane."""
    out = ["dcl_position o0", "dcl_texcoord o1"] if version.startswith("vs_3") else []
    program = lowered("\n".join([version, *out, body])).program
    return vector(execute(program, **options), "texcoord0")


def ps(
    body: str, version: str = "ps_3_0", bound: Mapping[str, Any] | None = None, **options: Any
) -> list[float]:
    """The first target after a body of a pixel shader, in the first lane of a quad."""
    program = lowered(f"{version}\n{body}", **(bound or {})).program
    return vector(execute(program, lanes=4, **options), "target0")
