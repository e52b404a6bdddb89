"""ProcessVertices: the runtime transforms and lights vertices into a vertex buffer.

It runs the vertex program that draws run, so that both give the same results.  Source: the
documentation of IDirect3DVertexBuffer7::ProcessVertices (DirectX 7) and
IDirect3DDevice9::ProcessVertices (Direct3D 9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from dp2emu.d3d.dp2structs import D3DMATERIAL7
from dp2emu.d3d.enums import DeclType, DeclUsage, RenderState
from dp2emu.d3d.fvf import fvf_layout
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.vertices import TYPE_BYTES, Element, ElementType, VertexLayout, elements_by_name
from dp2emu.dp2.resolve.fixed_function import fixed_state, fixed_vertex
from dp2emu.dp2.states.raw_state import State
from dp2emu.dp2.states.setting_kinds import Kind, stage_index
from dp2emu.dp2.tokens.lighting import LIGHT_DTYPE
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.gpu.command.packets import Stream
from dp2emu.gpu.input_assembler.vertex_fetch import COMPONENTS, decode
from dp2emu.gpu.rasterizer.clip import POSITION, on_screen
from dp2emu.layout import dtype_of
from dp2emu.runtime.application import Application
from dp2emu.runtime.calldraws import VertexBuffer
from dp2emu.runtime.objects import Light, Material
from dp2emu.runtime.resources import Resource
from dp2emu.runtime.session import Refused, Session
from dp2emu.runtime.settings7 import Key
from dp2emu.runtime.settings9 import STREAMS
from dp2emu.shader.fixed.uniforms import vertex_uniforms
from dp2emu.shader.fixed.vertex import vertex_program
from dp2emu.shader.reference import run

TRANSFORM, LIGHT = 1, 1 << 10
"""D3DVOP_TRANSFORM and D3DVOP_LIGHT, flags of the vertex operation of ProcessVertices; its other
flags do not change the vertices."""
DONOTCOPYDATA = 1
"""D3DPV_DONOTCOPYDATA, a flag of ProcessVertices: target elements that are not computed keep their
content."""
_PER_STAGE = stage_index(1, 0)
_MATERIAL_DTYPE = dtype_of(D3DMATERIAL7)
_FLOATS: dict[ElementType, int] = {
    DeclType.FLOAT1: 1, DeclType.FLOAT2: 2, DeclType.FLOAT3: 3, DeclType.FLOAT4: 4,
}  # fmt: skip

Bytes = NDArray[np.uint8]


def shaded(
    state: State, layout: VertexLayout, sets: int, streams: tuple[Stream, ...],
    numbers: NDArray[np.int64],
) -> Mapping[str, F32]:  # fmt: skip
    """The outputs, by name, of the fixed-function vertex program for the vertices with these
    numbers; ``sets`` is the number of texture coordinate sets.
    """
    key = fixed_vertex(state, layout, sets)
    program, elements = vertex_program(key), elements_by_name(layout)
    inputs = {port.name: _lane(elements, port.name, streams, numbers) for port in program.inputs}
    return run(program, inputs, vertex_uniforms(key, fixed_state(state)), len(numbers)).outputs


def _lane(
    elements: Mapping[str, Element], name: str, streams: tuple[Stream, ...],
    numbers: NDArray[np.int64],
) -> F32:  # fmt: skip
    """The values of input component ``name``, such as position0.x, of each vertex in ``numbers``;
    for an element that the vertices lack 0, or 1 for w.
    """
    register, component = name.split(".")
    lane = COMPONENTS.index(component)
    if register not in elements:
        return np.full(len(numbers), float(lane == 3), np.float32)
    decoded: F32 = decode(elements[register], streams, numbers)[lane]
    return decoded


def _column(element: Element, outputs: Mapping[str, F32], view: Viewport) -> Bytes | None:
    """The bytes, uint8 (vertices, bytes), of an output element that is a position or a colour,
    converted from the program's ``outputs``; None for other elements.
    """
    if element.usage is DeclUsage.POSITIONT:
        lanes = np.stack([outputs[name] for name in POSITION]).astype(np.float64)
        with np.errstate(all="ignore"):
            placed = on_screen(lanes, view).astype("<f4")
        return np.ascontiguousarray(placed.T).view(np.uint8)
    if element.usage is DeclUsage.COLOR and f"color{element.index}.x" in outputs:
        return _color(element.index, outputs)
    return None


def _color(index: int, outputs: Mapping[str, F32]) -> Bytes:
    """The bytes blue, green, red, alpha of output colour ``index``, of each vertex.

    The alpha of colour 1 is the fog factor if one was computed.
    """
    lanes = [outputs[f"color{index}.{component}"] for component in "zyxw"]
    if index == 1 and "fog0.x" in outputs:
        lanes[3] = outputs["fog0.x"]
    clipped = [np.clip(np.nan_to_num(lane), 0, 1).astype(np.float64) for lane in lanes]
    return np.stack([np.floor(lane * 255 + 0.5) for lane in clipped], axis=1).astype(np.uint8)


def _set_material(state: State, value: Material) -> None:
    state.set_material(np.array([astuple(value)], _MATERIAL_DTYPE)[0])


def _set_light(state: State, index: int, value: Light) -> None:
    state.set_light(index, np.array([astuple(value)], LIGHT_DTYPE)[0])


# Direct3D 7 and before: from one vertex buffer to another


class Span(msgspec.Struct, frozen=True):
    """``count`` vertices of a buffer, from ``start`` on."""

    buffer: VertexBuffer
    start: int
    count: int

    @property
    def offset(self) -> int:
        """The byte offset of the first vertex."""
        return self.start * self.buffer.stride

    @property
    def size(self) -> int:
        """The size of the vertices in bytes."""
        return self.count * self.buffer.stride


def process(
    session: Session, made: Span, given: Span, operation: int, flags: int, state: State,
    view: Viewport,
) -> None:  # fmt: skip
    """ProcessVertices of Direct3D 7: transform the vertices ``given`` to screen space into
    ``made``.

    Raises Refused for spans outside their buffers, and without D3DVOP_TRANSFORM to XYZRHW.
    """
    for span in (made, given):
        if span.start + span.count > span.buffer.count:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"vertex {span.start + span.count - 1}")
    target = fvf_layout(made.buffer.format, 7)
    if not operation & TRANSFORM or not target.transformed:
        raise Refused(HResult.D3DERR_INVALIDVERTEXFORMAT, f"operation {operation:#x}")
    if not made.count:
        return
    source = session.read(given.buffer.desc.handle, given.offset, given.size)
    before = session.read(made.buffer.desc.handle, made.offset, made.size)
    state.set_render_state(RenderState.LIGHTING, int(bool(operation & LIGHT)))
    layout, streams = fvf_layout(given.buffer.format, 7), Stream(source, 0, given.buffer.stride)
    outputs = shaded(state, layout, 0, (streams,), np.arange(given.count))
    result = np.frombuffer(before, np.uint8).reshape(made.count, -1).copy()
    for element in target.elements:
        column = _column(element, outputs, view)
        if column is None and not flags & DONOTCOPYDATA:
            column = _copied(element, layout, source, given)
        if column is not None:
            result[:, element.offset : element.offset + column.shape[1]] = column
    session.lock(made.buffer.desc.handle)
    session.write(made.buffer.desc.handle, made.offset, result.tobytes())


def _copied(element: Element, layout: VertexLayout, source: bytes, given: Span) -> Bytes | None:
    """The bytes of the source vertices' element of the same usage, index and type, uint8
    (vertices, bytes); None if they have none.
    """
    for other in layout.elements:
        if (other.usage, other.index, other.type) == (element.usage, element.index, element.type):
            rows = np.frombuffer(source, np.uint8).reshape(given.count, -1)
            later = [e.offset for e in layout.elements if e.offset > other.offset]
            return rows[:, other.offset : min(later or [given.buffer.stride])]
    return None


_SETTERS7: dict[Kind, Callable[[State, int, Any], None]] = {
    Kind.RENDER_STATE: State.set_render_state,
    Kind.STAGE_STATE: lambda state, index, value: state.set_texture_stage_state(
        *divmod(index, _PER_STAGE), value
    ),
    Kind.TRANSFORM: State.set_transform,
    Kind.MATERIAL: lambda state, index, value: _set_material(state, value),
    Kind.LIGHT: _set_light,
    Kind.LIGHT_ENABLE: State.light_enable,
    Kind.CLIP_PLANE: State.set_clip_plane,
}


def state_of(settings: Mapping[Key, Any]) -> State:
    """A driver ``State`` with those settings of a Direct3D 7 device that affect vertices."""
    state = State(has_depth=False)
    for (kind, index), value in settings.items():
        if kind in _SETTERS7:
            _SETTERS7[kind](state, index, value)
    return state


# Direct3D 8 and 9: from the bound streams to a vertex buffer


class Target(msgspec.Struct, frozen=True):
    """The output of ProcessVertices: a buffer, the index of its first vertex to write, its layout,
    and the size of a vertex in bytes.
    """

    buffer: Resource
    start: int
    layout: VertexLayout
    stride: int


def size_of(layout: VertexLayout) -> int:
    """The size in bytes of a vertex whose elements are in one stream."""
    ends = (e.offset + TYPE_BYTES[e.type] for e in layout.elements if isinstance(e.type, DeclType))
    return max(ends, default=0)


def process_streams(app: Application, first: int, count: int, made: Target, flags: int) -> None:
    """ProcessVertices of Direct3D 8 and 9: transform vertices of the bound streams under the
    current states.

    Raises Unsupported with a vertex shader, without a layout, and beyond the buffer's end.
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
    sets = [e.index for e in made.layout.elements if e.usage is DeclUsage.TEXCOORD]
    outputs = shaded(
        _state_of_device(app), layout, max(sets, default=-1) + 1,
        tuple(_stream(app, layout, n, first, count) for n in STREAMS), np.arange(count),
    )  # fmt: skip
    view = Viewport(*app.mirror.get("viewport"))
    for element in made.layout.elements:
        column = _column(element, outputs, view)
        if element.usage is DeclUsage.TEXCOORD and not flags & DONOTCOPYDATA:
            column = _coordinates(element, outputs)
        if column is not None:
            result[:, element.offset : element.offset + column.shape[1]] = column
    app.session.write(desc.handle, offset, result.tobytes())


