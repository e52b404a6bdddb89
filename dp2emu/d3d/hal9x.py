"""Structures of display drivers for Windows 95, 98 and ME (ddrawi.h), where they are not those of
Windows NT in ``hal``.

DirectDraw's own objects lie in the driver's address space, so the driver sees all of them; their
order of members is another than in ``hal``.  The host was 32 bit; the layouts for 64 bit are what
compilers make of the same declarations, for drivers that are built elsewhere to be tested.

Source: the header ddrawi.h of the Windows 98 and Windows ME driver development kits, with WIN95
defined.
"""

from __future__ import annotations

from dp2emu.d3d import hal
from dp2emu.d3d.dp2structs import RECT
from dp2emu.d3d.words import BYTE, DWORD, ByAbi, aligned, by_abi, dwords, inside, longs, pointers
from dp2emu.d3d.words import words as word_members

_ROPS = 8
"""DD_ROP_SPACE, the number of DWORDs for a bit of each raster operation."""
_DRIVER_NAME = 32
"""MAX_DRIVER_NAME."""

_COLORKEY, _PIXELFORMAT = hal.SURFACES["DDCOLORKEY"], hal.SURFACES["DDPIXELFORMAT"]
_CAPS, _CAPSEX = hal.SURFACES["DDSCAPS"], hal.SURFACES["DDSCAPSEX"]

DDCORECAPS = (
    dwords(
        """dwSize dwCaps dwCaps2 dwCKeyCaps dwFXCaps dwFXAlphaCaps dwPalCaps dwSVCaps
        dwAlphaBltConstBitDepths dwAlphaBltPixelBitDepths dwAlphaBltSurfaceBitDepths
        dwAlphaOverlayConstBitDepths dwAlphaOverlayPixelBitDepths dwAlphaOverlaySurfaceBitDepths
        dwZBufferBitDepths dwVidMemTotal dwVidMemFree dwMaxVisibleOverlays dwCurrVisibleOverlays
        dwNumFourCCCodes dwAlignBoundarySrc dwAlignSizeSrc dwAlignBoundaryDest dwAlignSizeDest
        dwAlignStrideAlign"""
    )
    + "dwRops" / DWORD[_ROPS]
    + "ddsCaps" / _CAPS
    + dwords(
        """dwMinOverlayStretch dwMaxOverlayStretch dwMinLiveVideoStretch dwMaxLiveVideoStretch
        dwMinHwCodecStretch dwMaxHwCodecStretch dwReserved1 dwReserved2 dwReserved3
        dwSVBCaps dwSVBCKeyCaps dwSVBFXCaps"""
    )
    + "dwSVBRops" / DWORD[_ROPS]
    + dwords("dwVSBCaps dwVSBCKeyCaps dwVSBFXCaps")
    + "dwVSBRops" / DWORD[_ROPS]
    + dwords("dwSSBCaps dwSSBCKeyCaps dwSSBFXCaps")
    + "dwSSBRops" / DWORD[_ROPS]
    + dwords("dwMaxVideoPorts dwCurrVideoPorts dwSVBCaps2")
)

PLAIN = {"DDCORECAPS": DDCORECAPS}
"""Name -> declaration, for structures without pointers."""

ALIASES: dict[tuple[str, str], str] = {
    ("DDRAWI_DDRAWSURFACE_GBL", "lpRectList"): "lSlicePitch",
    ("DDRAWI_DDRAWSURFACE_GBL", "dwBlockSizeY"): "lSlicePitch",
    ("DDRAWI_DDRAWSURFACE_GBL", "dwBlockSizeX"): "lpVidMemHeap",
    ("DDRAWI_DDRAWSURFACE_GBL", "lpDDHandle"): "lpDD",
    ("DDRAWI_DDRAWSURFACE_GBL", "dwLinearSize"): "lPitch",
    ("DDRAWI_DDRAWSURFACE_LCL", "lp16DDPalette"): "lpDDPalette",
    ("DDRAWI_DDRAWSURFACE_LCL", "lp16DDClipper"): "lpDDClipper",
}
"""As ``hal.SURFACE_ALIASES``: (structure, other name) -> name of the same member."""

_DBLNODE = by_abi(pointers("next prev object object_int"))
_PROCESS_LIST = aligned(pointers("lpLink"), dwords("dwProcessId dwRefCnt dwAlphaDepth dwZDepth"))
_VIDMEMINFO = aligned(
    pointers("fpPrimary"),
    dwords("dwFlags dwDisplayWidth dwDisplayHeight"),
    longs("lDisplayPitch"),
    "ddpfDisplay" / _PIXELFORMAT,
    dwords(
        """dwOffscreenAlign dwOverlayAlign dwTextureAlign dwZBufferAlign dwAlphaAlign
        dwNumHeaps"""
    ),
    pointers("pvmList"),
)

