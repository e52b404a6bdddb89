"""Enumerations that Direct3D 10 and 11 extended or added (d3d10.h, d3d11.h)."""

from __future__ import annotations

from dp2emu.d3d.sdk import Named, SdkEnum


class Topology10(SdkEnum, prefix="D3D10_PRIMITIVE_TOPOLOGY_"):
    """Primitive topologies; lists and strips have their Direct3D 9 numbers.

    Topologies with adjacency also have the vertices of neighbouring primitives, for geometry
    shaders.  d3d11.h names each patch list by its 1 to 32 control points.
    """

    _ignore_ = "points"

    POINTLIST, LINELIST, LINESTRIP, TRIANGLELIST, TRIANGLESTRIP = range(1, 6)
    LINELIST_ADJ, LINESTRIP_ADJ, TRIANGLELIST_ADJ, TRIANGLESTRIP_ADJ = 10, 11, 12, 13
    for points in range(1, 33):
        vars()[f"{points}_CONTROL_POINT_PATCHLIST"] = 32 + points


def patch_list(points: int) -> Topology10:
    """The patch-list topology of ``points`` control points, 1 to 32."""
    return Topology10(32 + points)


class Blend10(SdkEnum, prefix="D3D10_BLEND_"):
    """Blend factors, Direct3D 9 numbers, with factors of the second source colour (SRC1)."""

    ZERO, ONE, SRC_COLOR, INV_SRC_COLOR, SRC_ALPHA, INV_SRC_ALPHA, DEST_ALPHA = range(1, 8)
    INV_DEST_ALPHA, DEST_COLOR, INV_DEST_COLOR, SRC_ALPHA_SAT = 8, 9, 10, 11
    BLEND_FACTOR, INV_BLEND_FACTOR, SRC1_COLOR, INV_SRC1_COLOR, SRC1_ALPHA = range(14, 19)
    INV_SRC1_ALPHA = 19


class Domain(Named):
    """Domains of the tessellator: the patch shapes it divides."""

    DOMAIN_ISOLINE, DOMAIN_TRI, DOMAIN_QUAD = 1, 2, 3


class Partitioning(Named):
    """Partitioning modes of the tessellator."""

    PARTITIONING_INTEGER, PARTITIONING_POW2, PARTITIONING_FRACTIONAL_ODD = 1, 2, 3
    PARTITIONING_FRACTIONAL_EVEN = 4


class OutputPrimitive(Named):
    """Output primitives of the tessellator."""

    OUTPUT_POINT, OUTPUT_LINE, OUTPUT_TRIANGLE_CW, OUTPUT_TRIANGLE_CCW = 1, 2, 3, 4
