"""Depth of fragments: clipping, bias and clamp."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dp2emu.d3d.enums import CmpFunc, Format, PrimitiveType
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.gpu.command.pipeline import DepthState, RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.resource.heap import Surface
from tests.gpu.drawing import Vertex, color_surface, corner, depth_surface, draw

ALWAYS = DepthState(True, True, CmpFunc.ALWAYS)
UNTOUCHED = 9.0


def stored(vertices: list[Vertex], *, test: DepthState = ALWAYS, clip: bool = True,
           topology: PrimitiveType = PrimitiveType.TRIANGLESTRIP) -> Surface:  # fmt: skip
    """A float depth buffer after drawing; pixels not drawn are ``UNTOUCHED``."""
    depth = depth_surface(Format.D32F_LOCKABLE)
    depth.pixels()[...] = UNTOUCHED
    raster = RasterState(clip=clip)
    packet = draw(
        vertices, color=color_surface(), depth=depth, topology=topology, raster=raster, test=test
    )
    execute_draw(packet, Counters())
    return depth


def slope(left: float, right: float) -> list[Vertex]:
    """A quad of 32 x 32 pixels whose z runs from left to right."""
    return [corner(0, 0, left), corner(32, 0, right), corner(0, 32, left), corner(32, 32, right)]


def test_z_is_linear_on_the_screen() -> None:
    row = stored(slope(0.0, 1.0)).pixels()[7]
    assert row.tolist() == [n / 32 for n in range(32)]


def test_z_ignores_rhw() -> None:
    vertices = [(*v[:3], 1.0 + n % 2 * 7, v[4]) for n, v in enumerate(slope(0.0, 1.0))]
    assert stored(vertices).pixels()[7].tolist() == [n / 32 for n in range(32)]


def test_with_clipping_fragments_outside_of_0_to_1_are_dropped() -> None:
    row = stored(slope(-1.0, 3.0)).pixels()[7]
    expected = [-1 + n / 8 if 8 <= n <= 16 else UNTOUCHED for n in range(32)]
    assert row.tolist() == expected


def test_without_clipping_fragments_outside_of_0_to_1_are_clamped() -> None:
    row = stored(slope(-1.0, 3.0), clip=False).pixels()[7]
    assert row.tolist() == [min(max(-1 + n / 8, 0), 1) for n in range(32)]


def test_rounding_of_the_plane_clips_nothing_from_a_primitive_inside() -> None:
    # The plane exceeds 1 by one unit in the last place on the edge from first to second corner.
    inside = [corner(11, 0, 1.0), corner(27, 28, 1.0), corner(21, 10, 0.1)]
    outside = [corner(0, 20, 2.0), corner(5, 20, 2.0), corner(0, 25, 2.0)]
    triangles = PrimitiveType.TRIANGLELIST
    alone = stored(inside, topology=triangles, clip=False).pixels()
    both = stored(outside + inside, topology=triangles).pixels()
    np.testing.assert_array_equal(both, alone)


@pytest.mark.parametrize("topology", [PrimitiveType.POINTLIST, PrimitiveType.LINELIST])
def test_points_and_lines_are_clipped_too(topology: PrimitiveType) -> None:
    outside = [corner(3, 3, 1.5), corner(9, 3, 1.5)]
    assert (stored(outside, topology=topology).pixels() == UNTOUCHED).all()
    assert (stored(outside, topology=topology, clip=False).pixels() != UNTOUCHED).any()


def test_a_nan_is_outside_and_clamps_to_0() -> None:
    vertices = slope(math.nan, math.nan)
    assert (stored(vertices).pixels() == UNTOUCHED).all()
    assert (stored(vertices, clip=False).pixels() == 0).all()


def test_bias_is_added_before_the_clamp() -> None:
    test = DepthState(True, True, CmpFunc.ALWAYS, bias=0.25)
    assert stored(slope(0.5, 0.5), test=test).pixels()[3, 3] == 0.75
    assert stored(slope(0.9, 0.9), test=test).pixels()[3, 3] == 1.0


def test_bias_does_not_clip() -> None:
    test = DepthState(True, True, CmpFunc.ALWAYS, bias=-2.0)
    assert (stored(slope(0.5, 0.5), test=test).pixels() == 0).all()


def test_slope_bias_takes_the_larger_gradient() -> None:
    test = DepthState(True, True, CmpFunc.ALWAYS, slope=2.0)
    vertices = [corner(0, 0, 0.25), corner(32, 0, 0.25), corner(0, 32, 0.5), corner(32, 32, 0.5)]
    row = stored(vertices, test=test).pixels()[:, 5]
    gradient = 0.25 / 32
    assert row.tolist() == [0.25 + n * gradient + 2 * gradient for n in range(32)]


@pytest.mark.parametrize("topology", [PrimitiveType.POINTLIST, PrimitiveType.LINELIST])
def test_points_and_lines_are_not_biased(topology: PrimitiveType) -> None:
    test = DepthState(True, True, CmpFunc.ALWAYS, bias=0.25, slope=1.0)
    pixels = stored([corner(3, 3, 0.5), corner(9, 3, 0.5)], test=test, topology=topology).pixels()
    assert set(pixels.ravel().tolist()) == {UNTOUCHED, 0.5}


def test_a_stored_nan_only_passes_where_it_differs() -> None:
    passing = []
    for func in CmpFunc:
        depth = depth_surface(Format.D32F_LOCKABLE)
        depth.pixels()[...] = math.nan
        packet = draw(slope(0.5, 0.5), color=color_surface(), depth=depth,
                      topology=PrimitiveType.TRIANGLESTRIP,
                      test=DepthState(True, False, func))  # fmt: skip
        if execute_draw(packet, Counters()).pixels:
            passing.append(func)
    assert passing == [CmpFunc.NOTEQUAL, CmpFunc.ALWAYS]


def test_huge_triangles_have_the_depth_of_their_plane() -> None:
    far = 2.0**30
    vertices = [corner(-far, -far, 0.0), corner(3 * far, -far, 1.0), corner(-far, 3 * far, 0.0)]
    depth = stored(vertices, topology=PrimitiveType.TRIANGLELIST).pixels()
    np.testing.assert_allclose(depth, 0.25, rtol=1e-6)


def test_a_w_buffer_holds_w() -> None:
    vertices = [
        (*v[:3], 1 / w, v[4]) for v, w in zip(slope(0.5, 0.5), (2, 10, 2, 10), strict=True)
    ]
    test = DepthState(True, True, CmpFunc.ALWAYS, w_buffer=True)
    depth = depth_surface(Format.D32F_LOCKABLE)
    packet = draw(vertices, color=color_surface(), depth=depth, test=test,
                  topology=PrimitiveType.TRIANGLESTRIP, w_range=(2.0, 18.0))  # fmt: skip
    execute_draw(packet, Counters())
    t = np.arange(32) / 32
    w = 1 / ((1 - t) / 2 + t / 10)
    np.testing.assert_allclose(depth.pixels()[7], (w - 2) / 16, rtol=1e-6, atol=1e-7)


SLOPED = slope(0.25, 0.75)
STEP = 0.5 / 32


@pytest.mark.parametrize(
    ("clamp", "added"), [(0.0, 0.125 + 4 * STEP), (0.03125, 0.03125), (1.0, 0.125 + 4 * STEP)]
)
def test_the_clamp_bounds_bias_and_slope_together(clamp: float, added: float) -> None:
    test = DepthState(True, True, CmpFunc.ALWAYS, bias=0.125, slope=4.0, bias_clamp=clamp)
    row = stored(SLOPED, test=test).pixels()[7]
    assert row.tolist() == [min(0.25 + n * STEP + added, 1.0) for n in range(32)]


def test_a_negative_clamp_bounds_from_below() -> None:
    test = DepthState(True, True, CmpFunc.ALWAYS, bias=-0.25, slope=-4.0, bias_clamp=-0.0625)
    row = stored(SLOPED, test=test).pixels()[7]
    assert row.tolist() == [0.25 + n * STEP - 0.0625 for n in range(32)]


@pytest.mark.parametrize(
    ("far", "exponent"), [(0.75, -1), (0.5, -1), (0.25, -2), (0.1875, -3), (1.0, 0)]
)
def test_the_bias_of_floats_counts_in_last_places_of_the_greatest_z(
    far: float, exponent: int
) -> None:
    places = 1 << 20
    test = DepthState(True, True, CmpFunc.ALWAYS, bias=float(places), bias_of_float=True)
    near = far / 2
    quad = slope(near, far)
    row = stored(quad, test=test).pixels()[7]
    added = places * 2.0 ** (exponent - 23)
    assert row[0] == near + added


def test_depth_is_held_in_the_range_of_the_viewport() -> None:
    depth = depth_surface(Format.D32F_LOCKABLE)
    test = DepthState(True, True, CmpFunc.ALWAYS, in_viewport=True)
    packet = draw(
        slope(-1.0, 3.0),
        color=color_surface(),
        depth=depth,
        topology=PrimitiveType.TRIANGLESTRIP,
        raster=RasterState(clip=False),
        test=test,
        viewport=Viewport(0, 0, 32, 32, 0.25, 0.5),
    )
    execute_draw(packet, Counters())
    row = depth.pixels()[7]
    assert row.tolist() == [min(max(-1 + n / 8, 0.25), 0.5) for n in range(32)]
