"""The texels that a pixel reads: level, face or slice, column, row, and byte."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import Format, TextureFilter
from dp2emu.explain.lanes import Pixel, trace_pixel
from dp2emu.explain.texel_reads import Texel
from dp2emu.gpu.command.bindings import TextureBinding
from dp2emu.shader.ir import Lod, TextureKind
from dp2emu.shader.texture.records import SamplerKey
from tests.gpu.drawing import color_surface, corner, draw, rebound
from tests.gpu.shader_resources.test_textures import CUBE, TEX2D, VOLUME, over_pixels, texture

LINEAR = {"mag": TextureFilter.LINEAR, "min": TextureFilter.LINEAR}


def texels(
    kind: TextureKind, format: Format, at: tuple[int, int], level: float | None = None,
    key: dict[str, Any] | None = None, **desc: Any,
) -> list[Texel]:  # fmt: skip
    """The texels that pixel ``at`` of 8 by 8 reads of a texture of 8 by 8."""
    given = texture(kind, 8, 8, format=format, **desc)
    lod = (Lod.IMPLICIT, 0.0) if level is None else (Lod.EXPLICIT, level)
    sampler = SamplerKey(kind, format, levels=given.desc.levels > 1, **(key or {}))
    packet = draw(
        [corner(-1, -1), corner(20, -1), corner(-1, 20)],
        color=color_surface(Format.A8R8G8B8, 8, 8), pixel=over_pixels(kind, 0.125, *lod),
    )  # fmt: skip
    pipeline = replace(packet.pipeline, samplers=((0, sampler),))
    bound = rebound(packet, pipeline=pipeline, textures={0: TextureBinding(given)})
    made = trace_pixel(bound, Pixel(*at))
    (read,) = [read for step in made.steps for read in step.texels]
    return [*read.texels]


@pytest.mark.parametrize(
    ("format", "size"),
    [(Format.L8, 1), (Format.R5G6B5, 2), (Format.R8G8B8, 3), (Format.A8R8G8B8, 4),
     (Format.A16B16G16R16, 8), (Format.A32B32G32R32F, 16)],
)  # fmt: skip
def test_a_texel_of_any_size_has_its_column_and_row(format: Format, size: int) -> None:
    assert texels(TEX2D, format, (5, 3)) == [Texel(0, 0, 5, 3, 0, (8 * 3 + 5) * size)]


def test_filters_read_their_texels() -> None:
    found = texels(TEX2D, Format.L8, (5, 3), key=LINEAR)
    assert [(texel.x, texel.y) for texel in found] == [(5, 3), (6, 3), (5, 4), (6, 4)]


def test_texels_have_their_level() -> None:
    mip = {"mip": TextureFilter.POINT}
    (found,) = texels(TEX2D, Format.A8R8G8B8, (5, 3), 1.0, mip, levels=4)
    assert found == Texel(1, 0, 2, 1, 0, 4 * (64 + 4 * 1 + 2))


def test_texels_of_volumes_have_their_slice_and_of_cubes_their_face() -> None:
    assert texels(VOLUME, Format.L8, (5, 3), depth=4) == [Texel(0, 0, 5, 3, 1, 64 + 29)]
    (found,) = texels(CUBE, Format.L8, (7, 0))
    assert found.layer == 0 and found.level == 0


def test_a_block_is_its_first_texel() -> None:
    assert texels(TEX2D, Format.DXT1, (5, 3)) == [Texel(0, 0, 4, 0, 0, 8)]
