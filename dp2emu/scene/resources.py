"""Scene resources: one function per type, each making one resource on the player's device."""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage, Format, QueryType
from dp2emu.d3d.formats import FORMATS
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import SceneError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind, layout_of
from dp2emu.gpu.resource.subresources import full_chain
from dp2emu.records import dataclass
from dp2emu.runtime import Refused, VertexElement
from dp2emu.scene.document import extent, sample_count
from dp2emu.scene.fields import Fields
from dp2emu.scene.player import LOST_QUERY, Missing, Player, hr_text
from dp2emu.scene.values import dword, dwords, listing, member, surface_format, text, whole

_LEVELS = 15
"""Mip levels a texture can have at most."""


def make_resource(player: Player, fields: Fields) -> None:
    """Make one entry of ``resources``.

    What the runtime refuses is a failed call, and so is every command that uses it.
    """
    kind = fields.take("type", text)
    name = fields.take("id", text)
    fields.where = f"resource {name!r}"
    if kind not in _MAKERS:
        raise SceneError(f"{fields.where}: no resource type {kind!r}")
    fields.ignore("pool")
    try:
        _MAKERS[kind](player, fields, name)
    except Refused:
        player.add(name, Missing.RESOURCE)
        raise


def _surface_maker(
    create: Callable[[Player, int, int, Format, int], SurfaceDesc],
) -> Callable[[Player, Fields, str], None]:
    def make(player: Player, fields: Fields, name: str) -> None:
        width, height = fields.take("width", extent), fields.take("height", extent)
        samples = max(fields.take("multisample", sample_count, 0), 1)
        format = fields.take("format", surface_format)
        fields.take("quality", whole(0, 15), 0)
        fields.take("usage", dword, 0)
        player.claim_pixels(width * height * samples)
        player.add(name, create(player, width, height, format, samples))

    return make


def _target(player: Player, width: int, height: int, format: Format, samples: int) -> SurfaceDesc:
    return player.device.create_render_target(width, height, format, samples)


def _depth(player: Player, width: int, height: int, format: Format, samples: int) -> SurfaceDesc:
    return player.device.create_depth_stencil(width, height, format, samples)


def _vertex_buffer(player: Player, fields: Fields, name: str) -> None:
    fields.take("fvf", dword, 0)
    fields.take("usage", dword, 0)
    player.add(name, player.device.create_vertex_buffer(fields.take("data", player.data)))


def _index_buffer(player: Player, fields: Fields, name: str) -> None:
    fields.take("usage", dword, 0)
    format = fields.take("format", surface_format, Format.INDEX16)
    data = fields.take("data", player.data)
    player.add(name, player.device.create_index_buffer(data, format))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What every texture says of itself."""

    format: Format
    levels: int
    usage: int


def _asked(fields: Fields) -> _Asked:
    format = fields.take("format", surface_format)
    return _Asked(
        format, fields.take("levels", whole(0, _LEVELS), 1), fields.take("usage", dword, 0)
    )


def _claim(
    player: Player, kind: SurfaceKind, asked: _Asked, width: int, height: int, depth: int = 1
) -> None:
    """Count a texture before it is made, as if it had all levels it can have.  One of a format
    there is not will be refused.
    """
    if asked.format not in FORMATS:
        return
    levels = full_chain(width, height, depth) if asked.levels != 1 or asked.usage else 1
    desc = SurfaceDesc(0, kind, width, height, asked.format, depth=depth, levels=levels)
    player.claim_pixels(-(-sum(part.size for part in layout_of(desc)) // 4))


def _levels(player: Player) -> Callable[[object], list[bytes]]:
    return lambda value: [player.data(level) for level in listing(value)]


def _texture(player: Player, fields: Fields, name: str) -> None:
    size = fields.take("width", extent), fields.take("height", extent)
    asked = _asked(fields)
    data = fields.take("data", _levels(player), [])
    _claim(player, SurfaceKind.TEXTURE, asked, *size)
    made = player.device.create_texture(
        *size, asked.format, data, levels=asked.levels, usage=asked.usage
    )
    player.add(name, made)


def _cube(player: Player, fields: Fields, name: str) -> None:
    edge, asked, levels = fields.take("edge", extent), _asked(fields), _levels(player)
    data = fields.take("data", lambda value: [levels(face) for face in listing(value)], [])
    _claim(player, SurfaceKind.CUBETEXTURE, asked, edge, edge)
    made = player.device.create_cube_texture(
        edge, asked.format, data, levels=asked.levels, usage=asked.usage
    )
    player.add(name, made)


def _volume(player: Player, fields: Fields, name: str) -> None:
    sides = "width", "height", "depth"
    width, height, depth = (fields.take(side, extent) for side in sides)
    asked = _asked(fields)
    data = fields.take("data", _levels(player), [])
    _claim(player, SurfaceKind.VOLUMETEXTURE, asked, width, height, depth)
    made = player.device.create_volume_texture(
        width, height, depth, asked.format, data, levels=asked.levels, usage=asked.usage
    )
    player.add(name, made)


def _declaration(player: Player, fields: Fields, name: str) -> None:
    elements = [_element(entry) for entry in fields.take("elements", listing)]
    player.add(name, player.device.create_vertex_declaration(elements))


def _element(value: object) -> VertexElement:
    fields = Fields(value, "element")
    element = VertexElement(
        fields.take("stream", whole(0, 0xFFFF), 0),
        fields.take("offset", whole(0, 0xFFFF), 0),
        fields.take("type", member(DeclType)),
        fields.take("method", member(DeclMethod), DeclMethod.DEFAULT),
        fields.take("usage", member(DeclUsage)),
        fields.take("index", whole(0, 0xFF), 0),
    )
    fields.finish()
    return element


def _vertex_shader(player: Player, fields: Fields, name: str) -> None:
    fields.ignore("asm")
    player.add(name, player.device.create_vertex_shader(fields.take("dwords", dwords)))


def _pixel_shader(player: Player, fields: Fields, name: str) -> None:
    fields.ignore("asm")
    player.add(name, player.device.create_pixel_shader(fields.take("dwords", dwords)))


def _query(player: Player, fields: Fields, name: str) -> None:
    """A creation the driver refuses leaves an id whose commands are skipped."""
    kind = fields.take("query", member(QueryType))
    try:
        query = player.device.create_query(kind)
    except Refused as refusal:
        player.add(name, LOST_QUERY)
        created = {"hr": hr_text(refusal.hr), "data_size": 0}
    else:
        player.add(name, query)
        created = {"hr": hr_text(HResult.S_OK), "data_size": query.data_size}
    player.results.values[f"create:{name}"] = created


_MAKERS: dict[str, Callable[[Player, Fields, str], None]] = {
    "rt": _surface_maker(_target),
    "ds": _surface_maker(_depth),
    "vb": _vertex_buffer,
    "ib": _index_buffer,
    "query": _query,
    "texture": _texture,
    "cube": _cube,
    "volume": _volume,
    "decl": _declaration,
    "vs": _vertex_shader,
    "ps": _pixel_shader,
}
