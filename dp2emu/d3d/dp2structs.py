"""Opcodes and payload structures of the DrawPrimitives2 stream (d3dhal.h, d3d*types.h).

Names and member order are the headers'; sizes are the same on 32- and 64-bit hosts.  Where the
header has a union, one member is declared and ``ALIASES`` has the other name.  Source:
wire format, "Opcodes" and "Responses".
"""

from __future__ import annotations

from construct import Array, Struct

from dp2emu.d3d.sdk import SdkEnum
from dp2emu.d3d.words import BYTE, FLOAT, WORD, dwords, floats, longs, record, words


class Op(SdkEnum, prefix="D3DDP2OP_"):
    """D3DHAL_DP2OPERATION: every opcode that has a name (wire format, "Opcodes")."""

    POINTS = 1
    INDEXEDLINELIST = 2
    INDEXEDTRIANGLELIST = 3
    RENDERSTATE = 8
    LINELIST = 15
    LINESTRIP = 16
    INDEXEDLINESTRIP = 17
    TRIANGLELIST = 18
    TRIANGLESTRIP = 19
    INDEXEDTRIANGLESTRIP = 20
    TRIANGLEFAN = 21
    INDEXEDTRIANGLEFAN = 22
    TRIANGLEFAN_IMM = 23
    LINELIST_IMM = 24
    TEXTURESTAGESTATE = 25
    INDEXEDTRIANGLELIST2 = 26
    INDEXEDLINELIST2 = 27
    VIEWPORTINFO = 28
    WINFO = 29
    SETPALETTE = 30
    UPDATEPALETTE = 31
    ZRANGE = 32
    SETMATERIAL = 33
    SETLIGHT = 34
    CREATELIGHT = 35
    SETTRANSFORM = 36
    EXT = 37
    TEXBLT = 38
    STATESET = 39
    SETPRIORITY = 40
    SETRENDERTARGET = 41
    CLEAR = 42
    SETTEXLOD = 43
    SETCLIPPLANE = 44
    CREATEVERTEXSHADER = 45
    DELETEVERTEXSHADER = 46
    SETVERTEXSHADER = 47
    SETVERTEXSHADERCONST = 48
    SETSTREAMSOURCE = 49
    SETSTREAMSOURCEUM = 50
    SETINDICES = 51
    DRAWPRIMITIVE = 52
    DRAWINDEXEDPRIMITIVE = 53
    CREATEPIXELSHADER = 54
    DELETEPIXELSHADER = 55
    SETPIXELSHADER = 56
    SETPIXELSHADERCONST = 57
    CLIPPEDTRIANGLEFAN = 58
    DRAWPRIMITIVE2 = 59
    DRAWINDEXEDPRIMITIVE2 = 60
    DRAWRECTPATCH = 61
    DRAWTRIPATCH = 62
    VOLUMEBLT = 63
    BUFFERBLT = 64
    MULTIPLYTRANSFORM = 65
    ADDDIRTYRECT = 66
    ADDDIRTYBOX = 67
    CREATEVERTEXSHADERDECL = 71
    DELETEVERTEXSHADERDECL = 72
    SETVERTEXSHADERDECL = 73
    CREATEVERTEXSHADERFUNC = 74
    DELETEVERTEXSHADERFUNC = 75
    SETVERTEXSHADERFUNC = 76
    SETVERTEXSHADERCONSTI = 77
    SETSCISSORRECT = 79
    SETSTREAMSOURCE2 = 80
    BLT = 81
    COLORFILL = 82
    SETVERTEXSHADERCONSTB = 83
    CREATEQUERY = 84
    SETRENDERTARGET2 = 85
    SETDEPTHSTENCIL = 86
    RESPONSECONTINUE = 87
    RESPONSEQUERY = 88
    GENERATEMIPSUBLEVELS = 89
    DELETEQUERY = 90
    ISSUEQUERY = 91
    SETPIXELSHADERCONSTI = 93
    SETPIXELSHADERCONSTB = 94
    SETSTREAMSOURCEFREQ = 95
    SURFACEBLT = 96
    SETCONVOLUTIONKERNELMONO = 97
    COMPOSERECTS = 98


ALIASES: dict[tuple[str, str], str] = {
    ("D3DHAL_DP2COMMAND", "wStateCount"): "wPrimitiveCount",
    ("D3DHAL_DP2RENDERSTATE", "dvState"): "dwState",
}
"""(structure, member of a union that is not declared here) -> member of the same union that is."""

# Geometry that other structures are made of.

