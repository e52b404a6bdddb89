"""Samplers against the model in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pytest

from dp2emu.d3d.enums import Format, TextureAddress, TextureFilter
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.records import SamplerKey
from tests.shader.texture import model
from tests.shader.texture.textures import INF, NAN, Memory, memory, sampled

TEX2D, CUBE, VOLUME = TextureKind
POINT, LINEAR = TextureFilter.POINT, TextureFilter.LINEAR
NONE, ANISOTROPIC = TextureFilter.NONE, TextureFilter.ANISOTROPIC
WRAP, CLAMP = TextureAddress.WRAP, TextureAddress.CLAMP
ODD = (-0.0, 1e-9, -1e-9, 0.5, 1.0, 2.0, -1.0, -2.0, 3.0, 1e7, -1e7, 1e30, -1e30, 3e38,
       INF, -INF, NAN)  # fmt: skip
NEAR = 2e-6
"""What a handful of float32 roundings on colours of 0 to 1 can add up to."""


def key(
    kind: TextureKind = TEX2D,
    filter: TextureFilter = POINT,
    address: TextureAddress = WRAP,
    **fields: object,
) -> SamplerKey:
    found = {"mag": filter, "min": filter, **fields}
    return SamplerKey(kind, Format.A8R8G8B8, (address,) * 3, **found)  # type: ignore[arg-type]


def places(random: Random, axes: int, count: int = 60) -> list[tuple[float, ...]]:
    """Coordinates around a texture, with some that no texture has."""
    odd = [tuple(random.choice(ODD) for _ in range(axes)) for _ in range(count // 3)]
    near = [tuple(model.f32(random.uniform(-2.5, 3.5)) for _ in range(axes)) for _ in range(count)]
    return odd + near


def directions(random: Random, count: int = 60) -> list[tuple[float, ...]]:
    """The same for cubes, with ties; a direction that is no number hits any face."""
    ties = [tuple(random.choice((-1.0, 0.0, 0.5, 1.0)) for _ in range(3)) for _ in range(count)]
    found = [*places(random, 3, count), *ties]
    return [place for place in found if not any(map(math.isnan, place))]


def check(
    sampler: SamplerKey,
    texture: Memory,
    at: Sequence[Sequence[float]],
    levels: Sequence[float] | None = None,
    error: float = 0.0,
) -> None:
    """The program and the model agree at every place, with a level of detail given."""
    levels = levels or [0.0] * len(at)
    found = sampled(sampler, texture.files, at, lod=[[level] for level in levels])
    for place, level, color in zip(at, levels, found, strict=True):
        steps = model.level_steps(texture.texture, level)
        wanted = model.sample(texture.texture, sampler, place, steps)
        assert color == pytest.approx(wanted, abs=error, nan_ok=True), (place, level)


SHAPES = [
    (TEX2D, (8, 4)),
    (TEX2D, (5, 7)),
    (TEX2D, (1, 1)),
    (TEX2D, (2, 3)),
    (VOLUME, (4, 3, 5)),
    (VOLUME, (2, 1, 1)),
]


@pytest.mark.parametrize("address", TextureAddress)
@pytest.mark.parametrize(("kind", "sides"), SHAPES)
def test_points_of_every_address_mode(
    kind: TextureKind, sides: tuple[int, ...], address: TextureAddress
) -> None:
    random = Random(f"{kind}{sides}{address}")
    check(key(kind, POINT, address), memory(random, kind, sides), places(random, len(sides)))


@pytest.mark.parametrize("address", TextureAddress)
@pytest.mark.parametrize(("kind", "sides"), SHAPES)
def test_linear_filters_of_every_address_mode(
    kind: TextureKind, sides: tuple[int, ...], address: TextureAddress
) -> None:
    random = Random(f"linear {kind}{sides}{address}")
    texture = memory(random, kind, sides)
    check(key(kind, LINEAR, address), texture, places(random, len(sides)), error=NEAR)


@pytest.mark.parametrize("filter", TextureFilter)
@pytest.mark.parametrize("address", TextureAddress)
def test_every_filter_at_every_edge(filter: TextureFilter, address: TextureAddress) -> None:
    random = Random(f"{filter}{address}")
    for sides in ((6, 5), (2, 1)):
        texture = memory(random, TEX2D, sides)
        check(key(TEX2D, filter, address), texture, places(random, 2), error=8 * NEAR)


def test_axes_have_modes_of_their_own() -> None:
    random = Random(5)
    modes = (WRAP, TextureAddress.BORDER, TextureAddress.MIRRORONCE)
    sampler = SamplerKey(VOLUME, Format.A8R8G8B8, modes)
    check(sampler, memory(random, VOLUME, (3, 4, 5)), places(random, 3))


def test_a_linear_filter_between_equal_texels_changes_nothing() -> None:
    texture = memory(Random(1), TEX2D, (1, 1))
    (color,) = sampled(key(TEX2D, LINEAR), texture.files, [(0.3, 0.8)])
    assert color == texture.texture.images[0][0].texels[0, 0]


LEVELS = (-INF, -3.0, -0.001, 0.0, 0.001, 0.25, 0.498, 0.499, 0.5, 1.0, 1.3, 1.5, 2.75, 9.0,
          INF, NAN)  # fmt: skip


@pytest.mark.parametrize("kind", TextureKind)
@pytest.mark.parametrize("mip", [NONE, POINT, LINEAR])
@pytest.mark.parametrize("filters", [(POINT, POINT), (LINEAR, LINEAR), (POINT, LINEAR)])
def test_mip_filters(
    kind: TextureKind, mip: TextureFilter, filters: tuple[TextureFilter, TextureFilter]
) -> None:
    random = Random(f"{kind}{mip}{filters}")
    sides = {TEX2D: (8, 4), CUBE: (8, 8), VOLUME: (4, 2, 8)}[kind]
    mag, min = filters
    sampler = key(kind, mag=mag, min=min, mip=mip, levels=True)
    for first, bias in ((0, 0.0), (1, 0.5), (7, -1.25)):
        texture = memory(random, kind, sides, levels=3, bias=bias, first=first)
        at = directions(random) if kind is CUBE else places(random, kind.coordinates)
        check(sampler, texture, at, [LEVELS[i % len(LEVELS)] for i in range(len(at))], 3 * NEAR)
