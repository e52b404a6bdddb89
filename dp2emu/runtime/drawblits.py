"""Blt and BltFast: the runtime's part, before the driver's blit.

It completes and clips rectangles, looks up colour keys, and splits a blit by the rectangles of a
clipper.  Source: the DirectX 7 documentation of IDirectDrawSurface7.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dp2emu.d3d.ddraw import SRCCOPY, BltFlags, Caps, FastFlags
from dp2emu.d3d.formats import FORMATS
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.blt import Blt
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.resource.heap import ColorKey
from dp2emu.gpu.resource.pixel_format import unused_bits
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.session import Refused

_REFUSED = {
    BltFlags.ZBUFFER: "blit with z-buffers",
    BltFlags.ALPHADEST: "blit with alpha",
    BltFlags.ALPHASRC: "blit with alpha",
    BltFlags.ROTATIONANGLE: "blit turned by an angle",
    BltFlags.DDROPS: "blit with DDROPS",
}
"""Error text by flag of Blt, for flags that no Direct3D driver implements."""
_PASSED = (
    BltFlags.COLORFILL | BltFlags.DEPTHFILL | BltFlags.DDFX | BltFlags.ROP
    | BltFlags.KEYSRCOVERRIDE | BltFlags.KEYDESTOVERRIDE
)  # fmt: skip


class Effects(msgspec.Struct, frozen=True):
    """Members of DDBLTFX for the driver: effects, fill pixel, raster operation, colour keys."""

    fx: int = 0
    fill: int = 0
    rop: int = SRCCOPY
    source_key: ColorKey = (0, 0)
    target_key: ColorKey = (0, 0)


class Side(msgspec.Struct, frozen=True):
    """The target or source of a blit: a surface, and a rectangle of it or None for the whole
    surface.
    """

    surface: DrawSurface
    rect: Rect | None = None

    @property
    def area(self) -> Rect:
        """The rectangle; the surface's bounds if it is None."""
        return self.rect or self.surface.bounds


def blt(
    ddraw: DirectDraw, target: Side, source: Side | None, flags: int, effects: Effects
) -> None:
    """Blt.  Raises Refused for bad rectangles and missing keys, Unsupported for a flag that no
    Direct3D driver implements.
    """
    for flag, what in _REFUSED.items():
        if flags & flag:
            raise Unsupported(what)
    if flags & (BltFlags.COLORFILL | BltFlags.DEPTHFILL):
        source = None
    keyed, effects = _with_keys(target.surface, source, flags, effects)
    for piece, read in _clipped(target, source):
        ddraw.blit(_asked(target.surface, piece, source, read, keyed, effects))
        target.surface.drawn = True


def blt_fast(
    ddraw: DirectDraw, x: int, y: int, target: DrawSurface, source: Side, how: int
) -> None:
    """BltFast: an unscaled copy that ignores clippers."""
    flags = BltFlags.KEYSRC if how & FastFlags.SRCCOLORKEY else BltFlags(0)
    flags |= BltFlags.KEYDEST if how & FastFlags.DESTCOLORKEY else BltFlags(0)
    area = source.area
    there = Rect(x, y, x + area.right - area.left, y + area.bottom - area.top)
    keyed, effects = _with_keys(target, source, flags, Effects())
    for piece, read in _cut(there, area, target.bounds):
        ddraw.blit(_asked(target, piece, source, read, keyed, effects))
        target.drawn = True


def _with_keys(
    target: DrawSurface, source: Side | None, flags: int, effects: Effects
) -> tuple[int, Effects]:
    """(flags, effects) for the driver's blit.

    Colour keys of the surfaces, where ``flags`` select them, are passed as keys of the blit, and
    the bits of a fill pixel that no channel uses are set as ``_stored`` does.
    """
    given, made = effects.source_key, effects.target_key
    if flags & BltFlags.KEYSRC and source is not None:
        given = _key(source.surface.source_key)
        flags |= BltFlags.KEYSRCOVERRIDE
    if flags & BltFlags.KEYDEST:
        made = _key(target.target_key)
        flags |= BltFlags.KEYDESTOVERRIDE
    fill = _stored(target, effects.fill) if flags & BltFlags.COLORFILL else effects.fill
    told = Effects(effects.fx, fill, effects.rop, given, made)
    return flags & _PASSED, told


