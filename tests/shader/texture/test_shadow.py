"""Textures of depths, which compare instead of being read."""

from __future__ import annotations

import math
import struct
from random import Random

import numpy as np
import pytest

from dp2emu.d3d.enums import Format, TextureAddress, TextureFilter
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
from tests.shader.texture.model import Color, fixed, folded
from tests.shader.texture.textures import sampled

SHADOW = TextureKind.SHADOW
DEPTHS = {
    Format.D16: (2, 0, 16),
    Format.D16_LOCKABLE: (2, 0, 16),
    Format.D15S1: (2, 1, 15),
    Format.D24S8: (4, 8, 24),
    Format.D24X8: (4, 8, 24),
    Format.D24X4S4: (4, 8, 24),
    Format.D32: (4, 0, 32),
    Format.D32_LOCKABLE: (4, 0, 32),
}
"""Bytes, and where a depth of how many bits lies in them."""
FLOATS = {Format.D32F_LOCKABLE, Format.D24FS8}
WIDTH, HEIGHT = 5, 4


def lit(
    key: SamplerKey, data: bytes, at: list[tuple[float, float, float]], border: int = 0
) -> list[Color]:
    files = {
        "texels": np.frombuffer(data, np.int32),
        "levels": level_rows([(0, len(data) // HEIGHT, len(data), WIDTH, HEIGHT, 1)]),
        "numbers": numbers_of(0.0, border),
        "limits": limits_of(1, 0),
        "palette": np.zeros(256, np.int32),
        "linear": srgb_to_linear_table(),
        "weights": weights_of(),
    }
    return sampled(key, files, at)


def centres(depths: list[float]) -> list[tuple[float, float, float]]:
    places = [((x + 0.5) / WIDTH, (y + 0.5) / HEIGHT) for y in range(HEIGHT) for x in range(WIDTH)]
    return [(*place, depth) for place, depth in zip(places, depths, strict=True)]


@pytest.mark.parametrize("format", DEPTHS)
def test_what_is_no_farther_than_the_depth_is_lit(format: Format) -> None:
    size, shift, bits = DEPTHS[format]
    random = Random(format.name)
    codes = [random.getrandbits(bits) for _ in range(WIDTH * HEIGHT)]
    words = [code << shift | random.getrandbits(shift) for code in codes]
    data = b"".join(word.to_bytes(size, "little") for word in words)
    exact = [float(np.float32(np.float32(code) / np.float32(2**bits - 1))) for code in codes]
    nearer, farther = ([float(np.nextafter(np.float32(z), np.float32(to))) for z in exact]
                       for to in (-1, 2))  # fmt: skip
    key = SamplerKey(SHADOW, format)
    assert lit(key, data, centres(exact)) == [(1.0,) * 4] * 20
    assert lit(key, data, centres(nearer)) == [(1.0,) * 4] * 20
    assert lit(key, data, centres(farther)) == [(0.0,) * 4] * 20


def test_depths_may_be_floats() -> None:
    values = [0.125 * i for i in range(8)] + [0.75] * 12
    data = struct.pack("<20f", *values)
    found = lit(SamplerKey(SHADOW, Format.D32F_LOCKABLE), data, centres([0.5] * 20))
    assert found == [(float(value >= 0.5),) * 4 for value in values]
    # Exponent 14 is 1/2: 4 bits above 20 of mantissa, in the upper 24 bits.
    words = [(14 << 20 | 1 << 19) << 8 | 0xFF, 14 << 28, (13 << 20 | 0xFFFFF) << 8] + [0] * 17
    found = lit(SamplerKey(SHADOW, Format.D24FS8), struct.pack("<20I", *words),
                centres([0.75, 0.5, 0.5] + [0.0] * 17))  # fmt: skip
    assert [color[0] for color in found[:4]] == [1.0, 1.0, 0.0, 1.0]


def test_every_depth_format_that_compares_is_tested_here() -> None:
    assert DEPTHS.keys() | FLOATS == {f for f, row in FORMATS.items() if Use.SHADOW in row.uses}


@pytest.mark.parametrize(("reference", "light"), [(1.5, 1.0), (math.inf, 1.0), (math.nan, 1.0)])
def test_references_are_clamped_to_the_range_of_depths(reference: float, light: float) -> None:
    found = lit(SamplerKey(SHADOW, Format.D16), b"\xff" * 40, centres([reference] * 20))
    assert found == [(light,) * 4] * 20


def test_a_linear_filter_weighs_comparisons_not_depths() -> None:
    random = Random(8)
    codes = [random.randrange(1 << 16) for _ in range(WIDTH * HEIGHT)]
    key = SamplerKey(SHADOW, Format.D16, mag=TextureFilter.LINEAR, min=TextureFilter.LINEAR)
    wrap = TextureAddress.WRAP
    at = [(random.uniform(-1, 2), random.uniform(-1, 2), random.random()) for _ in range(50)]
    at = [tuple(float(np.float32(c)) for c in place) for place in at]  # type: ignore[misc]
    found = lit(key, struct.pack("<20H", *codes), at)
    for (u, v, z), color in zip(at, found, strict=True):
        across, below = fixed(wrap, u, WIDTH, centred=True), fixed(wrap, v, HEIGHT, centred=True)
        share = 0.0
        for i, column in enumerate((1 - across % 256 / 256, across % 256 / 256)):
            for j, row in enumerate((1 - below % 256 / 256, below % 256 / 256)):
                x = folded(wrap, across // 256 + i, WIDTH) or 0
                y = folded(wrap, below // 256 + j, HEIGHT) or 0
                share += column * row * (z <= codes[y * WIDTH + x] / 65535)
        assert color == pytest.approx((share,) * 4, abs=1e-6)


def test_outside_the_border_red_is_the_depth() -> None:
    border = (TextureAddress.BORDER,) * 3
    key = SamplerKey(SHADOW, Format.D16, border)
    at = [(-0.5, 0.5, z) for z in (0.2, 0.5)]
    assert lit(key, bytes(40), at, border=0x00553399) == [(1.0,) * 4, (0.0,) * 4]


@pytest.mark.parametrize(
    ("kind", "format"),
    [(TextureKind.TEX2D, Format.D24S8), (TextureKind.CUBE, Format.D16), (SHADOW, Format.L16)],
)
def test_depths_are_compared_in_two_dimensions_only(kind: TextureKind, format: Format) -> None:
    with pytest.raises(Unsupported, match=format.sdk):
        sampler_program(SamplerKey(kind, format), Lod.IMPLICIT, Stage.PIXEL)
