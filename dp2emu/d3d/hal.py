"""Structures of the calls around the command stream (d3dhal.h, d3dumddi.h of DirectX 9).

Those with pointers depend on the host: they are functions of ``abi``, 32 or 64, and show the
padding a 64-bit compiler adds.  Where the header has a union, the widest member is declared and
``ALIASES`` tells the other names.  Source: wire format, "The call" and "Driver information".
"""

from __future__ import annotations

from typing import Any

from construct import Struct

from dp2emu.d3d.words import DWORD, POINTER, dwords, pad64

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
"""(struct, other name of a union) -> the member declared here."""


def _pointers(abi: int, *names: str) -> list[Any]:
    return [name / POINTER[abi] for name in names]


def drawprimitives2data(abi: int) -> Any:
    """D3DHAL_DRAWPRIMITIVES2DATA: the call (wire format, "The call")."""
    return Struct(
        "dwhContext" / POINTER[abi],
        "dwFlags" / DWORD,
        "dwVertexType" / DWORD,
        "lpDDCommands" / POINTER[abi],
        "dwCommandOffset" / DWORD,
        "dwCommandLength" / DWORD,
        "lpDDVertex" / POINTER[abi],
        "dwVertexOffset" / DWORD,
        "dwVertexLength" / DWORD,
        "dwReqVertexBufSize" / DWORD,
        "dwReqCommandBufSize" / DWORD,
        "lpdwRStates" / POINTER[abi],
        "dwVertexSize" / DWORD,
        "dwErrorOffset" / DWORD,
    )


def contextcreatedata(abi: int) -> Any:
    """D3DHAL_CONTEXTCREATEDATA."""
    pointers = _pointers(abi, "lpDDLcl", "lpDDSLcl", "lpDDSZLcl", "dwrstates", "dwhContext")
    return Struct(*pointers, "ddrval" / DWORD, *pad64(abi))


def contextdestroydata(abi: int) -> Any:
    """D3DHAL_CONTEXTDESTROYDATA."""
    return Struct("dwhContext" / POINTER[abi], "ddrval" / DWORD, *pad64(abi))


D3DHAL_CONTEXTDESTROYALLDATA = dwords("dwPID", "ddrval")


def scenecapturedata(abi: int) -> Any:
    """D3DHAL_SCENECAPTUREDATA."""
    return Struct("dwhContext" / POINTER[abi], "dwFlag" / DWORD, "ddrval" / DWORD)


def setrendertargetdata(abi: int) -> Any:
    """D3DHAL_SETRENDERTARGETDATA."""
    pointers = _pointers(abi, "dwhContext", "lpDDSLcl", "lpDDSZLcl")
    return Struct(*pointers, "ddrval" / DWORD, *pad64(abi))


def callbacks(abi: int) -> Any:
    """D3DHAL_CALLBACKS: entry points from before DirectX 6."""
    reserved = [f"lpReserved{number}" for number in range(12, 22)]
    return Struct(
        "dwSize" / DWORD,
        *pad64(abi),
        *_pointers(abi, "ContextCreate", "ContextDestroy", "ContextDestroyAll", "SceneCapture"),
        *_pointers(abi, "lpReserved10", "lpReserved11", "RenderState", "RenderPrimitive"),
        *_pointers(abi, "dwReserved", "TextureCreate", "TextureDestroy", "TextureSwap"),
        *_pointers(abi, "TextureGetSurf", *reserved, "GetState"),
        *(f"dwReserved{number}" / DWORD for number in range(10)),
    )


def callbacks2(abi: int) -> Any:
    """D3DHAL_CALLBACKS2: entry points of DirectX 5."""
    names = "SetRenderTarget Clear DrawOnePrimitive DrawOneIndexedPrimitive DrawPrimitives"
    return Struct("dwSize" / DWORD, "dwFlags" / DWORD, *_pointers(abi, *names.split()))


def callbacks3(abi: int) -> Any:
    """D3DHAL_CALLBACKS3: entry points of DirectX 6, DrawPrimitives2 among them."""
    names = "Clear2 lpvReserved ValidateTextureStageState DrawPrimitives2"
    return Struct("dwSize" / DWORD, "dwFlags" / DWORD, *_pointers(abi, *names.split()))


BY_ABI = {
    "D3DHAL_CALLBACKS": callbacks,
    "D3DHAL_CALLBACKS2": callbacks2,
    "D3DHAL_CALLBACKS3": callbacks3,
    "D3DHAL_CONTEXTCREATEDATA": contextcreatedata,
    "D3DHAL_CONTEXTDESTROYDATA": contextdestroydata,
    "D3DHAL_DRAWPRIMITIVES2DATA": drawprimitives2data,
    "D3DHAL_SCENECAPTUREDATA": scenecapturedata,
    "D3DHAL_SETRENDERTARGETDATA": setrendertargetdata,
}
"""Structures that differ between 32 and 64 bit, as functions of the pointer size."""

DD_GETDRIVERINFO2DATA = dwords("dwReserved", "dwMagic", "dwType", "dwExpectedSize")
_GDI2 = "gdi2" / DD_GETDRIVERINFO2DATA
DD_DXVERSION = Struct(_GDI2, "dwDXVersion" / DWORD, "dwReserved" / DWORD)
DD_GETDDIVERSIONDATA = Struct(_GDI2, "dwDXVersion" / DWORD, "dwDDIVersion" / DWORD)
DD_GETD3DQUERYCOUNTDATA = Struct(_GDI2, "dwNumQueries" / DWORD)
DD_GETD3DQUERYDATA = Struct(_GDI2, "QueryType" / DWORD)
