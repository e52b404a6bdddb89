"""Direct3D 9 enumerations (d3d9types.h).  Members assigned together have consecutive values."""

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

    ZENABLE = 7
    FILLMODE = 8
    SHADEMODE = 9
    ZWRITEENABLE = 14
    ALPHATESTENABLE = 15
    LASTPIXEL = 16
    SRCBLEND = 19
    DESTBLEND = 20
    CULLMODE = 22
    ZFUNC = 23
    ALPHAREF = 24
    ALPHAFUNC = 25
    DITHERENABLE = 26
    ALPHABLENDENABLE = 27
    FOGENABLE = 28
    SPECULARENABLE = 29
    FOGCOLOR = 34
    FOGTABLEMODE = 35
    FOGSTART = 36
    FOGEND = 37
    FOGDENSITY = 38
    RANGEFOGENABLE = 48
    STENCILENABLE = 52
    STENCILFAIL = 53
    STENCILZFAIL = 54
    STENCILPASS = 55
    STENCILFUNC = 56
    STENCILREF = 57
    STENCILMASK = 58
    STENCILWRITEMASK = 59
    TEXTUREFACTOR = 60
    WRAP0 = 128
    WRAP1 = 129
    WRAP2 = 130
    WRAP3 = 131
    WRAP4 = 132
    WRAP5 = 133
    WRAP6 = 134
    WRAP7 = 135
    CLIPPING = 136
    LIGHTING = 137
    AMBIENT = 139
    FOGVERTEXMODE = 140
    COLORVERTEX = 141
    LOCALVIEWER = 142
    NORMALIZENORMALS = 143
    DIFFUSEMATERIALSOURCE = 145
    SPECULARMATERIALSOURCE = 146
    AMBIENTMATERIALSOURCE = 147
    EMISSIVEMATERIALSOURCE = 148
    VERTEXBLEND = 151
    CLIPPLANEENABLE = 152
    POINTSIZE = 154
    POINTSIZE_MIN = 155
    POINTSPRITEENABLE = 156
    POINTSCALEENABLE = 157
    POINTSCALE_A = 158
    POINTSCALE_B = 159
    POINTSCALE_C = 160
    MULTISAMPLEANTIALIAS = 161
    MULTISAMPLEMASK = 162
    PATCHEDGESTYLE = 163
    DEBUGMONITORTOKEN = 165
    POINTSIZE_MAX = 166
    INDEXEDVERTEXBLENDENABLE = 167
    COLORWRITEENABLE = 168
    TWEENFACTOR = 170
    BLENDOP = 171
    POSITIONDEGREE = 172
    NORMALDEGREE = 173
    SCISSORTESTENABLE = 174
    SLOPESCALEDEPTHBIAS = 175
    ANTIALIASEDLINEENABLE = 176
    MINTESSELLATIONLEVEL = 178
    MAXTESSELLATIONLEVEL = 179
    ADAPTIVETESS_X = 180
    ADAPTIVETESS_Y = 181
    ADAPTIVETESS_Z = 182
    ADAPTIVETESS_W = 183
    ENABLEADAPTIVETESSELLATION = 184
    TWOSIDEDSTENCILMODE = 185
    CCW_STENCILFAIL = 186
    CCW_STENCILZFAIL = 187
    CCW_STENCILPASS = 188
    CCW_STENCILFUNC = 189
    COLORWRITEENABLE1 = 190
    COLORWRITEENABLE2 = 191
    COLORWRITEENABLE3 = 192
    BLENDFACTOR = 193
    SRGBWRITEENABLE = 194
    DEPTHBIAS = 195
    WRAP8 = 198
    WRAP9 = 199
    WRAP10 = 200
    WRAP11 = 201
    WRAP12 = 202
    WRAP13 = 203
    WRAP14 = 204
    WRAP15 = 205
    SEPARATEALPHABLENDENABLE = 206
    SRCBLENDALPHA = 207
    DESTBLENDALPHA = 208
    BLENDOPALPHA = 209


