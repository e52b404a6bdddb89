"""Weights of control points against closed forms in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import Basis
from dp2emu.gpu.tessellation.splines import (
    INTERPOLATIONS,
    pieces,
    rectangle_weights,
    sum_of,
    triangle_points,
    triangle_weights,
    weights_of,
)
from tests.gpu import spline_model as model

KINDS = [
    *((Basis.BEZIER, degree) for degree in (1, 2, 3, 5)),
    *((Basis.BSPLINE, degree) for degree in (1, 2, 3, 5)),
    (Basis.INTERPOLATE, 3),
]
PLACES = st.integers(0, 1023).map(lambda k: Fraction(k, 1024))


def test_every_basis_has_a_pyramid() -> None:
    assert set(INTERPOLATIONS) == set(Basis)


@pytest.mark.parametrize(("basis", "degree"), KINDS)
@given(PLACES)
def test_weights_of_a_piece(basis: Basis, degree: int, t: Fraction) -> None:
    values, slopes = weights_of(basis, degree, np.array([float(t)]))
    wanted = model.piece(basis, degree, t)
    assert values[:, 0] == pytest.approx([float(w) for w, _ in wanted], abs=1e-14)
    assert slopes[:, 0] == pytest.approx([float(s) for _, s in wanted], abs=1e-13)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_bezier_weights_of_binary_fractions_are_exact(degree: int) -> None:
    for k in range(257):
        t = Fraction(k, 256)
        values, slopes = weights_of(Basis.BEZIER, degree, np.array([float(t)]))
        found = [(Fraction(w), Fraction(s)) for w, s in zip(*values.T, *slopes.T, strict=True)]
        assert found == model.piece(Basis.BEZIER, degree, t)


@pytest.mark.parametrize(("basis", "degree"), KINDS)
def test_pieces_meet(basis: Basis, degree: int) -> None:
    if basis is Basis.BEZIER:
        return
    values, slopes = weights_of(basis, degree, np.array([0.0, 1.0]))
    for lanes in (values, slopes) if degree > 1 else (values,):
        assert lanes[0, 1] == pytest.approx(0, abs=1e-15)
        assert lanes[1:, 1] == pytest.approx(lanes[:-1, 0], abs=1e-14)


@pytest.mark.parametrize(("basis", "degree"), KINDS)
@given(PLACES, PLACES, st.integers(0, 3), st.integers(0, 3))
def test_weights_of_a_rectangle(
    basis: Basis, degree: int, u: Fraction, v: Fraction, wider: int, higher: int
) -> None:
    if basis is Basis.BEZIER:
        wider = higher = 0
    width, height = degree + 1 + wider, degree + 1 + higher
    places = np.array([float(u)]), np.array([float(v)])
    found = rectangle_weights(basis, degree, width, height, *places)
    dense = np.zeros((width * height, 3))
    for lane, lanes in enumerate((found.value, found.along_u, found.along_v)):
        np.add.at(dense[:, lane], found.points[:, 0], lanes[:, 0])
    wanted = model.rectangle(basis, degree, width, height, u, v)
    assert dense.ravel() == pytest.approx([float(x) for row in wanted for x in row], abs=1e-11)


def test_the_far_edge_belongs_to_the_last_piece() -> None:
    ends = np.array([1.0])
    found = rectangle_weights(Basis.INTERPOLATE, 3, 6, 5, ends, ends)
    counting = found.points[found.value > 0.5]
    assert counting.tolist() == [3 * 6 + 4]
    assert pieces(Basis.INTERPOLATE, 3, 6) == 3


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@given(st.integers(0, 64), st.integers(0, 64))
def test_weights_of_a_triangle(degree: int, a: int, b: int) -> None:
    u, v = Fraction(min(a, b), 64), Fraction(64 - max(a, b), 64)
    found = triangle_weights(degree, np.array([float(u)]), np.array([float(v)]))
    wanted = model.triangle(degree, u, v)
    assert found.points[:, 0].tolist() == list(range(triangle_points(degree)))
    exact = [
        tuple(map(Fraction, row))
        for row in zip(found.value[:, 0], found.along_u[:, 0], found.along_v[:, 0], strict=True)
    ]
    assert exact == wanted


def test_control_points_are_added_from_the_first_on() -> None:
    huge = np.array([[1e300], [-1e300], [1.0]])
    assert sum_of(np.ones((3, 1)), huge[None]).tolist() == [[1.0]]
    assert sum_of(np.ones((3, 1)), huge[None, ::-1]).tolist() == [[0.0]]
