"""Settings, the values that state tokens set, and state blocks, which record them.

A state token calls ``Context.put``, which writes a setting at once or records it in a state
block.  A captured block reads settings.  Tokens that draw, move memory, create or delete objects,
choose targets or give commands set no state.

Source: wire format, "Render states", "Texture stages and samplers" and "State blocks".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple, Protocol

from dp2emu.d3d.device_states import (
    PIXEL_RENDER_STATES,
    PIXEL_SAMPLER_STATES,
    PIXEL_STAGE_STATES,
    VERTEX_RENDER_STATES,
    VERTEX_SAMPLER_STATES,
    VERTEX_STAGE_STATES,
)
from dp2emu.d3d.enums import RenderState, StateBlockType
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7
from dp2emu.dp2.options import Options, check_memory
from dp2emu.dp2.resolve.vertices import VertexStreams, check_frequency, check_stream
from dp2emu.dp2.shaders import Shaders
from dp2emu.dp2.states.constants import Constants
from dp2emu.dp2.states.raw_state import (
    CLIP_PLANES,
    IDENTITY,
    OPERATIONS,
    RENDER_STATES,
    STAGE_ROWS,
    STAGE_STATES,
    STREAMS,
    TOGETHER,
    TRANSFORMS,
    State,
    transform_number,
)
from dp2emu.dp2.states.setting_kinds import COMMANDS, ONLY, PLAIN, Kind, stage_index
from dp2emu.dp2.states.stage7 import WRAPS, stage_states
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import Indices, Stream
from dp2emu.gpu.operation_costs import EXECUTED, STORED
from dp2emu.gpu.resource.heap import Surface
from dp2emu.limits import GENEROUS, Limits
from dp2emu.shader.stages import STAGES


class DeviceState(Protocol):
    """The interface of a context for reading and writing settings."""

    interface: int
    options: Options
    state: State
    vertex_constants: Constants
    pixel_constants: Constants
    shaders: Shaders
    streams: VertexStreams
    indices: Indices | None

    def set_render_state(self, state: int, value: int) -> None:
        """Execute RENDERSTATE."""

    def set_texture_stage_state(self, stage: int, state: int, value: int) -> None:
        """Execute TEXTURESTAGESTATE."""

    def set_stream(self, stream: int, handle: int, offset: int, stride: int) -> None:
        """Execute SETSTREAMSOURCE2."""

    def set_stream_um(self, stream: int, stride: int) -> None:
        """Execute SETSTREAMSOURCEUM."""

    def set_stream_frequency(self, stream: int, value: int) -> None:
        """Execute SETSTREAMSOURCEFREQ."""

    def set_indices(self, handle: int, size: int) -> None:
        """Execute SETINDICES."""


Key = tuple[Kind, int]


Settings = Iterator[tuple[Key, Any]]


_Indices = Callable[[DeviceState], Iterable[int]]


def _none(context: DeviceState) -> Iterable[int]:
    return ()


def _only(context: DeviceState) -> Iterable[int]:
    return (ONLY,)


class Setting(NamedTuple):
    """The functions of a kind of settings.

    ``read`` returns the current value, in the form that ``write`` accepts; ``write`` has the
    effect of the token, and its errors.  ``parts`` splits a value into the settings that a block
    records one by one, None if it is a single setting; it raises Fault for a meaningless index or
    value, and leaves out ignored ones.  ``all``, ``pixel`` and ``vertex`` return the indices in
    the predefined state blocks.
    """

    read: Callable[[DeviceState, int], Any]
    write: Callable[[DeviceState, int, Any], None]
    parts: Callable[[DeviceState, int, Any], Settings] | None = None
    all: _Indices = _only
    pixel: _Indices = _none
    vertex: _Indices = _none


def read(context: DeviceState, key: Key) -> Any:
    """The current value of a setting."""
    kind, index = key
    return SETTINGS[kind].read(context, index)


def write(context: DeviceState, key: Key, value: Any) -> None:
    """Set a setting as the token that sets it would, with the same errors (Fault)."""
    kind, index = key
    SETTINGS[kind].write(context, index, value)


def parts(context: DeviceState, key: Key, value: Any) -> Settings:
    """The (key, value) pairs that a block records for a value.  Raises Fault if it is bad."""
    kind, index = key
    split = SETTINGS[kind].parts
    return iter(((key, value),)) if split is None else split(context, index, value)


def values_of(context: DeviceState, type: StateBlockType) -> dict[Key, Any]:
    """The settings of a predefined state block with their current values, in the order in which
    it sets them.
    """
    found: dict[Key, Any] = {}
    for kind, setting in SETTINGS.items():
        reader = setting.read
        for index in getattr(setting, _INDICES[type])(context):
            found[kind, index] = reader(context, index)
    return found


_INDICES = {
    StateBlockType.ALL: "all", StateBlockType.PIXELSTATE: "pixel",
    StateBlockType.VERTEXSTATE: "vertex",
}  # fmt: skip
"""Field of a setting with its indices in a predefined state block, by the block's type."""


