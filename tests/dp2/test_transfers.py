"""Blits, fills and generated levels: what tokens move, and what is refused."""

from __future__ import annotations

import struct
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.formats import FORMATS
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.device.timing import fixed
from dp2emu.gpu.resource.heap import Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.resource.texels import blocks

from .rigging import (
    BEGIN,
    COLOR,
    COMMANDS,
    DEPTH,
    END,
    Bench,
    create,
    dword,
    issue,
    rectangle,
    render_state,
    token,
    triangle_list,
)

TEXBLT, VOLUMEBLT, BUFFERBLT = Op.TEXBLT, Op.VOLUMEBLT, Op.BUFFERBLT
BLT, FILL, SURFACEBLT = Op.BLT, Op.COLORFILL, Op.SURFACEBLT
GENERATE, COMPOSE = Op.GENERATEMIPSUBLEVELS, Op.COMPOSERECTS
LINEAR = 2
A8 = Format.A8R8G8B8


def made(
    bench: Bench, handle: int, width: int = 8, height: int = 8, format: Format = A8,
    kind: SurfaceKind = SurfaceKind.TEXTURE, **more: int,
) -> Surface:  # fmt: skip
    """A surface full of bytes that tell where they are."""
    heap = bench.driver.gpu.heap
    surface = heap.create(SurfaceDesc(handle, kind, width, height, int(format), **more))
    surface.data[:] = np.random.default_rng(handle).integers(0, 256, len(surface.data), np.uint8)
    return surface


def texels(surface: Surface, index: int = 0) -> Any:
    return blocks(surface, index)[:, :, :, 0].copy()


def blit(
    source: int, source_rect: tuple[int, ...], target: int, target_rect: tuple[int, ...],
    *, op: int = BLT, levels: tuple[int, int] = (0, 0), flags: int = 0,
) -> bytes:  # fmt: skip
    body = struct.pack("<I4iII4iII", source, *source_rect, levels[0], target, *target_rect,
                       levels[1], flags)  # fmt: skip
    return struct.pack("<BBH", op, 0, 1) + body


def refused(bench: Bench, data: bytes) -> int:
    answer = bench.call(data)
    assert answer.ddrval, "accepted"
    return answer.ddrval


# BLT and SURFACEBLT


@pytest.mark.parametrize("op", [BLT, SURFACEBLT])
def test_a_rectangle_goes_from_level_to_level(op: int) -> None:
    bench = Bench()
    source, target = made(bench, 10, levels=4), made(bench, 11, 16, 8, levels=2)
    wanted = texels(target, 1)
    wanted[0, 1:3, 4:6] = texels(source, 1)[0, 2:4, 0:2]
    bench.ok(blit(10, (0, 2, 2, 4), 11, (4, 1, 6, 3), op=op, levels=(1, 1)))
    assert (texels(target, 1) == wanted).all()


def test_a_level_s_own_handle_counts_levels_from_there_in_its_face() -> None:
    bench = Bench()
    cube = made(bench, 10, kind=SurfaceKind.CUBETEXTURE, levels=3)
    plain = made(bench, 11, 2, 2, kind=SurfaceKind.SURFACE)
    heap = bench.driver.gpu.heap
    heap.create(
        SurfaceDesc(12, SurfaceKind.SURFACE, 4, 4, int(A8), parent=10, index=4 * 3 + 1)
    )  # fmt: skip
    bench.ok(blit(11, (0, 0, 2, 2), 12, (0, 0, 2, 2), levels=(0, 1)))
    assert (texels(cube, 4 * 3 + 2) == texels(plain)).all()
    assert refused(bench, blit(11, (0, 0, 1, 1), 12, (0, 0, 1, 1), levels=(0, 2)))


