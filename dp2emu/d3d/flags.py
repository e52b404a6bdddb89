"""Flag words and single constants of the driver headers (d3dhal.h, d3d9types.h, d3dumddi.h)."""

from __future__ import annotations

from enum import IntFlag
from typing import NamedTuple


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
    """D3DCLEAR_*: buffers of D3DDP2OP_CLEAR; COMPUTERECTS is for pure devices (wire format,
    "Clearing")."""

    TARGET = 1
    ZBUFFER = 2
    STENCIL = 4
    COMPUTERECTS = 8


class PatchFlags(IntFlag):
    """RTPATCHFLAG_*: data that follow an item of D3DDP2OP_DRAWRECTPATCH and _DRAWTRIPATCH."""

    HASSEGS = 1
    HASINFO = 2


class Issue(IntFlag):
    """D3DISSUE_*: dwFlags of D3DDP2OP_ISSUEQUERY.

    The user-mode DDI of Windows Vista swaps the two bits (D3DDDI_ISSUEQUERYFLAGS: Begin is bit 0),
    so it has constants of its own (wire format, "Queries").
    """

    END = 1
    BEGIN = 2


class StreamSource(IntFlag):
    """D3DSTREAMSOURCE_*: flags of a stream frequency (``Frequency``)."""

    INDEXEDDATA = 1 << 30
    INSTANCEDATA = 2 << 30


class ColorWrite(IntFlag):
    """D3DCOLORWRITEENABLE_*: writable channels of a render target."""

    RED = 1
    GREEN = 2
    BLUE = 4
    ALPHA = 8


class ArgumentModifier(IntFlag):
    """D3DTA_*: modifiers of a texture stage's argument.  The complement is applied last."""

    COMPLEMENT = 0x10
    ALPHAREPLICATE = 0x20


class Usage(IntFlag):
    """D3DUSAGE_*: the usage of a resource."""

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

D3DHAL_SETLIGHT_ENABLE, D3DHAL_SETLIGHT_DISABLE, D3DHAL_SETLIGHT_DATA = range(3)
DDHAL_DRIVER_NOTHANDLED, DDHAL_DRIVER_HANDLED = 0, 1

DDRAWIPAL_ALPHA = 0x2000
"""dwPaletteFlags of D3DDP2OP_SETPALETTE: the top byte of an entry is alpha (ddrawi.h)."""

DP2BLT_POINT, DP2BLT_LINEAR = 1, 2
"""Flags of D3DDP2OP_BLT: the filter of a stretched copy."""

_FLAGS = StreamSource.INDEXEDDATA | StreamSource.INSTANCEDATA


class Frequency(NamedTuple):
    """The advance rate of a vertex stream (Direct3D 9, SetStreamSourceFreq).

    With INDEXEDDATA in stream 0 indexed draws have ``number`` instances.  A stream with
    INSTANCEDATA advances once per ``number`` instances; one without flags once per ``number``
    vertices of draws without indices.
    """

    flags: StreamSource
    number: int

    @classmethod
    def of(cls, value: int) -> Frequency:
        """The frequency in a DWORD; number 0 with a flag means 1."""
        flags, number = StreamSource(value) & _FLAGS, value & ~_FLAGS
        return cls(flags, number or int(bool(flags)))

    def allowed(self, stream: int) -> bool:
        """Whether ``stream`` may have this frequency: not 0, not both flags, no INSTANCEDATA in
        stream 0.
        """
        instances = self.flags is StreamSource.INSTANCEDATA
        return self.number > 0 and self.flags != _FLAGS and not (instances and stream == 0)


EVERY_VERTEX = Frequency(StreamSource(0), 1)
"""Frequency of a stream for which none was set: it advances to a new element for every vertex."""
