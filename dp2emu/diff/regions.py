"""Connected parts of a mask: pixels that touch at a side or a corner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Region(NamedTuple):
    """Where a part lies, ``right`` and ``bottom`` being outside, and how many pixels it has."""

    left: int
    top: int
    right: int
    bottom: int
    pixels: int

    @property
    def across(self) -> int:
        """The longer side of what encloses it."""
        return max(self.right - self.left, self.bottom - self.top)

    def joined(self, other: Region) -> Region:
        """Both as one."""
        return Region(
            min(self.left, other.left), min(self.top, other.top),
            max(self.right, other.right), max(self.bottom, other.bottom),
            self.pixels + other.pixels,
        )  # fmt: skip


def regions(mask: NDArray[np.bool_]) -> list[Region]:
    """The parts of ``mask``, a bool (height, width), the widest first, then from the top
    left on.
    """
    runs = _runs(mask)
    chief = list(range(len(runs)))
    for one, other in _touching(runs):
        first, second = _chief(chief, one), _chief(chief, other)
        chief[max(first, second)] = min(first, second)
    parts: dict[int, Region] = {}
    for number, run in enumerate(runs):
        at = _chief(chief, number)
        parts[at] = parts[at].joined(run) if at in parts else run
    return sorted(parts.values(), key=lambda part: (-part.across, part.top, part.left))


def _runs(mask: NDArray[np.bool_]) -> list[Region]:
    """Pixels that are side by side in a row, row by row."""
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    stops = np.nonzero(edges == -1)[1]
    spans = zip(rows.tolist(), starts.tolist(), stops.tolist(), strict=True)
    return [Region(start, row, stop, row + 1, stop - start) for row, start, stop in spans]


def _touching(runs: list[Region]) -> Iterator[tuple[int, int]]:
    """Numbers of runs in neighbouring rows that touch, if only at a corner."""
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


def _chief(chief: list[int], number: int) -> int:
    """The first run of a run's part; the way there is halved."""
    while chief[number] != number:
        chief[number] = chief[chief[number]]
        number = chief[number]
    return number