def _stream(app: Application, layout: VertexLayout, number: int, first: int, count: int) -> Stream:
    """The vertices ``first`` and on of a bound stream, of whose buffer no more is read."""
    desc, offset, stride = app.mirror.get("stream", number)
    elements = tuple(e for e in layout.elements if e.stream == number)
    if not (desc and elements):
        return Stream(b"", offset, stride)
    start = min(offset + first * stride, desc.width)
    vertex = size_of(VertexLayout(elements, layout.transformed))
    end = min(start + (count - 1) * stride + vertex, desc.width)
    return Stream(app.session.read(desc.handle, start, max(end - start, 0)), 0, stride)


def _coordinates(element: Element, outputs: Mapping[str, F32]) -> Bytes | None:
    """The bytes of a texture coordinate set, None if none of its components is computed."""
    names = [f"texcoord{element.index}.{c}" for c in COMPONENTS[: _FLOATS.get(element.type, 0)]]
    if not any(name in outputs for name in names):
        return None
    zeros = np.zeros(len(outputs["position0.x"]), np.float32)
    lanes = [outputs.get(name, zeros) for name in names]
    return np.ascontiguousarray(np.stack(lanes, axis=1).astype("<f4")).view(np.uint8)


_SETTERS9: dict[str, Callable[..., None]] = {
    "render": State.set_render_state,
    "stage": State.set_texture_stage_state,
    "transform": State.set_transform,
    "material": _set_material,
    "light": _set_light,
    "lit": State.light_enable,
    "plane": State.set_clip_plane,
}


def _state_of_device(app: Application) -> State:
    """A driver ``State`` with those settings of a Direct3D 8 or 9 device that affect vertices."""
    state = State(has_depth=False)
    for name, setter in _SETTERS9.items():
        for _, *numbers in app.mirror.keys(name):
            setter(state, *numbers, app.mirror.get(name, *numbers))
    return state
