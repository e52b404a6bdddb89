"""Draws to multisampled targets: depth by sample, colour by pixel, counts by target."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

import dp2emu.gpu.draw.draw_stages
import dp2emu.gpu.rasterizer.spans
from dp2emu.d3d.enums import Blend, BlendOp, FillMode, Format, PrimitiveType
from dp2emu.gpu.command.packets import MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState, RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from dp2emu.shader.ir import Stage
from dp2emu.shader.values import Value
from tests.gpu.draw.test_draw_stages import SIZE, depth_state, mesh, quad, raster_state, run
from tests.gpu.drawing import MAPPED, SIZED, Vertex, color_surface, corner, depth_surface, draw
from tests.gpu.model import Canvas, Corner
from tests.gpu.rasterizer.test_multisample import STANDARD

WHITE = 0xFFFFFFFF


@settings(max_examples=60)
@given(mesh, raster_state, depth_state, st.sampled_from([2, 4, 8]), st.booleans())
def test_a_draw_equals_one_sample_after_the_other(
    triangles: list[tuple[Corner, Corner, Corner]], raster: RasterState, test: DepthState,
    samples: int, multisample: bool,
) -> None:  # fmt: skip
    raster = replace(raster, multisample=multisample)
    canvas = Canvas(SIZE, 16, tuple(STANDARD[samples]))
    color = color_surface(Format.X8R8G8B8, SIZE, SIZE, samples)
    depth = depth_surface(Format.D16, SIZE, SIZE, word=1 << 15, samples=samples)
    for triangle in triangles:
        canvas.draw(triangle, raster, test)
    vertices = [(c.x, c.y, c.z, c.rhw, c.color) for triangle in triangles for c in triangle]
    work, counters = run(vertices, color=color, depth=depth, raster=raster, test=test)
    assert color.pixels().tolist() == canvas.color
    assert depth.pixels().tolist() == canvas.depth
    assert (work.fragments, work.pixels) == (canvas.tested, canvas.passed)
    assert counters.samples == 0
    assert counters.multisamples.passed == {(color.serial, samples): canvas.passed}


@pytest.mark.parametrize(("chunk", "batch"), [(1, 1 << 17), (3, 5), (1 << 13, 1), (7, 100)])
def test_portions_do_not_change_a_draw(
    chunk: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(9)
    vertices = [corner(*generator.uniform(0, 32, 2), generator.random(),
                       int(generator.integers(1 << 32))) for _ in range(60)]  # fmt: skip

    def drawn() -> tuple[bytes, bytes]:
        color, depth = color_surface(samples=4), depth_surface(word=0xFFFFFF00, samples=4)
        run(vertices, color=color, depth=depth)
        return color.data.tobytes(), depth.data.tobytes()

    expected = drawn()
    monkeypatch.setattr(dp2emu.gpu.draw.draw_stages, "CHUNK", chunk)
    monkeypatch.setattr(dp2emu.gpu.rasterizer.spans, "BATCH", batch)
    assert drawn() == expected


def covered(vertices: list[Vertex], samples: int = 4, **options: object) -> NDArray[np.bool_]:
    """Shape (rows, columns, samples)."""
    color = color_surface(samples=samples)
    run(vertices, color=color, **options)
    lit: NDArray[np.bool_] = color.pixels().reshape(32, 32, samples) != 0
    return lit


def plain(vertices: list[Vertex], **options: object) -> NDArray[np.bool_]:
    color = color_surface()
    run(vertices, color=color, **options)
    lit: NDArray[np.bool_] = color.pixels() != 0
    return lit


SLANTED = [corner(1.3, 2.1), corner(25.7, 13.4), corner(9.2, 28.6)]


def aliased(vertices: list[Vertex], **options: object) -> bool:
    """Whether all samples of a pixel are drawn or none, as on a plain target."""
    found, expected = covered(vertices, **options), plain(vertices, **options)
    return bool((found == expected[:, :, None]).all()) and bool(expected.any())


def test_triangles_are_covered_by_sample_unless_the_state_says_otherwise() -> None:
    assert not aliased(SLANTED)
    assert aliased(SLANTED, raster=RasterState(multisample=False))


def test_lines_are_aliased_also_those_of_a_wireframe() -> None:
    wire = RasterState(fill=FillMode.WIREFRAME)
    assert aliased(SLANTED[:2], topology=PrimitiveType.LINELIST)
    assert aliased(SLANTED, raster=wire)


def test_antialiased_lines_are_ignored_on_multisampled_targets() -> None:
    found = covered(SLANTED[:2], topology=PrimitiveType.LINELIST,
                    raster=RasterState(smooth_lines=True))  # fmt: skip
    assert (found == plain(SLANTED[:2], topology=PrimitiveType.LINELIST)[:, :, None]).all()


def test_samples_of_a_pixel_are_dithered_alike() -> None:
    single, multi = (color_surface(Format.R5G6B5, samples=samples) for samples in (1, 4))
    for color in (single, multi):
        packet = draw(quad(-1, -1, 33, 33, color=0xFF123456), color=color)
        pipeline = replace(packet.pipeline, dither=True)
        execute_draw(replace(packet, pipeline=pipeline), Counters())
    assert len(np.unique(single.pixels())) > 1
    assert (multi.pixels().reshape(32, 32, 4) == single.pixels()[:, :, None]).all()


def test_points_are_squares_whose_samples_are_covered_one_by_one() -> None:
    point = [(8.0, 8.0, 0.5, 1.0, 1.0, WHITE)]
    found = covered(point, fvf=SIZED, topology=PrimitiveType.POINTLIST)
    assert found[8, 8].all()
    assert found.sum() == 4
    point = [(8.5, 8.0, 0.5, 1.0, 1.0, WHITE)]
    found = covered(point, fvf=SIZED, topology=PrimitiveType.POINTLIST)
    assert found[8, 8].tolist() == [dx >= 0 for dx, _ in STANDARD[4]]
    assert found[8, 9].tolist() == [dx < 0 for dx, _ in STANDARD[4]]


@pytest.mark.parametrize("mask", [0, 0b0101, 0b1000, 0b1111, 0xFFFFFFF0])
def test_only_samples_of_the_mask_are_drawn_to_and_counted(mask: int) -> None:
    color = color_surface(samples=4)
    numbers = MergeNumbers(sample_mask=mask)
    work, counters = run(quad(-1, -1, 33, 33), color=color, merge=numbers)
    lit = color.pixels().reshape(32, 32, 4) != 0
    assert (lit == [bool(mask >> s & 1) for s in range(4)]).all()
    assert work.pixels == 32 * 32 * (mask & 15).bit_count()
    assert sum(counters.multisamples.passed.values()) == work.pixels


def test_the_mask_means_nothing_on_a_plain_target() -> None:
    assert plain(quad(0, 0, 32, 32), merge=MergeNumbers(sample_mask=0)).all()


def test_a_program_kills_whole_pixels() -> None:
    b = Builder(Stage.PIXEL)
    b.kill(b.input("vpos.x") > 15.5)
    for component in "xyzw":
        b.output(f"target0.{component}", 1.0)
    found = covered(quad(-1, -1, 33, 33), pixel=b.program())
    assert found[:, :16].all()
    assert not found[:, 16:].any()


def test_samples_blend_one_by_one() -> None:
    add = BlendEquation(Blend.ONE, Blend.ONE, BlendOp.ADD)
    color = color_surface(samples=4)
    packet = draw(quad(0, 0, 8, 8, color=0xFF102030) + quad(4, 0, 12, 8, color=0xFF102030),
                  color=color)  # fmt: skip
    pipeline = replace(packet.pipeline, blend=BlendState(add, add))
    execute_draw(replace(packet, pipeline=pipeline), Counters())
    row = color.pixels()[3].reshape(32, 4)
    assert (row[[1, 2, 9, 10]] == 0xFF102030).all()
    assert (row[5:7] == 0xFF204060).all()
    # Both squares share the samples right of column 4's centre.
    expected = [0xFF204060 if dx >= 0 else 0xFF102030 for dx, _ in STANDARD[4]]
    assert row[4].tolist() == expected


def test_depth_alone_counts_for_the_depth_surface() -> None:
    depth = depth_surface(word=0xFFFFFF00, samples=2)
    _, counters = run(quad(-1, -1, 5, 5), depth=depth)
    assert counters.multisamples.passed == {(depth.serial, 2): 2 * 25 + 2 * 5 + 1}


def test_several_draws_to_one_target_add_up() -> None:
    color, counters = color_surface(samples=8), Counters()
    for _ in range(3):
        execute_draw(draw(quad(-1, -1, 3.5, 3.5), color=color), counters)
    assert counters.multisamples.passed == {(color.serial, 8): 3 * 8 * 16}


def covered_by_alpha(alpha: float, samples: int, **options: object) -> tuple[list[bool], int]:
    """Samples of a pixel that are drawn, and how many count, with alpha to coverage."""
    b = Builder(Stage.PIXEL)
    for component in "xyz":
        b.output(f"target0.{component}", 1.0)
    b.output("target0.w", alpha)
    color, counters = color_surface(samples=samples), Counters()
    packet = draw(quad(-1, -1, 3.5, 3.5), color=color, pixel=b.program(), **options)
    pipeline = replace(packet.pipeline, alpha_to_coverage=True)
    execute_draw(replace(packet, pipeline=pipeline), counters)
    lit = (color.pixels().reshape(32, 32, samples) != 0)[:4, :4].reshape(16, samples)
    assert (lit == lit[0]).all()
    return lit[0].tolist(), sum(counters.multisamples.passed.values())


@pytest.mark.parametrize("samples", [2, 4, 8])
@pytest.mark.parametrize("alpha", [0.0, 0.06, 0.0625, 0.2, 0.3, 0.5, 0.8, 0.93, 0.9375, 1.0, 7.0])
def test_alpha_to_coverage_keeps_the_first_samples(alpha: float, samples: int) -> None:
    kept = math.floor(min(float(np.float32(alpha)), 1.0) * samples + 0.5)
    expected = [sample < kept for sample in range(samples)]
    assert covered_by_alpha(alpha, samples) == (expected, 16 * kept)


def test_no_alpha_covers_nothing() -> None:
    assert covered_by_alpha(math.nan, 4) == ([False] * 4, 0)
    assert covered_by_alpha(-1.0, 4) == ([False] * 4, 0)


def test_samples_that_alpha_does_not_cover_keep_their_depth() -> None:
    depth = depth_surface(Format.D16, word=0xFFFF, samples=4)
    covered_by_alpha(0.5, 4, depth=depth)
    assert depth.pixels()[0, :4].tolist() == [0x8000, 0x8000, 0xFFFF, 0xFFFF]


SLOPE = [(0.3125, 0.0, 0.5, 1.0, 0.3125, 0.0), (30.3125, 0.0, 0.5, 1.0, 30.3125, 0.0),
         (0.3125, 30.0, 0.5, 1.0, 0.3125, 30.0)]  # fmt: skip
"""A triangle whose texture coordinates are its places on the screen."""


def seen(record: Callable[[Builder], Value], vertices: list[Vertex] = SLOPE) -> NDArray[Any]:
    """What a program gives, by sample, as floats; NaN is not drawn."""
    b = Builder(Stage.PIXEL)
    b.output("target0.x", record(b))
    color = color_surface(Format.R32F, samples=4)
    color.pixels().view(np.float32)[...] = np.nan
    run(vertices, color=color, pixel=b.program(), fvf=MAPPED)
    found: NDArray[Any] = color.pixels().view(np.float32).reshape(32, 32, 4)
    return found


def only(samples: NDArray[Any]) -> float:
    """What all samples have that are drawn."""
    (number,) = set(samples[~np.isnan(samples)].tolist())
    return float(number)


def test_inputs_are_taken_at_the_centre_also_where_that_is_outside() -> None:
    found = seen(lambda b: b.input("texcoord0.x"))
    assert np.isnan(found[9, 0]).tolist() == [True, False, True, True]
    for x in (0, 1, 7):
        assert only(found[9, x]) == pytest.approx(x, abs=1e-5)


def test_centroids_are_the_first_covered_sample_and_the_centre_if_all_are_covered() -> None:
    across = seen(lambda b: b.input("centroid.texcoord0.x"))
    down = seen(lambda b: b.input("centroid.texcoord0.y"))
    # The last of these pixels has its centre inside and its last sample outside.
    places = {(0, 9): (6 / 16, 9 - 2 / 16), (1, 9): (1, 9), (7, 9): (7, 9),
              (15, 15): (15 - 2 / 16, 15 - 6 / 16)}  # fmt: skip
    assert np.isnan(across[15, 15]).tolist() == [False, False, False, True]
    for (x, y), place in places.items():
        assert (only(across[y, x]), only(down[y, x])) == pytest.approx(place, abs=1e-5)


def test_one_varying_may_be_read_both_ways() -> None:
    found = seen(lambda b: b.input("centroid.texcoord0.x") - b.input("texcoord0.x"))
    assert only(found[9, 0]) == pytest.approx(6 / 16, abs=1e-5)
    assert only(found[9, 5]) == 0.0


def test_centroids_have_derivatives_too() -> None:
    def record(b: Builder) -> Value:
        return b.ddx(b.input("centroid.texcoord0.x"))

    found = seen(record)
    assert only(found[9, 8]) == pytest.approx(1, abs=1e-5)
    assert only(found[9, 0]) == pytest.approx(1 - 6 / 16, abs=1e-5)


def test_colours_are_centroids_by_themselves() -> None:
    """Direct3D 9: never beyond what the corners have."""
    color = color_surface(samples=4)
    run([corner(0.3125, 0, color=0xFF000000), corner(30.3125, 0, color=0xFFFF0000),
         corner(0.3125, 30, color=0xFF000000)], color=color)  # fmt: skip
    red = color.pixels()[9].reshape(32, 4) >> 16 & 0xFF
    assert red[0].tolist() == [0, math.floor((6 - 5) / 16 / 30 * 255 + 0.5), 0, 0]


def test_on_plain_targets_a_centroid_is_the_centre() -> None:
    for name in ("texcoord0.x", "centroid.texcoord0.x"):
        b = Builder(Stage.PIXEL)
        b.output("target0.x", b.input(name))
        color = color_surface(Format.R32F)
        run(SLOPE, color=color, pixel=b.program(), fvf=MAPPED)
        assert color.pixels().view(np.float32)[9, 1:9] == pytest.approx(range(1, 9), abs=1e-5)


def test_several_targets_have_their_samples_each() -> None:
    b = Builder(Stage.PIXEL)
    for number, value in ((0, 1.0), (1, 0.5)):
        for component in "xyzw":
            b.output(f"target{number}.{component}", value)
    colors = (color_surface(samples=4), color_surface(Format.R5G6B5, samples=4))
    packet = draw(SLANTED, color=colors[0], pixel=b.program(), colors=colors)
    pipeline = replace(packet.pipeline, write_masks=(15, 15),
                       color_formats=tuple(color.format for color in colors))  # fmt: skip
    counters = Counters()
    execute_draw(replace(packet, pipeline=pipeline), counters)
    inside = covered(SLANTED).reshape(32, 128)
    assert ((colors[0].pixels() == WHITE) == inside).all()
    assert ((colors[1].pixels() == 0x8410) == inside).all()
    assert counters.multisamples.passed == {(colors[0].serial, 4): inside.sum()}
