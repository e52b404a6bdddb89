"""Fill modes, edge flags and point sprites."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import CmpFunc, Cull, FillMode, Format, PrimitiveType
from dp2emu.gpu.command.packets import Draw, PointSize
from dp2emu.gpu.command.pipeline import DepthState, RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from tests.gpu.drawing import SIZED, Vertex, color_surface, corner, depth_surface, draw, programmed

WIRE = RasterState(fill=FillMode.WIREFRAME)
DOTS = RasterState(fill=FillMode.POINT)
RIGHT = [corner(2, 2), corner(12, 2), corner(2, 12)]
"""Clockwise, with a diagonal."""

Pixels = set[tuple[int, int]]


def executed(packet: Draw) -> Work:
    return execute_draw(packet, Counters())


def pixels(packet: Draw) -> Pixels:
    """Places (x, y) that are drawn to."""
    executed(packet)
    assert packet.output.colors[0] is not None
    y, x = np.nonzero(packet.output.colors[0].pixels())
    return set(zip(x.tolist(), y.tolist(), strict=True))


def wired(vertices: list[Vertex], raster: RasterState = WIRE, **options: Any) -> Pixels:
    return pixels(draw(vertices, color=color_surface(), raster=raster, **options))


TOP = {(x, 2) for x in range(2, 12)}
DIAGONAL = {(12 - n, 2 + n) for n in range(10)}
LEFT = {(2, y) for y in range(3, 13)}


def test_a_wireframe_is_the_outline_and_draws_each_pixel_once() -> None:
    packet = draw(RIGHT, color=color_surface(), raster=WIRE)
    assert pixels(packet) == TOP | DIAGONAL | LEFT
    work = executed(packet)
    assert (work.triangles, work.pixels) == (1, 30)


def test_edges_without_a_flag_are_not_drawn() -> None:
    for dropped, rest in enumerate((DIAGONAL | LEFT, TOP | LEFT, TOP | DIAGONAL)):
        flags = np.ones((3, 1), np.bool_)
        flags[dropped] = False
        found = wired(RIGHT, edge_flags=flags)
        # The end of a line is drawn where no other edge begins.
        assert rest <= found <= rest | {(2, 2), (12, 2), (2, 12)}
        assert len(found) == 21


def test_the_end_of_an_open_outline_follows_last_pixel() -> None:
    flags = np.array([[True], [False], [False]])
    assert wired(RIGHT, edge_flags=flags) == TOP | {(12, 2)}
    assert wired(RIGHT, replace(WIRE, last_pixel=False), edge_flags=flags) == TOP


def test_edge_flags_belong_to_primitives() -> None:
    flags = np.array([[False, True]] * 3)
    second = [(v[0] + 14, v[1] + 14, *v[2:]) for v in RIGHT]
    assert wired([*RIGHT, *second], edge_flags=flags) == {
        (x + 14, y + 14) for x, y in TOP | DIAGONAL | LEFT
    }


def test_culled_triangles_have_no_outline() -> None:
    assert not wired(RIGHT, replace(WIRE, cull=Cull.CW))
    assert wired(RIGHT, replace(WIRE, cull=Cull.CCW))


def test_lines_and_points_do_not_look_at_the_fill_mode() -> None:
    for topology in (PrimitiveType.LINELIST, PrimitiveType.POINTLIST):
        solid = wired(RIGHT[:2], RasterState(), topology=topology)
        assert wired(RIGHT[:2], WIRE, topology=topology) == solid
        assert wired(RIGHT[:2], DOTS, topology=topology) == solid


def test_point_fill_draws_the_corners() -> None:
    assert wired(RIGHT, DOTS) == {(2, 2), (12, 2), (2, 12)}
    bigger = wired(RIGHT, DOTS, point=PointSize(3.0))
    assert len(bigger) == 27
    assert (13, 3) in bigger


def test_points_of_triangles_have_the_size_of_their_own_corner() -> None:
    vertices = [(*v[:4], size, 0xFFFFFFFF) for v, size in zip(RIGHT, (1.0, 3.0, 5.0), strict=True)]
    assert len(wired(vertices, DOTS, fvf=SIZED)) == 1 + 9 + 25


def test_an_outline_has_the_colours_and_the_depth_of_its_corners() -> None:
    color, depth = color_surface(), depth_surface(Format.D32F_LOCKABLE)
    depth.pixels()[...] = 9.0
    vertices = [corner(2, 2, 0.0, 0xFF000000), corner(12, 2, 1.0, 0xFF0000C8),
                corner(2, 12, 0.0, 0xFF000000)]  # fmt: skip
    test = DepthState(True, True, CmpFunc.ALWAYS)
    executed(draw(vertices, color=color, depth=depth, raster=WIRE, test=test))
    assert (color.pixels()[2, 2:12] & 0xFF).tolist() == list(range(0, 200, 20))
    np.testing.assert_allclose(depth.pixels()[2, 2:12], np.arange(10) / 10, atol=1e-7)


@pytest.mark.parametrize("raster", [WIRE, DOTS])
def test_triangles_keep_their_bias_whatever_fills_them(raster: RasterState) -> None:
    depth = depth_surface(Format.D32F_LOCKABLE)
    depth.pixels()[...] = 9.0
    vertices = [corner(2, 2, 0.25), corner(10, 2, 0.25), corner(2, 10, 0.5)]
    test = DepthState(True, True, CmpFunc.ALWAYS, bias=0.125, slope=2.0)
    executed(draw(vertices, depth=depth, raster=raster, test=test))
    assert depth.pixels()[2, 2] == 0.25 + 0.125 + 2 * 0.25 / 8


def test_edges_made_by_clipping_are_not_drawn() -> None:
    across = [corner(0, -1, -0.5), corner(-0.75, 0.75, 0.5), corner(0.75, 0.75, 0.5)]
    found = pixels(programmed(draw(across, color=color_surface(), raster=WIRE)))
    rows = {y for _, y in found}
    assert min(rows) == 4
    assert len([1 for _, y in found if y == max(rows)]) <= 4


def test_flat_outlines_have_the_colour_of_the_provoking_vertex() -> None:
    color = color_surface()
    vertices = [(*v[:4], c) for v, c in zip(RIGHT, (0xFFFF0000, 0xFF00FF00, 0xFF0000FF),
                                            strict=True)]  # fmt: skip
    executed(draw(vertices, color=color, raster=replace(WIRE, flat=True)))
    assert set(color.pixels().ravel().tolist()) == {0, 0xFFFF0000}


def coordinates() -> Program:
    """Texture coordinate 1 as a colour."""
    b = Builder(Stage.PIXEL)
    for component in "xyzw":
        b.output(f"target0.{component}", b.input(f"texcoord1.{component}"))
    return b.program()


def test_sprites_run_from_0_to_1() -> None:
    color = color_surface(Format.A8R8G8B8)
    packet = draw([corner(10, 20)], color=color, topology=PrimitiveType.POINTLIST,
                  pixel=coordinates(), raster=RasterState(point_sprites=True),
                  point=PointSize(5.0))  # fmt: skip
    assert executed(packet).pixels == 25
    sprite = color.pixels()[18:23, 8:13]
    steps = (0.5 + np.arange(5)) / 5 * 255
    for axis in ((sprite >> 16 & 0xFF), (sprite >> 8 & 0xFF).T):
        np.testing.assert_allclose(axis, [steps] * 5, atol=0.51)
    assert (sprite & 0xFF0000FF == 0xFF000000).all()


def test_without_sprites_points_have_their_own_coordinates() -> None:
    color = color_surface(Format.A8R8G8B8)
    color.pixels()[...] = 0x12345678
    packet = draw([corner(10, 20)], color=color, topology=PrimitiveType.POINTLIST,
                  pixel=coordinates(), point=PointSize(5.0))  # fmt: skip
    assert executed(packet).pixels == 25
    # Coordinates that no vertex wrote are 0, all four of them.
    assert (color.pixels()[18:23, 8:13] == 0).all()
