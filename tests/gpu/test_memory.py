"""The heap: what it counts, and how much of it there can be."""

from __future__ import annotations

import pytest

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
