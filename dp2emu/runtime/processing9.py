"""ProcessVertices of Direct3D 9 and 8: fixed-function processing into a vertex buffer.

The program is the one that draws run (``processing``).  Source: the Direct3D 9 documentation of
IDirect3DDevice9::ProcessVertices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import astuple

from dp2emu.d3d.enums import DeclType, DeclUsage
from dp2emu.d3d.vertices import TYPE_BYTES, Element, ElementType, VertexLayout, elements_by_name
from dp2emu.dp2.resolve.fixed_function import fixed_state, fixed_vertex
from dp2emu.dp2.states.raw_state import State
from dp2emu.dp2.tokens.lighting import LIGHT_DTYPE
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.gpu.command.packets import Stream
from dp2emu.gpu.input_assembler.vertex_fetch import COMPONENTS
from dp2emu.runtime.application import Application
from dp2emu.runtime.processing import DONOTCOPYDATA, MATERIAL_DTYPE, Bytes, column_of, lane_of
from dp2emu.runtime.resources import Resource
from dp2emu.runtime.settings9 import STREAMS
from dp2emu.shader.fixed.uniforms import vertex_uniforms
from dp2emu.shader.fixed.vertex import vertex_program
from dp2emu.shader.reference import run

_FLOATS: dict[ElementType, int] = {
    DeclType.FLOAT1: 1, DeclType.FLOAT2: 2, DeclType.FLOAT3: 3, DeclType.FLOAT4: 4,
}  # fmt: skip


class Target(msgspec.Struct, frozen=True):
    """Where vertices go: a buffer, the number of its first, its format, bytes of a vertex."""

    buffer: Resource
    start: int
    layout: VertexLayout
    stride: int


def size_of(layout: VertexLayout) -> int:
    """Bytes of a vertex whose elements lie in one stream."""
    ends = (e.offset + TYPE_BYTES[e.type] for e in layout.elements if isinstance(e.type, DeclType))
    return max(ends, default=0)


def process(app: Application, first: int, count: int, made: Target, flags: int) -> None:
    """Vertices from ``first`` on of the bound streams, transformed under the states there are.

    Raises Unsupported for a vertex shader, for a format that has none, and for what leaves the
    buffer.
    """
    layout, desc = app.vertex_layout(), made.buffer.desc
    if layout is None or desc is None or made.stride == 0:
        raise Unsupported("vertices processed other than by fixed functions into a format")
    offset, size = made.start * made.stride, count * made.stride
    if offset + size > desc.width:
        raise Unsupported(f"{count} processed vertices beyond the buffer's end")
    app.lock(made.buffer)
    before = np.frombuffer(app.session.read(desc.handle, offset, size), np.uint8)
    result = before.reshape(count, made.stride).copy()
    outputs = _shaded(app, layout, made.layout, np.arange(first, first + count))
    view = Viewport(*app.mirror.get("viewport"))
    for element in made.layout.elements:
        column = _column(element, outputs, view, flags)
        if column is not None:
            result[:, element.offset : element.offset + column.shape[1]] = column
    app.session.write(desc.handle, offset, result.tobytes())


def _shaded(
    app: Application, layout: VertexLayout, target: VertexLayout, numbers: Any
) -> Mapping[str, F32]:
    """What the vertex program gives, by output."""
    state = _state(app)
    sets = [e.index for e in target.elements if e.usage is DeclUsage.TEXCOORD]
    key = fixed_vertex(state, layout, max(sets, default=-1) + 1)
    program = vertex_program(key)
    elements, streams = elements_by_name(layout), tuple(_stream(app, n) for n in STREAMS)
    inputs = {port.name: lane_of(elements, port.name, streams, numbers) for port in program.inputs}
    return run(program, inputs, vertex_uniforms(key, fixed_state(state)), len(numbers)).outputs


def _stream(app: Application, number: int) -> Stream:
    desc, offset, stride = app.mirror.get("stream", number)
    data = app.session.read(desc.handle, 0, desc.width) if desc else b""
    return Stream(data, offset, stride)


def _column(
    element: Element, outputs: Mapping[str, F32], view: Viewport, flags: int
) -> Bytes | None:
    """Bytes of an element that is computed; None for those that stay."""
    if element.usage is not DeclUsage.TEXCOORD:
        known = element.usage is not DeclUsage.COLOR or f"color{element.index}.x" in outputs
        return column_of(element, outputs, view) if known else None
    names = [f"texcoord{element.index}.{c}" for c in COMPONENTS[: _FLOATS.get(element.type, 0)]]
    if flags & DONOTCOPYDATA or not any(name in outputs for name in names):
        return None
    nothing = np.zeros(len(outputs["position0.x"]), np.float32)
    lanes = [outputs.get(name, nothing) for name in names]
    return np.ascontiguousarray(np.stack(lanes, axis=1).astype("<f4")).view(np.uint8)


_SETTERS: dict[str, Callable[..., None]] = {
    "render": State.set_render_state,
    "stage": State.set_texture_stage_state,
    "transform": State.set_transform,
    "material": lambda state, value: state.set_material(
        np.array([astuple(value)], MATERIAL_DTYPE)[0]
    ),
    "light": lambda state, index, value: state.set_light(
        index, np.array([astuple(value)], LIGHT_DTYPE)[0]
    ),
    "lit": State.light_enable,
    "plane": State.set_clip_plane,
}


def _state(app: Application) -> State:
    """The driver's registers, as far as they matter to vertices."""
    state = State(has_depth=False)
    for name, setter in _SETTERS.items():
        for _, *numbers in app.mirror.keys(name):
            setter(state, *numbers, app.mirror.get(name, *numbers))
    return state
