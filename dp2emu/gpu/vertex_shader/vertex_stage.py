"""The vertex stage of the reference engine: vertex fetch, vertex program, screen positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.gpu.arrays import F32, I64
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.command.topology import corners
from dp2emu.gpu.input_assembler.vertex_fetch import COMPONENTS, decode, fetch, vertex_numbers
from dp2emu.gpu.rasterizer.clip import Geometry, flatten_and_wrap, placed
from dp2emu.gpu.shader_resources.texture_cache import TextureCache
from dp2emu.gpu.shader_resources.textures import StageSampler, Texturing
from dp2emu.shader.engines import locate_disagreement
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.reference import Fetcher, Result, Run, Sampler
from dp2emu.shader.reference import run as run_reference
from dp2emu.shader.types import Lanes

if TYPE_CHECKING:
    from dp2emu.gpu.shader_resources.resource_reads import StageFetcher

_ABSENT = [np.array([number], np.float32) for number in (0, 0, 0, 1)]
"""Vertex program inputs x, y, z, w of an element that the vertices lack: 0, 0, 0, 1."""

VERTEX_NUMBER = "vertex_id.x"
"""Name of an I32 vertex program input: the vertex index; without indices, its position."""


def geometry(
    draw: Draw,
    start: int,
    stop: int,
    names: tuple[str, ...],
    sampler: Sampler | None = None,
    run: Run = run_reference,
    fetcher: Fetcher | None = None,
) -> Geometry:
    """Primitives ``start`` to ``stop`` of a draw, with the varyings of ``names`` that exist."""
    sequence = corners(draw.input.topology, draw.input.first, start, stop)
    numbers = vertex_numbers(draw.input.indices, sequence.ravel()).reshape(sequence.shape)
    edges = None if draw.input.edge_flags is None else draw.input.edge_flags[:, start:stop]
    if draw.pipeline.vertex is None:
        layout, attributes = draw.pipeline.layout, draw.pipeline.attributes
        vertices = fetch(layout, draw.input.streams, numbers, names, attributes)
        flatten_and_wrap(draw, vertices.names, vertices.varyings)
        return Geometry(vertices, np.arange(start, stop), edges)
    with_program = shaded(draw, draw.pipeline.vertex, numbers, sampler, run, fetcher)
    return placed(draw, *with_program, np.arange(start, stop), names, edges)


def shaded(
    draw: Draw,
    program: Program,
    numbers: I64,
    sampler: Sampler | None,
    run: Run,
    fetcher: Fetcher | None,
) -> tuple[Mapping[str, Lanes], I64]:
    """Outputs of a vertex program for the distinct vertex ``numbers``, and the output lane of each
    number, an array of the shape of ``numbers``.
    """
    unique, place = np.unique(numbers.ravel(), return_inverse=True)
    inputs = _inputs(draw, program, unique)
    with locate_disagreement(lambda lane: f"vertex {unique[lane]}"):
        outputs = run(
            program, inputs, draw.vertex.uniforms, len(unique), sampler=sampler, fetcher=fetcher
        ).outputs
    return outputs, place.reshape(numbers.shape)


def _inputs(draw: Draw, program: Program, numbers: I64) -> dict[str, Lanes]:
    """Inputs of a vertex program; absent components are 0, 0, 0, 1; an I32 is a float's bits."""
    elements = {attribute.name: attribute.element for attribute in draw.pipeline.attributes}
    decoded: dict[str, list[F32]] = {}
    inputs: dict[str, Lanes] = {}
    base = draw.input.first if draw.input.indices is None else draw.input.indices.base
    for port in program.inputs:
        if port.name == VERTEX_NUMBER:
            inputs[port.name] = (numbers - base).astype(np.int32)
            continue
        register, component = port.name.split(".")
        if register not in decoded:
            element = elements.get(register)
            decoded[register] = (
                _ABSENT if element is None else [*decode(element, draw.input.streams, numbers)]
            )
        lane = decoded[register][COMPONENTS.index(component)]
        inputs[port.name] = lane.view(port.type.dtype)
    return inputs


class StageRun(msgspec.Struct, frozen=True):
    """Runs vertex, hull, domain and geometry programs with an engine and a cache of texels."""

    run: Run
    cache: TextureCache | None = None

    def __call__(
        self, draw: Draw, bound: StageProgram, inputs: Mapping[str, Lanes], lanes: int
    ) -> Result:
        """Run ``bound``, the program of a stage after the vertex stage, for ``lanes`` lanes."""
        given = _as_vertex_stage(draw, bound)
        texturing = Texturing.of(given, self.cache, self.run)
        return self.run(
            bound.program,
            inputs,
            given.vertex.uniforms,
            lanes,
            sampler=StageSampler(texturing, Stage.VERTEX),
            fetcher=fetcher(given, texturing, Stage.VERTEX),
        )

    def vertices(self, draw: Draw, numbers: I64) -> tuple[Mapping[str, Lanes], I64]:
        """Run a draw's vertex program for vertices ``numbers``; returns what ``shaded`` does."""
        assert draw.pipeline.vertex is not None
        texturing = Texturing.of(draw, self.cache, self.run)
        sampler = StageSampler(texturing, Stage.VERTEX)
        reads = fetcher(draw, texturing, Stage.VERTEX)
        return shaded(draw, draw.pipeline.vertex, numbers, sampler, self.run, reads)


def _as_vertex_stage(draw: Draw, bound: StageProgram) -> Draw:
    """A draw with the program and bindings of a later stage in place of its vertex program's."""
    pipeline = replace(
        draw.pipeline,
        vertex=bound.program,
        vertex_samplers=bound.samplers,
        vertex_units=bound.units,
    )
    vertex = replace(draw.vertex, uniforms=bound.uniforms, textures=bound.textures)
    return replace(draw, pipeline=pipeline, vertex=vertex)


def fetcher(draw: Draw, texturing: Texturing, stage: Stage) -> StageFetcher | None:
    """The resource fetcher of a Direct3D 10 shader stage; None if it reads no resource."""
    if not texturing.read_units.get(stage):
        return None
    # Imported here, since other shaders do not need these modules at start-up.
    from dp2emu.gpu.shader_resources.resource_reads import StageFetcher

    bindings = draw.pixel.textures if stage is Stage.PIXEL else draw.vertex.textures
    return StageFetcher(texturing, stage, bindings, draw.pipeline.samples)
