"""Depth and stencil in grey."""

from __future__ import annotations

import zlib
from fractions import Fraction

import numpy as np
import pytest

from dp2emu.d3d.enums import Format
from dp2emu.errors import Unsupported
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.picture import STENCILS, take_depth, take_stencil


def surface(format: Format, *pixels: float, samples: int = 1) -> Surface:
    width = len(pixels) // samples
    desc = SurfaceDesc(1, SurfaceKind.SURFACE, width, 1, format=format, samples=samples)
    made = Heap().create(desc)
    made.pixels()[:] = [pixels]
    return made


@pytest.mark.parametrize(
    ("format", "word", "grey"),
    [
        (Format.D16, 0x1234, 0x1234),
        (Format.D16_LOCKABLE, 0xFFFF, 0xFFFF),
        (Format.D24S8, 0x12345678, 0x1234),
        (Format.D24X8, 0xFFFFFF00, 0xFFFF),
        (Format.D24X4S4, 0x12345678, 0x1234),
        (Format.D32, 0x12345678, 0x1234),
        (Format.D15S1, 0xFFFF, 0xFFFF),
        (Format.D15S1, 1 << 15 | 1, 0x8001),
        (Format.D15S1, 0x0001, 0x0000),
        (Format.D32F_LOCKABLE, 0.25, 0x4000),
        (Format.D32F_LOCKABLE, 1.5, 0xFFFF),
        (Format.D32F_LOCKABLE, -1.0, 0),
        (Format.D32F_LOCKABLE, float("nan"), 0),
    ],
)
def test_depth_shows_its_high_bits(format: Format, word: float, grey: int) -> None:
    image = take_depth(surface(format, word)).image
    assert (image.dtype, image.shape, int(image[0, 0])) == (np.uint16, (1, 1), grey)


@pytest.mark.parametrize("bits", [0, 1, 0xFFFFF, 0x100000, 0x7FFFFF, 0xE00000, 0xE80000, 0xF00000])
def test_depth_of_24_bit_floats(bits: int) -> None:
    exponent, mantissa = bits >> 20, bits & 0xFFFFF
    whole = Fraction(mantissa, 1 << 20) + (exponent > 0)
    value = min(whole * Fraction(2) ** (max(exponent, 1) - 15), Fraction(1))
    found = take_depth(surface(Format.D24FS8, bits << 8 | 0x55)).image
    assert int(found[0, 0]) == int(value * 65535 + Fraction(1, 2))


@pytest.mark.parametrize(
    ("format", "word", "grey"),
    [
        (Format.D24S8, 0xFFFFFF5A, 0x5A),
        (Format.D24FS8, 0xFFFFFFA5, 0xA5),
        (Format.D24X4S4, 0xFFFFFF0C, 0xCC),
        (Format.D15S1, 1, 0xFF),
        (Format.D15S1, 0xFFFE, 0),
    ],
)
def test_stencil_fills_eight_bits(format: Format, word: int, grey: int) -> None:
    image = take_stencil(surface(format, word)).image
    assert (image.dtype, int(image[0, 0])) == (np.uint8, grey)
    assert format in STENCILS


def test_the_first_sample_of_a_pixel_is_shown() -> None:
    target = surface(Format.D24S8, 0x11110001, 0xFFFFFFFF, 0x22220002, 0, samples=2)
    assert take_depth(target).image.tolist() == [[0x1111, 0x2222]]
    assert take_stencil(target).image.tolist() == [[1, 2]]


def test_the_checksum_is_of_the_words() -> None:
    taken = take_depth(surface(Format.D16, 1, 2))
    assert taken.crc32 == zlib.crc32(bytes((1, 0, 2, 0)))
    assert (taken.width, taken.height, taken.format) == (2, 1, Format.D16)


def test_what_is_not_there_has_no_picture() -> None:
    assert Format.D16 not in STENCILS
    with pytest.raises(Unsupported, match="stencil of D3DFMT_D16"):
        take_stencil(surface(Format.D16, 1))
    for take in (take_depth, take_stencil):
        with pytest.raises(Unsupported, match="D3DFMT_X8R8G8B8"):
            take(surface(Format.X8R8G8B8, 1))