def _plain(kind: Kind) -> Setting:
    held = [_only if type in PLAIN[kind].blocks else _none for type in StateBlockType]
    return Setting(
        lambda context, _: context.state.plain[kind],
        lambda context, _, value: context.state.set_plain(kind, value),
        None,
        *held,
    )


def _fixed(numbers: Iterable[int]) -> _Indices:
    """Return a function that takes a context and always returns ``numbers``, sorted."""
    known = tuple(sorted(numbers))
    return lambda context: known


# Texture stages and render states


def _in_stages(*pairs: tuple[Iterable[int], Iterable[int]]) -> _Indices:
    """Return a function that returns, for any context, the indices of texture stage states.

    Each pair has stage numbers, and the states of each of these stages that are included.
    """
    known = tuple(
        stage_index(stage, state)
        for stages, states in pairs
        for stage, state in product(stages, sorted(states))
    )
    return lambda context: known


def _stage_of(index: int) -> tuple[int, int]:
    """The stage and state numbers from which ``stage_index`` computed ``index``."""
    return divmod(index, stage_index(1, 0))


def _read_stage_state(context: DeviceState, index: int) -> int:
    stage, state = _stage_of(index)
    return context.state.stage(stage)[state]


def _stage_state_parts(context: DeviceState, index: int, value: Any) -> Settings:
    stage, state = _stage_of(index)
    if stage not in STAGE_ROWS or state >= STAGE_STATES:
        return
    for number in TOGETHER.get(state, (state,)):
        yield (Kind.STAGE_STATE, stage_index(stage, number)), value
    if context.interface < 8 and stage == 0 and state in OPERATIONS:
        yield (Kind.RENDER_STATE, int(RenderState7.TEXTUREMAPBLEND)), 0


def _read_render_state(context: DeviceState, index: int) -> int:
    states = context.state.render_states
    if context.interface < 8 and index in WRAPS:
        return int(bool(states[RenderState.WRAP0] & WRAPS[index]))
    if context.interface < 8 and index == RenderState7.TEXTUREMAPBLEND:
        return context.state.map_blend
    return states[index]


def _render_state_parts(context: DeviceState, index: int, value: Any) -> Settings:
    """What a block records for a render state: itself and, before DirectX 8, the states of stage 0
    that it sets.
    """
    if index >= RENDER_STATES:
        return
    yield (Kind.RENDER_STATE, index), value
    if context.interface < 8:
        for number, setting in stage_states(index, value):
            yield from _stage_state_parts(context, stage_index(0, number), setting)


def _render_states(context: DeviceState) -> Iterable[int]:
    """All render states, except commands and aliases of states of stage 0."""
    return _kept_render_states(context.interface < 8)


@cache
def _kept_render_states(early: bool) -> tuple[int, ...]:
    """The same, before DirectX 8 if ``early``."""
    states = (state for state in range(RENDER_STATES) if state not in COMMANDS)
    return tuple(state for state in states if not (early and stage_states(state, 0)))


# Viewport, transforms, planes and lights

_NO_PLANE = (0.0, 0.0, 0.0, 0.0)


