"""Settings of Direct3D 9 and 8 devices: their setters, defaults and predefined state blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dp2emu.argument_check import trusted
from dp2emu.d3d import device_states
from dp2emu.d3d.enums import (
    RenderState,
    SamplerState,
    StateBlockType,
    TextureStageState,
    ZBufferType,
)
from dp2emu.d3d.legacy import RenderState8
from dp2emu.dp2.states.raw_state import IDENTITY
from dp2emu.runtime.device9 import Device9
from dp2emu.runtime.mirror import REGISTERS, Key, Mirror, Setter
from dp2emu.runtime.objects import Material
from dp2emu.runtime.states import DEFAULT_LIGHT, WIRE_SAMPLER_STATES

STAGES = range(8)
SAMPLERS = (*range(16), *range(256, 261))
"""Sampler numbers: 0 to 15 of pixel shaders, 256 of displacement maps, 257 to 260 of vertex
shaders."""
STREAMS = range(16)
PLANES = range(6)
NO_PALETTE = 0xFFFF
_TRANSFORMS = (2, 3, *range(16, 24), *range(256, 512))
"""D3DTRANSFORMSTATETYPE numbers of the view, projection, texture and world matrices."""
_ZEROS = (0.0, 0.0, 0.0, 0.0)


def setters(device: Device9) -> dict[str, Setter]:
    """The function that sends a setting to the driver, by setting name; in Direct3D 8 a vertex
    shader is set by its number.
    """
    eight = device.session.interface < 9
    set_stream = trusted(device.set_stream_source)
    return {
        "base": lambda base: None,
        "render": trusted(device.set_render_state),
        "stage": trusted(device.set_texture_stage_state),
        "sampler": trusted(device.set_sampler_state),
        "texture": trusted(device.textures.bind),
        "transform": trusted(device.set_transform),
        "material": device.set_material,
        "light": device.set_light,
        "lit": device.light_enable,
        "plane": device.set_clip_plane,
        "viewport": lambda view: device.set_viewport(*view),
        "scissor": lambda rect: device.set_scissor(*rect),
        "format": trusted(device.set_vertex_declaration),
        "vertex_shader": trusted(device.set_vertex_handle if eight else device.set_vertex_shader),
        "pixel_shader": trusted(device.set_pixel_shader),
        "vertex_floats": device.set_vertex_constants,
        "vertex_integers": device.set_vertex_integers,
        "vertex_booleans": device.set_vertex_booleans,
        "pixel_floats": device.set_pixel_constants,
        "pixel_integers": device.set_pixel_integers,
        "pixel_booleans": device.set_pixel_booleans,
        "stream": lambda number, source: set_stream(number, *source),
        "frequency": device.set_stream_frequency,
        "indices": device.set_indices,
        "palette": lambda number: _choose_palette(device, number),
        "npatches": device.set_npatch_mode,
    }


def _choose_palette(device: Device9, number: int) -> None:
    """SetCurrentTexturePalette; the runtime accepts palettes that were never set."""
    if device.textures.has_palette(number):
        device.textures.choose_palette(number)


_DEFAULTS: dict[str, Any] = {
    "texture": None,
    "transform": IDENTITY,
    "material": Material(),
    "light": DEFAULT_LIGHT,
    "lit": False,
    "plane": _ZEROS,
    "format": None,
    "vertex_shader": None,
    "pixel_shader": None,
    "vertex_floats": _ZEROS,
    "vertex_integers": (0, 0, 0, 0),
    "vertex_booleans": False,
    "pixel_floats": _ZEROS,
    "pixel_integers": (0, 0, 0, 0),
    "pixel_booleans": False,
    "stream": (None, 0, 0),
    "frequency": 1,
    "indices": None,
    "base": 0,
    "palette": NO_PALETTE,
    "npatches": 0.0,
}
_STAGE_STATES = {int(each): each for each in TextureStageState}


def default_of(device: Device9, key: Key) -> Any:
    """The initial value of a setting; a few depend on the device's targets."""
    name, *numbers = key
    target = device.back_buffer
    if name == "render":
        if numbers[0] == RenderState.ZENABLE:
            return int(ZBufferType.TRUE if device.depth_buffer else ZBufferType.FALSE)
        return int(device_states.DEFAULT_RENDER_STATES.get(numbers[0], 0))
    if name == "stage":
        stage, state = numbers
        return (
            device_states.default_stage_state(stage, _STAGE_STATES[state])
            if state in _STAGE_STATES
            else 0
        )
    if name == "sampler":
        return int(device_states.DEFAULT_SAMPLER_STATES.get(numbers[1], 0))
    if name == "viewport":
        return (0, 0, target.width, target.height, 0.0, 1.0)
    if name == "scissor":
        return (0, 0, target.width, target.height)
    if name == "vertex_shader" and device.session.interface < 9:
        return 0
    return _DEFAULTS[name]


