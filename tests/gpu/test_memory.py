"""The heap: what it counts, and how much of it there can be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dp2emu.d3d.enums import Format
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.gpu.memory import Heap, Limits, Surface, SurfaceDesc, SurfaceKind


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
