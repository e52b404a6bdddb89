"""The recent targets of a context."""

from __future__ import annotations

from dp2emu.d3d.enums import Format
from dp2emu.dp2.context import RECENT, RecentTargets
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind


def made(heap: Heap, handle: int) -> Surface:
    return heap.create(SurfaceDesc(handle, SurfaceKind.SURFACE, 1, 1, format=Format.R5G6B5))


def test_targets_come_in_the_order_of_their_last_binding_and_once() -> None:
    heap, recent = Heap(), RecentTargets()
    surfaces = [made(heap, handle) for handle in (1, 2, 3)]
    for index in (0, 1, 0, 2):
        recent.note(surfaces[index])
    recent.note(None)
    assert recent.take(heap) == [2, 1, 3]
    assert recent.take(heap) == []


def test_what_is_gone_is_left_out_even_if_its_handle_lives_on() -> None:
    heap, recent = Heap(), RecentTargets()
    for handle in (1, 2, 3):
        recent.note(made(heap, handle))
    heap.destroy(1)
    heap.destroy(2)
    made(heap, 2)
    assert recent.take(heap) == [3]


def test_the_number_of_targets_remembered_is_bounded() -> None:
    heap, recent = Heap(), RecentTargets()
    for handle in range(1, RECENT + 11):
        recent.note(made(heap, handle))
    assert recent.take(heap) == list(range(11, RECENT + 11))
