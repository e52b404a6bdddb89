"""Packets of CLEAR and of tokens that move memory: blits, fills, generated levels, composition.

Rectangles outside of their surface, and pairs of formats without a conversion, raise Fault before
a packet is queued (wire format, "Clearing" and "Copies").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.enums import ComposeRectsOp, Format, TextureFilter
from dp2emu.d3d.flags import DP2BLT_LINEAR
from dp2emu.d3d.flags import Clear as ClearFlags
from dp2emu.d3d.formats import COLOR, FORMATS, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.managed import Managed
from dp2emu.dp2.resolve.pipeline import Targets
from dp2emu.errors import Fault
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.command.packets import (
    Clear,
    Compose,
    Copy,
    CopyBytes,
    GenerateLevels,
    Packet,
    Part,
    whole_part,
)
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.resource.heap import BUFFERS, VOLUMES, Surface
from dp2emu.gpu.resource.subresources import Box


class Fill(NamedTuple):
    """The values of a CLEAR: D3DCLEAR flags, A8R8G8B8 colour, depth from 0 to 1, and stencil;
    ``srgb`` is D3DRS_SRGBWRITEENABLE.
    """

    flags: int
    color: int
    z: float
    stencil: int
    srgb: bool = False


def clear_packet(
    targets: Targets, view: Viewport, fill: Fill, rects: NDArray[np.int32]
) -> Clear | None:
    """The packet that clears ``rects``, rows of left, top, right, bottom; None if they are empty.

    With COMPUTERECTS the viewport clips them, and no rectangles mean the whole viewport.  Raises
    Fault if no target is bound.
    """
    if targets.extent is None:
        raise Fault(HResult.DDERR_GENERIC, "nothing to clear: no target is bound")
    flags = fill.flags
    colors = targets.colors if flags & ClearFlags.TARGET else ()
    depth = targets.depth if flags & (ClearFlags.ZBUFFER | ClearFlags.STENCIL) else None
    wanted = _wanted((*colors, depth), view, flags, rects)
    if not wanted:
        return None
    return Clear(
        rects=wanted,
        colors=colors,
        color=fill.color if colors else None,
        depth=depth,
        z=fill.z if flags & ClearFlags.ZBUFFER else None,
        stencil=fill.stencil if flags & ClearFlags.STENCIL else None,
        srgb=fill.srgb,
    )


def _wanted(
    cleared: Iterable[Surface | None], view: Viewport, flags: int, rects: NDArray[np.int32]
) -> tuple[Rect, ...]:
    """The rectangles that a CLEAR asks for, clipped to the greatest width and height of all
    targets; each target clips them again.
    """
    surfaces = [surface for surface in cleared if surface is not None]
    width = max((surface.width for surface in surfaces), default=0)
    extent = Rect(0, 0, width, max((surface.height for surface in surfaces), default=0))
    asked = [Rect(*rect) for rect in rects.tolist()]
    if flags & ClearFlags.COMPUTERECTS:
        extent = extent.intersect(rect_of(view))
        asked = asked or [extent]
    clipped = (rect.intersect(extent) for rect in asked)
    return tuple(rect for rect in clipped if not rect.empty)


def rect_of(view: Viewport) -> Rect:
    """The rectangle of a viewport."""
    return Rect(view.x, view.y, view.x + view.width, view.y + view.height)


# Tokens that move memory

RectTuple = tuple[int, int, int, int]
"""The members of RECTL: left, top, right, bottom."""
Point3 = tuple[int, int, int]
"""A point in a texture: x, y, z."""
Place = tuple[int, RectTuple, int]
"""The source or target of a BLT token: (surface handle, rectangle, mip level)."""
BoxTuple = tuple[int, ...]
"""The members of RECTL (left, top, right, bottom), or of D3DBOX (those, then front, back)."""

MAX_RECTS = 0xFFFF
"""Value of D3DCOMPOSERECTS_MAXNUMRECTS: with more rectangles COMPOSERECTS does nothing."""

_OPERATIONS = frozenset(map(int, ComposeRectsOp))


class Moves:
    """Memory transfers of one context.  Methods raise Fault for calls the driver must refuse.

    Transfers read and write the system copies of managed textures, and mark the written boxes
    dirty.
    """

    def __init__(self, gpu: Gpu, managed: Managed) -> None:
        self._gpu = gpu
        self._managed = managed

    def blit(self, source: Place, target: Place, flags: int) -> None:
        """BLT: copy, convert and stretch; filtered if the flag for linear is set."""
        given, made = self._part(source), self._part(target)
        if given.box.sides == made.box.sides and _alike(given.surface, made.surface):
            _check_blocks(given, made)
        else:
            _check_conversion(given, made)
        self._write(target[0], Copy(given, made, bool(flags & DP2BLT_LINEAR)), made)

    def surface_blit(self, source: Place, target: Place) -> None:
        """SURFACEBLT: copy between surfaces of one format, unstretched."""
        given, made = self._part(source), self._part(target)
        _check_alike(given.surface, made.surface)
        if given.box.sides != made.box.sides:
            raise Fault(HResult.DDERR_INVALIDRECT, "SURFACEBLT cannot stretch")
        _check_blocks(given, made)
        self._write(target[0], Copy(given, made), made)

    def fill(self, handle: int, rect: RectTuple, color: int) -> None:
        """COLORFILL: fill a rectangle with an A8R8G8B8 colour."""
        surface = self._pixels(handle)
        if surface.format not in COLOR:
            raise Fault(HResult.DDERR_INVALIDPIXELFORMAT, f"fill of {surface.format.sdk}")
        box = _inside(surface, 0, Box(*rect))
        wanted = (Rect(box.left, box.top, box.right, box.bottom),)
        packet = Clear(wanted, (surface,), color, None, None, None)
        self._write(handle, packet, Part(surface, 0, box))

    def generate_levels(self, handle: int, filter: int) -> None:
        """GENERATEMIPSUBLEVELS: with D3DTEXF_POINT a texel is one of the level above, with any
        other filter the mean of several.

        A surface of one level is left alone.
        """
        surface = self._pixels(handle)
        if surface.desc.levels == 1:
            return
        if surface.format not in COLOR:
            what = f"generated levels of {surface.format.sdk}"
            raise Fault(HResult.DDERR_INVALIDPIXELFORMAT, what)
        levels = (whole_part(surface, index) for index in range(len(surface.subresources)))
        self._write(handle, GenerateLevels(surface, filter == TextureFilter.POINT), *levels)

    def texture_blit(self, target: int, source: int, point: Point3, texels: BoxTuple) -> None:
        """TEXBLT and VOLUMEBLT: copy the levels that source and target share, of all faces.

        Target 0 uploads the source, if it is managed.  ``texels``, a box, and ``point`` are in the
        source's top level, and are halved and clipped for the lower ones.
        """
        box = Box(*texels)
        given = self._pixels(source)
        if target == 0:
            self._managed.upload(self._gpu.heap.find(source))
            return
        made = self._pixels(target)
        _check_alike(given, made)
        if _faces_of(given) != _faces_of(made):
            raise Fault(
                HResult.DDERR_INVALIDSURFACETYPE, "TEXBLT between a cube and another texture"
            )
        _inside(given, 0, box)
        if min(point) < 0:
            raise Fault(HResult.DDERR_INVALIDRECT, f"{point} is outside of surface {target}")
        for copy in _chain(given, made, point, box):
            self._write(target, copy, copy.target)

    def buffer_blit(self, target: int, source: int, offset: int, start: int, size: int) -> None:
        """BUFFERBLT: copy a byte range."""
        given, made = self._buffer(source), self._buffer(target)
        if start + size > given.data.nbytes or offset + size > made.data.nbytes:
            what = f"{size} bytes from {start:#x} to {offset:#x} leave their buffers"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        self._gpu.submit(CopyBytes(given, start, made, offset, size))

    def compose(
        self, surfaces: tuple[int, int], buffers: tuple[int, int], count: int,
        operation: int, offset: tuple[int, int],
    ) -> None:  # fmt: skip
        """COMPOSERECTS: combine rectangles; ``surfaces`` and ``buffers`` are (source, target).

        With more than ``MAX_RECTS`` rectangles it does nothing (driver documentation).
        """
        if count > MAX_RECTS:
            return
        if operation not in _OPERATIONS:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"composition {operation}")
        given, made = (self._monochrome(handle) for handle in surfaces)
        sources, places = (self._buffer(handle) for handle in buffers)
        if given.surface is made.surface and given.index == made.index:
            raise Fault(HResult.DDERR_INVALIDPARAMS, "a surface composed with itself")
        packet = Compose(
            given, made, sources, places, count, ComposeRectsOp(operation), offset
        )  # fmt: skip
        self._write(surfaces[1], packet, made)

    def _write(self, handle: int, packet: Packet, *parts: Part) -> None:
        """Queue a packet, and mark the ``parts`` that it writes dirty if they are managed."""
        self._gpu.submit(packet)
        surface = self._gpu.heap.find(handle)
        owner = surface.parent or surface
        for part in parts:
            start = part.surface.desc.index if part.surface.parent else 0
            self._managed.wrote(Part(owner, start + part.index, part.box))

    # Handles

    def _pixels(self, handle: int) -> Surface:
        surface = self._gpu.heap.find(handle)
        if surface.desc.kind in BUFFERS:
            raise Fault(HResult.DDERR_INVALIDSURFACETYPE, f"surface {handle} has no pixels")
        return surface.host_copy

    def _buffer(self, handle: int) -> Surface:
        surface = self._gpu.heap.find(handle)
        if surface.desc.kind not in BUFFERS:
            raise Fault(HResult.DDERR_INVALIDSURFACETYPE, f"surface {handle} is no buffer")
        return surface

    def _monochrome(self, handle: int) -> Part:
        """The whole first level of the A1 surface ``handle``.  Raises Fault if it is not A1."""
        surface = self._pixels(handle)
        if surface.format is not Format.A1:
            what = f"composition of {surface.format.sdk}"
            raise Fault(HResult.DDERR_INVALIDPIXELFORMAT, what)
        if surface.desc.kind in VOLUMES:
            raise Fault(HResult.DDERR_INVALIDSURFACETYPE, "composition of a volume")
        owner = surface.parent or surface
        return whole_part(owner, surface.desc.index)

    def _part(self, place: Place) -> Part:
        """The rectangle of a texture that a BLT names; its mip level counts from the level of
        the handle.
        """
        handle, rect, level = place
        surface = self._pixels(handle)
        owner = surface.parent or surface
        levels = owner.desc.levels
        first = surface.desc.index if surface.parent else 0
        if level >= levels - first % levels:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"surface {handle} has no level {level}")
        index = first + level
        return Part(owner, index, _inside(owner, index, Box(*rect)))


def _inside(surface: Surface, index: int, box: Box) -> Box:
    """``box`` unchanged.  Raises Fault if it is empty or leaves the subresource ``index``."""
    bounds = whole_part(surface, index).box
    if min(box.sides) <= 0 or _intersect(box, bounds) != box:
        raise Fault(HResult.DDERR_INVALIDRECT, f"{box} of surface {surface.handle}")
    return box


def _intersect(one: Box, other: Box) -> Box:
    return Box(
        max(one.left, other.left), max(one.top, other.top),
        min(one.right, other.right), min(one.bottom, other.bottom),
        max(one.front, other.front), min(one.back, other.back),
    )  # fmt: skip


def _alike(given: Surface, made: Surface) -> bool:
    """Whether pixels can be copied unconverted from ``given`` to ``made``: formats are equal,
    and ``given`` has one sample or as many as ``made``.
    """
    return given.format == made.format and given.samples in (1, made.samples)


def _check_alike(given: Surface, made: Surface) -> None:
    if not _alike(given, made):
        what = f"{given.format.sdk} to {made.format.sdk}"
        raise Fault(HResult.DDERR_INVALIDPIXELFORMAT, what)


def _check_blocks(given: Part, made: Part) -> None:
    """Raises Fault if the box of source ``given`` or target ``made`` cuts compressed blocks."""
    width, height = _unit(made.surface)
    read, written, edge = given.box, made.box, whole_part(made.surface, made.index).box
    starts = (read.left % width, read.top % height, written.left % width, written.top % height)
    ends = (written.right != edge.right and written.right % width,
            written.bottom != edge.bottom and written.bottom % height)  # fmt: skip
    if any(starts) or any(ends):
        what = f"{read} to {written} cuts blocks of {width} x {height}"
        raise Fault(HResult.DDERR_INVALIDRECT, what)


def _unit(surface: Surface) -> tuple[int, int]:
    """The copy granularity in pixels: a block of the format, or a single bit of A1."""
    return (1, 1) if surface.format is Format.A1 else FORMATS[surface.format].block


def _check_conversion(given: Part, made: Part) -> None:
    """Raises Fault unless ``given`` has texture colours, ``made`` has the format of a render
    target, and at most one of them is multisampled.
    """
    if given.surface.samples > 1 < made.surface.samples:
        what = f"{given.surface.samples} samples to {made.surface.samples}"
        raise Fault(HResult.DDERR_INVALIDPIXELFORMAT, what)
    row = FORMATS[given.surface.format]
    readable = Use.TEXTURE in row.uses and not row.uses & (Use.PALETTE | Use.DEPTH)
    if not readable or made.surface.format not in COLOR:
        what = f"{given.surface.format.sdk} to {made.surface.format.sdk}"
        raise Fault(HResult.DDERR_INVALIDPIXELFORMAT, what)


def _chain(given: Surface, made: Surface, point: Point3, box: Box) -> Iterator[Copy]:
    """The copies of a TEXBLT from ``given`` to ``made``: between their levels of equal size."""
    top = whole_part(made, 0).box
    sizes = [whole_part(given, level).box for level in range(given.desc.levels)]
    if top not in sizes:
        what = f"surface {given.handle} has no level of {top.sides}"
        raise Fault(HResult.DDERR_INVALIDPARAMS, what)
    skipped = sizes.index(top)
    for level in range(min(given.desc.levels, skipped + made.desc.levels)):
        if level >= skipped:
            yield from _faces(given, level, made, level - skipped, point, box)
        point = point[0] >> 1, point[1] >> 1, point[2] >> 1
        box = _below(box)


def _below(box: Box) -> Box:
    """The box of the next lower mip level, at least a texel a side (wire format, "Copies")."""
    left, top, front = box.left >> 1, box.top >> 1, box.front >> 1
    return Box(
        left, top,
        max(box.right + 1 >> 1, left + 1), max(box.bottom + 1 >> 1, top + 1),
        front, max(box.back + 1 >> 1, front + 1),
    )  # fmt: skip


def _faces(
    given: Surface, level: int, made: Surface, into: int, point: Point3, box: Box
) -> Iterator[Copy]:
    """The copies of ``box`` in a level of each face of ``given`` to ``point`` in a level of
    ``made``: rounded to blocks, clipped to both levels.
    """
    wide, high = _unit(made)
    inside = _intersect(
        replace(
            box, left=box.left - box.left % wide, top=box.top - box.top % high,
            right=-(-box.right // wide) * wide, bottom=-(-box.bottom // high) * high,
        ),
        whole_part(given, level).box,
    )  # fmt: skip
    corner = point[0] - point[0] % wide, point[1] - point[1] % high, point[2]
    room = whole_part(made, into).box.sides
    sides = [
        min(side, limit - start)
        for side, limit, start in zip(inside.sides, room, corner, strict=True)
    ]
    if min(sides) <= 0:
        return
    read = _at((inside.left, inside.top, inside.front), sides)
    written = _at(corner, sides)
    for face in range(_faces_of(made)):
        yield Copy(
            Part(given, face * given.desc.levels + level, read),
            Part(made, face * made.desc.levels + into, written),
        )


def _at(corner: Point3, sides: Sequence[int]) -> Box:
    (x, y, z), (width, height, depth) = corner, sides
    return Box(x, y, x + width, y + height, z, z + depth)


def _faces_of(surface: Surface) -> int:
    return len(surface.subresources) // surface.desc.levels
