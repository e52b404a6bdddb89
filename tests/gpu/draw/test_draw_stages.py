"""Whole draws: order, tests, counters and bounds."""

from __future__ import annotations

import gc
import math
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import dp2emu.gpu.draw.draw_stages
import dp2emu.gpu.rasterizer.spans
from dp2emu.d3d.enums import CmpFunc, Cull, Format, PrimitiveType
from dp2emu.d3d.fvf import fvf_layout
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState, RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.draw.draw_stages import Caches, execute_draw
from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.engines import CHECKED, JIT, engine
from dp2emu.shader.ir import Program, Stage
from tests.gpu.drawing import (
    SIZED,
    Vertex,
    color_surface,
    corner,
    depth_surface,
    draw,
    primitives,
    rebound,
    surface,
)
from tests.gpu.model import COMPARE, Canvas, Corner

SIZE = 14


def run(*args: Any, observe_cache: bool = False, **options: Any) -> tuple[Work, Counters]:
    counters = Counters()
    observes = Caches.ALL if observe_cache else Caches.NONE
    work = execute_draw(draw(*args, **options), counters, observes)
    return work, counters


def quad(
    left: float, top: float, right: float, bottom: float, z: float = 0.5, color: int = 0xFFFFFFFF
) -> list[Vertex]:
    """Two triangles, clockwise."""
    a, b = corner(left, top, z, color), corner(right, top, z, color)
    c, d = corner(left, bottom, z, color), corner(right, bottom, z, color)
    return [a, b, c, c, b, d]


coordinate = st.integers(-40, 4 * SIZE + 40).map(lambda n: n / 4)
depth_value = st.sampled_from([0.0, 0.25, 0.5, 0.5, 0.75, 1.0, -0.5, 1.5])
rhw_value = st.sampled_from([1.0, 1.0, 0.5, 2.0])
some_corner = st.builds(
    Corner, coordinate, coordinate, depth_value, rhw_value, st.integers(0, 0xFFFFFFFF)
)
mesh = st.lists(st.tuples(some_corner, some_corner, some_corner), min_size=1, max_size=8)
raster_state = st.builds(
    RasterState, st.sampled_from(list(Cull)), st.booleans(), st.booleans(), st.booleans()
)
depth_state = st.builds(
    DepthState,
    st.booleans(),
    st.booleans(),
    st.sampled_from(list(CmpFunc)),
    st.sampled_from([0.0, 0.0, 0.125, -0.25]),
    st.sampled_from([0.0, 0.0, 0.5]),
)


def same_as_model(
    triangles: list[tuple[Corner, Corner, Corner]], raster: RasterState, test: DepthState
) -> None:
    canvas = Canvas(SIZE, depth_bits=16)
    color = surface(Format.X8R8G8B8, SIZE, SIZE)
    depth = depth_surface(Format.D16, SIZE, SIZE, word=1 << 15)
    for triangle in triangles:
        canvas.draw(triangle, raster, test)
    vertices = [(c.x, c.y, c.z, c.rhw, c.color) for triangle in triangles for c in triangle]
    work, counters = run(vertices, color=color, depth=depth, raster=raster, test=test)
    assert color.pixels().tolist() == canvas.color
    assert depth.pixels().tolist() == canvas.depth
    assert (work.fragments, work.pixels) == (canvas.tested, canvas.passed)
    assert counters.samples == canvas.passed


@settings(max_examples=150)
@given(mesh, raster_state, depth_state)
def test_a_draw_equals_one_fragment_after_the_other(
    triangles: list[tuple[Corner, Corner, Corner]], raster: RasterState, test: DepthState
) -> None:
    same_as_model(triangles, raster, test)


@pytest.mark.parametrize("func", list(CmpFunc))
def test_overlapping_triangles_see_the_depth_of_earlier_ones(func: CmpFunc) -> None:
    generator = np.random.default_rng(func)
    triangles = []
    for _ in range(60):
        xy, z = generator.uniform(-2, SIZE + 2, (3, 2)), generator.uniform(0, 1, 3)
        colors = generator.integers(0, 1 << 32, 3)
        triangles.append(tuple(
            Corner(float(np.float32(x)), float(np.float32(y)), float(np.float32(z)), 1.0, int(c))
            for (x, y), z, c in zip(xy, z, colors, strict=True)
        ))  # fmt: skip
    same_as_model(triangles, RasterState(), DepthState(True, True, func))


