"""Query structures of the user-mode DDIs of Windows Vista and later (d3dumddi.h, d3d10umddi.h).

They are not part of the DP2 stream, but carry the same queries.  Structures with pointers are
functions of ``abi``, 32 or 64.
"""

from __future__ import annotations

from construct import Padding

from dp2emu.d3d.words import BYTE, DWORD, QWORD, by_abi, dwords, pad64, pointers, record

D3D10DDIARG_CREATEQUERY = dwords("Query MiscFlags")
D3D10_QUERY_DESC = D3D10DDIARG_CREATEQUERY
D3D10DDI_COUNTER_INFO = (
    dwords("LastDeviceDependentCounter NumSimultaneousCounters")
    + "NumDetectableParallelUnits" / BYTE
    + Padding(3)
)
D3D10_COUNTER_INFO = D3D10DDI_COUNTER_INFO
D3D10_QUERY_DATA_PIPELINE_STATISTICS = record(
    QWORD,
    """IAVertices IAPrimitives VSInvocations GSInvocations GSPrimitives CInvocations CPrimitives
    PSInvocations""",
)
D3D10_DDI_QUERY_DATA_PIPELINE_STATISTICS = D3D10_QUERY_DATA_PIPELINE_STATISTICS
D3D11_QUERY_DATA_PIPELINE_STATISTICS = D3D10_QUERY_DATA_PIPELINE_STATISTICS + record(
    QWORD, "HSInvocations DSInvocations CSInvocations"
)
D3D11_DDI_QUERY_DATA_PIPELINE_STATISTICS = D3D11_QUERY_DATA_PIPELINE_STATISTICS
D3D10_QUERY_DATA_SO_STATISTICS = record(QWORD, "NumPrimitivesWritten PrimitivesStorageNeeded")
D3D10_DDI_QUERY_DATA_SO_STATISTICS = D3D10_QUERY_DATA_SO_STATISTICS
D3D10_QUERY_DATA_TIMESTAMP_DISJOINT = record(QWORD, "Frequency") + "Disjoint" / DWORD + Padding(4)
D3D10_DDI_QUERY_DATA_TIMESTAMP_DISJOINT = D3D10_QUERY_DATA_TIMESTAMP_DISJOINT

BY_ABI = {
    "D3DDDIARG_CREATEQUERY": by_abi(dwords("QueryType"), pad64, pointers("hQuery")),
    "D3DDDIARG_GETQUERYDATA": by_abi(pointers("hQuery pData")),
    # Its Flags swap the bits that BEGIN and END have in DP2.
    "D3DDDIARG_ISSUEQUERY": by_abi(pointers("hQuery"), dwords("Flags"), pad64),
    "D3DDDIARG_QUERYRESOURCERESIDENCY": by_abi(
        pointers("pHandleList"), dwords("NumResources"), pad64
    ),
    "D3DDDICB_QUERYRESIDENCY": by_abi(
        pointers("hResource"),
        dwords("NumAllocations"),
        pad64,
        pointers("HandleList pResidencyStatus"),
    ),
    # A 32-bit compiler aligns its 64-bit members to 4 bytes only.
    "D3DMEMORYPRESSURE": by_abi(
        record(QWORD, "BytesEvictedFromProcess SizeOfInefficientAllocation"),
        dwords("LevelOfEfficiency"),
        pad64,
    ),
    "DXGI_DDI_ARG_QUERYRESOURCERESIDENCY": by_abi(
        pointers("hDevice pResources pStatus Resources")
    ),
}
"""Name of a user-mode DDI structure that has pointers -> function of the pointer size in bits, 32
or 64, that returns its declaration."""
