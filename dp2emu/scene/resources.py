"""Scene resources: one function per type, each making one resource on the player's device."""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage, Format, QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import SceneError, Unsupported
from dp2emu.gpu.memory import SurfaceDesc
from dp2emu.runtime import Refused, VertexElement
from dp2emu.scene.document import extent, sample_count
from dp2emu.scene.fields import Fields
from dp2emu.scene.player import LOST_QUERY, Player, hr_text
from dp2emu.scene.values import dword, dwords, listing, member, surface_format, text, whole

_UNBUILT = {
    "cube": "cube textures",
    "volume": "volume textures",
}
"""Resource types of the schema that need what is not built yet."""


def make_resource(player: Player, fields: Fields) -> None:
    """Make one entry of ``resources``.  Raises Unsupported for types not built yet."""
    kind = fields.take("type", text)
    name = fields.take("id", text)
    fields.where = f"resource {name!r}"
    if kind in _UNBUILT:
        raise Unsupported(_UNBUILT[kind])
    if kind not in _MAKERS:
        raise SceneError(f"{fields.where}: no resource type {kind!r}")
    fields.ignore("pool")
    _MAKERS[kind](player, fields, name)


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


def _texture(player: Player, fields: Fields, name: str) -> None:
    width, height = fields.take("width", extent), fields.take("height", extent)
    format = fields.take("format", surface_format)
    count = fields.take("levels", whole(0, 15), 1)
    fields.take("usage", dword, 0)
    data = fields.take("data", lambda value: [player.data(level) for level in listing(value)], [])
    if count != 1:
        raise Unsupported("mip levels")
    player.claim_pixels(width * height)
    player.add(name, player.device.create_texture(width, height, format, data))


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
    "decl": _declaration,
    "vs": _vertex_shader,
    "ps": _pixel_shader,
}
