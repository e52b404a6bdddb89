"""The vertex stage of the reference engine: fetch, vertex program, corners on the screen."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dp2emu.gpu.arrays import F32, I64
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.topology import corners
from dp2emu.gpu.input_assembler.vertex_fetch import COMPONENTS, decode, fetch, vertex_numbers
from dp2emu.gpu.rasterizer.clip import Geometry, _join, placed
from dp2emu.shader.engines import locate_disagreement
from dp2emu.shader.ir import Program
from dp2emu.shader.reference import Fetcher, Run, Sampler
from dp2emu.shader.reference import run as run_reference
from dp2emu.shader.types import Lanes

_ABSENT = [np.array([number], np.float32) for number in (0, 0, 0, 1)]
"""What a vertex program reads where the vertices have nothing."""

VERTEX_NUMBER = "vertex_id.x"
"""An I32 input of a vertex program: the index of the vertex, or of a draw without
indices its place among the vertices drawn."""


def geometry(
    draw: Draw,
    start: int,
    stop: int,
    names: tuple[str, ...],
    sampler: Sampler | None = None,
    run: Run = run_reference,
    fetcher: Fetcher | None = None,
) -> Geometry:
    """Primitives ``start`` to ``stop`` of a draw, with those varyings of ``names`` they have."""
    sequence = corners(draw.input.topology, draw.input.first, start, stop)
    numbers = vertex_numbers(draw.input.indices, sequence.ravel()).reshape(sequence.shape)
    edges = None if draw.input.edge_flags is None else draw.input.edge_flags[:, start:stop]
    if draw.pipeline.vertex is None:
        layout, attributes = draw.pipeline.layout, draw.pipeline.attributes
        vertices = fetch(layout, draw.input.streams, numbers, names, attributes)
        _join(draw, vertices.names, vertices.varyings)
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
    """A vertex program's outputs, run for each of the vertices once, and which of the lanes each
    of ``numbers`` is, in the shape of these.
    """
    unique, place = np.unique(numbers.ravel(), return_inverse=True)
    inputs = _inputs(draw, program, unique)
    with locate_disagreement(lambda lane: f"vertex {unique[lane]}"):
        outputs = run(
            program, inputs, draw.vertex.uniforms, len(unique), sampler=sampler, fetcher=fetcher
        ).outputs
    return outputs, place.reshape(numbers.shape)


def _inputs(draw: Draw, program: Program, numbers: I64) -> dict[str, Lanes]:
    """What the program reads of the vertices; components that they lack are 0, 0, 0, 1.

    An I32 is the bits of a float.
    """
    elements = {attribute.name: attribute.element for attribute in draw.pipeline.attributes}
    decoded: dict[str, list[F32]] = {}
    inputs: dict[str, Lanes] = {}
    for port in program.inputs:
        if port.name == VERTEX_NUMBER:
            inputs[port.name] = (numbers - _base(draw)).astype(np.int32)
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


def _base(draw: Draw) -> int:
    return draw.input.first if draw.input.indices is None else draw.input.indices.base