def test_a_blt_converts_and_stretches_as_its_flag_says() -> None:
    bench = Bench()
    source = made(bench, 10, 2, 1, Format.L8)
    target = made(bench, 11, 4, 1, Format.X8R8G8B8)
    source.data[:] = (0, 200)
    bench.ok(blit(10, (0, 0, 2, 1), 11, (0, 0, 4, 1)))
    assert texels(target)[0, 0, :, 0].tolist() == [0, 0, 200, 200]
    bench.ok(blit(10, (0, 0, 2, 1), 11, (0, 0, 4, 1), flags=LINEAR))
    assert texels(target)[0, 0, :, 0].tolist() == [0, 50, 150, 200]


RECTS = [(0, 0, 9, 8), (0, 0, 8, 9), (-1, 0, 4, 4), (4, 4, 4, 8), (5, 5, 3, 8), (0, 8, 8, 2)]


@pytest.mark.parametrize("rect", RECTS)
@pytest.mark.parametrize("op", [BLT, SURFACEBLT])
def test_rectangles_outside_or_inside_out_are_refused(
    rect: tuple[int, int, int, int], op: int
) -> None:
    bench = Bench()
    made(bench, 10)
    made(bench, 11)
    whole = (0, 0, 8, 8)
    for data in (blit(10, rect, 11, whole, op=op), blit(10, whole, 11, rect, op=op)):
        assert refused(bench, data) == HResult.DDERR_INVALIDRECT


@pytest.mark.parametrize(
    ("formats", "hr"),
    [
        ((Format.P8, A8), HResult.DDERR_INVALIDPIXELFORMAT),
        ((A8, Format.P8), HResult.DDERR_INVALIDPIXELFORMAT),
        ((A8, Format.DXT1), HResult.DDERR_INVALIDPIXELFORMAT),
        ((A8, Format.V8U8), HResult.DDERR_INVALIDPIXELFORMAT),
        ((Format.D16, A8), HResult.DDERR_INVALIDPIXELFORMAT),
        ((Format.D16, Format.D24S8), HResult.DDERR_INVALIDPIXELFORMAT),
    ],
)
def test_conversions_there_are_not_are_refused(formats: tuple[Format, Format], hr: int) -> None:
    bench = Bench()
    made(bench, 10, format=formats[0])
    made(bench, 11, format=formats[1])
    assert refused(bench, blit(10, (0, 0, 8, 8), 11, (0, 0, 8, 8))) == hr


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_every_format_is_copied_as_it_is(format: Format) -> None:
    bench = Bench()
    source, target = made(bench, 10, format=format), made(bench, 11, format=format)
    bench.ok(blit(10, (0, 0, 8, 8), 11, (0, 0, 8, 8)))
    assert (source.data == target.data).all()


def test_depth_and_palettes_are_not_stretched() -> None:
    bench = Bench()
    for handle, format in ((10, Format.D16), (20, Format.P8)):
        made(bench, handle, format=format)
        made(bench, handle + 1, format=format)
        data = blit(handle, (0, 0, 4, 4), handle + 1, (0, 0, 8, 8))
        assert refused(bench, data) == HResult.DDERR_INVALIDPIXELFORMAT


def test_a_surfaceblt_neither_stretches_nor_converts() -> None:
    bench = Bench()
    made(bench, 10)
    made(bench, 11)
    made(bench, 12, format=Format.R5G6B5)
    small, whole = (0, 0, 4, 4), (0, 0, 8, 8)
    found = refused(bench, blit(10, small, 11, whole, op=SURFACEBLT))
    assert found == HResult.DDERR_INVALIDRECT
    found = refused(bench, blit(10, whole, 12, whole, op=SURFACEBLT))
    assert found == HResult.DDERR_INVALIDPIXELFORMAT


@pytest.mark.parametrize(
    ("source", "target"),
    [((1, 0, 5, 4), (0, 0, 4, 4)), ((0, 0, 4, 4), (4, 2, 8, 6)), ((0, 0, 3, 4), (0, 0, 3, 4))],
)
def test_rectangles_that_cut_blocks_are_refused(
    source: tuple[int, ...], target: tuple[int, ...]
) -> None:
    bench = Bench()
    made(bench, 10, format=Format.DXT1)
    made(bench, 11, format=Format.DXT1)
    assert refused(bench, blit(10, source, 11, target)) == HResult.DDERR_INVALIDRECT


