"""What a program reads of a surface."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.readback import differing_texel, read_rows, take_readback, tight_image


def surface(format: Format, width: int = 4, height: int = 4, **more: int) -> Surface:
    kind = more.pop("kind", SurfaceKind.SURFACE)
    return Heap().create(SurfaceDesc(1, SurfaceKind(kind), width, height, format, **more))


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_every_format_gives_four_channels_and_the_checksum_of_its_rows(format: Format) -> None:
    target = surface(format, 8, 4)
    target.data[:] = np.arange(target.data.size, dtype=np.uint32) * 7 % 251
    taken = take_readback(target)
    assert taken.image.shape == (4, 8, 4) and taken.image.dtype == np.uint8
    assert taken.crc32 == zlib.crc32(target.data.tobytes())
    assert taken.format == format


@pytest.mark.parametrize(
    ("format", "word", "pixel"),
    [
        (Format.A8R8G8B8, 0x11223344, (0x22, 0x33, 0x44, 0x11)),
        (Format.X8R8G8B8, 0x11223344, (0x22, 0x33, 0x44, 0x11)),
        (Format.X8B8G8R8, 0x11223344, (0x44, 0x33, 0x22, 0x11)),
        (Format.A8B8G8R8, 0x11223344, (0x44, 0x33, 0x22, 0x11)),
        (Format.R5G6B5, 0xF81F, (255, 0, 255, 255)),
        (Format.X1R5G5B5, 0x03E0, (0, 255, 0, 255)),
        (Format.A1R5G5B5, 0x83E0, (0, 255, 0, 255)),
        (Format.A4R4G4B4, 0x1234, (0x22, 0x33, 0x44, 0x11)),
        (Format.A2R10G10B10, 0x7FF00000, (255, 0, 0, 0x55)),
        (Format.L8, 0x77, (0x77, 0x77, 0x77, 255)),
        (Format.D16, 0x8040, (0x80, 0x80, 0x80, 255)),
        (Format.D24S8, 0xC0FFFF11, (0xC0, 0xC0, 0xC0, 255)),
        (Format.D24X8, 0xC0FFFF11, (0xC0, 0xC0, 0xC0, 255)),
        (Format.S8_LOCKABLE, 0x42, (0x42, 0x42, 0x42, 255)),
    ],
    ids=lambda value: value.name if isinstance(value, Format) else None,
)
def test_pixels_are_scaled_to_eight_bits(
    format: Format, word: int, pixel: tuple[int, ...]
) -> None:
    target = surface(format, 1, 1)
    target.pixels()[:] = word
    assert tuple(take_readback(target).image[0, 0].tolist()) == pixel


def test_float_depth_is_grey() -> None:
    target = surface(Format.D32F_LOCKABLE, 1, 1)
    target.pixels()[:] = np.float32(0.5)
    assert take_readback(target).image.tolist() == [[[128, 128, 128, 255]]]


def test_holes_between_rows_are_not_read() -> None:
    target = surface(Format.R5G6B5, 2, 2, pitch=8)
    target.data[:] = 0xEE
    target.pixels()[:] = [[1, 2], [3, 4]]
    assert read_rows(target).memory.tobytes() == np.array([1, 2, 3, 4], "<u2").tobytes()


def test_levels_are_read_by_their_number() -> None:
    texture = surface(Format.L8, 4, 2, kind=SurfaceKind.TEXTURE, levels=3)
    texture.data[:] = np.arange(11)
    assert [read_rows(texture, level).memory.tolist() for level in (1, 2)] == [[[8, 9]], [[10]]]
    with pytest.raises(Fault, match="3 levels"):
        take_readback(texture, 3)


def test_a_view_of_a_level_is_read_as_that_level() -> None:
    heap = Heap()
    texture = heap.create(SurfaceDesc(1, SurfaceKind.TEXTURE, 2, 2, Format.L8, levels=2))
    texture.data[:] = [1, 2, 3, 4, 5]
    view = heap.create(SurfaceDesc(2, SurfaceKind.SURFACE, 1, 1, Format.L8, parent=1, index=1))
    assert read_rows(view).memory.tolist() == [[5]]


def test_slices_stand_below_each_other() -> None:
    volume = surface(Format.L8, 2, 1, kind=SurfaceKind.VOLUMETEXTURE, depth=3)
    volume.data[:] = range(6)
    taken = take_readback(volume)
    assert (taken.width, taken.height) == (2, 3)
    assert taken.image[..., 0].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_slices_of_blocks_stand_below_each_other_whole() -> None:
    volume = surface(Format.DXT1, 4, 2, kind=SurfaceKind.VOLUMETEXTURE, depth=2)
    assert take_readback(volume).image.shape == (8, 4, 4)


def test_samples_are_averaged_and_those_of_depth_are_not() -> None:
    color = surface(Format.A8R8G8B8, 1, 1, samples=2)
    color.pixels()[:] = [[0x00000000, 0xFF204060]]
    assert read_rows(color).memory.tolist() == [[0x30, 0x20, 0x10, 0x80]]
    depth = surface(Format.D16, 2, 1, samples=2)
    depth.pixels()[:] = [[1, 2, 3, 4]]
    assert read_rows(depth).memory.view("<u2").tolist() == [[1, 3]]
    wide = surface(Format.A16B16G16R16F, 1, 1, samples=2)
    assert read_rows(wide).memory.shape == (1, 8)


def test_the_host_reads_the_system_copy_of_a_managed_texture() -> None:
    texture = surface(Format.L8, 1, 1, kind=SurfaceKind.TEXTURE, managed=1)
    texture.host_copy.data[:] = 7
    assert read_rows(texture).memory.tolist() == [[7]]


def test_what_is_no_pixels_has_no_picture() -> None:
    with pytest.raises(Unsupported, match="D3DFMT_UNKNOWN"):
        take_readback(Heap().create(SurfaceDesc(1, SurfaceKind.VERTEXBUFFER, 16)))


def test_large_pictures_are_read_in_parts_that_fit_together() -> None:
    target = surface(Format.DXT1, 1024, 1030)
    target.data[:] = np.arange(target.data.size, dtype=np.uint32) * 13 % 256
    taken = take_readback(target)
    part = target.data[-8 * 256 :].tobytes()
    row = surface(Format.DXT1, 1024, 4)
    row.data[:] = np.frombuffer(part, np.uint8)
    assert (taken.image[1028:] == take_readback(row).image[:2]).all()


def test_the_first_pixel_that_differs_is_found() -> None:
    target = surface(Format.R5G6B5, 4, 2)
    target.pixels()[:] = 5
    expected = bytearray(target.data.tobytes())
    assert differing_texel(target, 0, bytes(expected)) is None
    expected[11] = 1
    found = differing_texel(target, 0, bytes(expected))
    assert found == (1, 1, b"\5\0", b"\5\1")


def test_of_blocks_the_first_pixel_is_named() -> None:
    target = surface(Format.DXT1, 16, 8)
    found = differing_texel(target, 0, bytes(40) + b"\1" + bytes(23))
    assert found is not None and (found.x, found.y) == (4, 4)
    assert len(found.found) == len(found.expected) == 8


def test_shadow_formats_are_read_as_depth() -> None:
    shown = {f for f, row in FORMATS.items() if Use.DEPTH in row.uses}
    assert shown >= {Format.D16, Format.D32, Format.D24FS8, Format.D24X4S4, Format.D15S1}


def test_every_dxgi_format_has_a_picture_of_its_rows_or_none() -> None:
    """Typeless formats, and compressed ones whose channels are not bytes, have none."""
    without = set()
    for format, row in ROWS.items():
        if not isinstance(format, DxgiFormat):
            continue
        slices = -(-6 // row.block[0]) * -(-4 // row.block[1]) * row.size * 2
        image = tight_image(format, bytes(slices), (6, 4, 2))
        if image is None:
            without.add(format.name)
        else:
            assert (image.shape, image.dtype) == ((8, 6, 4), np.uint8)
    typeless = {name for name in without if name.endswith("TYPELESS")}
    assert {name[:3] for name in without - typeless} == {"BC4", "BC5", "BC6", "R1_", "R10"}


@pytest.mark.parametrize(
    ("format", "data", "size", "pixels"),
    [
        (DxgiFormat.R8G8B8A8_UNORM, "01020304", (1, 1, 1), [[1, 2, 3, 4]]),
        (DxgiFormat.B8G8R8A8_UNORM, "01020304", (1, 1, 1), [[3, 2, 1, 4]]),
        (DxgiFormat.R32_FLOAT, "0000003f0000803f", (1, 1, 2),
         [[128, 0, 0, 255], [255, 0, 0, 255]]),
        (DxgiFormat.D16_UNORM, "00800000", (1, 2, 1), [[128] * 3 + [255], [0, 0, 0, 255]]),
        (DxgiFormat.BC1_UNORM, "00f8" + "00" * 6, (1, 1, 1), [[255, 0, 0, 255]]),
        (DxgiFormat.BC3_UNORM, "07" + "00" * 7 + "00f8" + "00" * 6, (1, 1, 1), [[255, 0, 0, 7]]),
    ],
)  # fmt: skip
def test_rows_without_padding_have_a_picture(
    format: DxgiFormat, data: str, size: tuple[int, int, int], pixels: list[list[int]]
) -> None:
    image = tight_image(format, bytes.fromhex(data), size)
    assert image is not None
    assert image.reshape(-1, 4).tolist() == pixels
