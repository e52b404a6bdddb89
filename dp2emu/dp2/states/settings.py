"""What state tokens set, as values: how each kind of setting is read, written and recorded.

A token that sets state says so with ``Context.put``; what happens then, at once or when a state
block is executed, is a setting's ``write``.  ``read`` is what a block captures.  Tokens that draw,
move memory, create or delete things, choose targets or ask for something set no state.

Source: wire format, "Render states", "Texture stages and samplers" and "State blocks".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dp2emu.d3d.enums import RenderState
from dp2emu.d3d.legacy import RenderState7
from dp2emu.dp2.resolve.vertices import check_frequency, check_stream
from dp2emu.dp2.states.raw_state import (
    CLIP_PLANES,
    IDENTITY,
    OPERATIONS,
    RENDER_STATES,
    STAGE_ROWS,
    STAGE_STATES,
    TOGETHER,
    transform_number,
)
from dp2emu.dp2.states.setting_kinds import Kind, stage_index
from dp2emu.dp2.states.stage7 import WRAPS, stage_states
from dp2emu.gpu.command.packets import Stream
from dp2emu.gpu.resource.heap import Surface

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context
    from dp2emu.dp2.states.constants import Constants

Key = tuple[Kind, int]
Settings = Iterator[tuple[Key, Any]]
_Parts = Callable[["Context", int, Any], Settings]


class Access(NamedTuple):
    """How settings of a kind are read and written.

    ``write`` does what the token says unless it is recorded, and raises what that raises;
    ``read`` gives the value that would write what is there now.  ``parts`` are the settings a
    value comes to, each of which a block keeps by itself; None if it is just one.  It raises Fault
    for an index or value that means nothing, and leaves out what is ignored.
    """

    read: Callable[[Context, int], Any]
    write: Callable[[Context, int, Any], None]
    parts: _Parts | None = None


def read(context: Context, key: Key) -> Any:
    """What a setting is now."""
    kind, index = key
    return ACCESS[kind].read(context, index)


def write(context: Context, key: Key, value: Any) -> None:
    """Set it.  Raises Fault as the token's execution does."""
    kind, index = key
    ACCESS[kind].write(context, index, value)


def parts(context: Context, key: Key, value: Any) -> Settings:
    """What recording this keeps.  Raises Fault for what cannot be meant."""
    kind, index = key
    split = ACCESS[kind].parts
    return iter(((key, value),)) if split is None else split(context, index, value)


# Render states and stages


def _read_render_state(context: Context, index: int) -> int:
    states = context.state.render_states
    if context.interface < 8 and index in WRAPS:
        return int(bool(states[RenderState.WRAP0] & WRAPS[index]))
    if context.interface < 8 and index == RenderState7.TEXTUREMAPBLEND:
        return context.state.map_blend
    return states[index]


def _render_state_parts(context: Context, index: int, value: Any) -> Settings:
    """With what it says of stage 0 as settings of their own, which then are what is captured."""
    if index >= RENDER_STATES:
        return
    yield (Kind.RENDER_STATE, index), value
    if context.interface < 8:
        for number, setting in stage_states(index, value):
            yield from _stage_state_parts(context, stage_index(0, number), setting)


def _read_stage_state(context: Context, index: int) -> int:
    stage, state = divmod(index, stage_index(1, 0))
    return context.state.stage(stage)[state]


def _write_stage_state(context: Context, index: int, value: Any) -> None:
    context.set_texture_stage_state(*divmod(index, stage_index(1, 0)), value)


def _stage_state_parts(context: Context, index: int, value: Any) -> Settings:
    stage, state = divmod(index, stage_index(1, 0))
    if stage not in STAGE_ROWS or state >= STAGE_STATES:
        return
    for number in TOGETHER.get(state, (state,)):
        yield (Kind.STAGE_STATE, stage_index(stage, number)), value
    if context.interface < 8 and stage == 0 and state in OPERATIONS:
        yield (Kind.RENDER_STATE, int(RenderState7.TEXTUREMAPBLEND)), 0


# Around a draw


def _read_viewport(context: Context, index: int) -> tuple[int, int, int, int]:
    view = context.state.viewport
    return view.x, view.y, view.width, view.height


def _read_z_range(context: Context, index: int) -> tuple[float, float]:
    return context.state.viewport.min_z, context.state.viewport.max_z


def _read_scissor(context: Context, index: int) -> tuple[int, int, int, int]:
    rect = context.state.scissor
    return rect.left, rect.top, rect.right, rect.bottom


# Transform and lighting

_NO_PLANE = (0.0, 0.0, 0.0, 0.0)


def _transform_parts(context: Context, index: int, value: Any) -> Settings:
    number = transform_number(index)
    if number is not None:
        yield (Kind.TRANSFORM, number), value


def _clip_plane_parts(context: Context, index: int, value: Any) -> Settings:
    if index < CLIP_PLANES:
        yield (Kind.CLIP_PLANE, index), value


# Constants


def _constants(kind: Kind, name: str, of: Callable[[Context], Constants]) -> Access:
    """Registers of one file, which a block keeps one by one."""

    def parts(context: Context, index: int, value: Any) -> Settings:
        for register, data in of(context).split(name, index, value):
            yield (kind, register), data

    return Access(
        lambda context, index: of(context).register(name, index),
        lambda context, index, value: of(context).write(name, index, value),
        parts,
    )


