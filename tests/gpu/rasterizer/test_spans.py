"""Cutting work into portions, and spans into fragments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.gpu.arrays import expand
from dp2emu.gpu.rasterizer import spans
from dp2emu.gpu.rasterizer.spans import Spans, batches, slices

sizes = st.lists(st.integers(0, 20), max_size=30)


@given(sizes, st.integers(1, 50))
def test_slices_cover_everything_within_budget_or_alone(items: list[int], budget: int) -> None:
    cuts = list(slices(np.array(items, np.int64), budget))
    assert [i for cut in cuts for i in range(cut.start, cut.stop)] == list(range(len(items)))
    for cut in cuts:
        assert sum(items[cut]) <= budget or cut.stop == cut.start + 1


@given(sizes)
def test_expand_numbers_the_things_of_each(counts: list[int]) -> None:
    which, number = expand(np.array(counts, np.int64))
    pairs = list(zip(which.tolist(), number.tolist(), strict=True))
    assert pairs == [(i, n) for i, count in enumerate(counts) for n in range(count)]


def test_batches_are_the_pixels_of_the_spans_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "BATCH", 4)
    lanes = [np.array(lane) for lane in ([0, 0, 1], [5, 6, 5], [2, 0, 3], [5, 6, 4])]
    found = [
        (int(batch.spans.primitive[s]), int(batch.spans.y[s]), int(x))
        for batch in batches(Spans(*lanes))
        for s, x in zip(batch.span, batch.x, strict=True)
    ]
    assert found == [(0, 5, 2), (0, 5, 3), (0, 5, 4), *((0, 6, x) for x in range(6)), (1, 5, 3)]
