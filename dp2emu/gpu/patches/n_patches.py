"""Curved point-normal triangles (Vlachos and others, 2001), which Direct3D calls N-patches.

``P`` and ``N`` are positions and normals of the corners, taken as they are.  Everything is float64
and every operation rounded; a dot product adds x, y and z in this order.  With corners i and j,

    edge point = ((2 Pi + Pj) - ((Pj - Pi) . Ni) Ni) / 3
    centre     = mean of edge points + (mean of edge points - mean of corners) / 2

are the points of a cubic Bezier triangle.  Quadratic normals have, between two corners,

    v = 2 ((Pj - Pi) . (Ni + Nj)) / ((Pj - Pi) . (Pj - Pi))
    n = unit((Ni + Nj) - v (Pj - Pi))

and are unit(sum of Ni bi^2, then n bi bj) of the barycentric coordinates b.  Without a normal, and
for every other element, values are interpolated linearly.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dp2emu.d3d.enums import DeclMethod, DeclUsage
from dp2emu.d3d.vertices import Element
from dp2emu.gpu.arrays import F64
from dp2emu.gpu.command.patches import NPatch
from dp2emu.gpu.tessellation.patch_domains import Domain
from dp2emu.gpu.tessellation.splines import sum_of, triangle_weights

_CORNERS = (0, 9, 6)
_EDGE_POINTS = {(0, 1): 2, (0, 2): 1, (1, 0): 5, (2, 0): 3, (1, 2): 8, (2, 1): 7}
"""Corner nearer to a point, the other one -> number of the point (``splines``)."""
_CENTRE = 4


def interpolated(
    at_corners: Mapping[Element, F64], patch: NPatch, domain: Domain
) -> dict[Element, F64]:
    """Elements at the vertices of each triangle, shape (4, triangles, vertices).

    ``at_corners`` are the elements of corners, shape (4, 3, triangles).
    """
    linear = triangle_weights(1, domain.u, domain.v).value[[0, 2, 1]]
    made = {e: sum_of(linear, lanes.swapaxes(1, 2)[..., None]) for e, lanes in at_corners.items()}
    position, normal = (_found(at_corners, u) for u in (DeclUsage.POSITION, DeclUsage.NORMAL))
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


def _found(lanes: Mapping[Element, F64], usage: DeclUsage) -> Element | None:
    wanted = usage, 0, DeclMethod.DEFAULT
    return next((e for e in lanes if (e.usage, e.index, e.method) == wanted), None)


def _dot(a: F64, b: F64) -> F64:
    """Of vectors along the first axis."""
    product: F64 = (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
    return product


def _control_points(corners: F64, normals: F64) -> F64:
    """Ten points of each triangle, shape (3, 10, triangles)."""
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
    """Normals at the vertices, shape (3, triangles, vertices)."""
    total = np.zeros((3, corners.shape[2], linear.shape[1]))
    for corner in range(3):
        total = total + normals[:, corner, :, None] * (linear[corner] * linear[corner])
    for start, end in ((0, 1), (1, 2), (2, 0)):
        between = _between(corners[:, start], corners[:, end], normals[:, start], normals[:, end])
        total = total + between[..., None] * (linear[start] * linear[end])
    return _unit(total)


def _between(start: F64, end: F64, normal: F64, other: F64) -> F64:
    """The normal in the middle of an edge."""
    edge, both = end - start, normal + other
    square = _dot(edge, edge)
    lean = np.where(square > 0, 2 * _dot(edge, both) / square, 0.0)
    return _unit(both - lean * edge)


def _unit(vector: F64) -> F64:
    """Over its length; 0 where it has none."""
    length = np.sqrt(_dot(vector, vector))
    return np.where(length > 0, vector / length, 0.0)
