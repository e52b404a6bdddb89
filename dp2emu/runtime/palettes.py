"""Palettes of textures, as a device tells its driver about them."""

from __future__ import annotations

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.flags import DDRAWIPAL_ALPHA
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.runtime.drawsurfaces import DrawSurface, Palette
from dp2emu.runtime.session import Session


class DevicePalettes:
    """What the driver of one device knows of palettes.  Mutable: it is told as draws need it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sent: dict[int, int] = {}
        self._attached: dict[int, int] = {}

    def attach(self, texture: DrawSurface) -> None:
        """Tell the driver which palette a texture has, if that is news."""
        palette = texture.palette
        if palette is None or Use.PALETTE not in FORMATS[texture.format].uses:
            return
        if self._sent.get(palette.number) != palette.version:
            self._sent[palette.number] = palette.version
            self._send(palette)
        if self._attached.get(texture.desc.handle) != palette.number:
            self._attached[texture.desc.handle] = palette.number
            flags = int(DDRAWIPAL_ALPHA) if palette.alpha else 0
            item = (palette.number, flags, texture.desc.handle)
            self._session.emit(Op.SETPALETTE, [item])

    def _send(self, palette: Palette) -> None:
        tail = b"".join(bytes(entry) for entry in palette.entries)
        item = (palette.number, 0, len(palette.entries))
        self._session.commands.emit_tailed(Op.UPDATEPALETTE, item, tail)
