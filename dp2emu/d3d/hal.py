"""Structures of the driver's calls and surfaces (d3dhal.h, d3dumddi.h, ddrawint.h, winddi.h).

Those with pointers depend on the host: they are functions of ``abi``, 32 or 64, and show the
padding a 64-bit compiler adds.  Where the header has a union, the widest member is declared, or
the one of surfaces with pixels; ``ALIASES`` has the other names.  Sources: wire format, "The call"
and "Driver information"; the public documentation of D3DHAL_TEXTURECREATEDATA, DD_SURFACE_LOCAL,
DD_SURFACE_GLOBAL, DD_SURFACE_MORE, DD_ATTACHLIST, DD_CREATESURFACEEXDATA, DD_CREATESURFACEDATA,
DD_DESTROYSURFACEDATA, DD_LOCKDATA, DD_UNLOCKDATA, DD_FLIPDATA, DD_BLTDATA, DDBLTFX,
DD_DRVSETCOLORKEYDATA, DDSURFACEDESC2.
"""

from __future__ import annotations

from uuid import UUID

from construct import Array, Struct

from dp2emu.d3d.dp2structs import RECT
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.d3d.words import BYTE, ByAbi, aligned, by_abi, dwords, longs, pad64, pointers, words

ALIASES: dict[tuple[str, str], str] = {
    ("D3DHAL_DRAWPRIMITIVES2DATA", "lpVertices"): "lpDDVertex",
    ("D3DHAL_DRAWPRIMITIVES2DATA", "ddrval"): "dwVertexSize",
    ("D3DHAL_CONTEXTCREATEDATA", "lpDDGbl"): "lpDDLcl",
    ("D3DHAL_CONTEXTCREATEDATA", "lpDDS"): "lpDDSLcl",
    ("D3DHAL_CONTEXTCREATEDATA", "lpDDSZ"): "lpDDSZLcl",
    ("D3DHAL_CONTEXTCREATEDATA", "dwPID"): "dwrstates",
    ("D3DHAL_SETRENDERTARGETDATA", "lpDDS"): "lpDDSLcl",
    ("D3DHAL_SETRENDERTARGETDATA", "lpDDSZ"): "lpDDSZLcl",
    ("DD_GETD3DQUERYDATA", "dwQueryIndex"): "QueryType",
}
"""(structure, member of a union that is not declared here) -> member of the same union that is."""

D3DHAL_CONTEXTDESTROYALLDATA = dwords("dwPID ddrval")

BY_ABI: dict[str, ByAbi] = {
    # Entry points from before DirectX 6, of DirectX 5, and of DirectX 6.
    "D3DHAL_CALLBACKS": by_abi(
        dwords("dwSize"),
        pad64,
        pointers(
            """ContextCreate ContextDestroy ContextDestroyAll SceneCapture lpReserved10
            lpReserved11 RenderState RenderPrimitive dwReserved TextureCreate TextureDestroy
            TextureSwap TextureGetSurf lpReserved12 lpReserved13 lpReserved14 lpReserved15
            lpReserved16 lpReserved17 lpReserved18 lpReserved19 lpReserved20 lpReserved21
            GetState"""
        ),
        pointers(" ".join(f"dwReserved{number}" for number in range(10))),  # ULONG_PTR
    ),
    "D3DHAL_CALLBACKS2": by_abi(
        dwords("dwSize dwFlags"),
        pointers("SetRenderTarget Clear DrawOnePrimitive DrawOneIndexedPrimitive DrawPrimitives"),
    ),
    "D3DHAL_CALLBACKS3": by_abi(
        dwords("dwSize dwFlags"),
        pointers("Clear2 lpvReserved ValidateTextureStageState DrawPrimitives2"),
    ),
    "D3DHAL_CONTEXTCREATEDATA": by_abi(
        pointers("lpDDLcl lpDDSLcl lpDDSZLcl dwrstates dwhContext"), dwords("ddrval"), pad64
    ),
    "D3DHAL_CONTEXTDESTROYDATA": by_abi(pointers("dwhContext"), dwords("ddrval"), pad64),
    "D3DHAL_DRAWPRIMITIVES2DATA": by_abi(
        pointers("dwhContext"),
        dwords("dwFlags dwVertexType"),
        pointers("lpDDCommands"),
        dwords("dwCommandOffset dwCommandLength"),
        pointers("lpDDVertex"),
        dwords("dwVertexOffset dwVertexLength dwReqVertexBufSize dwReqCommandBufSize"),
        pointers("lpdwRStates"),
        dwords("dwVertexSize dwErrorOffset"),
    ),
    "D3DHAL_SCENECAPTUREDATA": by_abi(pointers("dwhContext"), dwords("dwFlag ddrval")),
    "D3DHAL_SETRENDERTARGETDATA": by_abi(
        pointers("dwhContext lpDDSLcl lpDDSZLcl"), dwords("ddrval"), pad64
    ),
}
"""Name of a structure of Direct3D calls that has pointers -> function of the pointer size in bits,
32 or 64, that returns its declaration."""

