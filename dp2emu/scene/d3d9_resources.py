"""The table of resources of Direct3D 9 scenes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage, Format, QueryType
from dp2emu.d3d.formats import FORMATS
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind, layout_of
from dp2emu.gpu.resource.subresources import full_chain
from dp2emu.runtime import Device9, Query, Refused, Texture, VertexElement
from dp2emu.scene.d3d9 import Player9
from dp2emu.scene.document import extent, sample_count
from dp2emu.scene.player import DATA, Action, calling
from dp2emu.scene.results import hr_text
from dp2emu.scene.values import (
    Default,
    Fields,
    dword,
    list_of,
    member,
    record,
    surface_format,
    text,
    whole,
)

_LEVELS = 15
"""Upper bound of a texture's mip levels."""


def _target(create: Callable[..., SurfaceDesc]) -> Action:
    def make(player: Player9, fields: Fields) -> SurfaceDesc:
        width, height = fields.take("width", extent), fields.take("height", extent)
        samples = max(fields.take("multisample", sample_count, 0), 1)
        format = fields.take("format", surface_format)
        fields.take("quality", whole(0, 15), 0)
        fields.take("usage", dword, 0)
        player.claim_pixels(width * height * samples)
        return create(player.device, width, height, format, samples)

    return make


def _texture(create: Callable[..., Texture], kind: SurfaceKind, *sides: str) -> Action:
    """A texture with the extents ``sides``; its data are a list of levels, for cubes of faces."""
    cube = kind is SurfaceKind.CUBETEXTURE

    def make(player: Player9, fields: Fields) -> Texture:
        size = [fields.take(side, extent) for side in sides]
        format = fields.take("format", surface_format)
        levels = fields.take("levels", whole(0, _LEVELS), 1)
        usage = fields.take("usage", dword, 0)
        face: Callable[[object], list[Any]] = list_of(player.data)
        data = fields.take("data", list_of(face) if cube else face, [])
        if format in FORMATS:  # creation refuses other formats
            box = size * 2 if cube else size
            player.claim_pixels(_pixels(kind, format, box, chain=levels != 1 or usage != 0))
        return create(player.device, *size, format, data, levels=levels, usage=usage)

    return make


def _pixels(kind: SurfaceKind, format: Format, size: list[int], *, chain: bool) -> int:
    """The memory of a texture in pixels of four bytes; with ``chain`` that of all levels it could
    have.
    """
    width, height, depth = (*size, 1)[:3]
    levels = full_chain(width, height, depth) if chain else 1
    desc = SurfaceDesc(0, kind, width, height, format, depth=depth, levels=levels)
    return -(-sum(part.size for part in layout_of(desc)) // 4)


def _shader(create: Callable[..., Any]) -> Action:
    def make(player: Player9, fields: Fields) -> Any:
        fields.ignore("asm")
        return create(player.device, fields.take("dwords", list_of(dword)))

    return make


def _query(player: Player9, fields: Fields) -> Query | None:
    """A query; None if the driver refuses its creation."""
    kind = fields.take("query", member(QueryType))
    query, hr = None, int(HResult.S_OK)
    try:
        query = player.device.create_query(kind)
    except Refused as refusal:
        hr = refusal.hr
    size = query.data_size if query is not None else 0
    name = fields.take("id", text)
    player.document["values"][f"create:{name}"] = {"hr": hr_text(hr), "data_size": size}
    return query


_ELEMENT = record(
    VertexElement,
    stream=Default(whole(0, 0xFFFF), 0),
    offset=Default(whole(0, 0xFFFF), 0),
    type=member(DeclType),
    method=Default(member(DeclMethod), DeclMethod.DEFAULT),
    usage=member(DeclUsage),
    index=Default(whole(0, 0xFF), 0),
)

MAKERS: dict[str, Action] = {
    "rt": _target(Device9.create_render_target),
    "ds": _target(Device9.create_depth_stencil),
    "vb": calling(
        lambda device, fvf, usage, data: device.create_vertex_buffer(data), fvf=Default(dword, 0),
        usage=Default(dword, 0), data=DATA,
    ),
    "ib": calling(
        lambda device, usage, format, data: device.create_index_buffer(data, format),
        usage=Default(dword, 0), format=Default(surface_format, Format.INDEX16), data=DATA,
    ),
    "query": _query,
    "texture": _texture(Device9.create_texture, SurfaceKind.TEXTURE, "width", "height"),
    "cube": _texture(Device9.create_cube_texture, SurfaceKind.CUBETEXTURE, "edge"),
    "volume": _texture(
        Device9.create_volume_texture, SurfaceKind.VOLUMETEXTURE, "width", "height", "depth",
    ),
    "decl": calling(Device9.create_vertex_declaration, elements=list_of(_ELEMENT)),
    "vs": _shader(Device9.create_vertex_shader),
    "ps": _shader(Device9.create_pixel_shader),
}  # fmt: skip
"""The resources of Direct3D 9 scenes by ``type``."""
