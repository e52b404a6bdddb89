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
from dp2emu.errors import Unsupported
from dp2emu.gpu.memory import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.picture import rgba, take_picture


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