def _stored(target: DrawSurface, fill: int) -> int:
    """Pixel value ``fill`` with the bits that no channel uses set, as boards fill, or if the
    target is in system memory cleared, as software fills.
    """
    row = FORMATS[target.format]
    unused = 0 if row.blocked else unused_bits(row)
    return fill & ~unused | (0 if target.caps & Caps.SYSTEMMEMORY else unused)


def _key(key: ColorKey | None) -> ColorKey:
    if key is None:
        raise Refused(HResult.DDERR_INVALIDPARAMS, "a blit with a colour key that is not set")
    return key


def _clipped(target: Side, source: Side | None) -> Iterator[tuple[Rect, Rect]]:
    """Yield (target, source) rectangles of the blits that remain of a blit after clipping.

    The target rectangle is clipped to each rectangle of the clipper and to the surface.  Without a
    clipper a blit to the primary surface is clipped to the surface, and a blit to any other
    surface is returned unchanged and unchecked.
    """
    area, surface = target.area, target.surface
    read = source.area if source else area
    clipper = surface.clipper
    if clipper is None and not surface.primary:
        yield area, read
        return
    bounds = surface.bounds
    regions = (bounds,) if clipper is None or clipper.rects is None else clipper.rects
    for region in regions:
        yield from _cut(area, read, region.intersect(bounds))


def _cut(area: Rect, read: Rect, bounds: Rect) -> Iterator[tuple[Rect, Rect]]:
    """(target, source) rectangles of the part of a blit from ``read`` to ``area`` that is inside
    ``bounds``; nothing if there is no such part.
    """
    piece = area.intersect(bounds)
    if piece.empty:
        return
    left, right = _along(area.left, area.right, read.left, read.right, piece.left, piece.right)
    top, bottom = _along(area.top, area.bottom, read.top, read.bottom, piece.top, piece.bottom)
    yield piece, Rect(left, top, right, bottom)


def _along(
    start: int, end: int, first: int, last: int, clip_start: int, clip_end: int
) -> tuple[int, int]:
    """On one axis: (start, end) of the source pixels for a clipped part of a stretched blit.

    The blit stretches source ``first`` to ``last`` onto target ``start`` to ``end``, and
    ``clip_start`` to ``clip_end`` is the part of the target.  Ends are rounded down; at least one
    pixel.
    """
    size, given = end - start, last - first
    begin = first + (clip_start - start) * given // size
    finish = first + (clip_end - start) * given // size
    return begin, max(finish, begin + 1)


def _asked(
    target: DrawSurface, piece: Rect, source: Side | None, read: Rect, flags: int, effects: Effects
) -> Blt:
    """The driver's blit from rectangle ``read`` of ``source`` (None for a fill) to rectangle
    ``piece`` of ``target``.

    Raises Refused for negative coordinates.
    """
    given = source.surface.handle if source else 0
    rect = (read.left, read.top, read.right, read.bottom) if source else (0, 0, 0, 0)
    for edge in (piece.left, piece.top, *rect):
        if edge < 0:
            raise Refused(HResult.DDERR_INVALIDRECT, f"{piece} or {read}")
    return Blt(
        target.handle, piece.left, piece.top, piece.right, piece.bottom, given, *rect,
        flags=flags, fx=effects.fx, fill=effects.fill, rop=effects.rop,
        low=effects.source_key[0], high=effects.source_key[1],
        dest_low=effects.target_key[0], dest_high=effects.target_key[1],
    )  # fmt: skip
