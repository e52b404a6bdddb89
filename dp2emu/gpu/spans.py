"""Spans and fragments: what every kind of primitive becomes before it is shaded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dp2emu.gpu.arrays import F32, I64
from dp2emu.records import dataclass

BATCH = 1 << 17
"""Fragments handled together, give or take one row of pixels."""


@dataclass(frozen=True, slots=True)
class SampleRuns:
    """What samples of a multisampled target a span covers: sample s of the pixels
    left[s] <= x < right[s], and last of all their centres; int64, shape (samples + 1, n).
    """

    left: I64
    right: I64

    def part(self, chosen: slice | I64) -> SampleRuns:
        """Those of some spans."""
        return SampleRuns(self.left[:, chosen], self.right[:, chosen])


@dataclass(frozen=True, slots=True)
class Spans:
    """Runs of pixels left <= x < right in row y; int64, shape (n,), in drawing order.

    ``primitive`` numbers the primitive in its chunk.  Spans of one primitive never overlap.
    With ``runs`` a span is as wide as all its samples together, and may hold pixels of which none
    is covered; without, all samples of its pixels are.  ``coverage`` is how much of its pixels a
    span of an antialiased line covers, float32 of shape (n,); None is all.
    """

    primitive: I64
    y: I64
    left: I64
    right: I64
    runs: SampleRuns | None = None
    coverage: F32 | None = None

    def __len__(self) -> int:
        return len(self.y)

    def part(self, chosen: slice | I64) -> Spans:
        """Some of the spans, in the order asked for."""
        runs = self.runs and self.runs.part(chosen)
        coverage = None if self.coverage is None else self.coverage[chosen]
        left, right = self.left[chosen], self.right[chosen]
        return Spans(self.primitive[chosen], self.y[chosen], left, right, runs, coverage)


@dataclass(frozen=True, slots=True)
class Fragments:
    """Single pixels of some spans, in drawing order: int64, shape (n,).

    ``span`` says which span each belongs to.
    """

    spans: Spans
    span: I64
    x: I64

    def __len__(self) -> int:
        return len(self.x)


def in_order(fast: Spans, slow: list[Spans]) -> Spans:
    """Spans of some primitives and spans of others, back in drawing order."""
    if not slow:
        return fast
    parts = (fast, *slow)
    columns = zip(*((p.primitive, p.y, p.left, p.right) for p in parts), strict=True)
    primitive, y, left, right = (np.concatenate(column) for column in columns)
    covers = [p.coverage for p in parts if p.coverage is not None]
    spans = Spans(primitive, y, left, right, coverage=np.concatenate(covers) if covers else None)
    return spans.part(np.argsort(spans.primitive, kind="stable"))


def slices(sizes: I64, budget: int) -> Iterator[slice]:
    """Cut items into runs that add up to ``budget`` at most, or are a single item."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + budget, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def expand(counts: I64) -> tuple[I64, I64]:
    """For ``counts`` things each: which one a thing belongs to, and its number there."""
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - (np.cumsum(counts) - counts)[which]


def batches(spans: Spans, samples: int = 1) -> Iterator[Fragments]:
    """All fragments, in order, about ``BATCH`` of their samples at a time."""
    for part in slices(spans.right - spans.left, BATCH // samples):
        yield fragments(spans.part(part))


def fragments(spans: Spans) -> Fragments:
    """Every pixel of every span."""
    span, step = expand(spans.right - spans.left)
    return Fragments(spans, span, spans.left[span] + step)
