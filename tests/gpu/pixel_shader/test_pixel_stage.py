"""Colours: flat, linear, in perspective, and with numbers that are none."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.d3d.enums import CmpFunc, Format, PrimitiveType
from dp2emu.gpu.command.pipeline import DepthState, RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.pixel import FixedPixel, pixel_program
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value
from tests.gpu.drawing import COLORED, SPECULAR, Vertex, color_surface, corner, depth_surface, draw

RED, GREEN, BLUE = 0xFFFF0000, 0xFF00FF00, 0xFF0000FF


def picture(
    vertices: list[Vertex],
    *,
    topology: PrimitiveType = PrimitiveType.TRIANGLESTRIP,
    flat: bool = False,
    specular: bool = False,
    fvf: int = COLORED,
) -> NDArray[np.uint32]:
    color = color_surface(Format.A8R8G8B8)
    packet = draw(vertices, color=color, topology=topology, fvf=fvf,
                  raster=RasterState(flat=flat),
                  pixel=pixel_program(FixedPixel(specular=specular)))  # fmt: skip
    execute_draw(packet, Counters())
    return color.pixels()


def ramp(left: int, right: int, rhw: tuple[float, float] = (1.0, 1.0)) -> list[Vertex]:
    """A quad of 32 x 32 pixels whose colour runs from left to right."""
    near, far = rhw
    return [corner(0, 0, 0.5, left, near), corner(32, 0, 0.5, right, far),
            corner(0, 32, 0.5, left, near), corner(32, 32, 0.5, right, far)]  # fmt: skip


def test_gouraud_colours_are_linear() -> None:
    row = picture(ramp(0xFF000000, 0xFF0000A0))[9]
    assert row.tolist() == [0xFF000000 + 5 * n for n in range(32)]


def test_alpha_is_interpolated_like_a_colour() -> None:
    row = picture(ramp(0x00000000, 0xA0000000))[9]
    assert (row >> 24).tolist() == [5 * n for n in range(32)]


@pytest.mark.parametrize(
    ("topology", "first", "second"),
    [(PrimitiveType.TRIANGLESTRIP, RED, GREEN), (PrimitiveType.TRIANGLEFAN, GREEN, BLUE)],
)
def test_flat_colours_are_those_of_the_provoking_vertex(
    topology: PrimitiveType, first: int, second: int
) -> None:
    a, b = corner(0, 0, color=RED), corner(32, 0, color=GREEN)
    c, d = corner(0, 32, color=BLUE), corner(32, 32, color=0xFFFFFFFF)
    strip = topology is PrimitiveType.TRIANGLESTRIP
    pixels = picture([a, b, c, d] if strip else [a, b, d, c], topology=topology, flat=True)
    if strip:
        assert pixels[0, 0] == first
        assert pixels[31, 31] == second
    else:
        assert pixels[0, 31] == first
        assert pixels[31, 0] == 0xFFFFFFFF


def test_specular_is_added_only_if_enabled() -> None:
    vertices = [(*v, 0xFF100000) for v in ramp(0x80402010, 0x80402010)]
    assert (picture(vertices, fvf=SPECULAR) == 0x80402010).all()
    assert (picture(vertices, fvf=SPECULAR, specular=True) == 0x80502010).all()


def test_flat_shading_takes_the_specular_colour_too() -> None:
    speculars = [0xFF000020, 0xFF000040, 0xFF000060, 0xFF000080]
    vertices = [(*v, s) for v, s in zip(ramp(0xFF000000, 0xFF000000), speculars, strict=True)]
    pixels = picture(vertices, fvf=SPECULAR, specular=True, flat=True)
    assert set(pixels.ravel().tolist()) == {0xFF000020, 0xFF000040}


def test_colours_are_correct_in_perspective() -> None:
    row = picture(ramp(0xFF000000, 0xFF0000FF, (1.0, 0.25)))[9] & 0xFF
    t = np.arange(32) / 32
    expected = 255 * (t * 0.25) / (1 - t + t * 0.25)
    assert row.tolist() == np.floor(expected + 0.5).astype(int).tolist()


def test_equal_rhw_of_any_value_is_plain_linear() -> None:
    reference = picture(ramp(0xFF010203, 0xFFA0B0C0))
    for rhw in (0.0, -2.0, 3e38, 1e-45, math.inf):
        np.testing.assert_array_equal(picture(ramp(0xFF010203, 0xFFA0B0C0, (rhw, rhw))), reference)


def test_a_colour_equal_at_all_corners_stays_equal_in_perspective() -> None:
    assert (picture(ramp(0xFF010203, 0xFF010203, (1.0, 0.001))) == 0xFF010203).all()


def test_a_quotient_that_is_no_number_is_black() -> None:
    pixels = picture(ramp(0xFFFFFFFF, 0xFFFFFFFF, (math.nan, math.nan)))
    assert (pixels == 0).all()


def test_mixed_triangles_each_follow_their_own_rhw() -> None:
    places = ((0, 0, RED), (16, 0, BLUE), (0, 16, GREEN))
    linear = [corner(x, y, 0.5, color, 0.0) for x, y, color in places]
    deep = [corner(x + 16, y, 0.5, color, rhw)
            for (x, y, _, _, color), rhw in zip(linear, (1.0, 0.5, 2.0), strict=True)]  # fmt: skip
    both = picture([*linear, *deep], topology=PrimitiveType.TRIANGLELIST)
    alone = picture(linear, topology=PrimitiveType.TRIANGLELIST)
    np.testing.assert_array_equal(both[:, :16], alone[:, :16])


def written(record: Callable[[Builder], None]) -> Program:
    b = Builder(Stage.PIXEL)
    record(b)
    return b.program()


def shown(name: str, scale: float = 1.0) -> Program:
    """An input as red."""
    return written(lambda b: b.output("target0.x", b.input(name) * scale))


def red(program: Program, vertices: list[Vertex], **options: Any) -> NDArray[np.uint32]:
    color = color_surface()
    options = {"topology": PrimitiveType.TRIANGLESTRIP} | options
    execute_draw(draw(vertices, color=color, pixel=program, **options), Counters())
    return color.pixels() >> 16 & 0xFF


def test_a_program_knows_its_pixel() -> None:
    full = ramp(0, 0)
    assert red(shown("vpos.x", 1 / 255), full)[3].tolist() == list(range(32))
    assert red(shown("vpos.y", 1 / 255), full)[:, 3].tolist() == list(range(32))


def test_a_program_knows_the_face() -> None:
    front = [corner(0, 0), corner(32, 0), corner(0, 32)]
    show = written(lambda b: b.output("target0.x", b.input("vface.x") * 0.25 + 0.5))
    triangles = {"topology": PrimitiveType.TRIANGLELIST}
    assert red(show, front, **triangles)[0, 0] == 191
    assert red(show, front[::-1], **triangles)[0, 0] == 64
    assert red(show, front[:2], topology=PrimitiveType.LINELIST)[0, 0] == 191


def test_a_program_knows_z_before_any_bias() -> None:
    vertices = [corner(x, y, z) for x, y, z in ((0, 0, 0.2), (32, 0, 0.2), (0, 32, 0.2))]
    options = {"topology": PrimitiveType.TRIANGLELIST, "depth": depth_surface(word=0xFFFFFF00)}
    test = DepthState(True, True, bias=0.5)
    assert red(shown("depth.x"), vertices, test=test, **options)[0, 0] == 51
    deep = [(*v[:2], 3.0, *v[3:]) for v in vertices]
    free = RasterState(clip=False)
    assert red(shown("depth.x"), deep, raster=free, test=DepthState(), **options)[0, 0] == 255


def test_a_program_knows_w() -> None:
    pixels = red(shown("w.x", 1 / 255), ramp(0, 0, (1 / 10, 1 / 50)))
    t = np.arange(32) / 32
    expected = 1 / ((1 - t) / 10 + t / 50)
    assert pixels[4].tolist() == np.floor(expected + 0.5).astype(int).tolist()
    assert (red(shown("w.x", 1 / 255), ramp(0, 0, (0.05, 0.05))) == 20).all()


def test_a_varying_no_vertex_wrote_is_0() -> None:
    assert not red(shown("texcoord3.x"), ramp(0, 0)).any()
    assert not red(shown("color1.x"), ramp(0, 0)).any()


def test_colours_are_clamped_where_they_are_stored() -> None:
    full = ramp(0, 0)
    for value, stored in ((2.5, 255), (-1.0, 0), (math.nan, 0)):
        show = written(lambda b, value=value: b.output("target0.x", value))
        assert (red(show, full) == stored).all()


def even_columns(b: Builder) -> Value:
    half = b.input("vpos.x") * 0.5
    return b.fract(half).eq(0.0)


def test_killed_pixels_are_neither_drawn_nor_counted() -> None:
    def record(b: Builder) -> None:
        b.kill(even_columns(b))
        b.output("target0.x", 1.0)

    color, depth = color_surface(), depth_surface(word=0xFFFFFF00)
    counters = Counters()
    packet = draw(ramp(0, 0), color=color, depth=depth, pixel=written(record),
                  topology=PrimitiveType.TRIANGLESTRIP)  # fmt: skip
    execute_draw(packet, counters)
    assert counters.samples == 512
    assert (color.pixels()[:, 1::2] == 0xFFFF0000).all()
    assert not color.pixels()[:, 0::2].any()
    assert set(depth.pixels()[:, 0::2].ravel().tolist()) == {0xFFFFFF00}
    assert set(depth.pixels()[:, 1::2].ravel().tolist()) == {0x80000000}


def test_killing_counts_without_a_depth_buffer_or_colours_to_write() -> None:
    kill = written(lambda b: b.kill(even_columns(b)))
    counters = Counters()
    packet = draw(ramp(0, 0), color=color_surface(), pixel=kill, write_mask=0,
                  topology=PrimitiveType.TRIANGLESTRIP)  # fmt: skip
    execute_draw(packet, counters)
    assert counters.samples == 512


def test_killing_everything_leaves_nothing() -> None:
    color, counters = color_surface(), Counters()
    packet = draw(ramp(0, 0), color=color, pixel=written(lambda b: b.kill(True)),
                  topology=PrimitiveType.TRIANGLESTRIP)  # fmt: skip
    execute_draw(packet, counters)
    assert counters.samples == 0
    assert not color.pixels().any()


def test_depth_a_program_writes_is_tested_without_bias_and_clamped() -> None:
    def record(b: Builder) -> None:
        b.output("depth.x", b.input("vpos.x") / 16.0 - 0.5)
        b.output("target0.x", 1.0)

    color, depth = color_surface(), depth_surface(Format.D32F_LOCKABLE)
    depth.pixels()[...] = 0.75
    counters = Counters()
    packet = draw(ramp(0, 0), color=color, depth=depth, pixel=written(record),
                  topology=PrimitiveType.TRIANGLESTRIP,
                  test=DepthState(True, True, CmpFunc.LESS, bias=0.125))  # fmt: skip
    execute_draw(packet, counters)
    expected = [min(max(n / 16 - 0.5, 0), 1) for n in range(32)]
    assert depth.pixels()[5].tolist() == [z if z < 0.75 else 0.75 for z in expected]
    assert counters.samples == 20 * 32
    assert np.count_nonzero(color.pixels()) == 20 * 32


def test_overlapping_fragments_are_killed_one_by_one() -> None:
    def record(b: Builder) -> None:
        b.kill(b.input("color0.w") < 0.5)
        b.output("target0.x", b.input("color0.x"))

    below = [(*v[:4], 0xFF400000) for v in ramp(0, 0)]
    above = [(*v[:4], 0x00800000) for v in ramp(0, 0)]
    strips = [*below, below[-1], above[0], *above]
    assert (red(written(record), strips) == 0x40).all()


def test_uniforms_reach_a_pixel_program() -> None:
    def record(b: Builder) -> None:
        b.output("target0.x", b.load(b.uniform("c", Type.F32, 4), 2))

    uniforms = {"c": np.array([0, 0, 0.2, 0], np.float32)}
    assert (red(written(record), ramp(0, 0), pixel_uniforms=uniforms) == 51).all()
