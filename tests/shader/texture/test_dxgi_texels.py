"""Texels of the formats that only Direct3D 10 has, against models in fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from dp2emu.d3d.dxgi import DXGI, ROWS, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import Channel, Coding
from dp2emu.shader.ir import Stage, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.texture.bindings import (
    level_rows,
    limits_of,
    linear_light,
    sampler_numbers,
    weights_of,
)
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.resource_reads import load_program
from tests.gpu.resource.test_pixel_format import small_float

F = DxgiFormat
Color = tuple[float, ...]


def loaded(format: DxgiFormat | Format, block: bytes, srgb: bool = False) -> list[Color]:
    """All texels of a block, row by row."""
    row = ROWS[format]
    width, height = row.block
    words = np.frombuffer(block + bytes(-len(block) % 4), "<i4")
    files = {
        "texels": words,
        "levels": level_rows([(0, row.size, row.size, width, height, 1)]),
        "numbers": sampler_numbers(0.0, (0.0,) * 4),
        "limits": limits_of(1, 0),
        "palette": np.zeros(256, np.int32),
        "linear": linear_light(),
        "weights": weights_of(),
    }
    lanes = width * height
    inputs = {
        "number.x": np.arange(lanes, dtype=np.int32) % width,
        "number.y": np.arange(lanes, dtype=np.int32) // width,
        "level.x": np.zeros(1, np.int32),
    }
    program = load_program(SamplerKey(TextureKind.TEX2D, format, srgb=srgb), Stage.VERTEX)
    outputs = run(program, inputs, files, lanes).outputs
    columns = [outputs[f"word.{c}"].view(np.float32).tolist() for c in "xyzw"]
    return list(zip(*columns, strict=True))


def rounded(value: Fraction) -> float:
    """The nearest float32; the fractions here are never halfway between two."""
    near = np.float32(float(value))
    beside = (np.nextafter(near, np.float32(-9)), near, np.nextafter(near, np.float32(9)))
    return float(min(beside, key=lambda each: abs(Fraction(float(each)) - value)))


def ramp(block: bytes, texel: int, signed: bool) -> Fraction:
    """BC4, as its documentation has it."""
    codes = int.from_bytes(block[2:8], "little")
    code = codes >> 3 * texel & 7
    most = 127 if signed else 255
    first, second = (b - (b >> 7 << 8) if signed else b for b in block[:2])
    longer = first > second
    low, high = Fraction(-1 if signed else 0), Fraction(1)
    e0, e1 = (max(Fraction(e, most), low) for e in (first, second))
    if code < 2:
        return (e0, e1)[code]
    if longer:
        return ((8 - code) * e0 + (code - 1) * e1) / 7
    if code > 5:
        return low if code == 6 else high
    return ((6 - code) * e0 + (code - 1) * e1) / 5


def blocks(size: int) -> list[bytes]:
    random = Random(size)
    ends = [(3, 200), (200, 3), (7, 7), (0x80, 0x81), (0x81, 0x80), (0x7F, 0x80)]
    return [bytes(pair) + random.randbytes(size - 2) for pair in ends] + [
        random.randbytes(size) for _ in range(6)
    ]


@pytest.mark.parametrize(("format", "signed"), [(F.BC4_UNORM, False), (F.BC4_SNORM, True)])
def test_bc4_is_a_ramp_of_reds(format: DxgiFormat, signed: bool) -> None:
    for block in blocks(8):
        wanted = [(rounded(ramp(block, n, signed)), 0.0, 0.0, 1.0) for n in range(16)]
        assert loaded(format, block) == wanted


@pytest.mark.parametrize(("format", "signed"), [(F.BC5_UNORM, False), (F.BC5_SNORM, True)])
def test_bc5_has_a_ramp_of_greens_as_well(format: DxgiFormat, signed: bool) -> None:
    for red, green in zip(blocks(8), reversed(blocks(8)), strict=True):
        wanted = [
            (rounded(ramp(red, n, signed)), rounded(ramp(green, n, signed)), 0.0, 1.0)
            for n in range(16)
        ]
        assert loaded(format, red + green) == wanted


@pytest.mark.parametrize(
    ("format", "like"),
    [(F.BC1_UNORM, Format.DXT1), (F.BC2_UNORM, Format.DXT3), (F.BC3_UNORM, Format.DXT5)],
)
def test_bc1_to_bc3_are_those_of_direct3d_9(format: DxgiFormat, like: Format) -> None:
    for block in blocks(ROWS[format].size):
        assert loaded(format, block) == loaded(like, block)


def test_srgb_blocks_are_in_linear_light() -> None:
    block = blocks(8)[0]
    wanted = [
        (*(float(linear_light()[round(c * 255)]) for c in color[:3]), color[3])
        for color in loaded(F.BC1_UNORM, block)
    ]
    assert loaded(F.BC1_UNORM_SRGB, block, srgb=True) == wanted


def test_three_mantissas_share_an_exponent() -> None:
    random = Random(9)
    for _ in range(40):
        word = random.getrandbits(32)
        scale = Fraction(2) ** ((word >> 27) - 24)
        wanted = (*(float((word >> 9 * n & 511) * scale) for n in range(3)), 1.0)
        assert loaded(F.R9G9B9E5_SHAREDEXP, word.to_bytes(4, "little")) == [wanted]


@pytest.mark.parametrize(
    ("format", "greens"), [(F.R8G8_B8G8_UNORM, (1, 3)), (F.G8R8_G8B8_UNORM, (0, 2))]
)
def test_pairs_share_red_and_blue(format: DxgiFormat, greens: tuple[int, int]) -> None:
    block = bytes((10, 20, 30, 40))
    red, blue = (block[n] for n in range(4) if n not in greens)
    values = [(red, block[g], blue, 255) for g in greens]
    wanted = [tuple(float(np.float32(v) / np.float32(255)) for v in color) for color in values]
    assert loaded(format, block) == wanted


def test_the_leftmost_of_eight_bits_is_the_highest() -> None:
    found = loaded(F.R1_UNORM, bytes((0b10110001,)))
    assert found == [(float(bit), 0.0, 0.0, 1.0) for bit in (1, 0, 1, 1, 0, 0, 0, 1)]


PLAIN = [
    format
    for format, row in DXGI.items()
    if row.support & Support.TEXTURE and row.texels.channels and not row.integers
]


def value_of(channel: Channel, word: int) -> float:
    field = word >> channel.shift & channel.max
    signed = field - (field >> channel.bits - 1 << channel.bits)
    if channel.coding is Coding.UNORM:
        return float(np.float32(field) / np.float32(channel.max))
    if channel.coding is Coding.SNORM:
        return float(max(np.float32(signed) / np.float32(channel.max >> 1), np.float32(-1)))
    if channel.bits == 32:
        return float(np.array(field, np.uint32).view(np.float32))
    mantissa = {16: 10, 11: 6, 10: 5}[channel.bits]
    if field >> mantissa & 31 == 31:
        sign = -1 if channel.bits == 16 and field >> 15 else 1
        return math.nan if field & (1 << mantissa) - 1 else sign * math.inf
    return float(small_float(field, mantissa, channel.bits == 16))


@pytest.mark.parametrize("format", PLAIN)
def test_every_channel_is_read_as_the_row_says(format: DxgiFormat) -> None:
    row, random = ROWS[format], Random(format.value)
    for _ in range(12):
        block = random.randbytes(row.size)
        word = int.from_bytes(block, "little")
        wanted = [
            value_of(row.channels[n], word) if n in row.channels else missing
            for n, missing in zip("rgba", (0.0, 0.0, 0.0, 1.0), strict=True)
        ]
        (found,) = loaded(format, block)
        assert np.array_equal(np.float32(found), np.float32(wanted), equal_nan=True)
