"""What numbers in tokens mean, and how text spells it (SM4-5 tokens, "Enumerations" and "System
values").
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from dp2emu.d3d.sdk import Named


class ReturnType(Named):
    """What a component of a resource holds."""

    UNORM = 1
    SNORM = 2
    SINT = 3
    UINT = 4
    FLOAT = 5
    MIXED = 6
    DOUBLE = 7
    CONTINUED = 8
    UNUSED = 9


class Interpolation(Named):
    """How a pixel shader's input is made of its vertices."""

    UNDEFINED = 0
    CONSTANT = 1
    LINEAR = 2
    LINEAR_CENTROID = 3
    LINEAR_NOPERSPECTIVE = 4
    LINEAR_NOPERSPECTIVE_CENTROID = 5
    LINEAR_SAMPLE = 6
    LINEAR_NOPERSPECTIVE_SAMPLE = 7

    @property
    def text(self) -> str:
        """The words of assembly text."""
        return self.name.lower().replace("_", " ")


class SystemValue(Named):
    """Names of values in declarations of a program; containers number them otherwise from 11."""

    UNDEFINED = 0
    POSITION = 1
    CLIP_DISTANCE = 2
    CULL_DISTANCE = 3
    RENDERTARGET_ARRAY_INDEX = 4
    VIEWPORT_ARRAY_INDEX = 5
    VERTEX_ID = 6
    PRIMITIVE_ID = 7
    INSTANCE_ID = 8
    IS_FRONT_FACE = 9
    SAMPLE_INDEX = 10
    QUAD_U0_EDGE = 11
    QUAD_V0_EDGE = 12
    QUAD_U1_EDGE = 13
    QUAD_V1_EDGE = 14
    QUAD_U_INSIDE = 15
    QUAD_V_INSIDE = 16
    TRI_U0_EDGE = 17
    TRI_V0_EDGE = 18
    TRI_W0_EDGE = 19
    TRI_INSIDE = 20
    LINE_DETAIL = 21
    LINE_DENSITY = 22

    @property
    def text(self) -> str:
        """The word of assembly text."""
        return _SYSTEM_VALUES.get(self.value, self.name.lower())


class SignatureName(Named):
    """D3D_NAME: what signatures in containers call the same values, and some more."""

    UNDEFINED = 0
    POSITION = 1
    CLIP_DISTANCE = 2
    CULL_DISTANCE = 3
    RENDER_TARGET_ARRAY_INDEX = 4
    VIEWPORT_ARRAY_INDEX = 5
    VERTEX_ID = 6
    PRIMITIVE_ID = 7
    INSTANCE_ID = 8
    IS_FRONT_FACE = 9
    SAMPLE_INDEX = 10
    FINAL_QUAD_EDGE_TESSFACTOR = 11
    FINAL_QUAD_INSIDE_TESSFACTOR = 12
    FINAL_TRI_EDGE_TESSFACTOR = 13
    FINAL_TRI_INSIDE_TESSFACTOR = 14
    FINAL_LINE_DETAIL_TESSFACTOR = 15
    FINAL_LINE_DENSITY_TESSFACTOR = 16
    TARGET = 64
    DEPTH = 65
    COVERAGE = 66
    DEPTH_GREATER_EQUAL = 67
    DEPTH_LESS_EQUAL = 68
    STENCIL_REF = 69
    INNER_COVERAGE = 70


_SYSTEM_VALUES = {
    10: "sampleIndex",
    11: "finalQuadUeq0EdgeTessFactor",
    12: "finalQuadVeq0EdgeTessFactor",
    13: "finalQuadUeq1EdgeTessFactor",
    14: "finalQuadVeq1EdgeTessFactor",
    15: "finalQuadUInsideTessFactor",
    16: "finalQuadVInsideTessFactor",
    17: "finalTriUeq0EdgeTessFactor",
    18: "finalTriVeq0EdgeTessFactor",
    19: "finalTriWeq0EdgeTessFactor",
    20: "finalTriInsideTessFactor",
    21: "finalLineDetailTessFactor",
    22: "finalLineDensityTessFactor",
}


class Access(Named):
    """How a constant buffer is indexed."""

    IMMEDIATE_INDEXED = 0
    DYNAMIC_INDEXED = 1

    @property
    def text(self) -> str:
        """The word of assembly text."""
        return ("immediateIndexed", "dynamicIndexed")[self.value]


class SamplerMode(Named):
    """What a sampler is used for."""

    MODE_DEFAULT = 0
    MODE_COMPARISON = 1
    MODE_MONO = 2


class Topology(Named):
    """What a geometry shader puts out."""

    POINTLIST = 1
    LINESTRIP = 3
    TRIANGLESTRIP = 5


class Primitive(Named):
    """What a geometry shader takes in; patches are 7 more than their control points."""

    POINT = 1
    LINE = 2
    TRIANGLE = 3
    LINEADJ = 6
    TRIANGLEADJ = 7
    PATCH1 = 8
    PATCH2 = 9
    PATCH3 = 10
    PATCH4 = 11
    PATCH5 = 12
    PATCH6 = 13
    PATCH7 = 14
    PATCH8 = 15
    PATCH9 = 16
    PATCH10 = 17
    PATCH11 = 18
    PATCH12 = 19
    PATCH13 = 20
    PATCH14 = 21
    PATCH15 = 22
    PATCH16 = 23
    PATCH17 = 24
    PATCH18 = 25
    PATCH19 = 26
    PATCH20 = 27
    PATCH21 = 28
    PATCH22 = 29
    PATCH23 = 30
    PATCH24 = 31
    PATCH25 = 32
    PATCH26 = 33
    PATCH27 = 34
    PATCH28 = 35
    PATCH29 = 36
    PATCH30 = 37
    PATCH31 = 38
    PATCH32 = 39


class Precision(Named):
    """The least precision of an operand.  All are computed with 32 bits."""

    DEFAULT = 0
    MIN16F = 1
    MIN2_8F = 2
    MIN16I = 4
    MIN16U = 5


class Sizes(Named):
    """The type that resinfo and sampleinfo answer in."""

    FLOAT = 0
    RCPFLOAT = 1
    UINT = 2


class GlobalFlags(IntFlag):
    """What holds for a whole program (SM4-5 tokens, "Global flags")."""

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
    """What a declaration says of an unordered access view."""

    GLOBALLY_COHERENT = 1 << 0
    RASTERIZER_ORDERED = 1 << 1
    COUNTER = 1 << 7


class Sync(IntFlag):
    """What sync waits for."""

    THREADS = 1
    GROUP_MEMORY = 2
    UAV_GROUP = 4
    UAV_GLOBAL = 8


class CustomClass(IntEnum):
    """What custom data are.  All but the immediate constant buffer mean nothing to the GPU."""

    COMMENT = 0
    DEBUG_INFO = 1
    OPAQUE = 2
    IMMEDIATE_CONSTANT_BUFFER = 3
    SHADER_MESSAGE = 4
    CLIP_PLANE_MAPPINGS = 5
