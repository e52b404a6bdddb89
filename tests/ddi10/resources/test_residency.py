"""QueryResourceResidency ("QueryResourceResidencyDXGI callback function")."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.contract import Contract
from dp2emu.ddi10.device import DXGI_FUNCTIONS
from dp2emu.ddi10.resources import residency
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.residency import (
    Allocation,
    Memory,
    Purpose,
    QueryResidency,
    QueryResidencyCb,
    residency_callback,
)
from dp2emu.ddi10.resources.resource import BindFlag, CreateResource, MipInfo, ResourceType, Usage
from dp2emu.errors import ContractError, Fault, UsageError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import Timing, by_work
from dp2emu.gpu.resource.memory_residency import Budgets, Residency
from tests.ddi10.driving import CORE_LAYER
from tests.ddi10.rendering import Rendering

S_OK, S_NOT_RESIDENT, S_RESIDENT_IN_SHARED_MEMORY = 0, 0x08760875, 0x08760876
GPU, SHARED, DISK = 1, 2, 3


class Asked:
    """A runtime that knows where allocations are, and what it was asked."""

    def __init__(self, places: dict[int, int], *, checking: bool = True) -> None:
        self.places = places
        self.asked: list[int] = []
        self.calls = 0
        self.code = S_OK
        self.contract = Contract(checking)

    def answer(self, query: QueryResidency) -> int:
        self.calls += 1
        self.asked += query.HandleList
        if self.code == S_OK:
            query.pResidencyStatus[:] = [self.places[handle] for handle in query.HandleList]
        return self.code

    def query(self, *resources: Memory) -> tuple[int, list[int]]:
        return ask(self.answer, resources, self.contract)


def ask(
    answer: QueryResidencyCb, resources: tuple[Memory, ...], contract: Contract | None = None
) -> tuple[int, list[int]]:
    """The code and the statuses, which are 77 before."""
    status = [77] * len(resources)
    try:
        code = residency.query_resource_residency(
            contract or Contract(True), answer, resources, status
        )
    except Fault as fault:
        code = fault.hr
    return code, status


def single(handle: int) -> Memory:
    return Memory((Allocation(handle),))


EVERYWHERE = {1: GPU, 2: SHARED, 3: DISK}


def test_all_in_memory_the_gpu_reaches_is_ok() -> None:
    assert Asked({1: GPU, 2: GPU}).query(single(1), single(2)) == (S_OK, [1, 1])


def test_any_in_shared_memory_and_none_on_disk_is_resident_in_shared_memory() -> None:
    expected = S_RESIDENT_IN_SHARED_MEMORY, [1, 2, 1]
    assert Asked(EVERYWHERE).query(single(1), single(2), single(1)) == expected


def test_any_on_disk_is_not_resident() -> None:
    expected = S_NOT_RESIDENT, [1, 3, 2]
    assert Asked(EVERYWHERE).query(single(1), single(3), single(2)) == expected


def test_every_resource_has_a_status_after_the_answer_is_known() -> None:
    assert Asked(EVERYWHERE).query(single(3), single(2), single(1)) == (S_NOT_RESIDENT, [3, 2, 1])


def test_a_resource_of_several_allocations_is_where_the_farthest_is() -> None:
    resource = Memory((Allocation(1), Allocation(3), Allocation(2)))
    assert Asked(EVERYWHERE).query(resource, single(1)) == (S_NOT_RESIDENT, [3, 1])


def test_lock_scratch_is_never_queried() -> None:
    asked = Asked(EVERYWHERE)
    scratch = Allocation(3, Purpose.LOCK)
    assert asked.query(Memory((scratch, Allocation(1), scratch))) == (S_OK, [1])
    assert asked.asked == [1]


def test_the_runtime_is_asked_for_every_resource() -> None:
    asked = Asked(EVERYWHERE)
    asked.query(single(1), Memory((Allocation(2), Allocation(3))), single(1))
    assert (asked.calls, asked.asked) == (3, [1, 2, 3, 1])


def test_the_answer_is_of_the_moment() -> None:
    asked = Asked({1: GPU})
    assert asked.query(single(1)) == (S_OK, [1])
    asked.places[1] = DISK
    assert asked.query(single(1)) == (S_NOT_RESIDENT, [3])


def test_no_resources_are_resident() -> None:
    asked = Asked({})
    assert (asked.query(), asked.calls) == ((S_OK, []), 0)


@given(st.lists(st.lists(st.sampled_from([GPU, SHARED, DISK]), min_size=1), max_size=8))
def test_the_code_is_that_of_the_farthest_allocation(places: list[list[int]]) -> None:
    resources = tuple(Memory(tuple(map(Allocation, each))) for each in places)
    code, status = Asked({n: n for n in EVERYWHERE.values()}).query(*resources)
    flat = [place for each in places for place in each]
    by_rule = S_OK
    if DISK in flat:
        by_rule = S_NOT_RESIDENT
    elif SHARED in flat:
        by_rule = S_RESIDENT_IN_SHARED_MEMORY
    assert (code, status) == (by_rule, [sorted(each)[-1] for each in places])


# Failures


class Owning(Rendering):
    """A device of a runtime that is asked."""

    def __init__(self, asked: Asked, *, checking: bool = True) -> None:
        super().__init__(checking=checking)
        create = self.adapter.create_device
        self.device = create(Interface.D3D11_0, self._error, CORE_LAYER, asked.answer)

    def query(self, *resources: bytearray) -> tuple[int, list[int]]:
        status = [77] * len(resources)
        entry = self.device.dxgi_functions["QueryResourceResidency"]
        return entry(resources, status), status


def test_a_removed_device_is_reported_and_nobody_is_asked() -> None:
    asked = Asked(EVERYWHERE)
    driven = Owning(asked)
    resource = driven.buffer(b"1234")
    driven.adapter.remove()
    assert driven.query(resource) == (DdiCode.D3DDDIERR_DEVICEREMOVED, [77])
    assert asked.calls == 0


def test_only_the_allocation_of_a_texture_that_is_rendered_with_is_queried() -> None:
    asked = Asked(EVERYWHERE)
    driven = Owning(asked)
    texture = driven.texture(bind=BindFlag.SHADER_RESOURCE, usage=Usage.DYNAMIC)
    assert driven.query(texture) == (S_OK, [1])
    assert (asked.calls, asked.asked) == (1, [1])


def test_staging_resources_are_system_memory() -> None:
    driven = Owning(Asked(EVERYWHERE))
    with pytest.raises(ContractError) as broken:
        driven.query(driven.buffer(bytes(4), bind=0, usage=Usage.STAGING))
    assert broken.value.rule == "SYSTEM_MEMORY"


def test_what_is_no_resource_is_not_asked_about() -> None:
    with pytest.raises(ContractError, match="no such object"):
        Owning(Asked(EVERYWHERE)).query(bytearray(16))


@pytest.mark.parametrize(
    "code", [DdiCode.D3DDDIERR_DEVICEREMOVED, DdiCode.E_INVALIDARG, DdiCode.E_OUTOFMEMORY]
)
def test_what_the_callback_fails_with_is_returned(code: int) -> None:
    asked = Asked(EVERYWHERE)
    asked.code = code
    assert asked.query(single(1), single(3)) == (code, [77, 77])


@pytest.mark.parametrize("status", [None, [], [77]])
def test_no_room_for_the_statuses_is_an_invalid_argument(status: list[int] | None) -> None:
    driven = Owning(Asked(EVERYWHERE))
    entry = driven.device.dxgi_functions["QueryResourceResidency"]
    resources = driven.buffer(b"1234"), driven.buffer(b"1234")
    assert entry(resources, status) == DdiCode.E_INVALIDARG
    assert status in (None, [], [77])


def test_more_than_the_driver_has_memory_for_is_out_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(residency, "MOST_ALLOCATIONS", 2)
    asked = Asked(EVERYWHERE)
    assert asked.query(*[single(1)] * 2) == (S_OK, [1, 1])
    assert asked.query(*[single(1)] * 3) == (DdiCode.E_OUTOFMEMORY, [77] * 3)


def test_system_memory_never_reaches_the_driver() -> None:
    resource = Memory((Allocation(1),), system_memory=True)
    with pytest.raises(ContractError) as broken:
        Asked(EVERYWHERE).query(resource)
    assert broken.value.rule == "SYSTEM_MEMORY"
    asked = Asked(EVERYWHERE, checking=False)
    assert asked.query(resource) == (DdiCode.E_INVALIDARG, [77])
    assert asked.calls == 0


@pytest.mark.parametrize("place", [0, 4])
def test_a_status_that_is_none_is_a_broken_promise(place: int) -> None:
    with pytest.raises(ContractError, match="one defined status for each"):
        Asked({1: place}, checking=False).query(single(1))


def test_a_resource_has_memory_to_render_with() -> None:
    with pytest.raises(UsageError, match="rendering"):
        Memory((Allocation(1, Purpose.LOCK),))


# The GPU's own answer


def test_without_a_callback_the_budgets_of_the_gpu_answer() -> None:
    memory = Residency(Budgets(100, 100, 1000))
    resources = tuple(single(memory.add(100)) for _ in range(3))
    assert ask(residency_callback(memory), resources) == (S_NOT_RESIDENT, [3, 2, 1])
    assert ask(residency_callback(memory), (single(99),)) == (DdiCode.E_INVALIDARG, [77])


def evicting(timing: Timing | None = None) -> Rendering:
    """A device of whose memory the GPU reaches 100 bytes, and 100 more are shared."""
    gpu = Gpu(timing, budgets=Budgets(100, 100, 1000))
    return Rendering(adapter=Adapter(gpu, checking=True))


def places(driven: Rendering, *resources: bytearray) -> list[int]:
    status = [77] * len(resources)
    driven.device.dxgi_functions["QueryResourceResidency"](resources, status)
    return status


def test_resources_go_down_when_others_are_made_and_come_back_when_they_are_used() -> None:
    driven = evicting()
    resources = [driven.buffer(bytes(100)) for _ in range(3)]
    assert places(driven, *resources) == [3, 2, 1]
    driven.call("ResourceCopy", resources[0], resources[0])
    assert places(driven, *resources) == [3, 2, 1]
    driven.call("Flush")
    assert places(driven, *resources) == [1, 3, 2]


def test_what_has_priority_stays() -> None:
    driven = evicting()
    dear = driven.buffer(bytes(100))
    assert driven.device.dxgi_functions["SetResourcePriority"](dear, 5) == S_OK
    others = [driven.buffer(bytes(100)) for _ in range(2)]
    for other in others:
        driven.call("ResourceCopy", other, other)
    driven.call("Flush")
    assert places(driven, dear)[0] < max(places(driven, *others))


def test_using_what_was_evicted_takes_the_time_of_bringing_it_back() -> None:
    driven = evicting(by_work())
    resources = [driven.buffer(bytes(100)) for _ in range(3)]
    ticks = []
    for resource in (resources[2], resources[1], resources[0]):
        before = driven.adapter.gpu.counters.other_ticks
        driven.call("ResourceCopy", resource, resource)
        driven.call("Flush")
        driven.adapter.finish()
        ticks.append(driven.adapter.gpu.counters.other_ticks - before)
    assert ticks == [0, 50, 50 + 800]


def test_destroyed_resources_leave_their_place() -> None:
    driven = evicting()
    first, second = driven.buffer(bytes(100)), driven.buffer(bytes(100))
    driven.call("DestroyResource", second)
    driven.call("ResourceCopy", first, first)
    driven.call("Flush")
    third = driven.buffer(bytes(10))
    assert places(driven, first, third) == [2, 1]


def test_resources_beyond_the_disk_are_out_of_memory() -> None:
    driven = evicting()
    for _ in range(10):
        driven.buffer(bytes(100))
    memory = driven.memory_of("Resource")
    desc = CreateResource([MipInfo(1)], None, ResourceType.BUFFER)
    assert driven.call("CreateResource", desc, memory) == [DdiCode.E_OUTOFMEMORY]
    with pytest.raises(ContractError, match="no such object"):
        driven.call("DestroyResource", memory)


def test_the_dxgi_functions_are_in_the_order_of_their_table() -> None:
    assert tuple(Rendering().device.dxgi_functions) == DXGI_FUNCTIONS


def test_a_destroyed_device_is_not_asked() -> None:
    driven = Rendering()
    driven.call("DestroyDevice")
    with pytest.raises(ContractError, match="destroyed"):
        places(driven)


def test_a_discard_without_room_is_out_of_memory_and_leaves_what_there_was() -> None:
    driven = evicting()
    made = driven.buffer(b"kept" * 150, usage=Usage.DYNAMIC)
    discard = ("DynamicResourceMapDiscard", made, 0, Map.WRITE_DISCARD)
    assert driven.call(*discard) == [DdiCode.E_OUTOFMEMORY]
    assert driven.read(made) == b"kept" * 150


def test_unchecked_a_device_takes_its_resources_with_it() -> None:
    gpu = Gpu(budgets=Budgets(100, 100, 200))
    driven = Rendering(adapter=Adapter(gpu, checking=False))
    driven.buffer(bytes(150))
    driven.call("DestroyDevice")
    other = Rendering(adapter=driven.adapter)
    assert places(other, other.buffer(bytes(90))) == [1]
