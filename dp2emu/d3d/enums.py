"""Direct3D 9 enumerations (d3d9types.h).  A row has several members of consecutive values."""

from __future__ import annotations

from dp2emu.d3d.sdk import SdkEnum


class QueryType(SdkEnum, prefix="D3DQUERYTYPE_"):
    """Asynchronous query types; the payloads are in ``devinfo``."""

    VCACHE = 4
    RESOURCEMANAGER = 5
    VERTEXSTATS = 6
    EVENT = 8
    OCCLUSION = 9
    TIMESTAMP = 10
    TIMESTAMPDISJOINT = 11
    TIMESTAMPFREQ = 12
    PIPELINETIMINGS = 13
    INTERFACETIMINGS = 14
    VERTEXTIMINGS = 15
    PIXELTIMINGS = 16
    BANDWIDTHTIMINGS = 17
    CACHEUTILIZATION = 18
    MEMORYPRESSURE = 19


class RenderState(SdkEnum, prefix="D3DRS_"):
    """Render states of D3DDP2OP_RENDERSTATE, DirectX 9 names."""

    ZENABLE, FILLMODE, SHADEMODE = 7, 8, 9
    ZWRITEENABLE, ALPHATESTENABLE, LASTPIXEL = 14, 15, 16
    SRCBLEND, DESTBLEND = 19, 20
    CULLMODE, ZFUNC, ALPHAREF, ALPHAFUNC, DITHERENABLE, ALPHABLENDENABLE, FOGENABLE = range(22, 29)
    SPECULARENABLE = 29
    FOGCOLOR, FOGTABLEMODE, FOGSTART, FOGEND, FOGDENSITY = range(34, 39)
    RANGEFOGENABLE = 48
    STENCILENABLE, STENCILFAIL, STENCILZFAIL, STENCILPASS, STENCILFUNC, STENCILREF = range(52, 58)
    STENCILMASK, STENCILWRITEMASK, TEXTUREFACTOR = 58, 59, 60
    WRAP0, WRAP1, WRAP2, WRAP3, WRAP4, WRAP5, WRAP6, WRAP7, CLIPPING, LIGHTING = range(128, 138)
    AMBIENT, FOGVERTEXMODE, COLORVERTEX, LOCALVIEWER, NORMALIZENORMALS = range(139, 144)
    DIFFUSEMATERIALSOURCE, SPECULARMATERIALSOURCE, AMBIENTMATERIALSOURCE = 145, 146, 147
    EMISSIVEMATERIALSOURCE = 148
    VERTEXBLEND, CLIPPLANEENABLE = 151, 152
    POINTSIZE, POINTSIZE_MIN, POINTSPRITEENABLE, POINTSCALEENABLE = 154, 155, 156, 157
    POINTSCALE_A, POINTSCALE_B, POINTSCALE_C = 158, 159, 160
    MULTISAMPLEANTIALIAS, MULTISAMPLEMASK, PATCHEDGESTYLE = 161, 162, 163
    DEBUGMONITORTOKEN, POINTSIZE_MAX, INDEXEDVERTEXBLENDENABLE = 165, 166, 167
    COLORWRITEENABLE = 168
    TWEENFACTOR, BLENDOP, POSITIONDEGREE, NORMALDEGREE, SCISSORTESTENABLE = range(170, 175)
    SLOPESCALEDEPTHBIAS, ANTIALIASEDLINEENABLE = 175, 176
    MINTESSELLATIONLEVEL, MAXTESSELLATIONLEVEL = 178, 179
    ADAPTIVETESS_X, ADAPTIVETESS_Y, ADAPTIVETESS_Z, ADAPTIVETESS_W = 180, 181, 182, 183
    ENABLEADAPTIVETESSELLATION, TWOSIDEDSTENCILMODE = 184, 185
    CCW_STENCILFAIL, CCW_STENCILZFAIL, CCW_STENCILPASS, CCW_STENCILFUNC = 186, 187, 188, 189
    COLORWRITEENABLE1, COLORWRITEENABLE2, COLORWRITEENABLE3 = 190, 191, 192
    BLENDFACTOR, SRGBWRITEENABLE, DEPTHBIAS = 193, 194, 195
    WRAP8, WRAP9, WRAP10, WRAP11, WRAP12, WRAP13, WRAP14, WRAP15 = range(198, 206)
    SEPARATEALPHABLENDENABLE, SRCBLENDALPHA, DESTBLENDALPHA, BLENDOPALPHA = 206, 207, 208, 209


