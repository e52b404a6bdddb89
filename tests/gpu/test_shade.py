"""Colours: flat, linear, in perspective, and with numbers that are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.d3d.enums import Format, PrimitiveType
from dp2emu.gpu.draw import execute_draw
from dp2emu.gpu.queries import Counters
from dp2emu.gpu.state import RasterState
from dp2emu.shader.fixed import pixel_program
from tests.gpu.drawing import COLORED, SPECULAR, Vertex, color_surface, corner, draw

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
                  pixel=pixel_program(specular=specular))  # fmt: skip
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
    [
        (PrimitiveType.TRIANGLESTRIP, RED, GREEN),
        (PrimitiveType.TRIANGLEFAN, GREEN, BLUE),
    ],
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