class TextureStageState(SdkEnum, prefix="D3DTSS_"):
    """Texture stage states, DirectX 9 names."""

    COLOROP = 1
    COLORARG1 = 2
    COLORARG2 = 3
    ALPHAOP = 4
    ALPHAARG1 = 5
    ALPHAARG2 = 6
    BUMPENVMAT00 = 7
    BUMPENVMAT01 = 8
    BUMPENVMAT10 = 9
    BUMPENVMAT11 = 10
    TEXCOORDINDEX = 11
    BUMPENVLSCALE = 22
    BUMPENVLOFFSET = 23
    TEXTURETRANSFORMFLAGS = 24
    COLORARG0 = 26
    ALPHAARG0 = 27
    RESULTARG = 28
    CONSTANT = 32


class SamplerState(SdkEnum, prefix="D3DSAMP_"):
    """Sampler states by API number; command streams have their DirectX 8 numbers (``legacy``)."""

    ADDRESSU = 1
    ADDRESSV = 2
    ADDRESSW = 3
    BORDERCOLOR = 4
    MAGFILTER = 5
    MINFILTER = 6
    MIPFILTER = 7
    MIPMAPLODBIAS = 8
    MAXMIPLEVEL = 9
    MAXANISOTROPY = 10
    SRGBTEXTURE = 11
    ELEMENTINDEX = 12
    DMAPOFFSET = 13


class TransformState(SdkEnum, prefix="D3DTS_"):
    """Transform types; world matrix i is 256 + i."""

    VIEW = 2
    PROJECTION = 3
    TEXTURE0 = 16
    TEXTURE1 = 17
    TEXTURE2 = 18
    TEXTURE3 = 19
    TEXTURE4 = 20
    TEXTURE5 = 21
    TEXTURE6 = 22
    TEXTURE7 = 23


class PrimitiveType(SdkEnum, prefix="D3DPT_"):
    """Primitive topologies."""

    POINTLIST = 1
    LINELIST = 2
    LINESTRIP = 3
    TRIANGLELIST = 4
    TRIANGLESTRIP = 5
    TRIANGLEFAN = 6


class CmpFunc(SdkEnum, prefix="D3DCMP_"):
    """Comparison functions of depth, stencil and alpha tests."""

    NEVER = 1
    LESS = 2
    EQUAL = 3
    LESSEQUAL = 4
    GREATER = 5
    NOTEQUAL = 6
    GREATEREQUAL = 7
    ALWAYS = 8


class Blend(SdkEnum, prefix="D3DBLEND_"):
    """Blend factors."""

    ZERO = 1
    ONE = 2
    SRCCOLOR = 3
    INVSRCCOLOR = 4
    SRCALPHA = 5
    INVSRCALPHA = 6
    DESTALPHA = 7
    INVDESTALPHA = 8
    DESTCOLOR = 9
    INVDESTCOLOR = 10
    SRCALPHASAT = 11
    BOTHSRCALPHA = 12
    BOTHINVSRCALPHA = 13
    BLENDFACTOR = 14
    INVBLENDFACTOR = 15
    SRCCOLOR2 = 16
    INVSRCCOLOR2 = 17


class BlendOp(SdkEnum, prefix="D3DBLENDOP_"):
    """Blend operations."""

    ADD = 1
    SUBTRACT = 2
    REVSUBTRACT = 3
    MIN = 4
    MAX = 5


class Cull(SdkEnum, prefix="D3DCULL_"):
    """Winding of the culled triangles, in screen space with y down."""

    NONE = 1
    CW = 2
    CCW = 3


class FillMode(SdkEnum, prefix="D3DFILL_"):
    """Fill modes of triangles."""

    POINT = 1
    WIREFRAME = 2
    SOLID = 3


class ShadeMode(SdkEnum, prefix="D3DSHADE_"):
    """Shading modes; PHONG was never implemented and means GOURAUD."""

    FLAT = 1
    GOURAUD = 2
    PHONG = 3


class StencilOp(SdkEnum, prefix="D3DSTENCILOP_"):
    """Stencil operations."""

    KEEP = 1
    ZERO = 2
    REPLACE = 3
    INCRSAT = 4
    DECRSAT = 5
    INVERT = 6
    INCR = 7
    DECR = 8


class FogMode(SdkEnum, prefix="D3DFOG_"):
    """Fog formulas."""

    NONE = 0
    EXP = 1
    EXP2 = 2
    LINEAR = 3


