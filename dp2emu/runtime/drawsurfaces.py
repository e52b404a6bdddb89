"""Surfaces of DirectDraw: plain surfaces, flipping chains, mip maps and cubes.

Source: the DirectX 7 documentation of DDSURFACEDESC2, DDSCAPS2 and of the methods of
IDirectDrawSurface7.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dp2emu.argument_check import checked_on_failure
from dp2emu.d3d.ddraw import FACES, BltFlags, Caps, Caps2, Described
from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import Usage
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.pixelformats import PixelFormat, format_of
from dp2emu.dp2.blt import Blt
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.resource.heap import ColorKey, SurfaceDesc, SurfaceKind, layout_of
from dp2emu.gpu.resource.pixel_format import unused_bits
from dp2emu.gpu.resource.subresources import Subresource, full_chain
from dp2emu.runtime.session import Refused, Session

_MEMORY_CAPS = Caps.SYSTEMMEMORY | Caps.VIDEOMEMORY | 0x30000000
"""DDSCAPS flags that tell where a surface's memory is (system, video, local or non-local video
memory); GetAttachedSurface ignores them."""
MOST_BUFFERS = 255
"""Largest number of back buffers of a flipping chain."""
_DEPTH_BITS = {16: Format.D16, 24: Format.X8D24, 32: Format.D32}
"""Depth format by number of bits (dwZBufferBitDepth), for a DDSURFACEDESC without a pixel
format."""


class Description(msgspec.Struct, frozen=True):
    """DDSURFACEDESC2 of a surface to create; ``flags`` tell which members are valid.

    ``levels`` is dwMipMapCount or dwZBufferBitDepth, which share memory; ``pixels`` None is the
    display's format.
    """

    flags: int
    caps: int
    caps2: int = 0
    width: int = 0
    height: int = 0
    back_buffers: int = 0
    levels: int = 0
    pixels: PixelFormat | None = None
    source_key: ColorKey | None = None
    target_key: ColorKey | None = None


class Palette(msgspec.Struct, eq=False):
    """IDirectDrawPalette of 256 PALETTEENTRYs.  Mutable: ``version`` counts changes.

    ``number`` is the driver's handle; with ``alpha`` the peFlags of entries are alpha values.
    """

    number: int
    alpha: bool = False
    entries: list[tuple[int, int, int, int]] = msgspec.field(
        default_factory=lambda: [(0, 0, 0, 0)] * 256
    )
    version: int = 1


class Clipper(msgspec.Struct, eq=False):
    """IDirectDrawClipper; ``rects`` is its clip list, None if it clips to a window.  Mutable."""

    rects: tuple[Rect, ...] | None = None


@checked_on_failure
class DrawSurface(msgspec.Struct, eq=False):
    """IDirectDrawSurface of any version: a surface of a chain, or a level of a face.

    It is subresource ``index`` of ``desc``, the driver's surface, with a separate ``handle``.
    ``root`` marks surfaces that the application created, ``drawn`` surfaces that the GPU wrote.
    Mutable.
    """

    desc: SurfaceDesc
    handle: int
    caps: int
    caps2: int = 0
    index: int = 0
    attached: list[DrawSurface] = msgspec.field(default_factory=list)
    source_key: ColorKey | None = None
    target_key: ColorKey | None = None
    palette: Palette | None = None
    clipper: Clipper | None = None
    root: bool = False
    drawn: bool = False
    destroyed: bool = False

    @property
    def part(self) -> Subresource:
        """Where this level is in the memory of the driver's surface: offset, size and pitches."""
        return layout_of(self.desc)[self.index]

    @property
    def bounds(self) -> Rect:
        """The rectangle of all pixels."""
        part = self.part
        return Rect(0, 0, part.width, part.height)

    @property
    def format(self) -> Format:
        """The surface's pixel format, a D3DFORMAT."""
        return Format(self.desc.format)

    @property
    def primary(self) -> bool:
        """Whether it is a primary surface."""
        return bool(self.caps & Caps.PRIMARYSURFACE)

    @property
    def depth(self) -> DrawSurface | None:
        """The attached depth buffer, None without one."""
        return next((each for each in self.attached if each.caps & Caps.ZBUFFER), None)

    def find(self, caps: int, caps2: int = 0) -> DrawSurface | None:
        """GetAttachedSurface: the first attached surface with these capabilities."""
        wanted = caps & ~_MEMORY_CAPS
        return next(
            (s for s in self.attached
             if s.caps & wanted == wanted and s.caps2 & caps2 == caps2), None,
        )  # fmt: skip

    def flipped(self) -> list[DrawSurface]:
        """The other buffers of the surface's flipping chain, next one first."""
        chain: list[DrawSurface] = []
        buffer = self.find(Caps.FLIP)
        while buffer is not None and buffer is not self and buffer not in chain:
            chain.append(buffer)
            buffer = buffer.find(Caps.FLIP)
        return chain

    def levels(self) -> Iterator[DrawSurface]:
        """This level and the smaller levels of its face."""
        level: DrawSurface | None = self
        while level is not None:
            yield level
            level = level.below

    @property
    def below(self) -> DrawSurface | None:
        """The next smaller level of the same face."""
        found = self.find(Caps.MIPMAP, Caps2.MIPMAPSUBLEVEL)
        if found is None or found.desc is not self.desc or found.index != self.index + 1:
            return None
        return found


