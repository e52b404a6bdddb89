"""Tessellated unit squares and triangles: vertex coordinates and triangles.

A grid is as fine as the finer of two opposite edges (of all three of a triangle).  Its outermost
vertices snap to the nearest division of their own edge, so that an edge is divided the same way
whatever the others are; triangles that degenerate are dropped.  Coordinates are float64, and every
operation is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dp2emu.gpu.arrays import F64, I64

MAX_SEGMENTS = 64
"""D3DCAPS9.MaxNpatchTessellationLevel of this device; higher levels are clamped to it."""


class Domain(NamedTuple):
    """Tessellated domain: ``u`` and ``v`` of n vertices, and ``triangles``, int64, shape (3, m).

    Triangles turn from u to v, which is the front of a patch on which u goes right and v down.
    """

    u: F64
    v: F64
    triangles: I64


def segments_of(number: float, *, continuous: bool) -> float:
    """Number of segments for a tessellation level: at least 1, NaN included; whole unless
    ``continuous``.
    """
    clamped = min(number, float(MAX_SEGMENTS)) if number >= 1 else 1.0
    return clamped if continuous else float(int(clamped))


@lru_cache(maxsize=256)
def divisions(segments: float, *, continuous: bool) -> tuple[float, ...]:
    """Division points of an edge, from 0 to 1.

    Discretely at k / segments.  Continuously (D3DPATCHEDGE_CONTINUOUS, whose spacing is left
    open), with n the largest odd number up to ``segments``: (n - 1) / 2 steps of 1 / segments from
    each end, one in the middle, and the rest split to both sides of that.
    """
    if not continuous:
        return tuple(k / segments for k in range(int(segments) + 1))
    odd = (int(segments) - 1) // 2 * 2 + 1
    half = [k / segments for k in range((odd - 1) // 2 + 1)]
    if segments > odd:
        half.append(0.5 - 0.5 / segments)
    return (*half, *(1 - place for place in reversed(half)))


@lru_cache(maxsize=64)
def rectangle(segments: tuple[float, float, float, float], *, continuous: bool) -> Domain:
    """The tessellated unit square, whose edges in order are v = 0, u = 1, v = 1 and u = 0."""
    edges = [divisions(number, continuous=continuous) for number in segments]
    across = divisions(max(segments[0], segments[2]), continuous=continuous)
    down = divisions(max(segments[1], segments[3]), continuous=continuous)
    u, v = np.meshgrid(across, down)
    u[0], u[-1] = _snapped(edges[0], len(across)), _snapped(edges[2], len(across))
    v[:, -1], v[:, 0] = _snapped(edges[1], len(down)), _snapped(edges[3], len(down))
    return _domain(u.ravel(), v.ravel(), np.arange(u.size).reshape(u.shape))


@lru_cache(maxsize=256)
def triangle(segments: tuple[float, float, float], *, continuous: bool) -> Domain:
    """The tessellated triangle u + v <= 1, whose edges run (0, 0), (1, 0), (0, 1) and back."""
    edges = [divisions(number, continuous=continuous) for number in segments]
    grid = np.array(divisions(max(segments), continuous=continuous))
    n = len(grid) - 1
    j, i = np.nonzero(np.arange(n + 1) <= n - np.arange(n + 1)[:, None])
    k = n - i - j
    total = (grid[i] + grid[j]) + grid[k]
    u, v = grid[i] / total, grid[j] / total
    u[j == 0], v[j == 0] = _snapped(edges[0], n + 1), 0
    u[k == 0], v[k == 0] = _snapped(edges[1][::-1], n + 1), _snapped(edges[1], n + 1)
    u[i == 0], v[i == 0] = 0, _snapped(edges[2], n + 1)
    numbers = np.full((n + 2, n + 2), -1)
    numbers[j, i] = np.arange(len(i))
    return _domain(u, v, numbers)


def _snapped(divisions: Sequence[float], size: int) -> F64:
    """For each of ``size`` equally spaced vertices, the nearest of ``divisions``; halves go up."""
    segments, steps = len(divisions) - 1, size - 1
    nearest = (2 * segments * np.arange(size) + steps) // (2 * steps)
    snapped: F64 = np.array(divisions)[nearest]
    return snapped


def _domain(u: F64, v: F64, numbers: I64) -> Domain:
    """Domain with both triangles of each cell of a grid of vertex numbers, -1 for no vertex.

    Triangles with a missing vertex, or two vertices in one place, are dropped.
    """
    a, b, c, d = numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, :-1], numbers[1:, 1:]
    corners = np.array([[a, b, c], [b, d, c]])
    triangles = corners.transpose(1, 2, 3, 0).reshape(3, -1)
    x, y = u[triangles], v[triangles]
    following = [1, 2, 0]
    apart = (x != x[following]) | (y != y[following])
    kept = apart.all(axis=0) & (triangles >= 0).all(axis=0)
    made = Domain(u, v, np.ascontiguousarray(triangles[:, kept]))
    for array in made:
        array.setflags(write=False)
    return made
