"""Scene commands: one function per ``op``, found through a table.

A function reads its arguments from the command's fields and acts on the player's device; what
it does not read is an unknown key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dp2emu.d3d.enums import (
    Basis,
    Degree,
    Format,
    LightType,
    PrimitiveType,
    RenderState,
    SamplerState,
    TextureStageState,
    TransformState,
)
from dp2emu.d3d.flags import Clear
from dp2emu.errors import SceneError
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime import (
    Declaration,
    Device9,
    IndexBuffer,
    Light,
    Material,
    PixelShader,
    RectPatchInfo,
    TriPatchInfo,
    VertexShader,
)
from dp2emu.scene.fields import Fields
from dp2emu.scene.player import Player
from dp2emu.scene.values import (
    color,
    dword,
    floating,
    floats,
    listing,
    member,
    optional,
    rect,
    rects,
    states,
    surface_format,
    text,
    triple,
    truth,
    whole,
)

Action = Callable[[Player, Fields], None]

OPS: dict[str, Action] = {}
"""Every command that can be played, by its ``op``."""

UINT = whole(0, 0xFFFFFFFF)
INT = whole(-(1 << 31), (1 << 31) - 1)
COORDINATE = whole(0, (1 << 31) - 1)
STRIDE = whole(0, 0xFFFF)
LABEL = text

_CLEAR_FLAGS = {"target": Clear.TARGET, "zbuffer": Clear.ZBUFFER, "stencil": Clear.STENCIL}
_WORLD = 256
_BLACK = (0.0, 0.0, 0.0, 0.0)
_ORIGIN = (0.0, 0.0, 0.0)


def op(name: str) -> Callable[[Action], Action]:
    """Register the decorated function as a command."""

    def register(action: Action) -> Action:
        OPS[name] = action
        return action

    return register


# State


@op("rs")
def _render_states(player: Player, fields: Fields) -> None:
    for state, value in fields.take("states", states(RenderState)):
        player.device.set_render_state(state, value)


@op("tss")
def _stage_states(player: Player, fields: Fields) -> None:
    stage = fields.take("stage", whole(0, 7))
    for state, value in fields.take("states", states(TextureStageState)):
        player.device.set_texture_stage_state(stage, state, value)


@op("ss")
def _sampler_states(player: Player, fields: Fields) -> None:
    sampler = fields.take("sampler", whole(0, 260))
    for state, value in fields.take("states", states(SamplerState)):
        player.device.set_sampler_state(sampler, state, value)


@op("transform")
def _transform(player: Player, fields: Fields) -> None:
    state = fields.take("state", _transform_state)
    player.device.set_transform(state, fields.take("matrix", floats(16)))


def _transform_state(value: object) -> int:
    name = text(value)
    number = name.removeprefix("WORLD") or "0"
    if name.startswith("WORLD") and number in {str(index) for index in range(256)}:
        return _WORLD + int(number)
    return member(TransformState)(name)


@op("material")
def _material(player: Player, fields: Fields) -> None:
    player.device.set_material(
        Material(
            diffuse=fields.take("diffuse", color, _BLACK),
            ambient=fields.take("ambient", color, _BLACK),
            specular=fields.take("specular", color, _BLACK),
            emissive=fields.take("emissive", color, _BLACK),
            power=fields.take("power", floating, 0.0),
        )
    )


@op("light")
def _light(player: Player, fields: Fields) -> None:
    """SetLight and LightEnable."""
    index = fields.take("index", UINT)
    near, linear, square = fields.take("attenuation", triple, _ORIGIN)
    light = Light(
        type=fields.take("type", member(LightType)),
        diffuse=fields.take("diffuse", color, _BLACK),
        specular=fields.take("specular", color, _BLACK),
        ambient=fields.take("ambient", color, _BLACK),
        position=fields.take("position", triple, _ORIGIN),
        direction=fields.take("direction", triple, _ORIGIN),
        range=fields.take("range", floating, 0.0),
        falloff=fields.take("falloff", floating, 0.0),
        attenuation0=near,
        attenuation1=linear,
        attenuation2=square,
        theta=fields.take("theta", floating, 0.0),
        phi=fields.take("phi", floating, 0.0),
    )
    player.device.set_light(index, light)
    player.device.light_enable(index, True)


@op("lightenable")
def _light_enable(player: Player, fields: Fields) -> None:
    player.device.light_enable(fields.take("index", UINT), fields.take("enable", truth))


@op("setdecl")
def _set_declaration(player: Player, fields: Fields) -> None:
    found = fields.take("id", optional(player.find(Declaration)))
    player.device.set_vertex_declaration(found)


@op("setvs")
def _set_vertex_shader(player: Player, fields: Fields) -> None:
    player.device.set_vertex_shader(fields.take("id", optional(player.find(VertexShader))))


@op("setps")
def _set_pixel_shader(player: Player, fields: Fields) -> None:
    player.device.set_pixel_shader(fields.take("id", optional(player.find(PixelShader))))


def constants(
    setter: Callable[[Device9, int, list[Any]], None], read: Callable[[object], Any]
) -> Action:
    """A command that sets constant registers, each of which is read by ``read``."""

    def act(player: Player, fields: Fields) -> None:
        first = fields.take("start", UINT)
        values = fields.take("values", lambda value: [read(entry) for entry in listing(value)])
        setter(player.device, first, values)

    return act


def integers(value: object) -> tuple[int, ...]:
    """Four signed integers."""
    row = tuple(INT(entry) for entry in listing(value))
    if len(row) != 4:
        raise SceneError(f"{len(row)} entries, not 4")
    return row


OPS |= {
    "vsf": constants(Device9.set_vertex_constants, floats(4)),
    "vsi": constants(Device9.set_vertex_integers, integers),
    "vsb": constants(Device9.set_vertex_booleans, truth),
    "psf": constants(Device9.set_pixel_constants, floats(4)),
    "psi": constants(Device9.set_pixel_integers, integers),
    "psb": constants(Device9.set_pixel_booleans, truth),
}


@op("viewport")
def _viewport(player: Player, fields: Fields) -> None:
    player.device.set_viewport(
        fields.take("x", COORDINATE),
        fields.take("y", COORDINATE),
        fields.take("width", COORDINATE),
        fields.take("height", COORDINATE),
        fields.take("minz", floating, 0.0),
        fields.take("maxz", floating, 1.0),
    )


@op("scissor")
def _scissor(player: Player, fields: Fields) -> None:
    player.device.set_scissor(*fields.take("rect", rect))


@op("clipplane")
def _clip_plane(player: Player, fields: Fields) -> None:
    index = fields.take("index", whole(0, 5))
    player.device.set_clip_plane(index, fields.take("plane", floats(4)))


@op("fvf")
def _fvf(player: Player, fields: Fields) -> None:
    player.device.set_fvf(fields.take("fvf", dword))


@op("stream")
def _stream(player: Player, fields: Fields) -> None:
    player.device.set_stream_source(
        fields.take("stream", whole(0, 15)),
        fields.take("id", optional(player.find(SurfaceDesc))),
        fields.take("offset", UINT, 0),
        fields.take("stride", STRIDE, 0),
    )


@op("streamfreq")
def _stream_frequency(player: Player, fields: Fields) -> None:
    player.device.set_stream_frequency(
        fields.take("stream", whole(0, 15)), fields.take("value", dword)
    )


@op("indices")
def _indices(player: Player, fields: Fields) -> None:
    player.device.set_indices(fields.take("id", optional(player.find(IndexBuffer))))


# Drawing


@op("clear")
def _clear(player: Player, fields: Fields) -> None:
    every = int(Clear.TARGET | Clear.ZBUFFER | Clear.STENCIL)
    player.device.clear(
        fields.take("flags", _clear_flags, every),
        fields.take("color", dword, 0),
        fields.take("z", floating, 1.0),
        fields.take("stencil", dword, 0),
        fields.take("rects", optional(rects), None),
    )


def _clear_flags(value: object) -> int:
    flags = 0
    for name in value if isinstance(value, list) else [value]:
        if not isinstance(name, str) or name not in _CLEAR_FLAGS:
            raise SceneError(f"{name!r} cannot be cleared")
        flags |= _CLEAR_FLAGS[name]
    return flags


@op("draw")
def _draw(player: Player, fields: Fields) -> None:
    player.device.draw_primitive(
        fields.take("prim", member(PrimitiveType)),
        fields.take("start", UINT, 0),
        fields.take("count", UINT),
    )


@op("draw_indexed")
def _draw_indexed(player: Player, fields: Fields) -> None:
    player.device.draw_indexed_primitive(
        fields.take("prim", member(PrimitiveType)),
        fields.take("base", INT, 0),
        fields.take("min", UINT, 0),
        fields.take("num_vertices", UINT, 0),
        fields.take("start", UINT, 0),
        fields.take("count", UINT),
    )


@op("draw_up")
def _draw_up(player: Player, fields: Fields) -> None:
    player.device.draw_primitive_up(
        fields.take("prim", member(PrimitiveType)),
        fields.take("count", UINT),
        fields.take("vertices", player.data),
        fields.take("stride", STRIDE),
    )


@op("draw_indexed_up")
def _draw_indexed_up(player: Player, fields: Fields) -> None:
    player.device.draw_indexed_primitive_up(
        fields.take("prim", member(PrimitiveType)),
        fields.take("min", UINT, 0),
        fields.take("num_vertices", UINT),
        fields.take("count", UINT),
        fields.take("indices", player.data),
        fields.take("index_format", surface_format, Format.INDEX16),
        fields.take("vertices", player.data),
        fields.take("stride", STRIDE),
    )


@op("rectpatch")
def _rectangle_patch(player: Player, fields: Fields) -> None:
    player.device.draw_rect_patch(
        fields.take("handle", UINT, 0),
        fields.take("segments", optional(floats(4)), None),
        fields.take("info", optional(_rectangle_info), None),
    )


@op("tripatch")
def _triangle_patch(player: Player, fields: Fields) -> None:
    player.device.draw_tri_patch(
        fields.take("handle", UINT, 0),
        fields.take("segments", optional(floats(3)), None),
        fields.take("info", optional(_triangle_info), None),
    )


def _rectangle_info(value: object) -> RectPatchInfo:
    column, row, width, height, stride, basis, degree = _patch_info(value, 5)
    return RectPatchInfo(column, row, width, height, stride, basis, degree)


def _triangle_info(value: object) -> TriPatchInfo:
    start, vertices, basis, degree = _patch_info(value, 2)
    return TriPatchInfo(start, vertices, basis, degree)


def _patch_info(value: object, count: int) -> tuple[Any, ...]:
    """``count`` numbers, a basis and a degree."""
    entries = listing(value)
    if len(entries) != count + 2:
        raise SceneError(f"{len(entries)} entries, not {count + 2}")
    numbers = (UINT(entry) for entry in entries[:count])
    return *numbers, member(Basis)(entries[-2]), member(Degree)(entries[-1])


@op("deletepatch")
def _delete_patch(player: Player, fields: Fields) -> None:
    player.device.delete_patch(fields.take("handle", UINT))


@op("npatch")
def _n_patch(player: Player, fields: Fields) -> None:
    player.device.set_npatch_mode(fields.take("segments", floating))


@op("begin")
def _begin(player: Player, fields: Fields) -> None:
    player.device.begin_scene()


@op("end")
def _end(player: Player, fields: Fields) -> None:
    player.device.end_scene()
