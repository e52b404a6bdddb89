"""Clipping in homogeneous coordinates (Sutherland and Hodgman), and the viewport transform.

Planes in order: near z >= 0 and far z <= w (both only with D3DRS_CLIPPING), the guard band
|x| <= GUARD * w and |y| <= GUARD * w, then the user's.  The guard band lies far outside of every
target; it removes negative w and coordinates too large to interpolate.  Within it x and y are not
clipped, since rasterisation is exact.  A corner with w = 0 survives only if it is the eye itself;
its primitive has no screen position and is not drawn.

A new corner is always computed from the inside corner towards the outside one, in float64:

    t = d_inside / (d_inside - d_outside)
    v = v_inside + t * (v_outside - v_inside)

for position, varyings and distances alike, with every operation rounded.  It depends on the edge
alone, so triangles that share an edge share the new corner, bit for bit, without a crack.

Screen positions, in float64, every operation rounded:

    rhw = 1 / w
    x = view.x + (1 + x / w) * (view.width / 2) - centre
    y = view.y + (1 - y / w) * (view.height / 2) - centre
    z = view.min_z + (z / w) * (view.max_z - view.min_z)

Pixel centres are at integers, as in Direct3D 9; ``centre`` is 0.5 for Direct3D 10, whose pixel
centres are at halves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter

import msgspec
import numpy as np

from dp2emu.gpu.arrays import F32, F64, I64, Mask, expand
from dp2emu.gpu.command.bindings import FloatViewport, Viewport
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import is_flat
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.input_assembler.vertex_fetch import COMPONENTS, Vertices
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed
from dp2emu.shader.types import Lanes, Type
from dp2emu.shader.values import Value

GUARD = 128.0
"""Guard band in half widths of the viewport; a power of two, so that products are exact."""

Distance = Callable[[F64], F64]
"""Type of a function from clip-space x, y, z and w of points to signed distances from a plane."""

DEPTH_PLANES, FIXED_PLANES = 2, 6
"""Number of depth planes (near, far), and of all but the user's (with the guard band's four)."""


def plane_distance(
    b: Builder, number: int, x: Value, y: Value, z: Value, w: Value
) -> tuple[Value]:
    """Formula: distance of a point in clip space from the near, far or guard plane ``number``."""
    return (_FIXED[number](x, y, z, w),)


_FIXED: tuple[Callable[[Value, Value, Value, Value], Value], ...] = (
    lambda x, y, z, w: z,
    lambda x, y, z, w: w - z,
    lambda x, y, z, w: w * GUARD + x,
    lambda x, y, z, w: w * GUARD - x,
    lambda x, y, z, w: w * GUARD + y,
    lambda x, y, z, w: w * GUARD - y,
)


def user_distance(
    builder: Builder,
    key: None,
    x: Value,
    y: Value,
    z: Value,
    w: Value,
    a: Value,
    b: Value,
    c: Value,
    d: Value,
) -> tuple[Value]:
    """Formula: distance of a point in clip space from the user clip plane a, b, c, d."""
    return (((a * x + b * y) + c * z) + d * w,)


def passing(b: Builder, key: None, here: Value, ahead: Value) -> list[Value]:
    """Formula: four flags, from the distances of a corner and of the next one: the corner is
    inside or on the plane; the edge between them goes from inside to outside; from outside to
    inside; from the plane to outside.
    """
    outward = ahead < 0.0
    return [
        here >= 0.0,
        (here > 0.0) & outward,
        (here < 0.0) & (ahead > 0.0),
        here.eq(0.0) & outward,
    ]


def crossing(b: Builder, key: None, inside: Value, outside: Value) -> tuple[Value]:
    """Formula: parameter at which an edge crosses a plane, from the distances of its ends."""
    return (inside / (inside - outside),)


def between(b: Builder, key: None, t: Value, start: Value, end: Value) -> tuple[Value]:
    """Formula: value of a new corner at parameter ``t`` of the edge from ``start`` to ``end``."""
    return (start + t * (end - start),)


class Clipped(msgspec.Struct, frozen=True):
    """Clipped primitives in drawing order: lanes of shape (rows, 3, n).

    ``source`` is the number of the primitive before clipping.  ``edges``, shape (3, n), marks
    the edges from corner i to the next that are drawn edges of that primitive.  ``extra`` counts
    the triangles that clipping added.
    """

    lanes: F64
    source: I64
    edges: Mask
    extra: int


class _Polygons(msgspec.Struct, frozen=True):
    """n polygons in clipping: each has room for k corners, of which the first ``count`` are valid.

    ``lanes``, shape (rows, k, n), are position, varyings and distances; ``edges``, shape (k, n),
    marks the corners at which an edge of the original primitive begins.
    """

    lanes: F64
    edges: Mask
    count: I64


def clip(lanes: F64, edges: Mask | None, corners: int, *, depth: bool, user: int) -> Clipped:
    """Clip points, lines or triangles (1, 2 or 3 ``corners``), lanes of shape (rows, 3, n).

    ``edges`` marks the drawn edges, shape (3, n), None for all.  Rows are x, y, z and w, then
    varyings; the last ``user`` rows are distances to planes, whose negative side is clipped.
    A primitive with an infinity or NaN in its position is not drawn.
    """
    rows = range(len(lanes) - user, len(lanes))
    fixed = range(0 if depth else DEPTH_PLANES, FIXED_PLANES)
    planes: tuple[Distance, ...] = (*map(_fixed, fixed), *map(itemgetter, rows))
    inside = np.stack([plane(lanes) >= 0 for plane in planes])
    finite = np.isfinite(lanes[:4]).all(axis=(0, 1))
    visible = inside.any(axis=1).all(axis=0) & finite
    whole = inside.all(axis=(0, 1)) & (lanes[3] > 0).all(axis=0) & finite
    accepted, cut = np.flatnonzero(whole), np.flatnonzero(visible & ~whole)
    kept = lanes[..., accepted]
    edges = np.ones(lanes.shape[1:], np.bool_) if edges is None else edges
    if not len(cut):
        return Clipped(kept, accepted, edges[:, accepted], 0)
    polygons = _Polygons(
        lanes[:, :corners, cut], edges[:corners, cut], np.full(len(cut), corners, np.int64)
    )
    for plane in planes:
        polygons = _cut(polygons, plane(polygons.lanes), ring=corners == 3)
    pieces, piece_edges, which, extra = _pieces(polygons, corners)
    source = np.concatenate((accepted, cut[which]))
    order = np.argsort(source, kind="stable")
    return Clipped(
        np.concatenate((kept, pieces), axis=-1)[..., order],
        source[order],
        np.concatenate((edges[:, accepted], piece_edges), axis=-1)[:, order],
        extra,
    )


def _fixed(number: int) -> Distance:
    return lambda v: computed(plane_distance, number, *v[:4])[0]


def _pieces(polygons: _Polygons, corners: int) -> tuple[F64, Mask, I64, int]:
    """Divide polygons into triangles (or keep lines or points) -> lanes, drawn edges and polygon
    number of each primitive; and the number of triangles added.
    """
    pieces = np.maximum(polygons.count - corners + 1, 0)
    which, step = expand(pieces)
    if corners == 3:
        # A fan around the first corner keeps the winding.
        corner = np.stack((np.zeros_like(step), step + 1, step + 2))
    else:
        corner = np.stack((np.zeros_like(step), np.full_like(step, corners - 1), 0 * step))
    edges = polygons.edges[corner, which]
    edges[0] &= step == 0
    edges[2] &= step == polygons.count[which] - corners
    extra = int((pieces - 1)[pieces > 0].sum())
    return polygons.lanes[:, corner, which], edges, which, extra


def _cut(polygons: _Polygons, distance: F64, *, ring: bool) -> _Polygons:
    """Polygons clipped to where ``distance``, shape (k, n), is 0 or greater; NaN is outside.

    ``ring``: an edge leads from the last corner back to the first.
    """
    lanes, count = polygons.lanes, polygons.count
    slot = np.broadcast_to(np.arange(len(distance))[:, None], distance.shape)
    live = slot < count
    last = slot == count - 1
    following = np.where(live & ~last, slot + 1, 0 if ring else slot)
    ahead = np.take_along_axis(distance, following, axis=0)
    inside, leaving, entering, on_plane = computed(passing, None, distance, ahead)
    inside = live & inside
    if (inside == live).all():
        return polygons
    crossed = live & (leaving | entering)
    k, n = np.nonzero(crossed)
    forward = leaving[k, n]
    after = following[k, n]
    begin, end = np.where(forward, k, after), np.where(forward, after, k)
    (t,) = computed(crossing, None, distance[begin, n], distance[end, n])

    cut = np.empty((len(lanes), 2 * len(distance), len(count)))
    cut[:, 0::2], cut[:, 1::2] = lanes, 0.0
    (cut[:, 2 * k + 1, n],) = computed(between, None, t, lanes[:, begin, n], lanes[:, end, n])
    kept = _interleave(inside, crossed)
    edges = _interleave(polygons.edges & ~on_plane, polygons.edges & entering)
    kept_count = np.count_nonzero(kept, axis=0)
    order = np.argsort(~kept, axis=0, kind="stable")[: max(int(kept_count.max()), 1)]
    return _Polygons(
        np.take_along_axis(cut, order[None], axis=1),
        np.take_along_axis(edges, order, axis=0),
        kept_count,
    )


def _interleave(first: Mask, second: Mask) -> Mask:
    """Interleave the rows of two arrays, the first row of ``first`` first."""
    return np.stack((first, second), axis=1).reshape(-1, first.shape[1])


POSITION = tuple(f"position0.{component}" for component in COMPONENTS)
"""Names of the four vertex program outputs that are the clip-space position: x, y, z and w."""


class Geometry(msgspec.Struct, frozen=True):
    """Primitives in screen coordinates, in drawing order.

    ``numbers`` are primitive numbers in the draw; ``edges``, shape (3, n), marks the edges from
    corner i to the next that a wireframe draws, None for all.  ``extra`` counts the triangles that
    clipping added.  ``sources`` are numbers of the primitives among those given to clipping, None
    if ``numbers`` distinguish these.
    """

    vertices: Vertices
    numbers: I64
    edges: Mask | None = None
    extra: int = 0
    sources: I64 | None = None

    @property
    def edge_mask(self) -> Mask:
        """Mask, shape (3, n), of edges that a wireframe draws; all true if ``edges`` is None."""
        shape = self.vertices.position.shape[1:]
        return np.ones(shape, np.bool_) if self.edges is None else self.edges

    def part(self, chosen: I64) -> Geometry:
        """The primitives at the indices ``chosen``."""
        edges = None if self.edges is None else self.edges[:, chosen]
        sources = None if self.sources is None else self.sources[chosen]
        vertices, numbers = self.vertices.part(chosen), self.numbers[chosen]
        return Geometry(vertices, numbers, edges, self.extra, sources)


def placed(
    draw: Draw,
    outputs: Mapping[str, Lanes],
    corner: I64,
    numbers: I64,
    names: tuple[str, ...],
    edges: Mask | None = None,
) -> Geometry:
    """Clip primitives and map them to the screen.

    ``outputs`` are vertex program outputs by port, ``corner`` vertex numbers, shape (3, n).
    """
    lanes, written, user = _table(draw, outputs, corner, names)
    varyings = slice(4, 4 + len(written))
    flatten_and_wrap(draw, written, lanes[varyings])
    sources = np.arange(len(numbers))
    dropped = dropped_by_distances(draw, outputs, corner)
    if dropped is not None:
        kept = sources = np.flatnonzero(~dropped)
        lanes, numbers = lanes[..., kept], numbers[kept]
        edges = None if edges is None else edges[:, kept]
    depth = draw.pipeline.raster.clip
    clipped = clip(lanes, edges, CORNERS[draw.input.topology], depth=depth, user=user)
    centre = 0.5 if draw.pipeline.raster.half_centres else 0.0
    places = on_screen(clipped.lanes, draw.raster.viewport, centre)
    vertices = Vertices(places, written, clipped.lanes[varyings])
    source = clipped.source
    return Geometry(vertices, numbers[source], clipped.edges, clipped.extra, sources[source])


def flatten_and_wrap(draw: Draw, names: tuple[str, ...], varyings: F32 | F64) -> None:
    """Apply flat shading and texture wrapping to the varyings of corners, in place.

    Constants, and colours with flat shading, are copied from the first corner, the provoking
    vertex.  A wrapping texture coordinate is moved by integers to within half a texture of the
    first corner's (Direct3D 9 documentation, Texture Wrapping).
    """
    raster = draw.pipeline.raster
    flat = [lane for lane, name in enumerate(names) if is_flat(name, raster.flat)]
    if flat:
        varyings[flat, 1:] = varyings[flat, :1]
    around = [lane for lane, name in enumerate(names) if wraps(name, raster.wrap)]
    if around:
        first, others = varyings[around, :1], varyings[around, 1:]
        (varyings[around, 1:],) = computed(shortest_way, None, first, others)


def shortest_way(b: Builder, key: None, first: Value, other: Value) -> tuple[Value]:
    """Formula: a texture coordinate moved to within half a texture of the first corner's."""
    way = other - first
    return (other - (b.round(way) if way.type is Type.F32 else b.apply("dround", way)),)