class TextureOp(SdkEnum, prefix="D3DTOP_"):
    """Texture stage operations."""

    DISABLE = 1
    SELECTARG1 = 2
    SELECTARG2 = 3
    MODULATE = 4
    MODULATE2X = 5
    MODULATE4X = 6
    ADD = 7
    ADDSIGNED = 8
    ADDSIGNED2X = 9
    SUBTRACT = 10
    ADDSMOOTH = 11
    BLENDDIFFUSEALPHA = 12
    BLENDTEXTUREALPHA = 13
    BLENDFACTORALPHA = 14
    BLENDTEXTUREALPHAPM = 15
    BLENDCURRENTALPHA = 16
    PREMODULATE = 17
    MODULATEALPHA_ADDCOLOR = 18
    MODULATECOLOR_ADDALPHA = 19
    MODULATEINVALPHA_ADDCOLOR = 20
    MODULATEINVCOLOR_ADDALPHA = 21
    BUMPENVMAP = 22
    BUMPENVMAPLUMINANCE = 23
    DOTPRODUCT3 = 24
    MULTIPLYADD = 25
    LERP = 26


class TextureArgument(SdkEnum, prefix="D3DTA_"):
    """Sources of a texture stage's argument: the low four bits of the state."""

    DIFFUSE = 0
    CURRENT = 1
    TEXTURE = 2
    TFACTOR = 3
    SPECULAR = 4
    TEMP = 5
    CONSTANT = 6


class TextureFilter(SdkEnum, prefix="D3DTEXF_"):
    """Filters as DirectX 9 numbers them (wire format, "Texture stages and samplers")."""

    NONE = 0
    POINT = 1
    LINEAR = 2
    ANISOTROPIC = 3
    FLATCUBIC = 4
    GAUSSIANCUBIC = 5
    PYRAMIDALQUAD = 6
    GAUSSIANQUAD = 7
    CONVOLUTIONMONO = 8


class TextureAddress(SdkEnum, prefix="D3DTADDRESS_"):
    """Texture address modes."""

    WRAP = 1
    MIRROR = 2
    CLAMP = 3
    BORDER = 4
    MIRRORONCE = 5


class ZBufferType(SdkEnum, prefix="D3DZB_"):
    """Values of D3DRS_ZENABLE."""

    FALSE = 0
    TRUE = 1
    USEW = 2


class StateBlockType(SdkEnum, prefix="D3DSBT_"):
    """Predefined types of state blocks."""

    ALL = 1
    PIXELSTATE = 2
    VERTEXSTATE = 3


class ResourceType(SdkEnum, prefix="D3DRTYPE_"):
    """Resource types."""

    SURFACE = 1
    VOLUME = 2
    TEXTURE = 3
    VOLUMETEXTURE = 4
    CUBETEXTURE = 5
    VERTEXBUFFER = 6
    INDEXBUFFER = 7


class Pool(SdkEnum, prefix="D3DPOOL_"):
    """Memory pools."""

    DEFAULT = 0
    MANAGED = 1
    SYSTEMMEM = 2
    SCRATCH = 3


class LightType(SdkEnum, prefix="D3DLIGHT_"):
    """Light types."""

    POINT = 1
    SPOT = 2
    DIRECTIONAL = 3


class Basis(SdkEnum, prefix="D3DBASIS_"):
    """Basis functions of patches."""

    BEZIER = 0
    BSPLINE = 1
    INTERPOLATE = 2


class Degree(SdkEnum, prefix="D3DDEGREE_"):
    """Polynomial degrees of patches."""

    LINEAR = 1
    QUADRATIC = 2
    CUBIC = 3
    QUINTIC = 5


class PatchEdgeStyle(SdkEnum, prefix="D3DPATCHEDGE_"):
    """Edge tessellation of patches: whole or fractional segments."""

    DISCRETE = 0
    CONTINUOUS = 1


class VertexBlend(SdkEnum):
    """Vertex blending: number of blend weights, or tweening."""

    D3DVBF_DISABLE = 0
    D3DVBF_1WEIGHTS = 1
    D3DVBF_2WEIGHTS = 2
    D3DVBF_3WEIGHTS = 3
    D3DVBF_TWEENING = 255
    D3DVBF_0WEIGHTS = 256


class MaterialColorSource(SdkEnum, prefix="D3DMCS_"):
    """Sources of a material colour in lighting."""

    MATERIAL = 0
    COLOR1 = 1
    COLOR2 = 2