DD_GETDRIVERINFO2DATA = dwords("dwReserved dwMagic dwType dwExpectedSize")
_GDI2 = "gdi2" / DD_GETDRIVERINFO2DATA
DD_DXVERSION = _GDI2 + dwords("dwDXVersion dwReserved")
DD_GETDDIVERSIONDATA = _GDI2 + dwords("dwDXVersion dwDDIVersion")
DD_GETD3DQUERYCOUNTDATA = _GDI2 + dwords("dwNumQueries")
DD_GETD3DQUERYDATA = _GDI2 + dwords("QueryType")
DD_GETFORMATCOUNTDATA = _GDI2 + dwords("dwFormatCount dwReserved")
DD_DEFERRED_AGP_AWARE_DATA = Struct(_GDI2)


class InfoType(SdkEnum, prefix="D3DGDI2_TYPE_"):
    """D3DGDI2_TYPE_*: dwType of DD_GETDRIVERINFO2DATA, the question of a GetDriverInfo2 call."""

    GETD3DCAPS8 = 0x01
    GETFORMATCOUNT = 0x02
    GETFORMAT = 0x03
    DXVERSION = 0x04
    GETD3DCAPS9 = 0x10
    GETEXTENDEDMODECOUNT = 0x11
    GETEXTENDEDMODE = 0x12
    GETADAPTERGROUP = 0x13
    GETMULTISAMPLEQUALITYLEVELS = 0x16
    DEFERRED_AGP_AWARE = 0x18
    FREE_DEFERRED_AGP = 0x19
    DEFER_AGP_FREES = 0x20
    GETD3DQUERYCOUNT = 0x21
    GETD3DQUERY = 0x22
    GETDDIVERSION = 0x23


D3DGDI2_MAGIC = 0xFFFFFFFF
"""dwMagic of DD_GETDRIVERINFO2DATA, by which its requests differ from those for stereo modes."""

GUIDS = {
    name: UUID(text).bytes_le
    for name, text in (
        ("GUID_GetDriverInfo2", "F828169C-A8E8-11D2-A1F2-00A0C983EAF6"),
        ("GUID_D3DCaps", "7BF06991-8794-11D0-9139-080036D2EF02"),
        ("GUID_D3DExtendedCaps", "7DE41F80-9D93-11D0-89AB-00A0C9054129"),
        ("GUID_ZPixelFormats", "93869880-36CF-11D1-9B1B-00AA00BBB8AE"),
    )
}
"""Name of a GUID of DdGetDriverInfo -> its 16 bytes in memory.  GUID_GetDriverInfo2 is equal to
GUID_DDStereoMode."""

# A surface has three structures: local, global (shared by surfaces of the same memory), and more,
# which has the handle that tokens use.  CreateSurfaceEx binds the handle to the memory.

_PIXELFORMAT = dwords(
    """dwSize dwFlags dwFourCC dwRGBBitCount dwRBitMask dwGBitMask dwBBitMask
    dwRGBAlphaBitMask"""
)
DD_GETFORMATDATA = _GDI2 + dwords("dwFormatIndex") + "format" / _PIXELFORMAT
_COLORKEY = dwords("dwColorSpaceLowValue dwColorSpaceHighValue")
_CAPS = dwords("dwCaps")
_CAPSEX = dwords("dwCaps2 dwCaps3 dwCaps4")
_CAPS2 = dwords("dwCaps dwCaps2 dwCaps3 dwCaps4")
_GUID = dwords("Data1") + words("Data2 Data3") + "Data4" / Array(8, BYTE)

