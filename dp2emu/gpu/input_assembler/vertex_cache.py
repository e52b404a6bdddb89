"""A model of the post-transform vertex cache, for the CACHEUTILIZATION query."""

from __future__ import annotations

from collections.abc import Iterable

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.queries import Counters

VCACHE_SIZE = 16
"""Number of vertices that the cache holds; the oldest leaves first, and each draw starts empty."""

_NEVER = -VCACHE_SIZE - 1


def observe(indices: Iterable[I64], counters: Counters) -> None:
    """Add to ``counters`` the vertex cache lookups and hits of one draw with these ``indices``."""
    inserted: dict[int, int] = {}
    misses = lookups = 0
    for portion in indices:
        lookups += len(portion)
        for index in portion.tolist():
            # Miss number k evicts the entry of miss number k - VCACHE_SIZE.
            if inserted.get(index, _NEVER) < misses - VCACHE_SIZE:
                inserted[index] = misses
                misses += 1
    counters.vertex_cache_lookups += lookups
    counters.vertex_cache_hits += lookups - misses


def observe_unindexed(vertices: int, counters: Counters) -> None:
    """Add to ``counters`` ``vertices`` vertex cache lookups without a hit."""
    counters.vertex_cache_lookups += vertices