class TextureStageState(SdkEnum, prefix="D3DTSS_"):
    """Texture stage states, DirectX 9 names."""

    COLOROP, COLORARG1, COLORARG2, ALPHAOP, ALPHAARG1, ALPHAARG2 = range(1, 7)
    BUMPENVMAT00, BUMPENVMAT01, BUMPENVMAT10, BUMPENVMAT11, TEXCOORDINDEX = range(7, 12)
    BUMPENVLSCALE, BUMPENVLOFFSET, TEXTURETRANSFORMFLAGS = 22, 23, 24
    COLORARG0, ALPHAARG0, RESULTARG = 26, 27, 28
    CONSTANT = 32


class SamplerState(SdkEnum, prefix="D3DSAMP_"):
    """Sampler states, API numbers; the wire has their DirectX 8 numbers (``legacy``)."""

    ADDRESSU, ADDRESSV, ADDRESSW = 1, 2, 3
    BORDERCOLOR, MAGFILTER, MINFILTER, MIPFILTER, MIPMAPLODBIAS, MAXMIPLEVEL = range(4, 10)
    MAXANISOTROPY, SRGBTEXTURE, ELEMENTINDEX, DMAPOFFSET = 10, 11, 12, 13


class TransformState(SdkEnum, prefix="D3DTS_"):
    """Transform types; world matrix i is 256 + i."""

    VIEW, PROJECTION = 2, 3
    TEXTURE0, TEXTURE1, TEXTURE2, TEXTURE3, TEXTURE4, TEXTURE5, TEXTURE6, TEXTURE7 = range(16, 24)


class PrimitiveType(SdkEnum, prefix="D3DPT_"):
    """Primitive topologies."""

    POINTLIST, LINELIST, LINESTRIP, TRIANGLELIST, TRIANGLESTRIP, TRIANGLEFAN = range(1, 7)


class CmpFunc(SdkEnum, prefix="D3DCMP_"):
    """Comparison functions of depth, stencil and alpha tests."""

    NEVER, LESS, EQUAL, LESSEQUAL, GREATER, NOTEQUAL, GREATEREQUAL, ALWAYS = range(1, 9)


class Blend(SdkEnum, prefix="D3DBLEND_"):
    """Blend factors."""

    ZERO, ONE, SRCCOLOR, INVSRCCOLOR, SRCALPHA, INVSRCALPHA, DESTALPHA, INVDESTALPHA = range(1, 9)
    DESTCOLOR, INVDESTCOLOR, SRCALPHASAT, BOTHSRCALPHA, BOTHINVSRCALPHA = range(9, 14)
    BLENDFACTOR, INVBLENDFACTOR, SRCCOLOR2, INVSRCCOLOR2 = 14, 15, 16, 17


class BlendOp(SdkEnum, prefix="D3DBLENDOP_"):
    """Blend operations."""

    ADD, SUBTRACT, REVSUBTRACT, MIN, MAX = range(1, 6)


class Cull(SdkEnum, prefix="D3DCULL_"):
    """Winding of the culled triangles, in screen space with y down."""

    NONE, CW, CCW = 1, 2, 3


class FillMode(SdkEnum, prefix="D3DFILL_"):
    """Fill modes of triangles."""

    POINT, WIREFRAME, SOLID = 1, 2, 3


class ShadeMode(SdkEnum, prefix="D3DSHADE_"):
    """Shading modes; PHONG was never implemented and means GOURAUD."""

    FLAT, GOURAUD, PHONG = 1, 2, 3


class StencilOp(SdkEnum, prefix="D3DSTENCILOP_"):
    """Stencil operations."""

    KEEP, ZERO, REPLACE, INCRSAT, DECRSAT, INVERT, INCR, DECR = range(1, 9)


class FogMode(SdkEnum, prefix="D3DFOG_"):
    """Fog formulas."""

    NONE, EXP, EXP2, LINEAR = 0, 1, 2, 3