def _vertex_constants(context: Context) -> Constants:
    return context.vertex_constants


def _pixel_constants(context: Context) -> Constants:
    return context.pixel_constants


CONSTANTS: Mapping[Kind, tuple[str, Callable[[Context], Constants]]] = {
    Kind.VERTEX_FLOATS: ("c", _vertex_constants),
    Kind.VERTEX_INTEGERS: ("i", _vertex_constants),
    Kind.VERTEX_BOOLEANS: ("b", _vertex_constants),
    Kind.PIXEL_FLOATS: ("c", _pixel_constants),
    Kind.PIXEL_INTEGERS: ("i", _pixel_constants),
    Kind.PIXEL_BOOLEANS: ("b", _pixel_constants),
}
"""Register files, and whose they are."""


# Streams


def _read_stream(context: Context, index: int) -> tuple[int, ...]:
    bound = context.streams.bound.get(index)
    if bound is None:
        return 0, 0, 0
    if not isinstance(bound, Stream):
        return (bound.stride,)
    handle = bound.data.handle if isinstance(bound.data, Surface) else 0
    return handle, bound.offset, bound.stride


def _write_stream(context: Context, index: int, value: Any) -> None:
    set_stream = context.set_stream_um if len(value) == 1 else context.set_stream
    set_stream(index, *value)


def _stream_parts(context: Context, index: int, value: Any) -> Settings:
    check_stream(index, value[-1])
    yield (Kind.STREAM, index), value


def _read_frequency(context: Context, index: int) -> int:
    found = context.streams.frequencies.get(index)
    return int(found.flags) | found.number if found else 1


def _frequency_parts(context: Context, index: int, value: Any) -> Settings:
    check_frequency(index, value)
    yield (Kind.FREQUENCY, index), value


def _read_indices(context: Context, index: int) -> tuple[int, int]:
    bound = context.indices
    if bound is None or not isinstance(bound.data, Surface):
        return 0, 0
    return bound.data.handle, bound.size


ACCESS: Mapping[Kind, Access] = {
    Kind.RENDER_STATE: Access(
        _read_render_state,
        lambda context, index, value: context.set_render_state(index, value),
        _render_state_parts,
    ),
    Kind.STAGE_STATE: Access(
        _read_stage_state,
        _write_stage_state,
        _stage_state_parts,
    ),
    Kind.VIEWPORT: Access(
        _read_viewport, lambda context, _, value: context.state.set_viewport(*value)
    ),
    Kind.Z_RANGE: Access(
        _read_z_range, lambda context, _, value: context.state.set_z_range(*value)
    ),
    Kind.W_RANGE: Access(
        lambda context, _: context.state.w_range,
        lambda context, _, value: context.state.set_w_range(*value),
    ),
    Kind.SCISSOR: Access(
        _read_scissor, lambda context, _, value: context.state.set_scissor(*value)
    ),
    Kind.TRANSFORM: Access(
        lambda context, index: context.state.transforms.get(index, IDENTITY),
        lambda context, index, value: context.state.set_transform(index, value),
        _transform_parts,
    ),
    Kind.MATERIAL: Access(
        lambda context, _: context.state.material,
        lambda context, _, value: context.state.set_material(value),
    ),
    Kind.LIGHT: Access(
        lambda context, index: context.state.lights.get(index),
        lambda context, index, value: context.state.set_light(index, value),
    ),
    Kind.LIGHT_ENABLE: Access(
        lambda context, index: index in context.state.lights_enabled,
        lambda context, index, value: context.state.light_enable(index, value),
    ),
    Kind.CLIP_PLANE: Access(
        lambda context, index: context.state.clip_planes.get(index, _NO_PLANE),
        lambda context, index, value: context.state.set_clip_plane(index, value),
        _clip_plane_parts,
    ),
    Kind.VERTEX_SHADER: Access(
        lambda context, _: context.shaders.vertex_format,
        lambda context, _, value: context.shaders.set_vertex_shader(value),
    ),
    Kind.DECLARATION: Access(
        lambda context, _: context.shaders.vertex_format,
        lambda context, _, value: context.shaders.set_declaration(value),
    ),
    Kind.FUNCTION: Access(
        lambda context, _: context.shaders.function.handle if context.shaders.function else 0,
        lambda context, _, value: context.shaders.set_function(value),
    ),
    Kind.PIXEL_SHADER: Access(
        lambda context, _: context.shaders.pixel.handle if context.shaders.pixel else 0,
        lambda context, _, value: context.shaders.set_pixel_shader(value),
    ),
    **{kind: _constants(kind, *file) for kind, file in CONSTANTS.items()},
    Kind.STREAM: Access(_read_stream, _write_stream, _stream_parts),
    Kind.FREQUENCY: Access(
        _read_frequency,
        lambda context, index, value: context.set_stream_frequency(index, value),
        _frequency_parts,
    ),
    Kind.INDICES: Access(_read_indices, lambda context, _, value: context.set_indices(*value)),
    Kind.CONVOLUTION: Access(
        lambda context, _: context.state.convolution,
        lambda context, _, value: context.state.set_convolution(value),
    ),
}
