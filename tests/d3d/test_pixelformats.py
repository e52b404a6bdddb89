"""Pixel formats of DirectDraw against the masks that its documentation lists."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS
from dp2emu.d3d.pixelformats import PixelFormat, described, format_of
from dp2emu.errors import Unsupported

RGB, ALPHAPIXELS, ALPHA, FOURCC, Z, STENCIL = 0x40, 0x1, 0x2, 0x4, 0x400, 0x4000
LUMINANCE, BUMP, BUMPLUMINANCE = 0x20000, 0x80000, 0x40000

LISTED = [
    (PixelFormat(RGB, bits=24, masks=(0xFF0000, 0xFF00, 0xFF, 0)), Format.R8G8B8),
    (PixelFormat(RGB, bits=32, masks=(0xFF0000, 0xFF00, 0xFF, 0)), Format.X8R8G8B8),
    (
        PixelFormat(RGB | ALPHAPIXELS, bits=32, masks=(0xFF0000, 0xFF00, 0xFF, 0xFF000000)),
        Format.A8R8G8B8,
    ),
    (PixelFormat(RGB, bits=32, masks=(0xFF, 0xFF00, 0xFF0000, 0)), Format.X8B8G8R8),
    (PixelFormat(RGB, bits=16, masks=(0xF800, 0x7E0, 0x1F, 0)), Format.R5G6B5),
    (PixelFormat(RGB, bits=16, masks=(0x7C00, 0x3E0, 0x1F, 0)), Format.X1R5G5B5),
    (
        PixelFormat(RGB | ALPHAPIXELS, bits=16, masks=(0x7C00, 0x3E0, 0x1F, 0x8000)),
        Format.A1R5G5B5,
    ),
    (PixelFormat(RGB | ALPHAPIXELS, bits=16, masks=(0xF00, 0xF0, 0xF, 0xF000)), Format.A4R4G4B4),
    (PixelFormat(RGB, bits=16, masks=(0xF00, 0xF0, 0xF, 0)), Format.X4R4G4B4),
    (PixelFormat(RGB, bits=8, masks=(0xE0, 0x1C, 0x3, 0)), Format.R3G3B2),
    (PixelFormat(RGB | ALPHAPIXELS, bits=16, masks=(0xE0, 0x1C, 0x3, 0xFF00)), Format.A8R3G3B2),
    (PixelFormat(RGB | 0x20, bits=8), Format.P8),
    (PixelFormat(ALPHA, bits=8), Format.A8),
    (PixelFormat(LUMINANCE, bits=8, masks=(0xFF, 0, 0, 0)), Format.L8),
    (PixelFormat(LUMINANCE | ALPHAPIXELS, bits=16, masks=(0xFF, 0, 0, 0xFF00)), Format.A8L8),
    (PixelFormat(LUMINANCE | ALPHAPIXELS, bits=8, masks=(0xF, 0, 0, 0xF0)), Format.A4L4),
    (PixelFormat(BUMP, bits=16, masks=(0xFF, 0xFF00, 0, 0)), Format.V8U8),
    (PixelFormat(BUMP | BUMPLUMINANCE, bits=16, masks=(0x1F, 0x3E0, 0xFC00, 0)), Format.L6V5U5),
    (
        PixelFormat(BUMP | BUMPLUMINANCE, bits=32, masks=(0xFF, 0xFF00, 0xFF0000, 0)),
        Format.X8L8V8U8,
    ),
    (PixelFormat(Z, bits=16, masks=(0, 0xFFFF, 0, 0)), Format.D16),
    (PixelFormat(Z, bits=16, masks=(7, 0, 0, 0)), Format.D16),
    (PixelFormat(Z, bits=32, masks=(0, 0xFFFFFF, 0, 0)), Format.X8D24),
    (PixelFormat(Z, bits=24, masks=(0, 0xFFFFFF, 0, 0)), Format.X8D24),
    (PixelFormat(Z, bits=24), Format.X8D24),
    (PixelFormat(Z, bits=32, masks=(0, 0xFFFFFF00, 0, 0)), Format.D24X8),
    (PixelFormat(Z, bits=32, masks=(0, 0xFFFFFFFF, 0, 0)), Format.D32),
    (PixelFormat(Z | STENCIL, bits=32, masks=(8, 0xFFFFFF, 0xFF000000, 0)), Format.S8D24),
    (PixelFormat(Z | STENCIL, bits=32, masks=(8, 0xFFFFFF00, 0xFF, 0)), Format.D24S8),
    (PixelFormat(Z | STENCIL, bits=32, masks=(4, 0xFFFFFF, 0xF000000, 0)), Format.X4S4D24),
    (PixelFormat(Z | STENCIL, bits=16, masks=(1, 0x7FFF, 0x8000, 0)), Format.S1D15),
    (PixelFormat(FOURCC, fourcc=0x31545844), Format.DXT1),
    (PixelFormat(FOURCC, fourcc=0x59565955), Format.UYVY),
]


@pytest.mark.parametrize(("pixels", "format"), LISTED)
def test_masks_mean_a_format(pixels: PixelFormat, format: Format) -> None:
    assert format_of(pixels) is format


@pytest.mark.parametrize(
    "pixels",
    [
        PixelFormat(RGB, bits=32, masks=(1, 2, 4, 0)),
        PixelFormat(FOURCC, fourcc=0x21212121),
        PixelFormat(RGB | 0x8, bits=4),
        PixelFormat(0),
        PixelFormat(Z, bits=1 << 31),
    ],
)
def test_other_pixels_are_named(pixels: PixelFormat) -> None:
    with pytest.raises(Unsupported, match=r"pixels of|palette indexes"):
        format_of(pixels)


@pytest.mark.parametrize("format", FORMATS)
def test_a_description_means_the_format_it_was_made_of(format: Format) -> None:
    known = Format.D16 if format is Format.D16_LOCKABLE else format
    assert format_of(described(format)) is known


def test_formats_of_directx_8_are_fourccs_only_where_its_documents_say_so() -> None:
    assert described(Format.D16_LOCKABLE) == PixelFormat(Z, bits=16, masks=(0, 0xFFFF, 0, 0))
    for format in (Format.Q8W8V8U8, Format.V16U16):
        assert described(format) == PixelFormat(FOURCC, fourcc=int(format))


@pytest.mark.parametrize("pixels", [LISTED[0][0], LISTED[2][0], LISTED[15][0], LISTED[24][0]])
def test_a_description_has_the_documented_masks(pixels: PixelFormat) -> None:
    assert described(format_of(pixels)) == pixels
