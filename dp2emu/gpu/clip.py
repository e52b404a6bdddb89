"""Clipping in homogeneous coordinates (Sutherland and Hodgman), so that what is left has w > 0.

In this order: near plane z >= 0 and far plane z <= w (both only with D3DRS_CLIPPING), the guard
band |x| <= GUARD * w and |y| <= GUARD * w, then the user's planes.  The guard band lies far
outside of every target, and what it cuts off is never seen; it is there because it leaves nothing
with a negative w and no coordinate too large to interpolate over.  Within it x and y are not
clipped, since rasterisation is exact everywhere.  A corner with w = 0 survives only if it is the
eye itself; its primitive has no place on the screen and is not drawn.

A new corner is always computed from the corner inside towards the one outside, in float64:

    t = d_inside / (d_inside - d_outside)
    v = v_inside + t * (v_outside - v_inside)

for the position, the varyings and the distances to the user's planes alike, and with every
operation rounded.  It depends on the edge alone, so triangles that share an edge share the new
corner, bit for bit, and no crack opens between them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dp2emu.gpu.arrays import F64, I64, Mask
from dp2emu.gpu.spans import expand
from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed
from dp2emu.shader.values import Value

GUARD = 128.0
"""Half the width of the guard band in half widths of the viewport; a power of two, so that the
products are exact."""

Distance = Callable[[F64], F64]
"""From lanes, x y z w first, to the signed distance to a plane."""

DEPTH_PLANES, BAND_PLANES = 2, 4
FIXED_PLANES = DEPTH_PLANES + BAND_PLANES
"""Planes before the user's."""


def plane_distance(
    b: Builder, number: int, x: Value, y: Value, z: Value, w: Value
) -> tuple[Value]:
    """Formula: from a point in clip space to one of the fixed planes."""
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
    """Formula: from a point in clip space to a plane of the user."""
    return (((a * x + b * y) + c * z) + d * w,)


def passing(b: Builder, key: None, here: Value, ahead: Value) -> list[Value]:
    """Formula, of the distances of a corner and of the next one: whether the corner is inside,
    whether the edge leaves, whether it enters, and whether it leads out from the plane itself.
    """
    outward = ahead < 0.0
    return [
        here >= 0.0,
        (here > 0.0) & outward,
        (here < 0.0) & (ahead > 0.0),
        here.eq(0.0) & outward,
    ]


def crossing(b: Builder, key: None, inside: Value, outside: Value) -> tuple[Value]:
    """Formula: where an edge crosses a plane, by the distances of its ends."""
    return (inside / (inside - outside),)


def between(b: Builder, key: None, t: Value, start: Value, end: Value) -> tuple[Value]:
    """Formula: what a new corner has of a lane."""
    return (start + t * (end - start),)


@dataclass(frozen=True, slots=True)
class Clipped:
    """What clipping leaves, in drawing order: lanes of shape (rows, 3, n).

    ``source`` is the primitive each comes from.  ``edges`` says, shape (3, n), whether the edge
    from corner i to the next is one of the primitive: edges that clipping makes are not.
    ``extra`` counts the triangles clipping added.
    """

    lanes: F64
    source: I64
    edges: Mask
    extra: int


@dataclass(frozen=True, slots=True)
class _Polygons:
    """Lanes of shape (rows, k, n), of which the first ``count`` corners are there, and whether
    the edge that begins at each belongs to the primitive.
    """

    lanes: F64
    edges: Mask
    count: I64


def clip(lanes: F64, edges: Mask | None, corners: int, *, depth: bool, user: int) -> Clipped:
    """Clip points, lines or triangles (1, 2 or 3 ``corners``), lanes of shape (rows, 3, n).

    ``edges`` says which edges are there, shape (3, n), None meaning all of them.

    Rows are x, y, z and w, then anything that is linear in clip space; the last ``user`` rows are
    distances to planes of which the negative side is cut off.  With an infinity or a NaN in its
    position a primitive is not drawn.
    """
    rows = range(len(lanes) - user, len(lanes))
    fixed = range(0 if depth else DEPTH_PLANES, FIXED_PLANES)
    planes = (*map(_fixed, fixed), *map(_row, rows))
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


def _row(row: int) -> Distance:
    return lambda v: v[row]


def _pieces(polygons: _Polygons, corners: int) -> tuple[F64, Mask, I64, int]:
    """Lanes, edges and polygon of the primitives that polygons consist of; triangles added."""
    pieces = np.maximum(polygons.count - corners + 1, 0)
    which, step = expand(pieces)
    if corners == 3:
        # A fan around the first corner keeps the direction the triangle turns.
        corner = np.stack((np.zeros_like(step), step + 1, step + 2))
    else:
        corner = np.stack((np.zeros_like(step), np.full_like(step, corners - 1), 0 * step))
    edges = polygons.edges[corner, which]
    edges[0] &= step == 0
    edges[2] &= step == polygons.count[which] - corners
    extra = int((pieces - 1)[pieces > 0].sum())
    return polygons.lanes[:, corner, which], edges, which, extra


def _cut(polygons: _Polygons, distance: F64, *, ring: bool) -> _Polygons:
    """Cut off where ``distance``, shape (k, n), is negative or a NaN.

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
    """Rows of both in turn."""
    return np.stack((first, second), axis=1).reshape(-1, first.shape[1])
