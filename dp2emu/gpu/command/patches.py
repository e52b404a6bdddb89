"""Patches of Direct3D 8 and 9: control points, tessellation levels, patches cached by handle."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from dp2emu.d3d.enums import Basis
from dp2emu.d3d.vertices import Element
from dp2emu.gpu.arrays import F64, I64
from dp2emu.gpu.tessellation import splines
from dp2emu.gpu.tessellation.patch_domains import Domain, rectangle, triangle


class RectanglePoints(msgspec.Struct, frozen=True):
    """Control points of a rectangle: rows of ``width`` from vertex ``first`` on, ``stride``
    vertices apart.
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
        """Control points at the corners, or nearest to them if none lies on the surface, in the
        order of the edges (Direct3D 9 documentation, Tessellation).
        """
        inset = 0 if self.basis is Basis.BEZIER else (self.degree - 1) // 2
        left, right = inset, self.width - 1 - inset
        top, bottom = inset * self.width, (self.height - 1 - inset) * self.width
        return top + left, top + right, bottom + right, bottom + left

    def domain(self, segments: tuple[float, ...], *, continuous: bool) -> Domain:
        """The domain points of the tessellated vertices; ``segments`` are the numbers of segments
        of the four edges.
        """
        first, second, third, fourth = segments
        return rectangle((first, second, third, fourth), continuous=continuous)

    def weights(self, domain: Domain) -> splines.Weights:
        """The weight of each control point at each point of ``domain``."""
        size = self.width, self.height
        return splines.rectangle_weights(self.basis, self.degree, *size, domain.u, domain.v)


class TrianglePoints(msgspec.Struct, frozen=True):
    """Control points of a Bezier triangle from vertex ``first``, in rows of 1, 2, 3 and so on."""

    first: int
    degree: int

    @property
    def count(self) -> int:
        """The number of control points."""
        return splines.triangle_points(self.degree)

    def numbers(self) -> I64:
        """Vertex numbers of the control points."""
        return self.first + np.arange(self.count, dtype=np.int64)

    @property
    def corners(self) -> tuple[int, int, int]:
        """The corner control points in the order of the edges: first, last, first of last row."""
        return 0, self.count - 1, self.count - 1 - self.degree

    def domain(self, segments: tuple[float, ...], *, continuous: bool) -> Domain:
        """The domain points of the tessellated vertices; ``segments`` are the numbers of segments
        of the three edges.
        """
        first, second, third = segments
        return triangle((first, second, third), continuous=continuous)

    def weights(self, domain: Domain) -> splines.Weights:
        """The weight of each control point at each point of ``domain``."""
        return splines.triangle_weights(self.degree, domain.u, domain.v)


ControlPoints = RectanglePoints | TrianglePoints


class Adaptive(msgspec.Struct, frozen=True):
    """D3DRS_ENABLEADAPTIVETESSELLATION: levels depend on depth, the product of ``plane`` with (x,
    y, z, 1), and are clamped to ``least`` and ``most``.
    """

    plane: tuple[float, float, float, float]
    least: float
    most: float


class Fineness(msgspec.Struct, frozen=True):
    """Tessellation levels: segments of the edges in order, or one number for all."""

    segments: tuple[float, ...]
    continuous: bool = False
    adaptive: Adaptive | None = None


class KeptPatch(msgspec.Struct, eq=False):
    """Control points of a patch with a handle, stored for later draws: by vertex element, float64
    of shape (4, n).

    Mutable: the draw whose streams have the control points fills it when it executes.
    """

    control: Mapping[Element, F64] = msgspec.field(default_factory=dict)


class Patch(msgspec.Struct, frozen=True, eq=False):
    """A rectangle or triangle patch to tessellate.

    If ``brought``, control points come from the draw's streams, and are stored in ``kept`` unless
    that is None; otherwise they are read from ``kept``.
    """

    points: ControlPoints
    fineness: Fineness
    kept: KeptPatch | None = None
    brought: bool = True


class NPatch(msgspec.Struct, frozen=True):
    """N-patches: each triangle of the draw is curved by its normals.  Positions are ``cubic`` or
    linear, normals ``quadratic`` or linear.
    """

    fineness: Fineness
    cubic: bool = True
    quadratic: bool = False