class TextureOp(SdkEnum, prefix="D3DTOP_"):
    """Texture stage operations."""

    DISABLE, SELECTARG1, SELECTARG2, MODULATE, MODULATE2X, MODULATE4X = range(1, 7)
    ADD, ADDSIGNED, ADDSIGNED2X, SUBTRACT, ADDSMOOTH = range(7, 12)
    BLENDDIFFUSEALPHA, BLENDTEXTUREALPHA, BLENDFACTORALPHA, BLENDTEXTUREALPHAPM = 12, 13, 14, 15
    BLENDCURRENTALPHA, PREMODULATE, MODULATEALPHA_ADDCOLOR, MODULATECOLOR_ADDALPHA = 16, 17, 18, 19
    MODULATEINVALPHA_ADDCOLOR, MODULATEINVCOLOR_ADDALPHA = 20, 21
    BUMPENVMAP, BUMPENVMAPLUMINANCE, DOTPRODUCT3, MULTIPLYADD, LERP = range(22, 27)


class TextureArgument(SdkEnum, prefix="D3DTA_"):
    """Sources of a texture stage's argument: the low four bits of the state."""

    DIFFUSE, CURRENT, TEXTURE, TFACTOR, SPECULAR, TEMP, CONSTANT = range(7)


class TextureFilter(SdkEnum, prefix="D3DTEXF_"):
    """Filters as DirectX 9 numbers them (wire format, "Texture stages and samplers")."""

    NONE, POINT, LINEAR, ANISOTROPIC = 0, 1, 2, 3
    FLATCUBIC, GAUSSIANCUBIC, PYRAMIDALQUAD, GAUSSIANQUAD, CONVOLUTIONMONO = range(4, 9)


class TextureAddress(SdkEnum, prefix="D3DTADDRESS_"):
    """Texture address modes."""

    WRAP, MIRROR, CLAMP, BORDER, MIRRORONCE = range(1, 6)


class ZBufferType(SdkEnum, prefix="D3DZB_"):
    """Values of D3DRS_ZENABLE."""

    FALSE, TRUE, USEW = 0, 1, 2


class StateBlockType(SdkEnum, prefix="D3DSBT_"):
    """Predefined types of state blocks."""

    ALL, PIXELSTATE, VERTEXSTATE = 1, 2, 3


class ResourceType(SdkEnum, prefix="D3DRTYPE_"):
    """Resource types."""

    SURFACE, VOLUME, TEXTURE, VOLUMETEXTURE, CUBETEXTURE, VERTEXBUFFER, INDEXBUFFER = range(1, 8)


class Pool(SdkEnum, prefix="D3DPOOL_"):
    """Memory pools."""

    DEFAULT, MANAGED, SYSTEMMEM, SCRATCH = 0, 1, 2, 3


class LightType(SdkEnum, prefix="D3DLIGHT_"):
    """Light types."""

    POINT, SPOT, DIRECTIONAL = 1, 2, 3


class Basis(SdkEnum, prefix="D3DBASIS_"):
    """Basis functions of patches."""

    BEZIER, BSPLINE, INTERPOLATE = 0, 1, 2


class Degree(SdkEnum, prefix="D3DDEGREE_"):
    """Polynomial degrees of patches."""

    LINEAR, QUADRATIC, CUBIC = 1, 2, 3
    QUINTIC = 5


class PatchEdgeStyle(SdkEnum, prefix="D3DPATCHEDGE_"):
    """Edge tessellation of patches: whole or fractional segments."""

    DISCRETE, CONTINUOUS = 0, 1


class VertexBlend(SdkEnum):
    """Vertex blending: number of blend weights, or tweening."""

    D3DVBF_DISABLE, D3DVBF_1WEIGHTS, D3DVBF_2WEIGHTS, D3DVBF_3WEIGHTS = 0, 1, 2, 3
    D3DVBF_TWEENING, D3DVBF_0WEIGHTS = 255, 256


class MaterialColorSource(SdkEnum, prefix="D3DMCS_"):
    """Sources of a material colour in lighting."""

    MATERIAL, COLOR1, COLOR2 = 0, 1, 2


class MultisampleType(SdkEnum):
    """Multisample types: sample counts, and NONMASKABLE, whose count the driver chooses."""

    _ignore_ = "samples"

    D3DMULTISAMPLE_NONE, D3DMULTISAMPLE_NONMASKABLE = 0, 1
    for samples in range(2, 17):
        vars()[f"D3DMULTISAMPLE_{samples}_SAMPLES"] = samples