POINT = longs("x y")
RECT = longs("left top right bottom")
RECTL = RECT
D3DBOX = dwords("Left Top Right Bottom Front Back")
D3DRANGE = dwords("Offset Size")
D3DCOLORVALUE = floats("r g b a")
D3DVECTOR = floats("x y z")
D3DMATRIX = floats("_11 _12 _13 _14 _21 _22 _23 _24 _31 _32 _33 _34 _41 _42 _43 _44")
D3DMATERIAL7 = (
    "diffuse" / D3DCOLORVALUE
    + "ambient" / D3DCOLORVALUE
    + "specular" / D3DCOLORVALUE
    + "emissive" / D3DCOLORVALUE
    + floats("power")
)
D3DLIGHT7 = (
    dwords("dltType")
    + "dcvDiffuse" / D3DCOLORVALUE
    + "dcvSpecular" / D3DCOLORVALUE
    + "dcvAmbient" / D3DCOLORVALUE
    + "dvPosition" / D3DVECTOR
    + "dvDirection" / D3DVECTOR
    + floats("dvRange dvFalloff dvAttenuation0 dvAttenuation1 dvAttenuation2 dvTheta dvPhi")
)
D3DVERTEXELEMENT9 = words("Stream Offset") + record(BYTE, "Type Method Usage UsageIndex")
D3DRECTPATCH_INFO = dwords(
    "StartVertexOffsetWidth StartVertexOffsetHeight Width Height Stride Basis Degree"
)
D3DTRIPATCH_INFO = dwords("StartVertexOffset NumVertices Basis Degree")

# Headers.

D3DHAL_DP2COMMAND = record(BYTE, "bCommand bReserved") + words("wPrimitiveCount")
D3DHAL_DP2RESPONSE = (
    record(BYTE, "bCommand bReserved") + words("wStateCount") + dwords("dwTotalSize")
)
D3DHAL_DP2RESPONSEQUERY = dwords("dwQueryID dwSize")

# DirectX 6 and 7 drawing.

D3DHAL_DP2STARTVERTEX = words("wVStart")
D3DHAL_DP2LINELIST = D3DHAL_DP2STARTVERTEX
D3DHAL_DP2LINESTRIP = D3DHAL_DP2STARTVERTEX
D3DHAL_DP2TRIANGLELIST = D3DHAL_DP2STARTVERTEX
D3DHAL_DP2TRIANGLESTRIP = D3DHAL_DP2STARTVERTEX
D3DHAL_DP2TRIANGLEFAN = D3DHAL_DP2STARTVERTEX
D3DHAL_DP2POINTS = words("wCount wVStart")
D3DHAL_DP2INDEXEDLINELIST = words("wV1 wV2")
D3DHAL_DP2INDEXEDTRIANGLELIST2 = words("wV1 wV2 wV3")
D3DHAL_DP2INDEXEDTRIANGLELIST = D3DHAL_DP2INDEXEDTRIANGLELIST2 + words("wFlags")
INDEX = "wV" / WORD
"""One index of a strip or fan; the headers declare only the indices of the first primitive."""
D3DHAL_DP2INDEXEDLINESTRIP = Struct("wV" / Array(2, WORD))
D3DHAL_DP2INDEXEDTRIANGLESTRIP = Struct("wV" / Array(3, WORD))
D3DHAL_DP2INDEXEDTRIANGLEFAN = D3DHAL_DP2INDEXEDTRIANGLESTRIP
D3DHAL_DP2TRIANGLEFAN_IMM = dwords("dwEdgeFlags")

# State.

D3DHAL_DP2RENDERSTATE = dwords("RenderState dwState")
D3DHAL_DP2TEXTURESTAGESTATE = words("wStage TSState") + dwords("dwValue")
D3DHAL_DP2VIEWPORTINFO = dwords("dwX dwY dwWidth dwHeight")
D3DHAL_DP2WINFO = floats("dvWNear dvWFar")
D3DHAL_DP2ZRANGE = floats("dvMinZ dvMaxZ")
D3DHAL_DP2SETSCISSORRECT = RECT
D3DHAL_DP2STATESET = dwords("dwOperation dwParam sbType")

# Transform and lighting.

D3DHAL_DP2SETTRANSFORM = dwords("xfrmType") + "matrix" / D3DMATRIX
D3DHAL_DP2MULTIPLYTRANSFORM = D3DHAL_DP2SETTRANSFORM
D3DHAL_DP2SETMATERIAL = D3DMATERIAL7
D3DHAL_DP2SETLIGHT = dwords("dwIndex dwDataType")
D3DHAL_DP2CREATELIGHT = dwords("dwIndex")
D3DHAL_DP2SETCLIPPLANE = dwords("dwIndex") + "plane" / Array(4, FLOAT)

# Targets.

D3DHAL_DP2SETRENDERTARGET = dwords("hRenderTarget hZBuffer")
D3DHAL_DP2SETRENDERTARGET2 = dwords("RTIndex hRenderTarget")
D3DHAL_DP2SETDEPTHSTENCIL = dwords("hZBuffer")
CLEAR_HEAD = dwords("dwFlags dwFillColor") + floats("dvFillDepth") + dwords("dwFillStencil")
"""D3DHAL_DP2CLEAR up to its rectangles, whose number the token's header tells."""
D3DHAL_DP2CLEAR = CLEAR_HEAD + "Rects" / Array(1, RECT)

# Streams and DirectX 8 and 9 drawing.

