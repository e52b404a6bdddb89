"""Scene commands about surfaces: targets, textures, moves between them, pictures."""

from __future__ import annotations

from dp2emu.d3d.enums import TextureFilter
from dp2emu.runtime import Texture
from dp2emu.scene.fields import Fields
from dp2emu.scene.ops import op
from dp2emu.scene.player import Player
from dp2emu.scene.values import dword, file_name, member, optional, rect, whole

_LAST_SAMPLER = 260
"""D3DVERTEXTEXTURESAMPLER3."""


@op("settex")
def _set_texture(player: Player, fields: Fields) -> None:
    stage = fields.take("stage", whole(0, _LAST_SAMPLER))
    player.device.set_texture(stage, fields.take("id", optional(player.find(Texture))))


@op("setrt")
def _set_target(player: Player, fields: Fields) -> None:
    index = fields.take("index", whole(0, 3), 0)
    player.device.set_render_target(index, fields.take("surface", optional(player.surface)))


@op("setds")
def _set_depth(player: Player, fields: Fields) -> None:
    player.device.set_depth_stencil(fields.take("surface", optional(player.surface)))


@op("stretch")
def _stretch(player: Player, fields: Fields) -> None:
    player.device.stretch_rect(
        fields.take("src", player.surface),
        fields.take("dst", player.surface),
        fields.take("src_rect", optional(rect), None),
        fields.take("dst_rect", optional(rect), None),
        fields.take("filter", member(TextureFilter), TextureFilter.NONE),
    )


@op("colorfill")
def _color_fill(player: Player, fields: Fields) -> None:
    player.device.color_fill(
        fields.take("surface", player.surface),
        fields.take("rect", optional(rect), None),
        fields.take("color", dword, 0),
    )


@op("readback")
def _read_back(player: Player, fields: Fields) -> None:
    surface = fields.take("surface", player.surface)
    label = fields.take("label", file_name)
    fields.finish()
    player.observe(surface, label)