_DIRECTDRAW = aligned(
    dwords("dwRefCnt dwFlags"),
    pointers("fpPrimaryOrig"),
    "ddCaps" / DDCORECAPS,
    dwords("dwInternal1"),
    "dwUnused1" / DWORD[9],
    pointers("lpDDCBtmp dsList palList clipperList lp16DD"),
    dwords("dwMaxOverlays dwCurrOverlays dwMonitorFrequency"),
    "ddHELCaps" / DDCORECAPS,
    "dwUnused2" / DWORD[50],
    "ddckCKDestOverlay" / _COLORKEY,
    "ddckCKSrcOverlay" / _COLORKEY,
    inside("vmiData", _VIDMEMINFO),
    pointers("lpDriverHandle lpExclusiveOwner"),
    dwords("dwModeIndex dwModeIndexOrig dwNumFourCC"),
    pointers("lpdwFourCC"),
    dwords("dwNumModes"),
    pointers("lpModeInfo"),
    inside("plProcessList", _PROCESS_LIST),
    dwords("dwSurfaceLockCount dwAliasedLockCnt"),
    pointers("dwReserved3 hDD"),
    "cObsolete" / BYTE[12],
    dwords("dwReserved1 dwReserved2"),
    inside("dbnOverlayRoot", _DBLNODE),
    pointers("lpwPDeviceFlags"),
    dwords("dwPDevice dwWin16LockCnt dwUnused3 hInstance dwEvent16 dwSaveNumModes"),
    # DirectX 2
    pointers("lpD3DGlobalDriverData lpD3DHALCallbacks"),
    "ddBothCaps" / DDCORECAPS,
    # DirectX 5
    pointers("lpDDVideoPortCaps dvpList lpD3DHALCallbacks2"),
    "rectDevice" / RECT,
    dwords("cMonitors"),
    pointers(
        """gpbmiSrc gpbmiDest phaiHeapAliases hKernelHandle pfnNotifyProc lpDDKernelCaps
        lpddNLVCaps lpddNLVHELCaps lpddNLVBothCaps lpD3DExtendedCaps"""
    ),
    dwords("dwDOSBoxEvent"),
    "rectDesktop" / RECT,
    "cDriverName" / BYTE[_DRIVER_NAME],
    # DirectX 6
    pointers("lpD3DHALCallbacks3"),
    dwords("dwNumZPixelFormats"),
    pointers("lpZPixelFormats mcList"),
    dwords("hDDVxd"),
    "ddsCapsMore" / _CAPSEX,
)

