"""Shaders of Direct3D 10 between what a draw reads and what it writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.enums import CmpFunc, Cull, Format, PrimitiveType
from dp2emu.ddi10.shaders.shader import INSTANCE_FILE, pixel_shader, vertex_shader
from dp2emu.errors import ShaderError, Unsupported
from dp2emu.gpu.command.packets import Draw, Indices, Stream
from dp2emu.gpu.command.pipeline import DepthState, RasterState, StencilFace, StencilState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Stage
from dp2emu.shader.types import Type
from tests.ddi10.drawing import SIZE, drawing, strip, tokens
from tests.gpu.drawing import color_surface, rebound, surface
from tests.shader.sm4.making import code_of

FLOATS = Format.A32B32G32R32F


def executed(packet: Draw) -> NDArray[Any]:
    """What is in the target afterwards, shape (SIZE, SIZE, 4) if that is of floats."""
    execute_draw(packet, Counters())
    (target,) = packet.output.colors
    assert target is not None
    if target.format is Format.A8R8G8B8:
        return target.pixels()
    return target.data.view(np.float32).reshape(SIZE, SIZE, 4)


def floats() -> Any:
    return color_surface(FLOATS, SIZE, SIZE)


def bytewise() -> Any:
    return color_surface(Format.A8R8G8B8, SIZE, SIZE)


def test_a_color_goes_through_both_shaders() -> None:
    found = executed(drawing(strip(), floats()))
    assert found.tolist() == [[[1, 0.5, 0.25, 1]] * SIZE] * SIZE


def test_a_target_has_the_color_in_its_format() -> None:
    assert (executed(drawing(strip((1, 0.5, 0, 1)), bytewise())) == 0xFFFF8000).all()


def test_varyings_are_interpolated_to_half_pixels() -> None:
    vertices = strip()
    for vertex, red in zip(vertices, (0, 1, 0, 1), strict=True):
        vertex[4] = red
    found = executed(drawing(vertices, floats()))
    expected = (np.arange(SIZE) + 0.5) / SIZE
    assert (found[:, :, 0] == expected.astype(np.float32)).all()


def test_constant_buffers_are_bound_by_slot() -> None:
    found = executed(drawing(strip(), floats(), ps="ps_const", constants={0: (2, 3, 4, 5)}))
    assert found.tolist() == [[[2, 3, 4, 5]] * SIZE] * SIZE


@pytest.mark.parametrize(("bound", "seen"), [((), [0, 0, 0, 0]), ((7, 8), [7, 8, 0, 0])])
def test_constants_behind_the_end_of_a_buffer_are_0(
    bound: tuple[float, ...], seen: list[float]
) -> None:
    found = executed(drawing(strip(), floats(), ps="ps_const", constants={0: bound}))
    assert found[5, 5].tolist() == seen


def test_a_word_that_a_buffer_ends_within_is_0() -> None:
    shader = pixel_shader(tokens("ps_const"))
    words = shader.uniforms({0: bytes([1, 0, 0, 0, 9, 9])})["cb0"]
    assert words[:3].tolist() == [1, 0, 0]


@pytest.mark.parametrize("instance", [0, 1, 3])
def test_instances_have_a_number_and_data_of_their_own(instance: int) -> None:
    tint = np.array((0.5, 1, 2, 1), "<f4").tobytes()
    # Each instance is half a viewport right of the one before.
    packet = drawing(strip(), floats(), vs="vs_instance", instance=instance,
                     constants={0: (1, 0, 0, 0)}, streams=[tint])  # fmt: skip
    found = executed(packet)
    drawn = (found[:, :, 3] == 1).all(axis=0)
    assert drawn.tolist() == [x >= instance * SIZE // 2 for x in range(SIZE)]
    assert found[:, drawn, :3].reshape(-1, 3).tolist() == [[0.5, 0.5, 0.5]] * drawn.sum() * SIZE


def test_what_is_constant_is_that_of_the_first_corner_of_each_triangle() -> None:
    vertices = strip()
    for number, vertex in enumerate(vertices):
        vertex[4] = number
    found = executed(drawing(vertices, floats(), ps="ps_interp"))
    assert set(found[:, :, 0].ravel().tolist()) == {0, 1}
    assert (found[0, 0, 0], found[-1, -1, 0]) == (0, 1)


@pytest.mark.parametrize("word", [0, 1, -1, 0x7FFFFFFF, -0x80000000, 0x7F800001, -0x7FFFFF])
@pytest.mark.parametrize("near", [0.5, -0.5])
def test_constant_integers_keep_every_bit(word: int, near: float) -> None:
    """Also where clipping makes new corners; red says whether all 32 are there."""
    b = Builder(Stage.PIXEL)
    read = b.input("constant.v1.x", Type.I32)
    b.output("target0.x", b.select(read.eq(word), 1.0, 0.0))
    b.output("target0.w", 1.0)
    vertices = np.array(strip(z=0.5), "<f4")
    vertices[0, 2] = near
    vertices[0, 4] = vertices[1, 4] = np.array([word], np.int64).astype(np.int32).view("<f4")[0]
    packet = drawing([], floats())
    data = replace(packet.input.streams[0] or Stream(b"", 0, 0), data=vertices.tobytes())
    pipeline = replace(packet.pipeline, pixel=b.program())
    found = executed(rebound(packet, pipeline=pipeline, streams=(data,)))
    drawn = found[:, :, 3] == 1
    assert drawn.sum() > SIZE
    assert drawn.all() == (near > 0)
    assert (found[drawn, 0] == 1).all()


def test_without_perspective_varyings_are_linear_on_the_screen() -> None:
    """The right edge is four times as far away, and the picture knows only what it is told."""
    seen = []
    for prefix in ("", "noperspective."):
        b = Builder(Stage.PIXEL)
        b.output("target0.x", b.input(f"{prefix}v1.x"))
        vertices = strip()
        for vertex in vertices:
            right, w = vertex[0] > 0, 4.0 if vertex[0] > 0 else 1.0
            vertex[:4] = [w * each for each in vertex[:4]]
            vertex[4] = float(right)
        packet = drawing(vertices, floats())
        pipeline = replace(packet.pipeline, pixel=b.program())
        seen.append(executed(replace(packet, pipeline=pipeline))[3, :, 0])
    t = (np.arange(SIZE) + 0.5) / SIZE
    assert seen[1].tolist() == pytest.approx(t, abs=1e-6)
    assert seen[0].tolist() == pytest.approx(t / 4 / (1 - t + t / 4), abs=1e-6)


def test_only_a_program_that_reads_it_has_the_number_of_the_instance() -> None:
    for name, there in (("vs_instance", True), ("vs_pass", False)):
        files = {file.name: file for file in vertex_shader(tokens(name)).program.files}
        assert (INSTANCE_FILE in files) is there
    assert vertex_shader(tokens("vs_instance")).uniforms({}, 9)[INSTANCE_FILE].tolist() == [9]


LEFT, RIGHT = ([x in range(left, left + 7) for x in range(SIZE)] for left in (0, 8))
"""Columns where a triangle is that takes half of a cell: on its diagonal are no pixels."""


def numbered(**what: Any) -> list[bool]:
    """Columns of a triangle for three numbers, in the cell of a grid that they say."""
    packet = drawing([], floats(), vs="vs_vertexid", constants={0: (2, 1, 0.5, 0)},
                     topology=PrimitiveType.TRIANGLELIST, **what)  # fmt: skip
    columns: list[bool] = (executed(packet)[:, :, 3] == 1).any(axis=0).tolist()
    return columns


@pytest.mark.parametrize("first", [0, 1, 300])
def test_vertices_are_numbered_from_0_wherever_they_begin(first: int) -> None:
    assert numbered(count=1, first=first) == LEFT
    assert numbered(count=2, first=first) == [a or b for a, b in zip(LEFT, RIGHT, strict=True)]


@pytest.mark.parametrize("base", [0, 100, -2])
def test_the_number_of_a_vertex_is_its_index_without_the_base(base: int) -> None:
    indices = Indices(np.array([9, 3, 4, 5], np.uint32), base=base)
    assert numbered(count=1, first=1, indices=indices) == RIGHT


def test_distances_to_clip_by_are_those_of_the_shader() -> None:
    raster = RasterState(half_centres=True, clip_planes=1)
    packet = drawing(strip(), floats(), vs="vs_clipdist", raster=raster,
                     constants={0: (1, 0, 0, -0.25)}, clip_planes=((0, 0, 0, 0),))  # fmt: skip
    drawn = (executed(packet)[:, :, 3] == 1).all(axis=0)
    assert drawn.tolist() == [x >= 10 for x in range(SIZE)]


@pytest.mark.parametrize(("alpha", "drawn"), [(0.25, 0), (0.75, SIZE * SIZE)])
def test_a_shader_kills(alpha: float, drawn: int) -> None:
    counters = Counters()
    work = execute_draw(drawing(strip((1, 1, 1, alpha)), floats(), ps="ps_clip"), counters)
    assert (work.pixels, counters.samples, counters.invocations) == (drawn, drawn, SIZE * SIZE)


def test_a_shader_without_outputs_is_counted_and_writes_nothing() -> None:
    packet, counters = drawing(strip(), bytewise(), ps="ps_noout"), Counters()
    before = packet.output.colors[0].data.tobytes() if packet.output.colors[0] else b""
    execute_draw(packet, counters)
    assert counters.invocations == SIZE * SIZE
    assert packet.output.colors[0] is not None
    assert packet.output.colors[0].data.tobytes() == before


def test_bits_of_vertices_reach_the_shader_as_they_are() -> None:
    ports = {port.name: port.type for port in vertex_shader(tokens("vs_int")).program.inputs}
    assert set(ports.values()) == {Type.I32}


@pytest.mark.parametrize(
    ("name", "what"),
    [("vs_pass", "vertex shader"), ("gs_zero", "geometry")],
)  # fmt: skip
def test_what_pixel_shaders_cannot_have_yet_is_named(name: str, what: str) -> None:
    with pytest.raises(Unsupported, match=what):
        pixel_shader(tokens(name))


def test_a_pixel_shader_is_no_vertex_shader() -> None:
    with pytest.raises(Unsupported, match="pixel shader"):
        vertex_shader(tokens("ps_color"))


@pytest.mark.parametrize("make", [vertex_shader, pixel_shader])
def test_tokens_that_mean_nothing_are_a_shader_error(make: Any) -> None:
    for code in (b"", b"\0" * 7, code_of("vs_4_0", 0x7FF)):
        with pytest.raises((ShaderError, Unsupported)):
            make(code)


def test_programs_are_made_once() -> None:
    assert pixel_shader(tokens("ps_color")) is pixel_shader(tokens("ps_color"))


def test_a_pixel_shader_reads_where_it_is() -> None:
    """ps_switch is red in the first 8 columns and green in the next."""
    found = executed(drawing(strip(), floats(), ps="ps_switch"))
    columns = [[1, 0, 0, 1]] * 8 + [[0, 1, 0, 1]] * 8
    assert found.tolist() == [columns] * SIZE


def test_the_place_of_a_pixel_is_its_centre() -> None:
    """ps_depth puts d.x + d.y * x into depth: x is 0.5, 1.5 and so on."""
    packet = drawing(strip(), floats(), ps="ps_depth", constants={0: (0, 1 / 16)})
    depth = surface(Format.D32F_LOCKABLE, SIZE, SIZE)
    pipeline = replace(packet.pipeline, depth=DepthState(True, True, CmpFunc.ALWAYS),
                       depth_format=depth.format)  # fmt: skip
    executed(rebound(packet, pipeline=pipeline, depth=depth))
    found = depth.data.view(np.float32).reshape(SIZE, SIZE)
    assert found.tolist() == [[(x + 0.5) / 16 for x in range(SIZE)]] * SIZE


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("mirrored", [False, True])
def test_the_front_is_clockwise_unless_it_is_turned(turned: bool, mirrored: bool) -> None:
    """ps_frontface is green in front and red behind."""
    vertices = strip()
    if mirrored:
        vertices = [vertices[number] for number in (1, 0, 3, 2)]
    raster = RasterState(half_centres=True, turned=turned)
    found = executed(drawing(vertices, floats(), ps="ps_frontface", raster=raster))
    expected = [1, 0, 0, 1] if turned != mirrored else [0, 1, 0, 1]
    assert found.tolist() == [[expected] * SIZE] * SIZE


@pytest.mark.parametrize("turned", [False, True])
def test_the_stencil_test_of_the_back_is_for_what_is_turned(turned: bool) -> None:
    back = StencilState(StencilFace(CmpFunc.NEVER), StencilFace(CmpFunc.ALWAYS))
    packet = drawing(strip(), floats(), raster=RasterState(half_centres=True, turned=turned))
    depth = surface(Format.D24S8, SIZE, SIZE)
    pipeline = replace(packet.pipeline, stencil=back, depth_format=depth.format)
    found = executed(rebound(packet, pipeline=pipeline, depth=depth))
    assert (found[:, :, 3] == turned).all()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("cull", "there"), [(Cull.CW, False), (Cull.CCW, True)])
def test_culling_is_by_direction_whatever_is_the_front(
    turned: bool, cull: Cull, there: bool
) -> None:
    raster = RasterState(cull, half_centres=True, turned=turned)
    found = executed(drawing(strip(), floats(), raster=raster))
    assert (found[:, :, 3] == there).all()
