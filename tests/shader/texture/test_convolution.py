"""Convolutions of monochrome textures against the driver documentation's formula, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from dp2emu.d3d.enums import Format, TextureAddress, TextureFilter
from dp2emu.shader.ir import Lod, Stage, TextureKind
from dp2emu.shader.texture.bindings import level_rows, limits_of, numbers_of, weights_of
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import needs_detail, sampler_program
from tests.shader.texture.model import f32
from tests.shader.texture.textures import sampled

WIDTH, HEIGHT = 13, 6
MONO = TextureFilter.CONVOLUTIONMONO


def key(kernel: tuple[int, int], format: Format = Format.A1) -> SamplerKey:
    border = TextureAddress.BORDER
    return SamplerKey(
        TextureKind.TEX2D, format, (border, border, TextureAddress.WRAP), MONO, MONO, kernel=kernel
    )


def picture(random: Random) -> list[list[int]]:
    return [[random.getrandbits(1) for _ in range(WIDTH)] for _ in range(HEIGHT)]


def packed(bits: list[list[int]]) -> bytes:
    """Two bytes a row, the leftmost pixel in the highest bit."""
    rows = (sum(bit << 15 - x for x, bit in enumerate(row)) for row in bits)
    return b"".join(row.to_bytes(2, "big") for row in rows)


def model(
    bits: list[list[int]], at: tuple[float, float], rows: list[float], columns: list[float]
) -> Fraction:
    """Result = sum of (R[i] (1 - a) + R[i + 1] a) S, and the rows R[k] in the same way."""

    def corner(c: float, side: int, size: int) -> tuple[int, Fraction]:
        place = math.floor(Fraction(c) * side * 256 + Fraction(1, 2)) - 128 * size
        return place >> 8, Fraction(place & 255, 256)

    def texel(x: int, y: int) -> int:
        return bits[y][x] if 0 <= x < WIDTH and 0 <= y < HEIGHT else 0

    x, beta = corner(at[0], WIDTH, len(rows))
    y, alpha = corner(at[1], HEIGHT, len(columns))

    def row(k: int) -> Fraction:
        shared = (
            Fraction(w) * (texel(x + j, y + k) * (1 - beta) + texel(x + j + 1, y + k) * beta)
            for j, w in enumerate(rows)
        )
        return sum(shared, Fraction(0))

    mixed = (Fraction(w) * (row(i) * (1 - alpha) + row(i + 1) * alpha)
             for i, w in enumerate(columns))  # fmt: skip
    return sum(mixed, Fraction(0)) / (len(rows) * len(columns))


def convolved(
    bits: list[list[int]], at: list[tuple[float, float]], rows: list[float], columns: list[float]
) -> list[tuple[float, ...]]:
    data = packed(bits)
    files = {
        "texels": np.frombuffer(data + bytes(-len(data) % 4), np.int32),
        "levels": level_rows([(0, 2, len(data), WIDTH, HEIGHT, 1)]),
        "numbers": numbers_of(0.0, 0xFFFFFFFF),
        "limits": limits_of(1, 0),
        "palette": np.zeros(256, np.int32),
        "linear": np.zeros(0, np.float32),
        "weights": weights_of(rows, columns),
    }
    return sampled(key((len(rows), len(columns))), files, at)


def places(random: Random) -> list[tuple[float, float]]:
    """Around the texture, in steps whose products with its sides are exact."""
    around = [(random.randrange(-2400, 6400), random.randrange(-3600, 7600)) for _ in range(40)]
    return [(x / 4096, y / 4096) for x, y in (*around, (0, 0), (4096, 4096), (2048, 2048))]


@pytest.mark.parametrize("height", range(1, 8))
@pytest.mark.parametrize("width", range(1, 8))
def test_boxes_of_every_size_are_exact(width: int, height: int) -> None:
    random = Random(f"{width} {height}")
    bits, at = picture(random), places(random)
    rows, columns = [1.0] * width, [1.0] * height
    for place, found in zip(at, convolved(bits, at, rows, columns), strict=True):
        assert found == (0, 0, 0, f32(float(model(bits, place, rows, columns)))), place


def test_weights_belong_to_the_texels_of_a_row_and_to_the_rows() -> None:
    random = Random(8)
    bits, at = picture(random), places(random)
    rows, columns = [0.5, -2.0, 4.0], [1.0, 0.25, 3.0, 0.0, 8.0]
    for place, found in zip(at, convolved(bits, at, rows, columns), strict=True):
        assert found[3] == f32(float(model(bits, place, rows, columns))), place


def test_nothing_lies_beside_a_texture_whatever_the_border() -> None:
    ones = [[1] * WIDTH for _ in range(HEIGHT)]
    (outside, corner) = convolved(ones, [(3.0, 0.5), (0.0, 0.0)], [1.0] * 2, [1.0] * 2)
    assert outside == (0, 0, 0, 0)
    assert corner == (0, 0, 0, 0.25)


def test_no_level_of_detail_is_asked_for() -> None:
    assert not needs_detail(key((3, 3)))
    program = sampler_program(key((3, 3)), Lod.IMPLICIT, Stage.PIXEL)
    assert not any("dd" in name for name in map(str, program.inputs))