@pytest.mark.parametrize(("chunk", "batch"), [(1, 1 << 17), (3, 5), (1 << 13, 1), (7, 100)])
def test_portions_do_not_change_a_draw(
    chunk: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(9)
    vertices = [corner(*generator.uniform(0, 32, 2), generator.random(),
                       int(generator.integers(1 << 32))) for _ in range(90)]  # fmt: skip
    color, depth = color_surface(), depth_surface(word=0xFFFFFF00)
    expected = run(vertices, color=color, depth=depth)
    monkeypatch.setattr(dp2emu.gpu.draw.draw_stages, "CHUNK", chunk)
    monkeypatch.setattr(dp2emu.gpu.rasterizer.spans, "BATCH", batch)
    again, again_depth = color_surface(), depth_surface(word=0xFFFFFF00)
    assert run(vertices, color=again, depth=again_depth) == expected
    assert again.data.tobytes() == color.data.tobytes()
    assert again_depth.data.tobytes() == depth.data.tobytes()


def test_clockwise_on_the_screen_is_what_cull_cw_culls() -> None:
    vertices = [corner(2, 2), corner(20, 2), corner(2, 20)]
    for cull, triangles in ((Cull.NONE, 1), (Cull.CW, 0), (Cull.CCW, 1)):
        work, _ = run(vertices, color=color_surface(), raster=RasterState(cull))
        assert work.triangles == triangles
        assert bool(work.pixels) == bool(triangles)


def test_degenerate_triangles_are_not_counted() -> None:
    line = [corner(2, 2), corner(9, 9), corner(16, 16)]
    work, counters = run(line, color=color_surface())
    assert (work.primitives, work.triangles, work.fragments) == (1, 0, 0)
    assert counters.primitives == 1
    assert counters.triangles == 0


def test_counters_say_what_was_read_tested_and_written() -> None:
    color, depth = color_surface(), depth_surface(word=0xFFFFFF00)
    work, counters = run(quad(0, 0, 10, 10), color=color, depth=depth)
    assert work == Work(
        vertices=6, vertex_bytes=120, primitives=2, entered=2, triangles=2, fragments=100,
        pixels=100, shaded=100, clipped=2, invocations=100,
        pixel_bytes=100 * (4 + 4 + 4),
    )  # fmt: skip
    assert counters == Counters(
        samples=100, fragments=100, vertices=6, primitives=2, triangles=2, vertex_bytes=120,
        pixel_bytes=1200, entered=2, clipped=2, invocations=100,
    )  # fmt: skip


def test_failed_fragments_are_tested_but_not_shaded() -> None:
    color, depth = color_surface(), depth_surface(word=0)
    work, counters = run(quad(0, 0, 10, 10), color=color, depth=depth)
    assert (work.fragments, work.pixels, work.pixel_bytes) == (100, 0, 400)
    assert counters.samples == counters.fragments == 0
    assert not color.pixels().any()


def killing(writes_depth: float | None = None) -> Program:
    """A pixel program that drops pixels with x below 4, and may write a depth."""
    b = Builder(Stage.PIXEL)
    b.kill(b.input("vpos.x") < 4.0)
    for component in "xyzw":
        b.output(f"target0.{component}", 1.0)
    if writes_depth is not None:
        b.output("depth.x", writes_depth)
    return b.program()


def test_fragments_a_program_kills_were_shaded_but_are_no_samples() -> None:
    color, depth = color_surface(), depth_surface(word=0xFFFFFF00)
    work, counters = run(quad(0, 0, 10, 10), color=color, depth=depth, pixel=killing())
    assert (work.fragments, work.shaded, work.pixels) == (100, 100, 60)
    assert (counters.fragments, counters.samples) == (100, 60)
    # Depth is read for all of them, so that hidden ones need not run the program.
    assert counters.pixel_bytes == 100 * 4 + 60 * (4 + 4)
    assert np.count_nonzero(color.pixels()) == 60
    assert np.count_nonzero(depth.pixels() == 0x80000000) == 60


def test_a_written_depth_is_tested_after_all_were_shaded() -> None:
    depth = depth_surface(word=0x40000000)
    work, counters = run(quad(0, 0, 10, 10, z=0.1), color=color_surface(), depth=depth,
                         pixel=killing(0.5))  # fmt: skip
    assert (work.fragments, work.shaded, work.pixels) == (100, 100, 0)
    assert (counters.fragments, counters.samples, counters.pixel_bytes) == (100, 0, 60 * 4)


def test_fragments_that_fail_early_are_not_shaded() -> None:
    depth = depth_surface(word=0)
    work, counters = run(quad(0, 0, 10, 10), color=color_surface(), depth=depth)
    assert (work.fragments, work.shaded) == (100, 0)
    assert counters.fragments == 0


def alpha_tested(func: CmpFunc, reference: int, alpha: int, program: Program | None = None) -> Any:
    """Counters and depth words of ten by ten pixels with an alpha."""
    depth = depth_surface(word=0xFFFFFF00)
    packet = draw(quad(0, 0, 10, 10, color=alpha << 24), color=color_surface(), depth=depth,
                  pixel=program)  # fmt: skip
    pipeline = replace(packet.pipeline, alpha_test=func)
    counters = Counters()
    execute_draw(
        rebound(packet, pipeline=pipeline, merge=MergeNumbers(alpha_reference=reference)), counters
    )
    return counters, depth.pixels()


@pytest.mark.parametrize("func", list(CmpFunc))
@pytest.mark.parametrize("alpha", [127, 128, 129])
def test_what_fails_the_alpha_test_leaves_no_trace(func: CmpFunc, alpha: int) -> None:
    counters, words = alpha_tested(func, 128, alpha)
    passed = 100 if COMPARE[func](alpha, 128) else 0
    assert (counters.fragments, counters.samples) == (100, passed)
    assert np.count_nonzero(words == 0x80000000) == passed


def test_alpha_test_and_kill_work_together() -> None:
    counters, _ = alpha_tested(CmpFunc.LESS, 200, 0, killing())
    assert counters.samples == 0
    counters, words = alpha_tested(CmpFunc.GREATER, 200, 0, killing())
    assert counters.samples == np.count_nonzero(words == 0x80000000) == 60


@pytest.mark.parametrize(
    ("format", "passing"),
    [
        (Format.A32B32G32R32F, {CmpFunc.GREATER, CmpFunc.GREATEREQUAL, CmpFunc.NOTEQUAL}),
        (Format.A16B16G16R16F, {CmpFunc.GREATER, CmpFunc.GREATEREQUAL, CmpFunc.NOTEQUAL}),
        (Format.A8R8G8B8, {CmpFunc.EQUAL, CmpFunc.LESSEQUAL, CmpFunc.GREATEREQUAL}),
    ],
)
def test_the_alpha_test_on_a_float_target_compares_the_unclamped_output(
    format: Format, passing: set[CmpFunc]
) -> None:
    b = Builder(Stage.PIXEL)
    for component in "xyzw":
        b.output(f"target0.{component}", 1.5)
    packet = draw(quad(0, 0, 10, 10), color=color_surface(format), pixel=b.program())
    merge = MergeNumbers(alpha_reference=255)
    for func in set(CmpFunc) - {CmpFunc.ALWAYS}:
        counters = Counters()
        pipeline = replace(packet.pipeline, alpha_test=func)
        rebuilt = rebound(packet, pipeline=pipeline, merge=merge)
        execute_draw(rebuilt, counters, run=engine(CHECKED))
        assert counters.samples == (100 if func in passing else 0)


def test_a_program_without_a_colour_has_alpha_zero() -> None:
    b = Builder(Stage.PIXEL)
    b.output("depth.x", 0.5)
    for func in (CmpFunc.EQUAL, CmpFunc.GREATER):
        counters, _ = alpha_tested(func, 0, 255, b.program())
        assert counters.samples == (100 if func is CmpFunc.EQUAL else 0)


def test_without_a_depth_buffer_every_fragment_passes() -> None:
    work, counters = run(quad(0, 0, 10, 10), color=color_surface(), test=DepthState(True, True))
    assert work.pixels == counters.samples == 100


def test_a_disabled_depth_test_passes_and_writes_nothing() -> None:
    depth = depth_surface(word=0)
    work, _ = run(quad(0, 0, 10, 10), color=color_surface(), depth=depth, test=DepthState())
    assert work.pixels == 100
    assert not depth.pixels().any()


def test_depth_is_kept_without_write_enable() -> None:
    depth = depth_surface(word=0xFFFFFF11)
    test = DepthState(True, False)
    run(quad(0, 0, 10, 10), color=color_surface(), depth=depth, test=test)
    assert (depth.pixels() == 0xFFFFFF11).all()


def test_stencil_bits_survive_depth_writes() -> None:
    depth = depth_surface(word=0xFFFFFF5A)
    run(quad(0, 0, 32, 32), color=color_surface(), depth=depth)
    assert (depth.pixels() == 0x8000005A).all()


@pytest.mark.parametrize(
    ("format", "cleared", "stored"),
    [
        (Format.D16, 0xFFFF, 0x8000),
        (Format.D16_LOCKABLE, 0xFFFF, 0x8000),
        (Format.D24X8, 0xFFFFFF00, 0x80000000),
        (Format.D32F_LOCKABLE, 1.0, 0.5),
        (Format.D32, 0xFFFFFFFF, 0x80000000),
        (Format.D32_LOCKABLE, 0xFFFFFFFF, 0x80000000),
        (Format.D15S1, 0xFFFE | 1, 0x4000 << 1 | 1),
        (Format.D24X4S4, 0xFFFFFF05, 0x80000005),
        (Format.D24FS8, 0xF0000005, 0xE0000005),
    ],
)
def test_every_depth_format_is_tested_and_written(
    format: Format, cleared: float, stored: float
) -> None:
    depth = surface(format)
    depth.pixels()[...] = cleared
    work, _ = run(quad(0, 0, 32, 32), color=color_surface(), depth=depth)
    assert work.pixels == 32 * 32
    assert (depth.pixels() == stored).all()


def test_samples_are_counted_when_no_colour_may_be_written() -> None:
    color = color_surface()
    work, counters = run(quad(0, 0, 10, 10), color=color, write_mask=0)
    assert counters.samples == 100
    assert work.pixel_bytes == 0
    assert not color.pixels().any()


def test_write_masks_keep_the_other_channels() -> None:
    color = color_surface(Format.A8R8G8B8)
    color.pixels()[...] = 0x11223344
    run(quad(0, 0, 32, 32, color=0xFFEEDDCC), color=color, write_mask=1 | 8)
    assert (color.pixels() == 0xFFEE3344).all()


def test_a_sixteen_bit_target_is_written() -> None:
    color = color_surface(Format.R5G6B5)
    run(quad(0, 0, 32, 32, color=0xFFFF8000), color=color)
    assert (color.pixels() == (31 << 11 | 32 << 5)).all()


def test_the_scissor_bounds_everything() -> None:
    color = color_surface()
    scissor = Rect(3, 4, 9, 6)
    work, _ = run(quad(-1e6, -3e38, 3e38, 1e9), color=color, scissor=scissor)
    assert work.fragments == 12
    assert np.count_nonzero(color.pixels()) == 12
    assert color.pixels()[4:6, 3:9].all()


def test_an_empty_scissor_draws_nothing_but_counts_triangles() -> None:
    work, _ = run(quad(0, 0, 9, 9), color=color_surface(), scissor=Rect(9, 9, 9, 9))
    assert (work.triangles, work.fragments) == (2, 0)


def test_nothing_outside_of_the_smaller_surface_is_touched() -> None:
    color, depth = color_surface(), depth_surface(width=8, height=6, word=0xFFFFFF00)
    work, _ = run(quad(-9, -9, 99, 99), color=color, depth=depth)
    assert work.pixels == 48


def test_without_any_target_there_are_no_samples() -> None:
    work, counters = run(quad(0, 0, 9, 9))
    assert work.triangles == 2
    assert counters.samples == 0


def test_depth_alone_is_a_target() -> None:
    depth = depth_surface(word=0xFFFFFF00)
    _, counters = run(quad(0, 0, 9, 9), depth=depth)
    assert counters.samples == 81


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("topology", [
    PrimitiveType.TRIANGLELIST, PrimitiveType.LINELIST, PrimitiveType.POINTLIST,
])  # fmt: skip
def test_a_primitive_with_a_corner_nowhere_is_not_drawn(
    bad: float, axis: int, topology: PrimitiveType
) -> None:
    vertices = [list(v) for v in quad(1, 1, 9, 9)]
    vertices[0][axis] = bad
    color = color_surface()
    work, _ = run(vertices, color=color, topology=topology)
    whole, _ = run(quad(1, 1, 9, 9)[primitives_step(topology):], color=color_surface(),
                   topology=topology)  # fmt: skip
    assert work.pixels == whole.pixels > 0


def primitives_step(topology: PrimitiveType) -> int:
    return next(n for n in (1, 2, 3) if primitives(topology, n) == 1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1.0, 0.0, 1e-45, 3e38])