class TextureTransformFlags(SdkEnum, prefix="D3DTTFF_"):
    """Numbers of texture coordinates that a texture transform outputs, and PROJECTED."""

    DISABLE, COUNT1, COUNT2, COUNT3, COUNT4 = range(5)
    PROJECTED = 256


class TexGen(SdkEnum, prefix="D3DTSS_TCI_"):
    """Sources of texture coordinates: the high word of D3DTSS_TEXCOORDINDEX."""

    PASSTHRU = 0x00000
    CAMERASPACENORMAL = 0x10000
    CAMERASPACEPOSITION = 0x20000
    CAMERASPACEREFLECTIONVECTOR = 0x30000
    SPHEREMAP = 0x40000


class DeclType(SdkEnum, prefix="D3DDECLTYPE_"):
    """Vertex element types."""

    FLOAT1, FLOAT2, FLOAT3, FLOAT4, D3DCOLOR, UBYTE4, SHORT2, SHORT4 = range(8)
    UBYTE4N, SHORT2N, SHORT4N, USHORT2N, USHORT4N, UDEC3, DEC3N = range(8, 15)
    FLOAT16_2, FLOAT16_4, UNUSED = 15, 16, 17


class DeclUsage(SdkEnum, prefix="D3DDECLUSAGE_"):
    """Vertex element usages."""

    POSITION, BLENDWEIGHT, BLENDINDICES, NORMAL, PSIZE, TEXCOORD, TANGENT, BINORMAL = range(8)
    TESSFACTOR, POSITIONT, COLOR, FOG, DEPTH, SAMPLE = range(8, 14)


class DeclMethod(SdkEnum, prefix="D3DDECLMETHOD_"):
    """Tessellator methods of a vertex element."""

    DEFAULT, PARTIALU, PARTIALV, CROSSUV, UV, LOOKUP, LOOKUPPRESAMPLED = range(7)


class ComposeRectsOp(SdkEnum, prefix="D3DCOMPOSERECTS_"):
    """Operations of D3DDP2OP_COMPOSERECTS."""

    COPY, OR, AND, NEG = 1, 2, 3, 4


class Format(SdkEnum, prefix="D3DFMT_"):
    """Surface formats; ``formats`` has their layouts.

    S1D15, S8D24, X8D24 and X4S4D24 are depth buffers of DirectX 6 and 7 applications, which only
    the driver interface has.
    """

    UNKNOWN = 0
    R8G8B8, A8R8G8B8, X8R8G8B8, R5G6B5, X1R5G5B5, A1R5G5B5, A4R4G4B4, R3G3B2, A8 = range(20, 29)
    A8R3G3B2, X4R4G4B4, A2B10G10R10 = 29, 30, 31
    A8B8G8R8, X8B8G8R8, G16R16, A2R10G10B10, A16B16G16R16 = range(32, 37)
    A8P8, P8 = 40, 41
    L8, A8L8, A4L4 = 50, 51, 52
    V8U8, L6V5U5, X8L8V8U8, Q8W8V8U8, V16U16 = range(60, 65)
    A2W10V10U10 = 67
    D16_LOCKABLE, D32, S1D15, D15S1, S8D24, D24S8, X8D24, D24X8, X4S4D24, D24X4S4 = range(70, 80)
    D16, L16, D32F_LOCKABLE, D24FS8, D32_LOCKABLE, S8_LOCKABLE = range(80, 86)
    VERTEXDATA, INDEX16, INDEX32 = 100, 101, 102
    Q16W16V16U16, R16F, G16R16F, A16B16G16R16F, R32F, G32R32F, A32B32G32R32F = range(110, 117)
    CxV8U8, A1, A2B10G10R10_XR_BIAS = 117, 118, 119
    BINARYBUFFER = 199
    ATI1N = 0x31495441
    MULTI2_ARGB8 = 0x3154454D
    DXT1 = 0x31545844
    ATI2N = 0x32495441
    DXT2 = 0x32545844
    YUY2 = 0x32595559
    DXT3 = 0x33545844
    DF24 = 0x34324644
    DXT4 = 0x34545844
    DXT5 = 0x35545844
    DF16 = 0x36314644
    G8R8_G8B8 = 0x42475247
    R8G8_B8G8 = 0x47424752
    NULL = 0x4C4C554E
    UYVY = 0x59565955
    INTZ = 0x5A544E49