SURFACE_ALIASES: dict[tuple[str, str], str] = {
    ("DDPIXELFORMAT", "dwPrivateFormatBitCount"): "dwRGBBitCount",
    ("DDPIXELFORMAT", "dwOperations"): "dwRBitMask",
    ("DDPIXELFORMAT", "MultiSampleCaps"): "dwGBitMask",
    ("DDSURFACEDESC2", "dwLinearSize"): "lPitch",
    ("DDSURFACEDESC2", "dwDepth"): "dwBackBufferCount",
    ("DDSURFACEDESC2", "dwRefreshRate"): "dwMipMapCount",
    ("DDSURFACEDESC2", "dwFVF"): "ddpfPixelFormat",
    ("DD_SURFACE_GLOBAL", "dwBlockSizeY"): "lSlicePitch",
    ("DD_SURFACE_GLOBAL", "dwBlockSizeX"): "lpVidMemHeap",
    ("DD_SURFACE_GLOBAL", "dwUserMemSize"): "lpVidMemHeap",
    ("DD_SURFACE_GLOBAL", "dwLinearSize"): "lPitch",
}
"""``ALIASES`` for structures of DirectDraw surfaces: the names that format lists use."""

SURFACES = {
    "DDPIXELFORMAT": _PIXELFORMAT,
    "DDCOLORKEY": _COLORKEY,
    "GUID": _GUID,
    "DDSCAPS": _CAPS,
    "DDSCAPSEX": _CAPSEX,
    "DDSCAPS2": _CAPS2,
}
"""Name -> declaration, for structures of DirectDraw surfaces without pointers, which are the same
on 32- and 64-bit hosts."""

_BLTFX = by_abi(
    dwords(
        """dwSize dwDDFX dwROP dwDDROP dwRotationAngle dwZBufferOpCode dwZBufferLow dwZBufferHigh
        dwZBufferBaseDest dwZDestConstBitDepth"""
    ),
    pointers("lpDDSZBufferDest"),
    dwords("dwZSrcConstBitDepth"),
    pad64,
    pointers("lpDDSZBufferSrc"),
    dwords("dwAlphaEdgeBlendBitDepth dwAlphaEdgeBlend dwReserved dwAlphaDestConstBitDepth"),
    pointers("lpDDSAlphaDest"),
    dwords("dwAlphaSrcConstBitDepth"),
    pad64,
    pointers("lpDDSAlphaSrc lpDDSPattern"),  # of its union: the fill colour lies there too
    "ddckDestColorkey" / _COLORKEY,
    "ddckSrcColorkey" / _COLORKEY,
)

_SURFACEDESC2 = aligned(
    dwords("dwSize dwFlags dwHeight dwWidth"),
    longs("lPitch"),
    dwords("dwBackBufferCount dwMipMapCount dwAlphaBitDepth dwReserved"),
    pointers("lpSurface"),
    "ddckCKDestOverlay" / _COLORKEY,
    "ddckCKDestBlt" / _COLORKEY,
    "ddckCKSrcOverlay" / _COLORKEY,
    "ddckCKSrcBlt" / _COLORKEY,
    "ddpfPixelFormat" / _PIXELFORMAT,
    "ddsCaps" / _CAPS2,
    dwords("dwTextureStage"),
)

CALLS_BY_ABI: dict[str, ByAbi] = {
    "DDBLTFX": _BLTFX,
    # A texture format of D3DHAL_GLOBALDRIVERDATA.
    "DDSURFACEDESC": by_abi(
        dwords("dwSize dwFlags dwHeight dwWidth"),
        longs("lPitch"),
        dwords("dwBackBufferCount dwMipMapCount dwAlphaBitDepth dwReserved"),
        pad64,
        pointers("lpSurface"),
        "ddckCKDestOverlay" / _COLORKEY,
        "ddckCKDestBlt" / _COLORKEY,
        "ddckCKSrcOverlay" / _COLORKEY,
        "ddckCKSrcBlt" / _COLORKEY,
        "ddpfPixelFormat" / _PIXELFORMAT,
        "ddsCaps" / _CAPS,
        pad64,
    ),
    "DDSURFACEDESC2": _SURFACEDESC2,
    # A texture's handle before DirectX 7, which has D3dCreateSurfaceEx instead.
    "D3DHAL_TEXTURECREATEDATA": by_abi(
        pointers("dwhContext lpDDS dwHandle"), dwords("ddrval"), pad64
    ),
    "D3DHAL_TEXTUREDESTROYDATA": by_abi(pointers("dwhContext dwHandle"), dwords("ddrval"), pad64),
}
"""Structures of calls about surfaces and inside of them, the same for Windows NT and Windows 9x;
as ``SURFACES_BY_ABI``."""

