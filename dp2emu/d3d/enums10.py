"""Enumerations that Direct3D 10 and 11 extended or added (d3d10.h, d3d11.h)."""

from __future__ import annotations

from dp2emu.d3d.sdk import Named, SdkEnum


class Topology10(SdkEnum, prefix="D3D10_PRIMITIVE_TOPOLOGY_"):
    """Primitive topologies; lists and strips have their Direct3D 9 numbers.

    Topologies with adjacency also have the vertices of neighbouring primitives, for geometry
    shaders.  d3d11.h names each patch list by its 1 to 32 control points.
    """

    _ignore_ = "points"

    POINTLIST = 1
    LINELIST = 2
    LINESTRIP = 3
    TRIANGLELIST = 4
    TRIANGLESTRIP = 5
    LINELIST_ADJ = 10
    LINESTRIP_ADJ = 11
    TRIANGLELIST_ADJ = 12
    TRIANGLESTRIP_ADJ = 13
    for points in range(1, 33):
        vars()[f"{points}_CONTROL_POINT_PATCHLIST"] = 32 + points


def patch_list(points: int) -> Topology10:
    """The patch-list topology of ``points`` control points, 1 to 32."""
    return Topology10(32 + points)


class Blend10(SdkEnum, prefix="D3D10_BLEND_"):
    """Blend factors, Direct3D 9 numbers, with factors of the second source colour (SRC1)."""

    ZERO = 1
    ONE = 2
    SRC_COLOR = 3
    INV_SRC_COLOR = 4
    SRC_ALPHA = 5
    INV_SRC_ALPHA = 6
    DEST_ALPHA = 7
    INV_DEST_ALPHA = 8
    DEST_COLOR = 9
    INV_DEST_COLOR = 10
    SRC_ALPHA_SAT = 11
    BLEND_FACTOR = 14
    INV_BLEND_FACTOR = 15
    SRC1_COLOR = 16
    INV_SRC1_COLOR = 17
    SRC1_ALPHA = 18
    INV_SRC1_ALPHA = 19


class Domain(Named):
    """Domains of the tessellator: the patch shapes it divides."""

    DOMAIN_ISOLINE = 1
    DOMAIN_TRI = 2
    DOMAIN_QUAD = 3


class Partitioning(Named):
    """Partitioning modes of the tessellator."""

    PARTITIONING_INTEGER = 1
    PARTITIONING_POW2 = 2
    PARTITIONING_FRACTIONAL_ODD = 3
    PARTITIONING_FRACTIONAL_EVEN = 4


class OutputPrimitive(Named):
    """Output primitives of the tessellator."""

    OUTPUT_POINT = 1
    OUTPUT_LINE = 2
    OUTPUT_TRIANGLE_CW = 3
    OUTPUT_TRIANGLE_CCW = 4
