"""QueryResourceResidency (seed 003)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.ddi10 import residency
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.device import Device
from dp2emu.ddi10.entries import DXGI_FUNCTIONS
from dp2emu.ddi10.residency import Allocation, Purpose, QueryResidency, Resource
from dp2emu.errors import ContractError, Unsupported, UsageError
from dp2emu.gpu.core import Gpu
from dp2emu.gpu.residency import Budgets

S_OK, S_NOT_RESIDENT, S_RESIDENT_IN_SHARED_MEMORY = 0, 0x08760875, 0x08760876
GPU, SHARED, DISK = 1, 2, 3


class Asked:
    """A device whose runtime knows where allocations are, and what it was asked."""

    def __init__(self, places: dict[int, int], *, checking: bool = True) -> None:
        self.places = places
        self.asked: list[int] = []
        self.calls = 0
        self.code = S_OK
        self.adapter = Adapter(checking=checking)
        self.device = self.adapter.create_device(
            Interface.D3D10_0, lambda layer, code: None, 0, self._answer
        )

    def _answer(self, query: QueryResidency) -> int:
        self.calls += 1
        self.asked += query.HandleList
        if self.code == S_OK:
            query.pResidencyStatus[:] = [self.places[handle] for handle in query.HandleList]
        return self.code

    def query(self, *resources: Resource) -> tuple[int, list[int]]:
        return ask(self.device, resources)


def ask(device: Device, resources: tuple[Resource, ...]) -> tuple[int, list[int]]:
    status = [77] * len(resources)
    return device.dxgi_functions["QueryResourceResidency"](resources, status), status


def single(handle: int) -> Resource:
    return Resource((Allocation(handle),))


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
    resource = Resource((Allocation(1), Allocation(3), Allocation(2)))
    assert Asked(EVERYWHERE).query(resource, single(1)) == (S_NOT_RESIDENT, [3, 1])


def test_lock_scratch_is_never_queried() -> None:
    asked = Asked(EVERYWHERE)
    scratch = Allocation(3, Purpose.LOCK)
    assert asked.query(Resource((scratch, Allocation(1), scratch))) == (S_OK, [1])
    assert asked.asked == [1]


def test_the_runtime_is_asked_for_every_resource() -> None:
    asked = Asked(EVERYWHERE)
    asked.query(single(1), Resource((Allocation(2), Allocation(3))), single(1))
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
    resources = tuple(Resource(tuple(map(Allocation, each))) for each in places)
    code, status = Asked({n: n for n in EVERYWHERE.values()}).query(*resources)
    flat = [place for each in places for place in each]
    by_rule = S_OK
    if DISK in flat:
        by_rule = S_NOT_RESIDENT
    elif SHARED in flat:
        by_rule = S_RESIDENT_IN_SHARED_MEMORY
    assert (code, status) == (by_rule, [sorted(each)[-1] for each in places])


# Failures


def test_a_removed_device_is_reported_and_nobody_is_asked() -> None:
    asked = Asked(EVERYWHERE)
    asked.adapter.remove()
    assert asked.query(single(1)) == (DdiCode.D3DDDIERR_DEVICEREMOVED, [77])
    assert asked.calls == 0


@pytest.mark.parametrize(
    "code", [DdiCode.D3DDDIERR_DEVICEREMOVED, DdiCode.E_INVALIDARG, DdiCode.E_OUTOFMEMORY]
)
def test_what_the_callback_fails_with_is_returned(code: int) -> None:
    asked = Asked(EVERYWHERE)
    asked.code = code
    assert asked.query(single(1), single(3)) == (code, [77, 77])


@pytest.mark.parametrize("status", [None, [], [77]])
def test_no_room_for_the_statuses_is_an_invalid_argument(status: list[int] | None) -> None:
    asked = Asked(EVERYWHERE)
    entry = asked.device.dxgi_functions["QueryResourceResidency"]
    assert entry((single(1), single(2)), status) == DdiCode.E_INVALIDARG
    assert status in (None, [], [77])


def test_more_than_the_driver_has_memory_for_is_out_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(residency, "MOST_ALLOCATIONS", 2)
    asked = Asked(EVERYWHERE)
    assert asked.query(*[single(1)] * 2) == (S_OK, [1, 1])
    assert asked.query(*[single(1)] * 3) == (DdiCode.E_OUTOFMEMORY, [77] * 3)


def test_system_memory_never_reaches_the_driver() -> None:
    resource = Resource((Allocation(1),), system_memory=True)
    with pytest.raises(ContractError) as broken:
        Asked(EVERYWHERE).query(resource)
    assert broken.value.rule == "SYSTEM_MEMORY"
    asked = Asked(EVERYWHERE, checking=False)
    assert asked.query(resource) == (DdiCode.E_INVALIDARG, [77])
    assert asked.calls == 0


@pytest.mark.parametrize("place", [0, 4])
def test_a_status_that_is_none_is_a_broken_promise(place: int) -> None:
    with pytest.raises(ContractError, match="one of three"):
        Asked({1: place}, checking=False).query(single(1))


def test_a_resource_has_memory_to_render_with() -> None:
    with pytest.raises(UsageError, match="rendering"):
        Resource((Allocation(1, Purpose.LOCK),))


# The GPU's own answer


def test_without_a_callback_the_budgets_of_the_gpu_answer() -> None:
    gpu = Gpu(budgets=Budgets(100, 100, 1000))
    device = Adapter(gpu).create_device(Interface.D3D11_0, lambda layer, code: None)
    resources = tuple(single(gpu.residency.add(100)) for _ in range(3))
    assert ask(device, resources) == (S_NOT_RESIDENT, [3, 2, 1])
    assert ask(device, (single(99),)) == (DdiCode.E_INVALIDARG, [77])


def test_dxgi_functions_that_are_not_built_say_so() -> None:
    functions = Asked({}).device.dxgi_functions
    assert tuple(functions) == DXGI_FUNCTIONS
    for name in set(functions) - {"QueryResourceResidency"}:
        with pytest.raises(Unsupported, match=f"^{name} of"):
            functions[name]()


def test_a_destroyed_device_is_not_asked() -> None:
    device = Asked({}).device
    device.functions["DestroyDevice"]()
    with pytest.raises(ContractError, match="destroyed"):
        ask(device, ())