def create_surface(session: Session, asked: Description, display: Description) -> DrawSurface:
    """CreateSurface, with the back buffers, levels or faces of DDSCAPS_COMPLEX.

    ``display`` has the size of the primary surface and the default format.  Raises Refused for
    invalid sizes and counts, Unsupported for overlays and application memory, and errors of
    ``session.create_surface``.
    """
    if asked.flags & Described.LPSURFACE:
        raise Unsupported("surfaces in memory of the application")
    if asked.caps & Caps.OVERLAY:
        raise Unsupported("overlay surfaces")
    format = _format(asked, display)
    if asked.caps & Caps.TEXTURE:
        made = _create_texture(session, asked, format)
    else:
        size = display if asked.caps & Caps.PRIMARYSURFACE else asked
        made = _create_chain(session, asked, format, size.width, size.height)
    made.root = True
    if asked.flags & Described.CKSRCBLT:
        made.source_key = asked.source_key
        session.set_color_key(made.desc.handle, asked.source_key)
    if asked.flags & Described.CKDESTBLT:
        made.target_key = asked.target_key
    return made


def _format(asked: Description, display: Description) -> Format:
    if asked.flags & Described.ZBUFFERBITDEPTH and asked.caps & Caps.ZBUFFER:
        if asked.levels not in _DEPTH_BITS:
            raise Unsupported(f"depth buffer of {asked.levels} bits")
        return _DEPTH_BITS[asked.levels]
    pixels = asked.pixels if asked.flags & Described.PIXELFORMAT else display.pixels
    return format_of(pixels or display.pixels or PixelFormat(0))


def _usage(caps: int, format: Format) -> int:
    uses = FORMATS[format].uses
    target = caps & (Caps.DEVICE3D | Caps.PRIMARYSURFACE | Caps.FLIP) and Use.TARGET in uses
    return int((Usage.RENDERTARGET if target else 0)
               | (Usage.DEPTHSTENCIL if caps & Caps.ZBUFFER else 0))  # fmt: skip


def _create_chain(
    session: Session, asked: Description, format: Format, width: int, height: int
) -> DrawSurface:
    """Create a surface and its back buffers, each attached to the one before; returns it."""
    if width < 1 or height < 1:
        raise Refused(HResult.DDERR_INVALIDPARAMS, f"a surface of {width} x {height}")
    backs = asked.back_buffers if asked.flags & Described.BACKBUFFERCOUNT else 0
    if backs > MOST_BUFFERS:
        raise Refused(HResult.DDERR_INVALIDPARAMS, f"{backs} back buffers")
    front = asked.caps | (Caps.FRONTBUFFER if backs else 0)
    back = asked.caps & ~Caps.PRIMARYSURFACE | Caps.FLIP
    chain = []
    for number in range(1 + backs):
        caps = front if number == 0 else back | (Caps.BACKBUFFER if number == 1 else 0)
        desc = session.create_surface(
            SurfaceKind.SURFACE, width, height, format, usage=_usage(asked.caps, format)
        )
        _set_unused_bits(session, desc)
        chain.append(DrawSurface(desc, desc.handle, caps, asked.caps2))
    if backs:
        for buffer, behind in zip(chain, [*chain[1:], chain[0]], strict=True):
            buffer.attached.append(behind)
    return chain[0]


def _set_unused_bits(session: Session, desc: SurfaceDesc) -> None:
    """Set the bits of a new render target's pixels that no channel uses; boards set them when they
    draw.
    """
    unused = unused_bits(FORMATS[Format(desc.format)])
    if desc.usage & Usage.RENDERTARGET and unused:
        flags = BltFlags.COLORFILL
        session.blit(Blt(desc.handle, 0, 0, desc.width, desc.height, flags=flags, fill=unused))


def _create_texture(session: Session, asked: Description, format: Format) -> DrawSurface:
    """Create a texture; returns the top level of its first face, with the others attached."""
    cube = bool(asked.caps2 & Caps2.CUBEMAP)
    kind = SurfaceKind.CUBETEXTURE if cube else SurfaceKind.TEXTURE
    levels = _level_count(asked)
    desc = session.create_surface(
        kind, asked.width, asked.height, format,
        levels=levels, usage=_usage(asked.caps, format),
    )  # fmt: skip
    faces = FACES if cube else (Caps2(0),)
    tops = []
    for number, face in enumerate(faces):
        caps2 = asked.caps2 & ~Caps2.CUBEMAP_ALLFACES | face
        tops.append(_create_levels(session, desc, asked.caps, caps2, number))
    tops[0].attached += tops[1:]
    return tops[0]


def _level_count(asked: Description) -> int:
    """The number of levels of a texture; without a count, down to a single texel."""
    if min(asked.width, asked.height) < 1:
        raise Refused(HResult.DDERR_INVALIDPARAMS, f"a texture of {asked.width} x {asked.height}")
    most = full_chain(asked.width, asked.height)
    if not asked.caps & Caps.MIPMAP:
        return 1
    if asked.flags & Described.MIPMAPCOUNT:
        return min(max(asked.levels, 1), most)
    return most if asked.caps & Caps.COMPLEX else 1


def _create_levels(
    session: Session, desc: SurfaceDesc, caps: int, caps2: int, face: int
) -> DrawSurface:
    """Create the levels of a face, each attached to the next larger one; returns the top one."""
    below: DrawSurface | None = None
    for level in reversed(range(desc.levels)):
        sub = Caps2.MIPMAPSUBLEVEL if level else 0
        made = DrawSurface(desc, 0, caps, caps2 | sub, face * desc.levels + level)
        made.handle = _level_handle(session, made)
        if below is not None:
            made.attached.append(below)
        below = made
    assert below is not None
    return below


def _level_handle(session: Session, level: DrawSurface) -> int:
    """The driver's handle of a texture's level: for the first level the texture's own handle, else
    the handle of a surface that is created for the level.
    """
    if level.index == 0:
        return level.desc.handle
    part, desc = level.part, level.desc
    return session.create_surface(
        SurfaceKind.SURFACE, part.width, part.height, desc.format,
        usage=desc.usage, parent=desc.handle, index=level.index,
    ).handle  # fmt: skip
