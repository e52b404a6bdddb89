"""ProcessVertices: transformation and lighting into a vertex buffer, by the runtime itself.

The program is the one that draws run, so that a vertex comes out the same either way.  Source: the
DirectX 7 documentation of IDirect3DVertexBuffer7::ProcessVertices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from dp2emu.d3d.dp2structs import D3DMATERIAL7
from dp2emu.d3d.enums import DeclUsage, RenderState
from dp2emu.d3d.fvf import fvf_layout
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.vertices import Element, VertexLayout, elements_by_name
from dp2emu.dp2.resolve.fixed_function import fixed_state, fixed_vertex
from dp2emu.dp2.states.raw_state import State
from dp2emu.dp2.states.setting_kinds import Kind, stage_index
from dp2emu.dp2.tokens.lighting import LIGHT_DTYPE
from dp2emu.gpu.arrays import F32
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.gpu.command.packets import Stream
from dp2emu.gpu.input_assembler.vertex_fetch import COMPONENTS, decode
from dp2emu.gpu.rasterizer.clip import POSITION, on_screen
from dp2emu.layout import dtype_of
from dp2emu.runtime.calldraws import VertexBuffer
from dp2emu.runtime.session import Refused, Session
from dp2emu.runtime.settings7 import Key
from dp2emu.shader.fixed.uniforms import vertex_uniforms
from dp2emu.shader.fixed.vertex import vertex_program
from dp2emu.shader.reference import run

TRANSFORM, LIGHT = 1, 1 << 10
"""D3DVOP_TRANSFORM and D3DVOP_LIGHT; clipping and extents make no other vertices."""
DONOTCOPYDATA = 1
"""D3DPV_DONOTCOPYDATA: elements that are not computed stay as they were."""
_PER_STAGE = stage_index(1, 0)
MATERIAL_DTYPE = dtype_of(D3DMATERIAL7)

Bytes = NDArray[np.uint8]


class Span(msgspec.Struct, frozen=True):
    """``count`` vertices of a buffer, from ``start`` on."""

    buffer: VertexBuffer
    start: int
    count: int

    @property
    def offset(self) -> int:
        """Bytes before the first."""
        return self.start * self.buffer.stride

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return self.count * self.buffer.stride


def process(
    session: Session, made: Span, given: Span, operation: int, flags: int, state: State,
    view: Viewport,
) -> None:  # fmt: skip
    """Transform vertices of one buffer into another, whose vertices are on the screen.

    Raises Refused for spans outside of their buffers and for other formats.
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
    outputs = shaded(source, given, state)
    result = np.frombuffer(before, np.uint8).reshape(made.count, -1).copy()
    layout = fvf_layout(given.buffer.format, 7)
    for element in target.elements:
        column = column_of(element, outputs, view)
        if column is None and not flags & DONOTCOPYDATA:
            column = _copied(element, layout, source, given)
        if column is not None:
            end = element.offset + column.shape[1]
            result[:, element.offset : end] = column
    session.lock(made.buffer.desc.handle)
    session.write(made.buffer.desc.handle, made.offset, result.tobytes())


def shaded(source: bytes, given: Span, state: State) -> Mapping[str, F32]:
    """What the vertex program of fixed-function processing gives, by output."""
    layout = fvf_layout(given.buffer.format, 7)
    key = fixed_vertex(state, layout, 0)
    program = vertex_program(key)
    elements = elements_by_name(layout)
    streams, numbers = (Stream(source, 0, given.buffer.stride),), np.arange(given.count)
    inputs = {port.name: lane_of(elements, port.name, streams, numbers) for port in program.inputs}
    uniforms = vertex_uniforms(key, fixed_state(state))
    return run(program, inputs, uniforms, given.count).outputs


def lane_of(
    elements: Mapping[str, Element], name: str, streams: tuple[Stream, ...],
    numbers: NDArray[np.int64],
) -> F32:  # fmt: skip
    """One component of an element; 0, 0, 0, 1 where the vertices have none."""
    register, component = name.split(".")
    lane = COMPONENTS.index(component)
    if register not in elements:
        return np.full(len(numbers), float(lane == 3), np.float32)
    decoded: F32 = decode(elements[register], streams, numbers)[lane]
    return decoded


def column_of(element: Element, outputs: Mapping[str, F32], view: Viewport) -> Bytes | None:
    """Bytes of an element that is computed, (vertices, bytes); None for others."""
    if element.usage is DeclUsage.POSITIONT:
        lanes = np.stack([outputs[name] for name in POSITION]).astype(np.float64)
        with np.errstate(all="ignore"):
            placed = on_screen(lanes, view).astype("<f4")
        return np.ascontiguousarray(placed.T).view(np.uint8)
    if element.usage is DeclUsage.COLOR:
        return _color(element.index, outputs)
    return None


def _color(index: int, outputs: Mapping[str, F32]) -> Bytes:
    """A D3DCOLOR, blue in its first byte; the fog factor is the alpha of the second."""
    lanes = [outputs[f"color{index}.{component}"] for component in "zyxw"]
    if index == 1 and "fog0.x" in outputs:
        lanes[3] = outputs["fog0.x"]
    held = [np.clip(np.nan_to_num(lane), 0, 1).astype(np.float64) for lane in lanes]
    return np.stack([np.floor(lane * 255 + 0.5) for lane in held], axis=1).astype(np.uint8)


def _copied(element: Element, layout: VertexLayout, source: bytes, given: Span) -> Bytes | None:
    """An element of the source as it is; None if it has none such."""
    for other in layout.elements:
        if (other.usage, other.index, other.type) == (element.usage, element.index, element.type):
            rows = np.frombuffer(source, np.uint8).reshape(given.count, -1)
            end = min([e.offset for e in layout.elements if e.offset > other.offset]
                      or [given.buffer.stride])  # fmt: skip
            return rows[:, other.offset : end]
    return None


_SETTERS: dict[Kind, Callable[[State, int, Any], None]] = {
    Kind.RENDER_STATE: State.set_render_state,
    Kind.STAGE_STATE: lambda state, index, value: state.set_texture_stage_state(
        *divmod(index, _PER_STAGE), value
    ),
    Kind.TRANSFORM: State.set_transform,
    Kind.MATERIAL: lambda state, index, value: state.set_material(
        np.array([astuple(value)], MATERIAL_DTYPE)[0]
    ),
    Kind.LIGHT: lambda state, index, value: state.set_light(
        index, np.array([astuple(value)], LIGHT_DTYPE)[0]
    ),
    Kind.LIGHT_ENABLE: State.light_enable,
    Kind.CLIP_PLANE: State.set_clip_plane,
}


def state_of(settings: Mapping[Key, Any]) -> State:
    """What a driver would have in its registers."""
    state = State(has_depth=False)
    for (kind, index), value in settings.items():
        setter = _SETTERS.get(kind)
        if setter is not None:
            setter(state, index, value)
    return state
