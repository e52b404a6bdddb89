"""Constant buffers: memory that is a uniform file, as it is when a draw executes."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from dp2emu.gpu.command.bindings import ConstantBuffers, Uniforms
from dp2emu.gpu.command.packets import Draw, ShaderBindings
from dp2emu.gpu.command.post_vertex_stages import PostVertexStages, StageProgram, TessellationStage
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader.ir import File, Program
from dp2emu.shader.types import I32


def with_constants(draw: Draw) -> Draw:
    """Return the draw with its constant buffers read into uniform files."""
    vertex, pixel = draw.pipeline.vertex, draw.pipeline.pixel
    return replace(
        draw,
        post_vertex=draw.post_vertex and _later(draw.post_vertex),
        vertex=_read(draw.vertex, vertex),
        pixel=_read(draw.pixel, pixel),
    )


def _read(bound: ShaderBindings, program: Program | None) -> ShaderBindings:
    uniforms = {**bound.uniforms, **constants_of(program, bound.buffers)}
    return replace(bound, uniforms=uniforms, buffers={})


def _later(later: PostVertexStages) -> PostVertexStages:
    geometry, tessellation = later.geometry, later.tessellation
    if geometry is not None:
        later = replace(later, geometry=replace(geometry, bound=with_files(geometry.bound)))
    if tessellation is not None:
        later = replace(later, tessellation=_tessellation(tessellation))
    return later


def _tessellation(stage: TessellationStage) -> TessellationStage:
    hull = stage.hull
    read = replace(
        hull,
        points=hull.points and with_files(hull.points),
        constants=tuple(replace(each, bound=with_files(each.bound)) for each in hull.constants),
    )
    return replace(stage, hull=read, domain=with_files(stage.domain))


def with_files(stage: StageProgram) -> StageProgram:
    """The program of a stage with its constant buffers read into uniform files."""
    uniforms = {**stage.uniforms, **constants_of(stage.program, stage.buffers)}
    return replace(stage, uniforms=uniforms, buffers={})


def constants_of(program: Program | None, buffers: ConstantBuffers) -> Uniforms:
    """The uniform files of a program that are buffers, as they are now."""
    files = () if program is None else program.files
    return {file.name: _words(buffers[file.name], file) for file in files if file.name in buffers}


def _words(buffer: Surface, file: File) -> I32:
    """As many words as the file has; behind the end of the buffer they are 0."""
    words = np.zeros(file.size, np.int32)
    whole = buffer.words[: min(file.size, -(-buffer.data.nbytes // 4))]
    words[: len(whole)] = whole
    return words