BY_ABI: dict[str, ByAbi] = {
    "DBLNODE": _DBLNODE,
    "PROCESS_LIST": _PROCESS_LIST,
    "VIDMEMINFO": _VIDMEMINFO,
    # A level of a texture is in the list of the level above it.
    "ATTACHLIST": aligned(dwords("dwFlags"), pointers("lpLink lpAttached lpIAttached")),
    "DDRAWI_DIRECTDRAW_GBL": _DIRECTDRAW,
    "DDRAWI_DIRECTDRAW_LCL": aligned(
        dwords("lpDDMore"),  # a 16:16 pointer
        pointers("lpGbl"),
        dwords("dwUnused0 dwLocalFlags dwLocalRefCnt dwProcessId"),
        pointers("pUnkOuter"),
        dwords("dwObsolete1"),
        pointers("hWnd hDC"),
        dwords("dwErrorMode"),
        pointers("lpPrimary lpCB"),
        dwords("dwPreferredMode"),
        # DirectX 2
        pointers("hD3DInstance pD3DIUnknown lpDDCB hDDVxd"),
        # DirectX 5
        dwords("dwAppHackFlags"),
        pointers("hFocusWnd"),
        dwords("dwHotTracking dwIMEState"),
        # DirectX 6
        pointers("hWndPopup hDD hGammaCalibrator lpGammaCalibrator"),
    ),
    "DDRAWI_DDRAWSURFACE_INT": aligned(pointers("lpVtbl lpLcl lpLink"), dwords("dwIntRefCnt")),
    # Sides have 16 bits; a buffer has its size as lPitch.
    "DDRAWI_DDRAWSURFACE_GBL": aligned(
        dwords("dwRefCnt dwGlobalFlags"),
        pointers("lSlicePitch lpVidMemHeap lpDD fpVidMem"),
        longs("lPitch"),
        word_members("wHeight wWidth"),
        dwords("dwUsageCount"),
        pointers("dwReserved1"),
        "ddpfSurface" / _PIXELFORMAT,
    ),
    "DDRAWI_DDRAWSURFACE_MORE": aligned(
        dwords("dwSize"),
        pointers("lpIUnknowns lpDD_lcl"),
        dwords("dwPageLockCount dwBytesAllocated"),
        pointers("lpDD_int"),
        dwords("dwMipMapCount"),
        pointers("lpDDIClipper"),
        # DirectX 5
        pointers("lpHeapAliasInfo"),
        dwords("dwOverlayFlags"),
        pointers("rgjunc lpVideoPort lpddOverlayFX"),
        "ddsCapsEx" / _CAPSEX,
        dwords("dwTextureStage"),
        pointers("lpDDRAWReserved lpDDRAWReserved2 lpDDrawReserved3"),
        dwords("dwDDrawReserved4"),
        pointers("lpDDrawReserved5 lpGammaRamp lpOriginalGammaRamp lpDDrawReserved6"),
        # DirectX 7
        dwords("dwSurfaceHandle"),
        "qwDDrawReserved8" / DWORD[2],
        pointers("lpDDrawReserved9"),
        dwords("cSurfaces"),
        pointers("pCreatedDDSurfaceDesc2 slist"),
        dwords("dwFVF"),
        pointers("lpVB"),
    ),
    "DDRAWI_DDRAWSURFACE_LCL": aligned(
        pointers("lpSurfMore lpGbl hDDSurface lpAttachList lpAttachListFrom"),
        dwords("dwLocalRefCnt dwProcessId dwFlags"),
        "ddsCaps" / _CAPS,
        pointers("lpDDPalette lpDDClipper"),
        dwords("dwModeCreatedIn dwBackBufferCount"),
        "ddckCKDestBlt" / _COLORKEY,
        "ddckCKSrcBlt" / _COLORKEY,
        pointers("hDC dwReserved1"),
        "ddckCKSrcOverlay" / _COLORKEY,
        "ddckCKDestOverlay" / _COLORKEY,
        pointers("lpSurfaceOverlaying"),
        inside("dbnOverlayNode", _DBLNODE),
        "rcOverlaySrc" / RECT,
        "rcOverlayDest" / RECT,
        dwords("dwClrXparent dwAlpha"),
        longs("lOverlayX lOverlayY"),
    ),
    "DDHAL_BLTDATA": aligned(
        pointers("lpDD lpDDDestSurface"),
        "rDest" / RECT,
        pointers("lpDDSrcSurface"),
        "rSrc" / RECT,
        dwords("dwFlags dwROPFlags"),
        inside("bltFX", hal.CALLS_BY_ABI["DDBLTFX"]),
        dwords("ddRVal"),
        pointers("Blt"),
        dwords("IsClipped"),
        "rOrigDest" / RECT,
        "rOrigSrc" / RECT,
        dwords("dwRectCnt"),
        pointers("prDestRects"),
    ),
    "DDHAL_FLIPDATA": aligned(
        pointers("lpDD lpSurfCurr lpSurfTarg"),
        dwords("dwFlags ddRVal"),
        pointers("Flip lpSurfCurrLeft lpSurfTargLeft"),
    ),
    "DDHAL_LOCKDATA": aligned(
        pointers("lpDD lpDDSurface"),
        dwords("bHasRect"),
        "rArea" / RECT,
        pointers("lpSurfData"),
        dwords("ddRVal"),
        pointers("Lock"),
        dwords("dwFlags"),
    ),
    "DDHAL_GETDRIVERINFODATA": aligned(
        dwords("dwSize dwFlags"),
        "guidInfo" / hal.SURFACES["GUID"],
        dwords("dwExpectedSize"),
        pointers("lpvData"),
        dwords("dwActualSize ddRVal"),
        pointers("dwContext"),
    ),
} | {
    f"DDHAL_{name}": hal.SURFACES_BY_ABI[f"DD_{name}"]
    for name in (
        "UNLOCKDATA", "CREATESURFACEDATA", "DESTROYSURFACEDATA", "CREATESURFACEEXDATA",
        "DRVSETCOLORKEYDATA",
    )
}  # fmt: skip
"""Name of a structure of ddrawi.h that has pointers -> function of the pointer size in bits, 32 or
64, that returns its declaration; each follows the structures that it contains.  The last have the
members of Windows NT's."""

NAMES = {
    "DD_DIRECTDRAW_GLOBAL": "DDRAWI_DIRECTDRAW_GBL",
    "DD_DIRECTDRAW_LOCAL": "DDRAWI_DIRECTDRAW_LCL",
    "DD_SURFACE_GLOBAL": "DDRAWI_DDRAWSURFACE_GBL",
    "DD_SURFACE_MORE": "DDRAWI_DDRAWSURFACE_MORE",
    "DD_SURFACE_LOCAL": "DDRAWI_DDRAWSURFACE_LCL",
    "DD_ATTACHLIST": "ATTACHLIST",
} | {f"DD_{name[6:]}": name for name in BY_ABI if name.startswith("DDHAL_")}
"""Name of a structure of Windows NT -> name here of the one in its place."""