@pytest.mark.parametrize("field", [2, 3])
@pytest.mark.parametrize("clip", [True, False])
def test_any_z_and_rhw_give_defined_pixels(bad: float, field: int, clip: bool) -> None:
    vertices = [list(v) for v in quad(1, 1, 9, 9, color=0xFF804020)]
    vertices[1][field] = bad
    pictures = []
    for _ in range(2):
        color, depth = color_surface(), depth_surface(Format.D32F_LOCKABLE)
        depth.pixels()[...] = 1.0
        run(vertices, color=color, depth=depth, raster=RasterState(clip=clip))
        assert np.isfinite(depth.pixels()).all()
        pictures.append(color.data.tobytes() + depth.data.tobytes())
    assert pictures[0] == pictures[1]


def test_strips_and_fans_share_vertices() -> None:
    a, b, c, d = corner(2, 2), corner(12, 2), corner(2, 12), corner(12, 12)
    for topology, vertices in (
        (PrimitiveType.TRIANGLESTRIP, [a, b, c, d]),
        (PrimitiveType.TRIANGLEFAN, [a, b, d, c]),
    ):
        raster = RasterState(Cull.CCW)
        work, _ = run(vertices, topology=topology, color=color_surface(), raster=raster)
        assert (work.vertices, work.primitives, work.pixels) == (4, 2, 100)


