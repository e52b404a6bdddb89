"""The vertex cache against a queue."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.input_assembler.vertex_cache import VCACHE_SIZE, observe, observe_unindexed


@given(st.lists(st.integers(0, 24), max_size=120), st.integers(1, 50))
def test_hits_are_those_of_a_first_in_first_out_queue(indices: list[int], cut: int) -> None:
    queue: deque[int] = deque(maxlen=VCACHE_SIZE)
    hits = 0
    for index in indices:
        hits += index in queue
        if index not in queue:
            queue.append(index)
    counters = Counters()
    whole = np.array(indices, np.int64)
    observe((whole[:cut], whole[cut:]), counters)
    assert counters.vertex_cache_lookups == len(indices)
    assert counters.vertex_cache_hits == hits


def test_an_entry_stays_for_as_many_misses_as_the_cache_has_entries() -> None:
    for distinct, hits in ((VCACHE_SIZE, VCACHE_SIZE), (VCACHE_SIZE + 1, 0)):
        counters = Counters()
        observe([np.tile(np.arange(distinct), 2)], counters)
        assert counters.vertex_cache_hits == hits


def test_vertices_without_indices_always_miss() -> None:
    counters = Counters()
    observe_unindexed(12, counters)
    assert counters.vertex_cache_lookups == 12
    assert counters.vertex_cache_hits == 0
