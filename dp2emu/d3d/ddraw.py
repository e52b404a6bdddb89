"""Flags and constants of DirectDraw (ddraw.h) for surfaces, blits and flips."""

from __future__ import annotations

from enum import IntFlag


class Caps(IntFlag):
    """DDSCAPS_*: uses and memory of a surface."""

    ALPHA = 0x2
    BACKBUFFER = 0x4
    COMPLEX = 0x8
    FLIP = 0x10
    FRONTBUFFER = 0x20
    OFFSCREENPLAIN = 0x40
    OVERLAY = 0x80
    PALETTE = 0x100
    PRIMARYSURFACE = 0x200
    SYSTEMMEMORY = 0x800
    TEXTURE = 0x1000
    DEVICE3D = 0x2000
    VIDEOMEMORY = 0x4000
    VISIBLE = 0x8000
    WRITEONLY = 0x10000
    ZBUFFER = 0x20000
    OWNDC = 0x40000
    MIPMAP = 0x400000
    ALLOCONLOAD = 0x4000000


class Caps2(IntFlag):
    """DDSCAPS2_*: flags of dwCaps2, the further capabilities of a DirectDraw surface."""

    TEXTUREMANAGE = 0x10
    CUBEMAP = 0x200
    CUBEMAP_POSITIVEX = 0x400
    CUBEMAP_NEGATIVEX = 0x800
    CUBEMAP_POSITIVEY = 0x1000
    CUBEMAP_NEGATIVEY = 0x2000
    CUBEMAP_POSITIVEZ = 0x4000
    CUBEMAP_NEGATIVEZ = 0x8000
    CUBEMAP_ALLFACES = 0xFC00
    MIPMAPSUBLEVEL = 0x10000
    D3DTEXTUREMANAGE = 0x20000


FACES = (
    Caps2.CUBEMAP_POSITIVEX, Caps2.CUBEMAP_NEGATIVEX, Caps2.CUBEMAP_POSITIVEY,
    Caps2.CUBEMAP_NEGATIVEY, Caps2.CUBEMAP_POSITIVEZ, Caps2.CUBEMAP_NEGATIVEZ,
)  # fmt: skip
"""The ``Caps2`` flags of a cube map's faces, in the order of the faces in memory."""


class Described(IntFlag):
    """DDSD_*: the valid members of a surface description."""

    CAPS = 0x1
    HEIGHT = 0x2
    WIDTH = 0x4
    PITCH = 0x8
    BACKBUFFERCOUNT = 0x20
    ZBUFFERBITDEPTH = 0x40
    ALPHABITDEPTH = 0x80
    LPSURFACE = 0x800
    PIXELFORMAT = 0x1000
    CKDESTOVERLAY = 0x2000
    CKDESTBLT = 0x4000
    CKSRCOVERLAY = 0x8000
    CKSRCBLT = 0x10000
    MIPMAPCOUNT = 0x20000
    REFRESHRATE = 0x40000
    LINEARSIZE = 0x80000
    TEXTURESTAGE = 0x100000
    FVF = 0x200000


class PixelFlags(IntFlag):
    """DDPF_*: flags of a DDPIXELFORMAT: what its pixels hold (such as RGB, depth) and which of its
    members are valid."""

    ALPHAPIXELS = 0x1
    ALPHA = 0x2
    FOURCC = 0x4
    PALETTEINDEXED4 = 0x8
    PALETTEINDEXED8 = 0x20
    RGB = 0x40
    YUV = 0x200
    ZBUFFER = 0x400
    PALETTEINDEXED1 = 0x800
    PALETTEINDEXED2 = 0x1000
    STENCILBUFFER = 0x4000
    LUMINANCE = 0x20000
    BUMPLUMINANCE = 0x40000
    BUMPDUDV = 0x80000
    D3DFORMAT = 0x200000


class BltFlags(IntFlag):
    """DDBLT_*: operations and options of a blit."""

    ALPHADEST = 0x1
    ALPHASRC = 0x80
    ASYNC = 0x200
    COLORFILL = 0x400
    DDFX = 0x800
    DDROPS = 0x1000
    KEYDEST = 0x2000
    KEYDESTOVERRIDE = 0x4000
    KEYSRC = 0x8000
    KEYSRCOVERRIDE = 0x10000
    ROP = 0x20000
    ROTATIONANGLE = 0x40000
    ZBUFFER = 0x80000
    WAIT = 0x1000000
    DEPTHFILL = 0x2000000
    DONOTWAIT = 0x8000000


class BltEffects(IntFlag):
    """DDBLTFX_*: effects of a blit."""

    ARITHSTRETCHY = 0x1
    MIRRORLEFTRIGHT = 0x2
    MIRRORUPDOWN = 0x4
    NOTEARING = 0x8
    ROTATE180 = 0x10
    ROTATE270 = 0x20
    ROTATE90 = 0x40
    ZBUFFERRANGE = 0x80
    ZBUFFERBASEDEST = 0x100


class FastFlags(IntFlag):
    """DDBLTFAST_*: colour keys and waiting of BltFast."""

    NOCOLORKEY = 0x0
    SRCCOLORKEY = 0x1
    DESTCOLORKEY = 0x2
    WAIT = 0x10
    DONOTWAIT = 0x20


class KeyFlags(IntFlag):
    """DDCKEY_*: flags that select which colour key of a surface SetColorKey sets."""

    COLORSPACE = 0x1
    DESTBLT = 0x2
    DESTOVERLAY = 0x4
    SRCBLT = 0x8
    SRCOVERLAY = 0x10


class LockFlags(IntFlag):
    """DDLOCK_*: options of a surface lock."""

    WAIT = 0x1
    EVENT = 0x2
    READONLY = 0x10
    WRITEONLY = 0x20
    NOOVERWRITE = 0x1000
    DISCARDCONTENTS = 0x2000


class PaletteCaps(IntFlag):
    """DDPCAPS_*: sizes and features of a palette."""

    BIT4 = 0x1
    ENTRIES8BIT = 0x2
    BIT8 = 0x4
    PRIMARYSURFACE = 0x10
    ALLOW256 = 0x40
    BIT1 = 0x100
    BIT2 = 0x200
    ALPHA = 0x400


SRCCOPY, BLACKNESS, WHITENESS = 0xCC0020, 0x42, 0xFF0062
"""Raster operations of wingdi.h that every driver has."""
