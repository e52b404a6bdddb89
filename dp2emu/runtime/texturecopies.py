"""Load: copy the levels of a texture to another.

Source: the documentation of IDirect3DDevice7::Load and of IDirect3DTexture2::Load; wire format,
"Copies", for the rectangle of the next level.
"""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.d3d.ddraw import Caps2
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.blt import Blt
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.session import Refused


def one_token(target: DrawSurface, source: DrawSurface, faces: int) -> bool:
    """Whether a single TEXBLT can do a Load: all levels of all faces of two textures of one
    format.
    """
    every = not faces or faces & Caps2.CUBEMAP_ALLFACES == Caps2.CUBEMAP_ALLFACES
    return (
        target.index == source.index == 0
        and target.format == source.format
        and target.desc.kind == source.desc.kind != SurfaceKind.SURFACE
        and (every or target.desc.kind != SurfaceKind.CUBETEXTURE)
    )


def copy_levels(
    ddraw: DirectDraw, target: DrawSurface, source: DrawSurface,
    point: tuple[int, int] = (0, 0), rect: Rect | None = None, faces: int = 0,
) -> None:  # fmt: skip
    """Blit the levels that two textures have in the same size to ``point``; ``rect`` is a
    rectangle of the source's top level.

    ``faces`` are DDSCAPS2_CUBEMAP_* flags, 0 for all.  Raises Refused for a negative point and for
    textures without a common level.
    """
    if min(point) < 0:
        raise Refused(HResult.DDERR_INVALIDRECT, f"texels to {point}")
    copied = False
    for made, given in _faces(target, source, faces):
        for level, blt in _copies(made, given, point, rect or given.bounds):
            ddraw.blit(blt)
            level.drawn = copied = True
    if not copied:
        raise Refused(HResult.DDERR_INVALIDPARAMS, "no level of a size that both textures have")


def _faces(
    target: DrawSurface, source: DrawSurface, faces: int
) -> Iterator[tuple[DrawSurface, DrawSurface]]:
    """(target, source) pairs of faces to copy; if both are cubes, ``faces`` selects them."""
    made, given = (
        {top.caps2 & Caps2.CUBEMAP_ALLFACES: top for top in _tops(each)}
        for each in (target, source)
    )
    if len(made) == 1 or len(given) == 1:
        yield target, source
        return
    for face, top in made.items():
        if not faces or face & faces:
            yield top, given[face]


def _tops(surface: DrawSurface) -> list[DrawSurface]:
    """The top levels of all faces if ``surface`` is a cube's first face, else only ``surface``."""
    made, levels = surface.desc, surface.desc.levels
    others = [each for each in surface.attached
              if each.desc is made and each.index and each.index % levels == 0]  # fmt: skip
    return [surface, *others] if surface.index == 0 else [surface]


def _copies(
    target: DrawSurface, source: DrawSurface, point: tuple[int, int], rect: Rect
) -> Iterator[tuple[DrawSurface, Blt]]:
    """(target level, blit) for each level of a face that both textures have in the same size;
    point and rectangle are halved from each source level to the next.
    """
    below: DrawSurface | None = target
    (x, y), box = point, rect
    for level in source.levels():
        if below is None:
            return
        if level.bounds == below.bounds:
            found = _copy(below, level, x, y, box)
            if found is not None:
                yield below, found
            below = below.below
        x, y, box = x >> 1, y >> 1, _next_level(box)


def _copy(target: DrawSurface, source: DrawSurface, x: int, y: int, rect: Rect) -> Blt | None:
    """The blit of ``rect`` of a source level to (``x``, ``y``) of a target level, clipped to both;
    None if it is empty.
    """
    read, room = rect.intersect(source.bounds), target.bounds
    width = min(read.right - read.left, room.right - x)
    height = min(read.bottom - read.top, room.bottom - y)
    if min(width, height) < 1:
        return None
    return Blt(
        target.handle, x, y, x + width, y + height,
        source.handle, read.left, read.top, read.left + width, read.top + height,
    )  # fmt: skip


def _next_level(rect: Rect) -> Rect:
    """``rect`` on the next smaller level: halved, rounded outwards, at least 1 x 1."""
    left, top = rect.left >> 1, rect.top >> 1
    right, bottom = rect.right + 1 >> 1, rect.bottom + 1 >> 1
    return Rect(left, top, max(right, left + 1), max(bottom, top + 1))
