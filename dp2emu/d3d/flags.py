"""Flag words and single constants of the driver headers (d3dhal.h, d3d9types.h, d3dumddi.h)."""

from __future__ import annotations

from enum import IntFlag


class Dp2Flags(IntFlag):
    """D3DHALDP2_*: dwFlags of D3DHAL_DRAWPRIMITIVES2DATA (wire format, "The call")."""

    USERMEMVERTICES = 0x01
    EXECUTEBUFFER = 0x02
    SWAPVERTEXBUFFER = 0x04
    SWAPCOMMANDBUFFER = 0x08
    REQVERTEXBUFSIZE = 0x10
    REQCOMMANDBUFSIZE = 0x20
    VIDMEMVERTEXBUF = 0x40
    VIDMEMCOMMANDBUF = 0x80


class Clear(IntFlag):
    """D3DCLEAR_*: what D3DDP2OP_CLEAR clears; COMPUTERECTS is for pure devices (wire format,
    "Clearing")."""

    TARGET = 1
    ZBUFFER = 2
    STENCIL = 4
    COMPUTERECTS = 8


class PatchFlags(IntFlag):
    """RTPATCHFLAG_*: what follows an element of D3DDP2OP_DRAWRECTPATCH and _DRAWTRIPATCH."""

    HASSEGS = 1
    HASINFO = 2


class Issue(IntFlag):
    """D3DISSUE_*: dwFlags of D3DDP2OP_ISSUEQUERY.

    The user-mode DDI of Windows Vista numbers the same two flags the other way round
    (D3DDDI_ISSUEQUERYFLAGS: Begin is bit 0); never share one constant (wire format, "Queries").
    """

    END = 1
    BEGIN = 2


class StreamSource(IntFlag):
    """D3DSTREAMSOURCE_*: what the number below them in a stream frequency means."""

    INDEXEDDATA = 1 << 30
    INSTANCEDATA = 2 << 30


class ColorWrite(IntFlag):
    """D3DCOLORWRITEENABLE_*: channels a target may be written in."""

    RED = 1
    GREEN = 2
    BLUE = 4
    ALPHA = 8


class ArgumentModifier(IntFlag):
    """D3DTA_*: what happens to a texture stage's argument.  The complement comes last."""

    COMPLEMENT = 0x10
    ALPHAREPLICATE = 0x20


class Usage(IntFlag):
    """D3DUSAGE_*: what a resource is made for."""

    RENDERTARGET = 0x1
    DEPTHSTENCIL = 0x2
    WRITEONLY = 0x8
    SOFTWAREPROCESSING = 0x10
    DONOTCLIP = 0x20
    POINTS = 0x40
    RTPATCHES = 0x80
    NPATCHES = 0x100
    DYNAMIC = 0x200
    AUTOGENMIPMAP = 0x400
    DMAP = 0x4000
    QUERY_LEGACYBUMPMAP = 0x8000
    QUERY_SRGBREAD = 0x10000
    QUERY_FILTER = 0x20000
    QUERY_SRGBWRITE = 0x40000
    QUERY_POSTPIXELSHADER_BLENDING = 0x80000
    QUERY_VERTEXTEXTURE = 0x100000
    QUERY_WRAPANDMIP = 0x200000


D3DGETDATA_FLUSH = 1
"""dwGetDataFlags of IDirect3DQuery9::GetData."""

D3DHAL_SETLIGHT_ENABLE = 0
D3DHAL_SETLIGHT_DISABLE = 1
D3DHAL_SETLIGHT_DATA = 2

DDHAL_DRIVER_NOTHANDLED = 0
DDHAL_DRIVER_HANDLED = 1

DDRAWIPAL_ALPHA = 0x2000
"""dwPaletteFlags of D3DDP2OP_SETPALETTE: the top byte of an entry is alpha (ddrawi.h)."""

DP2BLT_POINT = 1
DP2BLT_LINEAR = 2
"""Flags of D3DDP2OP_BLT: how it stretches."""
