"""The vertex cache against a queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.errors import Disagreement
from dp2emu.gpu.command.packets import Draw, Indices, Instances
from dp2emu.gpu.input_assembler.vertex_cache import (
    FEW,
    VCACHE_SIZE,
    CompiledVertexCache,
    VertexCache,
    cache_lookups,
)
from dp2emu.shader.engines import CHECKED, ENGINES, can_compile, engine
from tests.gpu.drawing import draw

CACHES: list[Callable[[], VertexCache]] = [VertexCache]
CACHES += [CompiledVertexCache] if can_compile() else []
LOW, HIGH = -(1 << 31), (1 << 32) + (1 << 31)
"""Bounds of a 32-bit index and a base together."""


def queue_misses(numbers: list[int]) -> int:
    """Misses of a first in, first out queue."""
    queue: deque[int] = deque(maxlen=VCACHE_SIZE)
    misses = 0
    for number in numbers:
        if number not in queue:
            queue.append(number)
            misses += 1
    return misses


@pytest.mark.parametrize("cache", CACHES)
@given(
    numbers=st.lists(st.integers(0, 24) | st.integers(LOW, HIGH), max_size=120),
    cut=st.integers(1, 50),
)
def test_misses_are_those_of_a_first_in_first_out_queue(
    cache: Callable[[], VertexCache], numbers: list[int], cut: int
) -> None:
    found = cache()
    whole = np.array(numbers, np.int64)
    found.look_up(whole[:cut])
    found.look_up(whole[cut:])
    assert found.misses == queue_misses(numbers)


@pytest.mark.parametrize("cache", CACHES)
def test_an_entry_stays_for_as_many_misses_as_the_cache_has_entries(
    cache: Callable[[], VertexCache],
) -> None:
    for distinct, misses in ((VCACHE_SIZE, VCACHE_SIZE), (VCACHE_SIZE + 1, 2 * VCACHE_SIZE + 2)):
        found = cache()
        found.look_up(np.tile(np.arange(distinct), 2))
        assert found.misses == misses


def indexed(values: list[int], topology: PrimitiveType, count: int) -> Draw:
    plain = draw([], topology=topology)
    indices = Indices(np.array(values, np.uint32))
    return replace(plain, input=replace(plain.input, indices=indices, count=count))


@pytest.mark.parametrize("name", ENGINES if can_compile() else ["reference"])
@pytest.mark.parametrize("primitives", [20, FEW])
def test_every_engine_counts_the_same_misses(name: str, primitives: int) -> None:
    values = np.random.default_rng(1).integers(0, 24, 3 * primitives).tolist()
    packet = indexed(values, PrimitiveType.TRIANGLELIST, primitives)
    misses = queue_misses(values)
    assert cache_lookups(packet, engine(name)) == (3 * primitives - misses, misses)


@pytest.mark.skipif(not can_compile(), reason="needs llvmlite")
def test_engines_that_differ_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CompiledVertexCache, "look_up", lambda self, numbers: None)
    packet = indexed([0, 1, 2], PrimitiveType.TRIANGLELIST, 1)
    with pytest.raises(Disagreement, match="vertex cache"):
        cache_lookups(packet, engine(CHECKED))


def test_vertices_without_indices_always_miss() -> None:
    plain = draw([], topology=PrimitiveType.TRIANGLESTRIP)
    packet = replace(plain, input=replace(plain.input, count=10))
    assert cache_lookups(packet, engine("reference")) == (0, 12)


def test_no_primitive_looks_nothing_up() -> None:
    packet = indexed([0, 1], PrimitiveType.TRIANGLESTRIP, 0)
    assert cache_lookups(packet, engine("reference")) == (0, 0)


def test_each_strip_looks_its_vertices_up_once_and_cuts_are_not_vertices() -> None:
    cut = 0xFFFFFFFF
    packet = indexed([0, 1, 2, 3, cut, 2, 3, cut, 3, 4, 5], PrimitiveType.TRIANGLESTRIP, 9)
    packet = replace(packet, input=replace(packet.input, cuts=True, vertices=11))
    assert cache_lookups(packet, engine("reference")) == (1, 6)


def test_each_instance_shades_its_own_vertices() -> None:
    packet = indexed([0, 1, 2, 2, 1, 0], PrimitiveType.TRIANGLELIST, 2)
    packet = replace(packet, input=replace(packet.input, instances=Instances(3)))
    assert cache_lookups(packet, engine("reference")) == (9, 9)
