"""Pictures of surfaces."""

from __future__ import annotations

import io
import tracemalloc
import zlib

import numpy as np
import pytest
from PIL import Image

from dp2emu import picture
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import DEPTH, FORMATS
from dp2emu.errors import Unsupported
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.picture import has_picture, rgba, take_picture


def surface(format: Format, width: int = 2, height: int = 1, **more: int) -> Surface:
    desc = SurfaceDesc(1, SurfaceKind.SURFACE, width, height, format=format, **more)
    return Heap().create(desc)


def pixels_of(png: bytes) -> tuple[str, list[tuple[int, ...]]]:
    image = Image.open(io.BytesIO(png))
    flat = np.asarray(image).reshape(-1, len(image.getbands()))
    return image.mode, [tuple(pixel) for pixel in flat.tolist()]


def test_alpha_is_kept_where_the_format_has_it() -> None:
    target = surface(Format.A8R8G8B8)
    target.pixels()[:] = [[0x11223344, 0xFFFEFDFC]]
    mode, pixels = pixels_of(take_picture(target).png)
    assert mode == "RGBA"
    assert pixels == [(0x22, 0x33, 0x44, 0x11), (0xFE, 0xFD, 0xFC, 0xFF)]


def test_x_byte_is_dropped() -> None:
    target = surface(Format.X8R8G8B8)
    target.pixels()[:] = [[0x11223344, 0xFFFEFDFC]]
    mode, pixels = pixels_of(take_picture(target).png)
    assert mode == "RGB"
    assert pixels == [(0x22, 0x33, 0x44), (0xFE, 0xFD, 0xFC)]


@pytest.mark.parametrize("level", range(64))
def test_sixteen_bit_pixels_are_widened_by_repeating_bits(level: int) -> None:
    red = level >> 1
    words = np.array([red << 11 | level << 5 | (31 - red)], np.uint16)
    expected = [red << 3 | red >> 2, level << 2 | level >> 4, (31 - red) << 3 | (31 - red) >> 2]
    assert rgba(words, Format.R5G6B5)[0].tolist() == expected


def test_padding_behind_rows_is_in_neither_picture_nor_checksum() -> None:
    target = surface(Format.R5G6B5, 2, 2, pitch=8)
    target.data[:] = 0xFF
    target.pixels()[:] = [[1, 2], [3, 4]]
    taken = take_picture(target)
    assert (taken.width, taken.height, taken.format) == (2, 2, Format.R5G6B5)
    assert taken.crc32 == zlib.crc32(np.array([1, 2, 3, 4], "<u2").tobytes())


def test_samples_are_averaged_rounding_half_up() -> None:
    target = surface(Format.X8R8G8B8, 1, 1, samples=2)
    target.pixels()[:] = [[0x00000000, 0x00FF0102]]
    assert pixels_of(take_picture(target).png)[1] == [(128, 1, 1)]


def test_same_pixels_give_same_file() -> None:
    target = surface(Format.X8R8G8B8, 16, 16)
    assert take_picture(target).png == take_picture(target).png


def test_depth_surface_has_no_picture() -> None:
    with pytest.raises(Unsupported, match="D3DFMT_D24S8"):
        take_picture(surface(Format.D24S8))


def test_bands_make_the_same_picture_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    target = surface(Format.A8R8G8B8, 5, 7, samples=2)
    target.pixels()[:] = np.random.default_rng(1).integers(0, 1 << 32, (7, 10), np.uint32)
    whole = take_picture(target)
    for band in (1, 20, 35):
        monkeypatch.setattr(picture, "_BAND", band)
        banded = take_picture(target)
        assert (banded.crc32, banded.png) == (whole.crc32, whole.png)


