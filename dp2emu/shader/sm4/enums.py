"""Enumerations of token fields, with their spelling in text (SM4-5 tokens, "Enumerations" and
"System values").
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from dp2emu.d3d.sdk import Named


class ReturnType(Named):
    """Data type of a resource's component."""

    UNORM, SNORM, SINT, UINT, FLOAT, MIXED, DOUBLE, CONTINUED, UNUSED = range(1, 10)


class Interpolation(Named):
    """Interpolation mode of a pixel shader's input."""

    UNDEFINED = 0
    CONSTANT = 1
    LINEAR = 2
    LINEAR_CENTROID = 3, "linear centroid"
    LINEAR_NOPERSPECTIVE = 4, "linear noperspective"
    LINEAR_NOPERSPECTIVE_CENTROID = 5, "linear noperspective centroid"
    LINEAR_SAMPLE = 6, "linear sample"
    LINEAR_NOPERSPECTIVE_SAMPLE = 7, "linear noperspective sample"


class SystemValue(Named):
    """System values in declarations; from 11 on signatures in containers use other numbers."""

    UNDEFINED, POSITION, CLIP_DISTANCE, CULL_DISTANCE, RENDERTARGET_ARRAY_INDEX = range(5)
    VIEWPORT_ARRAY_INDEX, VERTEX_ID, PRIMITIVE_ID, INSTANCE_ID, IS_FRONT_FACE = range(5, 10)
    SAMPLE_INDEX = 10, "sampleIndex"
    QUAD_U0_EDGE = 11, "finalQuadUeq0EdgeTessFactor"
    QUAD_V0_EDGE = 12, "finalQuadVeq0EdgeTessFactor"
    QUAD_U1_EDGE = 13, "finalQuadUeq1EdgeTessFactor"
    QUAD_V1_EDGE = 14, "finalQuadVeq1EdgeTessFactor"
    QUAD_U_INSIDE = 15, "finalQuadUInsideTessFactor"
    QUAD_V_INSIDE = 16, "finalQuadVInsideTessFactor"
    TRI_U0_EDGE = 17, "finalTriUeq0EdgeTessFactor"
    TRI_V0_EDGE = 18, "finalTriVeq0EdgeTessFactor"
    TRI_W0_EDGE = 19, "finalTriWeq0EdgeTessFactor"
    TRI_INSIDE = 20, "finalTriInsideTessFactor"
    LINE_DETAIL = 21, "finalLineDetailTessFactor"
    LINE_DENSITY = 22, "finalLineDensityTessFactor"


class SignatureName(Named):
    """D3D_NAME: system values in signatures of containers."""

    UNDEFINED, POSITION, CLIP_DISTANCE, CULL_DISTANCE, RENDER_TARGET_ARRAY_INDEX = range(5)
    VIEWPORT_ARRAY_INDEX, VERTEX_ID, PRIMITIVE_ID, INSTANCE_ID, IS_FRONT_FACE = range(5, 10)
    SAMPLE_INDEX = 10
    FINAL_QUAD_EDGE_TESSFACTOR, FINAL_QUAD_INSIDE_TESSFACTOR = range(11, 13)
    FINAL_TRI_EDGE_TESSFACTOR, FINAL_TRI_INSIDE_TESSFACTOR = range(13, 15)
    FINAL_LINE_DETAIL_TESSFACTOR, FINAL_LINE_DENSITY_TESSFACTOR = range(15, 17)
    TARGET, DEPTH, COVERAGE, DEPTH_GREATER_EQUAL, DEPTH_LESS_EQUAL, STENCIL_REF = range(64, 70)
    INNER_COVERAGE = 70


class Access(Named):
    """Access pattern of a constant buffer."""

    IMMEDIATE_INDEXED = 0, "immediateIndexed"
    DYNAMIC_INDEXED = 1, "dynamicIndexed"


class SamplerMode(Named):
    """Declared use of a sampler."""

    MODE_DEFAULT = 0
    MODE_COMPARISON = 1
    MODE_MONO = 2


class Topology(Named):
    """Output topology of a geometry shader."""

    POINTLIST = 1
    LINESTRIP = 3
    TRIANGLESTRIP = 5


class Primitive(Named):
    """Input primitive of a geometry shader; a patch has 7 plus its number of control points."""

    POINT = 1
    LINE = 2
    TRIANGLE = 3
    LINEADJ = 6
    TRIANGLEADJ = 7
    PATCH1, PATCH2, PATCH3, PATCH4, PATCH5, PATCH6, PATCH7, PATCH8 = range(8, 16)
    PATCH9, PATCH10, PATCH11, PATCH12, PATCH13, PATCH14, PATCH15, PATCH16 = range(16, 24)
    PATCH17, PATCH18, PATCH19, PATCH20, PATCH21, PATCH22, PATCH23, PATCH24 = range(24, 32)
    PATCH25, PATCH26, PATCH27, PATCH28, PATCH29, PATCH30, PATCH31, PATCH32 = range(32, 40)


class Precision(Named):
    """Minimum precision of an operand; all arithmetic here uses 32 bits."""

    DEFAULT = 0
    MIN16F = 1
    MIN2_8F = 2
    MIN16I = 4
    MIN16U = 5


class Sizes(Named):
    """Result type of resinfo and sampleinfo."""

    FLOAT = 0
    RCPFLOAT = 1
    UINT = 2


class GlobalFlags(IntFlag):
    """Flags of dcl_globalFlags (SM4-5 tokens, "Global flags")."""

    REFACTORING_ALLOWED = 1 << 0
    DOUBLE_PRECISION = 1 << 1
    FORCE_EARLY_DEPTH_STENCIL = 1 << 2
    RAW_AND_STRUCTURED_BUFFERS = 1 << 3
    SKIP_OPTIMIZATION = 1 << 4
    MINIMUM_PRECISION = 1 << 5
    DOUBLE_EXTENSIONS = 1 << 6
    SHADER_EXTENSIONS = 1 << 7
    ALL_RESOURCES_BOUND = 1 << 8


class UavFlags(IntFlag):
    """Flags in the declaration of an unordered access view."""

    GLOBALLY_COHERENT = 1 << 0
    RASTERIZER_ORDERED = 1 << 1
    COUNTER = 1 << 7


class Sync(IntFlag):
    """Scopes that a sync instruction waits for."""

    THREADS = 1
    GROUP_MEMORY = 2
    UAV_GROUP = 4
    UAV_GLOBAL = 8


class CustomClass(IntEnum):
    """Kinds of custom data; the GPU uses the immediate constant buffer only."""

    COMMENT = 0
    DEBUG_INFO = 1
    OPAQUE = 2
    IMMEDIATE_CONSTANT_BUFFER = 3
    SHADER_MESSAGE = 4
    CLIP_PLANE_MAPPINGS = 5