def test_indexed_draws_read_the_vertices_they_name() -> None:
    vertices = [corner(99, 99), corner(2, 2), corner(12, 2), corner(2, 12), corner(12, 12)]
    work, counters = run(
        vertices, indices=[1, 2, 3, 3, 2, 4], color=color_surface(), observe_cache=True
    )
    assert (work.vertices, work.pixels) == (6, 100)
    assert (counters.vertex_cache_hits, counters.vertex_cache_misses) == (2, 4)


def test_the_vertex_cache_is_only_observed_when_asked() -> None:
    _, counters = run(quad(0, 0, 9, 9), indices=[0, 0, 0], color=color_surface())
    assert counters.vertex_cache_misses == 0
    _, counters = run(quad(0, 0, 9, 9), color=color_surface(), observe_cache=True)
    assert (counters.vertex_cache_hits, counters.vertex_cache_misses) == (0, 6)


def test_points_take_their_size_from_the_vertex() -> None:
    vertices = [(5.0, 5.0, 0.5, 1.0, 3.0, 0xFF0000FF), (20.0, 20.0, 0.5, 1.0, 0.0, 0xFF0000FF)]
    color = color_surface()
    work, _ = run(vertices, fvf=SIZED, topology=PrimitiveType.POINTLIST, color=color)
    assert work.pixels == 9 + 1
    assert work.triangles == 0
    assert (color.pixels()[4:7, 4:7] == 0xFF0000FF).all()


