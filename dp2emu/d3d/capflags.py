"""Flags of the capability words of D3DCAPS8, D3DCAPS9 and D3DPRIMCAPS, and of surface formats.

Sources: the documentation of D3DCAPS9, D3DCAPS8 and D3DPRIMCAPS; of dwOperations in DDPIXELFORMAT.
Flags that only one version of DirectX has are listed with the flags of the others.
"""

from __future__ import annotations

from dp2emu.d3d.sdk import SdkFlag


class MiscCaps(SdkFlag, prefix="D3DPMISCCAPS_"):
    """D3DPMISCCAPS_*: PrimitiveMiscCaps, dwMiscCaps."""

    MASKPLANES = 0x1
    MASKZ = 0x2
    LINEPATTERNREP = 0x4
    CONFORMANT = 0x8
    CULLNONE = 0x10
    CULLCW = 0x20
    CULLCCW = 0x40
    COLORWRITEENABLE = 0x80
    CLIPPLANESCALEDPOINTS = 0x100
    CLIPTLVERTS = 0x200
    TSSARGTEMP = 0x400
    BLENDOP = 0x800
    NULLREFERENCE = 0x1000
    FOGINFVF = 0x2000
    INDEPENDENTWRITEMASKS = 0x4000
    PERSTAGECONSTANT = 0x8000
    FOGANDSPECULARALPHA = 0x10000
    SEPARATEALPHABLEND = 0x20000
    MRTINDEPENDENTBITDEPTHS = 0x40000
    MRTPOSTPIXELSHADERBLENDING = 0x80000
    FOGVERTEXCLAMPED = 0x100000


class RasterCaps(SdkFlag, prefix="D3DPRASTERCAPS_"):
    """D3DPRASTERCAPS_*: RasterCaps, dwRasterCaps."""

    DITHER = 0x1
    ROP2 = 0x2
    XOR = 0x4
    PAT = 0x8
    ZTEST = 0x10
    SUBPIXEL = 0x20
    SUBPIXELX = 0x40
    FOGVERTEX = 0x80
    FOGTABLE = 0x100
    STIPPLE = 0x200
    ANTIALIASSORTDEPENDENT = 0x400
    ANTIALIASSORTINDEPENDENT = 0x800
    ANTIALIASEDGES = 0x1000
    MIPMAPLODBIAS = 0x2000
    ZBIAS = 0x4000
    ZBUFFERLESSHSR = 0x8000
    FOGRANGE = 0x10000
    ANISOTROPY = 0x20000
    WBUFFER = 0x40000
    TRANSLUCENTSORTINDEPENDENT = 0x80000
    WFOG = 0x100000
    ZFOG = 0x200000
    COLORPERSPECTIVE = 0x400000
    STRETCHBLTMULTISAMPLE = 0x800000
    SCISSORTEST = 0x1000000
    SLOPESCALEDEPTHBIAS = 0x2000000
    DEPTHBIAS = 0x4000000
    MULTISAMPLE_TOGGLE = 0x8000000


class CompareCaps(SdkFlag, prefix="D3DPCMPCAPS_"):
    """D3DPCMPCAPS_*: ZCmpCaps, AlphaCmpCaps; the bit of a D3DCMPFUNC is its number minus 1."""

    NEVER = 0x1
    LESS = 0x2
    EQUAL = 0x4
    LESSEQUAL = 0x8
    GREATER = 0x10
    NOTEQUAL = 0x20
    GREATEREQUAL = 0x40
    ALWAYS = 0x80


class BlendCaps(SdkFlag, prefix="D3DPBLENDCAPS_"):
    """D3DPBLENDCAPS_*: SrcBlendCaps, DestBlendCaps; the bit of a D3DBLEND up to BOTHINVSRCALPHA is
    its number minus 1, and BLENDFACTOR is for INVBLENDFACTOR also.
    """

    ZERO = 0x1
    ONE = 0x2
    SRCCOLOR = 0x4
    INVSRCCOLOR = 0x8
    SRCALPHA = 0x10
    INVSRCALPHA = 0x20
    DESTALPHA = 0x40
    INVDESTALPHA = 0x80
    DESTCOLOR = 0x100
    INVDESTCOLOR = 0x200
    SRCALPHASAT = 0x400
    BOTHSRCALPHA = 0x800
    BOTHINVSRCALPHA = 0x1000
    BLENDFACTOR = 0x2000
    SRCCOLOR2 = 0x4000
    INVSRCCOLOR2 = 0x8000