def wraps(name: str, wrap: tuple[int, ...]) -> bool:
    """Whether a varying is a texture coordinate that wraps, by the bits of
    ``RasterState.wrap``.
    """
    register, _, component = name.rpartition(".")
    number = register.removeprefix("texcoord")
    if number == register or int(number) >= len(wrap):
        return False
    return bool(wrap[int(number)] >> COMPONENTS.index(component) & 1)


def _table(
    draw: Draw, outputs: Mapping[str, Lanes], corner: I64, names: tuple[str, ...]
) -> tuple[F64, tuple[str, ...], int]:
    """Position, varyings and distances of corners, shape (rows, 3, n); names of the varyings; and
    the number of distances, which come last.
    """
    nothing = np.zeros(1, np.float32)
    lanes = next(iter(outputs.values()), None)
    count = int(corner.max(initial=-1)) + 1 if lanes is None else len(lanes)
    rows = [np.broadcast_to(outputs.get(name, nothing), count) for name in POSITION]
    position = np.stack(rows).astype(np.float64)
    written = tuple(name for name in names if name in outputs)
    distances = _distances(draw, outputs, position)
    table = np.stack([*position, *(outputs[name] for name in written), *distances])
    return table[:, corner], written, len(distances)


def dropped_by_distances(draw: Draw, outputs: Mapping[str, Lanes], corner: I64) -> Mask | None:
    """Mask of primitives with a NaN clip distance, or with a cull distance that is negative or NaN
    at all corners (Direct3D 10); None without such distances.
    """
    raster = draw.pipeline.raster
    clipping = [outputs[f"clip{n}.x"][corner] for n in range(raster.clip_distances)]
    culling = [outputs[f"cull{n}.x"][corner] for n in range(raster.cull_distances)]
    dropped = [np.isnan(distance).any(axis=0) for distance in clipping]
    dropped += [~(distance >= 0).any(axis=0) for distance in culling]
    return np.logical_or.reduce(dropped) if dropped else None


