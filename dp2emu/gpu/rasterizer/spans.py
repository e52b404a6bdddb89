"""Sub-pixel grid coordinates, in units of 1/256 pixel, and spans of covered pixels.

Pixel centres are the multiples of 256.  Grid coordinates are float64, which holds every snapped
float32 exactly (24 significant bits, up to 2**136).  Coverage is exact: it is computed in int64 if
no product can overflow, and in Python integers otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from dp2emu.gpu.arrays import F32, F64, I64, Mask, expand
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed
from dp2emu.shader.values import Value

ONE = 256
"""Grid units per pixel: grid coordinates are in 1/256 pixel."""

HALF = ONE // 2

Offset = tuple[int, int]
"""Offset of a sample from its pixel's centre, x and y in grid units."""

CENTRE: Offset = (0, 0)

Limit = int | I64
"""A bound in pixels: a number for all primitives, or an array with one for each."""

EXACT_LIMIT = 1 << 29
"""Greatest grid coordinate (two million pixels) for which every product stays below 2**62."""


def snap(position: F32 | F64) -> F64:
    """Grid coordinates of pixel coordinates, rounded half to even; NaN and infinity unchanged."""
    return computed(snapped, None, position.astype(np.float64))[0]


def snapped(b: Builder, key: None, position: Value) -> tuple[Value]:
    """Formula: grid coordinate of a pixel coordinate, an F64."""
    return (b.apply("dround", position * float(ONE)),)


def fits_int64(x: F64, y: F64) -> Mask:
    """Mask of the primitives (grid coordinates, shape (corners, n)) that int64 can rasterise."""
    fits: Mask = np.maximum(np.abs(x), np.abs(y)).max(axis=0) <= EXACT_LIMIT
    return fits


def first_centre(grid: F64, low: Limit, high: Limit) -> F64:
    """First pixel whose centre is at or after a grid coordinate, clamped to ``low``..``high``."""
    centre: F64 = np.minimum(np.maximum(np.ceil(grid / ONE), low), high)
    return centre


def after_centre(grid: F64, low: Limit, high: Limit) -> F64:
    """One past the last pixel whose centre is at or before a coordinate, within
    ``low``..``high``.
    """
    centre: F64 = np.minimum(np.maximum(np.floor(grid / ONE) + 1, low), high)
    return centre


def integers(grid: F64, primitive: int) -> list[int]:
    """Grid coordinates of one primitive, from shape (corners, n), as Python integers."""
    return [int(value) for value in grid[:, primitive]]


BATCH = 1 << 17
"""Most samples of a batch of fragments; a longer span is a batch by itself."""


class SampleRuns(msgspec.Struct, frozen=True):
    """Sample coverage of spans: sample s covers left[s] <= x < right[s].

    int64, shape (samples, n).
    """

    left: I64
    right: I64

    def part(self, chosen: slice | I64) -> SampleRuns:
        """Coverage of the spans at the indices ``chosen``."""
        return SampleRuns(self.left[:, chosen], self.right[:, chosen])


class Spans(msgspec.Struct, frozen=True):
    """Runs of pixels left <= x < right in row y; int64, shape (n,), in drawing order.

    ``primitive`` is the primitive's number in its chunk.  Spans of one primitive do not overlap.
    With ``runs`` a span is the union of its samples' runs; without, all samples of its pixels are
    covered.  ``coverage``, float32 of shape (n,), is an antialiased line's; None is 1.
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
        """The spans at the indices ``chosen``, in the order of these."""
        runs = self.runs and self.runs.part(chosen)
        coverage = None if self.coverage is None else self.coverage[chosen]
        left, right = self.left[chosen], self.right[chosen]
        return Spans(self.primitive[chosen], self.y[chosen], left, right, runs, coverage)


class Fragments(msgspec.Struct, frozen=True):
    """Single pixels of spans, in drawing order: span number and column, int64, shape (n,)."""

    spans: Spans
    span: I64
    x: I64

    def __len__(self) -> int:
        return len(self.x)


def in_order(fast: Spans, slow: list[Spans]) -> Spans:
    """Merge the spans ``fast`` and ``slow``, stably sorted by primitive number."""
    if not slow:
        return fast
    parts = (fast, *slow)
    columns = zip(*((p.primitive, p.y, p.left, p.right) for p in parts), strict=True)
    primitive, y, left, right = (np.concatenate(column) for column in columns)
    covers = [p.coverage for p in parts if p.coverage is not None]
    spans = Spans(primitive, y, left, right, coverage=np.concatenate(covers) if covers else None)
    return spans.part(np.argsort(spans.primitive, kind="stable"))


def slices(sizes: I64, budget: int) -> Iterator[slice]:
    """Consecutive slices, each of items whose sizes sum to at most ``budget`` or of one item."""
    ends = sizes.cumsum()
    if len(ends) and ends[-1] <= budget:
        yield slice(0, len(ends))
        return
    start = 0
    while start < len(sizes):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + budget, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def batches(spans: Spans, samples: int = 1) -> Iterator[Fragments]:
    """Fragments of spans in order, in batches of about ``BATCH`` samples."""
    for part in slices(spans.right - spans.left, BATCH // samples):
        yield fragments(spans.part(part))


def fragments(spans: Spans) -> Fragments:
    """All pixels of spans, one after the other."""
    span, step = expand(spans.right - spans.left)
    return Fragments(spans, span, spans.left[span] + step)