class ShadeCaps(SdkFlag, prefix="D3DPSHADECAPS_"):
    """D3DPSHADECAPS_*: ShadeCaps, dwShadeCaps."""

    COLORFLATMONO = 0x1
    COLORFLATRGB = 0x2
    COLORGOURAUDMONO = 0x4
    COLORGOURAUDRGB = 0x8
    COLORPHONGMONO = 0x10
    COLORPHONGRGB = 0x20
    SPECULARFLATMONO = 0x40
    SPECULARFLATRGB = 0x80
    SPECULARGOURAUDMONO = 0x100
    SPECULARGOURAUDRGB = 0x200
    SPECULARPHONGMONO = 0x400
    SPECULARPHONGRGB = 0x800
    ALPHAFLATBLEND = 0x1000
    ALPHAFLATSTIPPLED = 0x2000
    ALPHAGOURAUDBLEND = 0x4000
    ALPHAGOURAUDSTIPPLED = 0x8000
    ALPHAPHONGBLEND = 0x10000
    ALPHAPHONGSTIPPLED = 0x20000
    FOGFLAT = 0x40000
    FOGGOURAUD = 0x80000
    FOGPHONG = 0x100000


class TextureCaps(SdkFlag, prefix="D3DPTEXTURECAPS_"):
    """D3DPTEXTURECAPS_*: TextureCaps, dwTextureCaps."""

    PERSPECTIVE = 0x1
    POW2 = 0x2
    ALPHA = 0x4
    TRANSPARENCY = 0x8
    BORDER = 0x10
    SQUAREONLY = 0x20
    TEXREPEATNOTSCALEDBYSIZE = 0x40
    ALPHAPALETTE = 0x80
    NONPOW2CONDITIONAL = 0x100
    PROJECTED = 0x400
    CUBEMAP = 0x800
    COLORKEYBLEND = 0x1000
    VOLUMEMAP = 0x2000
    MIPMAP = 0x4000
    MIPVOLUMEMAP = 0x8000
    MIPCUBEMAP = 0x10000
    CUBEMAP_POW2 = 0x20000
    VOLUMEMAP_POW2 = 0x40000
    NOPROJECTEDBUMPENV = 0x200000


class FilterCaps(SdkFlag, prefix="D3DPTFILTERCAPS_"):
    """D3DPTFILTERCAPS_*: TextureFilterCaps of each kind of texture, dwTextureFilterCaps.

    NEAREST to LINEARMIPLINEAR are of DirectX 5 and 6.  The last two are MAGFAFLATCUBIC and
    MAGFGAUSSIANCUBIC in DirectX 6 to 8.
    """

    NEAREST = 0x1
    LINEAR = 0x2
    MIPNEAREST = 0x4
    MIPLINEAR = 0x8
    LINEARMIPNEAREST = 0x10
    LINEARMIPLINEAR = 0x20
    MINFPOINT = 0x100
    MINFLINEAR = 0x200
    MINFANISOTROPIC = 0x400
    MINFPYRAMIDALQUAD = 0x800
    MINFGAUSSIANQUAD = 0x1000
    MIPFPOINT = 0x10000
    MIPFLINEAR = 0x20000
    CONVOLUTIONMONO = 0x40000
    MAGFPOINT = 0x1000000
    MAGFLINEAR = 0x2000000
    MAGFANISOTROPIC = 0x4000000
    MAGFPYRAMIDALQUAD = 0x8000000
    MAGFGAUSSIANQUAD = 0x10000000