def _read_viewport(context: DeviceState, index: int) -> tuple[int, int, int, int]:
    view = context.state.viewport
    return view.x, view.y, view.width, view.height


def _read_scissor(context: DeviceState, index: int) -> tuple[int, int, int, int]:
    rect = context.state.scissor
    return rect.left, rect.top, rect.right, rect.bottom


def _transform_parts(context: DeviceState, index: int, value: Any) -> Settings:
    number = transform_number(index)
    if number is not None:
        yield (Kind.TRANSFORM, number), value


def _clip_plane_parts(context: DeviceState, index: int, value: Any) -> Settings:
    if index < CLIP_PLANES:
        yield (Kind.CLIP_PLANE, index), value


def _lights(context: DeviceState) -> Iterable[int]:
    return sorted(context.state.lights.keys() | context.state.lights_enabled)


# Streams


def _read_stream(context: DeviceState, index: int) -> tuple[int, ...]:
    bound = context.streams.bound.get(index)
    if bound is None:
        return 0, 0, 0
    if not isinstance(bound, Stream):
        return (bound.stride,)
    handle = bound.data.handle if isinstance(bound.data, Surface) else 0
    return handle, bound.offset, bound.stride


def _write_stream(context: DeviceState, index: int, value: Any) -> None:
    set_stream = context.set_stream_um if len(value) == 1 else context.set_stream
    set_stream(index, *value)


def _stream_parts(context: DeviceState, index: int, value: Any) -> Settings:
    check_stream(index, value[-1])
    yield (Kind.STREAM, index), value


def _read_frequency(context: DeviceState, index: int) -> int:
    found = context.streams.frequencies.get(index)
    return int(found.flags) | found.number if found else 1


def _frequency_parts(context: DeviceState, index: int, value: Any) -> Settings:
    check_frequency(index, value)
    yield (Kind.FREQUENCY, index), value


def _read_indices(context: DeviceState, index: int) -> tuple[int, int]:
    bound = context.indices
    if bound is None or not isinstance(bound.data, Surface):
        return 0, 0
    return bound.data.handle, bound.size


# Shaders and constants


def _from_interface_9(context: DeviceState) -> Iterable[int]:
    return (ONLY,) if context.interface >= 9 else ()


def _before_interface_9(context: DeviceState) -> Iterable[int]:
    return () if context.interface >= 9 else (ONLY,)


def _constants(kind: Kind, name: str, of: Callable[[DeviceState], Constants]) -> Setting:
    """The ``Setting`` of shader registers ``name``, which a state block records one by one."""

    def parts(context: DeviceState, index: int, value: Any) -> Settings:
        for register, data in of(context).split(name, index, value):
            yield (kind, register), data

    def registers(context: DeviceState) -> Iterable[int]:
        return range(len(of(context).files[name]))

    pixel = kind >= Kind.PIXEL_SHADER
    return Setting(
        lambda context, index: of(context).register(name, index),
        lambda context, index, value: of(context).write(name, index, value),
        parts,
        registers,
        registers if pixel else _none,
        _none if pixel else registers,
    )


def _vertex_constants(context: DeviceState) -> Constants:
    return context.vertex_constants


def _pixel_constants(context: DeviceState) -> Constants:
    return context.pixel_constants