D3DHAL_DP2SETSTREAMSOURCE = dwords("dwStream dwVBHandle dwStride")
D3DHAL_DP2SETSTREAMSOURCE2 = dwords("dwStream dwVBHandle dwOffset dwStride")
D3DHAL_DP2SETSTREAMSOURCEUM = dwords("dwStream dwStride")
D3DHAL_DP2SETSTREAMSOURCEFREQ = dwords("dwStream dwDivider")
D3DHAL_DP2SETINDICES = dwords("dwVBHandle dwStride")
D3DHAL_DP2DRAWPRIMITIVE = dwords("primType VStart PrimitiveCount")
D3DHAL_DP2DRAWPRIMITIVE2 = dwords("primType FirstVertexOffset PrimitiveCount")
D3DHAL_CLIPPEDTRIANGLEFAN = dwords("FirstVertexOffset dwEdgeFlags PrimitiveCount")
D3DHAL_DP2DRAWINDEXEDPRIMITIVE = (
    dwords("primType")
    + longs("BaseVertexIndex")
    + dwords("MinIndex NumVertices StartIndex PrimitiveCount")
)
D3DHAL_DP2DRAWINDEXEDPRIMITIVE2 = (
    dwords("primType")
    + longs("BaseVertexOffset")
    + dwords("MinIndex NumVertices StartIndexOffset PrimitiveCount")
)
D3DHAL_DP2DRAWRECTPATCH = dwords("Handle Flags")
D3DHAL_DP2DRAWTRIPATCH = dwords("Handle Flags")

# Shaders.

D3DHAL_DP2CREATEVERTEXSHADER = dwords("dwHandle dwDeclSize dwCodeSize")
D3DHAL_DP2CREATEVERTEXSHADERDECL = dwords("dwHandle dwNumVertexElements")
D3DHAL_DP2CREATEVERTEXSHADERFUNC = dwords("dwHandle dwSize")
D3DHAL_DP2VERTEXSHADER = dwords("dwHandle")
D3DHAL_DP2CREATEPIXELSHADER = dwords("dwHandle dwCodeSize")
D3DHAL_DP2PIXELSHADER = dwords("dwHandle")
D3DHAL_DP2SETVERTEXSHADERCONST = dwords("dwRegister dwCount")
D3DHAL_DP2SETPIXELSHADERCONST = dwords("dwRegister dwCount")

# Surfaces.

D3DHAL_DP2SETPALETTE = dwords("dwPaletteHandle dwPaletteFlags dwSurfaceHandle")
D3DHAL_DP2UPDATEPALETTE = dwords("dwPaletteHandle") + words("wStartIndex wNumEntries")
D3DHAL_DP2SETPRIORITY = dwords("dwDDSurface dwPriority")
D3DHAL_DP2SETTEXLOD = dwords("dwDDSurface dwLOD")
D3DHAL_DP2TEXBLT = (
    dwords("dwDDDestSurface dwDDSrcSurface") + "pDest" / POINT + "rSrc" / RECTL + dwords("dwFlags")
)
D3DHAL_DP2VOLUMEBLT = (
    dwords("dwDDDestSurface dwDDSrcSurface dwDestX dwDestY dwDestZ")
    + "srcBox" / D3DBOX
    + dwords("dwFlags")
)
D3DHAL_DP2BUFFERBLT = (
    dwords("dwDDDestSurface dwDDSrcSurface dwOffset") + "rSrc" / D3DRANGE + dwords("dwFlags")
)
D3DHAL_DP2BLT = (
    dwords("dwSource")
    + "rSource" / RECTL
    + dwords("dwSourceMipLevel dwDest")
    + "rDest" / RECTL
    + dwords("dwDestMipLevel Flags")
)
D3DHAL_DP2SURFACEBLT = D3DHAL_DP2BLT
D3DHAL_DP2COLORFILL = dwords("dwSurface") + "rRect" / RECTL + dwords("Color")
D3DHAL_DP2GENERATEMIPSUBLEVELS = dwords("hSurface Filter")
D3DHAL_DP2ADDDIRTYRECT = dwords("dwSurface") + "rDirtyArea" / RECTL
D3DHAL_DP2ADDDIRTYBOX = dwords("dwSurface") + "DirtyBox" / D3DBOX
D3DHAL_DP2SETCONVOLUTIONKERNELMONO = dwords("dwWidth dwHeight dwFlags")
D3DHAL_DP2COMPOSERECTS = (
    dwords("SrcSurfaceHandle DstSurfaceHandle SrcRectDescsVBHandle NumRects DstRectDescsVBHandle")
    + dwords("Operation")
    + longs("XOffset YOffset")
)

# Queries.

D3DHAL_DP2CREATEQUERY = dwords("dwQueryID QueryType")
D3DHAL_DP2DELETEQUERY = dwords("dwQueryID")
D3DHAL_DP2ISSUEQUERY = dwords("dwQueryID dwFlags")

D3DHAL_DP2EXT = dwords("dwExtToken dwSize")
