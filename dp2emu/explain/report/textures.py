"""Textures that events read: each content once, small."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.errors import Unsupported
from dp2emu.explain.accesses import later_stages
from dp2emu.explain.playback import Stage
from dp2emu.explain.report.pictures import SHOWN, picture_row
from dp2emu.explain.report.targets import format_name, shows_of
from dp2emu.gpu.command.bindings import TextureBinding, Textures
from dp2emu.gpu.command.packets import Dispatch, Draw, Packet
from dp2emu.gpu.resource.heap import BUFFERS, Surface
from dp2emu.picture import has_picture, take_depth, take_picture

SIDE = 128
"""Maximum width and height of a stored texture; a larger one is thinned out."""
CHARACTERS = 800_000
"""Maximum size of all stored textures, after which further ones have no picture."""
_CHECKED = 2
"""Bytes that one counts as of which a checksum is computed."""


class TextureContents:
    """The distinct textures of a page, in the order of their first use.  Mutable: it grows."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.without = 0
        self._numbers: dict[tuple[int, int | None], int] = {}
        self._size = 0

    def numbers(self, packet: Packet | None, on: Stage) -> list[tuple[str, int, int]]:
        """Stage, slot and number of the row of each texture that a packet reads."""
        return [
            (stage, slot, self._number(binding.surface, on))
            for stage, slot, binding in _bound(packet)
            if binding.surface.desc.kind not in BUFFERS
        ]

    def _number(self, surface: Surface, stage: Stage) -> int:
        size, budget = _top_bytes(surface), stage.gpu.budget
        there = budget.observes(_CHECKED * size)
        key = stage.handle(surface), zlib.crc32(surface.data[:size].data) if there else None
        if key not in self._numbers:
            self._numbers[key] = len(self.rows)
            pixels = surface.width * surface.height
            there = there and self._size < CHARACTERS and budget.observes(SHOWN * pixels)
            self.rows.append(self._row(key[0], surface, pictured=there))
        return self._numbers[key]

    def _row(self, handle: int, surface: Surface, *, pictured: bool) -> dict[str, Any]:
        picture = None
        image = _image(surface) if pictured else None
        if image is None:
            self.without += 1
        else:
            every = -(-max(image.shape[:2]) // SIDE)
            picture = picture_row(np.ascontiguousarray(image[::every, ::every]))
            self._size += len(picture["data"])
        return {
            "label": f"surface {handle}",
            "surface": handle,
            "width": surface.width,
            "height": surface.height,
            "format": format_name(surface),
            "levels": surface.desc.levels,
            "picture": picture,
        }


def _top_bytes(surface: Surface) -> int:
    level = surface.subresources[0]
    return level.pitch * level.rows


def _bound(packet: Packet | None) -> list[tuple[str, int, TextureBinding]]:
    return [
        (stage, slot, binding)
        for stage, textures in _textures(packet)
        for slot, binding in sorted(textures.items())
    ]


def _textures(packet: Packet | None) -> Iterator[tuple[str, Textures]]:
    """Pairs of stage and its textures of a draw or dispatch, in the order of the pipeline."""
    if isinstance(packet, Dispatch):
        yield "compute", packet.stage.textures
    elif isinstance(packet, Draw):
        yield "vertex", packet.vertex.textures
        later: dict[str, dict[int, TextureBinding]] = {}
        for stage, bound in later_stages(packet):
            later.setdefault(stage, {}).update(bound.textures)
        yield from later.items()
        yield "pixel", packet.pixel.textures


def _image(surface: Surface) -> NDArray[Any] | None:
    """The picture of a texture's top level; None for a format without."""
    row = ROWS.get(surface.format)
    try:
        if row is not None and has_picture(row.format):
            return take_picture(surface).image
        return take_depth(surface).image if "depth" in shows_of(surface) else None
    except Unsupported:
        return None