# Predefined state blocks

SAMPLER_OF_WIRE = {wire: int(state) for state, wire in WIRE_SAMPLER_STATES.items()}
"""D3DSAMPLERSTATETYPE number by the number of the texture stage state that has the same meaning in
Direct3D 8 and on the wire."""


def block_keys(mirror: Mirror, kind: StateBlockType, interface: int) -> Iterator[Key]:
    """The keys of the settings in a predefined state block of Direct3D 9 or 8."""
    states = RenderState if interface > 8 else RenderState8
    return _KINDS[kind](mirror, frozenset(map(int, states)))


def _each(name: str, *numbers: Iterable[int]) -> Iterator[Key]:
    keys: list[Key] = [(name,)]
    for choices in map(tuple, numbers):
        keys = [(*key, number) for key in keys for number in choices]
    return iter(keys)


def _registers(kind: str) -> Iterator[Key]:
    for name, count in REGISTERS.items():
        if name.startswith(kind):
            yield from _each(name, range(count))


def _lights(mirror: Mirror) -> Iterator[Key]:
    yield from mirror.keys("light")
    yield from mirror.keys("lit")


def _samplers(wire: Iterable[int]) -> Iterator[Key]:
    states = sorted(SAMPLER_OF_WIRE[each] for each in wire if each in SAMPLER_OF_WIRE)
    return _each("sampler", SAMPLERS, states)


def _singles(names: str) -> Iterator[Key]:
    return ((name,) for name in names.split())


def _all(mirror: Mirror, states: frozenset[int]) -> Iterator[Key]:
    yield from _each("render", sorted(states))
    yield from _each("stage", STAGES, map(int, TextureStageState))
    yield from _each("sampler", SAMPLERS, map(int, SamplerState))
    yield from _each("texture", SAMPLERS)
    yield from _each("transform", _TRANSFORMS)
    yield from _lights(mirror)
    yield from _each("plane", PLANES)
    yield from _each("stream", STREAMS)
    yield from _each("frequency", STREAMS)
    yield from _singles(
        "material viewport scissor format vertex_shader pixel_shader indices base palette npatches"
    )
    yield from _registers("vertex")
    yield from _registers("pixel")


def _pixel(mirror: Mirror, states: frozenset[int]) -> Iterator[Key]:
    yield from _each("render", sorted(device_states.PIXEL_RENDER_STATES & states))
    yield from _each("stage", STAGES, sorted(device_states.PIXEL_STAGE_STATES))
    yield from _samplers(device_states.PIXEL_SAMPLER_STATES)
    yield ("pixel_shader",)
    yield from _registers("pixel")


def _vertex(mirror: Mirror, states: frozenset[int]) -> Iterator[Key]:
    yield from _each("render", sorted(device_states.VERTEX_RENDER_STATES & states))
    yield from _each("stage", STAGES, sorted(device_states.VERTEX_STAGE_STATES))
    yield from _samplers(device_states.VERTEX_SAMPLER_STATES)
    yield from _lights(mirror)
    yield from _singles("format vertex_shader npatches")
    yield from _registers("vertex")


_KINDS: dict[StateBlockType, Callable[[Mirror, frozenset[int]], Iterator[Key]]] = {
    StateBlockType.ALL: _all,
    StateBlockType.PIXELSTATE: _pixel,
    StateBlockType.VERTEXSTATE: _vertex,
}
