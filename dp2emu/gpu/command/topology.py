"""Topologies: the vertices of primitive i (wire format, "Primitive order"), provoking vertex
first.

Every primitive has three corners, so that one interpolation serves all: a line repeats its first
vertex, a point has one vertex three times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.enums10 import Topology10, patch_list
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.command.bindings import Topology


class Numbering(NamedTuple):
    """Vertex numbers of a topology: ``count`` primitives use ``step * count + extra`` vertices.

    ``distinct`` is 1 for points, 2 for lines, 3 for triangles.  Corner c of primitive i is vertex
    ``steps[c] * i + odds[c] * (i & 1) + offsets[c]``.
    """

    distinct: int
    step: int
    extra: int
    steps: tuple[int, int, int]
    offsets: tuple[int, int, int]
    odds: tuple[int, int, int] = (0, 0, 0)

    def corners(self, i: I64) -> I64:
        """Vertex numbers of the corners of primitives, int64 of shape (3, n)."""
        rows = np.multiply.outer(self.steps, i) + np.multiply.outer(self.odds, i & 1)
        found: I64 = rows + np.array(self.offsets)[:, None]
        return found


PATCHES: dict[Topology, int] = {patch_list(points): points for points in range(1, 33)}
"""Number of control points of a patch, by patch topology."""

TOPOLOGIES: dict[Topology, Numbering] = {
    PrimitiveType.POINTLIST: Numbering(1, 1, 0, (1, 1, 1), (0, 0, 0)),
    PrimitiveType.LINELIST: Numbering(2, 2, 0, (2, 2, 2), (0, 1, 0)),
    PrimitiveType.LINESTRIP: Numbering(2, 1, 1, (1, 1, 1), (0, 1, 0)),
    PrimitiveType.TRIANGLELIST: Numbering(3, 3, 0, (3, 3, 3), (0, 1, 2)),
    PrimitiveType.TRIANGLESTRIP: Numbering(3, 1, 2, (1, 1, 1), (0, 1, 2), (0, 1, -1)),
    PrimitiveType.TRIANGLEFAN: Numbering(3, 1, 2, (1, 1, 0), (1, 2, 0)),
    Topology10.LINELIST_ADJ: Numbering(2, 4, 0, (4, 4, 4), (1, 2, 1)),
    Topology10.LINESTRIP_ADJ: Numbering(2, 1, 3, (1, 1, 1), (1, 2, 1)),
    Topology10.TRIANGLELIST_ADJ: Numbering(3, 6, 0, (6, 6, 6), (0, 2, 4)),
    Topology10.TRIANGLESTRIP_ADJ: Numbering(3, 2, 4, (2, 2, 2), (0, 2, 4), (0, 2, -2)),
    # Patches have one corner: only later stages make primitives of them.
    **{patch: Numbering(1, n, 0, (n, n, n), (0, 0, 0)) for patch, n in PATCHES.items()},
}
"""From topology to the rule by which primitive i gets its vertex numbers, without adjacent
vertices."""

CORNERS: dict[Topology, int] = {topology: row.distinct for topology, row in TOPOLOGIES.items()}
"""Number of distinct corners of a primitive, by topology: 1 for points, 2 for lines, 3 for
triangles."""


def list_edges(flags: I64) -> Mask:
    """Masks, shape (3, n), of the edges of n indexed triangles to draw: bits 8 to 10 of each of
    the n wFlags values (wire format, "Edge flags").
    """
    edges: Mask = flags >> np.array([[8], [9], [10]]) & 1 != 0
    return edges


def fan_edges(flags: int, count: int) -> Mask:
    """Edges of a fan that was a polygon, from its dwEdgeFlags (wire format, "Edge flags"), shape
    (3, count).

    Bit i is the edge from vertex i to the next, the last one back to vertex 0; edges beyond bit 31
    are drawn, edges between the triangles are not.
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
    return first + TOPOLOGIES[topology].corners(np.arange(start, stop, dtype=np.int64))
