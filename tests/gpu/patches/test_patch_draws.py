"""Draws of patches become draws of triangles; expectations are exact arithmetic, or hand-made."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import Basis, DeclMethod, DeclType, DeclUsage, PrimitiveType
from dp2emu.d3d.vertices import Element, VertexLayout
from dp2emu.gpu.arrays import F32
from dp2emu.gpu.command.packets import Draw, Indices, Stream
from dp2emu.gpu.command.patches import (
    Adaptive,
    Fineness,
    KeptPatch,
    NPatch,
    Patch,
    RectanglePoints,
    TrianglePoints,
)
from dp2emu.gpu.command.pipeline import Attribute
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.input_assembler.vertex_fetch import decode
from dp2emu.gpu.patches import patch_draws
from dp2emu.gpu.patches.patch_draws import tessellated
from tests.gpu import spline_model as model
from tests.gpu.drawing import color_surface, corner, draw, rebound

POSITION = Element(0, 0, DeclType.FLOAT3, DeclUsage.POSITION)
COLOR = Element(0, 12, DeclType.D3DCOLOR, DeclUsage.COLOR)
FACTOR = Element(1, 0, DeclType.FLOAT1, DeclUsage.TESSFACTOR)
PLACE = Element(0, 0, DeclType.UNUSED, DeclUsage.TEXCOORD, 0, DeclMethod.UV)
TANGENT = Element(0, 0, DeclType.FLOAT3, DeclUsage.TANGENT, 0, DeclMethod.PARTIALU)
BINORMAL = Element(0, 0, DeclType.FLOAT3, DeclUsage.BINORMAL, 0, DeclMethod.PARTIALV)
NORMAL = Element(0, 0, DeclType.FLOAT3, DeclUsage.NORMAL, 0, DeclMethod.CROSSUV)
EVERY = POSITION, COLOR, PLACE, TANGENT, BINORMAL, NORMAL
STRIDE = 16


def vertices(count: int) -> bytes:
    """Positions in eighths, and colours, that no two vertices share."""
    data = np.zeros(count, [("position", "<f4", 3), ("color", "u1", 4)])
    n = np.arange(count)
    data["position"] = np.stack([n % 7 - 3, n * n % 11, (n * 5) % 9 - 4], axis=1) / 8
    data["color"] = np.stack([n * 3, n * 7, 255 - n, 128 + n], axis=1)
    return data.tobytes()


def point(number: int) -> list[Fraction]:
    n = number
    return [Fraction(x, 8) for x in (n % 7 - 3, n * n % 11, n * 5 % 9 - 4)]


def packet(elements: tuple[Element, ...], data: bytes, patch: Patch | NPatch, **more: Any) -> Draw:
    made = draw([], count=1, color=color_surface())
    attributes = tuple(Attribute(f"v{n}", e) for n, e in enumerate(elements))
    pipeline = replace(made.pipeline, layout=VertexLayout(elements, False), attributes=attributes)
    fields: dict[str, Any] = {
        "streams": (Stream(data, 0, STRIDE),),
        "pipeline": pipeline,
        "patch": patch,
        **more,
    }
    return rebound(made, **fields)


def lanes(made: Draw, element: Element) -> F32:
    """An element of all vertices, float32, shape (4, n)."""
    numbers = made.pipeline.layout.elements
    moved = next(e for e in numbers if (e.usage, e.index) == (element.usage, element.index))
    stream = made.input.streams[0]
    assert stream is not None and isinstance(stream.data, bytes)
    count = len(stream.data) // stream.stride
    return decode(moved, made.input.streams, np.arange(count))


def close(found: F32, wanted: list[list[Fraction]]) -> None:
    """float32 lanes are the exact ones rounded, but where float64 is just off a tie, or off 0."""
    exact = np.array([[float(x) for x in row] for row in wanted]).T.astype(np.float32)
    assert found.shape == exact.shape
    apart = np.abs(found - exact)
    assert (apart <= np.maximum(np.spacing(np.abs(exact)), 1e-13)).all()
    assert ((found == exact) | (exact == 0)).mean() > 0.9


SURFACES = [
    (RectanglePoints(3, 4, 4, 5, Basis.BEZIER, 3), (4.0, 4.0, 4.0, 4.0)),
    (RectanglePoints(0, 2, 2, 2, Basis.BEZIER, 1), (2.0, 3.0, 4.0, 8.0)),
    (RectanglePoints(2, 3, 3, 4, Basis.BEZIER, 2), (4.0, 8.0, 4.0, 2.0)),
    (RectanglePoints(1, 6, 6, 6, Basis.BEZIER, 5), (4.0, 2.0, 4.0, 2.0)),
    (RectanglePoints(0, 6, 5, 7, Basis.BSPLINE, 3), (8.0, 4.0, 8.0, 4.0)),
    (RectanglePoints(2, 3, 4, 9, Basis.BSPLINE, 1), (4.0, 8.0, 2.0, 8.0)),
    (RectanglePoints(1, 4, 6, 5, Basis.BSPLINE, 2), (8.0, 4.0, 8.0, 4.0)),
    (RectanglePoints(0, 7, 6, 7, Basis.BSPLINE, 5), (4.0, 4.0, 4.0, 4.0)),
    (RectanglePoints(0, 5, 4, 5, Basis.INTERPOLATE, 3), (8.0, 8.0, 8.0, 8.0)),
    (TrianglePoints(2, 1), (4.0, 4.0, 4.0)),
    (TrianglePoints(1, 2), (4.0, 8.0, 4.0)),
    (TrianglePoints(2, 3), (4.0, 4.0, 4.0)),
    (TrianglePoints(0, 5), (8.0, 8.0, 8.0)),
]


@pytest.mark.parametrize(("points", "segments"), SURFACES)
def test_vertices_lie_on_the_surface(
    points: RectanglePoints | TrianglePoints, segments: tuple[float, ...]
) -> None:
    data = vertices(80)
    (made,) = tessellated(packet(EVERY, data, Patch(points, Fineness(segments))))
    domain = points.domain(segments, continuous=False)
    places = [(Fraction(u), Fraction(v)) for u, v in zip(domain.u, domain.v, strict=True)]
    if isinstance(points, RectanglePoints):
        size = points.width, points.height
        weights = [model.rectangle(points.basis, points.degree, *size, *at) for at in places]
    else:
        weights = [model.triangle(points.degree, *at) for at in places]
    control = [point(n) for n in points.numbers().tolist()]
    value, along_u, along_v = (
        [model.total([w[kind] for w in each], control) for each in weights] for kind in range(3)
    )
    close(lanes(made, POSITION)[:3], value)
    close(lanes(made, TANGENT)[:3], along_u)
    close(lanes(made, BINORMAL)[:3], along_v)
    assert (lanes(made, POSITION)[3] == 1).all() and (lanes(made, NORMAL)[3] == 1).all()
    constant = np.zeros(len(domain.u)), np.ones(len(domain.u))
    place = np.stack([domain.u, domain.v, *constant]).astype(np.float32)
    assert (lanes(made, PLACE) == place).all()
    for number, (a, b) in enumerate(zip(along_u, along_v, strict=True)):
        cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        length = math.sqrt(sum(x * x for x in cross))
        normal = [float(x) / length if length else 0.0 for x in cross]
        assert lanes(made, NORMAL)[:3, number] == pytest.approx(normal, abs=1e-5)
    indices = made.input.indices
    assert indices is not None and isinstance(indices.data, np.ndarray)
    assert indices.data.reshape(-1, 3).T.tolist() == domain.triangles.tolist()
    assert (made.input.topology, made.input.count) == (
        PrimitiveType.TRIANGLELIST,
        domain.triangles.shape[1],
    )


def test_colours_are_splines_as_well() -> None:
    points = RectanglePoints(0, 2, 2, 2, Basis.BEZIER, 1)
    data = vertices(4)
    (made,) = tessellated(packet(EVERY, data, Patch(points, Fineness((2.0,)))))
    corners = decode(COLOR, (Stream(data, 0, STRIDE),), np.arange(4)).astype(np.float64)
    middle = corners.mean(axis=1).astype(np.float32)
    assert lanes(made, COLOR)[:, 4] == pytest.approx(middle, abs=1e-7)


def test_what_programs_read_is_renamed_with_its_elements() -> None:
    patch = Patch(TrianglePoints(0, 1), Fineness((1.0,)))
    asked = packet(EVERY, vertices(3), patch)
    nothing = (*asked.pipeline.attributes, Attribute("v9", None))
    asked = replace(asked, pipeline=replace(asked.pipeline, attributes=nothing))
    (made,) = tessellated(asked)
    for before, after in zip(nothing, made.pipeline.attributes, strict=True):
        assert after.name == before.name
        if before.element is None:
            assert after.element is None
        else:
            assert after.element in made.pipeline.layout.elements
            assert after.element is not None
            assert (after.element.usage, after.element.type) == (
                before.element.usage, DeclType.FLOAT4)  # fmt: skip


def test_vertices_of_nothing_are_still_vertices() -> None:
    patch = Patch(TrianglePoints(0, 1), Fineness((2.0,)))
    (made,) = tessellated(packet((), b"", patch))
    assert (made.input.count, made.input.streams[0].stride) == (4, 0)  # type: ignore[union-attr]
    assert [
        part.input.count for part in tessellated(packet((), b"", NPatch(Fineness((3.0,)))))
    ] == [9]


# Patches that are kept


def test_a_kept_patch_is_what_its_buffer_held_when_it_was_drawn() -> None:
    kept = KeptPatch()
    points = RectanglePoints(0, 2, 2, 2, Basis.BEZIER, 1)
    (first,) = tessellated(packet(EVERY, vertices(4), Patch(points, Fineness((2.0,)), kept)))
    again = Patch(points, Fineness((2.0,)), kept, brought=False)
    (second,) = tessellated(packet(EVERY, b"", again, streams=(None,)))
    assert second.input.streams[0].data == first.input.streams[0].data  # type: ignore[union-attr]
    finer = Patch(points, Fineness((4.0,)), kept, brought=False)
    (third,) = tessellated(packet(EVERY, b"", finer, streams=(None,)))
    assert third.input.count == 32


def test_what_was_not_kept_reads_as_nothing() -> None:
    kept = KeptPatch()
    points = TrianglePoints(0, 1)
    list(tessellated(packet((POSITION,), vertices(4), Patch(points, Fineness((1.0,)), kept))))
    again = Patch(points, Fineness((1.0,)), kept, brought=False)
    (made,) = tessellated(packet((POSITION, COLOR), b"", again))
    assert lanes(made, COLOR).T.tolist() == [[0, 0, 0, 1]] * 3


# Adaptive tessellation


def level(asked: float, depths: tuple[float, float], factors: tuple[float, float]) -> float:
    return sum(asked * f / z for f, z in zip(factors, depths, strict=True)) / 2


@pytest.mark.parametrize(
    ("basis", "size", "degree", "corners"),
    [
        (Basis.BEZIER, 4, 3, (0, 3, 15, 12)),
        (Basis.BSPLINE, 4, 3, (5, 6, 10, 9)),
        (Basis.BSPLINE, 5, 3, (6, 8, 18, 16)),
        (Basis.BSPLINE, 3, 1, (0, 2, 8, 6)),
        (Basis.BSPLINE, 4, 2, (0, 3, 15, 12)),
        (Basis.BSPLINE, 6, 5, (14, 15, 21, 20)),
        (Basis.INTERPOLATE, 4, 3, (5, 6, 10, 9)),
    ],
)
def test_edges_of_adaptive_rectangles_have_the_mean_of_their_ends(
    basis: Basis, size: int, degree: int, corners: tuple[int, ...]
) -> None:
    depths = [2.0 + n / 4 for n in range(size * size)]
    factors = [1.0 + n % 3 for n in range(size * size)]
    data = np.array([[0, 0, z, 0] for z in depths], "<f4").tobytes()
    points = RectanglePoints(0, size, size, size, basis, degree)
    asked = (20.0, 24.0, 28.0, 32.0)
    fineness = Fineness(asked, True, Adaptive((0, 0, 1, 0), 1.0, 64.0))
    streams = (Stream(data, 0, STRIDE), Stream(np.array(factors, "<f4").tobytes(), 0, 4))
    patch = Patch(points, fineness)
    (made,) = tessellated(packet((POSITION, FACTOR), data, patch, streams=streams))
    ends = list(zip(corners, [*corners[1:], corners[0]], strict=True))
    wanted = [
        level(n, (depths[a], depths[b]), (factors[a], factors[b]))
        for n, (a, b) in zip(asked, ends, strict=True)
    ]
    first, second, third, fourth = wanted
    domain = points.domain((first, second, third, fourth), continuous=True)
    assert made.input.count == domain.triangles.shape[1]


@pytest.mark.parametrize(
    ("depth", "wanted"),
    [(4.0, 5), (0.5, 9), (-1.0, 9), (0.0, 9), (math.nan, 9), (100.0, 2), (math.inf, 2)],
)
def test_levels_lie_between_least_and_most(depth: float, wanted: int) -> None:
    data = np.array([[0, 0, depth, 0]] * 3, "<f4").tobytes()
    fineness = Fineness((20.0,), False, Adaptive((0, 0, 1, 0), 2.0, 9.0))
    with np.errstate(all="ignore"):
        (made,) = tessellated(packet((POSITION,), data, Patch(TrianglePoints(0, 1), fineness)))
    assert made.input.count == wanted * wanted


def test_depth_is_a_product_with_the_position() -> None:
    data = np.array([[1, 2, 3, 0]] * 3, "<f4").tobytes()
    # ((1 * 2 + 2 * 0.5) + 3 * 1) + 4 = 10
    fineness = Fineness((50.0,), False, Adaptive((2.0, 0.5, 1.0, 4.0), 1.0, 64.0))
    (made,) = tessellated(packet((POSITION,), data, NPatch(fineness)))
    assert made.input.count == 25


# N-patches


def test_n_patches_of_any_topology_keep_the_order_of_their_triangles() -> None:
    data = vertices(12)
    fans = {
        PrimitiveType.TRIANGLELIST: [(0, 1, 2), (3, 4, 5)],
        PrimitiveType.TRIANGLESTRIP: [(0, 1, 2), (1, 3, 2)],
        PrimitiveType.TRIANGLEFAN: [(1, 2, 0), (2, 3, 0)],
    }
    for topology, wanted in fans.items():
        patch = NPatch(Fineness((2.0,)))
        (made,) = tessellated(packet((POSITION,), data, patch, topology=topology, count=2))
        assert made.input.count == 8
        found = lanes(made, POSITION)[:3].T
        for number, numbers in enumerate(wanted):
            corners = [found[6 * number + at].tolist() for at in (0, 2, 5)]
            assert corners == [[float(x) for x in point(n)] for n in numbers]
        indices = made.input.indices
        assert indices is not None and isinstance(indices.data, np.ndarray)
        assert indices.data[:12].max() == 5 and indices.data[12:].min() == 6


def test_n_patches_are_indexed_like_triangles() -> None:
    indices = Indices(np.array([9, 4, 4, 2, 7], np.uint32), base=1)
    patch = NPatch(Fineness((2.0,)))
    (made,) = tessellated(packet((POSITION,), vertices(12), patch, indices=indices, first=2))
    found = lanes(made, POSITION)[:3].T
    wanted = [[float(x) for x in point(n)] for n in (5, 3, 8)]
    assert [found[at].tolist() for at in (0, 2, 5)] == wanted


def test_n_patches_that_differ_are_divided_each_by_itself() -> None:
    depths = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 2.0, 4.0, 1.0, 1.0, 1.0]
    data = np.array([[n, n % 2, z, 0] for n, z in enumerate(depths)], "<f4").tobytes()
    fineness = Fineness((8.0,), False, Adaptive((0, 0, 1, 0), 1.0, 64.0))
    (made,) = tessellated(packet((POSITION,), data, NPatch(fineness), count=4))
    sizes = [64, 16, None, 64]
    third = TrianglePoints(0, 1).domain((6.0, 3.0, 5.0), continuous=False)
    sizes[2] = third.triangles.shape[1]
    assert made.input.count == sum(size or 0 for size in sizes)
    found = lanes(made, POSITION)
    starts = np.cumsum([0, 45, 15, len(third.u)])
    assert [found[0, at] for at in starts] == [0, 3, 6, 9]


def test_lines_and_points_are_not_divided() -> None:
    for topology in (PrimitiveType.POINTLIST, PrimitiveType.LINELIST, PrimitiveType.LINESTRIP):
        asked = packet((POSITION,), vertices(4), NPatch(Fineness((4.0,))), topology=topology)
        (same,) = tessellated(asked)
        assert (same.input.topology, same.input.streams, same.input.count) == (
            topology,
            asked.input.streams,
            1,
        )
        assert same.pipeline is asked.pipeline


def test_many_n_patches_are_made_by_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = packet((POSITION,), vertices(60), NPatch(Fineness((3.0,))), count=20)
    (whole,) = tessellated(asked)
    monkeypatch.setattr(patch_draws, "CHUNK_VERTICES", 18 * 6)
    parts = list(tessellated(asked))
    assert [part.input.count for part in parts] == [54, 54, 54, 18]
    together = np.concatenate([lanes(part, POSITION) for part in parts], axis=1)
    assert (together == lanes(whole, POSITION)).all()


# In a draw


def test_a_patch_covers_what_its_outline_covers() -> None:
    screen = color_surface()
    control = [corner(x, y) for y in (1.5, 17.5) for x in (3.5, 27.5)]
    asked = draw(control, color=screen, count=1)
    points = RectanglePoints(0, 2, 2, 2, Basis.BEZIER, 1)
    counters = Counters()
    patch = Patch(points, Fineness((5.0, 7.0, 3.0, 2.0)))
    work = execute_draw(rebound(asked, patch=patch), counters)
    assert counters.samples == work.pixels == 24 * 16
    assert work.primitives == counters.triangles > 2 * 5 * 7 - 8
    assert np.count_nonzero(screen.pixels()) == 24 * 16
