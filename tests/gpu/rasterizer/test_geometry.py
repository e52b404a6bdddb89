"""From vertices through a program to the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import dp2emu.gpu.draw.draw_stages
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc, Cull, DeclUsage, Format, PrimitiveType
from dp2emu.d3d.vertices import Element
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.gpu.command.packets import Draw, Stream
from dp2emu.gpu.command.pipeline import Attribute, DepthState, RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.vertex_shader.vertex_stage import geometry
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.reference import run
from dp2emu.shader.types import Type
from tests.gpu.drawing import (
    PASSING,
    Vertex,
    color_surface,
    corner,
    depth_surface,
    draw,
    passing,
    programmed,
    rebound,
)

STRIP = PrimitiveType.TRIANGLESTRIP


def whole(z: float = 0.5, w: float = 1.0, color: int = 0xFFFFFFFF) -> list[Vertex]:
    """A strip that fills the viewport; ``corner`` takes w where the screen has rhw."""
    places = ((-w, w), (w, w), (-w, -w), (w, -w))
    return [corner(x, y, z * w, color, w) for x, y in places]


def positions(packet: Draw) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Screen x, y, z and rhw of all corners, shape (4, 3, n)."""
    vertices = geometry(packet, 0, packet.input.count, ()).vertices
    return vertices.position.astype(np.float64)


def executed(packet: Draw) -> tuple[Work, Counters]:
    counters = Counters()
    return execute_draw(packet, counters), counters


def program(record: Callable[[Builder], None]) -> Program:
    b = Builder(Stage.VERTEX)
    record(b)
    return b.program()


def test_clip_space_goes_to_the_viewport() -> None:
    view = Viewport(10, 20, 40, 8, 0.25, 0.75)
    vertices = [corner(-2, 2, 0, rhw=2), corner(2, -2, 2, rhw=2), corner(0, 0, 1, rhw=2)]
    found = positions(programmed(draw(vertices), viewport=view))[:, :, 0].T.tolist()
    assert found == [[10, 20, 0.25, 0.5], [50, 28, 0.75, 0.5], [30, 24, 0.5, 0.5]]


def test_pixel_centres_are_at_whole_pixels() -> None:
    color = color_surface()
    work, _ = executed(programmed(draw(whole(), color=color, topology=STRIP), size=8))
    assert work.pixels == 64
    assert np.count_nonzero(color.pixels()) == 64
    assert color.pixels()[:8, :8].all()


def test_with_w_1_a_program_draws_what_transformed_vertices_draw() -> None:
    generator = np.random.default_rng(3)
    on_screen, in_clip_space = [], []
    for _ in range(60):
        x, y = generator.integers(0, 32 * 16, 2) / 16
        z, color = generator.integers(0, 64) / 64, int(generator.integers(1 << 32))
        on_screen.append(corner(x, y, z, color))
        in_clip_space.append(corner(x / 16 - 1, 1 - y / 16, z, color))
    pictures = []
    for vertices, convert in ((on_screen, lambda packet: packet), (in_clip_space, programmed)):
        color, depth = color_surface(Format.A8R8G8B8), depth_surface(word=0xFFFFFF00)
        raster = RasterState(Cull.CCW)
        work, _ = executed(convert(draw(vertices, color=color, depth=depth, raster=raster)))
        assert work.pixels
        pictures.append(color.data.tobytes() + depth.data.tobytes())
    assert pictures[0] == pictures[1]


def test_varyings_are_correct_in_perspective() -> None:
    color = color_surface()
    near, far = 1.0, 4.0
    vertices = [corner(-near, near, 0, 0xFF000000, near), corner(far, far, 0, 0xFF0000FF, far),
                corner(-near, -near, 0, 0xFF000000, near),
                corner(far, -far, 0, 0xFF0000FF, far)]  # fmt: skip
    executed(programmed(draw(vertices, color=color, topology=STRIP)))
    t = np.arange(32) / 32
    expected = 255 * (t / far) / ((1 - t) / near + t / far)
    assert (color.pixels()[9] & 0xFF).tolist() == np.floor(expected + 0.5).astype(int).tolist()


