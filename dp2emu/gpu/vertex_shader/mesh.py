"""Meshes: what the stages between vertex fetch and clipping hand to each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.command.bindings import Topology
from dp2emu.gpu.command.topology import PATCHES
from dp2emu.gpu.command.work import Work
from dp2emu.shader.types import Lanes

VIEWPORT, LAYER, PRIMITIVE_ID = "viewport.x", "layer.x", "primitive_id.x"
"""I32 ports of vertices: the number of a viewport, of a slice of the targets, and what pixel
programs read as SV_PrimitiveID; of a primitive its first vertex tells."""


class Mesh(msgspec.Struct, frozen=True):
    """Vertices, and the primitives that they make.

    ``vertices`` are lanes of shape (v,) by port, as vertex programs write them: F32
    ``position0.x``, ``clip0.x``, ``cull0.x`` and ``v1.x``, and the bits of these under the names
    that ``ports.CONSTANT`` begins.  ``corners`` are numbers of vertices, int64, shape (k, n): one
    to three, or four and six with adjacent ones, in the order in which geometry shaders have
    them, or as many as a patch has points.  ``topology`` is that of a list.  ``ids``, int64, shape
    (n,), are SV_PrimitiveID.  ``stream`` is the one of a geometry program that it comes from.
    """

    vertices: Mapping[str, Lanes]
    corners: I64
    topology: Topology
    ids: I64
    stream: int = 0

    @property
    def count(self) -> int:
        """How many primitives there are."""
        return len(self.ids)

    def part(self, chosen: I64 | slice) -> Mesh:
        """Some of the primitives, of the same vertices."""
        return replace(self, corners=self.corners[:, chosen], ids=self.ids[chosen])

    def alone(self) -> Mesh:
        """The mesh without vertices that no primitive has."""
        used, place = np.unique(self.corners.ravel(), return_inverse=True)
        vertices = {port: lanes[used] for port, lanes in self.vertices.items()}
        return replace(self, vertices=vertices, corners=place.reshape(self.corners.shape))

    def lanes(self, port: str, corner: int) -> Lanes | None:
        """A port at a corner of each primitive, shape (n,); None if no vertex has it."""
        found = self.vertices.get(port)
        return None if found is None else found[self.corners[corner]]


class Made(NamedTuple):
    """A mesh that a stage made, and the work of that and of what came before."""

    mesh: Mesh
    work: Work


LISTS: dict[Topology, Topology] = {
    Topology10.LINESTRIP: Topology10.LINELIST,
    Topology10.TRIANGLESTRIP: Topology10.TRIANGLELIST,
    Topology10.LINESTRIP_ADJ: Topology10.LINELIST_ADJ,
    Topology10.TRIANGLESTRIP_ADJ: Topology10.TRIANGLELIST_ADJ,
}
"""What strips are once they are taken apart."""

_BESIDE: dict[Topology, tuple[Topology, tuple[int, ...]]] = {
    Topology10.LINELIST_ADJ: (Topology10.LINELIST, (1, 2)),
    Topology10.TRIANGLELIST_ADJ: (Topology10.TRIANGLELIST, (0, 2, 4)),
}
"""What lists are without adjacent vertices, and which of their corners are left."""


def without_beside(mesh: Mesh) -> Mesh:
    """The mesh without adjacent vertices."""
    if mesh.topology not in _BESIDE:
        return mesh
    topology, rows = _BESIDE[mesh.topology]
    return replace(mesh, topology=topology, corners=mesh.corners[list(rows)])


def three(corners: I64) -> I64:
    """Corners as they are drawn: always three, as in ``assembly``."""
    if len(corners) == 3:
        return corners
    first, last = corners[0], corners[-1]
    return np.stack((first, last, first))


def _points(i: I64, last: Mask) -> tuple[I64, ...]:
    return (i,)


def _list_of(size: int) -> _Whole:
    return lambda i, last: tuple(size * i + n for n in range(size))


def _line_strip(i: I64, last: Mask) -> tuple[I64, ...]:
    return i, i + 1


def _triangle_strip(i: I64, last: Mask) -> tuple[I64, ...]:
    odd = i & 1
    return i, i + 1 + odd, i + 2 - odd


def _line_strip_beside(i: I64, last: Mask) -> tuple[I64, ...]:
    return i, i + 1, i + 2, i + 3


def _triangle_strip_beside(i: I64, last: Mask) -> tuple[I64, ...]:
    """Across an edge that two triangles share lies the other's far corner, across the others the
    vertex that stands between: behind the first triangle, beside each, and ahead of the last.
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


_Whole = Callable[[I64, Mask], tuple[I64, ...]]

_WHOLE: dict[Topology, _Whole] = {
    Topology10.POINTLIST: _points,
    Topology10.LINELIST: _list_of(2),
    Topology10.LINESTRIP: _line_strip,
    Topology10.TRIANGLELIST: _list_of(3),
    Topology10.TRIANGLESTRIP: _triangle_strip,
    Topology10.LINELIST_ADJ: _list_of(4),
    Topology10.LINESTRIP_ADJ: _line_strip_beside,
    Topology10.TRIANGLELIST_ADJ: _list_of(6),
    Topology10.TRIANGLESTRIP_ADJ: _triangle_strip_beside,
    **{patch: _list_of(points) for patch, points in PATCHES.items()},
}


def whole(topology: Topology, numbers: I64, last: Mask) -> I64:
    """Places of all vertices of primitives from the beginning of their strip or list, adjacent
    ones too: int64, shape (k, n).  ``last`` says which primitives are the last of a strip.
    """
    return np.stack(_WHOLE[topology](numbers, last))
