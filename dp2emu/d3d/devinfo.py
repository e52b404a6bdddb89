"""Payloads of the asynchronous queries: D3DDEVINFO_* (d3d9types.h; wire format, "Query types")."""

from __future__ import annotations

from typing import Any

from construct import Array, Struct

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.words import DWORD, QWORD, dwords, floats

BOOL = DWORD

D3DDEVINFO_VCACHE = dwords("Pattern OptMethod CacheSize MagicNumber")
D3DRESOURCESTATS = dwords(
    """bThrashing ApproxBytesDownloaded NumEvicts NumVidCreates LastPri NumUsed NumUsedInVidMem
    WorkingSet WorkingSetBytes TotalManaged TotalBytes"""
)
D3DRTYPECOUNT = 8
D3DDEVINFO_RESOURCEMANAGER = Struct("stats" / Array(D3DRTYPECOUNT, D3DRESOURCESTATS))
"""One D3DRESOURCESTATS for each D3DRESOURCETYPE, which starts at 1: entry 0 is not used."""
D3DDEVINFO_D3DVERTEXSTATS = dwords("NumRenderedTriangles NumExtraClippingTriangles")
D3DDEVINFO_D3D9PIPELINETIMINGS = floats(
    """VertexProcessingTimePercent PixelProcessingTimePercent OtherGPUProcessingTimePercent
    GPUIdleTimePercent"""
)
D3DDEVINFO_D3D9INTERFACETIMINGS = floats(
    """WaitingForGPUToUseApplicationResourceTimePercent
    WaitingForGPUToAcceptMoreCommandsTimePercent WaitingForGPUToStayWithinLatencyTimePercent
    WaitingForGPUExclusiveResourceTimePercent WaitingForGPUOtherTimePercent"""
)
D3DDEVINFO_D3D9STAGETIMINGS = floats("MemoryProcessingPercent ComputationProcessingPercent")
D3DDEVINFO_D3D9BANDWIDTHTIMINGS = floats(
    """MaxBandwidthUtilized FrontEndUploadMemoryUtilizedPercent VertexRateUtilizedPercent
    TriangleSetupRateUtilizedPercent FillRateUtilizedPercent"""
)
D3DDEVINFO_D3D9CACHEUTILIZATION = floats("TextureCacheHitRate PostTransformVertexCacheHitRate")

PAYLOADS: dict[QueryType, Any] = {
    QueryType.VCACHE: D3DDEVINFO_VCACHE,
    QueryType.RESOURCEMANAGER: D3DDEVINFO_RESOURCEMANAGER,
    QueryType.VERTEXSTATS: D3DDEVINFO_D3DVERTEXSTATS,
    QueryType.EVENT: BOOL,
    QueryType.OCCLUSION: DWORD,
    QueryType.TIMESTAMP: QWORD,
    QueryType.TIMESTAMPDISJOINT: BOOL,
    QueryType.TIMESTAMPFREQ: QWORD,
    QueryType.PIPELINETIMINGS: D3DDEVINFO_D3D9PIPELINETIMINGS,
    QueryType.INTERFACETIMINGS: D3DDEVINFO_D3D9INTERFACETIMINGS,
    QueryType.VERTEXTIMINGS: D3DDEVINFO_D3D9STAGETIMINGS,
    QueryType.PIXELTIMINGS: D3DDEVINFO_D3D9STAGETIMINGS,
    QueryType.BANDWIDTHTIMINGS: D3DDEVINFO_D3D9BANDWIDTHTIMINGS,
    QueryType.CACHEUTILIZATION: D3DDEVINFO_D3D9CACHEUTILIZATION,
}
"""D3DQUERYTYPE that a DP2 driver may announce -> structure of the payload of its answers."""
