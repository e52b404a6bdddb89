"""Points and primitives of patches against the rules, and against what surfaces have to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.gpu.tessellation.factors import EDGES, INSIDES
from dp2emu.gpu.tessellation.tessellate import Tessellation, Tessellator
from tests.gpu.tessellation import model

ONE = 65536
SURFACES = (Domain.DOMAIN_TRI, Domain.DOMAIN_QUAD)
TRIANGLES = (OutputPrimitive.OUTPUT_TRIANGLE_CW, OutputPrimitive.OUTPUT_TRIANGLE_CCW)
SPECIAL = [0.0, -1.0, 0.5, 1.0, 1 + 2**-17, 1 + 2**-16, 1.5, 2, 3, 4, 63, 64, 65, 1e9]
SPECIAL += [float("nan"), float("inf"), float("-inf")]
POINT, LINE = OutputPrimitive.OUTPUT_POINT, OutputPrimitive.OUTPUT_LINE


def drawn(
    domain: Domain, partitioning: Partitioning, output: OutputPrimitive, *factors: list[float]
) -> Tessellation:
    """Patches of so many factors each."""
    tessellator = Tessellator(domain, partitioning, output)
    given = np.array(factors, np.float32).T
    edges, inside = given[: EDGES[domain]], given[EDGES[domain] :]
    return tessellator.tessellate(tessellator.factors(edges, inside))


def random_factors(domain: Domain, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = EDGES[domain] + INSIDES[domain], count
    found = rng.uniform(0.01, rng.choice([2.0, 5.0, 20.0, 66.0], count), size).astype(np.float32)
    special = rng.random(size) < 0.1
    found[special] = rng.choice(np.array(SPECIAL, np.float32), special.sum())
    return found


CASES = [(d, p, o) for d in Domain for p in Partitioning for o in OutputPrimitive]


@pytest.mark.parametrize(
    "case", range(len(CASES)), ids=lambda n: "-".join(e.name for e in CASES[n])
)
def test_counts_are_those_of_the_rules(case: int) -> None:
    """1,250 sets for each of the 48 ways to tessellate: 60,000."""
    domain, partitioning, output = CASES[case]
    factors = random_factors(domain, 1250, case)
    tessellator = Tessellator(domain, partitioning, output)
    prepared = tessellator.factors(factors[: EDGES[domain]], factors[EDGES[domain] :])
    found = np.zeros((2, 1250), np.int64)
    found[:, prepared.patches] = tessellator.counts(prepared)
    expected = [
        model.counts(domain, partitioning, output, [float(f) for f in each]) for each in factors.T
    ]
    assert found.T.tolist() == [list(each) for each in expected]


@pytest.mark.parametrize(
    "case", range(len(CASES)), ids=lambda n: "-".join(e.name for e in CASES[n])
)
def test_there_are_as_many_points_and_primitives_as_counted(case: int) -> None:
    domain, partitioning, output = CASES[case]
    factors = random_factors(domain, 40, 100 + case)
    tessellator = Tessellator(domain, partitioning, output)
    prepared = tessellator.factors(factors[: EDGES[domain]], factors[EDGES[domain] :])
    counts, found = tessellator.counts(prepared), tessellator.tessellate(prepared)
    assert np.bincount(found.owner, minlength=40)[prepared.patches].tolist() == list(counts.points)
    patches = np.bincount(found.patch, minlength=40)[prepared.patches]
    assert patches.tolist() == list(counts.primitives)
    assert (found.owner[found.corners] == found.patch).all()


@pytest.mark.parametrize("output", TRIANGLES)
@pytest.mark.parametrize("partitioning", Partitioning)
@pytest.mark.parametrize("domain", SURFACES)
def test_triangles_turn_one_way_and_cover_the_domain_once(
    domain: Domain, partitioning: Partitioning, output: OutputPrimitive
) -> None:
    """v goes down, so that what is clockwise has a positive area in u and v.

    Every edge between two triangles is run through once each way, and the others are on edges
    of the domain: with areas of one sign, whose sum is the domain's, that covers it once.
    """
    factors = random_factors(domain, 60, 7)
    found = drawn(domain, partitioning, output, *factors.T.tolist())
    u, v = found.u[found.corners], found.v[found.corners]
    area = (u[1] - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (v[1] - v[0])
    sign = 1 if output is OutputPrimitive.OUTPUT_TRIANGLE_CW else -1
    assert (area * sign >= 0).all()
    whole = ONE**2 * (2 if domain is Domain.DOMAIN_QUAD else 1)
    areas = np.zeros(60, np.int64)
    np.add.at(areas, found.patch, area * sign)
    assert set(areas[np.unique(found.patch)].tolist()) == {whole}
    assert border(found) <= on_edges(domain, found)


Place = tuple[int, int, int]


def places(found: Tessellation, points: list[int]) -> set[Place]:
    """Patch, u and v of points."""
    rows = zip(found.owner[points], found.u[points], found.v[points], strict=True)
    return {(int(patch), int(u), int(v)) for patch, u, v in rows}


def border(found: Tessellation) -> set[Place]:
    """Where edges begin that no other triangle has; edges that go the same way twice are none."""
    a, b, c = found.corners
    edges = np.array((np.concatenate((a, b, c)), np.concatenate((b, c, a))), np.int64)
    (first, second), points = edges, len(found.u)
    ways = first * points + second
    assert len(np.unique(ways)) == len(ways)
    return places(found, first[~np.isin(second * points + first, ways)].tolist())


def on_edges(domain: Domain, found: Tessellation) -> set[Place]:
    last = found.u + found.v == ONE
    if domain is Domain.DOMAIN_QUAD:
        last = (found.u == ONE) | (found.v == ONE)
    return places(found, np.flatnonzero((found.u == 0) | (found.v == 0) | last).tolist())


QUAD_EDGES = [
    lambda u, v: v[u == 0],
    lambda u, v: u[v == 0],
    lambda u, v: v[u == ONE],
    lambda u, v: u[v == ONE],
]
TRIANGLE_EDGES = [lambda u, v: v[u == 0], lambda u, v: u[v == 0], lambda u, v: u[u + v == ONE]]
EDGES_OF = {Domain.DOMAIN_TRI: TRIANGLE_EDGES, Domain.DOMAIN_QUAD: QUAD_EDGES}


@pytest.mark.parametrize("partitioning", Partitioning)
@pytest.mark.parametrize("domain", SURFACES)
@pytest.mark.parametrize("factor", [1.0, 1.3, 2.0, 3.7, 5.0, 6.25, 16.0, 33.3, 64.0])
def test_an_edge_of_one_factor_has_the_same_points_in_all_patches(
    domain: Domain, partitioning: Partitioning, factor: float
) -> None:
    """Whatever else a patch has, whichever edge it is, and from whichever end one looks."""
    rows = set()
    for edge, points in enumerate(EDGES_OF[domain]):
        factors = np.abs(random_factors(domain, 3, edge)) + np.float32(0.01)
        factors[: EDGES[domain]] = np.nan_to_num(factors[: EDGES[domain]], nan=2.0, posinf=9.0)
        factors[edge] = factor
        found = border(drawn(domain, partitioning, TRIANGLES[0], *factors.T.tolist()))
        for patch in range(3):
            u, v = np.array([(u, v) for owner, u, v in found if owner == patch]).T
            row = tuple(sorted(points(u, v).tolist()))
            rows |= {row, tuple(sorted(ONE - place for place in row))}
    assert len(rows) == 1


@settings(max_examples=60, deadline=None)
@example(partitioning=model.EVEN, factor=5.0)
@example(partitioning=model.ODD, factor=2.0)
@given(
    partitioning=st.sampled_from(Partitioning),
    factor=st.floats(0.0078125, 70, width=32) | st.sampled_from([1.0, 1 + 2**-16, 3.0, 64.0]),
)
def test_points_of_an_edge_are_where_the_rules_put_them(
    partitioning: Partitioning, factor: float
) -> None:
    """5 of even fractions and 2 of odd ones have points that lie between two before rounding."""
    found = drawn(Domain.DOMAIN_QUAD, partitioning, POINT, [factor, 2, 2, 2, 2, 2])
    edge = model.clamped(partitioning, factor)
    odd = partitioning is model.ODD or (partitioning in model.WHOLE and edge % 2 == 1)
    count = model.segments(partitioning, edge) + 1
    expected = [model.position(odd, model.fixed(edge), point) for point in range(count)]
    assert found.v[found.u == 0].tolist() == expected[::-1]


@pytest.mark.parametrize("partitioning", Partitioning)
def test_lines_are_as_far_apart_as_there_are_of_them(partitioning: Partitioning) -> None:
    found = drawn(Domain.DOMAIN_ISOLINE, partitioning, LINE, [4.0, 2.0])
    assert found.v.tolist() == [
        n for n in (0, 16384, 32768, 49152) for _ in range(len(found.u) // 4)
    ]
    ends = found.u.reshape(4, -1)
    assert (ends[:, 0] == 0).all()
    assert (ends[:, -1] == ONE).all()


def pairs(found: Tessellation) -> list[tuple[float, float]]:
    return [(u / ONE, v / ONE) for u, v in zip(found.u.tolist(), found.v.tolist(), strict=True)]


@pytest.mark.parametrize("partitioning", [p for p in Partitioning if p is not model.EVEN])
def test_a_patch_of_ones_is_its_corners(partitioning: Partitioning) -> None:
    triangle = drawn(Domain.DOMAIN_TRI, partitioning, TRIANGLES[0], [1, 1, 1, 1])
    assert pairs(triangle) == [(0, 1), (0, 0), (1, 0)]
    assert triangle.corners.T.tolist() == [[0, 1, 2]]
    quad = drawn(Domain.DOMAIN_QUAD, partitioning, TRIANGLES[0], [1] * 6)
    assert pairs(quad) == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert quad.corners.T.tolist() == [[0, 1, 3], [1, 2, 3]]


def test_points_go_around_from_the_outside_to_the_centre() -> None:
    found = drawn(Domain.DOMAIN_QUAD, model.EVEN, TRIANGLES[0], [2] * 6)
    around = [(0, 1), (0, 0.5), (0, 0), (0.5, 0), (1, 0), (1, 0.5), (1, 1), (0.5, 1)]
    assert pairs(found) == [*around, (0.5, 0.5)]
    assert found.corners.T.tolist() == [
        [0, 1, 8], [1, 2, 8], [2, 3, 8], [3, 4, 8], [4, 5, 8], [5, 6, 8], [6, 7, 8], [7, 0, 8]
    ]  # fmt: skip


def test_a_triangle_ends_at_its_centre() -> None:
    found = drawn(Domain.DOMAIN_TRI, model.EVEN, TRIANGLES[0], [2, 2, 2, 2])
    assert pairs(found)[:6] == [(0, 1), (0, 0.5), (0, 0), (0.5, 0), (1, 0), (0.5, 0.5)]
    assert (found.u[6], found.v[6]) == (0x5555, 0x5555)


def test_a_row_inside_runs_along_the_longer_axis() -> None:
    sixths = [10923, 21846, 32768, 43690, 54613]
    whole, ends = Partitioning.PARTITIONING_INTEGER, [1] * 4
    wide = drawn(Domain.DOMAIN_QUAD, whole, POINT, [*ends, 6, 2])
    assert wide.u[4:].tolist() == sixths
    assert set(wide.v[4:].tolist()) == {ONE // 2}
    tall = drawn(Domain.DOMAIN_QUAD, whole, POINT, [*ends, 2, 6])
    assert tall.v[4:].tolist() == sixths[::-1]
    assert set(tall.u[4:].tolist()) == {ONE // 2}


@pytest.mark.parametrize("domain", Domain)
@pytest.mark.parametrize("factor", [0.0, -3.0, float("nan"), float("-inf")])
def test_an_edge_that_is_not_above_0_draws_nothing(domain: Domain, factor: float) -> None:
    for edge in range(EDGES[domain]):
        factors = [2.0] * (EDGES[domain] + INSIDES[domain])
        factors[edge] = factor
        found = drawn(domain, model.ODD, LINE, factors, [2.0] * len(factors))
        assert set(found.owner.tolist()) == {1}


@pytest.mark.parametrize("domain", SURFACES)
def test_an_inside_that_is_no_number_is_the_least(domain: Domain) -> None:
    ends = [3.0] * EDGES[domain]
    for factor in (float("nan"), 0.0, -1.0):
        given = drawn(domain, model.EVEN, POINT, [*ends, *[factor] * INSIDES[domain]])
        least = drawn(domain, model.EVEN, POINT, [*ends, *[2.0] * INSIDES[domain]])
        assert pairs(given) == pairs(least)


def test_odd_edges_above_1_always_have_a_ring_inside() -> None:
    found = drawn(Domain.DOMAIN_TRI, model.ODD, TRIANGLES[0], [1.5, 1, 1, 1])
    assert len(found.u) == 4 + 2 + 2 - 3 + 3


@pytest.mark.parametrize(("above", "points"), [(0.0, 4), (2**-22, 10)])
def test_a_quad_of_odd_factors_is_its_corners_until_one_rounds_to_more_than_1(
    above: float, points: int
) -> None:
    """In 1/65536, of which half of one is not yet more."""
    factors = [1 + 2**-17 + above, 1, 1, 1, 1, 1]
    found = drawn(Domain.DOMAIN_QUAD, model.ODD, POINT, factors)
    assert len(found.u) == points


def test_no_patches_are_nothing() -> None:
    for domain in Domain:
        tessellator = Tessellator(domain, model.ODD, TRIANGLES[1])
        none = tessellator.factors(
            np.zeros((EDGES[domain], 3), np.float32), np.zeros((INSIDES[domain], 3), np.float32)
        )
        assert len(tessellator.tessellate(none).u) == 0
