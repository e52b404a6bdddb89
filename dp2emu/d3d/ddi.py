"""Query structures of the user-mode DDIs of Windows Vista and later (d3dumddi.h, d3d10umddi.h).

They are not part of the DP2 stream, but carry the same queries.  Structures with pointers are
functions of ``abi``, 32 or 64.
"""

from __future__ import annotations

from typing import Any

from construct import Padding, Struct

from dp2emu.d3d.words import BYTE, DWORD, POINTER, QWORD, dwords, pad64

_D3D10_STATISTICS = (
    "IAVertices", "IAPrimitives", "VSInvocations", "GSInvocations", "GSPrimitives",
    "CInvocations", "CPrimitives", "PSInvocations",
)  # fmt: skip
_D3D11_STATISTICS = (*_D3D10_STATISTICS, "HSInvocations", "DSInvocations", "CSInvocations")

D3D10DDIARG_CREATEQUERY = dwords("Query", "MiscFlags")
D3D10_QUERY_DESC = D3D10DDIARG_CREATEQUERY
D3D10DDI_COUNTER_INFO = Struct(
    "LastDeviceDependentCounter" / DWORD,
    "NumSimultaneousCounters" / DWORD,
    "NumDetectableParallelUnits" / BYTE,
    Padding(3),
)
D3D10_COUNTER_INFO = D3D10DDI_COUNTER_INFO
D3D10_QUERY_DATA_PIPELINE_STATISTICS = Struct(*(name / QWORD for name in _D3D10_STATISTICS))
D3D10_DDI_QUERY_DATA_PIPELINE_STATISTICS = D3D10_QUERY_DATA_PIPELINE_STATISTICS
D3D11_QUERY_DATA_PIPELINE_STATISTICS = Struct(*(name / QWORD for name in _D3D11_STATISTICS))
D3D11_DDI_QUERY_DATA_PIPELINE_STATISTICS = D3D11_QUERY_DATA_PIPELINE_STATISTICS
D3D10_QUERY_DATA_SO_STATISTICS = Struct(
    "NumPrimitivesWritten" / QWORD, "PrimitivesStorageNeeded" / QWORD
)
D3D10_DDI_QUERY_DATA_SO_STATISTICS = D3D10_QUERY_DATA_SO_STATISTICS
D3D10_QUERY_DATA_TIMESTAMP_DISJOINT = Struct("Frequency" / QWORD, "Disjoint" / DWORD, Padding(4))
D3D10_DDI_QUERY_DATA_TIMESTAMP_DISJOINT = D3D10_QUERY_DATA_TIMESTAMP_DISJOINT


def createquery(abi: int) -> Any:
    """D3DDDIARG_CREATEQUERY."""
    return Struct("QueryType" / DWORD, *pad64(abi), "hQuery" / POINTER[abi])


def getquerydata(abi: int) -> Any:
    """D3DDDIARG_GETQUERYDATA."""
    return Struct("hQuery" / POINTER[abi], "pData" / POINTER[abi])


def issuequery(abi: int) -> Any:
    """D3DDDIARG_ISSUEQUERY; Flags numbers BEGIN and END the other way round than DP2 does."""
    return Struct("hQuery" / POINTER[abi], "Flags" / DWORD, *pad64(abi))


def queryresourceresidency(abi: int) -> Any:
    """D3DDDIARG_QUERYRESOURCERESIDENCY."""
    return Struct("pHandleList" / POINTER[abi], "NumResources" / DWORD, *pad64(abi))


def queryresidency(abi: int) -> Any:
    """D3DDDICB_QUERYRESIDENCY."""
    return Struct(
        "hResource" / POINTER[abi],
        "NumAllocations" / DWORD,
        *pad64(abi),
        "HandleList" / POINTER[abi],
        "pResidencyStatus" / POINTER[abi],
    )


def dxgi_queryresourceresidency(abi: int) -> Any:
    """DXGI_DDI_ARG_QUERYRESOURCERESIDENCY."""
    names = ("hDevice", "pResources", "pStatus", "Resources")
    return Struct(*(name / POINTER[abi] for name in names))


def memorypressure(abi: int) -> Any:
    """D3DMEMORYPRESSURE; a 32-bit compiler aligns its 64-bit members to 4 bytes only."""
    return Struct(
        "BytesEvictedFromProcess" / QWORD,
        "SizeOfInefficientAllocation" / QWORD,
        "LevelOfEfficiency" / DWORD,
        *pad64(abi),
    )


BY_ABI = {
    "D3DDDIARG_CREATEQUERY": createquery,
    "D3DDDIARG_GETQUERYDATA": getquerydata,
    "D3DDDIARG_ISSUEQUERY": issuequery,
    "D3DDDIARG_QUERYRESOURCERESIDENCY": queryresourceresidency,
    "D3DDDICB_QUERYRESIDENCY": queryresidency,
    "D3DMEMORYPRESSURE": memorypressure,
    "DXGI_DDI_ARG_QUERYRESOURCERESIDENCY": dxgi_queryresourceresidency,
}
"""Structures that differ between 32 and 64 bit, as functions of the pointer size."""