def test_handles_and_levels_must_be_there_and_have_pixels() -> None:
    bench = Bench()
    made(bench, 10)
    box = (0, 0, 4, 4)
    assert refused(bench, blit(10, box, 77, box)) == HResult.DDERR_INVALIDPARAMS
    assert refused(bench, blit(77, box, 10, box)) == HResult.DDERR_INVALIDPARAMS
    assert refused(bench, blit(10, box, 10, box, levels=(1, 0))) == HResult.DDERR_INVALIDPARAMS
    found = refused(bench, blit(COMMANDS, box, 10, box))
    assert found == HResult.DDERR_INVALIDSURFACETYPE


def bits_of(surface: Surface) -> Any:
    """A number for each pixel of a monochrome surface, slice by slice."""
    stored = texels(surface)
    return np.unpackbits(stored[..., 0], axis=2)


@pytest.mark.parametrize("op", [BLT, SURFACEBLT])
def test_bits_are_copied_one_by_one(op: int) -> None:
    bench = Bench()
    source = made(bench, 10, 21, 8, Format.A1)
    target = made(bench, 11, 19, 8, Format.A1)
    wanted = bits_of(target)
    wanted[0, 1:4, 6:17] = bits_of(source)[0, 2:5, 3:14]
    bench.ok(blit(10, (3, 2, 14, 5), 11, (6, 1, 17, 4), op=op))
    assert (bits_of(target) == wanted).all()


def test_bits_of_one_surface_may_be_moved_over_themselves() -> None:
    bench = Bench()
    surface = made(bench, 10, 24, 4, Format.A1)
    wanted = bits_of(surface)
    wanted[0, 1:4, 5:18] = wanted[0, 0:3, 2:15].copy()
    bench.ok(blit(10, (2, 0, 15, 3), 10, (5, 1, 18, 4)))
    assert (bits_of(surface) == wanted).all()


def test_bits_of_textures_and_volumes_go_where_the_point_is() -> None:
    bench = Bench()
    source, target = made(bench, 10, format=Format.A1), made(bench, 11, format=Format.A1)
    wanted = bits_of(target)
    wanted[0, 1:3, 1:5] = bits_of(source)[0, 0:2, 3:7]
    bench.ok(texture_blit(11, 10, (1, 1), (3, 0, 7, 2)))
    assert (bits_of(target) == wanted).all()
    kind = SurfaceKind.VOLUMETEXTURE
    deep, other = (made(bench, n, format=Format.A1, kind=kind, depth=3) for n in (12, 13))
    wanted = bits_of(other)
    wanted[0:2, 0:2, 2:7] = bits_of(deep)[1:3, 0:2, 1:6]
    bench.ok(token(VOLUMEBLT, 13, 12, 2, 0, 0, 1, 0, 6, 2, 1, 3, 0))
    assert (bits_of(other) == wanted).all()


# COLORFILL and GENERATEMIPSUBLEVELS


def fill(handle: int, rect: tuple[int, ...], color: int) -> bytes:
    return struct.pack("<BBHI4iI", FILL, 0, 1, handle, *rect, color)


def test_a_fill_is_converted_to_the_format() -> None:
    bench = Bench()
    surface = made(bench, 10, format=Format.R5G6B5)
    before = texels(surface)
    bench.ok(fill(10, (2, 1, 5, 8), 0x00FF8000))
    before[0, 1:8, 2:5] = (0x00, 0xFC)
    assert (texels(surface) == before).all()


@pytest.mark.parametrize("rect", RECTS)
def test_fills_outside_are_refused(rect: tuple[int, ...]) -> None:
    bench = Bench()
    made(bench, 10)
    assert refused(bench, fill(10, rect, 0)) == HResult.DDERR_INVALIDRECT


