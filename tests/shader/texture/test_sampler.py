"""Samplers against the model in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format, TextureAddress, TextureFilter
from dp2emu.d3d.formats import FORMATS, Coding, Use
from dp2emu.shader.ir import Derivative, Lod, Stage, TextureKind, walk
from dp2emu.shader.text import dump
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import needs_detail, sampler_program
from tests.shader.parsing import parse
from tests.shader.texture import model
from tests.shader.texture.textures import INF, NAN, Memory, memory, sampled

TEX2D, CUBE, VOLUME = KINDS = (TextureKind.TEX2D, TextureKind.CUBE, TextureKind.VOLUME)
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


@pytest.mark.parametrize("filter", model.FILTERS)
@pytest.mark.parametrize("address", TextureAddress)
def test_every_filter_at_every_edge(filter: TextureFilter, address: TextureAddress) -> None:
    random = Random(f"{filter}{address}")
    for sides in ((6, 5), (2, 1)):
        texture = memory(random, TEX2D, sides)
        check(key(TEX2D, filter, address), texture, places(random, 2), error=8 * NEAR)


@pytest.mark.parametrize("filter", [TextureFilter.FLATCUBIC, TextureFilter.GAUSSIANCUBIC])
def test_cubic_filters_are_linear_in_volumes(filter: TextureFilter) -> None:
    cubic, linear = (sampler_program(key(VOLUME, f), Lod.IMPLICIT, Stage.PIXEL)
                     for f in (filter, LINEAR))  # fmt: skip
    assert cubic == linear


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


@pytest.mark.parametrize("kind", KINDS)
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


def changes(random: Random, axes: int) -> tuple[model.Vector, model.Vector]:
    """Two steps from a thousandth of a texture to four."""
    right, down = (
        tuple(model.f32(random.choice((-1, 1)) * 2 ** random.uniform(-10, 2)) for _ in range(axes))
        for _ in range(2)
    )
    return right, down


def is_one_of(color: model.Color, wanted: Sequence[model.Color], error: float) -> bool:
    return any(color == pytest.approx(each, abs=error) for each in wanted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mip", [POINT, LINEAR])
def test_the_level_of_a_gradient_is_the_logarithm_of_the_longer_step(
    kind: TextureKind, mip: TextureFilter
) -> None:
    random = Random(f"{kind}{mip}")
    sides = {TEX2D: (64, 16), CUBE: (32, 32), VOLUME: (8, 4, 16)}[kind]
    texture = memory(random, kind, sides, levels=4, bias=0.5)
    sampler = key(kind, mip=mip, levels=True)
    at = [tuple(model.f32(random.uniform(-1, 1)) for _ in range(kind.coordinates))
          for _ in range(200)]  # fmt: skip
    steps = [changes(random, kind.coordinates) for _ in at]
    right, down = zip(*steps, strict=True)
    found = sampled(sampler, texture.files, at, Lod.GRADIENT, ddx=right, ddy=down)
    for place, change, color in zip(at, steps, found, strict=True):
        on_face = model.slopes(place, *change) if kind is CUBE else change
        longer = max(model.footprint(texture.texture.images[0][0], *on_face))
        level = model.level_steps(texture.texture, model.level_of(longer))
        near = [model.sample(texture.texture, sampler, place, level + s) for s in (-1, 0, 1)]
        assert is_one_of(color, near, NEAR), (place, change)


def quads(random: Random, count: int) -> list[tuple[float, float]]:
    """Coordinates of pixels, four for each quad, which differ by the same steps."""
    found = []
    for _ in range(count):
        u, v = random.uniform(-1, 1), random.uniform(-1, 1)
        (ax, ay), (bx, by) = changes(random, 2)
        found += [(u, v), (u + ax, v + ay), (u + bx, v + by), (u + ax + bx, v + ay + by)]
    return [(model.f32(u), model.f32(v)) for u, v in found]


def difference(x: model.Vector, y: model.Vector) -> model.Vector:
    return tuple(model.f32(a - b) for a, b in zip(x, y, strict=True))


@pytest.mark.parametrize("by", [Lod.IMPLICIT, Lod.BIAS])
def test_the_gradient_is_the_difference_of_neighbours(by: Lod) -> None:
    random = Random(by.value)
    texture = memory(random, TEX2D, (64, 16), levels=5)
    sampler = key(mip=POINT, levels=True)
    at = quads(random, 50)
    arguments = {"lod": [[0.75]] * len(at)} if by is Lod.BIAS else {}
    found = sampled(sampler, texture.files, at, by, **arguments)
    for lane, color in enumerate(found):
        first = lane & ~3
        row, column = lane & 2, lane & 1
        right = difference(at[first + row + 1], at[first + row])
        down = difference(at[first + column + 2], at[first + column])
        longer = max(model.footprint(texture.texture.images[0][0], right, down))
        extra = 0.75 if by is Lod.BIAS else 0.0
        level = model.level_steps(texture.texture, model.level_of(longer), extra)
        near = [model.sample(texture.texture, sampler, at[lane], level + s) for s in (-1, 0, 1)]
        assert is_one_of(color, near, 0.0), lane


@pytest.mark.parametrize("most", [2, 3, 16])
@pytest.mark.parametrize("kind", [TEX2D, VOLUME])
def test_anisotropic_probes_stand_along_the_longer_step(kind: TextureKind, most: int) -> None:
    random = Random(most)
    sides = (16, 64) if kind is TEX2D else (16, 8, 32)
    texture = memory(random, kind, sides, levels=4, bias=0.25)
    sampler = key(kind, LINEAR, min=ANISOTROPIC, mip=LINEAR, levels=True, anisotropy=most)
    at = [tuple(model.f32(random.uniform(0, 1)) for _ in sides) for _ in range(150)]
    steps = [changes(random, len(sides)) for _ in at]
    right, down = zip(*steps, strict=True)
    found = sampled(sampler, texture.files, at, Lod.GRADIENT, ddx=right, ddy=down)
    counts = set()
    for place, change, color in zip(at, steps, found, strict=True):
        longer = max(model.footprint(texture.texture.images[0][0], *change))
        level = model.level_steps(texture.texture, model.level_of(longer))
        if level <= 0:
            wanted = model.sample(texture.texture, sampler, place, level)
        else:
            wanted, count = model.anisotropic(texture.texture, sampler, place, *change)
            counts.add(count)
        # A probe or the level may be a step of 1/256 off.
        assert color == pytest.approx(wanted, abs=4 / 256), (place, change)
    assert counts >= set(range(2, min(most, 6) + 1))
    assert max(counts) == most


def test_what_does_not_change_is_magnified() -> None:
    texture = memory(Random(2), TEX2D, (8, 8), levels=4)
    sampler = key(mag=POINT, min=ANISOTROPIC, mip=LINEAR, levels=True, anisotropy=16)
    still = [(0.0, 0.0)]
    found = sampled(sampler, texture.files, [(0.3, 0.6)], Lod.GRADIENT, ddx=still, ddy=still)
    assert found == [texture.texture.images[0][0].texels[2, 4]]


def has_derivatives(sampler: SamplerKey) -> bool:
    program = sampler_program(sampler, Lod.IMPLICIT, Stage.PIXEL)
    return any(isinstance(statement, Derivative) for statement in walk(program.statements))


@pytest.mark.parametrize(
    ("fields", "needed"),
    [
        ({}, False),
        ({"levels": True}, False),
        ({"mip": POINT}, False),
        ({"mip": POINT, "levels": True}, True),
        ({"min": LINEAR}, True),
        ({"min": ANISOTROPIC, "mag": LINEAR}, False),
        ({"min": ANISOTROPIC, "mag": LINEAR, "anisotropy": 2}, True),
        ({"min": TextureFilter.PYRAMIDALQUAD, "mag": LINEAR}, False),
    ],
)
def test_the_level_of_detail_is_found_only_where_it_matters(
    fields: dict[str, object], needed: bool
) -> None:
    sampler = key(**fields)
    assert needs_detail(sampler) is needed
    assert has_derivatives(sampler) is needed


def test_vertex_programs_sample_at_a_given_level() -> None:
    texture = memory(Random(3), TEX2D, (4, 4), levels=3)
    sampler = key(mip=POINT, levels=True)
    at, level = [(0.3, 0.6)], [[1.0]]
    found = sampled(sampler, texture.files, at, Lod.EXPLICIT, Stage.VERTEX, lod=level)
    assert found == [texture.texture.images[0][1].texels[0, 1]]


FORMATS_BY_KIND = {
    kind: [f for f, row in FORMATS.items()
           if Use.TEXTURE in row.uses and (Use.SHADOW in row.uses) is (kind is TextureKind.SHADOW)]
    for kind in TextureKind
}  # fmt: skip
OVERSHOOTING = TextureFilter.FLATCUBIC


@st.composite
def keys(pick: st.DrawFn) -> SamplerKey:
    kind, filters = pick(st.sampled_from(TextureKind)), st.sampled_from(model.FILTERS)
    address = st.sampled_from(TextureAddress)
    return SamplerKey(
        kind,
        pick(st.sampled_from(FORMATS_BY_KIND[kind])),
        (pick(address), pick(address), pick(address)),
        pick(filters),
        pick(filters),
        pick(st.sampled_from([NONE, POINT, LINEAR])),
        pick(st.integers(1, 16)),
        *(pick(st.booleans()) for _ in range(4)),
    )


@settings(max_examples=150, deadline=None)
@given(keys(), st.integers(0, 2**32 - 1))
def test_any_sampler_reads_something_of_any_memory(sampler: SamplerKey, seed: int) -> None:
    """Whatever the coordinates and the levels say; colours without a sign stay in 0..1."""
    random = Random(seed)
    texture = memory(random, sampler.kind, (8, 8, 8)[: sampler.kind.axes], levels=3)
    at = places(random, 3, 6)
    strange = [[random.choice(ODD)] for _ in at]
    found = sampled(sampler, texture.files, at, lod=strange)
    row = FORMATS[sampler.format]
    signed = row.floating or any(c.coding is Coding.SNORM for c in row.channels.values())
    if not signed and OVERSHOOTING not in (sampler.mag, sampler.min):
        assert all(0 <= channel <= 1 + NEAR for color in found for channel in color)
    again = sampled(sampler, texture.files, at[::-1], lod=strange[::-1])
    assert [repr(color) for color in again[::-1]] == [repr(color) for color in found]


@settings(max_examples=15, deadline=None)
@given(keys())
def test_samplers_are_programs_that_text_can_tell(sampler: SamplerKey) -> None:
    program = sampler_program(sampler, Lod.IMPLICIT, Stage.PIXEL)
    assert parse(dump(program)) == program