def _distances(draw: Draw, outputs: Mapping[str, Lanes], position: F64) -> list[F64]:
    """Distances of vertices to the user's planes in use, then clip distances without a plane.

    The program writes them to ``clip0.x`` and so on; else they are ((a * x + b * y) + c * z) +
    d * w in clip space.
    """
    x, y, z, w = position
    distances = []
    for number in planes_used(draw):
        a, b, c, d = draw.raster.clip_planes[number]
        written = outputs.get(f"clip{number}.x")
        if written is None:
            equation = (np.float64(each) for each in (a, b, c, d))
            (written,) = computed(user_distance, None, x, y, z, w, *equation)
        distances.append(written.astype(np.float64))
    own = (outputs[f"clip{number}.x"] for number in range(draw.pipeline.raster.clip_distances))
    return [*distances, *(distance.astype(np.float64) for distance in own)]


def planes_used(draw: Draw) -> tuple[int, ...]:
    """Numbers of the user's clip planes that are enabled; none if clipping is disabled."""
    bits = draw.pipeline.raster.clip_planes if draw.pipeline.raster.clip else 0
    return tuple(n for n in range(len(draw.raster.clip_planes)) if bits >> n & 1) if bits else ()


def on_screen(lanes: F64, view: Viewport | FloatViewport, centre: float = 0.0) -> F64:
    """Screen x, y, z and rhw of positions in clip space, the first four of the lanes."""
    numbers = (view.x, view.width / 2, view.y, view.height / 2)
    depths = (view.min_z, view.max_z - view.min_z)
    given = (np.float64(each) for each in (*numbers, *depths, centre))
    return np.stack(computed(projected, None, *lanes[:4], *given))


def projected(
    b: Builder,
    key: None,
    x: Value,
    y: Value,
    z: Value,
    w: Value,
    left: Value,
    half_width: Value,
    top: Value,
    half_height: Value,
    near: Value,
    range_: Value,
    centre: Value,
) -> list[Value]:
    """Formula: screen x, y, z and rhw of a position in clip space."""
    return [
        left + (1.0 + x / w) * half_width - centre,
        top + (1.0 - y / w) * half_height - centre,
        near + (z / w) * range_,
        1.0 / w,
    ]
