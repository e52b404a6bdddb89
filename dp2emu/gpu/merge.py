"""The merge stage: depth test, colour write, and the order of fragments on the same pixel.

The only stage that writes pixels.  A batch is tested as a whole; where several of its fragments
share a pixel they form a pile, and piles are worked off layer by layer, so that each fragment
sees the depth that the one before it left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dp2emu.d3d.enums import CmpFunc
from dp2emu.d3d.formats import DepthFormat
from dp2emu.gpu.arrays import F64, I64, Mask, Words
from dp2emu.gpu.memory import Surface
from dp2emu.gpu.pixels import (
    depth_format,
    quantise_depth,
    stored_depth,
    with_depth,
)
from dp2emu.gpu.state import DepthState

COMPARE: dict[CmpFunc, Callable[[Words, Words], Mask]] = {
    CmpFunc.NEVER: lambda new, old: np.zeros(new.shape, bool),
    CmpFunc.LESS: np.less,
    CmpFunc.EQUAL: np.equal,
    CmpFunc.LESSEQUAL: np.less_equal,
    CmpFunc.GREATER: np.greater,
    CmpFunc.NOTEQUAL: np.not_equal,
    CmpFunc.GREATEREQUAL: np.greater_equal,
    CmpFunc.ALWAYS: lambda new, old: np.ones(new.shape, bool),
}


@dataclass(frozen=True, slots=True)
class Piles:
    """Fragments of a batch by pixel.

    ``order`` lists fragments pile by pile, each in drawing order; pile k starts at ``heads[k]``
    and has ``heights[k]`` fragments.  The highest piles come first.
    """

    order: I64
    heads: I64
    heights: I64

    def part(self, chosen: Mask) -> Piles:
        """The piles that some of the fragments make, numbered as fragments chosen by a mask."""
        kept = chosen[self.order]
        below = np.concatenate(([0], np.cumsum(kept)))
        heads = below[self.heads]
        heights = below[self.heads + self.heights] - heads
        number = np.cumsum(chosen) - 1
        by_height = np.argsort(-heights, kind="stable")[: np.count_nonzero(heights)]
        return Piles(number[self.order[kept]], heads[by_height], heights[by_height])

    def layers(self) -> Iterator[I64]:
        """Fragments that are the first, second, ... of their pile: the first piles have one."""
        taller = np.bincount(self.heights)[::-1].cumsum()[::-1]
        for layer, count in enumerate(taller[1:]):
            yield self.order[self.heads[:count] + layer]


def piles(pixel: I64) -> Piles:
    """Group fragments by pixel number."""
    order = np.argsort(pixel, kind="stable")
    ordered = pixel[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    heights = np.diff(np.append(first, len(pixel)))
    if len(first) < len(pixel):
        by_height = np.argsort(-heights, kind="stable")
        first, heights = first[by_height], heights[by_height]
    return Piles(order, first, heights)


def single_pile_each(count: int) -> Piles:
    """Piles of fragments that are known to have a pixel each."""
    order = np.arange(count)
    return Piles(order, order, np.ones(count, np.int64))


@dataclass(frozen=True, slots=True)
class DepthTarget:
    """A depth buffer and how it is used.  ``words`` is a flat view of ``pitch`` words a row."""

    words: Words
    pitch: int
    row: DepthFormat
    state: DepthState

    @classmethod
    def of(cls, surface: Surface, state: DepthState) -> DepthTarget:
        """Raises Unsupported for a format that is no depth format here."""
        row = depth_format(surface)
        return cls(surface.data.view(row.word), surface.pitch // row.word.itemsize, row, state)

    def test(self, z: F64, x: I64, y: I64, piles: Piles) -> Mask:
        """Test fragments in order and store the depth of those that pass; says which did."""
        state, compare = self.state, COMPARE[self.state.func]
        incoming = quantise_depth(self.row, z)
        top = piles.order[piles.heads]
        address = y[top] * self.pitch + x[top]
        words = self.words[address]
        stored = stored_depth(self.row, words)
        passed = np.zeros(len(x), bool)
        for members in piles.layers():
            new, old = incoming[members], stored[: len(members)]
            better = compare(new, old)
            passed[members] = better
            if state.write:
                stored[: len(members)] = np.where(better, new, old)
        if state.write:
            self.words[address] = with_depth(self.row, words, stored)
        return passed

    def bytes_moved(self, tested: int, passed: int) -> int:
        """Bytes read for a number of tests, and written for those that passed."""
        return (tested + passed * self.state.write) * self.row.word.itemsize


def last_of_each(piles: Piles, passed: Mask | None) -> I64:
    """The last fragment of each pile that passed: without blending, the one that is seen."""
    ends = piles.heads + piles.heights - 1
    if passed is not None:
        places = np.where(passed[piles.order], np.arange(len(piles.order)), -1)
        ends = np.maximum.accumulate(places)[ends]
        ends = ends[ends >= piles.heads]
    last: I64 = piles.order[ends]
    return last