def test_a_line_strip_draws_its_last_pixel_once() -> None:
    corners = [corner(2, 2), corner(9, 2), corner(9, 9)]
    for last, pixels in ((True, 15), (False, 14)):
        work, _ = run(
            corners,
            topology=PrimitiveType.LINESTRIP,
            color=color_surface(),
            raster=RasterState(last_pixel=last),
        )
        assert work.pixels == pixels


def test_each_line_of_a_list_draws_its_last_pixel() -> None:
    corners = [corner(2, 2), corner(9, 2), corner(2, 5), corner(2, 9)]
    for last, pixels in ((True, 8 + 5), (False, 7 + 4)):
        raster = RasterState(last_pixel=last)
        work, _ = run(corners, topology=PrimitiveType.LINELIST, color=color_surface(),
                      raster=raster)  # fmt: skip
        assert work.pixels == pixels


def test_lines_and_points_are_never_culled() -> None:
    corners = [corner(2, 2), corner(9, 2)]
    for cull in Cull:
        for topology in (PrimitiveType.LINELIST, PrimitiveType.POINTLIST):
            work, _ = run(corners, topology=topology, color=color_surface(),
                          raster=RasterState(cull))  # fmt: skip
            assert work.pixels > 0


def test_colours_run_along_a_line() -> None:
    color = color_surface()
    run([corner(0, 3, color=0xFF000000), corner(20, 3, color=0xFF0000C8)],
        topology=PrimitiveType.LINELIST, color=color)  # fmt: skip
    assert (color.pixels()[3, :21] & 0xFF).tolist() == list(range(0, 201, 10))