_ROWS: dict[Kind, Setting] = {
    Kind.STAGE_STATE: Setting(
        _read_stage_state,
        lambda context, index, value: context.set_texture_stage_state(*_stage_of(index), value),
        _stage_state_parts,
        _in_stages((STAGE_ROWS, range(STAGE_STATES))),
        _in_stages((range(STAGES), PIXEL_STAGE_STATES), (STAGE_ROWS, PIXEL_SAMPLER_STATES)),
        _in_stages((range(STAGES), VERTEX_STAGE_STATES), (STAGE_ROWS, VERTEX_SAMPLER_STATES)),
    ),
    Kind.RENDER_STATE: Setting(
        _read_render_state,
        lambda context, index, value: context.set_render_state(index, value),
        _render_state_parts,
        _render_states,
        _fixed(PIXEL_RENDER_STATES),
        _fixed(VERTEX_RENDER_STATES),
    ),
    Kind.VIEWPORT: Setting(
        _read_viewport, lambda context, _, value: context.state.set_viewport(*value)
    ),
    Kind.Z_RANGE: Setting(
        lambda context, _: (context.state.viewport.min_z, context.state.viewport.max_z),
        lambda context, _, value: context.state.set_z_range(*value),
    ),
    Kind.SCISSOR: Setting(
        _read_scissor, lambda context, _, value: context.state.set_scissor(*value)
    ),
    Kind.MATERIAL: Setting(
        lambda context, _: context.state.material,
        lambda context, _, value: context.state.set_material(value),
    ),
    Kind.INDICES: Setting(_read_indices, lambda context, _, value: context.set_indices(*value)),
    Kind.TRANSFORM: Setting(
        lambda context, index: context.state.transforms.get(index, IDENTITY),
        lambda context, index, value: context.state.set_transform(index, value),
        _transform_parts,
        _fixed(TRANSFORMS),
    ),
    Kind.CLIP_PLANE: Setting(
        lambda context, index: context.state.clip_planes.get(index, _NO_PLANE),
        lambda context, index, value: context.state.set_clip_plane(index, value),
        _clip_plane_parts,
        _fixed(range(CLIP_PLANES)),
    ),
    Kind.LIGHT: Setting(
        lambda context, index: context.state.lights.get(index),
        lambda context, index, value: context.state.set_light(index, value),
        all=_lights,
        vertex=_lights,
    ),
    Kind.LIGHT_ENABLE: Setting(
        lambda context, index: index in context.state.lights_enabled,
        lambda context, index, value: context.state.light_enable(index, value),
        all=_lights,
        vertex=_lights,
    ),
    Kind.STREAM: Setting(_read_stream, _write_stream, _stream_parts, _fixed(range(STREAMS))),
    Kind.FREQUENCY: Setting(
        _read_frequency,
        lambda context, index, value: context.set_stream_frequency(index, value),
        _frequency_parts,
        _fixed(range(STREAMS)),
    ),
    Kind.VERTEX_SHADER: Setting(
        lambda context, _: context.shaders.vertex_format,
        lambda context, _, value: context.shaders.set_vertex_shader(value),
        all=_before_interface_9,
        vertex=_before_interface_9,
    ),
    Kind.DECLARATION: Setting(
        lambda context, _: context.shaders.vertex_format,
        lambda context, _, value: context.shaders.set_declaration(value),
        all=_from_interface_9,
        vertex=_from_interface_9,
    ),
    Kind.FUNCTION: Setting(
        lambda context, _: context.shaders.function.handle if context.shaders.function else 0,
        lambda context, _, value: context.shaders.set_function(value),
        all=_from_interface_9,
        vertex=_from_interface_9,
    ),
    Kind.VERTEX_FLOATS: _constants(Kind.VERTEX_FLOATS, "c", _vertex_constants),
    Kind.VERTEX_INTEGERS: _constants(Kind.VERTEX_INTEGERS, "i", _vertex_constants),
    Kind.VERTEX_BOOLEANS: _constants(Kind.VERTEX_BOOLEANS, "b", _vertex_constants),
    Kind.PIXEL_SHADER: Setting(
        lambda context, _: context.shaders.pixel.handle if context.shaders.pixel else 0,
        lambda context, _, value: context.shaders.set_pixel_shader(value),
        pixel=_only,
    ),
    Kind.PIXEL_FLOATS: _constants(Kind.PIXEL_FLOATS, "c", _pixel_constants),
    Kind.PIXEL_INTEGERS: _constants(Kind.PIXEL_INTEGERS, "i", _pixel_constants),
    Kind.PIXEL_BOOLEANS: _constants(Kind.PIXEL_BOOLEANS, "b", _pixel_constants),
}

SETTINGS = {kind: _plain(kind) if kind in PLAIN else _ROWS[kind] for kind in Kind}
"""Kind of setting -> functions of it, in the order in which predefined state blocks set them."""