@pytest.mark.parametrize("format", [Format.D16, Format.DXT1, Format.P8, Format.V8U8])
def test_only_what_can_be_rendered_to_is_filled_or_generated(format: Format) -> None:
    bench = Bench()
    made(bench, 10, format=format, levels=4)
    wanted = HResult.DDERR_INVALIDPIXELFORMAT
    assert refused(bench, fill(10, (0, 0, 8, 8), 0)) == wanted
    assert refused(bench, token(GENERATE, 10, 2)) == wanted


@pytest.mark.parametrize(("filter", "expected"), [(0, 3), (1, 6), (2, 3), (3, 3)])
def test_levels_are_generated_from_the_top_by_means_or_points(filter: int, expected: int) -> None:
    bench = Bench()
    texture = made(bench, 10, 2, 2, Format.L8, levels=2)
    texture.data[:4] = (0, 2, 4, 6)
    bench.ok(token(GENERATE, 10, filter))
    assert texture.data.tolist() == [0, 2, 4, 6, expected]


def test_a_surface_of_one_level_has_nothing_to_generate() -> None:
    bench = Bench()
    surface = made(bench, 10, format=Format.DXT1)
    before = surface.data.copy()
    bench.ok(token(GENERATE, 10, 2))
    assert (surface.data == before).all()


# TEXBLT and VOLUMEBLT


def texture_blit(target: int, source: int, point: tuple[int, int], rect: tuple[int, ...]) -> bytes:
    return struct.pack("<BBHII2i4iI", TEXBLT, 0, 1, target, source, *point, *rect, 0)


def below(low: int, high: int) -> tuple[int, int]:
    return low >> 1, max((high + 1) >> 1, (low >> 1) + 1)


def chain_model(source: Surface, target: Surface, point: list[int], rect: list[int]) -> list[Any]:
    """Every level of the target after a TEXBLT, texel by texel."""
    wanted = [texels(target, index) for index in range(len(target.subresources))]
    levels, made_levels = source.desc.levels, target.desc.levels
    sizes = [(source.width >> k or 1, source.height >> k or 1) for k in range(levels)]
    skipped = sizes.index((target.width, target.height))
    x, y = point
    left, top, right, bottom = rect
    for level, (width, height) in enumerate(sizes):
        into = level - skipped
        for face in range(len(target.subresources) // made_levels):
            if not 0 <= into < made_levels:
                continue
            given = texels(source, face * levels + level)
            made_level = wanted[face * made_levels + into]
            for row in range(top, min(bottom, height)):
                for column in range(left, min(right, width)):
                    to = y + row - top, x + column - left
                    if to[0] < height and to[1] < width:
                        made_level[0, to[0], to[1]] = given[0, row, column]
        (left, right), (top, bottom) = below(left, right), below(top, bottom)
        x, y = x >> 1, y >> 1
    return wanted


@given(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9), st.integers(1, 7)),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
    st.integers(1, 4), st.integers(1, 3), st.integers(0, 2), st.booleans(),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_texture_moves_with_its_whole_chain(
    box: tuple[int, int, int, int], point: tuple[int, int], levels: int, target_levels: int,
    skip: int, cube: bool,
) -> None:  # fmt: skip
    bench = Bench()
    kind = SurfaceKind.CUBETEXTURE if cube else SurfaceKind.TEXTURE
    width, height = (13, 13) if cube else (13, 11)
    skip = min(skip, levels - 1)
    source = made(bench, 10, width, height, kind=kind, levels=levels)
    sides = width >> skip, height >> skip
    target = made(bench, 11, *sides, kind=kind, levels=min(target_levels, 2))
    rect = [box[0], box[1], box[0] + box[2], box[1] + box[3]]
    wanted = chain_model(source, target, list(point), list(rect))
    bench.ok(texture_blit(11, 10, point, tuple(rect)))
    assert all((texels(target, index) == level).all() for index, level in enumerate(wanted))


