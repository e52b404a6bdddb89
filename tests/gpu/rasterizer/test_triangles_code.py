"""Kernels cover triangles exactly: the same pixels and samples as whole numbers say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.enums import Cull
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.pipeline import RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.engines import CHECKED, JIT, engine
from tests.gpu.drawing import Vertex, color_surface, corner, draw
from tests.gpu.kernel_states import SIDE

_GRID = 256
_near = st.integers(-3 * _GRID, (SIDE + 3) * _GRID).map(lambda n: n / _GRID)
_far = st.sampled_from([-2e6, -4000.0, 5e3, 2.09e6, 2.2e6, 1e9, float("inf"), float("nan")])
_place = st.one_of(_near, _near, _near, st.integers(0, SIDE).map(float), _far)
_corners = st.tuples(_place, _place)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(_corners, _corners, _corners), min_size=1, max_size=12),
    st.sampled_from(Cull),
    st.sampled_from([1, 2, 4, 8]),
    st.booleans(),
)
def test_coverage_equals_that_of_the_stages(
    triangles: list[tuple[tuple[float, float], ...]], cull: Cull, samples: int, multisample: bool
) -> None:
    color = color_surface(width=SIDE, height=SIDE, samples=samples)
    vertices = [corner(x, y, color=0xFF000000 | 7919 * number)
                for number, triangle in enumerate(triangles) for x, y in triangle]  # fmt: skip
    packet = draw(vertices, color=color, raster=RasterState(cull=cull, multisample=multisample),
                  scissor=Rect(1, 2, SIDE - 1, SIDE))  # fmt: skip
    execute_draw(packet, Counters(), run=engine(CHECKED))


def _inside(triangle: list[Vertex], x: int, y: int) -> bool:
    """Of whole numbers of 1/256 pixel; an edge owns its points if it is a left or a top one."""
    points = [(round(v[0] * _GRID), round(v[1] * _GRID)) for v in triangle]
    (ax, ay), (bx, by), (cx, cy) = points
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if area < 0:
        points.reverse()
    for (px, py), (qx, qy) in zip(points, points[1:] + points[:1], strict=True):
        dx, dy = qx - px, qy - py
        side = dx * (y * _GRID - py) - dy * (x * _GRID - px)
        owns = dy < 0 or (dy == 0 and dx > 0)
        if side < 0 or (side == 0 and not owns):
            return False
    return area != 0


def test_pixels_are_those_whose_centres_are_inside() -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        places = np.rint(rng.uniform(-4, SIDE + 4, (3, 2)) * rng.choice([1, 4, 256])) / 256
        places = rng.choice([1, 64]) * places
        triangle = [corner(*map(float, place)) for place in places]
        color = color_surface(width=SIDE, height=SIDE)
        work = execute_draw(draw(triangle, color=color), Counters(), run=engine(JIT))
        drawn = color.pixels() != color_surface(width=SIDE, height=SIDE).pixels()
        wanted = [[_inside(triangle, x, y) for x in range(SIDE)] for y in range(SIDE)]
        assert drawn[:SIDE, :SIDE].tolist() == wanted
        assert work.fragments == sum(map(sum, wanted))


@pytest.mark.parametrize("count", [1, 7, 8, 9, 17])
def test_groups_of_triangles_that_are_not_full(count: int) -> None:
    color = color_surface(width=SIDE, height=SIDE)
    vertices = [corner(x + n, y + n, color=n + 1) for n in range(count)
                for x, y in ((0, 0), (5, 0), (0, 5))]  # fmt: skip
    packet = draw(vertices, color=color)
    packet = replace(packet, scissor=Rect(0, 0, SIDE, SIDE))
    assert execute_draw(packet, Counters(), run=engine(CHECKED)).triangles == count
