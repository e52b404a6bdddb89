"""Enumerations of DirectX 6 to 8, as differences from DirectX 9 (d3dtypes.h, d3d8types.h).

``class A(SdkEnum, later=X, last=Y)`` copies the members of X with values up to Y into A.
"""

from __future__ import annotations

from dp2emu.d3d.enums import (
    DeclType,
    Format,
    PrimitiveType,
    RenderState,
    StateBlockType,
    TextureFilter,
    TextureOp,
    TextureStageState,
    TransformState,
)
from dp2emu.d3d.sdk import SdkEnum


class RenderState7(
    SdkEnum, prefix="D3DRENDERSTATE_", later=RenderState, last=RenderState.CLIPPLANEENABLE
):
    """Render states of DirectX 6 and 7."""

    TEXTUREHANDLE = 1
    ANTIALIAS = 2
    TEXTUREADDRESS = 3
    TEXTUREPERSPECTIVE = 4
    WRAPU = 5
    WRAPV = 6
    LINEPATTERN = 10
    MONOENABLE = 11
    ROP2 = 12
    PLANEMASK = 13
    TEXTUREMAG = 17
    TEXTUREMIN = 18
    TEXTUREMAPBLEND = 21
    ZVISIBLE = 30
    SUBPIXEL = 31
    SUBPIXELX = 32
    STIPPLEDALPHA = 33
    FOGTABLESTART = 36
    FOGTABLEEND = 37
    FOGTABLEDENSITY = 38
    STIPPLEENABLE = 39
    EDGEANTIALIAS = 40
    COLORKEYENABLE = 41
    BORDERCOLOR = 43
    TEXTUREADDRESSU = 44
    TEXTUREADDRESSV = 45
    MIPMAPLODBIAS = 46
    ZBIAS = 47
    ANISOTROPY = 49
    FLUSHBATCH = 50
    TRANSLUCENTSORTINDEPENDENT = 51
    STIPPLEPATTERN00 = 64
    STIPPLEPATTERN01 = 65
    STIPPLEPATTERN02 = 66
    STIPPLEPATTERN03 = 67
    STIPPLEPATTERN04 = 68
    STIPPLEPATTERN05 = 69
    STIPPLEPATTERN06 = 70
    STIPPLEPATTERN07 = 71
    STIPPLEPATTERN08 = 72
    STIPPLEPATTERN09 = 73
    STIPPLEPATTERN10 = 74
    STIPPLEPATTERN11 = 75
    STIPPLEPATTERN12 = 76
    STIPPLEPATTERN13 = 77
    STIPPLEPATTERN14 = 78
    STIPPLEPATTERN15 = 79
    STIPPLEPATTERN16 = 80
    STIPPLEPATTERN17 = 81
    STIPPLEPATTERN18 = 82
    STIPPLEPATTERN19 = 83
    STIPPLEPATTERN20 = 84
    STIPPLEPATTERN21 = 85
    STIPPLEPATTERN22 = 86
    STIPPLEPATTERN23 = 87
    STIPPLEPATTERN24 = 88
    STIPPLEPATTERN25 = 89
    STIPPLEPATTERN26 = 90
    STIPPLEPATTERN27 = 91
    STIPPLEPATTERN28 = 92
    STIPPLEPATTERN29 = 93
    STIPPLEPATTERN30 = 94
    STIPPLEPATTERN31 = 95
    EXTENTS = 138
    COLORKEYBLENDENABLE = 144


class RenderState8(SdkEnum, prefix="D3DRS_", later=RenderState, last=RenderState.BLENDOP):
    """Render states of DirectX 8."""

    LINEPATTERN = 10
    ZVISIBLE = 30
    EDGEANTIALIAS = 40
    ZBIAS = 47
    SOFTWAREVERTEXPROCESSING = 153
    PATCHSEGMENTS = 164
    POSITIONORDER = 172
    NORMALORDER = 173


class TextureStageState7(
    SdkEnum,
    prefix="D3DTSS_",
    later=TextureStageState,
    last=TextureStageState.TEXTURETRANSFORMFLAGS,
):
    """Texture stage states of DirectX 6 and 7, samplers included."""

    ADDRESS = 12
    ADDRESSU = 13
    ADDRESSV = 14
    BORDERCOLOR = 15
    MAGFILTER = 16
    MINFILTER = 17
    MIPFILTER = 18
    MIPMAPLODBIAS = 19
    MAXMIPLEVEL = 20
    MAXANISOTROPY = 21


class TextureStageState8(
    SdkEnum, prefix="D3DTSS_", later=TextureStageState, last=TextureStageState.RESULTARG
):
    """Texture stage states of DirectX 8, samplers included."""

    ADDRESSU = 13
    ADDRESSV = 14
    BORDERCOLOR = 15
    MAGFILTER = 16
    MINFILTER = 17
    MIPFILTER = 18
    MIPMAPLODBIAS = 19
    MAXMIPLEVEL = 20
    MAXANISOTROPY = 21
    ADDRESSW = 25


