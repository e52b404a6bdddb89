"""A model of the post-transform vertex cache: vertices found in it, and vertices that are shaded.

Source: Direct3D 10/11 DDI, "Pipeline statistics" and "Counters".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dp2emu.errors import Disagreement
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.topology import TOPOLOGIES
from dp2emu.gpu.input_assembler.vertex_fetch import strips, vertex_numbers
from dp2emu.shader.engines import CHECKED, REFERENCE, name_of
from dp2emu.shader.reference import Run

VCACHE_SIZE = 16
"""Number of vertices that the cache holds; the oldest leaves first, and each draw starts empty."""

FEW = 1 << 12
"""Maximum number of lookups of a draw that do not use compiled code."""
_PORTION = 1 << 13
"""Maximum number of vertex numbers that are read from an index buffer together."""


class VertexCache:
    """An empty cache of vertex numbers, with its number of ``misses``.  Mutable: lookups insert
    vertices.
    """

    def __init__(self) -> None:
        self.misses = 0
        self._inserted: dict[int, int] = {}

    def look_up(self, numbers: I64) -> None:
        """Look up vertex ``numbers``, shape (n,), in order, and insert those that miss."""
        inserted, misses = self._inserted, self.misses
        known = inserted.get
        for number in numbers.tolist():
            # Miss number k evicts the vertex of miss number k - VCACHE_SIZE.
            if known(number, -VCACHE_SIZE) <= misses - VCACHE_SIZE:
                misses += 1
                inserted[number] = misses
        self.misses = misses


class Lookups(NamedTuple):
    """Lookups of a draw in the vertex cache; the vertex program runs for the ``misses``."""

    hits: int
    misses: int


class CompiledVertexCache(VertexCache):
    """A ``VertexCache`` whose lookups are compiled.  Mutable.

    Raises ImportError without llvmlite.
    """

    def __init__(self) -> None:
        # Imported here: draws with few indices do not compile a cache.
        from dp2emu.gpu.input_assembler.vertex_cache_code import EMPTY, compiled

        super().__init__()
        self._words = np.array([0, *[EMPTY] * VCACHE_SIZE], np.int64)
        self._look_up = compiled(VCACHE_SIZE)

    def look_up(self, numbers: I64) -> None:
        """Look up vertex ``numbers``, shape (n,), in order, and insert those that miss."""
        given = np.ascontiguousarray(numbers, np.int64)
        self.misses = self._look_up(given.ctypes.data, len(given), self._words.ctypes.data)


def cache_lookups(draw: Draw, run: Run) -> Lookups:
    """The lookups of all instances of a draw without patches, by the engine ``run``.

    Vertices without indices always miss.  Raises Disagreement if engines are compared and differ.
    """
    starts, lengths = _runs(draw)
    lookups = int(lengths.sum())
    misses = lookups
    if draw.input.indices is not None:
        misses = _misses(_portions(draw, starts, lengths), lookups, run)
    instances = 1 if draw.input.instances is None else draw.input.instances.count
    return Lookups(instances * (lookups - misses), instances * misses)


def _runs(draw: Draw) -> tuple[I64, I64]:
    """Start and length of each run of positions in the index buffer: one for each strip."""
    starts, counts = strips(draw)
    row = TOPOLOGIES[draw.input.topology]
    return starts[counts > 0], row.step * counts[counts > 0] + row.extra


def _portions(draw: Draw, starts: I64, lengths: I64) -> Iterator[I64]:
    """The vertex numbers of a draw with indices, in order."""
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        for at in range(start, start + length, _PORTION):
            places = np.arange(at, min(at + _PORTION, start + length), dtype=np.int64)
            yield vertex_numbers(draw.input.indices, places)


def _misses(portions: Iterator[I64], lookups: int, run: Run) -> int:
    """Number of misses among ``lookups`` lookups by the engine ``run``, in a cache that starts
    empty.
    """
    engine = name_of(run)
    caches: list[VertexCache] = []
    if engine in (REFERENCE, CHECKED) or lookups <= FEW:
        caches.append(VertexCache())
    if engine == CHECKED or not caches:
        caches.append(CompiledVertexCache())
    for numbers in portions:
        for cache in caches:
            cache.look_up(numbers)
    if len({cache.misses for cache in caches}) > 1:
        raise Disagreement("misses of the vertex cache differ", "", 0)
    return caches[0].misses
