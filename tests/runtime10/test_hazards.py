"""Nothing is read and written at a time."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.resources.resource import ResourceType
from dp2emu.ddi10.resources.unordered_access import CreateUnorderedAccessView
from dp2emu.ddi10.resources.views import CreateShaderResourceView, CreateTargetView
from dp2emu.runtime10.hazards import HazardTracker

A, B = bytearray(b"a"), bytearray(b"a")


def calls(*made: tuple[str, tuple[Any, ...]]) -> list[tuple[str, tuple[Any, ...]]]:
    """What a driver is called with for the last of them."""
    hazards = HazardTracker()
    found = [list(hazards.resolved(entry, arguments)) for entry, arguments in made]
    return found[-1]


def vertices(slot: int, *buffers: bytearray | None) -> tuple[str, tuple[Any, ...]]:
    return "IaSetVertexBuffers", (slot, buffers, (8,) * len(buffers), (0,) * len(buffers))


def indices(buffer: bytearray | None) -> tuple[str, tuple[Any, ...]]:
    return "IaSetIndexBuffer", (buffer, 57, 2)


def outputs(*buffers: bytearray | None) -> tuple[str, tuple[Any, ...]]:
    return "SoSetTargets", (buffers, 4 - len(buffers), (0,) * len(buffers))


def test_other_calls_are_as_they_are() -> None:
    assert calls(outputs(A), ("Draw", (3, 0))) == [("Draw", (3, 0))]


@pytest.mark.parametrize("other", [None, B])
def test_what_is_streamed_into_is_bound_as_no_input(other: bytearray | None) -> None:
    (found,) = calls(outputs(other, A), vertices(1, A, other if other is None else bytearray(1)))
    entry, (start, bound, *_) = found
    assert (entry, start, bound[0]) == ("IaSetVertexBuffers", 1, None)
    assert (bound[1] is None) is (other is None)
    assert calls(outputs(other, A), indices(A)) == [("IaSetIndexBuffer", (None, 57, 2))]


def test_inputs_that_are_streamed_into_are_unbound() -> None:
    found = calls(vertices(2, A, B), vertices(5, A), indices(A), outputs(None, A))
    unbound = ((None,), (0,), (0,))
    assert found == [
        ("IaSetVertexBuffers", (2, *unbound)), ("IaSetVertexBuffers", (5, *unbound)),
        ("IaSetIndexBuffer", (None, 0, 0)), outputs(None, A),
    ]  # fmt: skip


def test_buffers_are_told_apart_by_what_they_are() -> None:
    assert calls(vertices(0, A), indices(A), outputs(B)) == [outputs(B)]


def test_what_is_no_output_any_more_can_be_an_input() -> None:
    assert calls(outputs(A), outputs(), vertices(0, A)) == [vertices(0, A)]


def test_a_slot_that_was_set_anew_is_left_alone() -> None:
    assert calls(vertices(0, A), vertices(0, B), outputs(A)) == [outputs(A)]
    assert calls(vertices(0, A), vertices(0, None), outputs(A)) == [outputs(A)]


# Views

C, D = bytearray(b"c"), bytearray(b"d")
READ, TARGET, DEPTH, UNORDERED = (bytearray(b"view") for _ in range(4))


def read(memory: bytearray, resource: bytearray, *part: int) -> tuple[str, tuple[Any, ...]]:
    desc = CreateShaderResourceView(resource, 28, 3, *part)
    return "CreateShaderResourceView", (desc, memory, 0)


def target(memory: bytearray, resource: bytearray, *part: int) -> tuple[str, tuple[Any, ...]]:
    return "CreateRenderTargetView", (CreateTargetView(resource, 28, 3, *part), memory, 0)


def depth(resource: bytearray, flags: int = 0) -> tuple[str, tuple[Any, ...]]:
    desc = CreateTargetView(resource, 45, 3, Flags=flags)
    return "CreateDepthStencilView", (desc, DEPTH, 0)


def unordered(resource: bytearray) -> tuple[str, tuple[Any, ...]]:
    desc = CreateUnorderedAccessView(resource, 42, 1, NumElements=4)
    return "CreateUnorderedAccessView", (desc, UNORDERED, 0)


def draws_to(*views: bytearray | None, deep: bytearray | None = None, also: tuple[Any, ...] = ()
             ) -> tuple[str, tuple[Any, ...]]:  # fmt: skip
    return "SetRenderTargets", (views, 8 - len(views), deep, *also)


def reads(stage: str, slot: int, *views: bytearray | None) -> tuple[str, tuple[Any, ...]]:
    return f"{stage}SetShaderResources", (slot, views)


WRITING = {
    "target": (target(TARGET, C), draws_to(None, TARGET)),
    "depth": (depth(C), draws_to(deep=DEPTH)),
    "pixels": (unordered(C), draws_to(also=([UNORDERED], [0], 0))),
    "threads": (unordered(C), ("CsSetUnorderedAccessViews", (3, (UNORDERED,), (0,)))),
    "stream": (unordered(C), outputs(C)),
}


@pytest.mark.parametrize("how", WRITING)
@pytest.mark.parametrize("stage", ["Vs", "Hs", "Ds", "Gs", "Ps", "Cs"])
def test_what_is_written_is_no_resource_of_any_stage(how: str, stage: str) -> None:
    made, writes = WRITING[how]
    assert calls(read(READ, C), made, writes, reads(stage, 4, READ)) == [reads(stage, 4, None)]
    found = calls(read(READ, C), made, reads(stage, 4, READ), writes)
    assert found == [reads(stage, 4, None), writes]


@pytest.mark.parametrize("how", WRITING)
def test_what_else_is_read_stays(how: str) -> None:
    made, writes = WRITING[how]
    assert calls(read(READ, D), made, reads("Ps", 0, READ), writes) == [writes]
    assert calls(read(READ, D), made, writes, reads("Ps", 0, READ)) == [reads("Ps", 0, READ)]


def test_buffers_that_threads_write_are_no_vertices() -> None:
    made, writes = WRITING["threads"]
    found = calls(made, vertices(1, C), indices(C), writes)
    assert found == [("IaSetVertexBuffers", (1, (None,), (0,), (0,))),
                     ("IaSetIndexBuffer", (None, 0, 0)), writes]  # fmt: skip


@pytest.mark.parametrize(
    ("part", "kept"),
    [((0, 1), True), ((2, 9), True), ((1, 1), False), ((0, 2), False), ((), False),
     ((1, 1, 0, 3), True), ((1, 1, 4, 1), False), ((1, 1, 5, 2), True)],
)  # fmt: skip
def test_parts_that_have_nothing_in_common_do_not_meet(part: tuple[int, ...], kept: bool) -> None:
    """A target of level 1 of the slices 3 and 4."""
    made = target(TARGET, C, 1, 3, 2)
    found = calls(read(READ, C, *part), made, draws_to(TARGET), reads("Ps", 0, READ))
    assert found == [reads("Ps", 0, READ if kept else None)]


def test_depth_that_is_only_read_may_be_read() -> None:
    made = depth(C, flags=1)
    found = calls(read(READ, C), made, draws_to(deep=DEPTH), reads("Ps", 0, READ))
    assert found == [reads("Ps", 0, READ)]


def test_what_is_written_no_more_is_read_again() -> None:
    made, writes = WRITING["threads"]
    gone = "CsSetUnorderedAccessViews", (3, (None,), (0,))
    assert calls(read(READ, C), made, writes, gone, reads("Cs", 0, READ)) == [reads("Cs", 0, READ)]
    found = calls(read(READ, C), target(TARGET, C), draws_to(TARGET), draws_to(),
                  reads("Ps", 0, READ))  # fmt: skip
    assert found == [reads("Ps", 0, READ)]


@pytest.mark.parametrize("kind", [ResourceType.BUFFER, ResourceType.TEXTURE3D])
def test_elements_and_depth_slices_are_parts_of_one_subresource(kind: ResourceType) -> None:
    """A target has the elements or slices 3 and 4, the input has others."""
    desc = CreateTargetView(C, 28, kind, 0, 3, 2)
    made = "CreateRenderTargetView", (desc, TARGET, 0)
    view = CreateShaderResourceView(C, 28, kind, 0, 1, 0, 1, 0, 2)
    reading = "CreateShaderResourceView", (view, READ, 0)
    found = calls(reading, made, draws_to(TARGET), reads("Ps", 0, READ))
    assert found == [reads("Ps", 0, None)]