def test_only_the_first_target_is_drawn_to() -> None:
    first, second = color_surface(), color_surface()
    packet = draw(quad(0, 0, 9, 9), color=first, colors=(first, second))
    execute_draw(packet, Counters())
    assert first.pixels().any()
    assert not second.pixels().any()


def test_a_draw_of_nothing_is_legal() -> None:
    work, counters = run([], count=0, color=color_surface())
    assert work == Work()
    assert counters == Counters()


def test_vertices_missing_from_the_stream_are_at_the_origin() -> None:
    work, _ = run([corner(8, 0), corner(0, 8)], count=1, color=color_surface())
    assert work.pixels == 36


def test_rows_of_a_padded_surface_are_found_by_its_pitch() -> None:
    color = surface(Format.X8R8G8B8, 5, 5, pitch=64)
    run(quad(0, 0, 5, 5), color=color)
    assert np.count_nonzero(color.data) == 5 * 5 * 4


def test_what_is_not_built_is_refused_before_anything_is_written() -> None:
    depth = depth_surface(word=0xFFFFFF00)
    with pytest.raises(Unsupported, match="render target format D3DFMT_D16"):
        run(quad(0, 0, 4, 4), color=surface(Format.D16), depth=depth)
    assert (depth.pixels() == 0xFFFFFF00).all()


def test_untransformed_vertices_need_a_program() -> None:
    packet = draw(quad(0, 0, 4, 4), color=color_surface())
    pipeline = replace(packet.pipeline, layout=fvf_layout(0x042))
    with pytest.raises(Unsupported, match="vertex transformation"):
        execute_draw(replace(packet, pipeline=pipeline), Counters())


def test_draws_of_a_state_do_not_keep_its_targets() -> None:
    color, depth = color_surface(), depth_surface()
    packet = draw([corner(1, 1), corner(9, 1), corner(1, 9)], color=color, depth=depth)
    for run_programs in (reference.run, engine(JIT)):
        execute_draw(packet, Counters(), run=run_programs)
    words = ref(color.words), ref(depth)
    del color, depth, packet
    gc.collect()
    assert [each() for each in words] == [None, None]
