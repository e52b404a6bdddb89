"""Patches of Direct3D 8 and 9: control points, tessellation levels, patches kept by handle."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from dp2emu.d3d.enums import Basis
from dp2emu.d3d.vertices import Element
from dp2emu.gpu.arrays import F64, I64
from dp2emu.gpu.tessellation.patch_domains import Domain, rectangle, triangle
from dp2emu.gpu.tessellation.splines import (
    Weights,
    rectangle_weights,
    triangle_points,
    triangle_weights,
)


class RectanglePoints(msgspec.Struct, frozen=True):
    """Control points of a rectangle: rows of ``width`` from vertex ``first``, each ``stride``
    vertices behind the one before.
    """

    first: int
    width: int
    height: int
    stride: int
    basis: Basis
    degree: int

    @property
    def count(self) -> int:
        """The number of control points."""
        return self.width * self.height

    def numbers(self) -> I64:
        """Vertex numbers of the control points, row by row."""
        rows = self.first + self.stride * np.arange(self.height, dtype=np.int64)[:, None]
        return (rows + np.arange(self.width)).ravel()

    @property
    def corners(self) -> tuple[int, int, int, int]:
        """Control points at or, where none lies on the surface, nearest to the corners.

        From the first they follow the edges (Direct3D 9 documentation, Tessellation).
        """
        inset = 0 if self.basis is Basis.BEZIER else (self.degree - 1) // 2
        left, right = inset, self.width - 1 - inset
        top, bottom = inset * self.width, (self.height - 1 - inset) * self.width
        return top + left, top + right, bottom + right, bottom + left

    def domain(self, segments: tuple[float, ...], *, continuous: bool) -> Domain:
        """Where vertices are, for segments of each edge."""
        first, second, third, fourth = segments
        return rectangle((first, second, third, fourth), continuous=continuous)

    def weights(self, domain: Domain) -> Weights:
        """How control points count at the vertices."""
        size = self.width, self.height
        return rectangle_weights(self.basis, self.degree, *size, domain.u, domain.v)


class TrianglePoints(msgspec.Struct, frozen=True):
    """Control points of a Bezier triangle from vertex ``first``, in rows of 1, 2, 3 and so on."""

    first: int
    degree: int

    @property
    def count(self) -> int:
        """The number of control points."""
        return triangle_points(self.degree)

    def numbers(self) -> I64:
        """Vertex numbers of the control points."""
        return self.first + np.arange(self.count, dtype=np.int64)

    @property
    def corners(self) -> tuple[int, int, int]:
        """The corners in the order of the edges: first, last, and first of the last row."""
        return 0, self.count - 1, self.count - 1 - self.degree

    def domain(self, segments: tuple[float, ...], *, continuous: bool) -> Domain:
        """Where vertices are, for segments of each edge."""
        first, second, third = segments
        return triangle((first, second, third), continuous=continuous)

    def weights(self, domain: Domain) -> Weights:
        """How control points count at the vertices."""
        return triangle_weights(self.degree, domain.u, domain.v)


ControlPoints = RectanglePoints | TrianglePoints


class Adaptive(msgspec.Struct, frozen=True):
    """D3DRS_ENABLEADAPTIVETESSELLATION: depths are ``plane`` times x, y, z and 1; levels lie
    between ``least`` and ``most``.
    """

    plane: tuple[float, float, float, float]
    least: float
    most: float


class Fineness(msgspec.Struct, frozen=True):
    """Segments of the edges in order, or of all if there is one number."""

    segments: tuple[float, ...]
    continuous: bool = False
    adaptive: Adaptive | None = None


class KeptPatch(msgspec.Struct, eq=False):
    """Control points of a patch with a handle, by element, float64 of shape (4, n).

    Mutable: the draw that brings them fills it when the GPU gets there.
    """

    control: Mapping[Element, F64] = msgspec.field(default_factory=dict)


class Patch(msgspec.Struct, frozen=True, eq=False):
    """A rectangle or triangle patch.

    Without ``kept`` the control points come from the draw's streams.  With it, they come from the
    streams and are stored in ``kept`` if ``brought`` is set, and are read from it otherwise.
    """

    points: ControlPoints
    fineness: Fineness
    kept: KeptPatch | None = None
    brought: bool = True


class NPatch(msgspec.Struct, frozen=True):
    """Each triangle of the draw is a curved point-normal triangle.

    Positions are ``cubic`` or stay in its plane; normals are ``quadratic`` or linear.
    """

    fineness: Fineness
    cubic: bool = True
    quadratic: bool = False
