"""Function tables, error reporting and removal."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10 import adapter
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.queries.query_types import CreateQuery, Query
from dp2emu.dp2.driver import Driver
from dp2emu.errors import ContractError, Unsupported, UsageError
from dp2emu.gpu.command.packets import BeginQuery, EndQuery
from dp2emu.gpu.compile.thread_pool import cores
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader import engines
from dp2emu.shader.engines import JIT, REFERENCE, name_of
from tests.ddi10.driving import REMOVED, Driven

MISSING = (
    "CommandListExecute CreateDeferredContext CreateCommandList "
    "AbandonCommandList RecycleCommandList "
    "CheckDeferredContextHandleSizes"
)


def test_every_interface_version_is_announced() -> None:
    assert Adapter().get_supported_versions() == tuple(Interface)


@pytest.mark.parametrize(("there", "name"), [(True, JIT), (False, REFERENCE)])
def test_without_a_gpu_an_adapter_draws_on_the_default_engine(
    monkeypatch: pytest.MonkeyPatch, there: bool, name: str
) -> None:
    made: list[dict[str, Any]] = []

    class Noted(Gpu):
        def __init__(self, **given: Any) -> None:
            made.append(given)
            super().__init__(**given)

    monkeypatch.setattr(engines, "can_compile", lambda: there)
    monkeypatch.setattr(adapter, "Gpu", Noted)
    Adapter()
    (given,) = made
    assert name_of(given["run"]) == name and given["threads"] == cores()


@pytest.mark.parametrize("interface", [0, 99, 102, 111])
def test_another_interface_version_is_refused(interface: int) -> None:
    with pytest.raises(ContractError, match="no such interface"):
        Adapter().create_device(interface, lambda layer, code: None)


def test_a_later_interface_has_the_functions_of_the_earlier_ones() -> None:
    tables = [tuple(Driven(interface=version).device.functions) for version in Interface]
    assert tables[1] == (*tables[0], "ResourceConvert", "ResourceConvertRegion")
    assert tables[2][: len(tables[1])] == tables[1]
    assert {"HsSetShader", "Dispatch"} <= set(tables[2])


def test_the_table_begins_in_the_order_of_the_structure() -> None:
    names = list(Driven(interface=Interface.D3D10_0).device.functions)
    places = {0: "DefaultConstantBufferUpdateSubresourceUP", 7: "Draw", 36: "QueryEnd"}
    places |= {37: "QueryBegin", 46: "SetPredication", 47: "QueryGetData", 48: "Flush"}
    assert {n: names[n] for n in places} == places
    assert names.index("RelocateDeviceFuncs") == 55


def test_the_table_of_11_goes_on_in_the_order_of_its_structure() -> None:
    names = list(Driven(interface=Interface.D3D11_0).device.functions)
    places = {
        "DrawIndexedInstancedIndirect": 0,
        "CreateHullShader": 11,
        "CreateDeferredContext": 16,
    }
    places |= {"CreateComputeShader": 28, "CsSetUnorderedAccessViews": 38, "Dispatch": 39}
    places |= {"CopyStructureCount": 42, "RecycleDestroyCommandList": 46}
    first = names.index("ResourceConvertRegion") + 1
    assert {name: names.index(name) - first for name in places} == places


def test_functions_that_are_not_built_say_so_by_name() -> None:
    functions = Driven().device.functions
    for name in MISSING.split():
        with pytest.raises(Unsupported, match=f"^{name} of"):
            functions[name]()


# Removal


def call_all(driven: Driven) -> list[list[int]]:
    """The codes of every entry that acts on a query, in the order of a life."""
    memory = driven.memory(Query.OCCLUSION)
    codes = [driven.call("CreateQuery", CreateQuery(Query.OCCLUSION), memory)]
    codes += [driven.call(entry, memory) for entry in ("QueryBegin", "QueryEnd")]
    return [*codes, driven.call("Flush"), driven.poll(memory)]


def test_a_removed_device_reports_that_wherever_it_may() -> None:
    driven = Driven()
    driven.adapter.remove()
    assert call_all(driven) == [REMOVED] * 5


@pytest.mark.parametrize("calls", range(6))
def test_removal_strikes_at_any_call_and_stays(calls: int) -> None:
    driven = Driven()
    memory = driven.create(Query.EVENT)
    driven.adapter.remove(after=calls)
    codes = [driven.call("QueryEnd", memory) for _ in range(6)]
    assert codes == [[]] * calls + [REMOVED] * (6 - calls)
    assert driven.adapter.removed


def test_removal_is_of_the_adapter() -> None:
    adapter = Adapter(checking=True)
    one, other = Driven(adapter=adapter), Driven(adapter=adapter)
    adapter.remove()
    assert (one.call("Flush"), other.call("Flush")) == (REMOVED, REMOVED)


def test_a_query_of_a_removed_device_is_destroyed_silently() -> None:
    driven = Driven()
    memory = driven.create(Query.EVENT)
    driven.adapter.remove()
    assert driven.call("DestroyQuery", memory) == []
    assert driven.call("DestroyDevice") == []


def test_the_size_of_a_query_is_told_by_a_removed_device_too() -> None:
    driven = Driven()
    size = len(driven.memory(Query.EVENT))
    driven.adapter.remove()
    assert len(driven.memory(Query.EVENT)) == size
    assert driven.codes == []


def test_a_refused_query_is_not_created() -> None:
    driven = Driven()
    memory = driven.memory(Query.EVENT)
    driven.adapter.remove()
    assert driven.call("CreateQuery", CreateQuery(Query.EVENT), memory) == REMOVED
    with pytest.raises(ContractError, match="holds no query"):
        driven.call("DestroyQuery", memory)


def test_removal_cannot_have_been_before() -> None:
    with pytest.raises(UsageError, match="-1"):
        Adapter().remove(after=-1)


def test_time_does_not_go_back() -> None:
    with pytest.raises(UsageError, match="go back"):
        Adapter().advance(-1)


# The end of a device


def test_a_destroyed_device_takes_no_calls() -> None:
    driven = Driven(checking=False)
    driven.call("DestroyDevice")
    with pytest.raises(ContractError, match="device is destroyed"):
        driven.call("Flush")


def test_queries_are_destroyed_before_their_device() -> None:
    driven = Driven()
    driven.create(Query.EVENT)
    with pytest.raises(ContractError) as broken:
        driven.call("DestroyDevice")
    assert broken.value.rule == "QUERIES_LEFT"


def test_unchecked_the_queries_of_a_device_die_with_it() -> None:
    driven = Driven(checking=False)
    memory = driven.issue(Query.EVENT)
    before = bytes(memory)
    driven.call("DestroyDevice")
    driven.adapter.finish()
    assert memory == before


def test_reports_go_to_the_device_that_asked_whoever_looks() -> None:
    driver = Driver()
    adapter = Adapter(driver.gpu, checking=True)
    one, other = Driven(adapter=adapter), Driven(adapter=adapter)
    memory = one.issue(Query.EVENT)
    one.call("Flush")
    other.call("Flush")
    driver.gpu.distribute()
    assert one.data(memory, Query.EVENT, 1) == b"\x01\0\0\0"


def test_packets_reach_the_gpu_in_the_order_of_the_calls() -> None:
    driven = Driven()
    seen: list[type] = []
    driven.adapter.gpu.packet_taps.append(lambda packet, start: seen.append(type(packet)))
    memory = driven.create(Query.OCCLUSION)
    for entry in ("QueryBegin", "QueryEnd", "QueryEnd"):
        driven.call(entry, memory)
    assert seen == []
    driven.call("Flush")
    assert seen == [BeginQuery, EndQuery, EndQuery]
