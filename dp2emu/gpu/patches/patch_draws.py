"""Tessellation of Direct3D 8 and 9 patches: a patch draw becomes draws of ordinary triangles.

It runs when the GPU executes the draw, so control points are read from the buffers at that time.
Vertices are computed in float64, in the order given in ``splines`` and below, and rounded to
float32 once; components that an element's type lacks are 0, 0, 0, 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import attrgetter

import numpy as np
from msgspec.structs import replace

from dp2emu.cancellation import polled
from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage, PrimitiveType
from dp2emu.d3d.vertices import TYPE_BYTES, Element, VertexLayout
from dp2emu.gpu.arrays import F32, F64, I64
from dp2emu.gpu.command.packets import Draw, Indices, Stream
from dp2emu.gpu.command.patches import Adaptive, Fineness, NPatch, Patch, TrianglePoints
from dp2emu.gpu.command.pipeline import Attribute
from dp2emu.gpu.command.topology import CORNERS, corners
from dp2emu.gpu.input_assembler.vertex_fetch import VERTEX_TYPES, decode, vertex_numbers
from dp2emu.gpu.tessellation.patch_domains import MAX_SEGMENTS, Domain, segments_of
from dp2emu.gpu.tessellation.splines import Weights, sum_of, triangle_weights

CHUNK_VERTICES = 1 << 16
"""Approximate number of tessellated vertices in each chunk of an N-patch draw's triangles."""

_VERTEX_BYTES = TYPE_BYTES[DeclType.FLOAT4]
_TRIANGLE = TrianglePoints(0, 1)

Lanes = Mapping[Element, F64]
"""From vertex element to its values, float64: axis 0 is the components, four or the type's own."""


def tessellated(draw: Draw) -> Iterator[Draw]:
    """Triangle draws that replace a patch draw, in order; any other draw as it is."""
    patch = draw.input.patch
    if patch is None or (isinstance(patch, NPatch) and CORNERS[draw.input.topology] < 3):
        yield replace(draw, input=replace(draw.input, patch=None)) if patch else draw
    elif isinstance(patch, NPatch):
        yield from _curved(draw, patch)
    else:
        yield _surface(draw, patch)


# Rectangles and triangles


def _surface(draw: Draw, patch: Patch) -> Draw:
    control = _control(draw, patch)
    corners = list(patch.points.corners)
    ends = {element: lanes[:, corners, None] for element, lanes in control.items()}
    segments = _segments(patch.fineness, ends, (len(corners), 1))
    domain = patch.points.domain(
        tuple(segments[:, 0].tolist()), continuous=patch.fineness.continuous
    )
    weights = patch.points.weights(domain)
    made = {}
    for element in draw.pipeline.layout.elements:
        points = control.get(element, _absent(patch.points.count))
        made[element] = _METHODS[element.method](points, weights, domain)
    return _triangles(draw, made, len(domain.u), domain.triangles)


def _control(draw: Draw, patch: Patch) -> Lanes:
    """Control points of a patch by element: from the patch's cache, or fetched and cached."""
    if patch.kept is not None and not patch.brought:
        return patch.kept.control
    numbers = patch.points.numbers()
    read = (e for e in draw.pipeline.layout.elements if e.type is not DeclType.UNUSED)
    control = {e: decode(e, draw.input.streams, numbers).astype(np.float64) for e in read}
    if patch.kept is not None:
        patch.kept.control = control
    return control


def _absent(count: int) -> F64:
    """``count`` control points 0, 0, 0, 1 of an element that the vertices lack."""
    lanes = np.zeros((4, count))
    lanes[3] = 1
    return lanes


def _weighted(
    factors: Callable[[Weights], F64], points: F64, weights: Weights, domain: Domain
) -> F64:
    return sum_of(factors(weights), points[:, weights.points])


_value, _partial_u, _partial_v = (
    partial(_weighted, attrgetter(name)) for name in ("value", "along_u", "along_v")
)