class AddressCaps(SdkFlag, prefix="D3DPTADDRESSCAPS_"):
    """D3DPTADDRESSCAPS_*: TextureAddressCaps, VolumeTextureAddressCaps, dwTextureAddressCaps."""

    WRAP = 0x1
    MIRROR = 0x2
    CLAMP = 0x4
    BORDER = 0x8
    INDEPENDENTUV = 0x10
    MIRRORONCE = 0x20


class StencilCaps(SdkFlag, prefix="D3DSTENCILCAPS_"):
    """D3DSTENCILCAPS_*: StencilCaps; the bit of a D3DSTENCILOP is its number minus 1."""

    KEEP = 0x1
    ZERO = 0x2
    REPLACE = 0x4
    INCRSAT = 0x8
    DECRSAT = 0x10
    INVERT = 0x20
    INCR = 0x40
    DECR = 0x80
    TWOSIDED = 0x100


class TextureOpCaps(SdkFlag, prefix="D3DTEXOPCAPS_"):
    """D3DTEXOPCAPS_*: TextureOpCaps; the bit of a D3DTEXTUREOP is its number minus 1."""

    DISABLE = 0x1
    SELECTARG1 = 0x2
    SELECTARG2 = 0x4
    MODULATE = 0x8
    MODULATE2X = 0x10
    MODULATE4X = 0x20
    ADD = 0x40
    ADDSIGNED = 0x80
    ADDSIGNED2X = 0x100
    SUBTRACT = 0x200
    ADDSMOOTH = 0x400
    BLENDDIFFUSEALPHA = 0x800
    BLENDTEXTUREALPHA = 0x1000
    BLENDFACTORALPHA = 0x2000
    BLENDTEXTUREALPHAPM = 0x4000
    BLENDCURRENTALPHA = 0x8000
    PREMODULATE = 0x10000
    MODULATEALPHA_ADDCOLOR = 0x20000
    MODULATECOLOR_ADDALPHA = 0x40000
    MODULATEINVALPHA_ADDCOLOR = 0x80000
    MODULATEINVCOLOR_ADDALPHA = 0x100000
    BUMPENVMAP = 0x200000
    BUMPENVMAPLUMINANCE = 0x400000
    DOTPRODUCT3 = 0x800000
    MULTIPLYADD = 0x1000000
    LERP = 0x2000000


class DevCaps(SdkFlag, prefix="D3DDEVCAPS_"):
    """D3DDEVCAPS_*: DevCaps, dwDevCaps."""

    FLOATTLVERTEX = 0x1
    SORTINCREASINGZ = 0x2
    SORTDECREASINGZ = 0x4
    SORTEXACT = 0x8
    EXECUTESYSTEMMEMORY = 0x10
    EXECUTEVIDEOMEMORY = 0x20
    TLVERTEXSYSTEMMEMORY = 0x40
    TLVERTEXVIDEOMEMORY = 0x80
    TEXTURESYSTEMMEMORY = 0x100
    TEXTUREVIDEOMEMORY = 0x200
    DRAWPRIMTLVERTEX = 0x400
    CANRENDERAFTERFLIP = 0x800
    TEXTURENONLOCALVIDMEM = 0x1000
    DRAWPRIMITIVES2 = 0x2000
    SEPARATETEXTUREMEMORIES = 0x4000
    DRAWPRIMITIVES2EX = 0x8000
    HWTRANSFORMANDLIGHT = 0x10000
    CANBLTSYSTONONLOCAL = 0x20000
    HWRASTERIZATION = 0x80000
    PUREDEVICE = 0x100000
    QUINTICRTPATCHES = 0x200000
    RTPATCHES = 0x400000
    RTPATCHHANDLEZERO = 0x800000
    NPATCHES = 0x1000000


class DevCaps2(SdkFlag, prefix="D3DDEVCAPS2_"):
    """D3DDEVCAPS2_*: DevCaps2."""

    STREAMOFFSET = 0x1
    DMAPNPATCH = 0x2
    ADAPTIVETESSRTPATCH = 0x4
    ADAPTIVETESSNPATCH = 0x8
    CAN_STRETCHRECT_FROM_TEXTURES = 0x10
    PRESAMPLEDDMAPNPATCH = 0x20
    VERTEXELEMENTSCANSHARESTREAMOFFSET = 0x40