SURFACES_BY_ABI: dict[str, ByAbi] = {
    # Its handles are a namespace of their own.
    "DD_DIRECTDRAW_LOCAL": by_abi(pointers("lpGbl")),
    # fpVidMem is the memory; lPitch the number of bytes for buffers and compressed formats.
    "DD_SURFACE_GLOBAL": by_abi(
        longs("lSlicePitch"),
        pad64,
        pointers("lpVidMemHeap fpVidMem"),
        longs("lPitch yHint xHint"),
        dwords("wHeight wWidth"),
        pad64,
        pointers("dwReserved1"),
        "ddpfSurface" / _PIXELFORMAT,
        pointers("fpHeapOffset hCreatorProcess"),
    ),
    # Tokens name the surface by dwSurfaceHandle.
    "DD_SURFACE_MORE": by_abi(
        dwords("dwMipMapCount"),
        pad64,
        pointers("lpVideoPort"),
        dwords("dwOverlayFlags"),
        "ddsCapsEx" / _CAPSEX,
        dwords("dwSurfaceHandle"),
        pad64,
    ),
    # lpDDCommands and lpDDVertex of a call point at one.
    "DD_SURFACE_LOCAL": by_abi(
        pointers("lpGbl"),
        dwords("dwFlags"),
        "ddsCaps" / _CAPS,
        pointers("dwReserved1"),
        "ddckCKSrcBlt" / _COLORKEY,
        "ddckCKDestBlt" / _COLORKEY,
        pointers("lpSurfMore lpAttachList lpAttachListFrom"),
        "rcOverlaySrc" / RECT,
    ),
    # A level of a texture is in the list of the level above it.
    "DD_ATTACHLIST": by_abi(pointers("lpLink lpAttached")),
    # lplpSList points at dwSCnt pointers to surfaces.
    "DD_CREATESURFACEDATA": aligned(
        pointers("lpDD lpDDSurfaceDesc lplpSList"),
        dwords("dwSCnt ddRVal"),
        pointers("CreateSurface"),
    ),
    "DD_DESTROYSURFACEDATA": aligned(
        pointers("lpDD lpDDSurface"), dwords("ddRVal"), pointers("DestroySurface")
    ),
    # lpSurfData is where the memory can be used until the surface is unlocked.
    "DD_LOCKDATA": aligned(
        pointers("lpDD lpDDSurface"),
        dwords("bHasRect"),
        "rArea" / RECT,
        pointers("lpSurfData"),
        dwords("ddRVal"),
        pointers("Lock"),
        dwords("dwFlags"),
        pointers("fpProcess"),
    ),
    "DD_UNLOCKDATA": aligned(pointers("lpDD lpDDSurface"), dwords("ddRVal"), pointers("Unlock")),
    # Memory 0 takes the handle away.
    "DD_CREATESURFACEEXDATA": by_abi(
        dwords("dwFlags"), pad64, pointers("lpDDLcl lpDDSLcl"), dwords("ddRVal"), pad64
    ),
    # lpSurfTarg is shown from now on instead of lpSurfCurr.
    "DD_FLIPDATA": by_abi(
        pointers("lpDD lpSurfCurr lpSurfTarg"),
        dwords("dwFlags ddRVal"),
        pointers("Flip lpSurfCurrLeft lpSurfTargLeft"),
    ),
    "DD_BLTDATA": by_abi(
        pointers("lpDD lpDDDestSurface"),
        "rDest" / RECT,
        pointers("lpDDSrcSurface"),
        "rSrc" / RECT,
        dwords("dwFlags dwROPFlags"),
        lambda abi: "bltFX" / _BLTFX(abi),
        dwords("ddRVal"),
        pad64,
        pointers("Blt"),
        dwords("IsClipped"),
        "rOrigDest" / RECT,
        "rOrigSrc" / RECT,
        dwords("dwRectCnt"),
        pointers("prDestRects"),
        dwords("dwAFlags ddargbScaleFactors"),
    ),
    # The request of DdGetDriverInfo; lpvData has dwExpectedSize bytes.
    "DD_GETDRIVERINFODATA": by_abi(
        pointers("dhpdev"),
        dwords("dwSize dwFlags"),
        "guidInfo" / _GUID,
        dwords("dwExpectedSize"),
        pad64,
        pointers("lpvData"),
        dwords("dwActualSize ddRVal"),
    ),
    # dwFlags are DDCKEY_*.
    "DD_DRVSETCOLORKEYDATA": by_abi(
        pointers("lpDDSurface"),
        dwords("dwFlags"),
        "ckNew" / _COLORKEY,
        dwords("ddRVal"),
        pointers("SetColorKey"),
    ),
}
"""Name of a structure of surfaces of Windows NT that has pointers -> function of the pointer size
in bits, 32 or 64, that returns its declaration; each follows the structures that it contains."""
