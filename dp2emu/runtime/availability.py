"""CheckDeviceFormat: which resources of which formats there are, from the rows of the formats."""

from __future__ import annotations

from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import Usage
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.resource.heap import SurfaceKind

_NEEDS = {
    Usage.RENDERTARGET: Use.TARGET,
    Usage.DEPTHSTENCIL: Use.DEPTH,
    Usage.QUERY_LEGACYBUMPMAP: Use.BUMP,
    Usage.QUERY_SRGBREAD: Use.TEXTURE,
    Usage.QUERY_FILTER: Use.TEXTURE,
    Usage.QUERY_SRGBWRITE: Use.TARGET,
    Usage.QUERY_POSTPIXELSHADER_BLENDING: Use.TARGET,
    Usage.QUERY_VERTEXTEXTURE: Use.TEXTURE,
    Usage.QUERY_WRAPANDMIP: Use.TEXTURE,
}
"""What a format must be good for to be used that way."""

_BUFFERS = {
    SurfaceKind.VERTEXBUFFER: frozenset({Format.VERTEXDATA}),
    SurfaceKind.INDEXBUFFER: frozenset({Format.INDEX16, Format.INDEX32}),
}
_VOLUMES = (SurfaceKind.VOLUME, SurfaceKind.VOLUMETEXTURE)
_WRITTEN = Usage.RENDERTARGET | Usage.AUTOGENMIPMAP
"""What volumes are not for."""
_FLAT = (SurfaceKind.SURFACE, SurfaceKind.TEXTURE)
"""What depth formats are for."""


def check_format(usage: int, kind: SurfaceKind, format: Format) -> HResult:
    """D3D_OK, D3DERR_NOTAVAILABLE, or D3DOK_NOAUTOGEN for a texture whose levels cannot be
    generated.
    """
    if kind in _BUFFERS:
        return HResult.D3D_OK if format in _BUFFERS[kind] else HResult.D3DERR_NOTAVAILABLE
    if not _has(usage, kind, format):
        return HResult.D3DERR_NOTAVAILABLE
    if usage & Usage.AUTOGENMIPMAP and Use.TARGET not in FORMATS[format].uses:
        return HResult.D3DOK_NOAUTOGEN
    return HResult.D3D_OK


def _has(usage: int, kind: SurfaceKind, format: Format) -> bool:
    row = FORMATS.get(format)
    if row is None:
        return False
    needed = Use.NONE if kind is SurfaceKind.SURFACE else Use.TEXTURE
    for flag, use in _NEEDS.items():
        needed |= use if usage & flag else Use.NONE
    written = usage & _WRITTEN and kind in _VOLUMES
    return needed in row.uses and not written and (Use.DEPTH not in row.uses or kind in _FLAT)