class LineCaps(SdkFlag, prefix="D3DLINECAPS_"):
    """D3DLINECAPS_*: LineCaps."""

    TEXTURE = 0x1
    ZTEST = 0x2
    BLEND = 0x4
    ALPHACMP = 0x8
    FOG = 0x10
    ANTIALIAS = 0x20


class VertexProcessingCaps(SdkFlag, prefix="D3DVTXPCAPS_"):
    """D3DVTXPCAPS_*: VertexProcessingCaps."""

    TEXGEN = 0x1
    MATERIALSOURCE7 = 0x2
    DIRECTIONALLIGHTS = 0x8
    POSITIONALLIGHTS = 0x10
    LOCALVIEWER = 0x20
    TWEENING = 0x40
    NO_VSDT_UBYTE4 = 0x80
    TEXGEN_SPHEREMAP = 0x100
    NO_TEXGEN_NONLOCALVIEWER = 0x200


class FvfCaps(SdkFlag, prefix="D3DFVFCAPS_"):
    """D3DFVFCAPS_*: FVFCaps; its low 16 bits are the number of texture coordinate sets."""

    DONOTSTRIPELEMENTS = 0x80000
    PSIZE = 0x100000


class DeviceCaps2(SdkFlag, prefix="D3DCAPS2_"):
    """D3DCAPS2_*: Caps2."""

    FULLSCREENGAMMA = 0x20000
    CANCALIBRATEGAMMA = 0x100000
    CANMANAGERESOURCE = 0x10000000
    DYNAMICTEXTURES = 0x20000000
    CANAUTOGENMIPMAP = 0x40000000


class DeviceCaps3(SdkFlag, prefix="D3DCAPS3_"):
    """D3DCAPS3_*: Caps3."""

    ALPHA_FULLSCREEN_FLIP_OR_DISCARD = 0x20
    LINEAR_TO_SRGB_PRESENTATION = 0x80
    COPY_TO_VIDMEM = 0x100
    COPY_TO_SYSTEMMEM = 0x200


class PixelShader20Caps(SdkFlag, prefix="D3DPS20CAPS_"):
    """D3DPS20CAPS_*: PS20Caps.Caps."""

    ARBITRARYSWIZZLE = 0x1
    GRADIENTINSTRUCTIONS = 0x2
    PREDICATION = 0x4
    NODEPENDENTREADLIMIT = 0x8
    NOTEXINSTRUCTIONLIMIT = 0x10


class VertexShader20Caps(SdkFlag, prefix="D3DVS20CAPS_"):
    """D3DVS20CAPS_*: VS20Caps.Caps."""

    PREDICATION = 0x1


class DeclTypeCaps(SdkFlag, prefix="D3DDTCAPS_"):
    """D3DDTCAPS_*: DeclTypes."""

    UBYTE4 = 0x1
    UBYTE4N = 0x2
    SHORT2N = 0x4
    SHORT4N = 0x8
    USHORT2N = 0x10
    USHORT4N = 0x20
    UDEC3 = 0x40
    DEC3N = 0x80
    FLOAT16_2 = 0x100
    FLOAT16_4 = 0x200


class BitDepths(
    SdkFlag,
    prefix="DDBD_",
    irregular={"B32": "DDBD_32", "B24": "DDBD_24", "B16": "DDBD_16", "B8": "DDBD_8"},
):
    """DDBD_*: dwDeviceRenderBitDepth and dwDeviceZBufferBitDepth of D3DDEVICEDESC_V1."""

    B32 = 0x100
    B24 = 0x200
    B16 = 0x400
    B8 = 0x800


class DeviceDescFlags(SdkFlag, prefix="D3DDD_"):
    """D3DDD_*: dwFlags of D3DDEVICEDESC_V1, which of its members are valid."""

    COLORMODEL = 0x1
    DEVCAPS = 0x2
    TRANSFORMCAPS = 0x4
    LIGHTINGCAPS = 0x8
    BCLIPPING = 0x10
    LINECAPS = 0x20
    TRICAPS = 0x40
    DEVICERENDERBITDEPTH = 0x80
    DEVICEZBUFFERBITDEPTH = 0x100
    MAXBUFFERSIZE = 0x200
    MAXVERTEXCOUNT = 0x400