# State blocks: tables of settings.  Recording stores the settings of state tokens instead of
# writing them, the last value of each; capturing replaces every value by the current one;
# executing writes them in the order in which they were last recorded.

Block = dict[Key, Any]
_TYPES = frozenset(map(int, StateBlockType))


class Blocks:
    """State blocks by handle, and the block being recorded.  Mutable: tokens act on it.

    Methods raise Fault: D3DERR_DRIVERINVALIDCALL for an operation that is not allowed while a
    block is, or is not, being recorded; DDERR_INVALIDPARAMS for an unknown handle;
    DDERR_OUTOFMEMORY beyond the limits.  ``operate`` counts operations before they are executed
    (``gpu.operation_costs``), and raises Exceeded for too many.
    """

    def __init__(
        self, limits: Limits = GENEROUS, operate: Callable[[int], None] = lambda count: None
    ) -> None:
        self._limits = limits
        self._operate = operate
        self._blocks: dict[int, Block] = {}
        self._recording: tuple[int, Block] | None = None
        self._settings = 0

    @property
    def recording(self) -> int | None:
        """The handle of the block that records state tokens instead of executing them, or None."""
        return self._recording[0] if self._recording else None

    def sizes(self) -> dict[int, int]:
        """Handle of each state block -> number of its settings."""
        return {handle: len(block) for handle, block in sorted(self._blocks.items())}

    def begin(self, handle: int) -> None:
        """Start recording a state block."""
        self._idle("begun")
        self._recording = handle, {}

    def record(self, key: Key, value: Any) -> None:
        """Append a setting to the block being recorded, in place of an earlier value."""
        assert self._recording is not None
        _, block = self._recording
        if block.pop(key, None) is None:
            self._count(1)
        block[key] = value

    def recorded(self, key: Key) -> Any:
        """The value of a setting in the block that is being recorded, or None."""
        return self._recording[1].get(key) if self._recording else None

    def end(self) -> None:
        """Stop recording; a block that already has the handle is replaced."""
        if self._recording is None:
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, "no state block is being recorded")
        (handle, block), self._recording = self._recording, None
        self._settings -= len(block)
        self._keep(handle, block)

    def delete(self, handle: int) -> None:
        """Delete a state block."""
        self._settings -= len(self._find(handle))
        del self._blocks[handle]

    def execute(self, context: DeviceState, handle: int) -> None:
        """Write the settings of a state block."""
        self._idle("executed")
        block = self._find(handle)
        self._operate(EXECUTED * len(block))
        for key, value in block.items():
            write(context, key, value)

    def capture(self, context: DeviceState, handle: int) -> None:
        """Replace every value in a block by the current one; no setting is added or removed."""
        self._idle("captured")
        block = self._find(handle)
        self._operate(STORED * len(block))
        for key in block:
            block[key] = read(context, key)

    def create(self, context: DeviceState, handle: int, type: int) -> None:
        """Make a block of a predefined D3DSTATEBLOCKTYPE with the current values.

        With ``Options.strict`` only from DirectX 8 on: earlier runtimes do not send it.
        """
        self._idle("created")
        if context.options.strict and context.interface < 8:
            what = f"state block {handle} is created before DirectX 8"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        if type not in _TYPES:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"state block type {type}")
        made = values_of(context, StateBlockType(type))
        self._operate(STORED * len(made))
        self._keep(handle, made)

    def _keep(self, handle: int, block: Block) -> None:
        old = self._blocks.get(handle)
        number = len(self._blocks) + (old is None)
        check_memory(self._limits, "objects", number, f"state block {handle} is too many")
        self._count(len(block) - len(old or ()))
        self._blocks[handle] = block

    def _count(self, number: int) -> None:
        total = self._settings + number
        check_memory(self._limits, "settings", total, "state blocks hold too many settings")
        self._settings = total

    def _find(self, handle: int) -> Block:
        found = self._blocks.get(handle)
        if found is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no state block {handle}")
        return found

    def _idle(self, what: str) -> None:
        if self.recording is not None:
            what = f"a state block is {what} while {self.recording} is being recorded"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
