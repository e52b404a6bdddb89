"""Connected parts of a mask, against a flood fill."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.diff import Region, regions

MASKS = st.integers(1, 9).flatmap(
    lambda width: st.lists(st.lists(st.booleans(), min_size=width, max_size=width), min_size=1,
                           max_size=9)
)  # fmt: skip


def flooded(mask: NDArray[np.bool_]) -> list[set[tuple[int, int]]]:
    """The parts as sets of (x, y), each pixel reached from its eight neighbours."""
    left = {(int(x), int(y)) for y, x in zip(*np.nonzero(mask), strict=True)}
    parts = []
    while left:
        part, waiting = set(), [left.pop()]
        while waiting:
            x, y = waiting.pop()
            part.add((x, y))
            near = {(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & left
            left -= near
            waiting += near
        parts.append(part)
    return parts


def region_of(part: set[tuple[int, int]]) -> Region:
    xs, ys = [x for x, _ in part], [y for _, y in part]
    return Region(min(xs), min(ys), max(xs) + 1, max(ys) + 1, len(part))


@given(MASKS)
def test_parts_are_what_a_flood_reaches(rows: list[list[bool]]) -> None:
    mask = np.array(rows)
    assert sorted(regions(mask)) == sorted(map(region_of, flooded(mask)))


def test_pixels_that_touch_at_a_corner_are_one_part() -> None:
    assert regions(np.eye(3, dtype=bool)) == [Region(0, 0, 3, 3, 3)]
    assert regions(np.eye(3, dtype=bool)[::-1]) == [Region(0, 0, 3, 3, 3)]


def test_widest_part_comes_first() -> None:
    mask = np.array([[1, 0, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]], bool)
    found = regions(mask)
    assert [part.across for part in found] == [2, 1, 1]
    assert found[1] == Region(0, 0, 1, 1, 1)


def test_parts_that_meet_further_down_are_one() -> None:
    mask = np.array([[1, 0, 1, 0, 1], [1, 0, 1, 0, 1], [1, 1, 1, 1, 1]], bool)
    assert regions(mask) == [Region(0, 0, 5, 3, 11)]


def test_nothing_has_no_parts() -> None:
    assert regions(np.zeros((3, 3), bool)) == []


def test_a_large_noisy_mask_is_taken_apart() -> None:
    mask = np.indices((300, 300)).sum(axis=0) % 2 == 0
    assert [part.pixels for part in regions(mask)] == [45000]
    assert len(regions(mask & (np.indices((300, 300))[0] % 2 == 0))) == 22500