class TextureBlendCaps(SdkFlag, prefix="D3DPTBLENDCAPS_"):
    """D3DPTBLENDCAPS_*: dwTextureBlendCaps; the bit of a D3DTEXTUREBLEND is its number minus 1."""

    DECAL = 0x1
    MODULATE = 0x2
    DECALALPHA = 0x4
    MODULATEALPHA = 0x8
    DECALMASK = 0x10
    MODULATEMASK = 0x20
    COPY = 0x40
    ADD = 0x80


class FormatOp(
    SdkFlag,
    prefix="D3DFORMAT_OP_",
    irregular={
        "ACCELERATION3D": "D3DFORMAT_OP_3DACCELERATION",
        "MEMBEROFGROUP_ARGB": "D3DFORMAT_MEMBEROFGROUP_ARGB",
    },
):
    """D3DFORMAT_OP_*: operations of a surface format, dwOperations of its DDPIXELFORMAT."""

    TEXTURE = 0x1
    VOLUMETEXTURE = 0x2
    CUBETEXTURE = 0x4
    OFFSCREEN_RENDERTARGET = 0x8
    SAME_FORMAT_RENDERTARGET = 0x10
    ZSTENCIL = 0x40
    ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH = 0x80
    SAME_FORMAT_UP_TO_ALPHA_RENDERTARGET = 0x100
    DISPLAYMODE = 0x400
    ACCELERATION3D = 0x800
    PIXELSIZE = 0x1000
    CONVERT_TO_ARGB = 0x2000
    OFFSCREENPLAIN = 0x4000
    SRGBREAD = 0x8000
    BUMPMAP = 0x10000
    DMAP = 0x20000
    NOFILTER = 0x40000
    MEMBEROFGROUP_ARGB = 0x80000
    SRGBWRITE = 0x100000
    NOALPHABLEND = 0x200000
    AUTOGENMIPMAP = 0x400000
    VERTEXTEXTURE = 0x800000
    NOTEXCOORDWRAPNORMIP = 0x1000000


FLAGS: dict[str, type[SdkFlag]] = {
    "Caps2": DeviceCaps2,
    "Caps3": DeviceCaps3,
    "DevCaps": DevCaps,
    "PrimitiveMiscCaps": MiscCaps,
    "MiscCaps": MiscCaps,
    "RasterCaps": RasterCaps,
    "ZCmpCaps": CompareCaps,
    "SrcBlendCaps": BlendCaps,
    "DestBlendCaps": BlendCaps,
    "AlphaCmpCaps": CompareCaps,
    "ShadeCaps": ShadeCaps,
    "TextureCaps": TextureCaps,
    "TextureFilterCaps": FilterCaps,
    "CubeTextureFilterCaps": FilterCaps,
    "VolumeTextureFilterCaps": FilterCaps,
    "StretchRectFilterCaps": FilterCaps,
    "VertexTextureFilterCaps": FilterCaps,
    "TextureAddressCaps": AddressCaps,
    "VolumeTextureAddressCaps": AddressCaps,
    "LineCaps": LineCaps,
    "StencilCaps": StencilCaps,
    "FVFCaps": FvfCaps,
    "TextureOpCaps": TextureOpCaps,
    "VertexProcessingCaps": VertexProcessingCaps,
    "DevCaps2": DevCaps2,
    "DeclTypes": DeclTypeCaps,
    "VS20Caps.Caps": VertexShader20Caps,
    "PS20Caps.Caps": PixelShader20Caps,
    "TextureBlendCaps": TextureBlendCaps,
    "DeviceRenderBitDepth": BitDepths,
    "DeviceZBufferBitDepth": BitDepths,
}
"""Member of D3DCAPS9, or of an older structure without its prefix ``dw`` -> the flags in it."""