def test_each_vertex_of_a_chunk_is_shaded_once() -> None:
    asked = []

    def counting(program: Program, inputs: Any, uniforms: Any, lanes: int, **rest: Any) -> Any:
        if program.stage is Stage.VERTEX:
            asked.append(lanes)
        return run(program, inputs, uniforms, lanes, **rest)

    packet = draw(whole(), color=color_surface(), indices=[0, 1, 2, 2, 1, 3, 0, 1, 3])
    counters = Counters()
    work = execute_draw(programmed(packet), counters, run=counting)
    assert asked == [4]
    assert (work.vertices, work.primitives) == (9, 3)
    assert counters.vertices == 9


def test_what_vertices_lack_reads_0_0_0_1() -> None:
    def record(b: Builder) -> None:
        for component in "xyzw":
            b.output(f"position0.{component}", b.input(f"v0.{component}"))
            b.output(f"color0.{component}", b.input(f"v1.{component}"))

    packet = programmed(draw(whole(), color=color_surface(Format.A8R8G8B8), topology=STRIP),
                        program=program(record))  # fmt: skip
    elements = {a.name: a.element for a in packet.pipeline.attributes}
    attributes = (Attribute("v0", elements["position0"]), Attribute("v1", None))
    executed(replace(packet, pipeline=replace(packet.pipeline, attributes=attributes)))
    assert packet.output.colors[0] is not None
    assert (packet.output.colors[0].pixels() == 0xFF000000).all()


def test_a_colour_that_is_not_written_is_white() -> None:
    color = color_surface()
    executed(programmed(draw(whole(color=0), color=color, topology=STRIP),
                        program=passing("position0")))  # fmt: skip
    assert (color.pixels() == 0xFFFFFFFF).all()


def test_uniforms_reach_the_program() -> None:
    def record(b: Builder) -> None:
        c = b.uniform("c", Type.F32, 4)
        for i, component in enumerate("xyzw"):
            b.output(f"position0.{component}", b.input(f"position0.{component}"))
            b.output(f"color0.{component}", b.load(c, i))

    color = color_surface(Format.A8R8G8B8)
    uniforms = {"c": np.array([1, 0, 0.2, 0.6], np.float32)}
    executed(programmed(draw(whole(), color=color, topology=STRIP), program=program(record),
                        vertex_uniforms=uniforms))  # fmt: skip
    assert (color.pixels() == 0x99FF0033).all()


@pytest.mark.parametrize("z", [-0.5, 1.5])
def test_without_clipping_z_is_clamped(z: float) -> None:
    depth = depth_surface(Format.D32F_LOCKABLE)
    depth.pixels()[...] = 9.0
    for clip, samples in ((True, 0), (False, 1024)):
        test = DepthState(True, True, CmpFunc.ALWAYS)
        packet = draw(whole(z), depth=depth, topology=STRIP, raster=RasterState(clip=clip),
                      test=test)  # fmt: skip
        assert executed(programmed(packet))[1].samples == samples
    assert (depth.pixels() == min(max(z, 0), 1)).all()


def test_clipping_counts_the_triangles_it_adds() -> None:
    across = [corner(-1, 1, 0.5), corner(1, 1, 0.5), corner(0, -1, -0.5)]
    work, counters = executed(programmed(draw(across, color=color_surface())))
    assert (work.primitives, work.triangles, work.clip_triangles) == (1, 2, 1)
    assert (counters.triangles, counters.clip_triangles) == (2, 1)


def test_flat_colours_survive_the_loss_of_their_vertex() -> None:
    color = color_surface()
    across = [corner(0, -1, -0.5, 0xFFFF0000), corner(-1, 1, 0.5, 0xFF00FF00),
              corner(1, 1, 0.5, 0xFF0000FF)]  # fmt: skip
    executed(programmed(draw(across, color=color, raster=RasterState(flat=True))))
    assert set(color.pixels().ravel().tolist()) == {0, 0xFFFF0000}


def half_plane(pictured: dict[str, Any], mask: int, program: Program = PASSING) -> int:
    raster = RasterState(clip_planes=mask, clip=pictured.pop("clip", True))
    packet = draw(whole(), color=color_surface(), topology=STRIP, raster=raster)
    return executed(programmed(packet, program=program, **pictured))[1].samples


def test_user_planes_cut_in_clip_space() -> None:
    planes = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, -0.5))
    assert half_plane({"clip_planes": planes}, 0b00) == 1024
    assert half_plane({"clip_planes": planes}, 0b01) == 512
    assert half_plane({"clip_planes": planes}, 0b10) == 256
    assert half_plane({"clip_planes": planes}, 0b11) == 128
    assert half_plane({"clip_planes": planes, "clip": False}, 0b11) == 1024