def test_compressed_chains_move_in_the_blocks_the_rectangle_touches() -> None:
    bench = Bench()
    source = made(bench, 10, 16, 16, Format.DXT1, levels=5)
    target = made(bench, 11, 16, 16, Format.DXT1, levels=5)
    wanted = [texels(target, level) for level in range(5)]
    bench.ok(texture_blit(11, 10, (8, 8), (0, 4, 4, 8)))
    places = [((2, 2), (1, 0)), ((1, 1), (0, 0))] + 3 * [((0, 0), (0, 0))]
    for level, (to, start) in enumerate(places):
        wanted[level][0][to] = texels(source, level)[0][start]
        assert (texels(target, level) == wanted[level]).all()


def test_target_zero_only_announces_that_the_source_is_needed() -> None:
    bench = Bench()
    surface = made(bench, 10)
    before = surface.data.copy()
    bench.ok(texture_blit(0, 10, (99, 99), (5, 5, 1, 1)))
    assert (surface.data == before).all()
    assert refused(bench, texture_blit(0, 77, (0, 0), (0, 0, 1, 1)))


def test_texture_blits_that_cannot_be_are_refused() -> None:
    bench = Bench()
    made(bench, 10, levels=4)
    made(bench, 11, format=Format.R5G6B5)
    made(bench, 12, kind=SurfaceKind.CUBETEXTURE)
    made(bench, 13, 16, 16)
    made(bench, 14)
    whole = (0, 0, 8, 8)
    for target, rect, point, hr in (
        (11, whole, (0, 0), HResult.DDERR_INVALIDPIXELFORMAT),
        (12, whole, (0, 0), HResult.DDERR_INVALIDSURFACETYPE),
        (13, whole, (0, 0), HResult.DDERR_INVALIDPARAMS),
        (14, (0, 0, 9, 8), (0, 0), HResult.DDERR_INVALIDRECT),
        (14, whole, (-1, 0), HResult.DDERR_INVALIDRECT),
        (99, whole, (0, 0), HResult.DDERR_INVALIDPARAMS),
    ):
        assert refused(bench, texture_blit(target, 10, point, rect)) == hr


def test_a_box_of_a_volume_moves_with_its_chain() -> None:
    bench = Bench()
    kind = SurfaceKind.VOLUMETEXTURE
    source = made(bench, 10, 8, 8, kind=kind, depth=4, levels=2)
    target = made(bench, 11, 8, 8, kind=kind, depth=4, levels=2)
    wanted = [texels(target, level) for level in range(2)]
    wanted[0][0:2, 4:8, 0:4] = texels(source)[2:4, 0:4, 4:8]
    wanted[1][0:1, 2:4, 0:2] = texels(source, 1)[1:2, 0:2, 2:4]
    bench.ok(token(VOLUMEBLT, 11, 10, 0, 4, 0, 4, 0, 8, 4, 2, 4, 0))
    assert all((texels(target, level) == wanted[level]).all() for level in range(2))
    outside = token(VOLUMEBLT, 11, 10, 0, 0, 0, 0, 0, 8, 4, 2, 5, 0)
    assert refused(bench, outside) == HResult.DDERR_INVALIDRECT


