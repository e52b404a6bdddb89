"""The state of a context as a JSON object, for ``dp2emu state``."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from dp2emu.d3d.enums import Format as SurfaceFormat
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.sdk import SdkEnum, sdk_name
from dp2emu.d3d.wirenames import (
    FLOAT_RENDER_STATES,
    WireRenderState,
    WireTextureStageState,
    WireTransformState,
)
from dp2emu.dp2.context import Context
from dp2emu.dp2.resolve.vertices import UserStream
from dp2emu.dp2.shaders import Format, Function
from dp2emu.dp2.states.constants import Constants
from dp2emu.dp2.states.raw_state import STAGE_ROWS, State
from dp2emu.dp2.states.setting_kinds import Kind
from dp2emu.gpu.command.packets import Indices, Stream
from dp2emu.gpu.resource.heap import Surface
from dp2emu.number_text import json_number
from dp2emu.shader.sm.disassemble import disassemble

Facts = dict[str, Any]
"""A JSON object.  Floats that JSON cannot express are text: ``inf``, ``nan(0x7fc00000)``."""


_ASSEMBLIES = 256
_assembly = lru_cache(_ASSEMBLIES)(disassemble)
"""Assembly text of a shader; the last texts are kept, as a report asks at each event."""


def facts_of(context: Context, *, queries: bool = True) -> Facts:
    """JSON object of the state that the tokens of a context have set, by SDK name; without its
    queries unless ``queries``.
    """
    state = context.state
    facts: Facts = {
        "context": context.number,
        "interface": context.interface,
        "vertex_format": context.shaders.vertex_format,
        "declaration": _declaration(context.shaders.format),
        "vertex_shader": _function(context.shaders.function),
        "pixel_shader": _function(context.shaders.pixel),
        "targets": [_surface(color) for color in context.targets.colors],
        "depth": _surface(context.targets.depth),
        "viewport": {
            name: json_number(getattr(state.viewport, name))
            for name in ("x", "y", "width", "height", "min_z", "max_z")
        },
        "w_range": _plain(state.plain[Kind.W_RANGE]),
        "scissor": {
            name: getattr(state.scissor, name) for name in ("left", "top", "right", "bottom")
        },
        "streams": {
            str(key): _stream(value) for key, value in sorted(context.streams.bound.items())
        },
        "stream_frequencies": {
            str(key): frequency.flags | frequency.number
            for key, frequency in sorted(context.streams.frequencies.items())
        },
        "indices": _indices(context.indices),
        "convolution": _plain(state.plain[Kind.CONVOLUTION]),
        "patches": context.patches.handles(),
        "render_states": dict(_render_states(state.render_states)),
        "stages": {str(key): row for key, row in _stages(state)},
        "textures": {
            str(about.surface.handle): {
                name: value for name, value in about._asdict().items() if name != "surface"
            }
            for about in context.textures.facts()
        },
        "palettes": {
            str(key): words.tolist() for key, words in sorted(context.textures.palettes().items())
        },
        **_fixed_function(state),
        "state_blocks": {
            "recording": context.blocks.recording,
            "settings": {str(key): size for key, size in context.blocks.sizes().items()},
        },
        "vertex_constants": _constants(context.vertex_constants),
        "pixel_constants": _constants(context.pixel_constants),
        "queries": {
            str(key): {"type": sdk_name(QueryType, kind), "state": progress}
            for key, kind, progress in (context.queries.states() if queries else ())
        },
    }
    plain = {kind.name.lower(): value for kind, value in state.plain.items()}
    return {**facts, **{name: _plain(plain[name]) for name in plain if name not in facts}}


def _plain(value: Any) -> Any:
    """JSON value of a ``PLAIN`` setting: a number, a list for a tuple, an object for a struct."""
    if isinstance(value, tuple):
        return _numbers(value)
    if isinstance(value, msgspec.Struct):
        return {each: _plain(getattr(value, each)) for each in value.__struct_fields__}
    return json_number(value)


def _surface(surface: Surface | None) -> Facts | None:
    if surface is None:
        return None
    format = sdk_name(SurfaceFormat, surface.desc.format)
    size = {"width": surface.width, "height": surface.height, "samples": surface.samples}
    return {"surface": surface.handle, "format": format, **size}


def _declaration(format: Format | None) -> list[Facts] | None:
    """The elements of a declaration; ``register`` is set in DirectX 8 declarations."""
    if format is None:
        return None
    elements = format.layout.elements
    registers = format.tokens.registers if format.tokens else (None,) * len(elements)
    return [
        {
            "stream": element.stream,
            "offset": element.offset,
            "type": element.type.sdk,
            "usage": element.usage.sdk,
            "index": element.index,
            "register": register,
        }
        for element, register in zip(elements, registers, strict=True)
    ]


def _function(function: Function | None) -> Facts | None:
    if function is None:
        return None
    return {"handle": function.handle, "assembly": _assembly(function.code)}


def _stream(stream: Stream | UserStream) -> Facts:
    if isinstance(stream, UserStream):
        return {"user_memory": True, "stride": stream.stride}
    handle = stream.data.handle if isinstance(stream.data, Surface) else 0
    return {"surface": handle, "offset": stream.offset, "stride": stream.stride}


def _indices(indices: Indices | None) -> Facts | None:
    if indices is None or not isinstance(indices.data, Surface):
        return None
    return {"surface": indices.data.handle, "size": indices.size}


def _named(enum: type[SdkEnum], values: Iterable[tuple[int, Any]]) -> Iterable[tuple[str, Any]]:
    """Replace the number in each pair (number, value) by its name in ``enum``, or by its digits.

    Pairs without a name whose value is 0 are left out.
    """
    for index, value in values:
        name = sdk_name(enum, index)
        if name is not None or value:
            yield name or str(index), value


def _render_states(values: Sequence[int]) -> Iterable[tuple[str, Any]]:
    shown = (
        (index, json_number(struct.unpack("<f", struct.pack("<I", value))[0]))
        if index in FLOAT_RENDER_STATES
        else (index, value)
        for index, value in enumerate(values)
    )
    return _named(WireRenderState, shown)


def _stages(state: State) -> Iterable[tuple[int, Facts]]:
    """Pairs of a stage's or sampler's wire number and its texture stage states, by SDK name."""
    for stage, row in zip(STAGE_ROWS, state.stages, strict=True):
        yield stage, dict(_named(WireTextureStageState, enumerate(row)))


def _fixed_function(state: State) -> Facts:
    transforms = sorted(state.transforms.items())
    named = {sdk_name(WireTransformState, kind) or str(kind): value for kind, value in transforms}
    return {
        "transforms": {key: _numbers(matrix) for key, matrix in named.items()},
        "material": None if state.material is None else _record(state.material),
        "lights": {
            str(index): {
                "enabled": index in state.lights_enabled,
                "light": None if state.lights.get(index) is None else _record(state.lights[index]),
            }
            for index in sorted(state.lights_enabled | state.lights.keys())
        },
        "clip_planes": {
            str(index): _numbers(plane) for index, plane in sorted(state.clip_planes.items())
        },
    }


def _numbers(values: Iterable[float | int]) -> list[float | int | str]:
    return [json_number(value) for value in values]


def _record(record: Any) -> Facts:
    """JSON object of the fields of a NumPy record, by name: numbers, or lists of numbers."""
    values = zip(record.dtype.names, record.tolist(), strict=True)
    return {
        name: _numbers(value) if isinstance(value, tuple) else json_number(value)
        for name, value in values
    }


def _constants(constants: Constants) -> Facts:
    """JSON object of the shader constants that were written, by register name such as ``c5``."""
    return {
        f"{name}{index}": _numbers(values)
        for name, file in constants.files.items()
        for index, values in file.written()
    }
