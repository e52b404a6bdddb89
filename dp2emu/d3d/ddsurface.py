"""Surface structures of the driver interface, and of its surface calls (ddrawint.h, winddi.h).

A surface has three structures: local, global (shared by surfaces of the same memory), and more,
which has the handle that tokens use.  CreateSurfaceEx binds the handle to the memory.  All have
pointers, so they are functions of ``abi``, 32 or 64; unions declare their widest member, or the
one of surfaces with pixels.
Source: the public documentation of DD_SURFACE_LOCAL, DD_SURFACE_GLOBAL, DD_SURFACE_MORE,
DD_CREATESURFACEEXDATA, DD_FLIPDATA, DD_BLTDATA, DDBLTFX and DD_DRVSETCOLORKEYDATA.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from construct import Struct

from dp2emu.d3d.dp2structs import RECT
from dp2emu.d3d.words import DWORD, LONG, POINTER, dwords, pad64

DDPIXELFORMAT = dwords(
    "dwSize", "dwFlags", "dwFourCC", "dwRGBBitCount",
    "dwRBitMask", "dwGBitMask", "dwBBitMask", "dwRGBAlphaBitMask",
)  # fmt: skip
DDCOLORKEY = dwords("dwColorSpaceLowValue", "dwColorSpaceHighValue")
DDSCAPS = dwords("dwCaps")
DDSCAPSEX = dwords("dwCaps2", "dwCaps3", "dwCaps4")


def surface_global(abi: int) -> Any:
    """DD_SURFACE_GLOBAL: the memory, ``fpVidMem``, and what lies there.

    ``lPitch`` is the number of bytes (dwLinearSize) for buffers and compressed formats.
    """
    return Struct(
        "lSlicePitch" / LONG,
        *pad64(abi),
        "lpVidMemHeap" / POINTER[abi],
        "fpVidMem" / POINTER[abi],
        "lPitch" / LONG,
        "yHint" / LONG,
        "xHint" / LONG,
        "wHeight" / DWORD,
        "wWidth" / DWORD,
        *pad64(abi),
        "dwReserved1" / POINTER[abi],
        "ddpfSurface" / DDPIXELFORMAT,
        "fpHeapOffset" / POINTER[abi],
        "hCreatorProcess" / POINTER[abi],
    )


def surface_more(abi: int) -> Any:
    """DD_SURFACE_MORE: ``dwSurfaceHandle`` is what tokens name the surface by."""
    return Struct(
        "dwMipMapCount" / DWORD,
        *pad64(abi),
        "lpVideoPort" / POINTER[abi],
        "dwOverlayFlags" / DWORD,
        "ddsCapsEx" / DDSCAPSEX,
        "dwSurfaceHandle" / DWORD,
        *pad64(abi),
    )


def surface_local(abi: int) -> Any:
    """DD_SURFACE_LOCAL: what lpDDCommands and lpDDVertex of a call point at."""
    return Struct(
        "lpGbl" / POINTER[abi],
        "dwFlags" / DWORD,
        "ddsCaps" / DDSCAPS,
        "dwReserved1" / POINTER[abi],
        "ddckCKSrcBlt" / DDCOLORKEY,
        "ddckCKDestBlt" / DDCOLORKEY,
        "lpSurfMore" / POINTER[abi],
        "lpAttachList" / POINTER[abi],
        "lpAttachListFrom" / POINTER[abi],
        "rcOverlaySrc" / RECT,
    )


def directdraw_local(abi: int) -> Any:
    """DD_DIRECTDRAW_LOCAL, whose handles are a namespace of their own."""
    return Struct("lpGbl" / POINTER[abi])


def createsurfaceexdata(abi: int) -> Any:
    """DD_CREATESURFACEEXDATA; memory 0 takes the handle away."""
    return Struct(
        "dwFlags" / DWORD,
        *pad64(abi),
        "lpDDLcl" / POINTER[abi],
        "lpDDSLcl" / POINTER[abi],
        "ddRVal" / DWORD,
        *pad64(abi),
    )


def flipdata(abi: int) -> Any:
    """DD_FLIPDATA: ``lpSurfTarg`` is shown from now on instead of ``lpSurfCurr``."""
    return Struct(
        "lpDD" / POINTER[abi],
        "lpSurfCurr" / POINTER[abi],
        "lpSurfTarg" / POINTER[abi],
        "dwFlags" / DWORD,
        "ddRVal" / DWORD,
        "Flip" / POINTER[abi],
        "lpSurfCurrLeft" / POINTER[abi],
        "lpSurfTargLeft" / POINTER[abi],
    )


@cache
def bltfx(abi: int) -> Any:
    """DDBLTFX.  Of unions the pointer is declared, at which the fill is too."""
    return Struct(
        "dwSize" / DWORD,
        "dwDDFX" / DWORD,
        "dwROP" / DWORD,
        "dwDDROP" / DWORD,
        "dwRotationAngle" / DWORD,
        "dwZBufferOpCode" / DWORD,
        "dwZBufferLow" / DWORD,
        "dwZBufferHigh" / DWORD,
        "dwZBufferBaseDest" / DWORD,
        "dwZDestConstBitDepth" / DWORD,
        "lpDDSZBufferDest" / POINTER[abi],
        "dwZSrcConstBitDepth" / DWORD,
        *pad64(abi),
        "lpDDSZBufferSrc" / POINTER[abi],
        "dwAlphaEdgeBlendBitDepth" / DWORD,
        "dwAlphaEdgeBlend" / DWORD,
        "dwReserved" / DWORD,
        "dwAlphaDestConstBitDepth" / DWORD,
        "lpDDSAlphaDest" / POINTER[abi],
        "dwAlphaSrcConstBitDepth" / DWORD,
        *pad64(abi),
        "lpDDSAlphaSrc" / POINTER[abi],
        "lpDDSPattern" / POINTER[abi],
        "ddckDestColorkey" / DDCOLORKEY,
        "ddckSrcColorkey" / DDCOLORKEY,
    )


def bltdata(abi: int) -> Any:
    """DD_BLTDATA: rectangles of surfaces, DDBLT flags, and what belongs to those."""
    return Struct(
        "lpDD" / POINTER[abi],
        "lpDDDestSurface" / POINTER[abi],
        "rDest" / RECT,
        "lpDDSrcSurface" / POINTER[abi],
        "rSrc" / RECT,
        "dwFlags" / DWORD,
        "dwROPFlags" / DWORD,
        "bltFX" / bltfx(abi),
        "ddRVal" / DWORD,
        *pad64(abi),
        "Blt" / POINTER[abi],
        "IsClipped" / DWORD,
        "rOrigDest" / RECT,
        "rOrigSrc" / RECT,
        "dwRectCnt" / DWORD,
        "prDestRects" / POINTER[abi],
        "dwAFlags" / DWORD,
        "ddargbScaleFactors" / DWORD,
    )


def setcolorkeydata(abi: int) -> Any:
    """DD_DRVSETCOLORKEYDATA; ``dwFlags`` are DDCKEY_*."""
    return Struct(
        "lpDDSurface" / POINTER[abi],
        "dwFlags" / DWORD,
        "ckNew" / DDCOLORKEY,
        "ddRVal" / DWORD,
        "SetColorKey" / POINTER[abi],
    )


BY_ABI: dict[str, Callable[[int], Any]] = {
    "DD_DIRECTDRAW_LOCAL": directdraw_local,
    "DD_SURFACE_GLOBAL": surface_global,
    "DD_SURFACE_MORE": surface_more,
    "DD_SURFACE_LOCAL": surface_local,
    "DD_CREATESURFACEEXDATA": createsurfaceexdata,
    "DD_FLIPDATA": flipdata,
    "DDBLTFX": bltfx,
    "DD_BLTDATA": bltdata,
    "DD_DRVSETCOLORKEYDATA": setcolorkeydata,
}
"""The structures with pointers by their names, each behind those it has inside."""

PLAIN = {
    "DDPIXELFORMAT": DDPIXELFORMAT,
    "DDCOLORKEY": DDCOLORKEY,
    "DDSCAPS": DDSCAPS,
    "DDSCAPSEX": DDSCAPSEX,
}
"""Those that are the same on 32- and 64-bit hosts."""
