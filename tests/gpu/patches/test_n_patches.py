"""Point-normal triangles against exact arithmetic, from the formulas of their authors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage
from dp2emu.d3d.vertices import Element
from dp2emu.gpu.arrays import F64
from dp2emu.gpu.command.patches import Fineness, NPatch
from dp2emu.gpu.patches.patch_draws import interpolated
from dp2emu.gpu.tessellation.patch_domains import triangle

POSITION = Element(0, 0, DeclType.FLOAT4, DeclUsage.POSITION)
NORMAL = Element(0, 16, DeclType.FLOAT3, DeclUsage.NORMAL)
COLOR = Element(0, 28, DeclType.D3DCOLOR, DeclUsage.COLOR)

Vector = Sequence[Fraction]

FEW = settings(max_examples=20)


@pytest.fixture(autouse=True, scope="module")
def _no_warnings() -> Iterator[None]:
    """As in a draw, where NaN and infinity are legal."""
    with np.errstate(all="ignore"):
        yield


THREE = st.tuples(*[st.integers(-64, 64).map(lambda n: Fraction(n, 16))] * 3)
CORNERS = st.lists(THREE, min_size=3, max_size=3)
DOMAIN = triangle((4.0, 4.0, 4.0), continuous=False)
PLACES = [(1 - Fraction(u) - Fraction(v), Fraction(u), Fraction(v))
          for u, v in zip(DOMAIN.u, DOMAIN.v, strict=True)]  # fmt: skip


def lanes(rows: Sequence[Vector], last: float = 1) -> F64:
    """Corners of one triangle, shape (4, 3, 1)."""
    values = np.array([[float(x) for x in row] for row in rows]).T
    return np.concatenate([values, np.full((4 - len(values), 3), last)])[:, :, None]


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def mix(*terms: tuple[Fraction | int, Vector]) -> list[Fraction]:
    return [sum((f * v[c] for f, v in terms), Fraction(0)) for c in range(3)]


def curved(p: Sequence[Vector], n: Sequence[Vector], b: Vector) -> list[Fraction]:
    """b(u, v): corners, six points on edges and a centre, with binomial weights."""
    total = [Fraction(0)] * 3
    edges = []
    for i in range(3):
        for j in range(3):
            if i != j:
                rise = dot(mix((1, p[j]), (-1, p[i])), n[i])
                third = Fraction(1, 3)
                point = mix((2 * third, p[i]), (third, p[j]), (-rise * third, n[i]))
                edges.append(point)
                total = mix((1, total), (3 * b[i] ** 2 * b[j], point))
        total = mix((1, total), (b[i] ** 3, p[i]))
    mean = [sum((e[c] for e in edges), Fraction(0)) / 6 for c in range(3)]
    flat = [sum((x[c] for x in p), Fraction(0)) / 3 for c in range(3)]
    centre = mix((Fraction(3, 2), mean), (Fraction(-1, 2), flat))
    return mix((1, total), (6 * b[0] * b[1] * b[2], centre))


@FEW
@given(CORNERS, CORNERS)
def test_positions_lie_on_the_cubic(p: list[Vector], n: list[Vector]) -> None:
    made = interpolated({POSITION: lanes(p), NORMAL: lanes(n)}, NPatch(Fineness((4.0,))), DOMAIN)
    for number, b in enumerate(PLACES):
        wanted = [float(x) for x in curved(p, n, b)]
        assert made[POSITION][:3, 0, number] == pytest.approx(wanted, abs=1e-11)
        linear = mix(*zip(b, n, strict=True))
        assert made[NORMAL][:3, 0, number].tolist() == [float(x) for x in linear]
    assert (made[POSITION][3] == 1).all()


@FEW
@given(CORNERS, CORNERS)
def test_corners_stay_where_they_are(p: list[Vector], n: list[Vector]) -> None:
    made = interpolated({POSITION: lanes(p), NORMAL: lanes(n)}, NPatch(Fineness((4.0,))), DOMAIN)
    for corner, number in enumerate((0, 4, 14)):
        assert made[POSITION][:3, 0, number].tolist() == [float(x) for x in p[corner]]


def unit(v: Sequence[float]) -> list[float]:
    length = math.sqrt(math.fsum(x * x for x in v))
    return [x / length for x in v] if length else [0.0] * 3


@FEW
@given(CORNERS, CORNERS)
def test_quadratic_normals(p: list[Vector], n: list[Vector]) -> None:
    patch = NPatch(Fineness((4.0,)), cubic=False, quadratic=True)
    made = interpolated({POSITION: lanes(p), NORMAL: lanes(n)}, patch, DOMAIN)
    between = {}
    for i, j in ((0, 1), (1, 2), (2, 0)):
        edge, both = mix((1, p[j]), (-1, p[i])), mix((1, n[i]), (1, n[j]))
        lean = 2 * dot(edge, both) / dot(edge, edge) if dot(edge, edge) else Fraction(0)
        between[i, j] = unit([float(x) for x in mix((1, both), (-lean, edge))])
    for number, b in enumerate(PLACES):
        exact = [sum(float(b[i] ** 2 * n[i][c]) for i in range(3)) for c in range(3)]
        exact = [x + sum(float(b[i] * b[j]) * m[c] for (i, j), m in between.items())
                 for c, x in enumerate(exact)]  # fmt: skip
        if math.hypot(*exact) > 1e-6:
            assert made[NORMAL][:3, 0, number] == pytest.approx(unit(exact), abs=1e-7)
        flat = [float(x) for x in mix(*zip(b, p, strict=True))]
        assert made[POSITION][:3, 0, number] == pytest.approx(flat, abs=1e-12)


def test_a_sphere_of_eight_triangles_gets_rounder() -> None:
    axes = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]
    patch = NPatch(Fineness((4.0,)), quadratic=True)
    made = interpolated({POSITION: lanes(axes), NORMAL: lanes(axes)}, patch, DOMAIN)
    # Points of the edge are 1, 1/3 and 1/3, 1: its middle is (1 + 3 + 1) / 8 along both axes.
    assert made[POSITION][:3, 0, 2].tolist() == [0.625, 0.625, 0]
    assert np.sqrt((made[POSITION][:3] ** 2).sum(axis=0)).min() > 0.8 > 3**-0.5
    assert np.sqrt((made[NORMAL][:3] ** 2).sum(axis=0)) == pytest.approx(np.ones((1, 15)))


@pytest.mark.parametrize("method", [DeclMethod.DEFAULT, DeclMethod.CROSSUV])
def test_without_normals_everything_is_linear(method: DeclMethod) -> None:
    computed = Element(0, 0, DeclType.FLOAT3, DeclUsage.NORMAL, 0, method)
    p = [[Fraction(x) for x in row] for row in ([0, 0, 0], [4, 0, 8], [0, 4, 4])]
    lanes_of = {POSITION: lanes(p), COLOR: lanes(p, 0.25)}
    if method is not DeclMethod.DEFAULT:
        lanes_of[computed] = lanes(p)
    made = interpolated(lanes_of, NPatch(Fineness((4.0,)), quadratic=True), DOMAIN)
    for element in made:
        wanted = [[4 * u for _, u, _ in PLACES], [4 * v for *_, v in PLACES],
                  [8 * u + 4 * v for _, u, v in PLACES]]  # fmt: skip
        assert made[element][:3, 0].tolist() == [[float(x) for x in lane] for lane in wanted]
    assert (made[COLOR][3] == 0.25).all()


def test_triangles_do_not_mind_each_other() -> None:
    first = [[Fraction(x) for x in row] for row in ([0, 0, 0], [1, 0, 0], [0, 1, 0])]
    second = [[Fraction(x) for x in row] for row in ([3, 1, 0], [1, 5, 0], [0, 1, 7])]
    patch = NPatch(Fineness((4.0,)), quadratic=True)
    alone = [interpolated({POSITION: lanes(p), NORMAL: lanes(p[::-1])}, patch, DOMAIN)
             for p in (first, second)]  # fmt: skip
    both = interpolated(
        {
            POSITION: np.concatenate([lanes(first), lanes(second)], axis=2),
            NORMAL: np.concatenate([lanes(first[::-1]), lanes(second[::-1])], axis=2),
        },
        patch,
        DOMAIN,
    )
    for element in both:
        for number, made in enumerate(alone):
            assert (both[element][:, number] == made[element][:, 0]).all()