def test_a_program_may_know_the_distances_itself() -> None:
    def record(b: Builder) -> None:
        for component in "xyzw":
            b.output(f"position0.{component}", b.input(f"position0.{component}"))
        b.output("clip1.x", b.input("position0.y") - 0.5)

    planes = ((0.0, 0.0, 0.0, -1.0),) * 2
    assert half_plane({"clip_planes": planes}, 0b10, program(record)) == 256


def test_the_provoking_vertex_and_the_order_stay_when_some_are_clipped() -> None:
    color = color_surface()
    first = [corner(-1, 1, 0.5, 0xFF0000FF), corner(3, 1, 0.5, 0xFF0000FF),
             corner(-1, -3, 0.5, 0xFF0000FF)]  # fmt: skip
    second = [corner(-1, 1, 0.5, 0xFF00FF00), corner(3, 1, 0.5, 0xFF00FF00),
              corner(-1, -3, -0.5, 0xFF00FF00)]  # fmt: skip
    executed(programmed(draw([*second, *first], color=color)))
    assert (color.pixels() == 0xFF0000FF).all()


@pytest.mark.parametrize("chunk", [1, 4])
def test_portions_do_not_change_a_clipped_draw(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(chunk)
    vertices = [corner(*generator.uniform(-2, 2, 3), int(generator.integers(1 << 32)),
                       generator.uniform(-0.5, 2)) for _ in range(60)]  # fmt: skip
    results = []
    for size in (1 << 13, chunk):
        monkeypatch.setattr(dp2emu.gpu.draw.draw_stages, "CHUNK", size)
        color = color_surface()
        packet = programmed(draw(vertices, color=color))
        results.append((executed(packet), color.data.tobytes()))
    assert results[0] == results[1]


def test_degenerate_positions_draw_nothing() -> None:
    for bad in ((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.5, float("nan")), (0.0, 0.0, 0.5, -1.0)):
        x, y, z, w = bad
        work, _ = executed(programmed(draw([corner(x, y, z, rhw=w)] * 3, color=color_surface())))
        assert work.pixels == 0


@pytest.mark.parametrize("topology", [PrimitiveType.LINELIST, PrimitiveType.POINTLIST])
def test_lines_and_points_are_transformed_and_clipped(topology: PrimitiveType) -> None:
    vertices = [corner(-1, 0, 0.5), corner(1, 0, -0.5)]
    work, counters = executed(programmed(draw(vertices, color=color_surface(), topology=topology)))
    assert work.pixels == {PrimitiveType.LINELIST: 17, PrimitiveType.POINTLIST: 1}[topology]
    assert counters.clip_triangles == 0


def coordinates(
    wrap: tuple[int, ...], *corners: tuple[float, float], **raster: Any
) -> dict[str, list[float]]:
    """Texture coordinate 1 of the corners of a triangle, whose vertices are programmed."""

    def record(b: Builder) -> None:
        for component in "xyzw":
            b.output(f"position0.{component}", b.input(f"position0.{component}"))
        for output, source in (("texcoord1.x", "z"), ("texcoord1.y", "w")):
            b.output(output, b.input(f"position0.{source}"))

    vertices = [corner(x, 0.0, u, 0, v) for x, (u, v) in enumerate(corners)]
    state = RasterState(clip=False, wrap=wrap, **raster)
    packet = programmed(draw(vertices, raster=state), program=program(record))
    found = geometry(packet, 0, 1, ("texcoord1.x", "texcoord1.y")).vertices
    return {name: found.varyings[lane, :, 0].tolist() for lane, name in enumerate(found.names)}


def test_texture_coordinates_that_wrap_go_the_shortest_way_around() -> None:
    corners = (0.875, 0.875), (0.125, 0.125), (0.5, 2.0)
    plain = {"texcoord1.x": [0.875, 0.125, 0.5], "texcoord1.y": [0.875, 0.125, 2.0]}
    assert coordinates((), *corners) == plain
    assert coordinates((3, 0, 3), *corners) == plain
    around = {"texcoord1.x": [0.875, 1.125, 0.5], "texcoord1.y": [0.875, 1.125, 1.0]}
    assert coordinates((0, 3), *corners) == around
    assert coordinates((0, 1), *corners) == around | {"texcoord1.y": plain["texcoord1.y"]}
    assert coordinates((0, 2), *corners) == around | {"texcoord1.x": plain["texcoord1.x"]}


def test_half_a_texture_is_no_detour() -> None:
    corners = (0.25, 0.75), (0.75, 0.25), (0.25, 0.75)
    assert coordinates((0, 3), *corners) == coordinates((), *corners)


def test_half_centres_are_half_a_pixel_up_and_left() -> None:
    vertices = [corner(-1, 1), corner(1, -1), corner(-0.25, 0.5)]
    packet = programmed(draw(vertices))
    halved = programmed(draw(vertices, raster=RasterState(half_centres=True)))
    moved = positions(packet) - positions(halved)
    assert moved.tolist() == [[[0.5]] * 3, [[0.5]] * 3, [[0.0]] * 3, [[0.0]] * 3]


def test_with_half_centres_a_pixel_is_drawn_whose_middle_is_inside() -> None:
    # Edges at 2.25, 2.5 and 2.75 of 8 pixels: of pixel 2 the middle is at 2.5, on a left edge in.
    for edge, drawn in ((2.25, 6), (2.5, 6), (2.75, 5)):
        left = edge / 4 - 1
        vertices = [corner(left, 1), corner(1, 1), corner(left, -1), corner(1, -1)]
        raster = RasterState(half_centres=True)
        packet = draw(vertices, color=color_surface(), topology=STRIP, raster=raster)
        work, _ = executed(programmed(packet, size=8))
        assert work.pixels == 8 * drawn


def distant(kind: str, *distances: float) -> Draw:
    """A list of one triangle over the left half, whose corners have a distance of their own."""

    def record(b: Builder) -> None:
        for component in "xyzw":
            b.output(f"position0.{component}", b.input(f"position0.{component}"))
        b.output(f"{kind}0.x", b.input("color0.x"))
        b.output(f"{kind}1.x", 1.0)

    places = ((-1, 1), (1, 1), (-1, -1))
    packet = programmed(
        draw(
            [corner(x, y) for x, y in places],
            color=color_surface(),
            raster=RasterState(clip=False, **{f"{kind}_distances": 2}),
        ),
        program=program(record),
    )
    element = Element(1, 0, DxgiFormat.R32_FLOAT, DeclUsage.COLOR)
    attributes = (packet.pipeline.attributes[0], Attribute("color0", element))
    stream = Stream(np.array(distances, "<f4").tobytes(), 0, 4)
    return rebound(
        packet,
        pipeline=replace(packet.pipeline, attributes=attributes),
        streams=(packet.input.streams[0], stream),
    )


@pytest.mark.parametrize(
    ("distances", "kept"),
    [
        ((1, 1, 1), True),
        ((-1, -1, -1), False),
        ((-1, -1, 0), True),
        ((np.nan, -1, -1), False),
        ((np.nan, 1, -1), True),
        ((-1, -1, -0.0), True),
    ],
)
def test_a_primitive_is_culled_if_a_distance_is_negative_at_all_corners(
    distances: tuple[float, ...], kept: bool
) -> None:
    assert (executed(distant("cull", *distances))[1].samples > 0) is kept


def test_what_is_culled_by_distance_enters_clipping_and_does_not_leave_it() -> None:
    counters = executed(distant("cull", -1, -1, -1))[1]
    assert (counters.primitives, counters.clipped) == (1, 0)


def test_clip_distances_of_their_own_cut_whatever_clipping_says() -> None:
    whole_count = executed(distant("clip", 1, 1, 1))[1].samples
    part = executed(distant("clip", 1, -1, 1))[1].samples
    assert 0 < part < whole_count
    assert executed(distant("clip", -1, -1, -1))[1].samples == 0


def test_a_clip_distance_that_is_no_number_drops_the_primitive() -> None:
    assert executed(distant("clip", 1, np.nan, 1))[1].samples == 0


def test_pixels_know_the_number_of_their_primitive() -> None:
    b = Builder(Stage.PIXEL)
    b.output("target0.x", b.itof(b.input("primitive_id.x", Type.I32)) / 4.0)
    target = color_surface(Format.R32F)
    packet = draw(
        [corner(x, y) for x in (0, 16) for x, y in ((x, 0), (x + 16, 0), (x, 16))],
        color=target,
        pixel=b.program(),
        count=2,
    )
    execute_draw(packet, Counters())
    row = target.pixels().view(np.float32)[2]
    assert (float(row[2]), float(row[18])) == (0.0, 0.25)
