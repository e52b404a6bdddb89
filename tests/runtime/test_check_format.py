"""CheckDeviceFormat by kind of resource and use."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import Usage
from dp2emu.d3d.formats import COLOR, DEPTH, FORMATS, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.runtime.textures import check_format

TEXTURE, CUBE = SurfaceKind.TEXTURE, SurfaceKind.CUBETEXTURE
VOLUME, SURFACE = SurfaceKind.VOLUMETEXTURE, SurfaceKind.SURFACE
OK, GONE = HResult.D3D_OK, HResult.D3DERR_NOTAVAILABLE


@pytest.mark.parametrize(
    ("usage", "kind", "format", "hr"),
    [
        (0, TEXTURE, Format.A8R8G8B8, OK),
        (0, TEXTURE, Format.DXT3, OK),
        (0, VOLUME, Format.DXT3, OK),
        (0, CUBE, Format.P8, OK),
        (0, TEXTURE, Format.D24S8, OK),
        (0, CUBE, Format.D24S8, GONE),
        (0, VOLUME, Format.D16, GONE),
        (0, TEXTURE, Format.MULTI2_ARGB8, GONE),
        (0, TEXTURE, Format.INDEX16, GONE),
        (Usage.RENDERTARGET, CUBE, Format.R32F, OK),
        (Usage.RENDERTARGET, VOLUME, Format.R32F, GONE),
        (Usage.RENDERTARGET, TEXTURE, Format.V8U8, GONE),
        (Usage.DEPTHSTENCIL, TEXTURE, Format.D24X8, OK),
        (Usage.DEPTHSTENCIL, SURFACE, Format.A8R8G8B8, GONE),
        (Usage.RENDERTARGET, SURFACE, Format.D16, GONE),
        (Usage.AUTOGENMIPMAP, TEXTURE, Format.R5G6B5, OK),
        (Usage.AUTOGENMIPMAP, TEXTURE, Format.DXT1, HResult.D3DOK_NOAUTOGEN),
        (Usage.AUTOGENMIPMAP, VOLUME, Format.R5G6B5, GONE),
        (Usage.QUERY_LEGACYBUMPMAP, TEXTURE, Format.L6V5U5, OK),
        (Usage.QUERY_LEGACYBUMPMAP, TEXTURE, Format.A8L8, GONE),
        (Usage.QUERY_POSTPIXELSHADER_BLENDING, TEXTURE, Format.A16B16G16R16F, OK),
        (Usage.QUERY_SRGBWRITE, TEXTURE, Format.UYVY, GONE),
        (Usage.QUERY_FILTER | Usage.QUERY_VERTEXTEXTURE, TEXTURE, Format.A32B32G32R32F, OK),
        (Usage.DYNAMIC, TEXTURE, Format.X8R8G8B8, OK),
        (0, SurfaceKind.INDEXBUFFER, Format.INDEX32, OK),
        (0, SurfaceKind.VERTEXBUFFER, Format.VERTEXDATA, OK),
        (0, SurfaceKind.VERTEXBUFFER, Format.INDEX32, GONE),
    ],
)
def test_what_there_is(usage: int, kind: SurfaceKind, format: Format, hr: HResult) -> None:
    assert check_format(usage, kind, format) is hr


def test_every_format_is_available_for_what_its_row_says() -> None:
    for format, row in FORMATS.items():
        assert (check_format(0, TEXTURE, format) is OK) == (Use.TEXTURE in row.uses)
        assert (check_format(Usage.RENDERTARGET, SURFACE, format) is OK) == (format in COLOR)
        assert (check_format(Usage.DEPTHSTENCIL, SURFACE, format) is OK) == (format in DEPTH)
