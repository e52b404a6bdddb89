"""Connected regions of a mask, whose pixels touch at a side or a corner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.argument_check import checked, checked_on_failure
from dp2emu.errors import ArgumentError


class Region(NamedTuple):
    """The bounding box of a region, ``right`` and ``bottom`` exclusive, and its pixel count."""

    left: int
    top: int
    right: int
    bottom: int
    pixels: int

    @property
    def across(self) -> int:
        """The longer side of the bounding box."""
        return max(self.right - self.left, self.bottom - self.top)

    @checked_on_failure
    def joined(self, other: Region) -> Region:
        """The union of two regions."""
        return Region(
            min(self.left, other.left), min(self.top, other.top),
            max(self.right, other.right), max(self.bottom, other.bottom),
            self.pixels + other.pixels,
        )  # fmt: skip


@checked
def regions(mask: NDArray[np.bool_]) -> list[Region]:
    """The regions of ``mask``, bool (height, width): the widest first, then in reading order.

    Raises ArgumentError for an array of another number of dimensions.
    """
    if mask.ndim != 2:
        raise ArgumentError(f"a mask of shape {mask.shape}, not (height, width)")
    runs = _runs(mask)
    parents = list(range(len(runs)))
    for one, other in _touching(runs):
        first, second = _root(parents, one), _root(parents, other)
        parents[max(first, second)] = min(first, second)
    found: dict[int, Region] = {}
    for number, run in enumerate(runs):
        at = _root(parents, number)
        found[at] = found[at].joined(run) if at in found else run
    return sorted(found.values(), key=lambda region: (-region.across, region.top, region.left))


def _runs(mask: NDArray[np.bool_]) -> list[Region]:
    """Every horizontal sequence of adjacent set pixels as a region, from the top row down."""
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    stops = np.nonzero(edges == -1)[1]
    spans = zip(rows.tolist(), starts.tolist(), stops.tolist(), strict=True)
    return [Region(start, row, stop, row + 1, stop - start) for row, start, stop in spans]


def _touching(runs: list[Region]) -> Iterator[tuple[int, int]]:
    """Index pairs of ``runs`` in adjacent pixel rows that touch at a side or a corner."""
    above = 0
    for below, run in enumerate(runs):
        while runs[above].top < run.top - 1 or (
            runs[above].top == run.top - 1 and runs[above].right < run.left
        ):
            above += 1
        at = above
        while runs[at].top == run.top - 1 and runs[at].left <= run.right:
            yield at, below
            at += 1


def _root(parents: list[int], number: int) -> int:
    """The root of node ``number`` in the union-find forest ``parents``, with path halving."""
    while parents[number] != number:
        parents[number] = parents[parents[number]]
        number = parents[number]
    return number