@given(
    st.tuples(st.integers(0, 8), st.integers(0, 6), st.integers(0, 4)),
    st.tuples(st.integers(1, 9), st.integers(1, 7), st.integers(1, 5)),
    st.tuples(st.integers(0, 9), st.integers(0, 7), st.integers(0, 5)),
    st.integers(1, 4), st.integers(1, 4), st.integers(0, 2),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_boxes_of_volumes_move_with_their_chains(
    low: tuple[int, int, int], sides: tuple[int, int, int], point: tuple[int, int, int],
    levels: int, target_levels: int, skip: int,
) -> None:  # fmt: skip
    bench, kind, skip = Bench(), SurfaceKind.VOLUMETEXTURE, min(skip, levels - 1)
    high = [min(at + side, end) for at, side, end in zip(low, sides, (9, 7, 5), strict=True)]
    source = made(bench, 10, 9, 7, kind=kind, depth=5, levels=levels)
    target_levels = min(target_levels, 4 - skip)
    target = made(
        bench, 11, 9 >> skip, 7 >> skip, kind=kind, depth=5 >> skip, levels=target_levels
    )
    wanted = [texels(target, index) for index in range(target_levels)]
    spans, to = list(zip(low, high, strict=True)), list(point)
    for level in range(levels):
        if 0 <= level - skip < target_levels:
            copied(texels(source, level), spans, wanted[level - skip], to)
        spans, to = [below(*span) for span in spans], [at >> 1 for at in to]
    left, top, front = low
    data = token(VOLUMEBLT, 11, 10, *point, left, top, *high[:2], front, high[2], 0)
    bench.ok(data)
    assert all((texels(target, index) == level).all() for index, level in enumerate(wanted))


def copied(given: Any, spans: list[tuple[int, int]], target: Any, to: list[int]) -> None:
    """Texel by texel, as far as both have them."""
    (depth, height, width), sizes = given.shape[:3], target.shape[2::-1]
    ends = [min(end, most) for (_, end), most in zip(spans, (width, height, depth), strict=True)]
    starts = [start for start, _ in spans]
    for at in product(*(range(*span) for span in zip(starts, ends, strict=True))):
        x, y, z = (n - start + into for n, start, into in zip(at, starts, to, strict=True))
        if all(n < size for n, size in zip((x, y, z), sizes, strict=True)):
            target[z, y, x] = given[at[2], at[1], at[0]]


# BUFFERBLT


def buffers(bench: Bench) -> tuple[Surface, Surface]:
    heap = bench.driver.gpu.heap
    pair = [heap.create(SurfaceDesc(h, SurfaceKind.VERTEXBUFFER, 16)) for h in (10, 11)]
    pair[0].data[:] = np.arange(16)
    return pair[0], pair[1]


def test_a_range_of_bytes_goes_from_buffer_to_buffer() -> None:
    bench = Bench()
    _, target = buffers(bench)
    bench.ok(token(BUFFERBLT, 11, 10, 2, 8, 4, 0))
    assert target.data.tolist() == [0, 0, 8, 9, 10, 11] + [0] * 10


@pytest.mark.parametrize(
    ("offset", "start", "size"), [(0, 0, 17), (13, 0, 4), (0, 13, 4), (0xFFFFFFFF, 0, 1)]
)
def test_ranges_outside_their_buffers_are_refused(offset: int, start: int, size: int) -> None:
    bench = Bench()
    buffers(bench)
    data = token(BUFFERBLT, 11, 10, offset, start, size, 0)
    assert refused(bench, data) == HResult.DDERR_INVALIDPARAMS


def test_a_buffer_blit_is_between_buffers() -> None:
    bench = Bench()
    buffers(bench)
    for pair in ((COLOR, 10), (10, COLOR)):
        data = token(BUFFERBLT, *pair, 0, 0, 4, 0)
        assert refused(bench, data) == HResult.DDERR_INVALIDSURFACETYPE


# COMPOSERECTS


def compose(
    source: int, target: int, *, count: int = 1, operation: int = 1,
    buffers: tuple[int, int] = (12, 13), offset: tuple[int, int] = (0, 0),
) -> bytes:  # fmt: skip
    body = struct.pack("<6I2i", source, target, buffers[0], count, buffers[1], operation, *offset)
    return struct.pack("<BBH", COMPOSE, 0, 1) + body


def monochrome(bench: Bench) -> tuple[Surface, Surface]:
    """Two 8 x 8 textures, and buffers with the rectangle of all of one."""
    pair = made(bench, 10, format=Format.A1), made(bench, 11, format=Format.A1)
    heap = bench.driver.gpu.heap
    for handle, words in ((12, (0, 0, 8, 8)), (13, (0, 0, 0, 0))):
        heap.create(SurfaceDesc(handle, SurfaceKind.VERTEXBUFFER, 8))
        heap.write(handle, 0, struct.pack("<4H", *words))
    return pair


def test_rectangles_are_composed() -> None:
    bench = Bench()
    source, target = monochrome(bench)
    before = target.data.tolist()
    bench.ok(compose(10, 11, operation=2, offset=(3, -1)))
    over = [*source.data[1:].tolist(), 0]
    wanted = [byte | upon >> 3 for byte, upon in zip(before, over, strict=True)]
    assert target.data.tolist() == wanted


def test_more_rectangles_than_there_may_be_are_none() -> None:
    bench = Bench()
    _, target = monochrome(bench)
    before = target.data.tolist()
    bench.ok(compose(10, 11, count=0x10000))
    bench.ok(compose(10, 11, count=0))
    assert target.data.tolist() == before
    bench.ok(compose(10, 11, count=0xFFFF))
    assert target.data.tolist() != before


def test_compositions_that_cannot_be_are_refused() -> None:
    bench = Bench()
    monochrome(bench)
    made(bench, 20)
    made(bench, 21, format=Format.A1, kind=SurfaceKind.VOLUMETEXTURE)
    kinds, formats = HResult.DDERR_INVALIDSURFACETYPE, HResult.DDERR_INVALIDPIXELFORMAT
    for data, hr in (
        (compose(10, 10), HResult.DDERR_INVALIDPARAMS),
        (compose(10, 99), HResult.DDERR_INVALIDPARAMS),
        (compose(10, 11, operation=0), HResult.DDERR_INVALIDPARAMS),
        (compose(10, 11, operation=5), HResult.DDERR_INVALIDPARAMS),
        (compose(10, 11, buffers=(12, 77)), HResult.DDERR_INVALIDPARAMS),
        (compose(10, 11, buffers=(12, 20)), kinds),
        (compose(12, 11), kinds),
        (compose(21, 11), kinds),
        (compose(10, 20), formats),
        (compose(20, 11), formats),
    ):
        assert refused(bench, data) == hr


def test_levels_of_one_texture_are_composed_by_their_own_handles() -> None:
    bench = Bench()
    monochrome(bench)
    texture = made(bench, 20, 16, 16, Format.A1, levels=2)
    heap = bench.driver.gpu.heap
    heap.create(SurfaceDesc(22, SurfaceKind.SURFACE, 8, 8, int(Format.A1), parent=20, index=1))
    bench.ok(compose(20, 22))
    assert texture.data[32:].tolist() == texture.data[:16:2].tolist()
    assert refused(bench, compose(22, 22)) == HResult.DDERR_INVALIDPARAMS


def test_rectangles_are_those_the_buffers_have_when_the_clock_gets_there() -> None:
    bench = Bench(timing=fixed(call=1, packet=1000))
    source, target = monochrome(bench)
    before = target.data.tolist()
    bench.ok(fill(COLOR, (0, 0, 1, 1), 0) + compose(10, 11))
    bench.driver.write(12, 0, struct.pack("<4H", 0, 0, 8, 3))
    bench.driver.finish()
    assert target.data.tolist() == source.data[:3].tolist() + before[3:]


# Order and counts


def test_moves_execute_when_the_clock_gets_there_in_order_with_draws() -> None:
    bench = Bench(timing=fixed(call=1, packet=1000))
    surface = made(bench, 10, 64, 64, Format.X8R8G8B8, SurfaceKind.SURFACE)
    before = surface.data.copy()
    box = (0, 0, 64, 64)
    commands = fill(COLOR, box, 0xFF112233) + blit(COLOR, box, 10, box)
    bench.ok(commands + fill(COLOR, box, 0xFF445566))
    assert (surface.data == before).all()
    bench.driver.finish()
    assert (surface.data.view("<u4") == 0xFF112233).all()
    assert bench.driver.read(COLOR, 0, 4) == b"\x66\x55\x44\xff"


def test_no_move_counts_as_visible() -> None:
    bench = Bench()
    made(bench, 10, 64, 64, Format.X8R8G8B8, levels=7)
    moves = fill(10, (0, 0, 64, 64), 5) + blit(10, (0, 0, 64, 64), COLOR, (0, 0, 32, 32))
    commands = (
        create(5, QueryType.OCCLUSION) + render_state(22, 1) + issue(5, BEGIN)
        + moves + token(GENERATE, 10, 2) + triangle_list(0, 2) + moves + issue(5, END)
    )  # fmt: skip
    assert dword(bench.settle(commands, rectangle(0, 0, 8, 8))[5]) == 64


def test_a_queued_move_survives_its_command_buffer_and_its_handles() -> None:
    bench = Bench(timing=fixed(call=1, packet=1000))
    made(bench, 10, 64, 64, Format.X8R8G8B8).data[:] = 7
    bench.ok(fill(COLOR, (0, 0, 1, 1), 0) + blit(10, (0, 0, 64, 64), COLOR, (0, 0, 64, 64)))
    bench.driver.write(COMMANDS, 0, b"\xee" * 256)
    bench.driver.destroy_surface(10)
    bench.driver.finish()
    assert set(bench.driver.read(COLOR, 0, 64 * 64 * 4)) == {7}


def test_a_depth_surface_is_not_a_color_to_fill() -> None:
    assert refused(Bench(), fill(DEPTH, (0, 0, 4, 4), 0)) == HResult.DDERR_INVALIDPIXELFORMAT


# Samples


def test_samples_are_copied_as_they_are_or_resolved() -> None:
    bench = Bench()
    plain, kind = made(bench, 21, kind=SurfaceKind.SURFACE), SurfaceKind.SURFACE
    given, same = (made(bench, handle, kind=kind, samples=4) for handle in (22, 23))
    whole = (0, 0, 8, 8)
    bench.ok(blit(22, whole, 23, whole) + blit(22, whole, 21, whole))
    assert (same.data == given.data).all()
    samples = blocks(given, 0).astype(np.uint32)
    assert (blocks(plain, 0)[..., 0, :] == (samples.sum(axis=3) + 2) // 4).all()


def test_samples_that_do_not_fit_are_refused() -> None:
    bench, kind, whole = Bench(), SurfaceKind.SURFACE, (0, 0, 8, 8)
    for handle, samples in ((21, 1), (22, 2), (24, 4)):
        made(bench, handle, kind=kind, samples=samples)
        made(bench, handle + 10, kind=kind, format=Format.D24S8, samples=samples)
    for source, target in ((24, 22), (22, 24), (34, 31), (34, 32)):
        refusal = refused(bench, blit(source, whole, target, whole))
        assert refusal == HResult.DDERR_INVALIDPIXELFORMAT
    assert refused(bench, blit(24, whole, 24, (0, 0, 4, 4))) == HResult.DDERR_INVALIDPIXELFORMAT
    assert refused(bench, blit(24, whole, 21, whole, op=SURFACEBLT))


ANYTHING = [
    Format.A8R8G8B8,
    Format.A16B16G16R16F,
    Format.D24S8,
    Format.DXT3,
    Format.YUY2,
    Format.P8,
]


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_whatever_is_asked_is_answered(data: st.DataObject) -> None:
    bench = Bench()
    handles = [10, 11, 12, 13, COLOR, COMMANDS, 0, 99]
    for handle in handles[:4]:
        made(
            bench, handle, format=data.draw(st.sampled_from(ANYTHING)),
            kind=data.draw(st.sampled_from([SurfaceKind.TEXTURE, SurfaceKind.CUBETEXTURE])),
            levels=data.draw(st.integers(1, 4)),
        )  # fmt: skip
    word = st.sampled_from([0, 0, 0, 1, 2, 4, 8, 9, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000])
    for _ in range(10):
        op, size = data.draw(st.sampled_from(
            [(TEXBLT, 9), (VOLUMEBLT, 12), (BUFFERBLT, 6), (BLT, 13), (FILL, 6), (GENERATE, 2),
             (SURFACEBLT, 13)]))  # fmt: skip
        body = [data.draw(word) for _ in range(size)]
        body[0] = data.draw(st.sampled_from(handles))
        other = 6 if size == 13 else 1
        body[other] = data.draw(st.sampled_from(handles)) if size != 6 else body[other]
        answer = bench.call(token(op, *body))
        assert (answer.ddrval == 0) == (answer.fault is None)
