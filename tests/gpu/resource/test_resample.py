"""Where texels come from, against the rules in fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.resource.resample import Axis, Lanes, linear, point, resample

SIZES = st.integers(1, 300)


def shares(axis: Axis, position: int) -> dict[int, Fraction]:
    """Source texel -> its share of a target texel."""
    found: dict[int, Fraction] = {}
    for positions, weights in axis.taps:
        share = Fraction(int(weights[position]), axis.total)
        if share:
            found[int(positions[position])] = found.get(int(positions[position]), 0) + share
    return found


@given(SIZES, SIZES)
def test_point_takes_the_texel_under_the_centre(source: int, target: int) -> None:
    axis = point(source, target)
    for i in range(target):
        centre = (i + Fraction(1, 2)) * source / target
        assert shares(axis, i) == {floor(centre): 1}


@given(SIZES, SIZES)
def test_linear_mixes_the_two_nearest_centres_in_256_steps(source: int, target: int) -> None:
    axis = linear(source, target)
    for i in range(target):
        place = (i + Fraction(1, 2)) * source / target - Fraction(1, 2)
        first = floor(place)
        share = Fraction(floor((place - first) * 256 + Fraction(1, 2)), 256)
        pairs = ((first, 1 - share), (first + 1, share))
        assert shares(axis, i) == {texel: part for texel, part in pairs if part}


@pytest.mark.parametrize("along", [point, linear])
def test_a_size_that_stays_leaves_texels_alone(along: Callable[[int, int], Axis]) -> None:
    axis = along(7, 7)
    assert [shares(axis, i) for i in range(7)] == [{i: 1} for i in range(7)]


def texels(data: list[list[list[float]]]) -> Callable[[I64, I64, I64], Lanes]:
    values = np.array(data, np.float32)
    return lambda z, y, x: (values[np.ix_(z, y, x)],)


def test_all_directions_count_and_are_taken_together() -> None:
    read = texels([[[0, 1], [2, 3]], [[4, 5], [6, 7]]])
    (mean,) = resample(read, linear(2, 1), linear(2, 1), linear(2, 1))
    assert mean.tolist() == [[[3.5]]]
    (picked,) = resample(read, point(2, 2), point(2, 1), point(2, 1))
    assert picked.tolist() == [[[3.0]], [[7.0]]]


def test_a_part_of_the_rows_is_the_same_as_in_the_whole() -> None:
    read = texels([[[float(5 * y * y + x) for x in range(5)] for y in range(9)]])
    whole = resample(read, point(1, 1), linear(9, 6), linear(5, 3))[0]
    band = resample(read, point(1, 1), linear(9, 6).between(2, 5), linear(5, 3))[0]
    assert (whole[:, 2:5] == band).all()


def test_an_infinite_texel_of_no_weight_is_not_looked_at() -> None:
    read = texels([[[1.0, float("inf"), 2.0]]])
    (lane,) = resample(read, point(1, 1), point(1, 1), linear(3, 3).between(0, 2))
    assert lane.tolist() == [[[1.0, float("inf")]]]


def test_infinities_of_both_signs_come_to_no_number() -> None:
    read = texels([[[float("inf"), float("-inf"), 3e38, 3e38]]])
    (lane,) = resample(read, linear(1, 1), linear(1, 1), linear(4, 2))
    assert np.isnan(lane[0, 0, 0])
    assert lane[0, 0, 1] == np.float32(3e38)
