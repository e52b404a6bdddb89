"""The FIFO and the clock: order, time, visibility."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.d3d.enums import Format
from dp2emu.errors import ArgumentError
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import (
    RECT_BYTES,
    BeginQuery,
    Clear,
    Draw,
    EndQuery,
    Observe,
    Stream,
    WriteBytes,
)
from dp2emu.gpu.command.queries import QuerySlot
from dp2emu.gpu.device.gpu import QUEUE_BYTES, QUEUE_DEPTH, Gpu
from dp2emu.gpu.device.timing import Timing, fixed, instant
from dp2emu.gpu.resource.heap import Surface, SurfaceDesc, SurfaceKind
from tests.gpu.drawing import draw, rebound

EVENT, OCCLUSION = 8, 9


def target(gpu: Gpu) -> Surface:
    desc = SurfaceDesc(1, SurfaceKind.SURFACE, 8, 8, int(Format.X8R8G8B8))
    return gpu.heap.create(desc)


def fill(surface: Surface, color: int = 0xFFFFFFFF) -> Clear:
    return Clear((Rect(0, 0, 8, 8),), (surface,), color, None, None, None)


def per_type(event: int, occlusion: int) -> Timing:
    """Instant, except that answers take their time by type."""
    base = instant()
    times = {EVENT: event, OCCLUSION: occlusion}
    return Timing("test", lambda n, length: 1, base.cost, lambda kind, n: times[kind])


def test_a_packet_executes_when_time_reaches_it_not_when_submitted() -> None:
    gpu = Gpu(fixed(packet=10))
    surface = target(gpu)
    gpu.submit(fill(surface, 0xFF000001))
    gpu.submit(fill(surface, 0xFF000002))
    gpu.run()
    assert surface.pixels()[0, 0] == 0xFF000001
    gpu.advance(9)
    assert surface.pixels()[0, 0] == 0xFF000001
    gpu.advance(1)
    assert surface.pixels()[0, 0] == 0xFF000002


def test_a_host_write_races_a_queued_packet_as_on_hardware() -> None:
    gpu = Gpu(fixed(packet=10))
    surface = target(gpu)
    gpu.submit(fill(surface))
    gpu.run()
    gpu.submit(fill(surface, 0xFF00FF00))
    gpu.heap.write(1, 0, b"\1\2\3\4")
    gpu.finish()
    assert surface.pixels()[0, 0] == 0xFF00FF00


def test_an_idle_gpu_starts_a_packet_when_it_is_submitted() -> None:
    gpu = Gpu(fixed(packet=10))
    surface = target(gpu)
    seen: list[int] = []
    gpu.packet_taps.append(lambda packet, start: seen.append(start))
    gpu.advance(100)
    gpu.submit(fill(surface))
    gpu.submit(fill(surface))
    gpu.finish()
    assert seen == [100, 110]
    assert gpu.now == 120


def test_results_of_one_type_become_visible_in_order() -> None:
    delays = iter([50, 5])
    base = instant()
    gpu = Gpu(Timing("test", base.call, base.cost, lambda kind, n: next(delays)))
    slots = [QuerySlot(EVENT, None, key) for key in range(2)]
    for slot in slots:
        gpu.submit(EndQuery(slot, 0))
    gpu.run()
    gpu.advance(49)
    assert gpu.collect() == []
    gpu.advance(1)
    assert [report.slot for report in gpu.collect()] == slots


def test_types_may_overtake_each_other() -> None:
    gpu = Gpu(per_type(event=5, occlusion=50))
    slow, fast = QuerySlot(OCCLUSION, None, 1), QuerySlot(EVENT, None, 2)
    gpu.submit(EndQuery(slow, 0))
    gpu.submit(EndQuery(fast, 0))
    gpu.advance(10)
    assert [report.slot for report in gpu.collect()] == [fast]
    gpu.advance(100)
    assert [report.slot for report in gpu.collect()] == [slow]


def test_an_interval_is_the_difference_of_two_looks() -> None:
    gpu = Gpu(fixed(packet=10))
    surface, slot = target(gpu), QuerySlot(OCCLUSION, None, 1)
    gpu.submit(fill(surface))
    gpu.submit(BeginQuery(slot, 0))
    gpu.submit(fill(surface))
    gpu.submit(fill(surface))
    gpu.submit(EndQuery(slot, 0))
    gpu.finish()
    (report,) = gpu.collect()
    assert (report.ticks, report.change("other_ticks")) == (20, 20)


def test_an_end_without_its_begin_is_an_empty_interval() -> None:
    gpu = Gpu()
    slot = QuerySlot(OCCLUSION, None, 1)
    gpu.submit(BeginQuery(slot, 1))
    gpu.submit(fill(target(gpu)))
    gpu.submit(EndQuery(slot, 2))
    gpu.finish()
    (report,) = gpu.collect()
    assert report.begin is report.end


def test_a_full_fifo_makes_the_host_wait_and_counts_it() -> None:
    gpu = Gpu(fixed(packet=10))
    surface = target(gpu)
    for _ in range(QUEUE_DEPTH + 5):
        gpu.submit(fill(surface))
    assert gpu.counters.wait_queue_ticks == gpu.now == 40


def test_waiting_for_idle_counts_as_waiting_for_a_resource() -> None:
    gpu = Gpu(fixed(packet=10))
    surface = target(gpu)
    gpu.submit(fill(surface))
    gpu.submit(fill(surface))
    gpu.wait_for_idle()
    assert (gpu.now, gpu.counters.wait_resource_ticks) == (20, 20)


def test_observing_a_surface_takes_its_turn_and_no_time() -> None:
    gpu = Gpu(fixed(packet=10))
    surface = target(gpu)
    seen: list[int] = []
    gpu.submit(fill(surface, 0xFF000001))
    gpu.submit(Observe(surface, lambda s: seen.append(int(s.pixels()[0, 0]))))
    gpu.submit(fill(surface, 0xFF000002))
    gpu.finish()
    assert seen == [0xFF000001]
    assert gpu.now == 20


def test_finish_moves_time_to_when_everything_is_visible() -> None:
    gpu = Gpu(per_type(event=5, occlusion=500))
    gpu.submit(EndQuery(QuerySlot(OCCLUSION, None, 1), 0))
    gpu.submit(EndQuery(QuerySlot(EVENT, None, 2), 0))
    gpu.finish()
    assert gpu.now == 500
    assert len(gpu.collect()) == 2


def test_queries_with_no_work_between_them_share_a_look_and_others_do_not() -> None:
    gpu = Gpu()
    slots = [QuerySlot(OCCLUSION, None, key) for key in range(2)]
    changes = [lambda: gpu.submit(fill(target(gpu))), gpu.change_clock, lambda: None]
    for change in changes:
        gpu.submit(EndQuery(slots[0], 0))
        gpu.run()
        change()
        gpu.submit(EndQuery(slots[1], 0))
        gpu.run()
        first, second = (report.end for report in gpu.collect())
        assert (first is second) == (change is changes[-1])
        assert (first == second) == (change is changes[-1])


def test_a_host_waits_when_much_memory_is_queued_not_only_many_packets() -> None:
    gpu = Gpu(fixed(packet=10))
    surface = target(gpu)
    rects = 1000 * (Rect(0, 0, 8, 8),)
    fill_often = Clear(rects, (surface,), 0, None, None, None)
    most = QUEUE_BYTES // (RECT_BYTES * len(rects)) + 1
    for _ in range(most):
        gpu.submit(fill_often)
    assert gpu.now == 0
    gpu.submit(fill_often)
    assert gpu.counters.wait_queue_ticks == gpu.now == 0  # the first need not wait to start
    gpu.submit(fill_often)
    assert gpu.counters.wait_queue_ticks == gpu.now == 10
    gpu.finish()
    assert gpu.now == 10 * (most + 2)


def test_draws_of_one_call_share_their_vertices_in_the_queue() -> None:
    gpu = Gpu(fixed(packet=10))
    vertices = bytes(QUEUE_BYTES // 4)
    for _ in range(100):
        gpu.submit(reading(vertices))
    assert gpu.now == 0
    for _ in range(6):
        gpu.submit(reading(bytes(bytearray(vertices))))
    assert gpu.now > 0


def reading(memory: bytes) -> Draw:
    return rebound(draw([]), streams=(Stream(memory, 0, 20),), count=1)


def test_reports_nobody_wants_do_not_pile_up() -> None:
    gpu = Gpu(per_type(event=1000, occlusion=0))
    slot = QuerySlot(EVENT, None, 1)
    for generation in range(100_000):
        slot.generation = generation
        gpu.submit(EndQuery(slot, generation))
        gpu.run()
    assert len(gpu._reports) < 40_000
    gpu.finish()
    assert gpu.now == 1000
    assert [report.generation for report in gpu.collect() if report.wanted] == [99_999]


def test_a_host_waits_when_much_data_is_queued() -> None:
    gpu = Gpu(fixed(packet=10))
    buffer = gpu.heap.create(SurfaceDesc(2, SurfaceKind.MEMORY, QUEUE_BYTES // 4))
    for _ in range(6):
        gpu.submit(WriteBytes(buffer, 0, bytes(QUEUE_BYTES // 4)))
    assert gpu.now == 0
    gpu.submit(WriteBytes(buffer, 0, b"1"))
    gpu.submit(WriteBytes(buffer, 0, b"1"))
    assert gpu.now > 0


def test_the_gpu_is_idle_when_all_is_done() -> None:
    gpu = Gpu(fixed(packet=10))
    seen = [gpu.idle]
    gpu.submit(Clear((Rect(0, 0, 8, 8),), (target(gpu),), 0, None, None, None))
    for ticks in (0, 9, 1):
        seen.append(gpu.idle)
        gpu.advance(ticks)
    assert [*seen, gpu.idle] == [True, False, False, False, True]


def test_what_is_no_packet_is_refused_when_it_is_submitted() -> None:
    gpu: Any = Gpu()
    with pytest.raises(ArgumentError, match=r"Gpu\.submit: packet is a str"):
        gpu.submit("x")
    gpu.run()