class MultisampleType(SdkEnum):
    """Multisample types: sample counts, and NONMASKABLE, whose count the driver chooses."""

    _ignore_ = "samples"

    D3DMULTISAMPLE_NONE = 0
    D3DMULTISAMPLE_NONMASKABLE = 1
    for samples in range(2, 17):
        vars()[f"D3DMULTISAMPLE_{samples}_SAMPLES"] = samples


class TextureTransformFlags(SdkEnum, prefix="D3DTTFF_"):
    """Numbers of texture coordinates that a texture transform outputs, and PROJECTED."""

    DISABLE = 0
    COUNT1 = 1
    COUNT2 = 2
    COUNT3 = 3
    COUNT4 = 4
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

    FLOAT1 = 0
    FLOAT2 = 1
    FLOAT3 = 2
    FLOAT4 = 3
    D3DCOLOR = 4
    UBYTE4 = 5
    SHORT2 = 6
    SHORT4 = 7
    UBYTE4N = 8
    SHORT2N = 9
    SHORT4N = 10
    USHORT2N = 11
    USHORT4N = 12
    UDEC3 = 13
    DEC3N = 14
    FLOAT16_2 = 15
    FLOAT16_4 = 16
    UNUSED = 17


class DeclUsage(SdkEnum, prefix="D3DDECLUSAGE_"):
    """Vertex element usages."""

    POSITION = 0
    BLENDWEIGHT = 1
    BLENDINDICES = 2
    NORMAL = 3
    PSIZE = 4
    TEXCOORD = 5
    TANGENT = 6
    BINORMAL = 7
    TESSFACTOR = 8
    POSITIONT = 9
    COLOR = 10
    FOG = 11
    DEPTH = 12
    SAMPLE = 13


class DeclMethod(SdkEnum, prefix="D3DDECLMETHOD_"):
    """Tessellator methods of a vertex element."""

    DEFAULT = 0
    PARTIALU = 1
    PARTIALV = 2
    CROSSUV = 3
    UV = 4
    LOOKUP = 5
    LOOKUPPRESAMPLED = 6


class ComposeRectsOp(SdkEnum, prefix="D3DCOMPOSERECTS_"):
    """Operations of D3DDP2OP_COMPOSERECTS."""

    COPY = 1
    OR = 2
    AND = 3
    NEG = 4


class Format(SdkEnum, prefix="D3DFMT_"):
    """Surface formats; ``formats`` has their layouts.

    S1D15, S8D24, X8D24 and X4S4D24 are depth buffers of DirectX 6 and 7 applications, which only
    the driver interface has.
    """

    UNKNOWN = 0
    R8G8B8 = 20
    A8R8G8B8 = 21
    X8R8G8B8 = 22
    R5G6B5 = 23
    X1R5G5B5 = 24
    A1R5G5B5 = 25
    A4R4G4B4 = 26
    R3G3B2 = 27
    A8 = 28
    A8R3G3B2 = 29
    X4R4G4B4 = 30
    A2B10G10R10 = 31
    A8B8G8R8 = 32
    X8B8G8R8 = 33
    G16R16 = 34
    A2R10G10B10 = 35
    A16B16G16R16 = 36
    A8P8 = 40
    P8 = 41
    L8 = 50
    A8L8 = 51
    A4L4 = 52
    V8U8 = 60
    L6V5U5 = 61
    X8L8V8U8 = 62
    Q8W8V8U8 = 63
    V16U16 = 64
    A2W10V10U10 = 67
    D16_LOCKABLE = 70
    D32 = 71
    S1D15 = 72
    D15S1 = 73
    S8D24 = 74
    D24S8 = 75
    X8D24 = 76
    D24X8 = 77
    X4S4D24 = 78
    D24X4S4 = 79
    D16 = 80
    L16 = 81
    D32F_LOCKABLE = 82
    D24FS8 = 83
    D32_LOCKABLE = 84
    S8_LOCKABLE = 85
    VERTEXDATA = 100
    INDEX16 = 101
    INDEX32 = 102
    Q16W16V16U16 = 110
    R16F = 111
    G16R16F = 112
    A16B16G16R16F = 113
    R32F = 114
    G32R32F = 115
    A32B32G32R32F = 116
    CxV8U8 = 117
    A1 = 118
    A2B10G10R10_XR_BIAS = 119
    BINARYBUFFER = 199
    ATI1N = 0x31495441
    NV12 = 0x3231564E
    YV12 = 0x32315659
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
