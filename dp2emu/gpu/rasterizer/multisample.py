"""Multisampling: sample positions, and coverage by sample.

Positions are the standard patterns of Direct3D 10.1, which Direct3D 9 leaves open; they lie on a
grid of 1/16 pixel and so on the sub-pixel grid.

The output merger sees a multisampled target as a wider one with a column for each sample, and each
covered sample as a fragment.  Only the pixel stage works by pixel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dp2emu.gpu.arrays import F64, I64, Mask
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.rasterizer.planes import Frame, Sites, sites
from dp2emu.gpu.rasterizer.spans import (
    CENTRE,
    HALF,
    ONE,
    Fragments,
    Offset,
    SampleRuns,
    Spans,
    after_centre,
    first_centre,
    slices,
)

ROWS = 1 << 15
"""Most pixel rows times samples in a batch of primitives; a taller primitive is a batch alone."""

_STEP = ONE // 16


def _pattern(*sixteenths: Offset) -> tuple[Offset, ...]:
    return tuple((x * _STEP, y * _STEP) for x, y in sixteenths)


POSITIONS: dict[int, tuple[Offset, ...]] = {
    1: (CENTRE,),
    2: _pattern((4, 4), (-4, -4)),
    4: _pattern((-2, -6), (6, -2), (-6, 2), (2, 6)),
    8: _pattern((1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)),
}
"""From samples per pixel to their offsets (x, y) from the pixel's centre, 1/256 pixel, y down."""

Cover = Callable[[I64 | slice, Offset], Iterator[Spans]]
"""Function: (primitive numbers, sample offset) -> spans of these primitives at that sample.

``primitive`` of such a span is an index into the numbers, not a primitive number."""


def rows_near(y: F64, reach: F64 | int, region: Rect) -> I64:
    """Upper bounds of the numbers of rows that primitives cover, which extend at most ``reach``
    grid units beyond their corners' ``y``, shape (corners, n).
    """
    top = first_centre(y.min(axis=0) - reach - HALF, region.top, region.bottom)
    bottom = after_centre(y.max(axis=0) + reach + HALF, region.top, region.bottom)
    return np.maximum(bottom - top, 0).astype(np.int64)


def multisample_spans(cover: Cover, rows: I64, samples: int) -> Iterator[Spans]:
    """Spans of primitives, in order, one for each row, with the columns that each sample covers.
    ``rows``, shape (n,), is an upper bound of the number of rows of each primitive; 0 skips it.
    """
    visible = np.flatnonzero(rows)
    for cut in slices(rows[visible] * samples, ROWS):
        chosen = visible[cut]
        yield _together([list(cover(chosen, at)) for at in POSITIONS[samples]], chosen)


def _together(found: list[list[Spans]], chosen: I64) -> Spans:
    """Merge spans of each sample (the items of ``found``) to one span for each row of a primitive.

    ``primitive`` of a span in ``found`` is an index into ``chosen``, which has primitive numbers.
    """
    parts = [spans for at in found for spans in at]
    sizes = [sum(map(len, at)) for at in found]
    columns = zip(*((p.primitive, p.y, p.left, p.right) for p in parts), strict=True)
    primitive, y, left, right = (np.concatenate(c) for c in columns) if parts else _NOTHING
    sample = np.repeat(np.arange(len(found)), sizes)
    first = y.min(initial=0)
    rows = y.max(initial=0) - first + 1
    place, span = np.unique(primitive * rows + y - first, return_inverse=True)
    lefts = np.zeros((len(found), len(place)), np.int64)
    rights = np.zeros_like(lefts)
    lefts[sample, span], rights[sample, span] = left, right
    owner, row = np.divmod(place, rows)
    empty = rights <= lefts
    return Spans(
        chosen[owner],
        row + first,
        np.where(empty, np.iinfo(np.int64).max, lefts).min(axis=0),
        np.where(empty, np.iinfo(np.int64).min, rights).max(axis=0),
        SampleRuns(lefts, rights),
    )


_NOTHING = (np.zeros(0, np.int64),) * 4


def coverage(here: Sites, samples: int) -> Mask:
    """Mask of the samples that each fragment covers, shape (fragments, samples)."""
    if here.spans.runs is None:
        return np.ones((len(here.x), samples), np.bool_)
    return _inside(here, here.spans.runs).T


def centroids(here: Sites, samples: int) -> F64 | None:
    """Offsets of centroids from pixel centres, shape (2, n), in pixels; None if all are 0.

    The centroid is the first covered sample of a pixel that is partly covered, and the centre of
    one whose samples are all covered.  It is the centre of helper pixels, which cover none.
    """
    if here.spans.runs is None:
        return None
    covered = _inside(here, here.spans.runs)
    partly = covered.any(axis=0) & ~covered.all(axis=0)
    first = np.where(partly, covered.argmax(axis=0), samples)
    places = np.array((*POSITIONS[samples], CENTRE)) / ONE
    return None if (first == samples).all() else places[first].T


def _inside(here: Sites, runs: SampleRuns) -> Mask:
    """Mask of covered samples, shape (samples, fragments)."""
    span, x = here.span, here.x
    return (x >= runs.left[:, span]) & (x < runs.right[:, span])


def at_samples(here: Sites, samples: int, mask: int) -> Sites:
    """A fragment for each covered sample s whose bit in ``mask`` (D3DRS_MULTISAMPLEMASK) is set.

    Column ``x`` * ``samples`` + s of the target is sample s of pixel ``x``.  Samples of spans
    without sample runs lie at the centre.
    """
    covered = coverage(here, samples) & (mask >> np.arange(samples) & 1).astype(np.bool_)
    fragment, sample = np.nonzero(covered)
    spans, offsets = here.spans, np.array(POSITIONS[samples]) / ONE
    if spans.runs is None:
        offsets = np.zeros_like(offsets)
    every = np.tile(np.arange(len(spans)), samples)
    return Sites(
        spans.part(every),
        sample * len(spans) + here.span[fragment],
        here.x[fragment] * samples + sample,
        here.dx[fragment] + offsets[sample, 0],
        here.dy[every] + np.repeat(offsets[:, 1], len(spans)),
    )


def pixels_of(frame: Frame, here: Sites, samples: int) -> tuple[Sites, I64]:
    """Merge fragments that ``at_samples`` returned, one for each sample, to one for each pixel, at
    the pixel's centre; also returns the index of each former fragment's pixel.
    """
    spans = here.spans.part(slice(0, len(here.spans) // samples))
    places, columns = _places(here, samples)
    pixel, number = np.unique(places, return_inverse=True)
    span, column = np.divmod(pixel, columns)
    return sites(frame, Fragments(spans, span, column)), number


def pixel_count(here: Sites, samples: int, chosen: Mask | None) -> int:
    """Number of pixels of the chosen fragments of ``at_samples``, None for all fragments."""
    places = _places(here, samples)[0]
    return len(np.unique(places if chosen is None else places[chosen]))


def _places(here: Sites, samples: int) -> tuple[I64, int]:
    """Unique number of each fragment's span and pixel, span * columns + x; number of columns."""
    spans = len(here.spans) // samples
    x = here.x // samples
    columns = int(x.max(initial=0)) + 1
    return here.span % spans * columns + x, columns
