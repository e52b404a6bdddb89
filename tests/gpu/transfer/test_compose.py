"""Compositions against a model that has one number for a pixel."""

from __future__ import annotations

import struct
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.enums import ComposeRectsOp, Format
from dp2emu.gpu.command.packets import Compose, whole_part
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.transfer.copy_resolve import execute_compose

COPY, OR, AND, NEG = ComposeRectsOp
TRUTH = {
    COPY: lambda d, s: s,
    OR: lambda d, s: int(d or s),
    AND: lambda d, s: int(d and s),
    NEG: lambda d, s: int(d and not s),
}
Rects = list[tuple[int, int, int, int]]
Places = list[tuple[int, int, int]]


def packet(
    operation: ComposeRectsOp, rects: Rects, places: Places, *, count: int | None = None,
    offset: tuple[int, int] = (0, 0), sides: tuple[int, int, int, int] = (21, 9, 19, 11),
) -> Compose:  # fmt: skip
    """Random bits in both surfaces; ``sides`` are those of source and target."""
    heap, random = Heap(), Random(str(operation))
    made = []
    for handle, (width, height) in enumerate((sides[:2], sides[2:]), 1):
        surface = heap.create(SurfaceDesc(handle, SurfaceKind.TEXTURE, width, height, Format.A1))
        surface.data[:] = list(random.randbytes(len(surface.data)))
        made.append(whole_part(surface, 0))
    described = b"".join(struct.pack("<4H", *rect) for rect in rects)
    placed = b"".join(struct.pack("<HHhh", n, 0xDEAD, x, y) for n, x, y in places)
    buffers = []
    for handle, data in enumerate((described, placed), 3):
        size = max(len(data), 1)
        buffer = heap.create(SurfaceDesc(handle, SurfaceKind.VERTEXBUFFER, size))
        buffer.data[: len(data)] = list(data)
        buffers.append(buffer)
    number = len(places) if count is None else count
    return Compose(*made, *buffers, number, operation, offset)


def pixels(surface: Surface) -> list[list[int]]:
    """One number a pixel, with the unused bits at the end of each row."""
    rows = surface.data.reshape(surface.height, -1).tolist()
    return [[byte >> bit & 1 for byte in row for bit in range(7, -1, -1)] for row in rows]


def model(asked: Compose, rects: Rects, places: Places) -> list[list[int]]:
    given, made = pixels(asked.source.surface), pixels(asked.target.surface)
    for number, x, y in places[: asked.count]:
        if number >= len(rects):
            continue
        left, top, width, height = rects[number]
        if left + width > asked.source.box.right or top + height > asked.source.box.bottom:
            continue
        for row in range(height):
            for column in range(width):
                to = y + asked.offset[1] + row, x + asked.offset[0] + column
                if 0 <= to[0] < asked.target.box.bottom and 0 <= to[1] < asked.target.box.right:
                    bits = made[to[0]][to[1]], given[top + row][left + column]
                    made[to[0]][to[1]] = TRUTH[asked.operation](*bits)
    return made


@pytest.mark.parametrize("operation", ComposeRectsOp)
def test_operations_have_their_truth_tables(operation: ComposeRectsOp) -> None:
    asked = packet(operation, [(0, 0, 8, 1)], [(0, 0, 0)], sides=(8, 1, 8, 1))
    asked.source.surface.data[0], asked.target.surface.data[0] = 0b0101_0101, 0b0011_0011
    wanted = {COPY: 0b0101_0101, OR: 0b0111_0111, AND: 0b0001_0001, NEG: 0b0010_0010}
    execute_compose(asked, Counters())
    assert asked.target.surface.data[0] == wanted[operation]
    assert asked.source.surface.data[0] == 0b0101_0101


SMALL = st.integers(-12, 24)
SIZE = st.integers(0, 24)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(ComposeRectsOp),
    st.lists(st.tuples(SIZE, SIZE, SIZE, SIZE), max_size=4),
    st.lists(st.tuples(st.integers(0, 4), SMALL, SMALL), max_size=8),
    st.tuples(SMALL, SMALL),
    st.none() | st.integers(0, 20),
)
def test_any_rectangles_go_where_the_model_puts_them(
    operation: ComposeRectsOp, rects: Rects, places: Places, offset: tuple[int, int],
    count: int | None,
) -> None:  # fmt: skip
    asked = packet(operation, rects, places, offset=offset, count=count)
    wanted = model(asked, rects, places)
    execute_compose(asked, Counters())
    assert pixels(asked.target.surface) == wanted


@pytest.mark.parametrize(
    "offset", [(0, 0), (2**31 - 1, 0), (-(2**31), 5), (-4, -(2**31)), (40, 2**31 - 1)]
)
def test_numbers_as_large_as_they_come(offset: tuple[int, int]) -> None:
    rects = [(0xFFFF, 0, 1, 1), (0, 0xFFFF, 0xFFFF, 0xFFFF), (0, 0, 21, 9)]
    places = [(n, x, y) for n in (0, 1, 2, 0xFFFF) for x, y in ((-32768, 32767), (0, 0))]
    asked = packet(OR, rects, places, offset=offset)
    wanted = model(asked, rects, places)
    execute_compose(asked, Counters())
    assert pixels(asked.target.surface) == wanted


def test_later_rectangles_find_what_earlier_ones_left() -> None:
    rects = [(0, 0, 9, 3), (4, 2, 9, 3)]
    for operation in ComposeRectsOp:
        asked = packet(operation, rects, places := [(0, 1, 1), (1, 3, 2), (0, 2, 2)])
        wanted = model(asked, rects, places)
        execute_compose(asked, Counters())
        assert pixels(asked.target.surface) == wanted


def test_a_buffer_that_ends_inside_a_rectangle_does_not_have_it() -> None:
    asked = packet(COPY, [(0, 0, 4, 4)], [(0, 0, 0)])
    short = Heap().create(SurfaceDesc(9, SurfaceKind.VERTEXBUFFER, 7))
    before = pixels(asked.target.surface)
    for which in ({"sources": short}, {"places": short}):
        assert execute_compose(replace(asked, **which), Counters()) == Work()
    assert pixels(asked.target.surface) == before


def test_bytes_touched_are_counted_and_targets_twice_unless_they_are_only_copied_to() -> None:
    for operation, moved in ((COPY, 4 + 2), (OR, 4 + 2 * 2)):
        counters = Counters()
        asked = packet(operation, [(7, 0, 3, 2), (0, 0, 9, 9)], [(0, 1, 0), (1, 90, 0)])
        assert execute_compose(asked, counters) == Work(pixels=6, pixel_bytes=moved)
        assert counters.pixel_bytes == moved


def test_levels_of_textures_are_combined() -> None:
    heap = Heap()
    desc = SurfaceDesc(1, SurfaceKind.TEXTURE, 16, 16, Format.A1, levels=3)
    texture = heap.create(desc)
    texture.data[:] = np.arange(len(texture.data)) * 37
    rects = heap.create(SurfaceDesc(2, SurfaceKind.VERTEXBUFFER, 8))
    rects.data[:] = list(struct.pack("<4H", 0, 0, 8, 8))
    places = heap.create(SurfaceDesc(3, SurfaceKind.VERTEXBUFFER, 8))
    top = texture.data[:32:2].copy()
    parts = whole_part(texture, 0), whole_part(texture, 1)
    execute_compose(Compose(*parts, rects, places, 1, COPY, (0, 0)), Counters())
    assert texture.data[32:40].tolist() == top[:8].tolist()