def test_a_picture_takes_no_multiple_of_its_surface() -> None:
    target = surface(Format.X8R8G8B8, 2048, 2048)
    tracemalloc.start()
    try:
        take_picture(target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * target.data.nbytes


def picture_of(format: Format, data: bytes, width: int = 1, height: int = 1) -> list[list[int]]:
    shown = surface(format, width, height)
    shown.data[:] = np.frombuffer(data, np.uint8)
    image = take_picture(shown).image
    pixels: list[list[int]] = image.reshape(-1, image.shape[-1]).tolist()
    return pixels


HALF = b"\x00\x38"


@pytest.mark.parametrize(
    ("format", "data", "pixel"),
    [
        (Format.R8G8B8, b"\x01\x02\x03", [3, 2, 1]),
        (Format.A8R8G8B8, b"\x01\x02\x03\x04", [3, 2, 1, 4]),
        (Format.X8R8G8B8, b"\x01\x02\x03\x04", [3, 2, 1]),
        (Format.R5G6B5, b"\x20\x84", [132, 134, 0]),
        (Format.X1R5G5B5, b"\x00\x42", [132, 132, 0]),
        (Format.A1R5G5B5, b"\x1f\x80", [0, 0, 255, 255]),
        (Format.A4R4G4B4, b"\x21\x43", [0x33, 0x22, 0x11, 0x44]),
        (Format.R3G3B2, b"\x92", [0x92, 0x92, 0xAA]),
        (Format.A8, b"\x80", [0, 0, 0, 128]),
        (Format.A8R3G3B2, b"\xe0\x07", [255, 0, 0, 7]),
        (Format.X4R4G4B4, b"\x21\x43", [0x33, 0x22, 0x11]),
        (Format.A2B10G10R10, b"\xff\x03\x00\x80", [255, 0, 0, 0xAA]),
        (Format.A8B8G8R8, b"\x01\x02\x03\x04", [1, 2, 3, 4]),
        (Format.X8B8G8R8, b"\x01\x02\x03\x04", [1, 2, 3]),
        (Format.G16R16, b"\xff\x12\xff\x34", [0x12, 0x34, 255]),
        (Format.A2R10G10B10, b"\xff\x03\x00\x40", [0, 0, 255, 0x55]),
        (Format.A16B16G16R16, b"\0\1\0\2\0\3\0\4", [1, 2, 3, 4]),
        (Format.A8P8, b"\x07\x80", [7, 7, 7, 128]),
        (Format.P8, b"\x07", [7, 7, 7]),
        (Format.L8, b"\x07", [7, 7, 7]),
        (Format.A8L8, b"\x07\x80", [7, 7, 7, 128]),
        (Format.A4L4, b"\x47", [0x77, 0x77, 0x77, 0x44]),
        (Format.L16, b"\xff\x07", [7, 7, 7]),
        (Format.V8U8, b"\x00\x7f", [128, 255, 255]),
        (Format.L6V5U5, b"\xe0\xfd", [128, 255, 255]),
        (Format.X8L8V8U8, b"\x81\x00\x40\x00", [0, 128, 64]),
        (Format.Q8W8V8U8, b"\x7f\x00\x81\x00", [255, 128, 0]),
        (Format.V16U16, b"\xff\x7f\x01\x80", [255, 0, 255]),
        (Format.A2W10V10U10, b"\xff\x01\x00\x40", [255, 128, 128, 0x55]),
        (Format.Q16W16V16U16, b"\xff\x7f\x01\x80\0\0\0\0", [255, 0, 128]),
        (Format.CxV8U8, b"\x00\x7f", [128, 255, 255]),
        (Format.R16F, HALF, [128, 255, 255]),
        (Format.G16R16F, HALF + b"\0\xc0", [128, 0, 255]),
        (Format.A16B16G16R16F, HALF + b"\0\x40" + HALF + HALF, [128, 255, 128, 128]),
        (Format.R32F, b"\0\0\0\x3f", [128, 255, 255]),
        (Format.G32R32F, b"\0\0\0\x3f\0\0\xc0\x7f", [128, 0, 255]),
        (Format.A32B32G32R32F, b"\0\0\0\x3f" * 4, [128] * 4),
        (Format.UYVY, b"\x80\xeb\x80\x10", [255, 255, 255]),
        (Format.YUY2, b"\xeb\x80\x10\x80", [255, 255, 255]),
        (Format.R8G8_B8G8, b"\x01\x02\x03\x04", [2, 1, 4]),
        (Format.G8R8_G8B8, b"\x01\x02\x03\x04", [1, 2, 3]),
        (Format.A1, b"\x80", [0, 0, 0, 255]),
        (Format.A1, b"\x7f", [0, 0, 0, 0]),
        (Format.DXT1, b"\0\xf8\0\0" + bytes(4), [255, 0, 0, 255]),
        (Format.DXT2, b"\x07" + bytes(7) + b"\0\xf8\0\0" + bytes(4), [255, 0, 0, 119]),
        (Format.DXT3, b"\x07" + bytes(7) + b"\0\xf8\0\0" + bytes(4), [255, 0, 0, 119]),
        (Format.DXT4, b"\x07" + bytes(7) + b"\0\xf8\0\0" + bytes(4), [255, 0, 0, 7]),
        (Format.DXT5, b"\x07" + bytes(7) + b"\0\xf8\0\0" + bytes(4), [255, 0, 0, 7]),
    ],
    ids=lambda value: value.name if isinstance(value, Format) else "",
)
def test_every_colour_format_has_its_picture(
    format: Format, data: bytes, pixel: list[int]
) -> None:
    assert picture_of(format, data) == [pixel]


def test_every_format_that_is_no_depth_has_a_picture() -> None:
    assert {format for format in FORMATS if not has_picture(format)} == DEPTH.keys()
    assert not has_picture(0)
    assert not has_picture(0xDEADBEEF)


@pytest.mark.parametrize("format", [Format.DXT1, Format.YUY2, Format.R8G8B8, Format.A32B32G32R32F])
def test_bands_of_any_format_make_the_same_picture(
    monkeypatch: pytest.MonkeyPatch, format: Format
) -> None:
    shown = surface(format, 7, 11)
    shown.data[:] = np.random.default_rng(2).integers(0, 0x3F, len(shown.data), np.uint8)
    whole = take_picture(shown)
    assert whole.crc32 == zlib.crc32(shown.data.tobytes())
    for band in (1, 28, 60):
        monkeypatch.setattr(picture, "_BAND", band)
        banded = take_picture(shown)
        assert (banded.crc32, banded.image.tolist()) == (whole.crc32, whole.image.tolist())


def test_a_texture_shows_its_first_level_and_a_level_itself() -> None:
    heap = Heap()
    cube = heap.create(SurfaceDesc(1, SurfaceKind.CUBETEXTURE, 2, 2, Format.L8, levels=2))
    face = heap.create(SurfaceDesc(2, SurfaceKind.SURFACE, 1, 1, Format.L8, parent=1, index=3))
    cube.data[:] = range(30)
    assert take_picture(cube).image[..., 0].tolist() == [[0, 1], [2, 3]]
    assert take_picture(face).image[..., 0].tolist() == [[9]]
