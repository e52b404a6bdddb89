"""Predication: what is skipped, when, and what the GPU waits for (Direct3D 10/11 DDI,
"Predication")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.device import names_of
from dp2emu.ddi10.queries.query_types import KINDS, Query
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType, Usage
from dp2emu.ddi10.resources.views import CreateShaderResourceView
from dp2emu.errors import ContractError
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Clear, Predicated
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import fixed, instant
from tests.ddi10.drawing import strip
from tests.ddi10.driving import REMOVED, Driven
from tests.ddi10.predicating import HINT, PREDICATE, QUERYING, Predicating
from tests.ddi10.rendering import GREEN, RGBA8, Drawing

DELIVERY, PACKET = 1000, 10

_ACTING = (
    "Draw DrawIndexed DrawInstanced DrawIndexedInstanced DrawAuto DrawInstancedIndirect "
    "DrawIndexedInstancedIndirect Dispatch DispatchIndirect CommandListExecute "
    "ClearRenderTargetView ClearDepthStencilView ClearUnorderedAccessViewUint "
    "ClearUnorderedAccessViewFloat ResourceCopy ResourceCopyRegion ResourceConvert "
    "ResourceConvertRegion ResourceUpdateSubresourceUP ResourceResolveSubresource GenMips "
    "DefaultConstantBufferUpdateSubresourceUP CopyStructureCount SetResourceMinLOD"
)
ACTING = set(_ACTING.split())


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("samples", [0, 1, 7])
@pytest.mark.parametrize("flags", [0, HINT])
def test_commands_are_skipped_when_the_result_equals_the_value(
    samples: int, value: int, flags: int
) -> None:
    driven = Predicating()
    memory = driven.found(samples, flags)
    assert driven.call("SetPredication", memory, value) == []
    assert driven.acts() is (bool(samples) is not bool(value))


@pytest.mark.parametrize("entry", sorted(set(names_of(Interface.D3D11_0)) - QUERYING))
def test_draws_clears_copies_and_their_like_are_predicated_and_nothing_else(entry: str) -> None:
    driven = Predicating()
    driven.call("SetPredication", driven.found(0), 0)
    assert driven.acts(entry) is (entry not in ACTING)


def test_queries_count_under_a_predicate() -> None:
    driven = Predicating()
    driven.call("SetPredication", driven.found(0), 0)
    assert driven.data(driven.issue(Query.EVENT), Query.EVENT) == b"\x01\0\0\0"


@pytest.mark.parametrize("value", [0, 1])
def test_no_query_is_no_predication_whatever_the_value(value: int) -> None:
    driven = Predicating()
    driven.call("SetPredication", driven.found(0), 0)
    driven.call("SetPredication", None, value)
    assert driven.acts()


def test_the_predicate_is_the_one_that_was_set_when_a_command_was_recorded() -> None:
    driven = Predicating()
    driven.call("SetPredication", driven.found(0), 0)
    driven.call("ClearRenderTargetView")
    driven.call("SetPredication", None, 0)
    driven.call("Flush")
    assert not driven.surface.data.any()


def test_predication_is_of_one_device() -> None:
    driven = Predicating()
    driven.call("SetPredication", driven.found(0), 0)
    other = Predicating(adapter=driven.adapter).device
    other.functions["ClearRenderTargetView"]()
    other.functions["Flush"]()
    driven.adapter.finish()
    assert driven.surface.data.any()


# Before the result is known


def start_of_clear(driven: Predicating, memory: bytearray) -> list[int]:
    """When the GPU executed a clear under the predicate, that skips what was seen."""
    starts: list[int] = []
    driven.adapter.gpu.packet_taps.append(
        lambda packet, start: starts.append(start) if isinstance(packet, Clear) else None
    )
    driven.call("SetPredication", memory, 1)
    driven.acts()
    return starts


def late() -> Predicating:
    return Predicating(fixed(call=1, packet=PACKET, delivery=DELIVERY))


def test_the_gpu_waits_for_a_guaranteed_predicate() -> None:
    driven = late()
    (start,) = start_of_clear(driven, driven.found(0))
    assert start >= DELIVERY


def test_the_gpu_skips_by_a_guaranteed_predicate_that_was_late() -> None:
    driven = late()
    assert start_of_clear(driven, driven.found(1)) == []


@pytest.mark.parametrize("samples", [0, 1])
def test_under_a_hint_that_is_not_signaled_the_gpu_draws_at_once(samples: int) -> None:
    driven = late()
    (start,) = start_of_clear(driven, driven.found(samples, HINT))
    assert start < DELIVERY


def test_under_a_hint_that_is_signaled_the_gpu_skips() -> None:
    driven = late()
    memory = driven.found(1, HINT)
    driven.call("Flush")
    driven.adapter.finish()
    assert start_of_clear(driven, memory) == []


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.integers(0, 300))),
    st.integers(0, 500),
)
def test_what_is_skipped_and_when_agrees_with_a_plain_model(
    steps: list[tuple[bool, bool, bool, int]], delivery: int
) -> None:
    driven = Predicating(fixed(call=0, packet=PACKET, delivery=delivery))
    starts: list[int] = []
    driven.adapter.gpu.packet_taps.append(
        lambda packet, start: starts.append(start) if isinstance(packet, Clear) else None
    )
    free, now, known, expected = 0, 0, 0, []
    for passed, value, hint, pause in steps:
        driven.call("SetPredication", driven.found(passed, HINT if hint else 0), value)
        driven.call("ClearRenderTargetView")
        driven.call("SetPredication", None, 0)
        driven.call("Flush")
        driven.adapter.advance(pause)
        known = max(known, max(free, now) + delivery)
        free = start = max(free, now) if hint else max(free, now, known)
        if passed is not value or known > start:
            expected.append(start)
            free = start + PACKET
        now += pause
    driven.adapter.finish()
    assert starts == expected


# What the runtime promises


def refused(rule: str, driven: Driven, *call: Any) -> None:
    with pytest.raises(ContractError) as broken:
        driven.call(*call)
    assert broken.value.rule == rule


@pytest.mark.parametrize("entry", ["QueryBegin", "QueryEnd", "DestroyQuery"])
def test_the_current_predicate_is_left_alone(entry: str) -> None:
    driven = Predicating()
    memory = driven.found(0)
    driven.call("SetPredication", memory, 0)
    refused("BOUND_PREDICATE", driven, entry, memory)
    driven.call("SetPredication", None, 0)
    assert driven.call(entry, memory) == []


def test_a_predicate_is_issued_before_it_is_set() -> None:
    driven = Predicating()
    memory = driven.create(PREDICATE)
    refused("PREDICATE_ISSUED", driven, "SetPredication", memory, 0)
    driven.call("QueryBegin", memory)
    refused("PREDICATE_ISSUED", driven, "SetPredication", memory, 0)


@pytest.mark.parametrize("query", list(KINDS))
def test_only_predicates_can_predicate(query: Query) -> None:
    driven = Predicating()
    memory = driven.issue(query)
    if "PREDICATE" in Query(query).name:
        assert driven.call("SetPredication", memory, 0) == []
    else:
        refused("A_PREDICATE", driven, "SetPredication", memory, 0)


def test_unchecked_what_is_no_predicate_or_never_ended_skips_nothing() -> None:
    driven = Predicating(checking=False)
    for memory in (driven.issue(Query.OCCLUSION), driven.create(PREDICATE)):
        driven.call("SetPredication", memory, 0)
        assert driven.acts()


def test_unchecked_a_destroyed_predicate_goes_on_by_what_it_found() -> None:
    driven = Predicating(checking=False)
    memory = driven.found(0)
    driven.call("SetPredication", memory, 0)
    driven.call("DestroyQuery", memory)
    assert not driven.acts()


def test_a_query_of_another_device_cannot_be_set() -> None:
    driven, other = Predicating(), Driven()
    refused("LIVE_QUERY", driven, "SetPredication", other.issue(PREDICATE), 0)


def test_a_removed_device_reports_that_when_a_predicate_is_set() -> None:
    driven = Predicating()
    driven.adapter.remove()
    assert driven.call("SetPredication", None, 0) == REMOVED


def test_a_predicated_packet_counts_in_the_queue_as_what_it_brings_along() -> None:
    gpu = Gpu(instant())
    memory = Driven(adapter=Adapter(gpu))
    slot_owner = memory.issue(PREDICATE)
    assert slot_owner
    clear = Clear((Rect(0, 0, 1, 1),) * 9, (), None, None, None, None)
    slot = next(iter(memory.device.queries._live.values())).slot
    gpu.submit(Predicated(clear, slot, False, False))
    wrapped = gpu._queued_bytes
    gpu.submit(clear)
    assert gpu._queued_bytes == 2 * wrapped > 0


# What the entries do, and do not do


class Ready(Drawing):
    """A device with something for every entry to change, and a predicate that skips."""

    def __init__(self) -> None:
        super().__init__(samples=4)
        both = BindFlag.SHADER_RESOURCE | BindFlag.RENDER_TARGET
        self.given = self.texture(bind=both, levels=2)
        self.made = self.texture(bind=both, levels=2)
        self.call("ClearRenderTargetView", self.target(self.given), (1, 1, 1, 1))
        self.call("ClearRenderTargetView", self.target(self.given, RGBA8, 1), (1, 1, 1, 1))
        self.call("ClearRenderTargetView", self.view, (1, 1, 1, 1))
        desc = CreateShaderResourceView(self.given, RGBA8.value, ResourceType.TEXTURE2D)
        self.levels = self.make("ShaderResourceView", desc)
        self.predicate = self.create(Query.OCCLUSIONPREDICATE)
        self.call("QueryEnd", self.predicate)

    def memory_of_all(self) -> list[bytes]:
        self.call("Flush")
        self.adapter.finish()
        resources = self.device._parts.resources.objects.values()
        return [bytes(resource.surface.data) for resource in resources]


REAL: dict[str, Callable[[Ready], tuple[Any, ...]]] = {
    "Draw": lambda d: (4, 0),
    "DrawInstanced": lambda d: (4, 2, 0, 0),
    "ClearRenderTargetView": lambda d: (d.view, (0, 0, 1, 1)),
    "ClearDepthStencilView": lambda d: (d.deep_view, 3, 0.0, 1),
    "ResourceCopy": lambda d: (d.made, d.given),
    "ResourceCopyRegion": lambda d: (d.made, 0, 0, 0, 0, d.given, 0, None),
    "ResourceConvert": lambda d: (d.made, d.given),
    "ResourceConvertRegion": lambda d: (d.made, 0, 0, 0, 0, d.given, 0, None),
    "ResourceUpdateSubresourceUP": lambda d: (d.made, 1, None, b"!" * 256, 32, 0),
    "DefaultConstantBufferUpdateSubresourceUP": lambda d: (d.made, 1, None, b"!" * 256, 32, 0),
    "ResourceResolveSubresource": lambda d: (d.made, 0, d.color, 0, RGBA8.value),
}


@pytest.mark.parametrize("name", REAL)
def test_what_is_predicated_changes_memory_only_if_it_is_not_skipped(name: str) -> None:
    driven = Ready()
    arguments = REAL[name](driven)
    before = driven.memory_of_all()
    driven.call("SetPredication", driven.predicate, 0)
    assert driven.call(name, *arguments) == []
    assert driven.memory_of_all() == before
    driven.call("SetPredication", driven.predicate, 1)
    assert driven.call(name, *arguments) == []
    assert driven.memory_of_all() != before


def test_levels_are_predicated() -> None:
    driven = Ready()
    driven.call("ClearRenderTargetView", driven.target(driven.given), (0, 0, 1, 1))
    before = driven.memory_of_all()
    driven.call("SetPredication", driven.predicate, 0)
    driven.call("GenMips", driven.levels)
    assert driven.memory_of_all() == before
    driven.call("SetPredication", None, 0)
    driven.call("GenMips", driven.levels)
    assert driven.memory_of_all() != before


def test_maps_states_and_queries_are_not_predicated() -> None:
    driven = Ready()
    driven.call("SetPredication", driven.predicate, 0)
    staging = driven.buffer(bytes(4), usage=Usage.STAGING)
    found = driven.device.functions["StagingResourceMap"](staging, 0, Map.WRITE)
    found.pData[:] = b"here"
    driven.call("StagingResourceUnmap", staging, 0)
    driven.call("IaSetTopology", 1)
    query = driven.create(Query.PIPELINESTATS)
    driven.call("QueryBegin", query)
    driven.call("SetPredication", None, 0)
    driven.call("Draw", 4, 0)
    driven.call("QueryEnd", query)
    assert driven.read(staging) == b"here"
    data = driven.data(query, Query.PIPELINESTATS) or b""
    assert int.from_bytes(data[8:16], "little") == 4


@pytest.mark.parametrize("drawn", [False, True])
def test_what_was_seen_decides_what_is_drawn(drawn: bool) -> None:
    driven = Drawing()
    predicate = driven.create(Query.OCCLUSIONPREDICATE)
    driven.call("QueryBegin", predicate)
    if drawn:
        driven.call("Draw", 4, 0)
    driven.call("QueryEnd", predicate)
    driven.vertices(strip(GREEN))
    driven.call("SetPredication", predicate, 0)
    driven.call("Draw", 4, 0)
    assert driven.drawn(GREEN).all() == drawn
    counted = driven.device.statistics().IAVertices
    assert counted == (8 if drawn else 0)
