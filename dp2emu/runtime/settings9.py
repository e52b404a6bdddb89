"""Settings of Direct3D 9 and 8 devices: how each is sent, its default, which blocks have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dp2emu.d3d import device_states
from dp2emu.d3d.enums import (
    RenderState,
    SamplerState,
    StateBlockType,
    TextureStageState,
    ZBufferType,
)
from dp2emu.d3d.legacy import RenderState8
from dp2emu.runtime.device9 import Device9
from dp2emu.runtime.lights import DEFAULT_LIGHT
from dp2emu.runtime.mirror import Key, Mirror, Setter
from dp2emu.runtime.objects import Material
from dp2emu.runtime.states import WIRE_SAMPLER_STATES

STAGES = range(8)
SAMPLERS = (*range(16), *range(256, 261))
"""Samplers of pixels, of displacement and of vertices."""
STREAMS = range(16)
PLANES = range(6)
REGISTERS = {
    "vertex_floats": 256, "vertex_integers": 16, "vertex_booleans": 16,
    "pixel_floats": 224, "pixel_integers": 16, "pixel_booleans": 16,
}  # fmt: skip
"""Constant registers of a device of Direct3D 9."""
NO_PALETTE = 0xFFFF
_TRANSFORMS = (2, 3, *range(16, 24), *range(256, 512))
"""View, projection, textures and worlds."""
_IDENTITY = tuple(float(i % 5 == 0) for i in range(16))
_ZEROS = (0.0, 0.0, 0.0, 0.0)


def setters(device: Device9) -> dict[str, Setter]:
    """What sends each setting, by its name; the vertex shader of Direct3D 8 is a number."""
    own: dict[str, Setter] = {"base": lambda base: None}
    if device.session.interface < 9:
        own["vertex_shader"] = device.set_vertex_handle
    return _setters9(device) | own


def _setters9(device: Device9) -> dict[str, Setter]:
    return {
        "render": device.set_render_state,
        "stage": device.set_texture_stage_state,
        "sampler": device.set_sampler_state,
        "texture": device.set_texture,
        "transform": device.set_transform,
        "material": device.set_material,
        "light": device.set_light,
        "lit": device.light_enable,
        "plane": device.set_clip_plane,
        "viewport": lambda view: device.set_viewport(*view),
        "scissor": lambda rect: device.set_scissor(*rect),
        "format": device.set_vertex_declaration,
        "vertex_shader": device.set_vertex_shader,
        "pixel_shader": device.set_pixel_shader,
        "vertex_floats": device.set_vertex_constants,
        "vertex_integers": device.set_vertex_integers,
        "vertex_booleans": device.set_vertex_booleans,
        "pixel_floats": device.set_pixel_constants,
        "pixel_integers": device.set_pixel_integers,
        "pixel_booleans": device.set_pixel_booleans,
        "stream": lambda number, source: device.set_stream_source(number, *source),
        "frequency": device.set_stream_frequency,
        "indices": device.set_indices,
        "palette": lambda number: _choose(device, number),
        "npatches": device.set_npatch_mode,
    }


def _choose(device: Device9, number: int) -> None:
    """A palette that was never set is none, though a runtime took it."""
    if device.textures.has_palette(number):
        device.textures.choose_palette(number)


_DEFAULTS: dict[str, Callable[..., Any]] = {
    "stage": lambda stage, state: _stage(stage, state),
    "sampler": lambda sampler, state: int(device_states.DEFAULT_SAMPLER_STATES.get(state, 0)),
    "texture": lambda stage: None,
    "transform": lambda state: _IDENTITY,
    "material": lambda: Material(),
    "light": lambda index: DEFAULT_LIGHT,
    "lit": lambda index: False,
    "plane": lambda index: _ZEROS,
    "format": lambda: None,
    "vertex_shader": lambda: None,
    "pixel_shader": lambda: None,
    "vertex_floats": lambda register: _ZEROS,
    "vertex_integers": lambda register: (0, 0, 0, 0),
    "vertex_booleans": lambda register: False,
    "pixel_floats": lambda register: _ZEROS,
    "pixel_integers": lambda register: (0, 0, 0, 0),
    "pixel_booleans": lambda register: False,
    "stream": lambda number: (None, 0, 0),
    "frequency": lambda number: 1,
    "indices": lambda: None,
    "base": lambda: 0,
    "palette": lambda: NO_PALETTE,
    "npatches": lambda: 0.0,
}


def default_of(device: Device9, key: Key) -> Any:
    """What a setting is on a fresh device with the targets this one has."""
    name, *numbers = key
    target = device.back_buffer
    if name == "render":
        return _render(device, *numbers)
    if name == "viewport":
        return (0, 0, target.width, target.height, 0.0, 1.0)
    if name == "scissor":
        return (0, 0, target.width, target.height)
    if name == "vertex_shader" and device.session.interface < 9:
        return 0
    return _DEFAULTS[name](*numbers)


def _render(device: Device9, state: int) -> int:
    if state == RenderState.ZENABLE:
        return int(ZBufferType.TRUE if device.depth_buffer else ZBufferType.FALSE)
    return int(device_states.DEFAULT_RENDER_STATES.get(state, 0))  # type: ignore[call-overload]


def _stage(stage: int, state: int) -> int:
    known = {int(each): each for each in TextureStageState}
    return device_states.default_stage_state(stage, known[state]) if state in known else 0


# What the predefined blocks have

SAMPLER_OF_WIRE = {wire: int(state) for state, wire in WIRE_SAMPLER_STATES.items()}
"""Sampler states by the numbers that Direct3D 8 and the wire have for them."""


def block_keys(mirror: Mirror, kind: StateBlockType, interface: int) -> Iterator[Key]:
    """The settings in a predefined block of Direct3D 9 or 8."""
    return _KINDS[kind](
        mirror, frozenset(map(int, RenderState if interface > 8 else RenderState8))
    )


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


_ONES = (
    "material", "viewport", "scissor", "format", "vertex_shader", "pixel_shader", "indices",
    "base", "palette", "npatches",
)  # fmt: skip


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
    names = (
        "material viewport scissor format vertex_shader pixel_shader indices base palette npatches"
    )
    yield from ((name,) for name in names.split())
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
    yield from ((name,) for name in ("format", "vertex_shader", "npatches"))
    yield from _registers("vertex")


_KINDS: dict[StateBlockType, Callable[[Mirror, frozenset[int]], Iterator[Key]]] = {
    StateBlockType.ALL: _all,
    StateBlockType.PIXELSTATE: _pixel,
    StateBlockType.VERTEXSTATE: _vertex,
}
