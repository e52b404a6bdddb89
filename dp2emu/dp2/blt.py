"""DdBlt as a plain value, and its translation to a packet.

Blits of DirectDraw are not in command buffers: the runtime calls the driver for each.
Source: the DirectX 7 documentation of IDirectDrawSurface7::Blt and of DD_BLTDATA.
"""

from __future__ import annotations

import msgspec

from dp2emu.d3d.ddraw import SRCCOPY, BltEffects, BltFlags
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.command.packets import Blit, Part, whole_part
from dp2emu.gpu.resource.heap import BUFFERS, ColorKey, Heap, Surface
from dp2emu.gpu.resource.subresources import Box
from dp2emu.gpu.resource.texels import encodable
from dp2emu.gpu.transfer.clear_blit import needs_pattern

_EXPRESSED = (
    BltFlags.COLORFILL | BltFlags.DEPTHFILL | BltFlags.DDFX | BltFlags.ROP | BltFlags.WAIT
    | BltFlags.ASYNC | BltFlags.DONOTWAIT | BltFlags.KEYSRCOVERRIDE | BltFlags.KEYDESTOVERRIDE
)  # fmt: skip
"""DDBLT_* flags that the driver accepts; the runtime has replaced KEYSRC and KEYDEST, which name
keys stored with surfaces, by KEYSRCOVERRIDE and KEYDESTOVERRIDE."""

_TURNS = {
    0: 0, int(BltEffects.ROTATE90): 1, int(BltEffects.ROTATE180): 2, int(BltEffects.ROTATE270): 3,
}  # fmt: skip
_ROTATIONS = BltEffects.ROTATE90 | BltEffects.ROTATE180 | BltEffects.ROTATE270
_WITHOUT_EFFECT = BltEffects.NOTEARING | BltEffects.ARITHSTRETCHY
_MIRRORS = BltEffects.MIRRORLEFTRIGHT | BltEffects.MIRRORUPDOWN


class Blt(msgspec.Struct, frozen=True):
    """DD_BLTDATA.  ``target`` and ``source`` are surface handles, 0 for no source.

    ``flags`` are DDBLT_*, of which fills, DDFX, ROP and the two key overrides count; ``fx``
    DDBLTFX_*; ``fill`` the pixel or depth as it is stored; ``rop`` a raster operation of wingdi.h.
    ``low`` and ``high`` are the source key, ``dest_low`` and ``dest_high`` the destination key.
    """

    target: int
    left: int
    top: int
    right: int
    bottom: int
    source: int = 0
    source_left: int = 0
    source_top: int = 0
    source_right: int = 0
    source_bottom: int = 0
    flags: int = 0
    fx: int = 0
    fill: int = 0
    rop: int = SRCCOPY
    low: int = 0
    high: int = 0
    dest_low: int = 0
    dest_high: int = 0

    @property
    def target_box(self) -> Box:
        """The rectangle of the target to write, as a box of one slice."""
        return Box(self.left, self.top, self.right, self.bottom)

    @property
    def source_box(self) -> Box:
        """The rectangle of the source to read, as a box of one slice."""
        return Box(self.source_left, self.source_top, self.source_right, self.source_bottom)

    @property
    def source_key(self) -> ColorKey | None:
        """The colour key of source pixels to skip, or None."""
        return (self.low, self.high) if self.flags & BltFlags.KEYSRCOVERRIDE else None

    @property
    def target_key(self) -> ColorKey | None:
        """The colour key of target pixels to write, or None to write all."""
        keyed = self.flags & BltFlags.KEYDESTOVERRIDE
        return (self.dest_low, self.dest_high) if keyed else None


def blit_packet(heap: Heap, blt: Blt) -> Blit:
    """The packet of a blit.  Raises Fault for an invalid one, Unsupported for missing features."""
    if blt.flags & ~_EXPRESSED:
        raise Unsupported(f"blit with flags {blt.flags & ~_EXPRESSED:#x}")
    fills = blt.flags & (BltFlags.COLORFILL | BltFlags.DEPTHFILL)
    target = _part(heap, blt.target, blt.target_box)
    source = _part(heap, blt.source, blt.source_box) if blt.source and not fills else None
    if source is not None:
        _check_pixels(source, target)
    effects = blt.fx if blt.flags & BltFlags.DDFX else 0
    if effects & ~(_ROTATIONS | _MIRRORS | _WITHOUT_EFFECT):
        raise Unsupported(f"blit with effects {effects:#x}")
    return Blit(
        target, source, fill=blt.fill, depth_only=bool(blt.flags & BltFlags.DEPTHFILL),
        source_key=blt.source_key, target_key=blt.target_key,
        rop=_operation(blt, source), turns=_turns(effects),
        mirror_x=bool(effects & BltEffects.MIRRORLEFTRIGHT),
        mirror_y=bool(effects & BltEffects.MIRRORUPDOWN),
    )  # fmt: skip


def _turns(effects: int) -> int:
    rotation = effects & _ROTATIONS
    if rotation not in _TURNS:
        raise Fault(HResult.DDERR_INVALIDPARAMS, f"rotations {rotation:#x} together")
    return _TURNS[rotation]


def _operation(blt: Blt, source: Part | None) -> int:
    """The index of the ternary raster operation.  Raises Fault if it reads a missing source."""
    fills = blt.flags & (BltFlags.COLORFILL | BltFlags.DEPTHFILL)
    rop = blt.rop if blt.flags & BltFlags.ROP and not fills else SRCCOPY
    index = rop >> 16 & 0xFF
    if needs_pattern(index):
        raise Unsupported(f"blit with pattern, raster operation {rop:#x}")
    if source is None and not fills and index >> 2 & 0x33 != index & 0x33:
        raise Fault(HResult.DDERR_INVALIDPARAMS, "a blit without a source")
    return index


def _part(heap: Heap, handle: int, box: Box) -> Part:
    """A rectangle of a surface's top level."""
    surface = heap.get(handle)
    if surface is None or surface.desc.kind in BUFFERS:
        raise Fault(HResult.DDERR_INVALIDPARAMS, f"no surface {handle}")
    bounds = whole_part(surface.host_copy, 0).box
    inside = box.left >= 0 <= box.top and box.right <= bounds.right and box.bottom <= bounds.bottom
    if not inside or min(box.sides) <= 0:
        raise Fault(HResult.DDERR_INVALIDRECT, f"{box} of surface {handle}")
    return Part(surface.host_copy, 0, box)


def _check_pixels(source: Part, target: Part) -> None:
    """Raises Fault unless pixels of ``source`` can be copied or converted to ``target``,
    Unsupported for multisampled targets; a multisampled source is resolved.
    """
    given, made = source.surface, target.surface
    if made.samples > 1:
        raise Unsupported("blit to multisampled surfaces")
    if given.format == made.format:
        return
    fixed = Use.DEPTH | Use.PALETTE
    if (FORMATS[given.format].uses | FORMATS[made.format].uses) & fixed or not _written(made):
        what = f"{given.format.sdk} to {made.format.sdk}"
        raise Fault(HResult.DDERR_INVALIDPIXELFORMAT, what)


def _written(surface: Surface) -> bool:
    return encodable(FORMATS[surface.format])
