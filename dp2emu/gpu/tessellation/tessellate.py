"""Points and primitives of patches (SM4-5 tokens, "Tessellation")."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.gpu.arrays import F32, I64
from dp2emu.gpu.tessellation.factors import Factors, Rows, factors_of, place
from dp2emu.gpu.tessellation.rings import positions, rings_of, starts_of, unrolled
from dp2emu.gpu.tessellation.seams import triangles


class Counts(NamedTuple):
    """Points and primitives of each patch that is drawn, shape (n,)."""

    points: I64
    primitives: I64


class Tessellation(msgspec.Struct, frozen=True):
    """Points of patches, in 1/65536 of the domain, and what they are corners of.

    ``owner`` is the patch each point is of, by number of those given, ``u`` and ``v`` where it
    is there.  ``corners``, shape (1 to 3, m), are numbers of points, which of a primitive are all
    of one patch; ``patch`` whose it is.  All are int64.
    """

    owner: I64
    u: I64
    v: I64
    corners: I64
    patch: I64


class Tessellator(msgspec.Struct, frozen=True):
    """What a hull shader declares."""

    domain: Domain
    partitioning: Partitioning
    output: OutputPrimitive

    def factors(self, edges: F32, inside: F32) -> Factors:
        """Factors of patches, from shapes (EDGES, n) and (INSIDES, n), clamped and rounded; of
        lines their density comes first, then their detail.
        """
        return factors_of(self.domain, self.partitioning, edges, inside)

    def counts(self, factors: Factors) -> Counts:
        """What the patches come to.

        Triangles of a surface are two for each point inside it and one for each around it, less 2.
        """
        if self.domain is Domain.DOMAIN_ISOLINE:
            return self._lines(factors)
        edges, across = factors.edges.points, factors.inside_points
        around = edges.sum(axis=0) - len(edges)
        across = np.where(factors.least, 2, across)
        if self.domain is Domain.DOMAIN_QUAD:
            inside = (across - 2).prod(axis=0)
        else:
            half, odd = np.divmod(across[0] - 2, 2)
            inside = np.where(odd, 3 * half * (half + 1) + 1, 3 * half * half)
        return Counts(around + inside, self._primitives(around, inside))

    def _lines(self, factors: Factors) -> Counts:
        lines, points = _lines_of(factors), factors.edges.points[1]
        pointed = self.output is OutputPrimitive.OUTPUT_POINT
        return Counts(lines * points, lines * (points if pointed else points - 1))

    def _primitives(self, around: I64, inside: I64) -> I64:
        if self.output is OutputPrimitive.OUTPUT_POINT:
            return around + inside
        if self.output is OutputPrimitive.OUTPUT_LINE:
            return around + inside - 1
        return around + 2 * inside - 2

    def tessellate(self, factors: Factors) -> Tessellation:
        """Points and primitives in the order of the patches.

        Lines of triangles and quads join the points in their order.
        """
        if self.domain is Domain.DOMAIN_ISOLINE:
            owner, u, v = _line_points(factors)
            lines = factors.edges.points[1], _lines_of(factors)
            corners, patch = self._joined(np.repeat(lines[0], lines[1]), owner)
        else:
            rings = rings_of(self.domain, factors)
            u, v = positions(rings)
            owner = np.repeat(rings.patch, rings.points.sum(axis=1))
            if self.output in (OutputPrimitive.OUTPUT_POINT, OutputPrimitive.OUTPUT_LINE):
                corners, patch = self._joined(self.counts(factors).points, owner)
            else:
                corners, patch = triangles(rings)
        if self.output is OutputPrimitive.OUTPUT_TRIANGLE_CCW and len(corners) == 3:
            corners = corners[[0, 2, 1]]
        return Tessellation(factors.patches[owner], u, v, corners, factors.patches[patch])

    def _joined(self, lengths: I64, owner: I64) -> tuple[I64, I64]:
        """Points, or lines that join them in runs of so many, and whose they are."""
        if self.output is OutputPrimitive.OUTPUT_POINT:
            return np.arange(len(owner))[None], owner
        run, place = unrolled(lengths - 1)
        first = starts_of(lengths)[run] + place
        return np.stack((first, first + 1)), owner[first]


def _lines_of(factors: Factors) -> I64:
    """How many lines patches have: none is at v = 1."""
    lines: I64 = factors.edges.points[0] - 1
    return lines


def _line_points(factors: Factors) -> tuple[I64, I64, I64]:
    """Patch, u and v of points, line after line."""
    patch, line = unrolled(_lines_of(factors))
    run, point = unrolled(factors.edges.points[1][patch])
    owner = patch[run]
    density, detail = (Rows(factors.edges.fixed[n], factors.edges.odd[n]) for n in range(2))
    return owner, place(detail[owner], point), place(density[owner], line[run])