def _normal(points: F64, weights: Weights, domain: Domain) -> F64:
    """Unit normal, the cross product of the derivatives along u and v, or 0."""
    a, b = _partial_u(points, weights, domain), _partial_v(points, weights, domain)
    cross = np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                      a[0] * b[1] - a[1] * b[0]])  # fmt: skip
    return _unit(cross)


def _parameters(points: F64, weights: Weights, domain: Domain) -> F64:
    return np.stack([domain.u, domain.v])


_METHODS: dict[DeclMethod, Callable[[F64, Weights, Domain], F64]] = {
    DeclMethod.DEFAULT: _value,
    DeclMethod.PARTIALU: _partial_u,
    DeclMethod.PARTIALV: _partial_v,
    DeclMethod.CROSSUV: _normal,
    DeclMethod.UV: _parameters,
}


# N-patches


def _curved(draw: Draw, patch: NPatch) -> Iterator[Draw]:
    """Triangle draws that replace an N-patch draw, one for each chunk of its triangles."""
    most = MAX_SEGMENTS if patch.fineness.adaptive else int(patch.fineness.segments[0])
    step = max(1, 2 * CHUNK_VERTICES // ((most + 3) * (most + 3)))
    for start in polled(range(0, draw.input.count, step)):
        stop = min(start + step, draw.input.count)
        yield _curved_part(
            draw, patch, corners(draw.input.topology, draw.input.first, start, stop)
        )


def _curved_part(draw: Draw, patch: NPatch, sequence: I64) -> Draw:
    numbers = vertex_numbers(draw.input.indices, sequence.ravel())
    elements = draw.pipeline.layout.elements
    shape = 4, *sequence.shape
    at_corners = {
        e: decode(e, draw.input.streams, numbers).astype(np.float64).reshape(shape)
        for e in elements
    }
    groups = _alike(patch.fineness, at_corners, sequence)
    sizes = np.zeros((2, sequence.shape[1]), np.int64)
    for domain, members in groups:
        sizes[:, members] = [[len(domain.u)], [domain.triangles.shape[1]]]
    starts, (count, total) = np.cumsum(sizes, axis=1) - sizes, sizes.sum(axis=1).tolist()
    made = {e: np.empty((_components(e), count)) for e in elements}
    triangles = np.empty((3, total), np.int64)
    for domain, members in groups:
        first, place = starts[:, members, None]
        some = {e: lanes[:, :, members] for e, lanes in at_corners.items()}
        for element, lanes in interpolated(some, patch, domain).items():
            vertices = first + np.arange(len(domain.u))
            made[element][:, vertices] = lanes[: _components(element)]
        into = place + np.arange(domain.triangles.shape[1])
        triangles[:, into] = domain.triangles[:, None] + first
    return _triangles(draw, made, count, triangles)


def _alike(fineness: Fineness, at_corners: Lanes, sequence: I64) -> list[tuple[Domain, list[int]]]:
    """Groups of triangles of an N-patch draw whose edges have equal numbers of segments: the
    tessellated domain, and the indices of the triangles.
    """
    groups: dict[tuple[float, ...], list[int]] = {}
    segments = _segments(fineness, at_corners, sequence.shape)
    for number, key in enumerate(map(tuple, segments.T.tolist())):
        groups.setdefault(key, []).append(number)
    continuous = fineness.continuous
    return [
        (_TRIANGLE.domain(key, continuous=continuous), members) for key, members in groups.items()
    ]


# Both


def _segments(fineness: Fineness, at_corners: Lanes, shape: tuple[int, ...]) -> F64:
    """Segments of each edge, shape (corners, patches); edge i begins at corner i.

    Elements at corners have shape (4, corners, patches).  With adaptive tessellation (Direct3D 9
    documentation, Tessellation) the level of an edge is the mean over its ends of the level times
    the end's factor over its depth, ((x * px + y * py) + z * pz) + pw.
    """
    asked = np.broadcast_to(np.array(fineness.segments)[:, None], shape)
    if fineness.adaptive is not None:
        asked = _adapted(asked, fineness.adaptive, at_corners)
    numbers = [segments_of(n, continuous=fineness.continuous) for n in asked.ravel().tolist()]
    return np.array(numbers).reshape(shape)


def _adapted(asked: F64, adaptive: Adaptive, at_corners: Lanes) -> F64:
    x, y, z = _lanes_of(at_corners, DeclUsage.POSITION, np.zeros((4, 1, 1)))[:3]
    factor = _lanes_of(at_corners, DeclUsage.TESSFACTOR, np.ones((4, 1, 1)))[0]
    px, py, pz, pw = adaptive.plane
    depth = np.broadcast_to(((x * px + y * py) + z * pz) + pw, asked.shape)
    factor = np.broadcast_to(factor, asked.shape)
    begin = asked * factor / depth
    end = asked * np.roll(factor, -1, axis=0) / np.roll(depth, -1, axis=0)
    level = (begin + end) / 2
    level = np.where((level <= adaptive.most) & (level >= 0), level, adaptive.most)
    return np.where(level < adaptive.least, adaptive.least, level)


def _lanes_of(lanes: Lanes, usage: DeclUsage, otherwise: F64) -> F64:
    element = _element_of(lanes, usage)
    return otherwise if element is None else lanes[element]


def _element_of(lanes: Lanes, usage: DeclUsage) -> Element | None:
    """The element with this usage, index 0 and method DEFAULT; None if ``lanes`` lacks it."""
    wanted = usage, 0, DeclMethod.DEFAULT
    return next((e for e in lanes if (e.usage, e.index, e.method) == wanted), None)


def _components(element: Element) -> int:
    return VERTEX_TYPES[element.delivered].components


def _triangles(draw: Draw, made: Lanes, count: int, triangles: I64) -> Draw:
    """A draw as indexed triangles of ``count`` computed vertices, with elements of four floats."""
    places = {e: n * _VERTEX_BYTES for n, e in enumerate(made)}
    moved = {e: Element(0, at, DeclType.FLOAT4, e.usage, e.index) for e, at in places.items()}
    pipeline = draw.pipeline
    return replace(
        draw,
        pipeline=replace(
            pipeline,
            layout=VertexLayout(tuple(moved.values()), pipeline.layout.transformed),
            attributes=tuple(
                Attribute(each.name, each.element and moved[each.element])
                for each in pipeline.attributes
            ),
        ),
        input=replace(
            draw.input,
            topology=PrimitiveType.TRIANGLELIST,
            first=0,
            count=triangles.shape[1],
            streams=(Stream(_stored(made, count).tobytes(), 0, len(made) * _VERTEX_BYTES),),
            indices=Indices(triangles.T.ravel().astype(np.uint32)),
            edge_flags=None,
            patch=None,
        ),
    )


def _stored(made: Lanes, count: int) -> F32:
    """Elements of computed vertices as they lie in a vertex stream, shape (count, elements, 4)."""
    vertices = np.zeros((count, len(made), 4), "<f4")
    vertices[:, :, 3] = 1
    for number, (element, lanes) in enumerate(made.items()):
        components = _components(element)
        vertices[:, number, :components] = lanes[:components].T
    return vertices


# Curved point-normal triangles (Vlachos and others, 2001), which Direct3D calls N-patches
#
# ``P`` and ``N`` are positions and normals of the corners, not normalised.  Arithmetic is float64,
# every operation rounded; a dot product adds x, y and z in this order.  With corners i and j,
#
# edge point = ((2 Pi + Pj) - ((Pj - Pi) . Ni) Ni) / 3
# centre     = mean of edge points + (mean of edge points - mean of corners) / 2
#
# are the points of a cubic Bezier triangle.  Quadratic normals have, between two corners,
#
# v = 2 ((Pj - Pi) . (Ni + Nj)) / ((Pj - Pi) . (Pj - Pi))
# n = unit((Ni + Nj) - v (Pj - Pi))
#
# and are unit(sum of Ni bi^2, then n bi bj) of the barycentric coordinates b.  Without a normal,
# and for every other element, values are interpolated linearly.

_CORNERS = (0, 9, 6)
_EDGE_POINTS = {(0, 1): 2, (0, 2): 1, (1, 0): 5, (2, 0): 3, (1, 2): 8, (2, 1): 7}
"""From (nearer corner, farther corner) of a triangle's edge to the number of its control point."""
_CENTRE = 4


def interpolated(at_corners: Lanes, patch: NPatch, domain: Domain) -> dict[Element, F64]:
    """Elements at the vertices of each N-patch, shape (4, triangles, vertices), from those at
    corners, shape (4, 3, triangles).
    """
    linear = triangle_weights(1, domain.u, domain.v).value[[0, 2, 1]]
    made = {e: sum_of(linear, lanes.swapaxes(1, 2)[..., None]) for e, lanes in at_corners.items()}
    position, normal = (_element_of(at_corners, u) for u in (DeclUsage.POSITION, DeclUsage.NORMAL))
    if position is None or normal is None:
        return made
    corners, normals = at_corners[position][:3], at_corners[normal][:3]
    if patch.cubic:
        points = _control_points(corners, normals)
        factors = triangle_weights(3, domain.u, domain.v).value
        made[position][:3] = sum_of(factors, points.swapaxes(1, 2)[..., None])
    if patch.quadratic:
        made[normal][:3] = _quadratic(corners, normals, linear)
    return made


def _dot(a: F64, b: F64) -> F64:
    """Dot products of vectors along the first axis."""
    product: F64 = (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
    return product


def _control_points(corners: F64, normals: F64) -> F64:
    """The ten Bezier points of each triangle, shape (3, 10, triangles)."""
    points = np.empty((3, 10, corners.shape[2]))
    for corner, number in enumerate(_CORNERS):
        points[:, number] = corners[:, corner]
    for (near, far), number in _EDGE_POINTS.items():
        start, end, normal = corners[:, near], corners[:, far], normals[:, near]
        rise = _dot(end - start, normal)
        points[:, number] = ((2 * start + end) - rise * normal) / 3
    a, b, c, d, e, f = (points[:, number] for number in _EDGE_POINTS.values())
    edges = (((((a + b) + c) + d) + e) + f) / 6
    middle = ((corners[:, 0] + corners[:, 1]) + corners[:, 2]) / 3
    points[:, _CENTRE] = edges + (edges - middle) / 2
    return points


def _quadratic(corners: F64, normals: F64, linear: F64) -> F64:
    """Unit normals at the tessellated vertices, shape (3, triangles, vertices), interpolated
    quadratically between normals at the corners and the middles of the edges.
    """
    total = np.zeros((3, corners.shape[2], linear.shape[1]))
    for corner in range(3):
        total = total + normals[:, corner, :, None] * (linear[corner] * linear[corner])
    for start, end in ((0, 1), (1, 2), (2, 0)):
        between = _between(corners[:, start], corners[:, end], normals[:, start], normals[:, end])
        total = total + between[..., None] * (linear[start] * linear[end])
    return _unit(total)


def _between(start: F64, end: F64, normal: F64, other: F64) -> F64:
    """Unit normal at the middle of an N-patch's edge from ``start``, with ``normal``, to ``end``,
    with the normal ``other``: their sum, reflected at the plane perpendicular to the edge.
    """
    edge, both = end - start, normal + other
    square = _dot(edge, edge)
    lean = np.where(square > 0, 2 * _dot(edge, both) / square, 0.0)
    return _unit(both - lean * edge)


def _unit(vector: F64) -> F64:
    """Unit vectors along the first axis; a zero vector stays 0."""
    length = np.sqrt(_dot(vector, vector))
    return np.where(length > 0, vector / length, 0.0)
