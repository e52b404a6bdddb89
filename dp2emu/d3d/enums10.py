"""Enumerations that Direct3D 10 and 11 extended or added (d3d10.h, d3d11.h, d3d10umddi.h)."""

from __future__ import annotations

from dp2emu.d3d.sdk import Named, SdkEnum

_PATCHES = {
    name: f"D3D11_PRIMITIVE_TOPOLOGY_{name}"
    for name in (f"{points}_CONTROL_POINT_PATCHLIST" for points in range(1, 33))
}
"""Names of the patch lists, which Direct3D 11 added, by member of ``Topology10``."""


class Topology10(SdkEnum, prefix="D3D10_PRIMITIVE_TOPOLOGY_", irregular=_PATCHES):
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


class BlendOp10(SdkEnum, prefix="D3D10_BLEND_OP_"):
    """Blend operations, Direct3D 9 numbers."""

    ADD = 1
    SUBTRACT = 2
    REV_SUBTRACT = 3
    MIN = 4
    MAX = 5


class Comparison10(SdkEnum, prefix="D3D10_COMPARISON_"):
    """Comparison functions, Direct3D 9 numbers."""

    NEVER = 1
    LESS = 2
    EQUAL = 3
    LESS_EQUAL = 4
    GREATER = 5
    NOT_EQUAL = 6
    GREATER_EQUAL = 7
    ALWAYS = 8


class StencilOp10(SdkEnum, prefix="D3D10_STENCIL_OP_"):
    """Stencil operations, Direct3D 9 numbers."""

    KEEP = 1
    ZERO = 2
    REPLACE = 3
    INCR_SAT = 4
    DECR_SAT = 5
    INVERT = 6
    INCR = 7
    DECR = 8


class FillMode10(SdkEnum, prefix="D3D10_FILL_"):
    """Fill modes, Direct3D 9 numbers; points cannot be filled."""

    WIREFRAME = 2
    SOLID = 3


class Filter10(SdkEnum, prefix="D3D10_FILTER_"):
    """Filters of samplers: bits for linear mip, magnification and minification filters (0x01,
    0x04, 0x10), for an anisotropic one (0x40), and for comparison (0x80).
    """

    MIN_MAG_MIP_POINT = 0x00
    MIN_MAG_POINT_MIP_LINEAR = 0x01
    MIN_POINT_MAG_LINEAR_MIP_POINT = 0x04
    MIN_POINT_MAG_MIP_LINEAR = 0x05
    MIN_LINEAR_MAG_MIP_POINT = 0x10
    MIN_LINEAR_MAG_POINT_MIP_LINEAR = 0x11
    MIN_MAG_LINEAR_MIP_POINT = 0x14
    MIN_MAG_MIP_LINEAR = 0x15
    ANISOTROPIC = 0x55
    COMPARISON_MIN_MAG_MIP_POINT = 0x80
    COMPARISON_MIN_MAG_POINT_MIP_LINEAR = 0x81
    COMPARISON_MIN_POINT_MAG_LINEAR_MIP_POINT = 0x84
    COMPARISON_MIN_POINT_MAG_MIP_LINEAR = 0x85
    COMPARISON_MIN_LINEAR_MAG_MIP_POINT = 0x90
    COMPARISON_MIN_LINEAR_MAG_POINT_MIP_LINEAR = 0x91
    COMPARISON_MIN_MAG_LINEAR_MIP_POINT = 0x94
    COMPARISON_MIN_MAG_MIP_LINEAR = 0x95
    COMPARISON_ANISOTROPIC = 0xD5
    TEXT_1BIT = 0x80000000


_QUERIES_11 = {
    "D3D11_PIPELINESTATS": "D3D11DDI_QUERY_PIPELINESTATS",
    **{
        f"{what}_STREAM{stream}": f"D3D11DDI_QUERY_{what}_STREAM{stream}"
        for what in ("STREAMOUTPUTSTATS", "STREAMOVERFLOWPREDICATE")
        for stream in range(4)
    },
}
"""Names of query types that Direct3D 11 added, by member of ``Query``."""


class Query(SdkEnum, prefix="D3D10DDI_QUERY_", irregular=_QUERIES_11):
    """D3D10DDI_QUERY, with the values that D3D11DDI adds."""

    EVENT = 0
    OCCLUSION = 1
    TIMESTAMP = 2
    TIMESTAMPDISJOINT = 3
    PIPELINESTATS = 4
    OCCLUSIONPREDICATE = 5
    STREAMOUTPUTSTATS = 6
    STREAMOVERFLOWPREDICATE = 7
    D3D11_PIPELINESTATS = 8
    STREAMOUTPUTSTATS_STREAM0 = 9
    STREAMOUTPUTSTATS_STREAM1 = 10
    STREAMOUTPUTSTATS_STREAM2 = 11
    STREAMOUTPUTSTATS_STREAM3 = 12
    STREAMOVERFLOWPREDICATE_STREAM0 = 13
    STREAMOVERFLOWPREDICATE_STREAM1 = 14
    STREAMOVERFLOWPREDICATE_STREAM2 = 15
    STREAMOVERFLOWPREDICATE_STREAM3 = 16


class Counter(SdkEnum, prefix="D3D10DDI_COUNTER_"):
    """D3D10DDI_COUNTER values of D3D10DDI_QUERY, and this device's own from 0x40000000 on."""

    GPU_IDLE = 0x1000
    VERTEX_PROCESSING = 0x1001
    GEOMETRY_PROCESSING = 0x1002
    PIXEL_PROCESSING = 0x1003
    OTHER_GPU_PROCESSING = 0x1004
    HOST_ADAPTER_BANDWIDTH_UTILIZATION = 0x1005
    LOCAL_VIDMEM_BANDWIDTH_UTILIZATION = 0x1006
    VERTEX_THROUGHPUT_UTILIZATION = 0x1007
    TRISETUP_THROUGHPUT_UTILIZATION = 0x1008
    FILLRATE_THROUGHPUT_UTILIZATION = 0x1009
    VERTEXSHADER_MEMORY_LIMITED = 0x100A
    VERTEXSHADER_COMPUTATION_LIMITED = 0x100B
    GEOMETRYSHADER_MEMORY_LIMITED = 0x100C
    GEOMETRYSHADER_COMPUTATION_LIMITED = 0x100D
    PIXELSHADER_MEMORY_LIMITED = 0x100E
    PIXELSHADER_COMPUTATION_LIMITED = 0x100F
    POST_TRANSFORM_CACHE_HIT_RATE = 0x1010
    TEXTURE_CACHE_HIT_RATE = 0x1011
    UPLOADED_BYTES = 0x40000000
    CLOCK_DISTURBANCES = 0x40000001
    WAITING_FOR_QUEUE = 0x40000002


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
