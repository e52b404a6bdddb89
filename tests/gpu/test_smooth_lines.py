"""Antialiased and patterned lines: coverage in fractions, patterns pixel by pixel."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.enums import Blend, FillMode, Format, PrimitiveType
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import SOLID, LinePattern
from dp2emu.gpu.command.pipeline import DepthState, RasterState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.rasterizer.lines_and_points import diamond_exit, line_spans, smooth
from dp2emu.gpu.rasterizer.spans import Spans, snap
from dp2emu.gpu.resource.heap import Heap, SurfaceDesc, SurfaceKind
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from tests.gpu.drawing import color_surface, corner, depth_surface, draw, rebound

REGION = Rect(-3, 2, 11, 13)
HALF = Fraction(1, 2)
SCREEN = Rect(0, 0, 40, 40)
SMOOTH = RasterState(smooth_lines=True)

Point = tuple[float, float]
Line = tuple[Point, Point]


def overlap(low: Fraction, high: Fraction, pixel: int) -> Fraction:
    return max(min(high, pixel + HALF) - max(low, pixel - HALF), Fraction(0))


def model(line: Line, region: Rect = REGION) -> NDArray[np.float64]:
    """How much of each pixel the boxes of a line cover."""
    (ax, ay), (bx, by) = (tuple(Fraction(round(Fraction(v) * 256), 256) for v in p) for p in line)
    covers = np.zeros((region.bottom - region.top, region.right - region.left))
    if (ax, ay) == (bx, by):
        return covers
    steep = abs(by - ay) > abs(bx - ax)
    if steep:
        ax, ay, bx, by = ay, ax, by, bx
    for y in range(region.top, region.bottom):
        for x in range(region.left, region.right):
            along, across = (y, x) if steep else (x, y)
            middle = ay + (by - ay) * (along - ax) / (bx - ax)
            part = overlap(min(ax, bx), max(ax, bx), along)
            part *= overlap(middle - HALF, middle + HALF, across)
            covers[y - region.top, x - region.left] = float(part)
    return covers


def collected(spans: Iterable[Spans], region: Rect = REGION) -> NDArray[np.float64]:
    covers = np.zeros((region.bottom - region.top, region.right - region.left))
    for part in spans:
        assert part.coverage is not None
        assert (part.coverage > 0).all()
        for y, left, cover in zip(part.y, part.left, part.coverage, strict=True):
            assert covers[y - region.top, left - region.left] == 0
            covers[y - region.top, left - region.left] = cover
    return covers


def engine(line: Line) -> NDArray[np.float64]:
    ends = np.array([line], np.float32).transpose(2, 1, 0)
    one = np.ones(1, bool)
    return collected(line_spans(snap(ends[0]), snap(ends[1]), one, REGION, smooth))


f32 = np.float32
fine = st.integers(-1500, 5000).map(lambda n: float(f32(n / 300)))
lattice = st.integers(-10, 28).map(lambda n: n / 2)
huge = st.sampled_from([1e8, -1e8, 2.0**21, 2.0**21 + 1, 3e38, -3e38, 1e20])
number = st.one_of(lattice, fine, huge)
some_line = st.tuples(st.tuples(number, number), st.tuples(number, number))


@settings(max_examples=150)
@given(some_line)
def test_coverage_is_the_part_of_a_pixel_the_line_covers(line: Line) -> None:
    assert np.abs(engine(line) - model(line)).max() < 1e-6


@settings(max_examples=60)
@given(some_line)
def test_python_integers_give_what_int64_gives(line: Line) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dp2emu.gpu.rasterizer.spans.EXACT_LIMIT", -1)
        exact = engine(line)
    assert np.abs(engine(line) - exact).max() < 1e-6


def test_a_line_covers_as_much_as_it_is_long() -> None:
    for line in (((0.25, 4.0), (7.75, 6.5)), ((4.0, 3.125), (5.5, 11.0))):
        (ax, ay), (bx, by) = line
        assert abs(engine(line).sum() - max(abs(bx - ax), abs(by - ay))) < 1e-5


def test_lines_keep_their_order() -> None:
    ends = np.array([((0.0, 3.0), (9.0, 8.0)), ((-1e9, -1e9), (1e9, 1e9))] * 2, np.float32)
    x, y = snap(ends[:, :, 0].T), snap(ends[:, :, 1].T)
    parts = list(line_spans(x, y, np.ones(4, bool), REGION, smooth))
    primitives = np.concatenate([part.primitive for part in parts]).tolist()
    assert primitives == sorted(primitives)
    assert set(primitives) == {0, 1, 2, 3}


BLEND = BlendState(*(BlendEquation(Blend.SRCALPHA, Blend.INVSRCALPHA),) * 2)
ENDS = [corner(2.25, 5.25, 0.5, 0xFFFFFFFF), corner(8.25, 5.25, 0.5, 0xFFFFFFFF)]
LINES = PrimitiveType.LINELIST


def test_coverage_multiplies_alpha() -> None:
    color = color_surface(Format.A8R8G8B8)
    white = [corner(*ENDS[n][:2], 0.5, 0x80FFFFFF) for n in (0, 1)]
    execute_draw(draw(white, color=color, topology=LINES, raster=SMOOTH), Counters())
    alpha = (color.pixels() >> 24).astype(int)
    wanted = np.zeros((32, 32))
    wanted[5, 2:9] = [0.25, 1, 1, 1, 1, 1, 0.75]
    wanted[6] = wanted[5] * 0.25
    wanted[5] *= 0.75
    assert np.abs(alpha - wanted * 0x80).max() <= 0.5 + 1e-3


def test_blending_shows_it() -> None:
    color = color_surface()
    packet = draw(ENDS, color=color, topology=LINES, raster=SMOOTH)
    counters = Counters()
    execute_draw(replace(packet, pipeline=replace(packet.pipeline, blend=BLEND)), counters)
    assert (color.pixels()[4:8, 4] & 0xFF).tolist() == [0, 191, 64, 0]
    assert counters.samples == 14


def test_wireframes_are_antialiased_too() -> None:
    color = color_surface(Format.A8R8G8B8)
    triangle = [corner(2, 2), corner(20, 2.5), corner(2, 20)]
    execute_draw(
        draw(triangle, color=color, raster=replace(SMOOTH, fill=FillMode.WIREFRAME)), Counters()
    )
    assert len(np.unique(color.pixels() >> 24)) > 5


def test_filled_triangles_and_points_are_not() -> None:
    for topology in (PrimitiveType.TRIANGLELIST, PrimitiveType.POINTLIST):
        pictures = []
        for raster in (SMOOTH, RasterState()):
            color = color_surface(Format.A8R8G8B8)
            triangle = [corner(2, 2), corner(20, 2.5), corner(2, 20)]
            execute_draw(draw(triangle, color=color, topology=topology, raster=raster), Counters())
            pictures.append(color.data.tobytes())
        assert pictures[0] == pictures[1]


def test_multisampled_targets_have_no_antialiased_lines() -> None:
    pictures = []
    for raster in (SMOOTH, RasterState()):
        desc = SurfaceDesc(1, SurfaceKind.SURFACE, 16, 16, Format.A8R8G8B8, samples=4)
        color = Heap().create(desc)
        packet = draw(ENDS, color=color, topology=LINES, raster=raster)
        execute_draw(replace(packet, pipeline=replace(packet.pipeline, samples=4)), Counters())
        pictures.append(color.data.tobytes())
    assert pictures[0] == pictures[1]


def patterned(line: Line, pattern: LinePattern, region: Rect = SCREEN) -> NDArray[np.bool_]:
    ends = np.array([line], np.float32).transpose(2, 1, 0)
    drawn = np.zeros((region.bottom - region.top, region.right - region.left), bool)
    one = np.ones(1, bool)
    for part in line_spans(snap(ends[0]), snap(ends[1]), one, region, diamond_exit, pattern):
        drawn[part.y - region.top, part.left - region.left] = True
    return drawn


@pytest.mark.parametrize("repeat", [1, 2, 3, 7])
@pytest.mark.parametrize("bits", [0x0001, 0x8000, 0xAAAA, 0x3335, 0xFFFF, 0])
def test_bits_of_a_pattern_are_runs_of_pixels_from_its_start(repeat: int, bits: int) -> None:
    wanted = [bits >> (n // repeat) % 16 & 1 == 1 for n in range(37)]
    pattern = LinePattern(repeat, bits)
    for line, along in (
        (((2, 5), (38, 5)), lambda drawn: drawn[5, 2:39]),
        (((38, 5), (2, 5)), lambda drawn: drawn[5, 38:1:-1]),
        (((5, 2), (5, 38)), lambda drawn: drawn[2:39, 5]),
        (((5, 38), (5, 2)), lambda drawn: drawn[38:1:-1, 5]),
    ):
        assert along(patterned(line, pattern)).tolist() == wanted  # type: ignore[no-untyped-call]


def test_what_is_cut_off_counts_in_a_pattern() -> None:
    line, pattern = ((-7.0, 5.0), (30.0, 5.0)), LinePattern(2, 0x00F3)
    whole = patterned(line, pattern, Rect(-10, 0, 40, 40))
    assert (patterned(line, pattern) == whole[:, 10:]).all()


@settings(max_examples=60)
@given(some_line, st.integers(1, 255), st.integers(0, 0xFFFF))
def test_patterns_only_take_pixels_away_whatever_the_line(
    line: Line, repeat: int, bits: int
) -> None:
    whole = patterned(line, SOLID)
    on, off = (patterned(line, LinePattern(repeat, b)) for b in (bits, ~bits & 0xFFFF))
    assert not (on & off).any()
    assert ((on | off) == whole).all()


def test_each_line_begins_its_pattern() -> None:
    color = color_surface()
    strip = [corner(2, 5), corner(10, 5), corner(10, 12)]
    packet = draw(strip, color=color, topology=PrimitiveType.LINESTRIP)
    execute_draw(rebound(packet, line_pattern=LinePattern(1, 0x0005)), Counters())
    found = sorted(zip(*(axis.tolist() for axis in np.nonzero(color.pixels())), strict=True))
    assert found == [(5, 2), (5, 4), (5, 10), (7, 10)]


@pytest.mark.parametrize("topology", list(PrimitiveType)[:3])
@pytest.mark.parametrize("bias_all", [False, True])
def test_bias_moves_lines_and_points_only_before_direct3d_9(
    topology: PrimitiveType, bias_all: bool
) -> None:
    depth = depth_surface(Format.D16, word=0xFFFF)
    test = DepthState(True, True, bias=-0.25, bias_all=bias_all)
    execute_draw(draw(ENDS, depth=depth, test=test, topology=topology), Counters())
    words = set(np.unique(depth.pixels()).tolist()) - {0xFFFF}
    assert words == {0x4000 if bias_all else 0x8000}
