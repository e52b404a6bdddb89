"""Enumerations of DirectX 6 to 8, as differences from DirectX 9 (d3dtypes.h, d3d8types.h).

``later=X, last=Y`` copies the members of X up to the value Y.
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

    TEXTUREHANDLE, ANTIALIAS, TEXTUREADDRESS, TEXTUREPERSPECTIVE, WRAPU, WRAPV = range(1, 7)
    LINEPATTERN, MONOENABLE, ROP2, PLANEMASK = 10, 11, 12, 13
    TEXTUREMAG, TEXTUREMIN = 17, 18
    TEXTUREMAPBLEND = 21
    ZVISIBLE, SUBPIXEL, SUBPIXELX, STIPPLEDALPHA = 30, 31, 32, 33
    FOGTABLESTART, FOGTABLEEND, FOGTABLEDENSITY, STIPPLEENABLE, EDGEANTIALIAS = range(36, 41)
    COLORKEYENABLE = 41
    BORDERCOLOR, TEXTUREADDRESSU, TEXTUREADDRESSV, MIPMAPLODBIAS, ZBIAS = range(43, 48)
    ANISOTROPY, FLUSHBATCH, TRANSLUCENTSORTINDEPENDENT = 49, 50, 51
    STIPPLEPATTERN00, STIPPLEPATTERN01, STIPPLEPATTERN02, STIPPLEPATTERN03 = 64, 65, 66, 67
    STIPPLEPATTERN04, STIPPLEPATTERN05, STIPPLEPATTERN06, STIPPLEPATTERN07 = 68, 69, 70, 71
    STIPPLEPATTERN08, STIPPLEPATTERN09, STIPPLEPATTERN10, STIPPLEPATTERN11 = 72, 73, 74, 75
    STIPPLEPATTERN12, STIPPLEPATTERN13, STIPPLEPATTERN14, STIPPLEPATTERN15 = 76, 77, 78, 79
    STIPPLEPATTERN16, STIPPLEPATTERN17, STIPPLEPATTERN18, STIPPLEPATTERN19 = 80, 81, 82, 83
    STIPPLEPATTERN20, STIPPLEPATTERN21, STIPPLEPATTERN22, STIPPLEPATTERN23 = 84, 85, 86, 87
    STIPPLEPATTERN24, STIPPLEPATTERN25, STIPPLEPATTERN26, STIPPLEPATTERN27 = 88, 89, 90, 91
    STIPPLEPATTERN28, STIPPLEPATTERN29, STIPPLEPATTERN30, STIPPLEPATTERN31 = 92, 93, 94, 95
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
    POSITIONORDER, NORMALORDER = 172, 173


class TextureStageState7(
    SdkEnum,
    prefix="D3DTSS_",
    later=TextureStageState,
    last=TextureStageState.TEXTURETRANSFORMFLAGS,
):
    """Texture stage states of DirectX 6 and 7, samplers included."""

    ADDRESS, ADDRESSU, ADDRESSV, BORDERCOLOR, MAGFILTER, MINFILTER, MIPFILTER = range(12, 19)
    MIPMAPLODBIAS, MAXMIPLEVEL, MAXANISOTROPY = 19, 20, 21


class TextureStageState8(
    SdkEnum, prefix="D3DTSS_", later=TextureStageState, last=TextureStageState.RESULTARG
):
    """Texture stage states of DirectX 8, samplers included."""

    ADDRESSU, ADDRESSV, BORDERCOLOR, MAGFILTER, MINFILTER, MIPFILTER, MIPMAPLODBIAS = range(13, 20)
    MAXMIPLEVEL, MAXANISOTROPY = 20, 21
    ADDRESSW = 25


class TransformState7(
    SdkEnum, prefix="D3DTRANSFORMSTATE_", later=TransformState, last=TransformState.TEXTURE7
):
    """Transform types of DirectX 6 and 7."""

    WORLD = 1
    WORLD1, WORLD2, WORLD3 = 4, 5, 6


class TextureOp7(SdkEnum, prefix="D3DTOP_", later=TextureOp, last=TextureOp.DOTPRODUCT3):
    """Texture operations of DirectX 6 and 7."""


PrimitiveType7 = PrimitiveType
"""Primitive topologies of DirectX 6 and 7."""


StateBlockType7 = StateBlockType
"""Types of state blocks of DirectX 7."""


class Opcode(SdkEnum, prefix="D3DOP_"):
    """Execute-buffer opcodes from before DirectX 6."""

    POINT, LINE, TRIANGLE, MATRIXLOAD, MATRIXMULTIPLY, STATETRANSFORM, STATELIGHT = range(1, 8)
    STATERENDER, PROCESSVERTICES, TEXTURELOAD, EXIT, BRANCHFORWARD, SPAN, SETSTATUS = range(8, 15)


class TextureBlend7(SdkEnum, prefix="D3DTBLEND_"):
    """Blend modes of texture and vertex colour, from before texture stages."""

    DECAL, MODULATE, DECALALPHA, MODULATEALPHA, DECALMASK, MODULATEMASK, COPY, ADD = range(1, 9)


class TextureFilter7(SdkEnum, prefix="D3DFILTER_"):
    """Filters from before texture stages: names end in the filter within a mip level;
    LINEARMIP filters linearly between levels.
    """

    NEAREST, LINEAR, MIPNEAREST, MIPLINEAR, LINEARMIPNEAREST, LINEARMIPLINEAR = range(1, 7)


class MagFilter7(SdkEnum, prefix="D3DTFG_"):
    """Magnification filters of DirectX 6 and 7."""

    POINT, LINEAR, FLATCUBIC, GAUSSIANCUBIC, ANISOTROPIC = range(1, 6)


class MinFilter7(SdkEnum, prefix="D3DTFN_"):
    """Minification filters of DirectX 6 and 7."""

    POINT, LINEAR, ANISOTROPIC = 1, 2, 3


class MipFilter7(SdkEnum, prefix="D3DTFP_"):
    """Mip filters of DirectX 6 and 7."""

    NONE, POINT, LINEAR = 1, 2, 3


class TextureFilter8(
    SdkEnum, prefix="D3DTEXF_", later=TextureFilter, last=TextureFilter.GAUSSIANCUBIC
):
    """Texture filters of DirectX 8."""


class VsdTokenType(SdkEnum, prefix="D3DVSD_TOKEN_"):
    """Token types of a DirectX 8 vertex declaration."""

    NOP, STREAM, STREAMDATA, TESSELLATOR, CONSTMEM, EXT = range(6)
    END = 7


class VsdRegister(SdkEnum, prefix="D3DVSDE_"):
    """Input registers of a DirectX 8 declaration."""

    POSITION, BLENDWEIGHT, BLENDINDICES, NORMAL, PSIZE, DIFFUSE, SPECULAR, TEXCOORD0 = range(8)
    TEXCOORD1, TEXCOORD2, TEXCOORD3, TEXCOORD4, TEXCOORD5, TEXCOORD6, TEXCOORD7 = range(8, 15)
    POSITION2, NORMAL2 = 15, 16


class VsdType(SdkEnum, prefix="D3DVSDT_", later=DeclType, last=DeclType.SHORT4):
    """Element types of a DirectX 8 declaration."""


_SINCE_9 = (
    "A8B8G8R8", "X8B8G8R8", "A2R10G10B10", "A16B16G16R16", "S1D15", "S8D24", "X8D24", "X4S4D24",
    "L16", "D32F_LOCKABLE", "D24FS8", "D32_LOCKABLE", "S8_LOCKABLE", "Q16W16V16U16", "R16F",
    "G16R16F", "A16B16G16R16F", "R32F", "G32R32F", "A32B32G32R32F", "CxV8U8", "A1",
    "A2B10G10R10_XR_BIAS", "BINARYBUFFER", "ATI1N", "MULTI2_ARGB8", "ATI2N", "DF24", "DF16",
    "G8R8_G8B8", "R8G8_B8G8", "NULL", "INTZ",
)  # fmt: skip
"""Surface formats that DirectX 8 does not have."""


class Format8(SdkEnum, prefix="D3DFMT_", later=Format, without=_SINCE_9):
    """Surface formats of DirectX 8."""

    W11V11U10 = 65
