"""The way of draws with later stages, against the way of draws without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import CmpFunc
from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.command.bindings import FloatViewport, Rect
from dp2emu.gpu.command.packets import Draw, Indices, Instances
from dp2emu.gpu.command.pipeline import DepthState, RasterState
from dp2emu.gpu.command.post_vertex_stages import Layer, PostVertexStages, View
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.topology import TOPOLOGIES, vertex_count
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.builder import Builder
from dp2emu.shader.engines import can_compile, engine
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.types import Type
from tests.gpu.drawing import (
    color_surface,
    corner,
    depth_surface,
    draw,
    passing,
    programmed,
    rebound,
)

ENGINES = ("reference", "checked") if can_compile() else ("reference",)
RASTER = RasterState(half_centres=True, last_pixel=False)
PLACES = st.integers(-20, 20).map(lambda n: n / 8)
CORNERS = st.builds(corner, PLACES, PLACES, PLACES, st.integers(0, 0xFFFFFFFF), PLACES)


def told(packet: Draw, run: str = "reference") -> tuple[bytes, bytes, Counters]:
    """A draw executed: what is in its targets, and what it counts."""
    counters = Counters()
    execute_draw(packet, counters, run=engine(run))
    assert packet.output.colors[0] is not None
    assert packet.output.depth is not None
    return packet.output.colors[0].data.tobytes(), packet.output.depth.data.tobytes(), counters


def fresh(packet: Draw, **changes: object) -> Draw:
    return rebound(packet, colors=(color_surface(),), depth=depth_surface(word=1 << 30), **changes)


@pytest.mark.parametrize("run", ENGINES)
@given(
    vertices=st.lists(CORNERS, min_size=1, max_size=14),
    topology=st.sampled_from(list(Topology10)),
    numbers=st.none() | st.lists(st.integers(0, 15) | st.just(0xFFFFFFFF), max_size=20),
    instances=st.integers(1, 2),
)
def test_with_no_stages_it_is_the_plain_way_bit_by_bit(
    run: str,
    vertices: list[tuple[float, ...]],
    topology: Topology10,
    numbers: list[int] | None,
    instances: int,
) -> None:
    row = TOPOLOGIES[topology]
    there = len(vertices if numbers is None else numbers)
    count = max(there - row.extra, 0) // row.step
    indices = None if numbers is None else Indices(np.array(numbers, np.uint32))
    cuts = indices is not None and row.step * row.extra > 0
    packet = rebound(
        programmed(draw(vertices, depth=depth_surface(), color=color_surface(), raster=RASTER)),
        topology=topology, count=count, indices=indices, cuts=cuts,
        vertices=there if cuts else None, instances=Instances(instances),
    )  # fmt: skip
    found = told(fresh(packet, post_vertex=PostVertexStages()), run)
    assert found == told(fresh(packet))


def numbered(**ports: int) -> Program:
    """A vertex program whose vertices name a viewport or a slice: the word in their colour."""
    b = Builder(Stage.VERTEX)
    for component in "xyzw":
        b.output(f"position0.{component}", b.input(f"position0.{component}"))
        b.output(f"color0.{component}", b.constant(Type.F32, 1))
    for port in ports:
        word = b.ftoi(b.input("color0.x") * 255.0) - 128
        b.output(f"{port}.x", word)
    return b.program()


def whole_screen(number: int) -> list[tuple[float, ...]]:
    """A triangle over all of a viewport; the red of its vertices is 128 more than the number."""
    color = (number + 128) << 16
    return [corner(*place, 0.5, color) for place in ((-1, 1), (3, 1), (-1, -3))]


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize(("number", "place"), [(0, 0), (1, 1), (2, 2), (3, 0), (-1, 0), (127, 0)])
def test_the_first_vertex_tells_the_viewport_and_what_there_is_not_is_the_first(
    run: str, number: int, place: int
) -> None:
    views = tuple(
        View(FloatViewport(8 * n, 4, 8, 8), Rect(8 * n, 4, 8 * n + 8, 12)) for n in range(3)
    )
    first = whole_screen(number)[0]
    vertices = [first, *whole_screen(1)[1:]]
    packet = fresh(programmed(
        draw(vertices, color=color_surface(), raster=RASTER), program=numbered(viewport=0)
    ), post_vertex=PostVertexStages(views=views))  # fmt: skip
    told(packet, run)
    wanted = np.zeros((32, 32), np.bool_)
    wanted[4:12, 8 * place : 8 * place + 8] = True
    assert packet.output.colors[0] is not None
    assert (packet.output.colors[0].pixels() != 0).tolist() == wanted.tolist()


@pytest.mark.parametrize("run", ENGINES)
def test_primitives_go_to_the_slices_they_name_in_order(run: str) -> None:
    layers = tuple(Layer((color_surface(),), depth_surface(word=1 << 30)) for _ in range(3))
    vertices = [each for number in (2, 0, 2, 9) for each in whole_screen(number)]
    packet = rebound(
        programmed(
            draw(vertices, color=layers[0].colors[0], depth=layers[0].depth, raster=RASTER,
                 test=DepthState(True, True, CmpFunc.ALWAYS)),
            program=numbered(layer=0),
        ),
        post_vertex=PostVertexStages(layers=layers),
    )  # fmt: skip
    counters = told(packet, run)[2]
    drawn = [int(np.count_nonzero(layer.colors[0].pixels())) for layer in layers]  # type: ignore[union-attr]
    assert drawn == [32 * 32, 0, 32 * 32]
    assert (counters.samples, counters.entered, counters.clipped) == (4 * 32 * 32, 4, 4)


def test_more_primitives_than_are_held_together_are_all_drawn() -> None:
    color = color_surface(width=128, height=128)
    vertices = [corner(0, 0)] * 3
    given_ = programmed(draw(vertices, color=color, raster=RASTER), program=passing("position0"))
    packet = rebound(given_, count=20000, post_vertex=PostVertexStages())
    counters = Counters()
    execute_draw(packet, counters)
    assert counters.entered == counters.primitives == 20000
    assert counters.vertices == vertex_count(Topology10.TRIANGLELIST, 20000)
