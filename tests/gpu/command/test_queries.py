"""Counters of multisampled targets: intervals that overlap, and what they keep alive."""

from __future__ import annotations

import gc
from collections.abc import Callable
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.gpu.command.queries import Counters, Epoch, QuerySlot, Report, Snapshot, snapshot
from tests.scaling import assert_linear


def pixels(begin: Snapshot, end: Snapshot) -> int:
    return Report(QuerySlot(9, None, 1), 0, begin, end, 0).pixels()


counted = st.tuples(st.integers(1, 3), st.sampled_from([1, 2, 4, 8]), st.integers(0, 9))


@given(st.lists(st.lists(counted, max_size=4), min_size=1, max_size=8), st.data())
def test_any_interval_rounds_each_of_its_targets_up_once(
    steps: list[list[tuple[int, int, int]]], data: st.DataObject
) -> None:
    counters = Counters()
    looks = [snapshot(counters, 0)]
    for step in steps:
        for serial, samples, passed in step:
            if samples == 1:
                counters.samples += passed
            else:
                counters.multisamples.add(10 * serial + samples, samples, passed)
        looks.append(snapshot(counters, 0))
    ends = st.tuples(st.integers(0, len(steps)), st.integers(0, len(steps))).map(sorted)
    for first, last in data.draw(st.lists(ends, min_size=1, max_size=4)):
        totals: dict[tuple[int, int], int] = {}
        for serial, samples, passed in (each for step in steps[first:last] for each in step):
            totals[serial, samples] = totals.get((serial, samples), 0) + passed
        expected = sum(-(-passed // samples) for (_, samples), passed in totals.items())
        assert pixels(looks[first], looks[last]) == expected


def test_looks_with_nothing_between_them_share_an_epoch() -> None:
    counters = Counters()
    counters.multisamples.add(1, 4, 7)
    assert snapshot(counters, 0) == snapshot(counters, 0)


def test_what_no_query_began_before_is_forgotten() -> None:
    class Watched(Epoch):
        __slots__ = ("__weakref__",)

    counters = Counters()
    old = counters.multisamples = Watched()
    old.add(1, 4, 7)
    watched, begin = ref(old), snapshot(counters, 0)
    del old
    gc.collect()
    assert watched() is None
    counters.multisamples.add(1, 4, 1)
    assert pixels(begin, snapshot(counters, 0)) == 1


def test_a_very_long_interval_goes_at_once() -> None:
    counters = Counters()
    begin = snapshot(counters, 0)
    for _ in range(200_000):
        counters.multisamples.add(1, 2, 1)
        end = snapshot(counters, 0)
    assert pixels(begin, end) == 100_000
    del begin


def looked(times: int) -> list[Snapshot]:
    """Snapshots with samples of a multisampled target between each two."""
    counters = Counters()
    looks = []
    for _ in range(times):
        looks.append(snapshot(counters, 0))
        counters.multisamples.add(1, 4, 1)
    return looks


@pytest.mark.parametrize(
    "end",
    [lambda i, n: n + i, lambda i, n: 2 * n - 1 - i, lambda i, n: 2 * n - 1],
    ids=["overlapping", "nested", "one end"],
)
def test_many_overlapping_intervals_cost_no_more_than_n_log_n(
    end: Callable[[int, int], int],
) -> None:
    def given(n: int) -> list[tuple[Snapshot, Snapshot]]:
        looks = looked(2 * n)
        pairs = [(i, end(i, n)) for i in range(n)]
        # Answers are computed in the order in which the intervals end.
        return [(looks[i], looks[j]) for i, j in sorted(pairs, key=lambda pair: pair[1])]

    def count(intervals: list[tuple[Snapshot, Snapshot]]) -> None:
        for first, last in intervals:
            pixels(first, last)

    assert_linear(given, count, (16, 32, 64, 128), sorts=True)
