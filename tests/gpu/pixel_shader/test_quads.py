"""Programs that look at their neighbours, and the grid they are run on."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

import dp2emu.gpu.pixel_shader.pixel_stage
from dp2emu.d3d.enums import Format, TextureFilter
from dp2emu.gpu.command.pipeline import in_quads
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Lod, Program, Stage, TextureKind
from dp2emu.shader.texture.records import SamplerKey
from tests.gpu.drawing import color_surface, corner, draw
from tests.gpu.model import covered


def squares() -> Program:
    """ddx of x * x in red and ddy of y * y in green, in 255ths; ddx of the diffuse red in blue."""
    b = Builder(Stage.PIXEL)
    x, y = b.input("vpos.x"), b.input("vpos.y")
    b.output("target0.x", b.ddx(x * x) / 255.0)
    b.output("target0.y", b.ddy(y * y) / 255.0)
    b.output("target0.z", b.ddx(b.input("color0.x")))
    return b.program()


@pytest.mark.parametrize("seed", range(6))
def test_differences_are_those_of_the_even_aligned_quad(seed: int) -> None:
    generator = np.random.default_rng(seed)
    grid = generator.integers(0, 32 * 256, (3, 2))
    vertices = [corner(x / 256, y / 256) for x, y in grid.tolist()]
    color = color_surface(Format.A8R8G8B8)
    execute_draw(draw(vertices, color=color, pixel=squares()), Counters())
    (x0, y0), (x1, y1), (x2, y2) = grid.tolist()
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    expected = np.zeros((32, 32), np.int64)
    for y in range(32):
        for x in range(32):
            if covered([x0, x1, x2], [y0, y1, y2], area, x, y):
                expected[y, x] = (2 * (x & ~1) + 1) << 16 | (2 * (y & ~1) + 1) << 8
    np.testing.assert_array_equal(color.pixels(), expected)


def test_helpers_continue_the_planes_beyond_the_edges() -> None:
    # One pixel wide, so that every quad has helpers.
    vertices = [corner(5, 0, color=0xFF000000), corner(6, 0, color=0xFF0A0000),
                corner(5, 64, color=0xFF000000)]  # fmt: skip
    color = color_surface(Format.A8R8G8B8)
    execute_draw(draw(vertices, color=color, pixel=squares()), Counters())
    assert set((color.pixels()[:, 5] & 0xFF).tolist()) == {10}
    assert np.count_nonzero(color.pixels()) == 32


def test_each_primitive_has_its_own_quads() -> None:
    left = [corner(4, 4, color=0xFF000000), corner(5, 4, color=0xFF0A0000),
            corner(4, 36, color=0xFF000000)]  # fmt: skip
    right = [corner(5, 4, color=0xFF000000), corner(6, 4, color=0xFF140000),
             corner(5, 36, color=0xFF000000)]  # fmt: skip
    color = color_surface(Format.A8R8G8B8)
    execute_draw(draw([*left, *right], color=color, pixel=squares()), Counters())
    assert (color.pixels()[5, 4:6] & 0xFF).tolist() == [10, 20]


def test_portions_do_not_change_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    vertices = [corner(1, 2, color=0xFF102030), corner(29, 7, color=0xFFFF0000), corner(3, 30)]
    pictures = []
    for lanes in (1 << 15, 7):
        monkeypatch.setattr(dp2emu.gpu.pixel_shader.pixel_stage, "LANES", lanes)
        color = color_surface(Format.A8R8G8B8)
        execute_draw(draw(vertices, color=color, pixel=squares()), Counters())
        pictures.append(color.data.tobytes())
    assert pictures[0] == pictures[1]


def sampling(lod: Lod, arguments: int) -> Program:
    b = Builder(Stage.PIXEL)
    u = b.input("texcoord0.x")
    texel = b.sample(TextureKind.TEX2D, 0, (u, u), lod, [u] * arguments)
    b.output("target0.x", texel[0])
    return b.program()


MIPMAPPED = SamplerKey(TextureKind.TEX2D, Format.L8, mip=TextureFilter.POINT, levels=True)


def test_only_programs_that_compare_pixels_need_quads() -> None:
    mipmapped = ((0, MIPMAPPED),)
    assert in_quads(squares())
    assert in_quads(sampling(Lod.IMPLICIT, 0), mipmapped)
    assert in_quads(sampling(Lod.BIAS, 1), mipmapped)
    assert not in_quads(sampling(Lod.EXPLICIT, 1), mipmapped)
    assert not in_quads(sampling(Lod.GRADIENT, 4), mipmapped)


def test_only_samplers_that_choose_a_level_or_a_filter_need_quads() -> None:
    program = sampling(Lod.IMPLICIT, 0)
    assert not in_quads(program)
    assert not in_quads(program, ((1, MIPMAPPED),))
    assert not in_quads(program, ((0, replace(MIPMAPPED, levels=False)),))
    assert not in_quads(program, ((0, replace(MIPMAPPED, mip=TextureFilter.NONE)),))
    assert in_quads(program, ((0, replace(MIPMAPPED, levels=False, min=TextureFilter.LINEAR)),))
