"""Constant buffers, read into uniform files when a draw executes."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from msgspec.structs import replace

from dp2emu.gpu.command.bindings import ConstantBuffers, ConstantRange, Uniforms
from dp2emu.gpu.command.packets import Draw, ShaderBindings
from dp2emu.gpu.command.post_vertex_stages import PostVertexStages, StageProgram
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader.ir import File, Program
from dp2emu.shader.types import I32


def with_constants(draw: Draw) -> Draw:
    """Return a draw whose uniform files have the present contents of its constant buffers."""
    return replace(
        draw,
        post_vertex=draw.post_vertex and _post_vertex(draw.post_vertex),
        vertex=_read(draw.vertex, draw.pipeline.vertex),
        pixel=_read(draw.pixel, draw.pipeline.pixel),
    )


def _post_vertex(stages: PostVertexStages) -> PostVertexStages:
    geometry, tessellation = stages.geometry, stages.tessellation
    if geometry is not None:
        geometry = replace(geometry, bound=with_files(geometry.bound))
    if tessellation is not None:
        hull = tessellation.hull
        points = hull.points and with_files(hull.points)
        constants = (replace(each, bound=with_files(each.bound)) for each in hull.constants)
        hull = replace(hull, points=points, constants=tuple(constants))
        tessellation = replace(tessellation, hull=hull, domain=with_files(tessellation.domain))
    return replace(stages, geometry=geometry, tessellation=tessellation)


def with_files(stage: StageProgram) -> StageProgram:
    """Return a stage whose uniform files have the present contents of its constant buffers."""
    return _read(stage, stage.program)


_Bindings = TypeVar("_Bindings", ShaderBindings, StageProgram)


def _read(bound: _Bindings, program: Program | None) -> _Bindings:
    if not bound.buffers:
        return bound
    uniforms = {**bound.uniforms, **constants_of(program, bound.buffers)}
    return replace(bound, uniforms=uniforms, buffers={})


def constants_of(program: Program | None, buffers: ConstantBuffers) -> Uniforms:
    """Return the present contents of a program's constant buffers as uniform files."""
    files = () if program is None else program.files
    return {file.name: _words(buffers[file.name], file) for file in files if file.name in buffers}


_WORDS = 4
"""Number of words of a constant."""


def _words(bound: Surface | ConstantRange, file: File) -> I32:
    """Return a constant buffer's words for uniform file ``file``, zeros past its end."""
    words = np.zeros(file.size, np.int32)
    start, count = 0, file.size
    if isinstance(bound, ConstantRange):
        buffer, start = bound.surface, bound.first * _WORDS
        count = min(count, bound.count * _WORDS)
    else:
        buffer = bound
    whole = buffer.words[start : min(start + count, -(-buffer.data.nbytes // 4))]
    words[: len(whole)] = whole
    return words
