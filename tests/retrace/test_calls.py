"""Counts of Python functions do not depend on what the process did before."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.retrace.calls import functions


@pytest.fixture
def collecting() -> Iterator[list[str]]:
    """The collections of garbage so far; one begins after each allocation."""
    seen: list[str] = []
    before = gc.get_threshold()

    def callback(phase: str, info: dict[str, int]) -> None:
        seen.append(phase)

    gc.callbacks.append(callback)
    gc.set_threshold(1)
    yield seen
    gc.set_threshold(*before)
    gc.callbacks.remove(callback)


def test_functions_of_a_garbage_collection_are_not_counted(collecting: list[str]) -> None:
    kept: list[list[int]] = []
    kept += [[] for _ in range(100)]
    assert collecting
    assert functions(lambda: kept.extend([] for _ in range(100))) == 1 + 1 + 100
    assert gc.isenabled()
