"""Topologies: which vertices make primitive i (wire format, "Primitive order"), with the provoking
vertex first.

Every primitive has three corners, so that one interpolation serves all: a line repeats its first
vertex, a point is its vertex three times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.enums10 import Topology10, patch_list
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.command.bindings import Topology


def _points(i: I64) -> tuple[I64, I64, I64]:
    return i, i, i


def _line_list(i: I64) -> tuple[I64, I64, I64]:
    return 2 * i, 2 * i + 1, 2 * i


def _line_strip(i: I64) -> tuple[I64, I64, I64]:
    return i, i + 1, i


def _triangle_list(i: I64) -> tuple[I64, I64, I64]:
    return 3 * i, 3 * i + 1, 3 * i + 2


def _triangle_strip(i: I64) -> tuple[I64, I64, I64]:
    odd = i & 1
    return i, i + 1 + odd, i + 2 - odd


def _triangle_fan(i: I64) -> tuple[I64, I64, I64]:
    return i + 1, i + 2, np.zeros_like(i)


def _line_list_beside(i: I64) -> tuple[I64, I64, I64]:
    return 4 * i + 1, 4 * i + 2, 4 * i + 1


def _line_strip_beside(i: I64) -> tuple[I64, I64, I64]:
    return i + 1, i + 2, i + 1


def _triangle_list_beside(i: I64) -> tuple[I64, I64, I64]:
    return 6 * i, 6 * i + 2, 6 * i + 4


def _triangle_strip_beside(i: I64) -> tuple[I64, I64, I64]:
    first, second, third = _triangle_strip(i)
    return 2 * first, 2 * second, 2 * third


class Shape(NamedTuple):
    """``count`` primitives use ``step * count + extra`` vertices; ``corners`` numbers them."""

    step: int
    extra: int
    corners: Callable[[I64], tuple[I64, I64, I64]]


PATCHES: dict[Topology, int] = {patch_list(points): points for points in range(1, 33)}
"""Control points of a patch, by topology."""


def _patch_list(points: int) -> Callable[[I64], tuple[I64, I64, I64]]:
    """Corners of a patch list: one point each, because only later stages make primitives."""
    return lambda i: (points * i,) * 3


TOPOLOGIES: dict[Topology, Shape] = {
    PrimitiveType.POINTLIST: Shape(1, 0, _points),
    PrimitiveType.LINELIST: Shape(2, 0, _line_list),
    PrimitiveType.LINESTRIP: Shape(1, 1, _line_strip),
    PrimitiveType.TRIANGLELIST: Shape(3, 0, _triangle_list),
    PrimitiveType.TRIANGLESTRIP: Shape(1, 2, _triangle_strip),
    PrimitiveType.TRIANGLEFAN: Shape(1, 2, _triangle_fan),
    Topology10.LINELIST_ADJ: Shape(4, 0, _line_list_beside),
    Topology10.LINESTRIP_ADJ: Shape(1, 3, _line_strip_beside),
    Topology10.TRIANGLELIST_ADJ: Shape(6, 0, _triangle_list_beside),
    Topology10.TRIANGLESTRIP_ADJ: Shape(2, 4, _triangle_strip_beside),
    **{patch: Shape(points, 0, _patch_list(points)) for patch, points in PATCHES.items()},
}
"""Vertex numbering by topology.  Adjacent vertices are left out."""
CORNERS: dict[Topology, int] = {
    PrimitiveType.POINTLIST: 1,
    PrimitiveType.LINELIST: 2,
    PrimitiveType.LINESTRIP: 2,
    PrimitiveType.TRIANGLELIST: 3,
    PrimitiveType.TRIANGLESTRIP: 3,
    PrimitiveType.TRIANGLEFAN: 3,
    Topology10.LINELIST_ADJ: 2,
    Topology10.LINESTRIP_ADJ: 2,
    Topology10.TRIANGLELIST_ADJ: 3,
    Topology10.TRIANGLESTRIP_ADJ: 3,
    **dict.fromkeys(PATCHES, 1),
}
"""Distinct corners of a primitive: 1 for points, 2 for lines, 3 for triangles."""


def list_edges(flags: I64) -> Mask:
    """Edges of indexed triangles from their wFlags (wire format, "Edge flags"), shape (3, n)."""
    edges: Mask = flags >> np.array([[8], [9], [10]]) & 1 != 0
    return edges


def fan_edges(flags: int, count: int) -> Mask:
    """Edges of a fan that was a polygon, from its dwEdgeFlags (wire format, "Edge flags"), shape
    (3, count).

    Bit i is the edge from vertex i to the next, the last one back to vertex 0; bits that the
    flags lack are set, and the edges between the triangles are not drawn.
    """
    outline = np.ones(count + 2, np.bool_)
    outline[:32] = [flags >> bit & 1 for bit in range(min(count + 2, 32))]
    edges = np.zeros((3, count), np.bool_)
    edges[0] = outline[1:-1]
    edges[1, -1:] = outline[-1]
    edges[2, :1] = outline[0]
    return edges


def vertex_count(topology: Topology, count: int) -> int:
    """The number of vertices (or indices) of ``count`` primitives; 0 for no primitive."""
    row = TOPOLOGIES[topology]
    return row.step * count + row.extra if count > 0 else 0


def primitive_count(topology: Topology, vertices: int) -> int:
    """The number of complete primitives of ``vertices`` vertices (or indices)."""
    row = TOPOLOGIES[topology]
    return max(vertices - row.extra, 0) // row.step


def corners(topology: Topology, first: int, start: int, stop: int) -> I64:
    """Vertex (or index) numbers of primitives ``start`` to ``stop``: int64, shape (3, n)."""
    rows = TOPOLOGIES[topology].corners(np.arange(start, stop, dtype=np.int64))
    return first + np.stack(rows)
