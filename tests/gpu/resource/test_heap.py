"""The heap: what it counts, and how much of it there can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, FormatRow
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.resource.heap import (
    BESIDE,
    TEXTURES,
    Heap,
    Surface,
    SurfaceDesc,
    SurfaceKind,
    layout_of,
)
from dp2emu.limits import Limits


def buffer(heap: Heap, handle: int, size: int) -> Surface:
    return heap.create(SurfaceDesc(handle, SurfaceKind.VERTEXBUFFER, size))


def test_bookkeeping_follows_creation_replacement_and_destruction() -> None:
    heap = Heap()
    buffer(heap, 1, 100)
    buffer(heap, 2, 20)
    heap.write(2, 0, b"abc")
    buffer(heap, 1, 50)
    row = heap.use()[SurfaceKind.VERTEXBUFFER]
    assert (row.created, row.live, row.live_bytes, row.written_bytes) == (3, 2, 70, 3)
    heap.destroy(1)
    row = heap.use()[SurfaceKind.VERTEXBUFFER]
    assert (row.created, row.live, row.live_bytes, row.written_bytes) == (3, 1, 20, 3)
    assert heap.use()[SurfaceKind.MEMORY].live == 0


def test_memory_of_a_handle_that_is_gone_counts_while_anything_names_it() -> None:
    heap = Heap(Limits(total_bytes=100))
    bound = buffer(heap, 1, 60)
    heap.destroy(1)
    assert heap.allocated == 60
    with pytest.raises(Fault) as caught:
        buffer(heap, 2, 60)
    assert caught.value.hr == HResult.DDERR_OUTOFMEMORY
    del bound
    assert heap.allocated == 0
    assert buffer(heap, 2, 100).data.nbytes == 100


def test_a_surface_may_take_the_place_of_one_as_large_as_the_heap() -> None:
    heap = Heap(Limits(total_bytes=100))
    for _ in range(3):
        buffer(heap, 1, 100)
    assert heap.allocated == 100


def test_a_heap_nobody_has_is_gone_with_its_surfaces() -> None:
    heap = Heap()
    counted = heap._allocated
    buffer(heap, 1, 100)
    del heap
    assert counted.bytes == 0


CUBE = SurfaceDesc(5, SurfaceKind.CUBETEXTURE, 4, 4, int(Format.A8R8G8B8), levels=3)
LEVEL = SurfaceDesc(6, SurfaceKind.SURFACE, 2, 2, int(Format.A8R8G8B8), parent=5, index=3 * 2 + 1)


def test_a_level_of_a_texture_is_the_same_memory_under_another_handle() -> None:
    heap = Heap()
    cube = heap.create(CUBE)
    level = heap.create(LEVEL)
    heap.write(6, 0, b"\1\2\3\4")
    start = cube.subresources[7].offset
    assert cube.data[start : start + 4].tolist() == [1, 2, 3, 4]
    assert level.data.nbytes == 16
    assert heap.allocated == cube.data.nbytes == 6 * (64 + 16 + 4)


def test_a_level_keeps_its_texture_when_that_handle_is_gone() -> None:
    heap = Heap()
    heap.create(CUBE)
    level = heap.create(LEVEL)
    heap.destroy(5)
    assert heap.allocated == 6 * (64 + 16 + 4)
    heap.destroy(6)
    del level
    assert heap.allocated == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"parent": 7},
        {"index": 18},
        {"index": -1},
        {"width": 4},
        {"format": int(Format.R5G6B5)},
        {"kind": SurfaceKind.VOLUME},
        {"pitch": 16},
        {"levels": 2},
    ],
)
def test_a_level_must_be_as_its_texture_has_it(wrong: dict[str, int]) -> None:
    heap = Heap()
    heap.create(CUBE)
    with pytest.raises(Fault):
        heap.create(replace(LEVEL, **wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        {"levels": 4},
        {"levels": 0},
        {"height": 2},
        {"depth": 2},
        {"pitch": 16},
        {"samples": 4},
        {"kind": SurfaceKind.SURFACE},
    ],
)
def test_a_texture_that_cannot_be_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(Fault):
        Heap().create(replace(CUBE, **wrong))


def test_words_cover_memory_that_is_no_multiple_of_four() -> None:
    made = Heap().create(SurfaceDesc(1, SurfaceKind.MEMORY, 5))
    made.data[4] = 7
    assert made.words.tolist() == [0, 7]


@pytest.mark.parametrize("row", FORMATS.values(), ids=lambda row: row.format.name)
@pytest.mark.parametrize("kind", TEXTURES)
def test_every_format_has_every_kind_of_texture(row: FormatRow, kind: SurfaceKind) -> None:
    cube, solid = kind is SurfaceKind.CUBETEXTURE, kind is SurfaceKind.VOLUMETEXTURE
    width, height, depth = 12, 12 if cube else 5, 3 if solid else 1
    desc = SurfaceDesc(1, kind, width, height, row.format, depth=depth, levels=4)
    expected = 0
    for _ in range(6 if cube else 1):
        for level in range(4):
            across = -(-max(1, width >> level) // row.block[0])
            down = -(-max(1, height >> level) // row.block[1])
            expected += across * down * max(1, depth >> level) * row.size
    assert Heap().create(desc).data.nbytes == expected


@pytest.mark.parametrize(
    ("format", "pitch", "fine"),
    [
        (Format.R8G8B8, 16, True),
        (Format.R8G8B8, 14, False),
        (Format.DXT1, 16, True),
        (Format.DXT1, 24, True),
        (Format.DXT1, 20, False),
        (Format.DXT1, 8, False),
        (Format.V16U16, 22, False),
        (Format.A32B32G32R32F, 88, False),
        (Format.A32B32G32R32F, 96, True),
        (Format.P8, 7, True),
    ],
)
def test_a_pitch_holds_a_row_of_whole_words(format: Format, pitch: int, fine: bool) -> None:
    desc = SurfaceDesc(1, SurfaceKind.TEXTURE, 5, 4, format, pitch)
    if fine:
        rows = 1 if format is Format.DXT1 else 4
        assert Heap().create(desc).data.nbytes == rows * pitch
    else:
        with pytest.raises(Fault, match="pitch"):
            Heap().create(desc)


@pytest.mark.parametrize(
    ("kind", "format"),
    [
        (SurfaceKind.TEXTURE, Format.A8R8G8B8),
        (SurfaceKind.SURFACE, Format.P8),
        (SurfaceKind.SURFACE, Format.DXT1),
    ],
)
def test_only_what_is_drawn_to_and_never_sampled_is_multisampled(
    kind: SurfaceKind, format: Format
) -> None:
    with pytest.raises(Fault, match="4 samples"):
        Heap().create(SurfaceDesc(1, kind, 4, 4, format, samples=4))
    many = SurfaceDesc(2, SurfaceKind.SURFACE, 4, 4, Format.A8R8G8B8, samples=4)
    assert Heap().create(many).data.nbytes == 256


@pytest.mark.parametrize("wrong", [{"depth": 2}, {"levels": 0}, {"height": 2}, {"samples": 2}])
def test_a_buffer_is_one_row_of_bytes(wrong: dict[str, int]) -> None:
    with pytest.raises(Fault, match="one row"):
        Heap().create(replace(SurfaceDesc(1, SurfaceKind.MEMORY, 16), **wrong))


def test_a_level_of_nothing_is_refused() -> None:
    with pytest.raises(Fault, match="level 1 of nothing"):
        Heap().create(SurfaceDesc(1, SurfaceKind.SURFACE, 1, 1, Format.A8, index=1))


_SIZES = st.sampled_from([0, 1, 2, 5, 64, 16384, 16385, 2**32 - 1])


@given(
    kind=st.sampled_from(SurfaceKind),
    sizes=st.tuples(_SIZES, _SIZES, _SIZES),
    format=st.sampled_from([*Format, 0x12345678]),
    more=st.tuples(*[st.sampled_from([0, 1, 2, 15, 2**32 - 1])] * 4),
    parent=st.integers(0, 2),
)
def test_a_description_makes_a_surface_within_limits_or_one_error(
    kind: SurfaceKind, sizes: tuple[int, ...], format: int, more: tuple[int, ...], parent: int
) -> None:
    heap = Heap(Limits(surface_bytes=1 << 16))
    heap.create(SurfaceDesc(1, SurfaceKind.TEXTURE, 4, 4, Format.DXT1, levels=3))
    width, height, depth = sizes
    pitch, samples, levels, index = more
    desc = SurfaceDesc(
        2, kind, width, height, int(format), pitch, samples, 0, depth, levels, parent, index
    )
    try:
        assert heap.create(desc).data.nbytes <= 1 << 16
    except (Fault, Unsupported):
        assert heap.get(2) is None


@pytest.mark.parametrize("side", [1, 3, 64, 500])
def test_pixels_begin_with_a_line_of_a_cache_and_have_memory_beyond_them(side: int) -> None:
    desc = SurfaceDesc(1, SurfaceKind.SURFACE, side, side, Format.A8R8G8B8)
    surface = Heap().create(desc)
    start, pitch = surface.words.ctypes.data, surface.pitch
    assert start % 64 == 0
    base = surface.words.base
    assert isinstance(base, np.ndarray)
    beyond = base.ctypes.data + base.nbytes - start - surface.words.nbytes
    assert beyond >= pitch + BESIDE
    assert surface.data.nbytes == side * pitch


@pytest.mark.parametrize(
    "more",
    [{"levels": 33}, {"levels": (1 << 32) - 1}, {"levels": 0}, {"layers": 1 << 20}, {"layers": 0}],
)
def test_parts_that_no_surface_has_are_not_laid_out(more: dict[str, int]) -> None:
    desc = SurfaceDesc(1, SurfaceKind.TEXTURE, 4, 4, int(Format.A8R8G8B8))
    with pytest.raises(Fault, match=r"surface 1: \d+ levels, an array of \d+") as caught:
        layout_of(replace(desc, **more))
    assert caught.value.hr == HResult.DDERR_INVALIDPARAMS
    assert len(layout_of(replace(desc, levels=32))) == 32
