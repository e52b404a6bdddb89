"""Meshes, which the stages between vertex fetch and clipping pass to each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.command.bindings import Topology
from dp2emu.gpu.command.topology import PATCHES
from dp2emu.gpu.command.work import Work
from dp2emu.shader.types import Lanes

PRIMITIVE_ID = "primitive_id.x"
"""I32 vertex port: SV_PrimitiveID of pixel programs.

A primitive has the value of its provoking vertex, also of ``ports.LAYER`` and
``ports.VIEWPORT``."""


class Mesh(msgspec.Struct, frozen=True):
    """Vertices of a draw and the primitives that they form, between two shader stages.

    ``vertices`` are lanes of shape (v,) by output port of the vertex program: F32
    ``position0.x``, ``clip0.x``, ``cull0.x`` and ``v1.x``, and their bits under names with the
    prefix ``ports.CONSTANT``.  ``corners``, int64, shape (k, n), are vertex numbers: one to three,
    four or six with adjacent vertices, in geometry shader order, or the points of a patch.
    ``topology`` is a list, never a strip.  ``ids``, int64, shape (n,), are SV_PrimitiveID.
    ``stream`` is the geometry program's stream.
    """

    vertices: Mapping[str, Lanes]
    corners: I64
    topology: Topology
    ids: I64
    stream: int = 0

    @property
    def count(self) -> int:
        """Number of primitives."""
        return len(self.ids)

    def part(self, chosen: I64 | slice) -> Mesh:
        """The mesh with all its vertices, but only the primitives at the indices ``chosen``."""
        return replace(self, corners=self.corners[:, chosen], ids=self.ids[chosen])

    def alone(self) -> Mesh:
        """The mesh without unused vertices."""
        used, place = np.unique(self.corners.ravel(), return_inverse=True)
        vertices = {port: lanes[used] for port, lanes in self.vertices.items()}
        return replace(self, vertices=vertices, corners=place.reshape(self.corners.shape))

    def lanes(self, port: str, corner: int) -> Lanes | None:
        """Values of a port at a corner of each primitive, shape (n,); None if vertices lack it."""
        found = self.vertices.get(port)
        return None if found is None else found[self.corners[corner]]


class Made(NamedTuple):
    """A mesh that a shader stage outputs, and the counted ``work`` of making it."""

    mesh: Mesh
    work: Work


LISTS: dict[Topology, Topology] = {
    Topology10.LINESTRIP: Topology10.LINELIST,
    Topology10.TRIANGLESTRIP: Topology10.TRIANGLELIST,
    Topology10.LINESTRIP_ADJ: Topology10.LINELIST_ADJ,
    Topology10.TRIANGLESTRIP_ADJ: Topology10.TRIANGLELIST_ADJ,
}
"""From strip topology to the list topology of the same primitives (LINESTRIP to LINELIST)."""

_WITHOUT_ADJACENT: dict[Topology, tuple[Topology, tuple[int, ...]]] = {
    Topology10.LINELIST_ADJ: (Topology10.LINELIST, (1, 2)),
    Topology10.TRIANGLELIST_ADJ: (Topology10.TRIANGLELIST, (0, 2, 4)),
}
"""From list topology with adjacency to the topology without it and the corner indices to keep."""


def without_adjacent(mesh: Mesh) -> Mesh:
    """The mesh without the adjacent vertices of its primitives, if they have any."""
    if mesh.topology not in _WITHOUT_ADJACENT:
        return mesh
    topology, rows = _WITHOUT_ADJACENT[mesh.topology]
    return replace(mesh, topology=topology, corners=mesh.corners[list(rows)])


def three(corners: I64) -> I64:
    """Three corners of points, lines or triangles: first, last, first of points and lines."""
    if len(corners) == 3:
        return corners
    first, last = corners[0], corners[-1]
    return np.stack((first, last, first))


def _list_of(size: int) -> _Corners:
    return lambda i, last: tuple(size * i + n for n in range(size))


def _strip_of(size: int) -> _Corners:
    return lambda i, last: tuple(i + n for n in range(size))


def _triangle_strip(i: I64, last: Mask) -> tuple[I64, ...]:
    odd = i & 1
    return i, i + 1 + odd, i + 2 - odd


def _triangle_strip_adjacent(i: I64, last: Mask) -> tuple[I64, ...]:
    """Corners of triangles in a strip with adjacency.

    Across an edge that two triangles share lies the far corner of the other triangle; across the
    other edges lies an adjacent vertex of the strip.
    """
    first, second, third = 2 * i, 2 * i + 2, 2 * i + 4
    behind = np.where(i > 0, first - 2, 1)
    ahead, side = np.where(last, first + 5, first + 6), first + 3
    odd = (i & 1).astype(np.bool_)
    return (
        first,
        np.where(odd, side, behind),
        np.where(odd, third, second),
        ahead,
        np.where(odd, second, third),
        np.where(odd, behind, side),
    )


_Corners = Callable[[I64, Mask], tuple[I64, ...]]

_CORNERS: dict[Topology, _Corners] = {
    Topology10.POINTLIST: _list_of(1),
    Topology10.LINELIST: _list_of(2),
    Topology10.LINESTRIP: _strip_of(2),
    Topology10.TRIANGLELIST: _list_of(3),
    Topology10.TRIANGLESTRIP: _triangle_strip,
    Topology10.LINELIST_ADJ: _list_of(4),
    Topology10.LINESTRIP_ADJ: _strip_of(4),
    Topology10.TRIANGLELIST_ADJ: _list_of(6),
    Topology10.TRIANGLESTRIP_ADJ: _triangle_strip_adjacent,
    PrimitiveType.TRIANGLEFAN: lambda i, last: (i + 1, i + 2, np.zeros_like(i)),
    **{patch: _list_of(points) for patch, points in PATCHES.items()},
}


def corners_with_adjacent(topology: Topology, numbers: I64, last: Mask) -> I64:
    """For primitives ``numbers`` of a strip or list, the indices in it of their vertices, adjacent
    ones included: int64, shape (k, n).  ``last`` marks the last primitive of a strip.
    """
    return np.stack(_CORNERS[topology](numbers, last))
