"""Texture bindings of a context, and texture attributes: palette, most detailed level, priority.

Attributes belong to the memory, not to the handle: a surface that is created again has none.

Source: wire format, "Palettes" and "Copies".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.flags import DDRAWIPAL_ALPHA
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import check_memory
from dp2emu.dp2.resolve.samplers import BoundTexture
from dp2emu.errors import Fault
from dp2emu.gpu.resource.heap import Surface
from dp2emu.limits import GENEROUS, Limits

ENTRIES = 256

_OPAQUE_BLACK = np.full(ENTRIES, 0xFF000000, np.uint32)


class Palette(msgspec.Struct, frozen=True, eq=False):
    """256 A8R8G8B8 words, which never change; ``alpha``: their alpha is used."""

    words: NDArray[np.uint32]
    alpha: bool


class TextureFacts(NamedTuple):
    """Texture attributes of a surface; ``palette`` is its palette's handle, 0 without one."""

    surface: Surface
    palette: int
    alpha_palette: bool
    most_detailed: int
    priority: int


class Textures:
    """Textures bound, palettes and texture attributes of one context.  Mutable: tokens set them.

    ``bound`` are textures by stage, as the wire numbers stages and samplers.
    """

    def __init__(self, limits: Limits = GENEROUS) -> None:
        self._limits = limits
        self.bound: dict[int, Surface] = {}
        self._palettes: dict[int, NDArray[np.uint32]] = {}
        self._attached: WeakKeyDictionary[Surface, tuple[int, bool]] = WeakKeyDictionary()
        self._most_detailed: WeakKeyDictionary[Surface, int] = WeakKeyDictionary()
        self._priorities: WeakKeyDictionary[Surface, int] = WeakKeyDictionary()

    def bind(self, stage: int, surface: Surface | None) -> None:
        """Bind a texture to a stage (texture stage state 0); None unbinds."""
        if surface is None:
            self.bound.pop(stage, None)
        else:
            self.bound[stage] = surface

    def at_stages(self) -> dict[int, BoundTexture]:
        """Stage -> its bound texture with the texture's current attributes."""
        return {stage: self._described(surface) for stage, surface in self.bound.items()}

    def _described(self, surface: Surface) -> BoundTexture:
        palette, most_detailed = self.palette(surface), self.most_detailed(surface)
        if palette is None:
            return BoundTexture(surface, most_detailed=most_detailed)
        return BoundTexture(surface, palette.words, palette.alpha, most_detailed)

    def attach(self, surface: Surface, palette: int, flags: int) -> None:
        """SETPALETTE: attach a palette; 0 detaches.  Raises Fault for a format without palette."""
        row = FORMATS.get(surface.format)
        if row is None or Use.PALETTE not in row.uses:
            what = f"surface {surface.handle} ({surface.format.sdk}) takes no palette"
            raise Fault(HResult.DDERR_NOTPALETTIZED, what)
        if palette:
            self._attached[surface] = palette, bool(flags & DDRAWIPAL_ALPHA)
        else:
            self._attached.pop(surface, None)

    def update(self, palette: int, first: int, entries: NDArray[np.uint32]) -> None:
        """UPDATEPALETTE: entries from ``first`` on are PALETTEENTRY, red in the lowest byte and
        alpha in the highest (wire format, "Palettes").  Those beyond 255 are dropped.
        """
        known = self._palettes.get(palette)
        number = len(self._palettes) + (known is None)
        check_memory(self._limits, "objects", number, f"palette {palette} is too many")
        words = (_OPAQUE_BLACK if known is None else known).copy()
        used = entries[: max(ENTRIES - first, 0)]
        green_alpha, red, blue = used & 0xFF00FF00, used & 0xFF, used >> 16 & 0xFF
        words[first : first + len(used)] = green_alpha | red << 16 | blue
        self._palettes[palette] = words

    def palette(self, surface: Surface) -> Palette | None:
        """The current palette of a surface, None if none is attached."""
        attached = self._attached.get(surface)
        if attached is None:
            return None
        handle, alpha = attached
        return Palette(self._palettes.get(handle, _OPAQUE_BLACK), alpha)

    def set_most_detailed(self, surface: Surface, level: int) -> None:
        """SETTEXLOD: the finest level that is sampled."""
        self._most_detailed[surface] = level

    def most_detailed(self, surface: Surface) -> int:
        """The finest level to sample (SETTEXLOD), 0 by default."""
        return self._most_detailed.get(surface, 0)

    def set_priority(self, surface: Surface, priority: int) -> None:
        """SETPRIORITY; video memory has room for all textures, so the priority has no effect."""
        self._priorities[surface] = priority

    def priority(self, surface: Surface) -> int:
        """The eviction priority, 0 by default."""
        return self._priorities.get(surface, 0)

    def palettes(self) -> Mapping[int, NDArray[np.uint32]]:
        """Handle of each palette that has entries -> its 256 A8R8G8B8 words."""
        return self._palettes

    def facts(self) -> list[TextureFacts]:
        """The attributes of all surfaces that have any, in order of creation."""
        known = {*self._attached, *self._most_detailed, *self._priorities}
        return [
            TextureFacts(
                surface, *self._attached.get(surface, (0, False)),
                self.most_detailed(surface), self.priority(surface),
            )
            for surface in sorted(known, key=lambda surface: surface.serial)
        ]  # fmt: skip
