"""Decoding of blocks, against Pillow and against the documents in plain Python."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS
from dp2emu.errors import UsageError
from dp2emu.shader.texture.texels import decode

DXT = [Format.DXT1, Format.DXT2, Format.DXT3, Format.DXT4, Format.DXT5]
PAIRS = [Format.UYVY, Format.YUY2, Format.R8G8_B8G8, Format.G8R8_G8B8]


def pillow(format: Format, data: bytes, width: int, height: int) -> list[list[list[int]]]:
    """What Pillow reads from a DDS file; it knows DXT2 and DXT4 only by their other names."""
    name = {Format.DXT2: b"DXT3", Format.DXT4: b"DXT5"}.get(format, format.name.encode())
    pixel_format = struct.pack("<II4s5I", 32, 4, name, 0, 0, 0, 0, 0)
    header = struct.pack("<7I44x", 124, 0x81007, height, width, len(data), 0, 0)
    dds = b"DDS " + header + pixel_format + struct.pack("<5I", 0x1000, 0, 0, 0, 0) + data
    rows: list[list[list[int]]] = np.asarray(Image.open(io.BytesIO(dds)).convert("RGBA")).tolist()
    return rows


@pytest.mark.parametrize("format", DXT)
@pytest.mark.parametrize(("width", "height"), [(64, 64), (1, 1), (5, 3), (4, 9), (13, 2)])
def test_random_blocks_decode_as_pillow_decodes_them(
    format: Format, width: int, height: int
) -> None:
    size = -(-width // 4) * -(-height // 4) * FORMATS[format].size
    data = np.random.default_rng(width).integers(0, 256, size, np.uint8).tobytes()
    assert decode(format, data, width, height).tolist() == pillow(format, data, width, height)


def wide(word: int) -> tuple[int, int, int]:
    red, green, blue = word >> 11, word >> 5 & 63, word & 31
    return red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2


def model_color(first: int, second: int, code: int, four: bool) -> tuple[int, ...]:
    a, b = wide(first), wide(second)
    if code < 2:
        return *(b if code else a), 255
    if four:
        near, far = (a, b) if code == 2 else (b, a)
        return *((2 * n + f) // 3 for n, f in zip(near, far, strict=True)), 255
    if code == 3:
        return 0, 0, 0, 0
    return *((x + y) // 2 for x, y in zip(a, b, strict=True)), 255


words = st.integers(0, 0xFFFF)


@given(words, words, st.integers(0, 2**32 - 1))
def test_dxt1_is_as_the_document_says(first: int, second: int, codes: int) -> None:
    texels = decode(Format.DXT1, struct.pack("<HHI", first, second, codes), 4, 4)
    for index in range(16):
        code = codes >> 2 * index & 3
        expected = model_color(first, second, code, first > second)
        assert tuple(texels[index // 4, index % 4]) == expected


@pytest.mark.parametrize("format", [Format.DXT2, Format.DXT3])
@given(st.integers(0, 2**64 - 1), words, words)
def test_dxt3_has_alphas_of_four_bits_and_always_four_colours(
    format: Format, alphas: int, first: int, second: int
) -> None:
    data = struct.pack("<QHHI", alphas, first, second, 0xE4E4E4E4)
    texels = decode(format, data, 4, 4)
    for index in range(16):
        *color, _ = model_color(first, second, index % 4, four=True)
        expected = (*color, (alphas >> 4 * index & 15) * 17)
        assert tuple(texels[index // 4, index % 4]) == expected


def model_alpha(first: int, second: int, code: int) -> int:
    if code < 2:
        return second if code else first
    if first > second:
        return ((8 - code) * first + (code - 1) * second) // 7
    if code < 6:
        return ((6 - code) * first + (code - 1) * second) // 5
    return 255 if code == 7 else 0


@pytest.mark.parametrize("format", [Format.DXT4, Format.DXT5])
@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 2**48 - 1))
def test_dxt5_has_interpolated_alphas(format: Format, first: int, second: int, codes: int) -> None:
    alphas = first | second << 8 | codes << 16
    texels = decode(format, struct.pack("<QHHI", alphas, 1, 2, 0), 4, 4)
    expected = [model_alpha(first, second, codes >> 3 * index & 7) for index in range(16)]
    assert texels[..., 3].reshape(-1).tolist() == expected
    assert (texels[..., :3] == wide(1)).all()


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 2**48 - 1))
def test_ati_formats_have_one_or_two_values(first: int, second: int, codes: int) -> None:
    block = struct.pack("<Q", first | second << 8 | codes << 16)
    values = [model_alpha(first, second, codes >> 3 * index & 7) for index in range(16)]
    one = decode(Format.ATI1N, block, 4, 4).reshape(-1, 4).tolist()
    assert one == [[value] * 4 for value in values]
    flat = struct.pack("<Q", 9 | 9 << 8)
    two = decode(Format.ATI2N, block + flat, 4, 4).reshape(-1, 4).tolist()
    assert two == [[9, value, 255, 255] for value in values]


def clamped(value: int) -> int:
    return min(max(value, 0), 255)


def model_yuv(y: int, u: int, v: int) -> list[int]:
    c, d, e = y - 16, u - 128, v - 128
    return [
        clamped((298 * c + 409 * e + 128) >> 8),
        clamped((298 * c - 100 * d - 208 * e + 128) >> 8),
        clamped((298 * c + 516 * d + 128) >> 8),
        255,
    ]


def model_pair(format: Format, data: bytes) -> list[list[int]]:
    a, b, c, d = data
    if format is Format.UYVY:
        return [model_yuv(b, a, c), model_yuv(d, a, c)]
    if format is Format.YUY2:
        return [model_yuv(a, b, d), model_yuv(c, b, d)]
    if format is Format.R8G8_B8G8:
        return [[b, a, d, 255], [b, c, d, 255]]
    return [[a, b, c, 255], [a, d, c, 255]]


@pytest.mark.parametrize("format", PAIRS)
@given(st.binary(min_size=4, max_size=4))
def test_pairs_share_two_components(format: Format, data: bytes) -> None:
    assert decode(format, data, 2, 1).tolist() == [model_pair(format, data)]


def test_black_and_white_of_video_are_black_and_white() -> None:
    data = bytes([16, 128, 235, 128])
    assert decode(Format.YUY2, data, 2, 1).tolist() == [[[0, 0, 0, 255], [255, 255, 255, 255]]]


@pytest.mark.parametrize("format", PAIRS)
def test_rows_of_odd_width_end_in_half_a_pair(format: Format) -> None:
    data = np.random.default_rng(1).integers(0, 256, 2 * 2 * 4, np.uint8).tobytes()
    pairs = [model_pair(format, data[at : at + 4]) for at in range(0, 16, 4)]
    expected = [(pairs[0] + pairs[1])[:3], (pairs[2] + pairs[3])[:3]]
    assert decode(format, data, 3, 2).tolist() == expected


SAME = {
    DxgiFormat.BC1_UNORM: Format.DXT1,
    DxgiFormat.BC1_UNORM_SRGB: Format.DXT1,
    DxgiFormat.BC2_UNORM: Format.DXT3,
    DxgiFormat.BC2_UNORM_SRGB: Format.DXT3,
    DxgiFormat.BC3_UNORM: Format.DXT5,
    DxgiFormat.BC3_UNORM_SRGB: Format.DXT5,
    DxgiFormat.R8G8_B8G8_UNORM: Format.G8R8_G8B8,
    DxgiFormat.G8R8_G8B8_UNORM: Format.R8G8_B8G8,
}
"""DXGI format -> format of Direct3D 9 with the same bytes (Microsoft's table of equivalents in
"Legacy Formats: Map Direct3D 9 Formats to Direct3D 10")."""


@pytest.mark.parametrize(("format", "legacy"), SAME.items())
def test_dxgi_formats_have_the_texels_of_their_direct3d_9_equivalents(
    format: DxgiFormat, legacy: Format
) -> None:
    width, height = FORMATS[legacy].block
    data = np.random.default_rng(2).integers(0, 256, 6 * FORMATS[legacy].size, np.uint8).tobytes()
    size = 3 * width, 2 * height
    assert (decode(format, data, *size) == decode(legacy, data, *size)).all()


@pytest.mark.parametrize("format", [*DXT, *PAIRS])
@pytest.mark.parametrize("change", [-1, 1])
def test_data_of_another_length_is_refused(format: Format, change: int) -> None:
    row = FORMATS[format]
    size = 2 * row.size + change
    with pytest.raises(UsageError, match=f"{size} bytes"):
        decode(format, bytes(size), row.block[0] + 1, row.block[1])


def test_nothing_is_no_picture() -> None:
    with pytest.raises(UsageError):
        decode(Format.DXT1, b"", 0, 4)


def test_formats_with_pixels_of_their_own_have_no_blocks() -> None:
    with pytest.raises(UsageError, match="D3DFMT_A8R8G8B8"):
        decode(Format.A8R8G8B8, bytes(4), 1, 1)


def test_bits_are_alphas_from_the_highest_on() -> None:
    found = decode(Format.A1, bytes([0b10010011, 0b01111111, 0, 0x80]), 9, 2)
    alphas = [[255, 0, 0, 255, 0, 0, 255, 255, 0], [0] * 8 + [255]]
    assert found.tolist() == [[[0, 0, 0, alpha] for alpha in row] for row in alphas]
