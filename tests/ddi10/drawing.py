"""Draws of recorded shaders: vertices of a position and a colour, four floats each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from dp2emu.d3d.enums import CmpFunc, DeclType, DeclUsage, PrimitiveType
from dp2emu.d3d.vertices import Element, VertexLayout
from dp2emu.ddi10.shaders.shader import Shader, pixel_shader, vertex_shader
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.command.packets import (
    Draw,
    Indices,
    InputAssembly,
    OutputBindings,
    RasterBindings,
    ShaderBindings,
    Stream,
)
from dp2emu.gpu.command.pipeline import Attribute, DepthState, Pipeline, RasterState
from dp2emu.gpu.resource.heap import Surface
from tests.gpu.drawing import rebound
from tests.shader.sm4.making import recorded

SIZE = 16
"""Width and height of viewports, in pixels."""

FULL = ((-1, 1), (1, 1), (-1, -1), (1, -1))
"""A strip over all of the viewport."""

Corner = Sequence[float]


@cache
def tokens(name: str) -> bytes:
    """The tokens of a recorded shader."""
    (row,) = (row for row in recorded() if row["shader"] == name)
    return bytes.fromhex(row["tokens"])


def strip(color: Corner = (1, 0.5, 0.25, 1), z: float = 0.5) -> list[list[float]]:
    """Vertices of ``FULL``."""
    return [[x, y, z, 1, *color] for x, y in FULL]


def uniforms(shader: Shader, constants: Mapping[int, Corner], instance: int = 0) -> Any:
    """Files with floats in constant buffers."""
    buffers = {slot: np.array(row, "<f4").tobytes() for slot, row in constants.items()}
    return shader.uniforms(buffers, instance)


def drawing(
    vertices: Sequence[Sequence[float]],
    target: Surface,
    *,
    vs: str = "vs_pass",
    ps: str = "ps_color",
    constants: Mapping[int, Corner] | None = None,
    instance: int = 0,
    raster: RasterState | None = None,
    indices: Indices | None = None,
    streams: Sequence[bytes] = (),
    **bindings: Any,
) -> Draw:
    """A strip through two recorded shaders; v0, v1 are of a vertex, v3 of the next stream."""
    vertex, pixel = vertex_shader(tokens(vs)), pixel_shader(tokens(ps))
    elements = (
        Element(0, 0, DeclType.FLOAT4, DeclUsage.POSITION),
        Element(0, 16, DeclType.FLOAT4, DeclUsage.COLOR),
        Element(1, 0, DeclType.FLOAT4, DeclUsage.COLOR, 1),
    )[: 2 + len(streams)]
    pipeline = Pipeline(
        layout=VertexLayout(elements, transformed=False),
        raster=raster or RasterState(half_centres=True),
        depth=DepthState(False, False, CmpFunc.LESS),
        pixel=pixel.program,
        write_masks=(15,),
        color_formats=(target.format,),
        depth_format=None,
        vertex=vertex.program,
        attributes=tuple(map(Attribute, ("v0", "v1", "v3"), elements)),
    )
    packet = Draw(
        pipeline=pipeline,
        input=InputAssembly(
            topology=PrimitiveType.TRIANGLESTRIP,
            first=0,
            count=2,
            streams=(
                Stream(np.array(vertices, "<f4").tobytes(), 0, 32),
                *(Stream(data, 0, 0) for data in streams),
            ),
            indices=indices,
        ),
        output=OutputBindings((target,), None),
        scissor=Rect(0, 0, SIZE, SIZE),
        raster=RasterBindings(viewport=Viewport(0, 0, SIZE, SIZE)),
        vertex=ShaderBindings(uniforms(vertex, constants or {}, instance)),
        pixel=ShaderBindings(uniforms(pixel, constants or {})),
    )
    return rebound(packet, **bindings)