class TransformState7(
    SdkEnum, prefix="D3DTRANSFORMSTATE_", later=TransformState, last=TransformState.TEXTURE7
):
    """Transform types of DirectX 6 and 7."""

    WORLD = 1
    WORLD1 = 4
    WORLD2 = 5
    WORLD3 = 6


class TextureOp7(SdkEnum, prefix="D3DTOP_", later=TextureOp, last=TextureOp.DOTPRODUCT3):
    """Texture operations of DirectX 6 and 7."""


PrimitiveType7 = PrimitiveType
"""Primitive topologies of DirectX 6 and 7."""


StateBlockType7 = StateBlockType
"""Types of state blocks of DirectX 7."""


class Opcode(SdkEnum, prefix="D3DOP_"):
    """Execute-buffer opcodes from before DirectX 6."""

    POINT = 1
    LINE = 2
    TRIANGLE = 3
    MATRIXLOAD = 4
    MATRIXMULTIPLY = 5
    STATETRANSFORM = 6
    STATELIGHT = 7
    STATERENDER = 8
    PROCESSVERTICES = 9
    TEXTURELOAD = 10
    EXIT = 11
    BRANCHFORWARD = 12
    SPAN = 13
    SETSTATUS = 14


class TextureBlend7(SdkEnum, prefix="D3DTBLEND_"):
    """Blend modes of texture and vertex colour, from before texture stages."""

    DECAL = 1
    MODULATE = 2
    DECALALPHA = 3
    MODULATEALPHA = 4
    DECALMASK = 5
    MODULATEMASK = 6
    COPY = 7
    ADD = 8


class TextureFilter7(SdkEnum, prefix="D3DFILTER_"):
    """Filters from before texture stages: names end in the filter within a mip level;
    LINEARMIP filters linearly between levels.
    """

    NEAREST = 1
    LINEAR = 2
    MIPNEAREST = 3
    MIPLINEAR = 4
    LINEARMIPNEAREST = 5
    LINEARMIPLINEAR = 6


class MagFilter7(SdkEnum, prefix="D3DTFG_"):
    """Magnification filters of DirectX 6 and 7."""

    POINT = 1
    LINEAR = 2
    FLATCUBIC = 3
    GAUSSIANCUBIC = 4
    ANISOTROPIC = 5


class MinFilter7(SdkEnum, prefix="D3DTFN_"):
    """Minification filters of DirectX 6 and 7."""

    POINT = 1
    LINEAR = 2
    ANISOTROPIC = 3


class MipFilter7(SdkEnum, prefix="D3DTFP_"):
    """Mip filters of DirectX 6 and 7."""

    NONE = 1
    POINT = 2
    LINEAR = 3


class TextureFilter8(
    SdkEnum, prefix="D3DTEXF_", later=TextureFilter, last=TextureFilter.GAUSSIANCUBIC
):
    """Texture filters of DirectX 8."""


class VsdTokenType(SdkEnum, prefix="D3DVSD_TOKEN_"):
    """Token types of a DirectX 8 vertex declaration."""

    NOP = 0
    STREAM = 1
    STREAMDATA = 2
    TESSELLATOR = 3
    CONSTMEM = 4
    EXT = 5
    END = 7


class VsdRegister(SdkEnum, prefix="D3DVSDE_"):
    """Input registers of a DirectX 8 declaration."""

    POSITION = 0
    BLENDWEIGHT = 1
    BLENDINDICES = 2
    NORMAL = 3
    PSIZE = 4
    DIFFUSE = 5
    SPECULAR = 6
    TEXCOORD0 = 7
    TEXCOORD1 = 8
    TEXCOORD2 = 9
    TEXCOORD3 = 10
    TEXCOORD4 = 11
    TEXCOORD5 = 12
    TEXCOORD6 = 13
    TEXCOORD7 = 14
    POSITION2 = 15
    NORMAL2 = 16


class VsdType(SdkEnum, prefix="D3DVSDT_", later=DeclType, last=DeclType.SHORT4):
    """Element types of a DirectX 8 declaration."""


_SINCE_9 = (
    "A8B8G8R8", "X8B8G8R8", "A2R10G10B10", "A16B16G16R16", "S1D15", "S8D24", "X8D24", "X4S4D24",
    "L16", "D32F_LOCKABLE", "D24FS8", "D32_LOCKABLE", "S8_LOCKABLE", "Q16W16V16U16", "R16F",
    "G16R16F", "A16B16G16R16F", "R32F", "G32R32F", "A32B32G32R32F", "CxV8U8", "A1",
    "A2B10G10R10_XR_BIAS", "BINARYBUFFER", "ATI1N", "MULTI2_ARGB8", "ATI2N", "DF24", "DF16",
    "G8R8_G8B8", "R8G8_B8G8", "NULL", "INTZ", "NV12", "YV12",
)  # fmt: skip
"""Surface formats that DirectX 8 does not have."""


class Format8(SdkEnum, prefix="D3DFMT_", later=Format, without=_SINCE_9):
    """Surface formats of DirectX 8."""

    W11V11U10 = 65
