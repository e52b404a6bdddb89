"""No buffer is read and streamed into at a time."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.runtime10.hazards import Hazards

A, B = bytearray(b"a"), bytearray(b"a")


def calls(*made: tuple[str, tuple[Any, ...]]) -> list[tuple[str, tuple[Any, ...]]]:
    """What a driver is called with for the last of them."""
    hazards = Hazards()
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
