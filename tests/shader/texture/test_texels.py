"""Every texture format, against its layout written out and plain Python."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from dp2emu.d3d.enums import Format, TextureFilter
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.errors import Unsupported
from dp2emu.shader.ir import Lod, Stage, TextureKind
from dp2emu.shader.texture.bindings import (
    level_rows,
    limits_of,
    numbers_of,
    srgb_to_linear_table,
    weights_of,
)
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import sampler_program
from dp2emu.shader.texture.texels import decode
from tests.shader.texture.model import Color, f32
from tests.shader.texture.textures import sampled

LAYOUTS = {
    Format.R8G8B8: (24, "r 16 8 n, g 8 8 n, b 0 8 n"),
    Format.A8R8G8B8: (32, "r 16 8 n, g 8 8 n, b 0 8 n, a 24 8 n"),
    Format.X8R8G8B8: (32, "r 16 8 n, g 8 8 n, b 0 8 n"),
    Format.R5G6B5: (16, "r 11 5 n, g 5 6 n, b 0 5 n"),
    Format.X1R5G5B5: (16, "r 10 5 n, g 5 5 n, b 0 5 n"),
    Format.A1R5G5B5: (16, "r 10 5 n, g 5 5 n, b 0 5 n, a 15 1 n"),
    Format.A4R4G4B4: (16, "r 8 4 n, g 4 4 n, b 0 4 n, a 12 4 n"),
    Format.X4R4G4B4: (16, "r 8 4 n, g 4 4 n, b 0 4 n"),
    Format.R3G3B2: (8, "r 5 3 n, g 2 3 n, b 0 2 n"),
    Format.A8: (8, "r 0 0 0, g 0 0 0, b 0 0 0, a 0 8 n"),
    Format.A8R3G3B2: (16, "r 5 3 n, g 2 3 n, b 0 2 n, a 8 8 n"),
    Format.A2B10G10R10: (32, "r 0 10 n, g 10 10 n, b 20 10 n, a 30 2 n"),
    Format.A8B8G8R8: (32, "r 0 8 n, g 8 8 n, b 16 8 n, a 24 8 n"),
    Format.X8B8G8R8: (32, "r 0 8 n, g 8 8 n, b 16 8 n"),
    Format.G16R16: (32, "r 0 16 n, g 16 16 n"),
    Format.A2R10G10B10: (32, "r 20 10 n, g 10 10 n, b 0 10 n, a 30 2 n"),
    Format.A16B16G16R16: (64, "r 0 16 n, g 16 16 n, b 32 16 n, a 48 16 n"),
    Format.L8: (8, "r 0 8 n, g 0 8 n, b 0 8 n"),
    Format.A8L8: (16, "r 0 8 n, g 0 8 n, b 0 8 n, a 8 8 n"),
    Format.A4L4: (8, "r 0 4 n, g 0 4 n, b 0 4 n, a 4 4 n"),
    Format.INTZ: (32, "r 8 24 n, g 8 24 n, b 8 24 n, a 8 24 n"),
    Format.DF16: (16, "r 0 16 n, g 0 16 n, b 0 16 n, a 0 16 n"),
    Format.DF24: (32, "r 8 24 n, g 8 24 n, b 8 24 n, a 8 24 n"),
    Format.L16: (16, "r 0 16 n, g 0 16 n, b 0 16 n"),
    Format.V8U8: (16, "r 0 8 s, g 8 8 s"),
    Format.L6V5U5: (16, "r 0 5 s, g 5 5 s, b 10 6 n"),
    Format.X8L8V8U8: (32, "r 0 8 s, g 8 8 s, b 16 8 n"),
    Format.Q8W8V8U8: (32, "r 0 8 s, g 8 8 s, b 16 8 s, a 24 8 s"),
    Format.V16U16: (32, "r 0 16 s, g 16 16 s"),
    Format.A2W10V10U10: (32, "r 0 10 s, g 10 10 s, b 20 10 s, a 30 2 n"),
    Format.Q16W16V16U16: (64, "r 0 16 s, g 16 16 s, b 32 16 s, a 48 16 s"),
    Format.R16F: (16, "r 0 16 f"),
    Format.G16R16F: (32, "r 0 16 f, g 16 16 f"),
    Format.A16B16G16R16F: (64, "r 0 16 f, g 16 16 f, b 32 16 f, a 48 16 f"),
    Format.R32F: (32, "r 0 32 f"),
    Format.G32R32F: (64, "r 0 32 f, g 32 32 f"),
    Format.A32B32G32R32F: (128, "r 0 32 f, g 32 32 f, b 64 32 f, a 96 32 f"),
}
"""Bits of a texel, and of each lane where it lies and how it is coded; lanes left out are 1."""

BLOCKS = [format for format, row in FORMATS.items() if row.blocked and Use.TEXTURE in row.uses]
OTHERS = {Format.CxV8U8, Format.P8, Format.A8P8}
WIDTH, HEIGHT = 11, 6
PALETTE = np.random.default_rng(3).integers(0, 2**32, 256, np.uint32)


def number(word: int, shift: int, bits: int, coding: str) -> float:
    code = word >> shift & (1 << bits) - 1
    if coding == "0":
        return 0.0
    if coding == "f":
        raw = code.to_bytes(bits // 8, "little")
        return float(struct.unpack("<e" if bits == 16 else "<f", raw)[0])
    if coding == "s":
        signed = code - (1 << bits) if code >> bits - 1 else code
        return max(f32(float(Fraction(signed, (1 << bits - 1) - 1))), -1.0)
    return f32(float(Fraction(code, (1 << bits) - 1)))


def wanted(format: Format, word: int) -> Color:
    lanes = dict.fromkeys("rgba", 1.0)
    for lane in LAYOUTS[format][1].split(", "):
        name, shift, bits, coding = lane.split()
        lanes[name] = number(word, int(shift), int(bits), coding)
    return tuple(lanes.values())


def texels(
    format: Format,
    data: bytes,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    keyed: tuple[int, int] | None = None,
    **fields: object,
) -> list[Color]:
    """Every texel of a level in the order of reading; ``keyed`` is a colour key's range."""
    width, height = size
    row = FORMATS[format]
    pitch = -(-width // row.block[0]) * row.size
    words = np.frombuffer(data + bytes(-len(data) % 4), np.int32)
    files = {
        "texels": words,
        "levels": level_rows([(0, pitch, len(data), width, height, 1)]),
        "numbers": numbers_of(0.0, 0),
        "limits": limits_of(1, 0, keyed or (0, 0)),
        "palette": PALETTE.view(np.int32),
        "linear": srgb_to_linear_table(),
        "weights": weights_of(),
    }
    at = [((x + 0.5) / width, (y + 0.5) / height) for y in range(height) for x in range(width)]
    fields["color_key"] = keyed is not None
    key = SamplerKey(TextureKind.TEX2D, format, **fields)  # type: ignore[arg-type]
    return sampled(key, files, at)


def same(found: Color, expected: Color) -> bool:
    return all(
        x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(found, expected, strict=True)
    )


def random_bytes(format: Format, count: int) -> bytes:
    return Random(format.name).randbytes(count)


def level(format: Format) -> bytes:
    """Random texels of a level."""
    row = FORMATS[format]
    blocks = -(-WIDTH // row.block[0]) * -(-HEIGHT // row.block[1])
    return random_bytes(format, blocks * row.size)


@pytest.mark.parametrize("format", LAYOUTS)
def test_channels_lie_and_are_coded_as_the_format_is_named(format: Format) -> None:
    size = LAYOUTS[format][0] // 8
    data = random_bytes(format, WIDTH * HEIGHT * size)
    # The ends of every range, and for floats infinity and no number.
    data = bytes(size) + b"\xff" * size + b"\0\x7c" * size + b"\0\x80" * size + data
    data = data[: WIDTH * HEIGHT * size]
    words = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
    for word, found in zip(words, texels(format, data), strict=True):
        assert same(found, wanted(format, word)), hex(word)


@pytest.mark.parametrize("format", [f for f, (bits, _) in LAYOUTS.items() if bits == 8])
def test_all_values_of_one_byte(format: Format) -> None:
    found = texels(format, bytes(range(256)), (16, 16))
    assert found == [wanted(format, byte) for byte in range(256)]


@pytest.mark.parametrize("format", BLOCKS)
@pytest.mark.parametrize("size", [(WIDTH, HEIGHT), (1, 1), (16, 12)])
def test_blocks_decode_to_the_bytes_that_copies_of_them_do(
    format: Format, size: tuple[int, int]
) -> None:
    row, (width, height) = FORMATS[format], size
    blocks = -(-width // row.block[0]) * -(-height // row.block[1])
    data = random_bytes(format, blocks * row.size)
    bytes_ = decode(format, data, width, height).reshape(-1, 4).tolist()
    assert texels(format, data, size) == [tuple(f32(b / 255) for b in texel) for texel in bytes_]


def test_a_unit_vector_has_its_third_component_computed() -> None:
    found = texels(Format.CxV8U8, bytes([0, 0, 127, 0, 90, 0xA0, 127, 127]), (4, 1))
    assert found[:2] == [(0.0, 0.0, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0)]
    x, y, z, _ = found[2]
    assert (x, y) == (f32(90 / 127), f32(-96 / 127))
    assert z == pytest.approx(math.sqrt(max(1 - x * x - y * y, 0)), abs=1e-6)
    assert found[3][2] == 0.0


def palette(index: int) -> Color:
    word = int(PALETTE[index])
    return tuple(f32((word >> shift & 255) / 255) for shift in (16, 8, 0, 24))


def test_palettes_are_looked_up_before_filtering() -> None:
    everything = bytes(range(256))
    opaque = [(*palette(i)[:3], 1.0) for i in range(256)]
    assert texels(Format.P8, everything, (16, 16)) == opaque
    found = texels(Format.P8, everything, (16, 16), alpha_palette=True)
    assert found == [palette(i) for i in range(256)]
    pairs = bytes([7, 200, 90, 0, 250, 255])
    found = texels(Format.A8P8, pairs, (3, 1))
    assert found == [(*palette(i)[:3], f32(a / 255)) for i, a in ((7, 200), (90, 0), (250, 255))]
    linear = {"mag": TextureFilter.LINEAR, "min": TextureFilter.LINEAR}
    (half,) = texels(Format.P8, bytes([5, 6]), (2, 1), **linear)[:1]
    assert half[:3] == palette(5)[:3]


def test_every_format_that_can_be_sampled_is_tested_here() -> None:
    plain = {f for f, row in FORMATS.items() if Use.TEXTURE in row.uses}
    depth = {f for f, row in FORMATS.items() if Use.SHADOW in row.uses}
    assert plain - depth == LAYOUTS.keys() | set(BLOCKS) | OTHERS


@pytest.mark.parametrize("format", [Format.UNKNOWN, Format.S8_LOCKABLE])
def test_other_formats_are_refused_by_name(format: Format) -> None:
    key = SamplerKey(TextureKind.TEX2D, format)
    with pytest.raises(Unsupported, match=format.sdk):
        sampler_program(key, Lod.IMPLICIT, Stage.PIXEL)


def in_linear_light(c: float) -> float:
    """Of an 8-bit code, which ``c`` is or is rounded to."""
    c = math.floor(c * 255 + 0.5) / 255
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


@pytest.mark.parametrize(
    "format",
    [Format.A8R8G8B8, Format.A8L8, Format.R5G6B5, Format.DXT1, Format.DXT5, Format.A8P8,
     Format.G8R8_G8B8],
)  # fmt: skip
def test_srgb_colours_become_linear_and_alpha_stays(format: Format) -> None:
    data = level(format)
    for stored, found in zip(texels(format, data), texels(format, data, srgb=True), strict=True):
        assert found[3] == stored[3]
        for channel, light in zip(stored[:3], found[:3], strict=True):
            assert light == pytest.approx(in_linear_light(channel), rel=1e-6)


def test_what_is_linear_already_stays_so_with_srgb() -> None:
    for format in (Format.A16B16G16R16, Format.A2R10G10B10, Format.V8U8, Format.R32F, Format.UYVY):
        data = level(format)
        pairs = zip(texels(format, data), texels(format, data, srgb=True), strict=True)
        assert all(same(found, stored) for stored, found in pairs)


def test_the_table_of_linear_light_is_correctly_rounded() -> None:
    table = srgb_to_linear_table()
    assert table[0] == 0.0
    assert table[255] == 1.0
    for code, light in enumerate(table.tolist()):
        assert light == f32(in_linear_light(code / 255))


def test_texels_in_the_range_of_the_colour_key_are_transparent_black() -> None:
    words = [0x7BFF, 0x7C00, 0x7C01, 0x7C02, 0x7C03, 0xFFFF]
    data = b"".join(word.to_bytes(2, "little") for word in words)
    for format in (Format.X1R5G5B5, Format.R5G6B5):
        plain = texels(format, data, (6, 1))
        keyed = texels(format, data, (6, 1), keyed=(0x7C00, 0x7C02))
        assert keyed == [plain[0], *[(0.0,) * 4] * 3, *plain[4:]]
    wide = b"\1" * 4 + b"\xff" * 4
    found = texels(Format.A8R8G8B8, wide, (2, 1), keyed=(0xFFFFFFFF, 0xFFFFFFFF))
    assert found == [(f32(1 / 255),) * 4, (0.0,) * 4]
