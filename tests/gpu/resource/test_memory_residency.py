"""Budgets, demotion and what bringing memory back costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import PageIn
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import by_work
from dp2emu.gpu.resource.memory_residency import Budgets, Paged, Place, Residency

SMALL = Budgets(gpu=100, shared=100, disk=1000)


def test_what_fits_is_where_the_gpu_reaches_it() -> None:
    memory = Residency(SMALL)
    handles = [memory.add(50), memory.add(50)]
    assert [memory.place(handle) for handle in handles] == [Place.GPU, Place.GPU]


def test_the_least_recently_used_goes_to_shared_memory_and_then_to_disk() -> None:
    memory = Residency(SMALL)
    first, second, third = memory.add(50), memory.add(50), memory.add(50)
    assert [memory.place(h) for h in (first, second, third)] == [2, 1, 1]
    memory.use([second])
    memory.add(100)
    assert [memory.place(h) for h in (first, second, third)] == [3, 2, 2]


def test_the_lowest_priority_goes_first() -> None:
    memory = Residency(SMALL)
    dear, cheap = memory.add(50, priority=1), memory.add(50)
    memory.add(50)
    assert (memory.place(dear), memory.place(cheap)) == (Place.GPU, Place.SHARED)
    memory.set_priority(cheap, 2)
    memory.use([cheap])
    memory.set_priority(dear, 0)
    memory.add(50)
    assert (memory.place(dear), memory.place(cheap)) == (Place.SHARED, Place.GPU)


def test_what_is_used_now_goes_last_whatever_its_priority() -> None:
    memory = Residency(SMALL)
    used = memory.add(60)
    memory.add(60, priority=9)
    memory.use([used])
    assert memory.place(used) is Place.GPU


def test_what_is_larger_than_a_budget_stays_below_it_and_displaces_nothing() -> None:
    memory = Residency(SMALL)
    small = memory.add(50)
    large = memory.add(101)
    assert (memory.place(small), memory.place(large)) == (Place.GPU, Place.DISK)
    assert memory.use([large]) == Paged(0, 0)


def test_bytes_that_come_back_are_told_by_where_they_were() -> None:
    memory = Residency(SMALL)
    first, second, _ = memory.add(100), memory.add(100), memory.add(100)
    assert memory.use([first]) == Paged(100, 100)
    assert memory.use([first]) == Paged(0, 0)
    assert memory.place(second) is Place.DISK
    assert memory.use([3]) == Paged(100, 0)


def test_removed_allocations_make_room_and_are_unknown() -> None:
    memory = Residency(SMALL)
    first = memory.add(100)
    memory.remove(first)
    assert memory.place(memory.add(100)) is Place.GPU
    assert memory.use([first]) == Paged(0, 0)
    with pytest.raises(Fault, match="no allocation 1"):
        memory.place(first)


@pytest.mark.parametrize("size", [-1, 1001])
def test_the_disk_bounds_what_there_is(size: int) -> None:
    with pytest.raises(Fault, match="no room"):
        Residency(SMALL).add(size)


@given(st.lists(st.tuples(st.integers(0, 150), st.integers(0, 2), st.integers(1, 9)), max_size=20))
def test_budgets_are_never_exceeded(steps: list[tuple[int, int, int]]) -> None:
    memory = Residency(Budgets(100, 100, 10_000))
    sizes: dict[int, int] = {}
    for size, priority, used in steps:
        sizes[memory.add(size, priority)] = size
        memory.use([used])
        for place in (Place.GPU, Place.SHARED):
            assert sum(s for h, s in sizes.items() if memory.place(h) is place) <= 100


def test_using_evicted_memory_costs_time_on_the_clock() -> None:
    gpu = Gpu(by_work(), budgets=SMALL)
    first = gpu.residency.add(100)
    gpu.residency.add(100)
    for packet, ticks in ((PageIn((first,)), 100 // 2), (PageIn((first,)), 0)):
        before = gpu.now
        gpu.submit(packet)
        gpu.finish()
        assert gpu.now - before == ticks
    gpu.residency.add(100)
    gpu.residency.add(100)
    before = gpu.now
    gpu.submit(PageIn((first,)))
    gpu.finish()
    assert gpu.now - before == 100 // 2 + 100 * 8
    assert gpu.counters.other_ticks == gpu.now
